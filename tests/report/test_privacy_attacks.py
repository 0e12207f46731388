"""Integer programmes on everything that is published recover no small count.

The tables have a class, a feature and the prediction; published are the numbers of rows
by feature, by class and feature (of which a report tells the information) and by class
and prediction. The attacker knows all of them, the number of rows, the base and the
way of rounding. `python tests/report/test_privacy_attacks.py 5000` runs more tables.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from bayleaf.report.privacy import BY_CLASS, Privacy, column_partition

sys.path.append(str(Path(__file__).parents[1]))
from oracles.disclosure import Attack, recovered


def random_rows(rng: np.random.Generator) -> tuple[tuple[int, ...], np.ndarray]:
    """Cards of class, feature and prediction, and a few rows, some cells rare."""
    cards = tuple(int(c) for c in rng.integers(2, 4, 3))
    n_rows = int(rng.integers(6, 30))
    columns = [rng.choice(c, n_rows, p=rng.dirichlet(np.full(c, 0.5))) for c in cards]
    return cards, np.array(columns)


def cells_of(cards: tuple[int, ...], kept: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Cell of a margin to which each cell of the joint table belongs; their number."""
    grids = np.indices(cards).reshape(len(cards), -1)
    sizes = [cards[v] for v in kept]
    return np.ravel_multi_index([grids[v] for v in kept], sizes), int(np.prod(sizes))


def known_small_counts(seed: int) -> list[int]:
    """Small counts that an attacker recovers from one table, or from two of them."""
    rng = np.random.default_rng(seed)
    cards, rows = random_rows(rng)
    min_count = int(rng.integers(2, 7))
    privacy = Privacy(min_count=min_count).of_table(list(rows))
    if rows.shape[1] < privacy.base:
        return []
    n_joint = int(np.prod(cards))
    joint = np.bincount(np.ravel_multi_index(rows, cards), minlength=n_joint)
    margins = {
        column_partition(0): [(1,)],
        BY_CLASS: [(0,), (0, 1), (0, 2)],
    }
    partitions, groups = [], [np.arange(n_joint) == cell for cell in range(n_joint)]
    for offset, (name, refinements) in enumerate(margins.items()):
        for kept in refinements:
            cell_of, n_cells = cells_of(cards, kept)
            counts = np.bincount(cell_of, joint, n_cells).astype(int)
            published = privacy.published(counts, name)
            partitions.append((cell_of, n_cells, published, offset))
            groups += [cell_of == cell for cell in range(n_cells)]
    attack = Attack(rows.shape[1], privacy.base, n_joint, partitions)
    return recovered(attack, joint, iter(groups), min_count)


def known_differences(seed: int) -> list[int]:
    """Small counts recovered from reports with and without one row that is unknown."""
    rng = np.random.default_rng(seed)
    card = int(rng.integers(2, 5))
    rows = rng.choice(card, int(rng.integers(7, 25)), p=rng.dirichlet(np.ones(card)))
    min_count = int(rng.integers(3, 7))
    counts = np.bincount(rows, minlength=card)
    before = np.bincount(rows[:-1], minlength=card)
    if before.sum() < min_count:
        return []
    # Joint cells: rows in both reports by value, then the row in one by value.
    joint = np.concatenate([before, counts - before])
    value = np.tile(np.arange(card), 2)
    partitions = []
    for offset, (own, table) in enumerate(((rows, counts), (rows[:-1], before))):
        privacy = Privacy(min_count=min_count).of_table([own])
        published = privacy.published(table, column_partition(0))
        cell_of = (
            value if own is rows else np.where(np.arange(2 * card) < card, value, card)
        )
        partitions.append((cell_of, card, published, offset))
    attack = Attack(len(rows), min_count, 2 * card, partitions)
    groups = [np.arange(2 * card) == cell for cell in range(2 * card)]
    return recovered(attack, joint, iter(groups), min_count)


@pytest.mark.parametrize("seed", range(12))
def test_no_small_count_is_recovered(seed: int) -> None:
    assert not known_small_counts(seed)


@pytest.mark.parametrize("seed", range(12))
def test_no_small_count_is_recovered_from_two_reports(seed: int) -> None:
    assert not known_differences(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_no_small_count_is_recovered_from_many_tables(first: int) -> None:
    for seed in range(first, first + 50):
        assert not known_small_counts(1000 + seed), seed
        assert not known_differences(1000 + seed), seed


if __name__ == "__main__":
    n_tables = int(sys.argv[1])
    small = [seed for seed in range(n_tables) if known_small_counts(seed)]
    both = [seed for seed in range(n_tables) if known_differences(seed)]
    print(f"{n_tables} tables: small counts recovered in {len(small)} {small[:9]}")
    print(f"{n_tables} pairs of reports: recovered in {len(both)} {both[:9]}")
