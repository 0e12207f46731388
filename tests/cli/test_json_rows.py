"""Commands read tables in JSON, an object per row."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayleaf.data.files.json_rows import read_json
from offenders import check_each

Run = Callable[..., Any]
ROWS = [
    {"n": i + 0.5, "t": "ab"[i % 2], "flag": i % 3 == 0, "y": "pq"[i % 2]}
    for i in range(30)
]


def _written(folder: Path) -> dict[str, Path]:
    """The same rows as JSON lines, as an array and as CSV."""
    texts = {
        "lines.jsonl": "\n".join(map(json.dumps, ROWS)) + "\n",
        "array.json": json.dumps(ROWS, indent=1),
        "cells.csv": "n,t,flag,y\n"
        + "".join(f"{r['n']},{r['t']},{r['flag']},{r['y']}\n" for r in ROWS),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return {name: folder / name for name in texts}


def test_json_is_fitted_and_predicted_as_csv(run: Run, tmp_path: Path) -> None:
    files, found = _written(tmp_path), []
    for name, path in files.items():
        model = tmp_path / f"{name}.model.json"
        words = ["--target", "y", "--model", "nb", "-o", model]
        assert run("fit", path, *words).code == 0
        lines = run("predict", model, path).out.splitlines()
        found.append([line.split(",")[-2:] for line in lines[1:]])
    assert found[0] == found[1] == found[2]


def test_rows_in_json_come_from_standard_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path = tmp_path / "m.json", _written(tmp_path)["cells.csv"]
    assert run("fit", path, "--target", "y", "-o", model).code == 0

    def check(text: str) -> None:
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
        monkeypatch.setattr(sys, "stdin", stream)
        done = run("predict", model, "-")
        assert done.code == 0, done.err
        assert done.out.splitlines()[1].startswith('"1.5","a","false",')

    row = {"n": 1.5, "t": "a", "flag": False}
    check_each([json.dumps(row), json.dumps([row]), f" [\n{json.dumps(row)}]"], check)


NUMBERS = {
    "per cent": [f"{i + 0.5}%" for i in range(30)],
    "decimal commas": [f"{i},5" for i in range(30)],
    "thousands": [f"{i + 1},250.5" for i in range(30)],
}


def test_numbers_in_texts_are_read_in_every_command_as_in_the_fit(
    run: Run, tmp_path: Path
) -> None:
    def check(kind: str) -> None:
        path, model = tmp_path / "t.jsonl", tmp_path / "m.json"
        rows = [{"n": text, "y": "pq"[i > 14]} for i, text in enumerate(NUMBERS[kind])]
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        assert run("fit", path, "--target", "y", "-o", model).code == 0
        predicted = run("predict", model, path)
        assert predicted.code == 0, predicted.err
        cells = list(csv.DictReader(io.StringIO(predicted.out)))
        assert [row["n"] for row in cells] == NUMBERS[kind]
        assert cells[0]["prediction"] == "p"
        assert cells[-1]["prediction"] == "q"

    check_each(NUMBERS, check)


WRONG = {
    '{"n": 1}\n{"n": ': "line 2 of .* is not JSON",
    "[1, 2]": "row 1 of .* is not an object",
    '[{"n": 1}, {"n": [1]}]': "row 2 of .* has an array or object as 'n'",
    "[]": "no rows",
    "{}": "no rows",
}


def test_json_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"

    def check(text: str) -> None:
        path.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=WRONG[text]):
            read_json(str(path))

    check_each(WRONG, check)


def test_cells_keep_their_text(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"a": 1.50, "b": "007", "c": null}\n{"b": 1e3, "d": true}', "utf-8"
    )
    assert read_json(str(path)).to_pylist() == [
        {"a": "1.50", "b": "007", "c": None, "d": None},
        {"a": None, "b": "1e3", "c": None, "d": "true"},
    ]
