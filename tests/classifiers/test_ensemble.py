"""Votes and gates over classifiers of any kind."""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

from bayleaf import EnsembleClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from offenders import check_each

X, Y = load_heart(return_X_y=True)
LABELS = np.asarray(Y)


def _boosted_by_hand(n_models: int) -> np.ndarray[Any, Any]:
    """Votes of AdaBoost.M1 on the heart table, (n_rows, n_classes), step by step."""
    weights, votes = np.ones(len(LABELS)), np.zeros((len(LABELS), 2))
    classes = np.unique(LABELS)
    for _ in range(n_models):
        model = NaiveBayesClassifier().fit(X, Y, sample_weight=weights)
        answers = model.predict(X)
        wrong = answers != LABELS
        error = weights[wrong].sum() / len(LABELS)
        assert 0.0 < error < 0.5
        votes[np.arange(len(votes)), np.searchsorted(classes, answers)] += math.log(
            (1 - error) / error
        )
        weights = np.where(wrong, weights / (2 * error), weights / (2 * (1 - error)))
    return votes


def test_boosting_is_that_of_adaboost_m1() -> None:
    model = EnsembleClassifier(NaiveBayesClassifier(), n_estimators=4).fit(X, Y)
    votes = _boosted_by_hand(4)
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-12)
    expected = model.classes_[votes.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), expected)


def test_a_bootstrap_sample_is_a_table_of_its_rows() -> None:
    model = EnsembleClassifier(
        NaiveBayesClassifier(),
        method="bagging",
        max_samples=0.5,
        n_estimators=3,
        random_state=0,
    ).fit(X, Y)
    rng = np.random.default_rng(0)
    answers = []
    for member in model.estimators_:
        rows = rng.integers(270, size=135)
        assert member.random_state == rng.integers(2**31)
        alone = NaiveBayesClassifier().fit(X.take(rows), LABELS[rows])
        answers.append(alone.predict_proba(X))
        np.testing.assert_array_equal(answers[-1], member.predict_proba(X))
    votes = np.mean([table.argmax(axis=1) for table in answers], axis=0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], votes, rtol=1e-12)


@pytest.mark.parametrize("method", ["boosting", "bagging"])
def test_weights_count_rows(method: str) -> None:
    weights = np.random.default_rng(1).integers(3, size=270)
    rows = np.repeat(np.arange(270), weights)
    settings = {"method": method, "n_estimators": 3, "random_state": 0}
    weighted = EnsembleClassifier(NaiveBayesClassifier(), **settings)
    repeated = EnsembleClassifier(NaiveBayesClassifier(), **settings)
    np.testing.assert_allclose(
        weighted.fit(X, Y, sample_weight=weights).predict_proba(X),
        repeated.fit(X.take(rows), LABELS[rows]).predict_proba(X),
        rtol=1e-9,
    )


def test_a_gate_learns_which_expert_is_most_certain() -> None:
    model = EnsembleClassifier(
        TANClassifier(), gate=NaiveBayesClassifier(), n_estimators=3
    ).fit(X, Y)
    outputs = np.stack([member.predict_proba(X) for member in model.estimators_])
    codes = np.searchsorted(model.classes_, LABELS)
    best = outputs[:, np.arange(270), codes].argmax(axis=0)
    gate = NaiveBayesClassifier().fit(X, best)
    gates = np.zeros((270, 3))
    gates[:, gate.classes_] = gate.predict_proba(X)
    expected = (gates.T[:, :, None] * outputs).sum(axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_classifiers_of_scikit_learn_are_combined_too() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(90, 2))
    y = np.where(numbers[:, 0] > 0.3, "high", "low").astype(object)
    model = EnsembleClassifier(LogisticRegression(), method="bagging", random_state=0)
    assert model.fit(numbers, y).score(numbers, y) > 0.9
    assert model.n_features_in_ == 2


def test_wrong_parameters_are_named() -> None:
    cases = [
        ({"method": "stacking"}, ValueError, "method must be one of"),
        ({"max_samples": 1.5}, ValueError, "max_samples must be a number above 0"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be an integer >= 1"),
        ({"gate": "nb"}, TypeError, "gate must be a classifier"),
        ({"estimator": TANClassifier}, TypeError, "estimator must be a classifier"),
    ]
    for settings, kind, text in cases:
        with pytest.raises(kind, match=text):
            EnsembleClassifier(**{"estimator": TANClassifier(), **settings}).fit(X, Y)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        EnsembleClassifier(TANClassifier()).fit(X, Y, sample_weight=np.zeros(270))
    with pytest.raises(NotFittedError):
        EnsembleClassifier(TANClassifier()).predict(X)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["boosting", "bagging"])
def test_every_check_of_scikit_learn_passes(method: str) -> None:
    def check(pair: tuple[Any, Any]) -> None:
        with warnings.catch_warnings(), contextlib.suppress(SkipTest):
            warnings.simplefilter("ignore")
            pair[1](pair[0])

    model = EnsembleClassifier(
        NaiveBayesClassifier(), method=method, n_estimators=2, random_state=0
    )
    checks = [
        pair
        for pair in estimator_checks_generator(model, legacy=True)
        # These put the rows into another order, on which bootstrap samples depend.
        if method == "boosting" or "sample_weight_equivalence" not in str(pair[1])
    ]
    check_each(checks, check, lambda pair: str(pair[1]))
