"""Scorers note the cells that are not taken as they are, as `predict` does."""

from __future__ import annotations

import csv
import datetime
import io
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import NaiveBayesClassifier, write_scorer
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.io.exports.scorers.scorer import python_scorer
from bayleaf.io.exports.writers import predictor_of
from oracles.running_scorers import Row, node

N = 40
COLUMNS: dict[str, list[Any]] = {
    "city": ["Oslo", "Bergen", "-", "Bodø"] * 10,
    "rooms": [1, 2, 3, 5] * 10,
    "floor": ["1", "2", "4", "5"] * 10,
    "price": [f"{i},50" for i in range(N - 2)] + ["-", "-"],
    "size": [i * 1.5 for i in range(N)],
    "when": [f"{i % 28 + 1:02d}.03.2024" for i in range(N)],
    "hour": [f"{i % 12 + 6:02d}:30" for i in range(N)],
    "lift": [True, False] * 20,
    "empty": [None] * N,
}
Y = ["p", "q"] * 20
TEXTS = ["", " ", "-", " - ", "NA", "?", "Oslo", "Atlantis", "9", "4,5", "2.0", "soon"]
CELLS: list[Any] = [None, float("nan"), *TEXTS, 0, 2, 3.0, 9, 9.4, -1e30, True]
ROW = {
    "city": "Oslo",
    "rooms": 2,
    "floor": "2",
    "price": "3,50",
    "size": 1.5,
    "when": "03.03.2024",
    "hour": "07:30",
    "lift": True,
    "empty": None,
}
SETTINGS: dict[str, Row] = {
    "default": {},
    "state": {"missing": "state"},
    "grouped": {"max_states": 3},
    "plan": {"plan": ReadingPlan(missing=("-", "9"))},
    "declared": {"categorical_features": ["rooms", "city"]},
}
# Cells as they may stand in a file, where text need not be plain.
CSV_CELLS = [*filter(str, TEXTS), 'a "b"\\c', "Bod\u00f8\n\t\u2028\x7f", "true", "=1+1"]
_ASKING = """\
import { readFileSync } from "node:fs";
import { notes } from "./scorer.mjs";
const of = (row) => { try { return notes(row); } catch { return null; } };
const rows = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(rows.map(of)));
"""


@cache
def fitted(name: str) -> Any:
    """A model of columns of all sorts."""
    chosen = dict(SETTINGS[name])
    plan = chosen.pop("plan", None)
    return NaiveBayesClassifier(**chosen).fit(COLUMNS, Y, plan=plan)


@cache
def scorer(name: str) -> Row:
    """Its scorer in Python."""
    program: Row = {"__name__": "scorer"}
    text = python_scorer(predictor_of(fitted(name)))
    exec(compile(text, "scorer.py", "exec"), program)
    return program


def expected(name: str, row: Row) -> Any:
    """The notes of the library; None where it refuses the row."""
    # JSON has no NaN.
    plain = {column: None if cell != cell else cell for column, cell in row.items()}
    try:
        return fitted(name).predict(plain, return_notes=True)[1][0]
    except (ValueError, TypeError):
        return None


def python_notes(name: str, row: Row) -> Any:
    """Those of the Python file."""
    try:
        return scorer(name)["notes"](row)
    except ValueError:
        return None


def node_output(name: str, rows: list[Row], folder: Path) -> str:
    """Those of the ES module, as JSON of JavaScript."""
    write_scorer(fitted(name), folder / "scorer.mjs")
    (folder / "asking.mjs").write_text(_ASKING, encoding="utf-8")
    done = subprocess.run(
        [node(), folder / "asking.mjs"],
        input=json.dumps(rows).replace("NaN", "null"),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout


def node_notes(name: str, rows: list[Row], folder: Path) -> Any:
    """The same as values."""
    return json.loads(node_output(name, rows, folder))


def test_a_note_says_why_a_cell_is_not_taken_as_it_is(tmp_path: Path) -> None:
    row = {**ROW, "city": "Atlantis", "rooms": "9", "price": " - ", "extra": 1}
    notes = [
        {"column": "city", "cell": "Atlantis", "note": "unknown"},
        {"column": "rooms", "cell": "9", "note": "nearest 5"},
        {"column": "price", "cell": " - ", "note": "missing"},
        {"column": "extra", "cell": 1, "note": "not in training"},
    ]
    assert expected("default", row) == notes
    assert python_notes("default", row) == notes
    assert node_notes("default", [row], tmp_path) == [notes]
    assert python_notes("default", ROW) == []


def command_output(text: str, path: Path, *words: str) -> list[list[str]]:
    """The lines of CSV that the Python file writes as a command."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", path, *words],
        input=text.encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", list(SETTINGS))
def test_the_command_adds_notes_as_javascript_writes_them(
    name: str, tmp_path: Path
) -> None:
    plain = {column: str(cell or "") for column, cell in ROW.items()}
    rows = [plain, *({**plain, column: c} for column in plain for c in CSV_CELLS)]
    rows = [row for row in rows if python_notes(name, row) is not None]
    program, file = scorer(name), tmp_path / "scorer.py"
    write_scorer(fitted(name), file)
    given = io.StringIO()
    writer = csv.DictWriter(given, list(plain))
    writer.writeheader()
    writer.writerows(rows)
    heads, *scored = command_output(given.getvalue(), file, "--notes")
    assert heads[-1] == "notes"
    without = command_output(given.getvalue(), file)
    assert [line[:-1] for line in (heads, *scored)] == without
    # The command takes the words of files for missing cells.
    missing = {*(program["_SCORER"].empty or program["_MISSING"])}
    read = [
        {column: None if cell in missing else cell for column, cell in row.items()}
        for row in rows
    ]
    assert [json.loads(line[-1]) for line in scored] == [
        python_notes(name, row) for row in read
    ]
    texts = ",".join(line[-1] for line in scored)
    assert f"[{texts}]" == node_output(name, read, tmp_path)


changes = st.dictionaries(
    st.sampled_from([*ROW, "extra", "7"]), st.sampled_from(CELLS), max_size=4
)


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", list(SETTINGS))
@settings(max_examples=40, deadline=None)
@given(changed=changes, order=st.randoms())
def test_notes_of_the_python_file_are_those_of_predict(
    name: str, changed: Row, order: Any
) -> None:
    items = [*{**ROW, **changed}.items()]
    order.shuffle(items)
    row = dict(items)
    assert python_notes(name, row) == expected(name, row)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.long] * (n != "plan")) for n in SETTINGS],
)
def test_every_cell_has_the_same_note_in_javascript(name: str, tmp_path: Path) -> None:
    rows = [{**ROW, column: cell} for column in [*ROW, "extra"] for cell in CELLS]
    found = node_notes(name, rows, tmp_path)
    for row, own in zip(rows, found, strict=True):
        # In JavaScript a number is a span of time too.
        if isinstance(row["hour"], str | None):
            assert own == expected(name, row), row


def test_moments_are_noted_by_what_they_were_given_as() -> None:
    start = datetime.datetime(2024, 3, 1)
    days = [start + datetime.timedelta(days=i) for i in range(N)]
    model = NaiveBayesClassifier().fit({"when": days, "n": [*range(N)]}, Y)
    program: Row = {"__name__": "scorer"}
    exec(python_scorer(predictor_of(model)), program)
    assert program["notes"]({"when": days[0], "n": 1}) == []
    note = {"column": "when", "cell": "soon", "note": "unknown"}
    assert program["notes"]({"when": "soon", "n": 1}) == [note]
