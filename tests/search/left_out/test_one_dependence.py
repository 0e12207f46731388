"""Leave-one-out of averaged networks equals refitting without the row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AODEClassifier, Backoff, Lidstone, MEstimate
from bayleaf.classifiers.shared.leave_one_out import leave_one_out
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.left_out_scores import one_dependence_log_scores
from covering import pairwise
from offenders import check_each
from oracles.left_out import domain_of, without

CARDS = (3, 2, 4, 2, 3)
CLASS = len(CARDS) - 1


def table(missing: float, weights: str) -> Codes:
    rng = np.random.default_rng(2)
    n_rows = 24
    y = rng.integers(3, size=n_rows)
    columns = [(y + rng.integers(2, size=n_rows)) % card for card in CARDS[:-1]]
    # A state that one row alone shows, and which min_count then skips.
    columns[2][:] = np.where(np.arange(n_rows) == 5, 3, columns[2] % 3)
    for column, card in zip(columns, CARDS, strict=False):
        column[rng.random(n_rows) < missing] = card
    chosen = np.ones(n_rows) if weights == "ones" else rng.integers(1, 4, n_rows) / 1.0
    return Codes.from_columns([*columns, y], CARDS, chosen)


def refit(codes: Codes, rule: Any, min_count: int) -> np.ndarray[Any, Any]:
    """Log joint of each row under the estimator's own model of the others."""
    rows = []
    domain = domain_of(codes)
    features = Codes.from_columns([codes.column(i) for i in range(CLASS)], CARDS[:-1])
    for row in range(codes.n_rows):
        estimator = AODEClassifier(smoothing=rule, min_count=min_count)
        estimator.smoothing_ = rule
        estimator.classes_ = np.arange(CARDS[-1])
        counts = RowCounts(without(codes, row))
        model, _ = estimator._learn(counts, domain, np.random.default_rng(0))
        rows.append(model.class_log_scores(features.rows(slice(row, row + 1))))
    return np.concatenate(rows)


RULES = [Lidstone(0.5), MEstimate(2.0), Backoff(1.0)]
TABLES = [0, 1, 4, 1000], [0.0, 0.25], ["ones", "whole"]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_scores_equal_those_of_a_refit_without_the_row(rule: Any) -> None:
    check_each(
        (row[1:] for row in pairwise(RULES, *TABLES) if row[0] is rule),
        lambda row: scores_equal_those_of_a_refit(rule, *row),
    )


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_scores_of_all_tables_equal_those_of_a_refit(rule: Any) -> None:
    check_each(
        itertools.product(*TABLES),
        lambda row: scores_equal_those_of_a_refit(rule, *row),
    )


def scores_equal_those_of_a_refit(
    rule: Any, min_count: int, missing: float, weights: str
) -> None:
    codes = table(missing, weights)
    left_out = leave_one_out(
        RowCounts(codes), domain_of(codes), [rule], None, 20_000_000
    )
    scores = one_dependence_log_scores(left_out, min_count)[0].T
    expected = refit(codes, rule, min_count)
    # A state that only the left-out row shows is impossible after an m-estimate; such
    # rows keep the comparison of classes by their other features instead.
    possible = np.isfinite(expected).all(axis=1)
    assert possible.sum() >= codes.n_rows - 2
    np.testing.assert_allclose(scores[possible], expected[possible], rtol=1e-12)


def test_the_fitted_classifier_scores_by_them() -> None:
    codes = table(0.2, "ones")
    columns = {f"f{i}": codes.column(i).astype(float) for i in range(CLASS)}
    for i, values in enumerate(columns.values()):
        values[codes.missing(i)] = np.nan
    frame, y = pd.DataFrame(columns), codes.column(CLASS)
    model = AODEClassifier(categorical_features=list(columns)).fit(frame, y)
    scores = refit(model._training_codes, Lidstone(1.0), 1)
    highest = scores.max(axis=1, keepdims=True)
    proba = np.exp(scores - highest)
    proba /= proba.sum(axis=1, keepdims=True)
    losses = -np.log(proba[np.arange(len(y)), y])
    assert float(model.loo_score_) == pytest.approx(losses.mean(), rel=1e-12)
