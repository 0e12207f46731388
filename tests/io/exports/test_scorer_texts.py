"""Scorers read texts as training decided: any signs, units, orders and markers."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import NaiveBayesClassifier, write_scorer
from bayleaf.cli.table_reading import encode_batch
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.text_forms import SIGNS, TextForm
from bayleaf.io.exports.writers import predictor_of
from offenders import check_each
from oracles.running_scorers import CLOSE, Row, node_answers, python_answers

N = 150
MARKERS = ("-", "unknown")
WORDS = ("abc", "-", "unknown", "", " ", "n/a")
NUMBERS = (
    *("5", "1.5", "1,5", "1.234", "1,234", "1.234.567", "1,234,567", "12,34,567.5"),
    *("1.234,5", "1,234.5", "1'234", "1’234.5", "1 234", "1 234\u202f567,8", "0.123"),
    *("0,123", ".05", ",05", "05", "-05", "1.", "1e3", "1,5e3", "1.5E-3", "1e400"),
    *("inf", "(5)", "(5", "(-5)", "-5", "+5", "−5", "5-", "-5-", "5−", "$5", "5 EUR"),
    *("€ -1,5", "-€5", "5 %", "5%", "$5%", " 5 ", "1_000", "٥", "1 23", "1,23.5"),
    *("1234567890123456789", "9223372036854775807", "9223372036854775808"),
    *("12345678901234567890", "123456789012345678", "1,2345", "1..5", "kr. 5"),
    *(
        "$ (5)",
        "($5)",
        "$(-5)",
        "($(5)",
        "$ (1,234.50)",
        "$(5",
        "$5)",
        "5/-",
        "Rs. 5/-",
    ),
    *("1,200/=", "5/", "5/=-", "(5/-)", "5.-/-", "#NV", ".a", ".aa"),
    *("12,-", "-12.—", "12,--", "12,-%", "1.200,-", "1,200.–", "5-.", "¥5", "1,200円"),
)
TIMES = (
    *("2020-05-05", "2020-5-5 3:04:05.5", "05/06/2020", "13/06/2020", "06/13/2020"),
    *("31.12.2020", "31.12.20", "1.1.70", "31.02.2020", "5 May 2020", "5. Mai 2020"),
    *("5 Foo 2020", "5th March 2020 1:30 pm", "2020/07/08", "2020-05-05T10:30+02:00"),
    *("10:30", "1:30 PM", "13:30 pm", "0:30 am", "24:00", "10:30:15,25", "5-6-2020"),
    *("2020-10-25T00:59:59Z", "2020-10-25T01:00:00Z", "2020-03-29T03:00:00+02:00"),
    *("31.12.2020 23:59:59 Z", "2020-05-05 10:30 UTC", " 01.02.2021 ", "Dec 2020"),
    *("26:30:15", "45:30", "2 days 03:04:05", "-1 days +23:00:00", "1 day, 2:03:04"),
    *("3 days 26:00:00", "05MAY2020:10:20:30", "Tue, 5 May 2020 10:20:30 +0200"),
    *("5 de mayo de 2020", "Tuesday, May 5, 2020", "2020-05-05 26:30:15"),
    *("5/Oct/2000:13:55:36", "01.02.2020 r.", "1.2.2020г."),
    *("1. 2. 2020", "31.12.2020.", "2020. 2. 1. 10:30", "2020年2月1日", "1 .2.2020"),
)
DATES = {
    "ISO": "%Y-%m-%d",
    "points": "%d.%m.%Y %H:%M",
    "month first": "%m/%d/%Y %I:%M %p",
    "words": "%d %b %Y",
    "short": "%d.%m.%y",
    "zone": "%Y-%m-%dT%H:%M:%S+02:00",
    "named zone": "%Y-%m-%dT%H:%M:%SZ",
    "time": "%I:%M %p",
    "Hungary": "%Y. %m. %d.",
    "Japan": "%Y年%m月%d日",
}


def number_text(value: float, decimal: str, thousands: str, unit: str) -> str:
    """A number as a country writes it."""
    digits = f"{abs(value):,.2f}".replace(",", "t").replace(".", decimal)
    text = digits.replace("t", thousands) + unit
    return f"({text})" if value < 0 else text


@cache
def fitted() -> tuple[Any, Row]:
    """A model of columns of texts of every kind, and a row of it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    columns: dict[str, list[str]] = {}
    values = np.round((rng.normal(size=N) + y) * 3000, 2).tolist()
    units = itertools.cycle(["", " EUR", "%"])
    for (decimal, thousands), unit in zip(SIGNS, units, strict=False):
        texts = [number_text(v, decimal, thousands, unit) for v in values]
        columns[f"numbers {decimal}{thousands}"] = texts
    columns["few"] = [f"{k},5" for k in rng.integers(0, 4, N)]
    columns["truth"] = rng.choice(["TRUE", "false", "True"], N).tolist()
    start = datetime.datetime(2019, 5, 6)
    moments = [
        start + datetime.timedelta(minutes=int(m) + 400_000 * int(k))
        for m, k in zip(rng.integers(0, 900_000, N), y, strict=True)
    ]
    for name, form in DATES.items():
        columns[name] = [moment.strftime(form) for moment in moments]
    for k, texts in enumerate(columns.values()):
        texts[k] = texts[k + 40] = MARKERS[k % 2]
    X = pa.table({**columns, "text": rng.choice(["a", "1,5", "b"], N)})
    base = {name: texts[-1] for name, texts in X.to_pydict().items()}
    form = TextForm("date", order="y-m-d", zone="Europe/Berlin", missing=tuple(MARKERS))
    plan = ReadingPlan((("named zone", form),))
    return NaiveBayesClassifier().fit(X, y, plan=plan), base


def cases() -> list[Row]:
    """Rows of which one cell is another text."""
    base = fitted()[1]
    found = []
    for column in base:
        is_number = column.startswith(("numbers", "few"))
        own = NUMBERS if is_number else TIMES if column in DATES else ("tRUE", " a ")
        found += [{**base, column: text} for text in (*WORDS, *own)]
    return found


def expected_of(row: Row) -> list[float] | None:
    """Probabilities by the library for a table of one row; None where it refuses it."""
    try:
        table = pa.table({name: [text] for name, text in row.items()})
        return list(fitted()[0].predict_proba(table)[0].tolist())
    except ValueError:
        return None


LATER = [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=LATER)])
def test_texts_are_read_as_training_decided(step: int, tmp_path: Path) -> None:
    kinds = {r.name: r.text and r.text.kind for r in fitted()[0].encoder_.readings}
    assert set(kinds.values()) == {"number", "boolean", "date", "duration", None}
    assert [name for name, kind in kinds.items() if kind is None] == ["text"]
    rows = cases()[::step]
    expected = [expected_of(row) for row in rows]
    answers = {
        "py": python_answers(fitted()[0], rows),
        "js": node_answers(fitted()[0], rows, tmp_path),
    }
    base = fitted()[1]

    def check(case: tuple[str, int]) -> None:
        found, wanted = answers[case[0]][case[1]].get("proba"), expected[case[1]]
        assert (found is None) == (wanted is None)
        if found is not None:
            np.testing.assert_allclose(list(found.values()), wanted, atol=CLOSE)

    def label(case: tuple[str, int]) -> str:
        row = rows[case[1]]
        cell = {name: text for name, text in row.items() if text != base[name]}
        return f"{case[0]} {cell} {answers[case[0]][case[1]].get('error')}"

    check_each(itertools.product(answers, range(len(rows))), check, label)


def test_the_plan_decides_which_texts_are_missing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    X = pa.table({"x": rng.normal(size=N) + y, "t": rng.choice(["NA", "b"], N)})
    plan = ReadingPlan(missing=("", "gone"))
    model = NaiveBayesClassifier().fit(X, y, plan=plan)
    texts = ["1.5,NA", "gone,b", ",gone", "-1,new"]
    batch = pa.table(
        {name: [t.split(",")[k] for t in texts] for k, name in enumerate("xt")}
    ).to_batches()[0]
    predictor = predictor_of(model)
    codes = encode_batch(predictor.encoder, batch, "rows.csv").codes
    expected = predictor.proba(codes)
    rows = [dict(zip("xt", text.split(","), strict=True)) for text in texts]
    for answers in (python_answers(model, rows), node_answers(model, rows, tmp_path)):
        found = [list(answer["proba"].values()) for answer in answers]
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
    write_scorer(model, tmp_path / "scorer.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", tmp_path / "scorer.py"],
        input="\n".join(["x,t", *texts]),
        capture_output=True,
        text=True,
        check=True,
    )
    lines = list(csv.reader(io.StringIO(done.stdout)))[1:]
    found = np.array([line[3:] for line in lines], dtype=float)
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)


def test_numbers_beyond_few_integers_are_the_nearest(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, N)
    X = pa.table({"rooms": 2 * rng.integers(1, 5, N) + y, "x": rng.normal(size=N)})
    model = NaiveBayesClassifier().fit(X, y)
    rows = [{"rooms": n, "x": 0.5} for n in (40, -3, 2, "12", 5.5, None)]
    columns = {"rooms": [40.0, -3.0, 2.0, 12.0, 5.5, None], "x": [0.5] * 6}
    expected = model.predict_proba(pa.table(columns))
    for answers in (python_answers(model, rows), node_answers(model, rows, tmp_path)):
        found = [list(answer["proba"].values()) for answer in answers]
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
