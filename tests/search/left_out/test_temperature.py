"""The temperature: where a fine grid says, and harmless where nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.search.left_out.temperature import best_temperature
from offenders import check_each


def _loss(scores: np.ndarray, own: np.ndarray, weights: np.ndarray, t: float) -> float:
    scaled = scores / t
    scaled = scaled - scaled.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(scaled).sum(axis=1))
    return float(weights @ (log_total - scaled[np.arange(len(own)), own]))


def test_it_loses_no_more_than_any_of_a_fine_grid() -> None:
    def check(factor: float) -> None:
        rng = np.random.default_rng(0)
        scores = rng.normal(size=(400, 3))
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        own = np.array([rng.choice(3, p=p) for p in shares])
        weights = rng.random(400)
        found = best_temperature(factor * scores, own, weights)
        least = _loss(factor * scores, own, weights, found)
        grid = np.geomspace(0.05, 20, 2000)
        assert (
            least <= min(_loss(factor * scores, own, weights, t) for t in grid) + 1e-9
        )
        assert found == pytest.approx(factor, rel=0.35)

    check_each([0.3, 1.0, 4.0], check)


def test_it_stays_within_its_bounds() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0]])
    right, wrong = np.array([0, 1]), np.array([1, 0])
    assert best_temperature(scores, right, np.ones(2)) == pytest.approx(0.05)
    assert best_temperature(scores, wrong, np.ones(2)) == pytest.approx(20.0)


def test_equal_scores_and_single_classes_ask_for_none() -> None:
    own = np.zeros(4, dtype=int)
    assert best_temperature(np.zeros((4, 2)), own, np.ones(4)) == 1.0
    assert best_temperature(np.zeros((4, 1)), own, np.ones(4)) == 1.0


def test_impossible_classes_are_borne() -> None:
    scores = np.array([[0.0, -np.inf], [-np.inf, 0.0], [0.0, 1.0], [1.0, 0.0]])
    own = np.array([0, 0, 0, 0])
    found = best_temperature(scores, own, np.ones(4))
    assert np.isfinite(found)
    assert found == pytest.approx(
        best_temperature(scores[2:], own[2:], np.ones(2)), rel=1e-6
    )
