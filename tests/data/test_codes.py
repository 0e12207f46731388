"""Codes keep every cell, narrow or wide, through each way of taking them apart."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.data.codes import NARROW_STATES, Codes
from offenders import check_each

CARDS = (3, 300, NARROW_STATES, NARROW_STATES + 1)
COLUMNS = [
    np.array([0, 1, 2, 3]),
    np.array([299, 300, 0, 256]),
    np.array([255, 254, 0, 1]),
    np.array([255, 256, 0, 1]),
]


def _codes(weights: list[float] | None = None) -> Codes:
    given = None if weights is None else np.array(weights)
    return Codes.from_columns(COLUMNS, CARDS, given)


def test_columns_come_back_in_order() -> None:
    codes = _codes()
    for i, column in enumerate(COLUMNS):
        np.testing.assert_array_equal(codes.column(i), column)


def test_variables_of_more_than_255_states_take_two_bytes() -> None:
    codes = _codes()
    assert [codes.column(i).itemsize for i in range(4)] == [1, 2, 1, 2]
    assert (len(codes.narrow), len(codes.wide)) == (2, 2)


def test_the_code_after_the_last_state_is_missing() -> None:
    codes = _codes()
    assert [np.flatnonzero(codes.missing(i)).tolist() for i in range(4)] == [
        [3],
        [1],
        [0],
        [1],
    ]


def test_rows_are_selected_with_their_weights() -> None:
    def check(selection: slice) -> None:
        codes = _codes([0.5, 2.0, 1.0, 3.0]).rows(selection)
        for i, column in enumerate(COLUMNS):
            np.testing.assert_array_equal(codes.column(i), column[selection])
        np.testing.assert_array_equal(
            codes.weights, np.array([0.5, 2.0, 1.0, 3.0])[selection]
        )

    check_each(
        [slice(1, 3), np.array([3, 0, 3]), np.array([True, False, False, True])], check
    )


def test_no_weights_are_ones_without_memory() -> None:
    codes = _codes()
    assert codes.unit_weights
    assert codes.weights.strides == (0,)
    assert codes.weights.sum() == 4.0


def test_weights_of_one_are_unit_weights() -> None:
    assert _codes([1.0] * 4).unit_weights
    assert not _codes([1.0, 1.0, 1.0, 1.5]).unit_weights


@pytest.mark.parametrize("card", [2, 700])
def test_a_variable_is_added_at_the_end(card: int) -> None:
    added = np.array([1, 0, 1, 1])
    codes = _codes().with_column(added, card, np.array([1.0, 2.0, 1.0, 1.0]))
    assert codes.cards == (*CARDS, card)
    np.testing.assert_array_equal(codes.column(4), added)
    np.testing.assert_array_equal(codes.column(1), COLUMNS[1])
    assert codes.weights[1] == 2.0


@pytest.mark.parametrize("card", [3, 300])
def test_rows_are_counted_where_all_variables_share_a_width(card: int) -> None:
    codes = Codes.from_columns([np.zeros(5, dtype=int)], (card,))
    assert codes.n_rows == 5
    assert codes.rows(slice(0, 2)).n_rows == 2
    assert codes.rows(slice(0, 0)).n_rows == 0


def test_columns_are_those_of_each_variable() -> None:
    rng = np.random.default_rng(0)
    cards = (3, 400, 255, 256)
    columns = [rng.integers(0, card + 1, 9) for card in cards]
    codes = Codes.from_columns(columns, cards)
    for rows in (slice(None), slice(2, 5), slice(8, 20)):
        expected = np.array([columns[i][rows] for i in (3, 0, 1)])
        assert np.array_equal(codes.columns([3, 0, 1], rows), expected)
    assert codes.columns(range(0)).shape == (0, 9)
