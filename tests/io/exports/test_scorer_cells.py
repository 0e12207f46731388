"""A scorer reads each value as a table of one row is read, or both refuse it."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import NaiveBayesClassifier
from offenders import check_each
from oracles.running_scorers import CLOSE, Row, node_answers, python_answers

N = 120
START = datetime.datetime(2020, 1, 1)
VALUES = [
    None,
    2,
    2.0,
    -0.0,
    1e308,
    5e-324,
    2**53 + 1,
    True,
    "",
    "A",
    "de\u0301ja\u0300",
    " 5 ",
    "+5",
    "05",
    "1e3",
    ".5",
    "1.",
    "1_000",
    "0x10",
    "١٢",
    "٠٥",
    "1e400",
    "-Infinity",
    "nan",
    "99999999999999999999",
    " TRUE ",
    "tRUE",
    "2020-05-05",
    " 2020-05-05T10:30:00,5+02:00 ",
    "2020-02-30",
    "9999-12-31 23:59",
    "10:30",
    "24:00",
    START,
    START.date(),
    datetime.timedelta(hours=3),
    datetime.time(10, 30),
]


@cache
def fitted() -> tuple[Any, Row]:
    """A model of columns that hold one sort of values each, and a row of it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    minutes = [int(m) for m in rng.integers(0, 1440, N)]
    columns: Row = {
        "fraction": rng.normal(size=N) + y,
        "few": rng.integers(0, 3, N),
        "identifier": [2**60 + int(k) for k in rng.integers(0, 50, N)],
        "truth": rng.random(N) < 0.3 + 0.3 * y,
        "text": rng.choice(["A", "déjà", "a", "2"], N),
        "numbers in text": [str(k) for k in rng.integers(0, 60, N)],
        "codes in text": rng.choice(["05", "5", "12"], N),
        "truths in text": rng.choice(["true", "false"], N),
        "dates in text": [str(START.date().replace(day=1 + m % 28)) for m in minutes],
        "times in text": [f"{m // 60:02d}:{m % 60:02d}" for m in minutes],
        "moment": [START + datetime.timedelta(hours=m) for m in minutes],
        "span": [datetime.timedelta(minutes=m) for m in minutes],
        "constant": ["same"] * N,
    }
    X = pa.table(columns)
    model = NaiveBayesClassifier().fit(X, y)
    return model, X.slice(0, 1).to_pylist()[0]


_EXPECTED: dict[str, list[float] | None] = {}


def one_row(row: Row) -> list[float] | None:
    """Probabilities by the library; None where it refuses the row."""
    # Both languages are asked of the same rows.
    key = repr(row)
    if key not in _EXPECTED:
        try:
            table = pa.table({name: pa.array([value]) for name, value in row.items()})
            _EXPECTED[key] = fitted()[0].predict_proba(table)[0].tolist()
        except (ValueError, TypeError):
            _EXPECTED[key] = None
    return _EXPECTED[key]


def check(row: Row, answer: Row) -> None:
    """Both refuse a row, or give the same probabilities."""
    expected, found = one_row(row), answer.get("proba")
    assert (found is None) == (expected is None), (answer, expected)
    if found is not None:
        np.testing.assert_allclose(list(found.values()), expected, rtol=0, atol=CLOSE)


COLUMNS = list(fitted()[1])


def is_span(column: str) -> bool:
    """Whether a column is read as durations."""
    readings = fitted()[0].encoder_.readings
    return bool(readings[COLUMNS.index(column)].form == "duration")


def rows_of(column: str, *, in_node: bool) -> list[Row]:
    """A row for each value of the column that can be given to both."""
    left_out: tuple[type, ...] = (datetime.timedelta,) if in_node else ()
    if in_node and is_span(column):
        # There a number is a span of time, since the difference of two dates is one.
        left_out = (datetime.timedelta, int, float)
    kept = [value for value in VALUES if not isinstance(value, left_out)]
    return [{**fitted()[1], column: value} for value in kept]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_value_is_read_as_in_a_table_of_one_row(column: str) -> None:
    rows = rows_of(column, in_node=False)
    for row, answer in zip(rows, python_answers(fitted()[0], rows), strict=True):
        check(row, answer)


@pytest.mark.parametrize("part", range(4))
def test_javascript_reads_values_so_too(part: int, tmp_path: Path) -> None:
    columns = COLUMNS[part::4]
    rows = [row for column in columns for row in rows_of(column, in_node=True)]
    answers = node_answers(fitted()[0], rows, tmp_path)
    for row, answer in zip(rows, answers, strict=True):
        check(_as_text(row), answer)


def _as_text(row: Row) -> Row:
    """The same with times as their texts, which are what JavaScript is given."""
    times = (datetime.date, datetime.time)
    _, base = fitted()
    return {
        name: value.isoformat()
        if isinstance(value, times) and value is not base[name]
        else value
        for name, value in row.items()
    }


def test_what_is_no_value_of_a_column_is_refused() -> None:
    def check(value: Any) -> None:
        model, row = fitted()
        columns = ("fraction", "text", "moment")
        found = python_answers(model, [{**row, column: value} for column in columns])
        for column, one in zip(columns, found, strict=True):
            assert f"column '{column}' h" in one["error"]

    check_each([float("inf"), 10**400, b"a", [1], 2 + 0j], check)


def test_a_blank_date_or_number_is_missing_whatever_stands_for_it() -> None:
    model, row = fitted()
    rows = [{**row, "moment": value} for value in (None, float("nan"))]
    one, other = python_answers(model, rows)
    assert one == other
