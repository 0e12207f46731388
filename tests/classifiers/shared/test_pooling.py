"""Pooling adjacent cells: nearest in order, and most probable in order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bayleaf.classifiers.shared.monotone import (
    likelihood_ordered,
    pooled_steps,
)
from offenders import check_each


def _blocks(n: int) -> Iterator[np.ndarray]:
    """Number of the block of each place, for all cuts of a row into blocks."""
    for cuts in range(1 << (n - 1)):
        ends = [bool(cuts >> k & 1) for k in range(n - 1)]
        yield np.cumsum([0, *ends])


def _block_means(
    values: np.ndarray, weights: np.ndarray, block: np.ndarray
) -> np.ndarray:
    sums = np.bincount(block, weights * values) / np.bincount(block, weights)
    return np.asarray(sums[block])


def test_pooled_steps_are_the_nearest_of_all_that_never_fall() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        values, weights = rng.normal(size=6), rng.uniform(0.1, 3.0, size=6)
        candidates = [_block_means(values, weights, block) for block in _blocks(6)]
        in_order = [own for own in candidates if (np.diff(own) >= 0).all()]
        best = min(in_order, key=lambda own: float(weights @ (own - values) ** 2))
        np.testing.assert_allclose(pooled_steps(values, weights), best, atol=1e-12)

    check_each(range(20), check)


def test_places_of_weight_zero_follow_the_others() -> None:
    found = pooled_steps(np.array([1.0, 9.0, 2.0]), np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found, [1.0, 2.0, 2.0], atol=1e-9)


def test_what_never_falls_comes_back_as_it_is() -> None:
    values = np.array([0.1, 0.1, 0.7])
    assert pooled_steps(values, np.ones(3)) is values
    table = np.array([[0.6, 0.4], [0.3, 0.7]])
    assert likelihood_ordered(table, np.ones(2), np.arange(2)) is table


def test_ordered_distributions_are_the_most_probable_pair_in_order() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        cells = rng.integers(1, 9, size=(2, 5)).astype(float)
        n_rows = cells.sum(axis=1)
        found = likelihood_ordered(cells / n_rows[:, None], n_rows, np.arange(5))
        likelihoods = []
        for block in _blocks(5):
            totals = cells.sum(axis=0)
            share = _block_means(cells[1] / totals, totals, block)
            if (np.diff(share) >= 0).all():
                pair = np.stack([1.0 - share, share]) * totals / n_rows[:, None]
                likelihoods.append(float((cells * np.log(pair)).sum()))
        assert (cells * np.log(found)).sum() == pytest.approx(max(likelihoods))

    check_each(range(20), check)


def test_every_context_is_put_in_order_and_stays_a_distribution() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        table = rng.dirichlet(np.ones(6), size=(2, 3, 2))
        n_rows = rng.uniform(1.0, 50.0, size=(2, 3, 2))
        # The last state stands for missing cells and has no place in the order.
        order = np.array([4, 3, 2, 1, 0])
        found = likelihood_ordered(table, n_rows, order)
        np.testing.assert_allclose(found.sum(axis=-1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(found[..., 5], table[..., 5])
        odds = np.log(found[1] / found[0])[..., order]
        assert (np.diff(odds, axis=-1) > -1e-12).all()
        alone = likelihood_ordered(table[:, 1, 0], n_rows[:, 1, 0], order)
        np.testing.assert_allclose(found[:, 1, 0], alone, atol=1e-15)

    check_each(range(5), check)
