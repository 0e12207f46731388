"""A row has one probability in every container, alone, shuffled and among others."""

from __future__ import annotations

import csv
import datetime
import decimal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bayleaf import NaiveBayesClassifier
from contract.reading_ways import SIGNS, run
from property.for_all import for_all

START = datetime.datetime(2020, 3, 28, 20, tzinfo=datetime.UTC)
BERLIN = pa.timestamp("us", "Europe/Berlin")
# Each kind of column: the type that Arrow holds it in, and the cell of a number.
KINDS: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "text": (pa.string(), lambda i: ["a", "b", "é", " a", ""][i % 5]),
    "long text": (pa.large_string(), lambda i: ["a", "b\0", "b"][i % 3]),
    "dictionary": (
        pa.dictionary(pa.int32(), pa.string()),
        lambda i: ["1", "2.5", "01"][i % 3],
    ),
    "boolean": (pa.bool_(), lambda i: i % 3 == 0),
    "few": (pa.int64(), lambda i: i % 4),
    "integer": (pa.int64(), lambda i: i * 7 - 90),
    "unsigned": (pa.uint64(), lambda i: 2**63 + i * 5000),
    "float": (pa.float64(), lambda i: i * 0.37 - 5),
    "decimal": (pa.decimal128(12, 3), lambda i: decimal.Decimal(i) / 8),
    "date": (pa.date32(), lambda i: START.date() + datetime.timedelta(i * 9)),
    "zone": (BERLIN, lambda i: START + datetime.timedelta(minutes=37 * i)),
    "duration": (pa.duration("us"), lambda i: datetime.timedelta(minutes=7 * i)),
    "time": (pa.time64("us"), lambda i: datetime.time(i % 24, i * 7 % 60)),
    "nothing": (pa.string(), lambda i: None),
}
SLOW = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, pa.Table, list[str]]:
    """Training rows, later ones with cells of their own, and classes of the former."""
    kinds = draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    share = draw(st.sampled_from([0.0, 0.1, 0.6]))
    parts = []
    for n_rows, limit in ((60, 50), (12, 70)):
        columns = {"whole": pa.array(rng.integers(0, 3, n_rows))}
        for place, kind in enumerate(kinds):
            of_kind, cell = KINDS[kind]
            cells = [
                None if rng.random() < share else cell(int(i))
                for i in rng.integers(0, limit, n_rows)
            ]
            columns[f"{kind} {place}"] = pa.array(cells, of_kind)
        parts.append(pa.table(columns))
    labels = ["pq"[int(i)] for i in rng.integers(0, 2, 60)]
    return *parts, [*"pq", *labels[2:]]


def containers(table: pa.Table) -> Iterator[tuple[str, Any]]:
    """The same rows in every container that keeps the types of their cells."""
    yield "Arrow", table
    yield "chunks", pa.concat_tables([table.slice(0, 5), table.slice(5)])
    large = [
        field.with_type(pa.large_string()) if field.type == pa.string() else field
        for field in table.schema
    ]
    yield "large strings", table.cast(pa.schema(large))
    yield "polars", pl.DataFrame(pl.from_arrow(table))
    yield "Arrow types in pandas", table.to_pandas(types_mapper=pd.ArrowDtype)
    nullable = {
        pa.string(): pd.StringDtype(),
        pa.bool_(): pd.BooleanDtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.float64(): pd.Float64Dtype(),
    }
    yield "nullable pandas", table.to_pandas(types_mapper=nullable.get)
    yield "dict", table.to_pydict()
    yield "records", table.to_pylist()
    sink = pa.BufferOutputStream()
    pa_parquet.write_table(table, sink, row_group_size=5)
    yield "Parquet", pa_parquet.read_table(pa.BufferReader(sink.getvalue()))


@pytest.mark.slow
@for_all(tables(), few=4, many=60, quiet=SLOW)
def test_a_row_has_one_probability_however_it_comes(
    case: tuple[pa.Table, pa.Table, list[str]],
) -> None:
    train, rest, labels = case
    model = NaiveBayesClassifier().fit(train, labels)
    expected = model.predict_proba(rest)
    order = np.random.default_rng(0).permutation(rest.num_rows)
    for name, rows in containers(rest):
        assert np.array_equal(model.predict_proba(rows), expected), name
    for name, rows in containers(rest.take(order)):
        assert np.array_equal(model.predict_proba(rows), expected[order]), name
    for i in range(rest.num_rows):
        for name, row in containers(rest.slice(i, 1)):
            found = model.predict_proba(row)
            assert np.array_equal(found, expected[i : i + 1]), (name, i)
    beside = model.predict_proba(pa.concat_tables([rest, train]))
    assert np.array_equal(beside[: rest.num_rows], expected)


@pytest.mark.slow
@for_all(tables(), few=20, many=60, quiet=SLOW)
def test_every_container_leads_to_the_same_model(
    case: tuple[pa.Table, pa.Table, list[str]],
) -> None:
    train, rest, labels = case
    expected = NaiveBayesClassifier().fit(train, labels).predict_proba(rest)
    for name, rows in containers(train):
        if name in ("dict", "records") and any(
            pa.types.is_dictionary(field.type) for field in train.schema
        ):
            continue  # plain texts declare no categories
        found = NaiveBayesClassifier().fit(rows, labels).predict_proba(rest)
        assert np.array_equal(found, expected), name


@st.composite
def dialects(draw: st.DrawFn) -> dict[str, Any]:
    """How a CSV file is written: separator, quotes, decimal sign and line ends."""
    sign = draw(st.sampled_from([*SIGNS.values()]))
    return {
        "delimiter": sign,
        "decimal": draw(st.sampled_from(".," if sign != "," else ".")),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
    }


def write_csv(table: pa.Table, path: Path, decimal: str, **dialect: Any) -> Path:
    """Write a table as texts; no CSV file contains a null character."""

    def text(cell: Any) -> str:
        is_text = isinstance(cell, str)
        text = "" if cell is None else str(cell).replace("\0", "\n")
        return text if is_text else text.replace(".", decimal)

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, **dialect)
        writer.writerow(table.column_names)
        writer.writerows(map(text, row.values()) for row in table.to_pylist())
    return path


@pytest.mark.slow
@for_all(tables(), dialects(), few=5, many=15, quiet=SLOW)
def test_a_row_of_a_csv_file_has_one_probability_whatever_is_next_to_it(
    case: tuple[pa.Table, pa.Table, list[str]], dialect: dict[str, Any]
) -> None:
    train, rest, labels = case
    n = rest.num_rows
    with tempfile.TemporaryDirectory() as name:
        data, model, parts = (
            Path(name) / word for word in ("t.csv", "m.json", "parts")
        )
        write_csv(train.append_column("class", pa.array(labels)), data, **dialect)
        run("fit", data, "--target", "class", "--model", "nb", "-o", model)

        def written(path: Path) -> Any:
            out = pa_parquet.read_table(path).select(["probability_p", "probability_q"])
            return np.column_stack([column.to_numpy() for column in out.columns])

        def of_file(rows: pa.Table) -> Any:
            output = data.with_suffix(".parquet")
            run("predict", model, write_csv(rows, data, **dialect), "-o", output)
            return written(output)

        expected = of_file(rest)
        order = np.random.default_rng(0).permutation(n)
        assert np.array_equal(of_file(rest.take(order)), expected[order])
        assert np.array_equal(of_file(pa.concat_tables([rest, train]))[:n], expected)
        parts.mkdir()
        write_csv(train, parts / "a.csv", **dialect)
        for i in range(n):
            row = rest.slice(i, 1)
            assert np.array_equal(of_file(row), expected[i : i + 1]), i
            write_csv(row, parts / f"b{i:02}.csv", **dialect)
        run("predict", model, parts, "-o", data.with_name("scored"))
        files = sorted(data.with_name("scored").rglob("b*.parquet"))
        assert np.array_equal(np.vstack([written(file) for file in files]), expected)


def test_integers_from_2_to_the_63_are_fitted_alike_in_dicts_and_records() -> None:
    cells, labels = [2**63 + i * 5000 for i in range(60)], [*"p" * 30, *"q" * 30]
    expected = NaiveBayesClassifier().fit(pd.DataFrame({"x": cells}), labels)
    probabilities = expected.predict_proba({"x": cells})
    for rows in ({"x": cells}, [{"x": cell} for cell in cells]):
        model = NaiveBayesClassifier().fit(rows, labels)
        assert np.array_equal(model.predict_proba(rows), probabilities)


@pytest.mark.parametrize("cells", [[1, "1", 2, "2"], [True, 1, "True", 0]])
def test_values_of_different_types_are_the_same_in_any_container(
    cells: list[Any],
) -> None:
    frame = pd.DataFrame({"x": pd.Series(cells * 15, dtype=object)})
    labels = [*"pqqp"] * 15
    model = NaiveBayesClassifier().fit(frame, labels)
    expected = model.predict_proba(frame)
    assert np.array_equal(model.predict_proba({"x": cells * 15}), expected)
    assert np.array_equal(model.predict_proba(frame.to_dict("records")), expected)
    for i in range(len(cells)):
        alone = model.predict_proba([{"x": cells[i]}])
        assert np.array_equal(alone, expected[i : i + 1])


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", [[1, 2]] * 4),
        pl.Series("x", [{"a": 1}] * 4),
        pl.Series("x", [b"a"] * 4),
        pl.Series("x", [object()] * 4, dtype=pl.Object),
    ],
    ids=["list", "struct", "binary", "object"],
)
def test_columns_without_plain_cells_are_refused_by_name(column: pl.Series) -> None:
    with pytest.raises(TypeError, match=r"column 'x' holds .*; convert the column"):
        NaiveBayesClassifier().fit(pl.DataFrame(column), [*"pqpq"])
