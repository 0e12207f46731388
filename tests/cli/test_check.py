"""`bayleaf check` shows how columns are taken; ten tables by their text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

CHECKED = Path(__file__).parent / "checked"
TABLES = sorted(path.stem for path in CHECKED.glob("*.txt"))


def test_there_are_ten_tables() -> None:
    assert len(TABLES) == 10


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "adult" else [])
        for name in TABLES
    ],
)
def test_real_tables_are_taken_as_written_down(
    run: Callable[..., Any], data_folder: Path, name: str
) -> None:
    done = run("check", data_folder / "small" / f"{name}.csv", "--target", "class")
    assert done.code == 0
    assert done.out == (CHECKED / f"{name}.txt").read_text(encoding="utf-8")
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_the_same_as_json(run: Callable[..., Any], heart: Path) -> None:
    done = run("check", heart, "--target", "disease", "--json")
    found = json.loads(done.out)
    assert found["n_rows"] == 270
    by_name = {column["name"]: column for column in found["columns"]}
    assert by_name["age"]["read_as"] == "numeric"
    assert by_name["sex"]["states"] == ["female", "male"]


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (
            ["ja", "nein", ""],
            ["class              2       20  ja (20), nein (20)", "text"],
        ),
        (
            ["TRUE", "FALSE", "FALSE"],
            ["class              2        0  False (40), True (20)", "true"],
        ),
        (
            ["1", "2", "NA"],
            ["class              2       20  1 (20), 2 (20)", "numbers"],
        ),
        (
            ["1,5", "2,25", ""],
            ["target             2       20  numbers from 1.5 to 2.25"],
        ),
    ],
)
def test_the_target_is_shown_with_its_classes(
    run: Callable[..., Any], tmp_path: Path, cells: list[str], lines: list[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "x;y\n" + "".join(f"{i % 7};{c}\n" for i in range(20) for c in cells)
    )
    done = run("check", path, "--target", "y")
    assert done.code == 0
    *_, shown, below = done.out.splitlines()
    assert shown == f"{'y':<24} {lines[0]}"
    assert below.startswith(
        f"    labels read as {lines[-1]}" if lines[1:] else "    fract"
    )
    found = json.loads(run("check", path, "--target", "y", "--json").out)["target"]
    assert (found["name"], found["n_distinct"]) == ("y", 2)


def test_without_a_target_every_column_is_taken(
    run: Callable[..., Any], heart: Path
) -> None:
    done = run("check", heart)
    assert "disease" in done.out
    assert done.code == 0


def test_the_format_of_a_file_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},5;a{i % 3}\n" for i in range(40))
    path.write_text("x;y\n" + rows)
    done = run("check", path, "--target", "y")
    assert done.out.startswith("40 rows, read with semicolons between cells\n")
    assert "decimal commas" in done.out


ROWS = "".join(f"{i},5;a{i % 3}\n" for i in range(40))
AS_JSON = [{"x": i / 4, "y": "pq"[i % 2]} for i in range(40)]
DECLARED = "@relation t\n@attribute x numeric\n@attribute y {p,q}\n@data\n"


@pytest.mark.parametrize(
    ("name", "content", "sentences", "facts"),
    [
        (
            "t.csv",
            "Sales\n\n# by hand\nx;y\n" + ROWS + "\nSource: own\n",
            [
                "the separator is a semicolon",
                "the decimal sign is a comma",
                "the header is line 4",
                "1 title line above the header is skipped: 'Sales'",
                "1 comment line above the header is skipped: '# by hand'",
                "below the rows of t.csv, 'Source: own' is skipped",
            ],
            {"above": ["Sales", "# by hand"], "below": ["Source: own"]},
        ),
        (
            "t.csv",
            "sep=;\nx;y\n" + ROWS,
            ["line 1, 'sep=;', names the separator", "the header is line 2"],
            {"above": ["sep=;"]},
        ),
        (
            "t.csv",
            "x,w,y\n,kg,cm\n" + "a,1.5,2\nb,2.5,7\n" * 9,
            ["the line of units below the header is skipped: 'kg,cm'"],
            {"units": "kg,cm"},
        ),
        ("t.json", json.dumps(AS_JSON), ["t.json is read as JSON"], {"kind": "JSON"}),
        (
            "t.jsonl",
            "\n".join(map(json.dumps, AS_JSON)),
            ["t.jsonl is read as JSON lines"],
            {"kind": "JSON lines", "header_line": None},
        ),
        (
            "t.arff",
            DECLARED + "1,p\n2,q\n" * 9,
            ["t.arff is read as ARFF"],
            {"kind": "ARFF", "separator": ""},
        ),
    ],
)
def test_how_a_file_is_read_is_reported_in_sentences(
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str,
    sentences: list[str],
    facts: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    lines = run("check", name).err.splitlines()
    assert {f"bayleaf: {sentence}" for sentence in sentences} <= {*lines}
    read = json.loads(run("check", name, "--json").out)["file"]
    assert read | facts == read


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_encoding_and_a_missing_header_are_named(
    run: Callable[..., Any], tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("".join(f"{i},grün\n" for i in range(9)).encode(encoding))
    given = ["--encoding", encoding] if encoding == "cp1252" else []
    done = run("check", path, "--no-header", *given)
    name = encoding.upper().replace("-SIG", " with a byte-order mark")
    assert f"the encoding is {name}" in done.err
    assert "the file has no header" in done.err


def test_ordinary_files_need_no_sentences(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    table = pd.DataFrame({"x": ["a", "b"] * 9})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    for name, kind, line in (("t.csv", "CSV", 1), ("t.parquet", "Parquet", None)):
        done = run("check", tmp_path / name)
        of_kind = " of Parquet" if kind == "Parquet" else ""
        assert done.out.startswith(f"18 rows{of_kind}\n")
        assert done.err == ""
        facts = json.loads(run("check", tmp_path / name, "--json").out)["file"]
        assert (facts["kind"], facts["header_line"]) == (kind, line)


def test_columns_without_a_value_are_called_empty(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{'uv'[i % 2]},,NA,{'pq'[i % 3 == 0]}\n" for i in range(40)]
    path.write_text("a,b,c,y\n" + "".join(rows))

    for words in (
        ("--target", "y"),
        ("--drop", "y"),
        ("--target", "y", "--missing", "state"),
    ):
        columns = json.loads(run("check", path, *words, "--json").out)["columns"]
        kinds = [column["read_as"] for column in columns]
        assert kinds == ["nominal", "empty", "empty"], words
    plan, model = tmp_path / "plan.json", tmp_path / "m.json"
    plan.write_text(run("check", path, "--target", "y", "--plan").out)
    fit = ["fit", path, "--target", "y", "--model", "nb", "-o", model]
    for words in ((), ("--plan", plan), ("--memory", "500MB")):
        out = run(*fit, *words).out
        assert [out.count(f" {kind} ") for kind in ("empty", "identifier")] == [2, 0]


def test_rules_are_taken_from_options(run: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = pd.DataFrame({"id": [f"P{i}" for i in range(50)], "y": ["a", "b"] * 25})
    frame.to_csv(path, index=False)
    assert "identifier" in run("check", path).out
    kept = run("check", path, "--identifiers", "keep")
    assert "nominal           50" in kept.out
    refused = run("check", path, "--identifiers", "error")
    assert refused.code == 2
    assert "looks like an identifier" in refused.err


def test_fit_shows_the_same_table(
    run: Callable[..., Any], heart: Path, tmp_path: Path
) -> None:
    shown = run("check", heart, "--target", "disease").out.splitlines()[1:]
    options = ["--target", "disease", "--model", "tan", "-o", tmp_path / "m.json"]
    fitted = run("fit", heart, *options).out.splitlines()
    # `check` has the target below, of which fit has written in its first sentence.
    columns = shown[: next(i for i, s in enumerate(shown) if s.startswith("disease "))]
    assert fitted[fitted.index(columns[0]) :] == columns


@pytest.mark.parametrize(
    "order",
    ["<1<1<=X<4<>=4", "<1 < 1<=X<4 < >=4", '"<1"<"1<=X<4"<">=4"', '"<1"<"1<=X<4"<>=4'],
)
def test_ordered_categories_may_contain_the_sign_between_them(
    run: Callable[..., Any], tmp_path: Path, order: str
) -> None:
    path = tmp_path / "t.csv"
    levels = ["1<=X<4", ">=4", "<1"]
    path.write_text("x,y\n" + "".join(f"{levels[i % 3]},{i % 3}\n" for i in range(90)))
    done = run("check", path, "--target", "y", "--ordered", f"x={order}", "--json")
    (column,) = json.loads(done.out)["columns"]
    assert column["read_as"] == "ordered"
    assert (column["states"][0], column["states"][-1]) == ("<1", ">=4")


@pytest.mark.parametrize("order", ["=", "=a", "=<<", "= < "])
def test_an_order_without_categories_is_refused(
    run: Callable[..., Any], heart: Path, order: str
) -> None:
    done = run("check", heart, "--ordered", f"sex{order}")
    assert done.code == 2
    assert "should have the form column=least<next<greatest" in done.err
