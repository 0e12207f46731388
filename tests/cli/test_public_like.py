"""Files as programs and people write them are read as a careful person reads them."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each
from public_like import FILES, PLAIN, WORDS, lines

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
    **{("blanks behind commas", c): "names keep blanks" for c in ("Sales", "Date")},
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


# What needs numbers, classes or groups that a file or its model lacks.
LIMITS = (
    "a classifier is needed",
    "belongs to classifiers",
    "has no column for any variable",
    "almost all values are distinct",
)


def commands_of(run: Run, path: Path, options: tuple[str, ...]) -> list[str]:
    """Refusals of a file by commands, after a fit to it; and rows that changed."""
    columns = json.loads(run("check", path, *options, "--json").out)["columns"]
    nominal = [c["name"] for c in columns if c["read_as"] == "nominal" and c["name"]]
    known = ["--target", nominal[0], "--model", "nb"] if nominal else ["--density"]
    model, out = path.with_name("m.json"), path.with_name("out.csv")
    full = path.with_name("full.csv")
    fitted = run("fit", path, *known, "-o", model, *options)
    if fitted.code:
        is_limit = any(limit in fitted.err for limit in LIMITS)
        return [] if is_limit else [f"fit: {fitted.err}"]
    words: list[tuple[object, ...]] = [
        ("explain", model, path, "--line", 1),
        ("report", model, path, "--json"),
        ("drift", model, path),
        ("inspect", model, "--importance", path),
        ("impute", model, path, "-o", full),
    ]
    if nominal:
        words.append(
            ("counts", path, "--like", model, "-o", out.with_suffix(".counts"))
        )
        words += [("audit", model, path, "--by", name) for name in nominal[1:2]]
        words.append(("predict", model, path, "-o", out))
    done = [(command, run(*command, *options)) for command in words]
    wrong = [
        f"{command[0]}: {result.err}"
        for command, result in done
        if result.code and not any(limit in result.err for limit in LIMITS)
    ]
    text, imputed = decoded(path, options), done[4][1]
    if not wrong and not imputed.code:
        n_filled = int(re.findall(r"bayleaf: (\d+) cells? filled", imputed.err)[0])
        wrong += changed_lines(text, decoded(full, options), n_filled)
    if nominal and not wrong:
        wrong += changed_lines(text, decoded(out, options))
    return wrong


def decoded(path: Path, options: tuple[str, ...]) -> list[str]:
    """The lines of a file with their ends."""
    content = path.read_bytes()
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = options[1] if "--encoding" in options else "utf-8"
    return content.decode("utf-16" if is_wide else encoding).splitlines(keepends=True)


def changed_lines(old: list[str], new: list[str], n_filled: int = 0) -> list[str]:
    """Lines that do not go on as they were, but for some with cells filled in."""
    wrong, n_before = [], 0
    for line in old:
        text, end = line.rstrip("\r\n"), line[-1]
        fits = (
            i
            for i, other in enumerate(new[n_before:], n_before)
            if other.startswith(text) and (other[-1] == end or '"' in other)
        )
        index = next(fits, None)
        if index is None:
            # Lines that repeat the header are left out.
            wrong += [f"{line!r} is not there"] * (line != old[0])
        else:
            n_before = index + 1
    return wrong[n_filled:]


@pytest.mark.slow
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
def test_no_command_refuses_or_changes_the_file_of_a_fit(
    step: int, run: Run, tmp_path: Path
) -> None:
    def check(name: str) -> None:
        file, path = FILES[name], tmp_path / "t.csv"
        path.write_bytes(file.content)
        if not run("check", path, *file.options).code:
            wrong = commands_of(run, path, file.options)
            assert not wrong, "\n".join(wrong)

    check_each([*FILES][::step], check)


def test_rows_without_a_class_are_left_out_by_all_commands(
    run: Run, tmp_path: Path
) -> None:
    path, whole = tmp_path / "t.csv", tmp_path / "whole" / "t.csv"
    whole.parent.mkdir()
    rows = [f"{i % 5},{'uv'[i % 2]},{'pq'[i % 3 == 0]}\n" for i in range(60)]
    whole.write_text("x,g,y\n" + "".join(rows))
    rows[3:3] = ["1,u,\n", "2,v,NA\n"]
    path.write_text("x,g,y\n" + "".join(rows))
    model, counted = tmp_path / "m.json", tmp_path / "t.counts"
    assert run("fit", path, "--target", "y", "--model", "nb", "-o", model).code == 0
    for words in (
        ("audit", model, ..., "--by", "g", "--json"),
        ("inspect", model, "--importance", ..., "--json"),
        ("counts", ..., "--like", model, "-o", counted, "--json"),
        ("report", model, ..., "--held-out", "--json"),
    ):
        with_empty, without = (
            run(*[file if word is ... else word for word in words])
            for file in (path, whole)
        )
        assert with_empty.code == 0, with_empty.err
        assert "left out 2 of 62 rows, whose target y is empty" in with_empty.err
        assert with_empty.out == without.out


def test_a_table_is_read_alike_from_other_kinds_of_files(
    run: Run, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    columns = WORDS, PLAIN, PLAIN
    names, rows = ["colour", "x", "z"], list(zip(*columns, strict=True))
    for cells in (["Sales of the year"], [], names, *rows):
        book.active.append(cells)
    book.save(tmp_path / "t.xlsx")
    declared = "@relation t\n@attribute colour {red,green,blue}\n"
    declared += "@attribute x real\n@attribute z real\n"
    texts = {
        "t.csv": lines(names, *columns),
        "t.arff": declared + "@data\n" + lines(None, *columns),
        "t.jsonl": "".join(
            json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    read = {
        name: json.loads(run("check", tmp_path / name, "--json").out)
        for name in (*texts, "t.xlsx")
    }
    for name, facts in read.items():
        kinds = [(c["read_as"], c["n_missing"]) for c in facts["columns"]]
        numeric = ("numeric", 0)
        assert (facts["n_rows"], kinds) == (40, [("nominal", 0), numeric, numeric]), (
            name
        )
    assert read["t.xlsx"]["file"]["above"] == ["Sales of the year"]


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
