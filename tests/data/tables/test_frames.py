"""Columns of every kind, in every kind of table, taken apart or refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf.data.tables import frames
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    NumberColumn,
    ValueColumn,
    cell_of,
    iterate_names,
    select_rows,
)
from bayleaf.data.tables.frames import column_names, to_columns, value_column
from offenders import check_each

MakeFrame = Callable[[dict[str, Any]], Any]
LOWEST, HIGHEST = -(2**63), 2**63 - 1


def cells(column: Column) -> list[Any]:
    """The column's cells, None where missing."""
    values = column.distinct() if isinstance(column, NumberColumn) else column
    return [None if i < 0 else values.values[i] for i in values.indices.tolist()]


def only(table: Any) -> Column:
    """The single column of a table."""
    parts = to_columns(table)
    columns = parts.columns() if isinstance(parts, Matrix) else parts
    assert len(columns) == 1
    return columns[0]


def test_cells_are_those_of_the_frame(make_frame: MakeFrame) -> None:
    def check(values: list[Any]) -> None:
        assert cells(only(make_frame({"a": values}))) == values

    check_each(
        [
            [3, 1, 2, 1],
            [3, None, 1],
            [2.5, -1.0, 2.5],
            [2.5, None],
            ["b", "a", "b"],
            ["b", None, "a"],
            [True, False, True],
            [True, None, False],
            ["", " ", "ä"],
            [LOWEST, HIGHEST, 0],
            [-70_000, 70_000],
        ],
        check,
    )


def test_numbers_of_every_pandas_type() -> None:
    def check(series: pd.Series) -> None:
        assert cells(only(series.to_frame("a"))) == [1, None, 3]

    check_each(
        [
            pd.Series([1, None, 3], dtype="Int64"),
            pd.Series([1, None, 3], dtype="Int8"),
            pd.Series([1, None, 3], dtype="UInt16"),
            pd.Series([1, None, 3], dtype="Float64"),
            pd.Series([1, None, 3], dtype="float32"),
            pd.Series([1, None, 3], dtype="int32[pyarrow]"),
            pd.Series([1, pd.NA, 3], dtype="object"),
            pd.Series([1, np.nan, 3], dtype="object"),
            pd.Series([1, pd.NaT, 3], dtype="object"),
            pd.Series([1, None, 3]).astype("category"),
            pd.Series(pd.arrays.SparseArray([1.0, np.nan, 3.0])),
        ],
        check,
        lambda series: str(series.dtype),
    )


def test_text_of_every_pandas_type() -> None:
    def check(dtype: str) -> None:
        series = pd.Series(["b", None, "a"], dtype=dtype)
        assert cells(only(series.to_frame("a"))) == ["b", None, "a"]

    check_each(["object", "string", "category", "string[pyarrow]", "str"], check)


def test_truth_values_of_every_pandas_type() -> None:
    def check(dtype: str) -> None:
        series = pd.Series([True, None, False], dtype=dtype)
        assert cells(only(series.to_frame("a"))) == [True, None, False]

    check_each(["boolean", "object", "category", "bool[pyarrow]"], check)


def test_text_of_every_polars_type() -> None:
    def check(series: pl.Series) -> None:
        assert cells(only(series.to_frame())) == ["b", None, "a"]

    check_each(
        [
            pl.Series("a", ["b", None, "a"], dtype=pl.Categorical),
            pl.Series("a", ["b", None, "a"], dtype=pl.Enum(["b", "a", "c"])),
            pl.Series("a", ["b", None, "a"], dtype=pl.Object),
        ],
        check,
        lambda series: str(series.dtype),
    )


def test_text_of_every_arrow_type() -> None:
    def check(kind: pa.DataType) -> None:
        assert cells(only(pa.table({"a": pa.array(["b", None, "a"], kind)}))) == [
            "b",
            None,
            "a",
        ]

    check_each([pa.string(), pa.large_string(), pa.string_view()], check)


def test_numbers_of_every_arrow_type() -> None:
    def check(kind: pa.DataType) -> None:
        array = pa.array([1, None, 3]).cast(kind, safe=False)
        assert cells(only(pa.table({"a": array}))) == [1, None, 3]

    check_each(
        [pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float16(), pa.float32()],
        check,
    )


def test_chunks_with_dictionaries_of_their_own_are_joined() -> None:
    chunks = pa.chunked_array(
        [
            pa.array(["b", "a"]).dictionary_encode(),
            pa.array(["a", None, "c"]).dictionary_encode(),
        ]
    )
    assert cells(only(pa.table({"a": chunks}))) == ["b", "a", "a", None, "c"]


def test_nulls_in_a_dictionary_and_in_its_indices_are_missing() -> None:
    def check(index_type: pa.DataType) -> None:
        array = pa.DictionaryArray.from_arrays(
            pa.array([0, 1, None, 2], index_type), pa.array(["a", None, "b"])
        )
        assert cells(only(pa.table({"a": array}))) == ["a", None, None, "b"]

    check_each([pa.int8(), pa.uint8(), pa.int64()], check)


def test_an_order_that_the_table_declares_is_kept() -> None:
    ordered = pd.Categorical(["low", "high"], ["low", "high"], ordered=True)
    column = only(pd.DataFrame({"a": ordered}))
    assert isinstance(column, ValueColumn)
    assert column.ordered
    assert column.values == ["low", "high"]


def test_categories_without_an_order_declare_none() -> None:
    column = only(pd.DataFrame({"a": pd.Categorical(["low", "high"])}))
    assert isinstance(column, ValueColumn)
    assert not column.ordered


def test_narrow_integers_do_not_wrap_round() -> None:
    def check(dtype: str) -> None:
        limits = np.iinfo(dtype)
        values = [limits.min + 28, limits.max - 28, limits.min + 29]
        frame = pd.DataFrame({"a": np.array(values, dtype=dtype)})
        assert cells(only(frame)) == values

    check_each(["i1", "i2", "i4", "u1", "u2", "u4"], check)


def test_unsigned_integers_stay_exact() -> None:
    def check(values: list[int]) -> None:
        frame = pd.DataFrame({"a": np.array(values, dtype=np.uint64)})
        assert cells(only(frame)) == values

    check_each(
        [[2**64 - 1, 2**64 - 2], [0, 2**64 - 1], [2**63, 2**63 - 1, 2**63]], check
    )


def test_unsigned_integers_with_missing_cells_stay_exact() -> None:
    array = pa.array([2**64 - 1, None, 2**64 - 2], pa.uint64())
    assert cells(only(pa.table({"a": array}))) == [2**64 - 1, None, 2**64 - 2]


def test_integers_far_from_zero_with_missing_cells_stay_exact() -> None:
    series = pd.Series([LOWEST, None, LOWEST + 3], dtype="Int64")
    assert cells(only(series.to_frame("a"))) == [LOWEST, None, LOWEST + 3]


def test_decimals_are_numbers(make_frame: MakeFrame) -> None:
    column = only(make_frame({"a": [Decimal("1.5"), None, Decimal("-2.25")]}))
    assert isinstance(column, NumberColumn)
    assert cells(column) == [1.5, None, -2.25]


def test_mixed_objects_keep_their_types() -> None:
    values = ["1", 1, 2.5, None, True, np.float64(2.5), pd.NA]
    column = only(pd.DataFrame({"a": pd.Series(values, dtype=object)}))
    found = cells(column)
    assert found == ["1", 1, 2.5, None, 1, 2.5, None]
    assert [type(value) for value in found[:3]] == [str, int, float]


def test_whole_numbers_and_fractions_together_are_numbers() -> None:
    column = only(np.array([[1], [2.5], [None]], dtype=object))
    assert isinstance(column, NumberColumn)
    assert cells(column) == [1.0, 2.5, None]


def test_truth_values_and_numbers_together_are_numbers() -> None:
    column = only([[True], [2], [None]])
    assert isinstance(column, NumberColumn)
    assert cells(column) == [1.0, 2.0, None]


def test_integers_beyond_64_bits_are_floats() -> None:
    column = only(pd.DataFrame({"a": pd.Series([2**70, 1], dtype=object)}))
    assert cells(column) == [float(2**70), 1.0]


def test_an_integer_beyond_every_float_is_refused() -> None:
    frame = pd.DataFrame({"a": pd.Series([10**400, 1], dtype=object)})
    with pytest.raises(ValueError, match=r"column 'a' holds .*number.*large"):
        to_columns(frame)


def test_the_cells_that_a_masked_array_hides_are_missing() -> None:
    masked = np.ma.array([[1.0], [2.0], [3.0]], mask=[[False], [True], [False]])
    assert cells(only(masked)) == [1.0, None, 3.0]


def test_a_list_of_rows_may_mix_text_and_numbers() -> None:
    parts = to_columns([["a", 1], ["b", 2], [None, 3]])
    assert isinstance(parts, list)
    assert [cells(column) for column in parts] == [["a", "b", None], [1, 2, 3]]


def test_an_array_of_integers_is_kept_whole() -> None:
    parts = to_columns(np.arange(6, dtype=np.int16).reshape(3, 2))
    assert isinstance(parts, Matrix)
    assert [cells(column) for column in parts.columns()] == [[0, 2, 4], [1, 3, 5]]
    assert list(iterate_names(parts)) == ["x0", "x1"]


def test_floats_of_every_width_are_read() -> None:
    def check(dtype: str) -> None:
        assert cells(only(np.array([[1.5], [np.nan]], dtype=dtype))) == [1.5, None]

    check_each(["f2", "f4", "f8", "longdouble"], check)


def test_bytes_in_foreign_order_are_read() -> None:
    assert cells(only(np.array([[1.5], [2.5]], dtype=">f8"))) == [1.5, 2.5]


def test_a_wholly_missing_column_has_no_values(make_frame: MakeFrame) -> None:
    assert cells(only(make_frame({"a": [None, None]}))) == [None, None]


def test_infinity_is_refused(make_frame: MakeFrame) -> None:
    def check(bad: float) -> None:
        with pytest.raises(ValueError, match=r"column 'a' holds infinity; replace"):
            to_columns(make_frame({"a": [1.0, bad]}))

    check_each([np.inf, -np.inf], check)


def test_infinity_among_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"column 'x0' holds infinity; replace"):
        to_columns([["text"], [np.inf]])


def test_other_cells_are_refused_by_the_columns_name(make_frame: MakeFrame) -> None:
    def check(value: Any) -> None:
        with pytest.raises(
            TypeError, match=r"column 'a' holds .*must be a string or a re"
        ):
            to_columns(make_frame({"a": [value, value]}))

    check_each(
        [
            b"bytes",
            [1, 2],
            {"b": 1},
        ],
        check,
    )


def test_other_arrays_are_refused() -> None:
    def check(values: np.ndarray[Any, Any]) -> None:
        with pytest.raises(TypeError, match=r"column 'x0' holds .*convert the column"):
            to_columns(values[:, None])

    check_each(
        [
            np.array([b"a"]),
            np.array([object()], dtype=object),
            np.array([("a", object())], dtype=object)[:, 1],
        ],
        check,
        lambda values: str(values.dtype),
    )


def test_categories_of_dates_are_refused() -> None:
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])).astype("category")
    with pytest.raises(TypeError, match=r"column 'a' holds .*must be a string"):
        to_columns(dates.to_frame("a"))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Complex data not supported: column 'x0'"):
        to_columns(np.array([[1j]]))


def test_a_sparse_matrix_is_refused() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    for sparse in (scipy_sparse.csr_matrix([[1]]), scipy_sparse.coo_array([[1]])):
        with pytest.raises(TypeError, match=r"sparse matrix.*X\.toarray\(\)"):
            to_columns(sparse)


def test_a_frame_of_narwhals_is_the_one_inside(make_frame: MakeFrame) -> None:
    table = {"a": ["p", None]}
    assert cells(only(nw.from_native(make_frame(table)))) == table["a"]


def test_a_lazy_frame_is_refused() -> None:
    with pytest.raises(TypeError, match=r"lazy; call \.collect\(\)"):
        to_columns(pl.LazyFrame({"a": [1]}))


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"several columns are called a; give every"):
        to_columns(frame)


def test_two_arrow_columns_of_one_name_are_refused() -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="several columns are called a"):
        to_columns(table)


def test_names_other_than_text_and_integers_are_refused() -> None:
    def check(name: Any) -> None:
        frame = pd.DataFrame([[1]], columns=pd.Index([name], tupleize_cols=False))
        with pytest.raises(TypeError, match="column names must be strings or integers"):
            to_columns(frame)

    check_each([1.5, ("a", "b"), None, True], check)


def test_integer_names_are_plain_integers() -> None:
    def check(columns: Any) -> None:
        frame = pd.DataFrame([[1, "a"]], columns=columns)
        names = list(iterate_names(to_columns(frame)))
        assert names == [7, 8] == list(column_names(frame) or ())
        assert {type(name) for name in names} == {int}

    check_each([[7, 8], pd.RangeIndex(7, 9), np.array([7, 8])], check)


def test_integer_and_text_names_may_be_mixed() -> None:
    frame = pd.DataFrame([[1, "a"]], columns=[0, "b"])
    assert list(iterate_names(to_columns(frame))) == [0, "b"]


def test_arrays_and_lists_have_no_names() -> None:
    assert column_names(np.zeros((1, 1))) is None
    assert column_names([[1]]) is None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_without_rows_is_refused(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        to_columns(frame({"a": []}))


@pytest.mark.parametrize("frame", [pd.DataFrame(index=range(3)), np.zeros((3, 0))])
def test_a_table_without_columns_is_refused(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        to_columns(frame)


def test_what_has_no_two_dimensions_is_refused() -> None:
    def check(table: Any) -> None:
        with pytest.raises(ValueError, match="Expected 2D array"):
            to_columns(table)

    check_each([[1, 2], np.zeros(3), 5, "text", None, []], check)


def test_rows_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of the table differ in length"):
        to_columns([[1, 2], [3]])


def test_one_column_is_read_from_every_container() -> None:
    def check(wrap: Callable[[Any], Any]) -> None:
        assert cells(value_column(wrap(["b", "a", "b"]), "target")) == ["b", "a", "b"]

    check_each([pd.Series, pl.Series, pa.array, np.array, list], check)


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1, 2], [3, 4], [5, 6]]),
        pd.DataFrame({"a": [1, None, 3], "b": list("xyz")}),
    ],
    ids=["matrix", "columns"],
)
def test_rows_are_selected_in_all_columns(table: Any) -> None:
    keep = np.array([True, False, True])
    parts = select_rows(to_columns(table), keep)
    columns = parts.columns() if isinstance(parts, Matrix) else parts
    whole = to_columns(table)
    expected = whole.columns() if isinstance(whole, Matrix) else whole
    for column, full in zip(columns, expected, strict=True):
        assert cells(column) == [c for c, k in zip(cells(full), keep) if k]


def test_frames_of_few_rows_are_read_as_those_of_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pd.DataFrame(
        {
            "text": ["b", None, "a", "b"],
            "more text": ["x", "y", "z", None],
            "object": np.array(["u", None, "v", np.nan], dtype=object),
            "mixed": np.array(["u", 1, 2.5, None], dtype=object),
            "late": np.array([None, "u", "u", "v"], dtype=object),
            "number": [1.5, np.nan, 2.0, 3.0],
            "another": [1.0, 2.0, np.nan, 0.0],
            "short": np.array([1, 2, 3, 1], dtype=np.int8),
            "integer": [10, 20, 30, 40],
            "flag": [True, False, True, True],
            "group": pd.Categorical(["k", "m", None, "k"], ["m", "k"]),
            "none": [None] * 4,
            7: ["p", "q", "p", "q"],
        }
    )
    for rows in (table, table[:1], table[1:2], table[["text"]]):
        few = to_columns(rows)
        monkeypatch.setattr(frames, "_FEW_ROWS", 0)
        many = to_columns(rows)
        monkeypatch.undo()
        for one, other in zip(few, many, strict=True):
            assert type(one) is type(other)
            assert one.name == other.name
            cells = [
                [cell_of(c, row) for row in range(len(rows))] for c in (one, other)
            ]
            assert cells[0] == cells[1]
            if isinstance(one, ValueColumn):
                assert list(one.values) == list(other.values)
                assert (one.is_text, one.declared) == (other.is_text, other.declared)
