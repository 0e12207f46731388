"""Parents of numbers among numbers, and how many of them left-out rows want."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.search.left_out.linear_families import Numbers, number_rows
from bayleaf.search.left_out.number_structure import (
    NumberRanking,
    choose_families,
    last_pieces,
    left_out_numbers,
    number_tree,
    said_numbers,
)

Table = tuple[Codes, Numbers]


def _numbers(columns: list[NDArray[np.float64]], own: NDArray[np.intp]) -> Table:
    """Numbers as codes, each value an interval of its own."""
    coded, variables, counts = [], [], []
    for place, column in enumerate(columns):
        distinct, codes = np.unique(column, return_inverse=True)
        middle = tuple(((distinct[1:] + distinct[:-1]) / 2).tolist())
        variable = Variable(f"x{place}", tuple(distinct), "numeric", middle)
        coded.append(codes)
        variables.append(variable)
        counts.append(np.bincount(codes, minlength=len(distinct)).astype(float))
    cards = [len(own_counts) for own_counts in counts]
    codes = Codes.from_columns([*coded, own], [*cards, int(own.max()) + 1])
    found = number_rows(codes, variables, counts, 11)
    assert found is not None
    return codes, found


@pytest.fixture
def chained() -> Table:
    """A number that tells the class, one that leans on it, one on its own."""
    rng = np.random.default_rng(0)
    own = rng.integers(2, size=300)
    first = rng.normal(size=300) + 2.0 * own
    second = np.where(own, first, -first) + 0.3 * rng.normal(size=300)
    third = rng.normal(size=300)
    return _numbers([third, second, first], own)


def test_the_best_parent_is_the_one_of_largest_correlation_within_classes() -> None:
    rng = np.random.default_rng(1)
    own = rng.integers(2, size=400)
    a = rng.normal(size=400) + 3.0 * own
    b = rng.normal(size=400) + 2.0 * own
    c = b + 0.5 * rng.normal(size=400)
    ranking = NumberRanking.from_rows(_numbers([a, b, c], own)[1])
    assert ranking.ranked[0].tolist() == []
    assert ranking.ranked[2][0] == 1


def test_weak_parents_are_left_out(chained: Table) -> None:
    _, numbers = chained
    every = NumberRanking.from_rows(numbers)
    none = NumberRanking.from_rows(numbers, 10.0)
    assert sorted(map(len, every.ranked)) == [0, 1, 2]
    assert list(map(len, none.ranked)) == [0, 0, 0]
    some = NumberRanking.from_rows(numbers, "auto")
    assert sum(map(len, some.ranked)) < 3


def test_k_zero_has_alone_pieces_only(chained: Table) -> None:
    families = NumberRanking.from_rows(chained[1]).families(0)
    assert len(families.parents) == 0
    assert last_pieces(families).tolist() == [0, 2, 4]


def test_what_counts_is_the_piece_given_parents_where_there_are_any(
    chained: Table,
) -> None:
    ranking = NumberRanking.from_rows(chained[1])
    families = ranking.families(1)
    expected = [2 * i + (len(own) > 0) for i, own in enumerate(ranking.ranked)]
    assert last_pieces(families).tolist() == expected


def test_left_out_rows_take_the_parent_that_separates_the_classes(
    chained: Table,
) -> None:
    codes, numbers = chained
    prior = np.full((2, codes.n_rows), np.log(0.5))
    k, families = choose_families(NumberRanking.from_rows(numbers), codes, prior)
    assert k >= 1
    assert len(families.parents) >= 2


def test_leaving_out_lowers_what_a_row_says_of_its_own_class(chained: Table) -> None:
    codes, numbers = chained
    families = NumberRanking.from_rows(numbers).families(2)
    own, rows = codes.column(3), np.arange(codes.n_rows)
    less = (said_numbers(families, codes) - left_out_numbers(families, codes)).T
    assert (less[rows, own] > 0).all()
    np.testing.assert_array_equal(less[rows, 1 - own], 0.0)


def test_a_tree_gives_each_number_one_parent_at_most(chained: Table) -> None:
    families = number_tree(chained[1], None)
    assert np.diff(families.starts).max() == 1
    assert len(families.parents) == 2
    assert len(number_tree(chained[1], 10.0).parents) == 0
