"""Integer programmes on everything that is published recover no small count.

The tables have a class, a feature and the prediction; published are the numbers of rows
by feature, by class and feature (of which a report tells the information) and by class
and prediction; of an audit, by two groups together, class and prediction, and whether
a group is shown. One attacker knows the number of rows and takes
for granted nothing but how rounding works; others do not know it, but take for granted
that no sum of neighbours is off by a whole base, or by two, which is mostly so.

    python tests/report/test_privacy_attacks.py 5000

attacks that many tables, and pairs of reports with and without one row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.counts.rounding import LEAST_BASE, RoundedCounts
from bayleaf.evaluation.privacy import BY_CLASS, Privacy, column_partition

sys.path.append(str(Path(__file__).parents[1]))
from offenders import check_each
from oracles.disclosure import Attack, Partition, recovered

COLUMN = column_partition(0)


def attackers(n_rows: int, base: int) -> list[tuple[int | None, int | None]]:
    """Number of rows and largest error, as far as attackers know or believe."""
    return [(n_rows, None), (None, base - 1), (None, 2 * base)]


def random_rows(rng: np.random.Generator, least: int) -> tuple[tuple, np.ndarray]:
    """Cards of class, feature and prediction, and a few rows, some cells rare."""
    cards = tuple(int(c) for c in rng.integers(2, 4, 3))
    n_rows = int(rng.integers(least, least + 25))
    columns = [rng.choice(c, n_rows, p=rng.dirichlet(np.full(c, 0.5))) for c in cards]
    return cards, np.array(columns)


def margin(cards: tuple[int, ...], kept: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Cell of a margin to which each cell of the joint table belongs; their number."""
    grids = np.indices(cards).reshape(len(cards), -1)
    sizes = [cards[v] for v in kept]
    return np.ravel_multi_index([grids[v] for v in kept], sizes), int(np.prod(sizes))


def recovered_by_some(
    privacy: Privacy,
    cards: tuple[int, ...],
    joint: np.ndarray,
    published: Iterable[tuple[str, tuple[int, ...]]],
) -> list[int]:
    """Small counts that some attacker recovers from margins, each by its partition."""
    partitions: list[Partition] = []
    groups = [np.arange(len(joint)) == cell for cell in range(len(joint))]
    for name, kept in published:
        cell_of, n_cells = margin(cards, kept)
        counts = np.bincount(cell_of, joint, n_cells).astype(int)
        partitions.append((cell_of, privacy.published(counts, name)))
        groups += [cell_of == cell for cell in range(n_cells)]
    return [
        count
        for known, error in attackers(int(joint.sum()), privacy.base)
        for count in recovered(
            Attack(known, partitions, error), joint, groups, privacy.min_count
        )
    ]


def small_counts_of_a_report(seed: int) -> list[int]:
    """Small counts that some attacker recovers from one report."""
    rng = np.random.default_rng(seed)
    privacy = Privacy(min_count=int(rng.integers(2, 7)))
    cards, rows = random_rows(rng, privacy.least_rows)
    privacy = privacy.of_table(list(rows))
    joint = np.bincount(np.ravel_multi_index(rows, cards), minlength=np.prod(cards))
    published = (
        (COLUMN, (1,)),
        (BY_CLASS, (0,)),
        (BY_CLASS, (0, 1)),
        (BY_CLASS, (0, 2)),
    )
    return recovered_by_some(privacy, cards, joint, published)


def small_counts_of_a_difference(seed: int) -> list[int]:
    """Small counts recovered from reports with and without one row that is unknown."""
    rng = np.random.default_rng(seed)
    card, privacy = int(rng.integers(2, 5)), Privacy(min_count=int(rng.integers(2, 7)))
    n_rows = int(rng.integers(privacy.least_rows + 1, privacy.least_rows + 25))
    rows = rng.choice(card, n_rows, p=rng.dirichlet(np.full(card, 0.5)))
    before = np.bincount(rows[:-1], minlength=card)
    after = np.bincount(rows, minlength=card)
    # Joint cells: rows in both reports by value, then the row of one by value.
    joint, values = np.concatenate([before, after - before]), np.tile(range(card), 2)
    in_both = np.arange(2 * card) < card
    partitions = [
        (values, privacy.of_table([rows]).published(after, COLUMN)),
        (
            np.where(in_both, values, card),
            privacy.of_table([rows[:-1]]).published(before, COLUMN),
        ),
    ]
    groups = [np.arange(2 * card) == cell for cell in range(2 * card)]
    groups += [values == value for value in range(card)]
    found = []
    for known_rows, error in attackers(n_rows, privacy.base):
        attack = Attack(known_rows, partitions, error)
        attack.know_sum(~in_both, 1)
        found += recovered(attack, joint, groups, privacy.min_count)
    return found


def small_counts_of_a_card(seed: int, one_rounding: bool = True) -> list[int]:
    """Small counts recovered from a card by two features, and the page beside it.

    The rows are rounded once, by class, both features and prediction; the page has the
    values of both features too, and what each tells on the class. Without
    `one_rounding`, each feature has a rounding of its own, as cards must not.
    """
    rng = np.random.default_rng(seed)
    privacy = Privacy(min_count=int(rng.integers(2, 7)))
    cards = (2, int(rng.integers(2, 4)), 2, 2)
    n_rows = int(rng.integers(privacy.least_rows, privacy.least_rows + 25))
    rows = np.array(
        [rng.choice(c, n_rows, p=rng.dirichlet(np.full(c, 0.5))) for c in cards]
    )
    privacy = privacy.of_table(list(rows))
    joint = np.bincount(np.ravel_multi_index(rows, cards), minlength=np.prod(cards))
    one, other = "group a", "group b"
    apart = [(one, (1, 0, 3)), (other, (2, 0, 3)), (BY_CLASS, (0, 3))]
    published = (
        (COLUMN, (1,)),
        (column_partition(1), (2,)),
        (BY_CLASS, (0,)),
        (BY_CLASS, (0, 1)),
        (BY_CLASS, (0, 2)),
        *([(BY_CLASS, (0, 1, 2, 3))] if one_rounding else apart),
    )
    return recovered_by_some(privacy, cards, joint, published)


def small_counts_of_a_page(seed: int) -> list[int]:
    """Small counts recovered from an explorer page of naive Bayes with two features.

    The page has the tables of the class and of both features, all of rounded counts.
    """
    rng = np.random.default_rng(seed)
    min_count = int(rng.integers(2, 7))
    base = max(min_count, LEAST_BASE)
    cards, rows = random_rows(rng, 5 * min_count)
    joint = np.bincount(np.ravel_multi_index(rows, cards), minlength=np.prod(cards))
    rounding = RoundedCounts(base, seed.to_bytes(16))
    partitions: list[Partition] = []
    groups = [np.arange(len(joint)) == cell for cell in range(len(joint))]
    for kept in ((0,), (0, 1), (0, 2)):
        cell_of, n_cells = margin(cards, kept)
        counts = np.bincount(cell_of, joint, n_cells)
        table = counts.reshape(-1, 1 if len(kept) == 1 else cards[kept[1]])
        table = table.reshape(1, -1) if len(kept) == 1 else table
        sums = table.sum(axis=1, keepdims=True)
        # Laplace's rule, as the page's model has it, without what it adds.
        shapes = np.maximum(sums, 1.0) * (table + 1.0) / (sums + table.shape[1])
        found = rounding.standard_gamma(shapes) - 0.5
        partitions.append((cell_of, found.ravel().astype(int)))
        groups += [cell_of == cell for cell in range(n_cells)]
    return [
        count
        for known in attackers(rows.shape[1], base)
        for count in recovered(
            Attack(known[0], partitions, known[1]), joint, groups, min_count
        )
    ]


def small_counts_of_an_audit(seed: int) -> list[int]:
    """Small counts recovered from an audit by two columns and by both together.

    Its rows are rounded once, by both. A group that is not shown, though its number of
    rows follows from those that are, has fewer than the base.
    """
    rng = np.random.default_rng(seed)
    privacy = Privacy(min_count=int(rng.integers(2, 7)))
    cards = (2, int(rng.integers(2, 4)), 2, 2)
    n_rows = int(rng.integers(privacy.least_rows, privacy.least_rows + 25))
    rows = np.array(
        [rng.choice(c, n_rows, p=rng.dirichlet(np.full(c, 0.5))) for c in cards]
    )
    privacy = privacy.of_table(list(rows))
    joint = np.bincount(np.ravel_multi_index(rows, cards), minlength=np.prod(cards))
    cell_of, n_cells = margin(cards, (1, 2, 0, 3))
    counts = np.bincount(cell_of, joint, n_cells).astype(int)
    published = privacy.published(counts, "group a")
    groups = [cell_of == cell for cell in range(n_cells)]
    bounds = []
    for kept in ((0, 3), (1,), (2,), (1, 2), (1, 0, 3), (2, 0, 3)):
        group_of, n_groups = margin(cards, kept)
        told = np.bincount(group_of, published[cell_of], n_groups).astype(int)
        hidden = privacy.unnamed(np.bincount(group_of, joint, n_groups), told)
        for group in range(n_groups):
            cells = group_of == group
            groups.append(cells)
            if 0 in kept:
                continue
            if not hidden[group]:
                bounds.append((cells, privacy.base, n_rows))
            elif told[group] > privacy.base:
                bounds.append((cells, 1, privacy.base - 1))
    found = []
    for known in attackers(n_rows, privacy.base):
        attack = Attack(known[0], [(cell_of, published)], known[1])
        for bound in bounds:
            attack.know_between(*bound)
        found += recovered(attack, joint, groups, privacy.min_count)
    return found


def quick_and_slow(quick: Iterable[int], slow: Iterable[int]) -> list[Any]:
    """Seeds, of which those of larger integer programmes are slow."""
    return [*quick, *(pytest.param(seed, marks=pytest.mark.slow) for seed in slow)]


@pytest.mark.parametrize("seed", quick_and_slow([0], [2, 3]))
def test_no_small_count_is_recovered_from_an_audit(seed: int) -> None:
    assert not small_counts_of_an_audit(seed)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", quick_and_slow(range(4), range(4, 8)))
def test_no_small_count_is_recovered_from_a_page(seed: int) -> None:
    assert not small_counts_of_a_page(seed)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", quick_and_slow(range(4), range(4, 8)))
def test_no_small_count_is_recovered(seed: int) -> None:
    assert not small_counts_of_a_report(seed)


@pytest.mark.slow
def test_features_rounded_apart_let_a_small_count_be_recovered() -> None:
    assert small_counts_of_a_card(109, one_rounding=False)


@pytest.mark.few("2", "3")
@pytest.mark.parametrize("seed", quick_and_slow([0], [1, 2, 3, 109]))
def test_no_small_count_is_recovered_from_a_card(seed: int) -> None:
    assert not small_counts_of_a_card(seed)


@pytest.mark.parametrize("first", [0, 4])
def test_no_small_count_is_recovered_from_two_reports(first: int) -> None:
    def check(seed: int) -> None:
        assert not small_counts_of_a_difference(seed)

    check_each(range(first, first + 4), check)


def test_exact_counts_are_recovered() -> None:
    joint = np.array([3, 1, 4, 2])
    partitions = [(np.array([0, 0, 1, 1]), np.array([4, 6]))]
    partitions += [(np.arange(4), joint)]
    groups = [np.arange(4) == cell for cell in range(4)]
    assert recovered(Attack(10, partitions, 0), joint, groups, 3) == [1, 2]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("first", [0, 10, 20, 40, 60, 80])
def test_no_small_count_is_recovered_from_many_tables(first: int) -> None:
    for seed in range(first, first + (20 if first >= 20 else 10)):
        assert seed % 5 or not small_counts_of_an_audit(1000 + seed), seed
        assert not small_counts_of_a_report(1000 + seed), seed
        assert seed % 5 or not small_counts_of_a_card(1000 + seed), seed
        assert not small_counts_of_a_difference(1000 + seed), seed


if __name__ == "__main__":
    n_tables = int(sys.argv[1])
    for attack in (
        small_counts_of_a_page,
        small_counts_of_a_report,
        small_counts_of_a_card,
        small_counts_of_an_audit,
        small_counts_of_a_difference,
    ):
        broken = [seed for seed in range(n_tables) if attack(seed)]
        print(
            f"{attack.__name__}: {len(broken)} of {n_tables} {broken[:9]}", flush=True
        )
