"""Arrow's arrays made and read over their buffers equal those of Arrow's own way."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf.cli.table_reading import dictionary_codes
from bayleaf.predictions.prediction_files import number_array, text_array
from offenders import check_each

TEXTS = ["b", None, "ä", "b", "", None, "€uro", "b", "c", None, "d"]


def test_codes_of_text_are_the_indices_with_nulls_below_zero() -> None:
    def check(rows: slice) -> None:
        array = pa.array(TEXTS)[rows.start : rows.stop].dictionary_encode()
        expected = np.asarray(array.indices.fill_null(-1))
        codes = dictionary_codes(array)
        assert codes.dtype == np.int32
        np.testing.assert_array_equal(codes, expected)

    check_each([slice(0, 11), slice(1, 10), slice(3, 5), slice(4, 4)], check)


def test_codes_of_a_part_of_an_encoded_array_are_those_of_its_rows() -> None:
    def check(rows: slice) -> None:
        array = pa.array(TEXTS).dictionary_encode()[rows.start : rows.stop]
        expected = np.asarray(array.indices.fill_null(-1))
        np.testing.assert_array_equal(dictionary_codes(array), expected)

    check_each([slice(0, 11), slice(2, 11), slice(5, 6)], check)


def test_numbers_become_what_arrow_makes_of_them() -> None:
    def check(case: tuple[list[Any], int]) -> None:
        values, step = case
        dtype = np.int64 if values == [1, -(2**62)] else np.float64
        numbers = np.array(values, dtype=dtype)[::step]
        array = number_array(numbers)
        array.validate(full=True)
        expected = pa.array(numbers)
        assert array.type == expected.type
        np.testing.assert_array_equal(array.to_numpy(), expected.to_numpy())

    values = [[], [1, -(2**62)], [0.5, np.nan, np.inf]]
    check_each(product(values, [1, 2]), check)


def test_texts_become_what_arrow_makes_of_them() -> None:
    def check(codes: list[int]) -> None:
        texts = ["b", "", "ä€", "x" * 300]
        array = text_array(texts, np.array(codes, dtype=np.intp))
        array.validate(full=True)
        assert array == pa.array([texts[code] for code in codes], pa.string())

    check_each([[], [0], [2, 1, 1, 0, 3, 2]], check)


def test_texts_beyond_arrows_offsets_are_refused() -> None:
    codes = np.zeros(2**11, dtype=np.intp)
    with pytest.raises(ValueError, match="too long"):
        text_array(["x" * 2**20], codes)
