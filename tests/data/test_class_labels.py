"""Class labels of every type are found, ordered and numbered, or refused."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf.data.class_labels import encode_labels, label_codes, sorted_positions
from offenders import check_each

WRAPPERS = [list, np.array, pd.Series, pl.Series, pa.array]


def test_classes_are_the_sorted_distinct_labels() -> None:
    def check(case: tuple[Callable[[Any], Any], tuple[list[Any], list[Any]]]) -> None:
        wrap, (target, classes) = case
        found, codes = encode_labels(wrap(target))
        assert found.tolist() == classes
        assert codes.tolist() == [1, 0, 1]
        assert codes.dtype == np.intp
        assert [type(label) for label in found.tolist()] == [type(c) for c in classes]

    check_each(
        itertools.product(
            WRAPPERS,
            [
                (["b", "a", "b"], ["a", "b"]),
                ([10, 9, 10], [9, 10]),
                ([1, -1, 1], [-1, 1]),
                ([True, False, True], [False, True]),
                ([2.0, 1.0, 2.0], [1.0, 2.0]),
            ],
        ),
        check,
    )


def test_an_array_keeps_the_type_of_its_labels() -> None:
    def check(dtype: str) -> None:
        target = np.array([1, 0, 1]).astype(dtype)
        found, codes = encode_labels(target)
        assert found.dtype == target.dtype
        np.testing.assert_array_equal(found[codes], target)

    check_each(["i1", "u2", "i8", "u8", "f4", "?", "U3", "M8[D]"], check)


def test_labels_of_several_types_are_ordered_by_type_then_value() -> None:
    found, codes = encode_labels(np.array(["b", 2, "a", 1, True], dtype=object))
    # True is the number one.
    assert found.tolist() == [1, 2, "a", "b"]
    assert codes.tolist() == [3, 1, 2, 0, 0]


def test_categories_that_no_row_has_are_no_classes() -> None:
    found, codes = encode_labels(pd.Categorical(["b", "b"], ["a", "b", "c"]))
    assert found.tolist() == ["b"]
    assert codes.tolist() == [0, 0]


def test_dates_are_labels() -> None:
    days = [datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)]
    found, codes = encode_labels(pd.Series(days))
    assert found.tolist() == days[::-1]
    assert codes.tolist() == [1, 0]


def test_arrays_of_integers_give_the_same_labels_as_lists() -> None:
    target = np.random.default_rng(0).choice([-3, 0, 7, 9], size=500)
    slow = encode_labels(target.tolist())
    fast = encode_labels(target)
    np.testing.assert_array_equal(slow[0], fast[0])
    np.testing.assert_array_equal(slow[1], fast[1])
    assert slow[0].dtype == fast[0].dtype == target.dtype


def test_missing_labels_are_refused_with_their_row() -> None:
    def check(target: Any) -> None:
        with pytest.raises(
            ValueError, match=r"target has 2 missing values \(the first in row 1\)"
        ):
            encode_labels(target)

    check_each(
        [
            ["a", None, "b", None],
            [1.0, np.nan, 2.0, np.nan],
            np.array([1.0, np.nan, 2.0, np.nan]),
            pd.Series([1, None, 2, None], dtype="Int64"),
            pd.Series(["a", pd.NA, "b", pd.NA], dtype="string"),
            pl.Series(["a", None, "b", None]),
            pa.array([True, None, False, None]),
            pd.Series(pd.to_datetime(["2020-01-01", None, "2021-01-01", None])),
            np.array(["2020-01-01", "NaT", "2021-01-01", "NaT"], dtype="M8[D]"),
        ],
        check,
    )


def test_fractions_are_no_classes() -> None:
    def check(wrap: Callable[[Any], Any]) -> None:
        with pytest.raises(ValueError, match=r"Unknown label type: continuous.*0\.5"):
            encode_labels(wrap([0.5, 1.0]))

    check_each(WRAPPERS, check)


def test_known_classes_number_the_rows() -> None:
    codes = label_codes(["c", "a", "c"], np.array(["a", "b", "c"]))
    assert codes.tolist() == [2, 0, 2]


def test_a_label_outside_the_known_classes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"labels \['d'\] .* classes \['a', 'b'\]"):
        label_codes(["d", "a"], np.array(["a", "b"]))


def test_values_are_sorted() -> None:
    def check(case: tuple[list[Any], list[Any]]) -> None:
        values, ordered = case
        assert [values[i] for i in sorted_positions(values)] == ordered

    check_each(
        [
            ([10, 9, -1], [-1, 9, 10]),
            (["10", "9"], ["10", "9"]),
            ([True, False], [False, True]),
            ([2, 1.5, True], [True, 1.5, 2]),
            (["a", 2, 1.0], [1.0, 2, "a"]),
            ([], []),
        ],
        check,
    )


def test_zero_bytes_at_the_end_of_labels_are_kept() -> None:
    classes, codes = encode_labels(["p\0", "p", "p\0"])
    assert classes.tolist() == ["p", "p\0"]
    assert codes.tolist() == [1, 0, 1]


def test_large_integers_and_texts_stay_distinct() -> None:
    def check(case: tuple[Callable[[Any], Any], list[Any]]) -> None:
        wrap, labels = case
        target = wrap(labels * 2)
        found, codes = encode_labels(target)
        assert found[codes].tolist() == labels * 2
        made = [type(label) for label in found[codes].tolist()]
        assert made == [type(label) for label in labels] * 2
        assert label_codes(target, found).tolist() == codes.tolist()

    check_each(
        itertools.product(
            [list, tuple, as_objects, lambda t: pd.Series(as_objects(t))],
            [
                [2**63, 2**63 + 1, 5],
                [2**70, 2**70 + 1, -1],
                [-1, 2**63, 2**63 + 1],
                [-(2**63) - 1, -(2**63), 0],
                ["p\0", "p", "q"],
                [1, "1", 2],
                [2**63, "9223372036854775808", "q"],
            ],
        ),
        check,
    )
    unsigned = np.array([2**63, 2**63 + 1], dtype=np.uint64)
    assert encode_labels(unsigned)[0].tolist() == [2**63, 2**63 + 1]


def as_objects(labels: Any) -> np.ndarray[Any, Any]:
    """An array of objects of Python."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
