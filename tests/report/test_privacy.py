from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.report.privacy import (
    Privacy,
    masked_domain,
    merged_intervals,
    withheld_confusions,
    withheld_parts,
)

PARTS = st.lists(st.integers(0, 12), min_size=1, max_size=6)


def completions(total: int, n_cells: int) -> list[tuple[int, ...]]:
    """All ways to share rows out among cells."""
    if n_cells == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in completions(total - first, n_cells - 1)
    ]


@given(PARTS, st.integers(2, 6))
def test_no_part_that_is_told_is_small(counts: list[int], min_count: int) -> None:
    hidden = withheld_parts(counts, Privacy(min_count=min_count))
    told = np.array(counts)[~hidden]
    assert ((told == 0) | (told >= min_count)).all()


@given(PARTS, st.integers(2, 6))
def test_a_small_part_does_not_follow_from_the_total(
    counts: list[int], min_count: int
) -> None:
    hidden = withheld_parts(counts, Privacy(min_count=min_count))
    unknown = sum(n for n, gone in zip(counts, hidden, strict=True) if gone)
    if sum(counts) >= min_count and len(counts) > 1 and hidden.any():
        possible = completions(unknown, int(hidden.sum()))
        largest = np.max(possible, axis=0)
        assert (largest >= min_count).all()
        assert len(possible) > 1


@given(PARTS)
def test_nothing_is_withheld_by_default(counts: list[int]) -> None:
    assert not withheld_parts(counts, Privacy()).any()


def test_the_smallest_other_part_goes_with_a_small_one() -> None:
    hidden = withheld_parts([3, 40, 9, 0], Privacy(min_count=5))
    assert hidden.tolist() == [True, False, True, False]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=4),
    st.integers(2, 5),
)
def test_no_small_confusion_follows_from_what_is_told(
    cells: list[int], min_count: int
) -> None:
    table = np.array(cells).reshape(2, 2)
    if table.sum() < min_count:
        return
    shared = withheld_confusions(table, Privacy(min_count=min_count))
    others = np.array(completions(int(table.sum()), 4)).reshape(-1, 2, 2)
    same = ((others == table) | shared.hidden).all(axis=(1, 2))
    totals = others.sum(axis=2) == table.sum(axis=1)
    same &= (totals | shared.hidden_totals).all(axis=1)
    if shared.tells_accuracy:
        same &= np.trace(others, axis1=1, axis2=2) == np.trace(table)
    possible = others[same]
    largest = np.max(possible, axis=0)
    small = (table > 0) & (table < min_count)
    assert (largest[small] >= min_count).all()


def test_a_large_confusion_stays() -> None:
    shared = withheld_confusions(np.array([[130, 20], [28, 92]]), Privacy(min_count=5))
    assert not shared.hidden.any()
    assert shared.tells_accuracy


def test_one_small_confusion_takes_its_row_along() -> None:
    shared = withheld_confusions(np.array([[140, 2], [28, 92]]), Privacy(min_count=5))
    assert shared.hidden[0].all()
    assert shared.hidden.sum() >= 3


def test_few_errors_in_all_are_not_told_as_accuracy() -> None:
    shared = withheld_confusions(np.array([[50, 1], [1, 60]]), Privacy(min_count=5))
    assert not shared.tells_accuracy


def test_a_small_cell_among_many_classes_takes_the_whole_table_along() -> None:
    table = np.full((9, 9), 20)
    table[3, 4] = 1
    assert withheld_confusions(table, Privacy(min_count=5)).hidden.all()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8),
    st.integers(2, 6),
)
def test_no_interval_that_is_left_is_small(
    cells: list[tuple[int, int]], min_count: int
) -> None:
    counts, privacy = np.array(cells), Privacy(min_count=min_count)
    if privacy.small(counts.sum(axis=0)).any():
        return
    bounds = [0, *merged_intervals(counts, privacy, None), len(counts)]
    for low, high in itertools.pairwise(bounds):
        assert not privacy.small(counts[low:high].sum(axis=0)).any()


def test_a_fixed_bound_is_kept() -> None:
    counts = np.array([[9, 1], [1, 9], [8, 1], [2, 9]])
    assert merged_intervals(counts, Privacy(min_count=5), 2) == [2]


def test_rare_states_lose_their_names() -> None:
    domain = Domain(
        (Variable("town", ("A", "B", "rare value 1")), numeric_variable("age", [40.0]))
    )
    counts = [np.array([20, 2, 30, 0]), np.array([50, 2, 0])]
    shown = masked_domain(domain, counts, Privacy(min_count=5))
    assert shown[0].states == ("A", "rare value 1'", "rare value 1")
    assert shown[1].states == ("<= 40", "rare value 1")
    assert masked_domain(domain, counts, Privacy()) is domain


def test_rows_are_shown_only_where_nothing_is_withheld() -> None:
    assert Privacy().shows_rows
    assert not Privacy(rows=False).shows_rows
    assert not Privacy(min_count=5).shows_rows


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="min_count must be at least 1"):
        Privacy(min_count=0)
