"""Files as programs and people write them are read as a careful person reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each
from public_like import FILES

Run = Callable[..., Any]
# Columns that are read otherwise, and why; "" stands for the number of rows.
ROW = (
    "what has as many cells as the header is a row: one of few known cells looks alike"
)
MARK = "among other texts it may be a value; a note names it, and --na makes it missing"
OTHERWISE = {
    **{("excel empty rows at the end", column): ROW for column in ("", "a", "b", "c")},
    **{("source filled up", c): ROW for c in ("", "Region", "Sales", "Date")},
    **{("total below", column): ROW for column in ("", "Date")},
    ("mysql", "city"): MARK,
    ("sql null in small letters", "city"): MARK,
}


def differences(run: Run, path: Path, name: str) -> list[str]:
    """What `check` reports of a file that a careful person would not."""
    file = FILES[name]
    path.write_bytes(file.content)
    done = run("check", path, *file.options, "--json")
    if done.code:
        return [] if file.says and file.says in done.err else [f"refused: {done.err}"]
    content = json.loads(done.out)
    facts = {column["name"]: column for column in content["columns"]}
    wrong = []
    head = f"{content['format']}; {content['note']}; {done.err}"
    if file.says not in head and (name, "") not in OTHERWISE:
        wrong.append(f"does not report {file.says!r}: {head}")
    n_rows = 39 if file.says == "--no-header" else 40
    if content["n_rows"] != n_rows and (name, "") not in OTHERWISE:
        wrong.append(f"{content['n_rows']} rows")
    for column, expected in file.columns.items():
        fact = facts.get(column)
        if (name, column) in OTHERWISE:
            continue
        if fact is None:
            wrong.append(f"{column!r} is not among {[*facts]}")
            continue
        notes = "; ".join([*fact["changes"], fact["note"]])
        got = fact["read_as"], fact["n_missing"]
        if got != expected[:2] or expected.note not in notes:
            wrong.append(f"{column!r}: {expected}, got {got}: {notes}")
    return wrong


@pytest.mark.slow
def test_files_are_read_as_a_careful_person_reads_them(
    run: Run, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        wrong = differences(run, tmp_path / f"{name}.csv", name)
        assert not wrong, "\n".join(wrong)

    assert len(FILES) >= 60
    check_each(FILES, check)


def test_a_plan_reads_dates_without_signs(run: Run, tmp_path: Path) -> None:
    source, plan, model = (tmp_path / name for name in ("t.csv", "p.json", "m.json"))
    rows = [f"2020{i % 12 + 1:02}15,p\n2021{i % 9 + 1:02}01,q\n" for i in range(20)]
    source.write_text("day,y\n" + "".join(rows))
    column = {"day": {"kind": "date", "order": "ymd"}}
    plan.write_text(json.dumps({"format": "bayleaf-plan", "columns": column}))
    fit = ["fit", source, "--target", "y", "--model", "nb", "-o", model]
    assert "eight digits as in dates" in run(*fit).out
    done = run(*fit, "--plan", plan)
    assert "dates, taken apart: year, month" in done.out
    whole = run("predict", model, source).out
    assert run(*fit, "--plan", plan, "--memory", "500MB").code == 0
    assert run("predict", model, source).out == whole
