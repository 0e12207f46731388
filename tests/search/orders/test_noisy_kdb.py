"""Sampled orders and parents."""

from __future__ import annotations

import numpy as np

from bayleaf.search.orders.noisy_kdb import log_information, noisy_parents


def _draw(
    relevance: np.ndarray, information: np.ndarray, k: int, seed: int
) -> list[tuple[int, ...]]:
    logs = log_information(relevance), log_information(information)
    return noisy_parents(*logs, k, np.random.default_rng(seed))


def test_parents_make_no_cycle_and_are_few() -> None:
    rng = np.random.default_rng(0)
    information = rng.random((8, 8))
    information += information.T
    for seed in range(20):
        parents = _draw(rng.random(8), information, 3, seed)
        assert sorted(map(len, parents)) == [0, 1, 2, 3, 3, 3, 3, 3]
        placed: set[int] = set()
        while len(placed) < 8:
            ready = {i for i in range(8) if set(parents[i]) <= placed} - placed
            assert ready
            placed |= ready


def test_the_first_feature_is_drawn_in_proportion_to_its_relevance() -> None:
    relevance, information = np.array([0.6, 0.3, 0.1]), np.ones((3, 3))
    first = [_draw(relevance, information, 2, seed).index(()) for seed in range(3000)]
    shares = np.bincount(first, minlength=3) / 3000
    np.testing.assert_allclose(shares, relevance, atol=0.04)


def test_a_feature_without_information_is_nobodys_parent() -> None:
    information = np.ones((4, 4))
    information[2, :] = information[:, 2] = 1e-15
    for seed in range(20):
        parents = _draw(np.array([1.0, 1.0, 0.0, 1.0]), information, 3, seed)
        assert all(2 not in chosen for chosen in parents)
        assert parents[2] == ()
