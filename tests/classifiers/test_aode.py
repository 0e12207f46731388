"""AODE against the definition, its super-parents left out, and its limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AODEClassifier, NaiveBayesClassifier
from contract.tables import nominal_frame
from offenders import check_each
from oracles.one_dependence import aode_joint


def test_joint_probabilities_are_those_of_the_definition() -> None:
    def check(case: Any) -> None:
        min_count, seed = case
        frame, y = nominal_frame(60, seed)
        rows = frame.to_numpy().tolist()
        model = AODEClassifier(min_count=min_count).fit(frame, y)
        found = np.exp(model.predict_joint_log_proba(frame[:12]))
        expected = [aode_joint(rows, y, row, min_count) for row in rows[:12]]
        np.testing.assert_allclose(found, expected, rtol=1e-11)

    check_each(itertools.product([0, 1, 12, 20, 61], range(3)), check)


def test_rare_values_are_no_super_parents() -> None:
    frame, y = nominal_frame(60)
    every = AODEClassifier().fit(frame, y).predict_proba(frame)
    frequent = AODEClassifier(min_count=22).fit(frame, y).predict_proba(frame)
    assert np.abs(frequent - every).max() > 1e-3


def test_without_super_parents_naive_bayes_is_left() -> None:
    frame, y = nominal_frame(60)
    alone = AODEClassifier(min_count=10_000).fit(frame, y)
    naive = NaiveBayesClassifier().fit(frame, y)
    np.testing.assert_allclose(
        alone.predict_joint_log_proba(frame),
        naive.predict_joint_log_proba(frame),
        atol=1e-12,
    )


def test_one_feature_is_naive_bayes() -> None:
    frame, y = nominal_frame(60)
    np.testing.assert_allclose(
        AODEClassifier().fit(frame[["c"]], y).predict_proba(frame[["c"]]),
        NaiveBayesClassifier().fit(frame[["c"]], y).predict_proba(frame[["c"]]),
        atol=1e-12,
    )


def test_explanations_add_up_where_no_super_parent_is_left() -> None:
    frame, y = nominal_frame(60)
    model = AODEClassifier(min_count=10_000).fit(frame, y)
    for explanation in model.explain(frame[:9]):
        terms = sum(term.contribution for term in explanation.terms)
        assert explanation.prior + terms == pytest.approx(
            explanation.log_odds, abs=1e-10
        )


def test_many_rows_are_scored_as_few() -> None:
    # Large tables are summed by a compiled loop, small ones by NumPy.
    frame, y = nominal_frame(60)
    model = AODEClassifier().fit(frame, y)
    long = pd.concat([frame] * 1000, ignore_index=True)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(long)[: len(frame)],
        model.predict_joint_log_proba(frame),
        rtol=1e-14,
    )


def test_too_many_cells_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(9, size=(50, 30))
    with pytest.raises(ValueError, match="drop features, coarsen columns"):
        AODEClassifier(max_table_cells=1000).fit(X, X[:, 0] % 2)


@pytest.mark.parametrize("min_count", [-1, 0.5])
def test_a_wrong_min_count_is_refused(min_count: Any) -> None:
    with pytest.raises(
        (ValueError, TypeError), match="min_count must be an integer >= 0"
    ):
        AODEClassifier(min_count=min_count).fit(*nominal_frame(60))
