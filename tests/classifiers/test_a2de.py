"""A2DE against the definition, with few features and missing cells, and its limits."""

from __future__ import annotations

import itertools
from math import comb
from typing import Any

import numpy as np
import pytest

from bayleaf import (
    A2DEClassifier,
    KDBClassifier,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayleaf.datasets import load_heart
from contract.tables import nominal_frame
from oracles.two_dependence import a2de_joint


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(2))
def test_joint_probabilities_are_those_of_the_definition(
    seed: int, missing: float
) -> None:
    frame, y = nominal_frame(60, seed, missing=missing)
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    model = A2DEClassifier().fit(frame, y)
    found = np.exp(model.predict_joint_log_proba(frame[:12]))
    expected = [a2de_joint(rows, y, row) for row in rows[:12]]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_on_heart_numpy_finds_the_same() -> None:
    X, y = load_heart(return_X_y=True)
    model = A2DEClassifier().fit(X, y)
    codes = model.encoder_.transform(model._parts_as_fitted(X)).codes
    columns = [codes.column(i).astype(int) for i in range(codes.n_variables)]
    label = np.unique(np.asarray(y), return_inverse=True)[1]
    everything = [label, *columns]
    cards = [2, *codes.cards]

    def log_table(*family: int) -> Any:
        """Log P(last | others) of each class and row, with one added."""
        counts = np.ones([cards[v] for v in family])
        np.add.at(counts, tuple(everything[v] for v in family), 1)
        logs = np.log(counts / counts.sum(axis=-1, keepdims=True))
        return logs[(slice(None), *(everything[v] for v in family[1:]))]

    prior = np.log((np.bincount(label) + 1) / (len(label) + 2))[:, None]
    features = range(1, 14)
    networks = []
    for i, j in itertools.combinations(features, 2):
        others = (log_table(0, i, j, k) for k in features if k not in (i, j))
        networks.append(prior + log_table(0, i) + log_table(0, i, j) + sum(others))
    expected = np.logaddexp.reduce(networks) - np.log(comb(13, 2))
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), expected.T, rtol=1e-12, atol=1e-12
    )


def test_one_feature_is_naive_bayes() -> None:
    frame, y = nominal_frame(60)
    one = frame[["c"]]
    np.testing.assert_allclose(
        A2DEClassifier().fit(one, y).predict_joint_log_proba(one),
        NaiveBayesClassifier().fit(one, y).predict_joint_log_proba(one),
        atol=1e-12,
    )


def test_two_features_are_the_full_distribution() -> None:
    frame, y = nominal_frame(60)
    two = frame[["a", "c"]]
    counts = {"smoothing": MaximumLikelihood()}
    model = A2DEClassifier(**counts).fit(two, y)
    assert len(model.model_.networks) == 1
    np.testing.assert_allclose(
        np.exp(model.predict_joint_log_proba(two)),
        np.exp(KDBClassifier(k=1, **counts).fit(two, y).predict_joint_log_proba(two)),
        atol=1e-15,
    )


def test_a_state_that_only_a_later_batch_has_finds_its_place() -> None:
    frame, y = nominal_frame(90)
    late = (frame["c"] == "s").to_numpy()
    labels = np.array(y)
    batches = A2DEClassifier().partial_fit(frame[~late], labels[~late], sorted(set(y)))
    batches.partial_fit(frame[late], labels[late])
    whole = A2DEClassifier().fit(frame, labels)
    np.testing.assert_allclose(
        batches.predict_proba(frame), whole.predict_proba(frame), rtol=1e-12
    )


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_score_is_that_of_refits(missing: float) -> None:
    frame, y = nominal_frame(20, missing=missing)
    labels, losses = np.array(y), []
    for row in range(len(y)):
        # The row weighs next to nothing, so that states and classes stay.
        weights = np.ones(len(y))
        weights[row] = 1e-12
        rest = A2DEClassifier().fit(frame, y, sample_weight=weights)
        proba = rest.predict_proba(frame.iloc[[row]])[0]
        losses.append(-np.log(proba[rest.classes_ == labels[row]][0]))
    score = A2DEClassifier().fit(frame, y).loo_score_
    assert float(score) == pytest.approx(np.mean(losses), rel=1e-9)


def test_the_smoothing_rule_can_be_chosen() -> None:
    frame, y = nominal_frame(60)
    model = A2DEClassifier(smoothing="auto").fit(frame, y)
    assert model.selection_.best.smoothing == model.smoothing_


def test_too_many_cells_are_refused_before_counting() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(9, size=(50, 1000))
    with pytest.raises(ValueError, match="drop features, coarsen columns"):
        A2DEClassifier().fit(X, X[:, 0] % 2)


def test_the_cells_that_are_checked_are_those_of_the_tables() -> None:
    frame, y = nominal_frame(60)
    tables = A2DEClassifier().fit(frame, y).model_.tables
    cells = sum(t.probabilities.size for t in tables if len(t.family) == 4)
    A2DEClassifier(max_table_cells=cells).fit(frame, y)
    with pytest.raises(ValueError, match="needs tables of"):
        A2DEClassifier(max_table_cells=cells - 1).fit(frame, y)
