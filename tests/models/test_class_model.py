"""Scores and contributions of terms, and log scores turned into log posteriors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayleaf
from bayleaf.models.class_model import ClassModel, log_normalize
from property.networks import codes_of, random_one_dependence

NO = -math.inf


def test_posteriors_are_scores_over_their_sum() -> None:
    scores = np.log([[0.1, 0.3], [0.02, 0.06]])
    np.testing.assert_allclose(np.exp(log_normalize(scores)), [[0.25, 0.75]] * 2)


@pytest.mark.parametrize("shift", [-1e6, -800.0, 0.0, 800.0])
def test_posteriors_do_not_depend_on_the_scale(shift: float) -> None:
    found = np.exp(log_normalize(np.log([[0.25, 0.75]]) + shift))
    np.testing.assert_allclose(found, [[0.25, 0.75]], rtol=1e-9)


def test_an_impossible_class_has_probability_zero() -> None:
    assert np.exp(log_normalize(np.array([[NO, -5.0]]))).tolist() == [[0.0, 1.0]]


def test_a_row_that_no_class_allows_is_named() -> None:
    scores = np.array([[-1.0, NO], [NO, NO], [NO, NO]])
    with pytest.raises(ValueError, match="row 1 has probability zero under every cl"):
        log_normalize(scores)


def test_scores_stay_as_they_are() -> None:
    scores = np.log([[0.1, 0.3]])
    before = scores.copy()
    scores.setflags(write=False)
    log_normalize(scores)
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("n_classes", [1, 2, 9, 30])
def test_a_row_is_normalised_alike_alone_and_among_others(n_classes: int) -> None:
    scores = np.random.default_rng(0).normal(size=(50, n_classes)) * 30
    together = log_normalize(scores)
    alone = np.concatenate([log_normalize(row[None]) for row in scores])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(log_normalize(scores.T.copy().T), together)


def test_scores_and_contributions_follow_from_the_terms_block_by_block() -> None:
    rng = np.random.default_rng(0)
    model = random_one_dependence(rng, [2, 3, 2], 3)
    states = rng.integers([3, 4, 3], size=(600, 3))
    rows = [[s if s < c else None for s, c in zip(row, (2, 3, 2))] for row in states]
    codes = codes_of(rows, (2, 3, 2))
    scores = model.class_log_scores(codes)
    found = ClassModel.class_log_scores(model, codes)
    np.testing.assert_allclose(found, scores, rtol=0, atol=1e-12)
    target, against = np.arange(600) % 3, (np.arange(600) + 1) % 3
    prior, terms = ClassModel.contributions(model, codes, target, against)
    own_prior, own_terms = model.contributions(codes, target, against)
    np.testing.assert_allclose(prior, own_prior, rtol=0, atol=1e-12)
    np.testing.assert_allclose(terms, own_terms, rtol=0, atol=1e-12)


def test_a_picture_computes_the_weights_of_all_arcs_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).integers(3, size=(40, 3)).astype(str)
    learner = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0)
    model = learner.fit(X, X[:, 0]).model_
    calls = []

    def weights(model: ClassModel) -> dict[tuple[int, int], float]:
        calls.append(1)
        return dict.fromkeys(model.arcs, 0.5)

    monkeypatch.setattr(type(model), "arc_weights", property(weights))
    assert {arc[2] for arc in model.picture.arcs} == {0.5}
    assert len(calls) == 1
