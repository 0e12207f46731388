"""Layouts of CSV files that other programs write: the same table from each."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bayleaf.cli.options import USUAL_FORMAT, FormatOptions
from bayleaf.cli.table_reading import read_table
from bayleaf.data.files.table_files import read_batches
from offenders import check_each

Run = Callable[..., Any]
NAMES = ["colour", "score", "age", "y"]
ROWS = [
    [["red", "blue"][i % 2], f"{i / 8 - 2:.2f}", str(20 + i * 7 % 50), "pq"[i // 20]]
    for i in range(40)
]


def text(separator: str = ",", end: str = "\n", *, header: bool = True) -> str:
    """The table with a sign between cells and one at the ends of lines."""
    rows = [NAMES, *ROWS] if header else ROWS
    return "".join(separator.join(row) + end for row in rows)


PADDED = "\n".join(
    "   ".join(f"{cell:<8}" for cell in row).rstrip() for row in [NAMES, *ROWS]
)
WORLD = f"Data Source,Survey,\n\nLast Updated,2024-03-01,\n\n{text(end=',' + chr(10))}"
# A file, and what is reported of its format.
LAYOUTS = {
    "comments": ("# by hand\n# 2024\n" + text(), "2 lines above the header skipped"),
    "percent": ("% a, b, c, d, e\n%\n\n" + text(), "3 lines above the header skipped"),
    "comment of as many": ("# a,b,c,d\n" + text(), "1 line above the header skipped"),
    "title": ("Report of June\n\n" + text(), "2 lines above the header skipped"),
    "filled title": ("Report,,,\n,,,\n" + text(), "2 lines above the header skipped"),
    "title of two cells": (
        "Report; 2024\n" + text(),
        "1 line above the header skipped",
    ),
    "only blank lines": ("\n\n" + text(), ""),
    "sep=": (
        "sep=;\n" + text(";"),
        "semicolons between cells, 1 line above the header skipped",
    ),
    "sep= of a tab": (
        "sep=\t\r\n" + text("\t", "\r\n"),
        "tabs between cells, 1 line above the header skipped",
    ),
    "one blank": (text(" "), "blanks between cells"),
    "runs of blanks": (text("   "), "blanks between cells"),
    "fixed widths": (PADDED, "blanks between cells"),
    "blanks before lines": (
        "  " + text(" ", "\n  ").rstrip(" "),
        "blanks between cells",
    ),
    "comments and blanks": (
        "% by hand\n" + text("  "),
        "blanks between cells, 1 line above the header skipped",
    ),
    "trailing": (text(end=",\n"), "a separator at the end of each line"),
    "trailing semicolons": (
        text(";", ";\r\n"),
        "semicolons between cells, a separator at the end of each line",
    ),
    "trailing below the header": (
        ",".join(NAMES) + "\n" + text(end=",\n", header=False),
        "a separator at the end of each line",
    ),
    "titles and trailing": (
        WORLD,
        "4 lines above the header skipped, a separator at the end of each line",
    ),
    "carriage returns": (text(end="\r"), ""),
    "a mark and a title": (
        "\ufeffReport\n" + text(),
        "1 line above the header skipped",
    ),
}


def texts_of(table: pa.Table) -> list[list[str]]:
    """The rows of a table of text."""
    return [list(row) for row in zip(*table.to_pydict().values(), strict=True)]


def both_ways(source: Path, form: FormatOptions = USUAL_FORMAT) -> tuple[pa.Table, str]:
    """A table of text as it is read whole and in batches, and its format."""
    batches = pa.Table.from_batches(read_batches(str(source), form))
    whole = read_table(str(source), form, batches.column_names)
    metadata = whole.schema.metadata or {}
    assert whole.replace_schema_metadata(None) == batches
    return batches, metadata.get(b"format", b"").decode()


def test_the_table_is_the_same_in_every_layout(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"

    def check(name: str) -> None:
        content, described = LAYOUTS[name]
        source.write_bytes(content.encode())
        table, found = both_ways(source)
        assert table.column_names == NAMES
        assert texts_of(table) == ROWS
        assert found == described

    check_each(LAYOUTS, check)


HEADERLESS = {
    "plain": text(header=False),
    "mark": "\ufeff" + text(header=False),
    "comments": "# by hand\n" + text(header=False),
    "title": "Report\n\n" + text(header=False),
    "trailing": text(end=",\n", header=False),
    "semicolons": text(";", header=False),
    "blanks": text("  ", header=False),
}


def test_a_file_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"

    def check(name: str) -> None:
        source.write_text(HEADERLESS[name], encoding="utf-8")
        table, described = both_ways(source, FormatOptions(no_header=True))
        assert table.column_names == ["x0", "x1", "x2", "x3"]
        assert texts_of(table) == ROWS
        assert "no header" in described
        named = FormatOptions(no_header=True, names=("colour,score", "age,y"))
        assert both_ways(source, named)[0].column_names == NAMES

    check_each(HEADERLESS, check)


NOT_SKIPPED = {
    "two names too few": ("a,y\n1,2,3,p\n2,2,4,q\n5,2,3,p\n", "line 2 of"),
    "one name too few": ("a,y\n1,2,p\n2,3,q\n4,2\n5,2,p\n", "line 2 of"),
    "below units": ("a,b,y\n,kg,cm\nr,5,6\ng,7,8\nb,8\nr,9,9\n", "line 5 of"),
    "rows of one name": ("a,y\n1,2,p\n1,3,q\n", "line 2 of"),
    "cut off": ("a,b,y\n1,2,p\n2,3,q\n4", "line 4 of"),
    "cut off in a text": ("a,b,y\nr,2,p\ng,3,q\nre", "line 4 of"),
    "cut off in a number": ("a,b,y\nr,2,p\ng,3,q\nr,5\n", "line 4 of"),
    "too long": ("a,b,y\nr,2,p\ng,3,q\n\nr,5,p,8\n", "line 5 of"),
    "too long at once": ("a,b,y\nr,2,p\ng,3,q\ndark red,5,p,8\n", "line 4 of"),
    "footer between": ("a,b,y\nr,2,p\nSource: x\ng,3,q\n", "line 3 of"),
    "below a title": ("Report\n\na,b,y\n1,2,p\n2,3\n3,4,q\n5,6,p\n", "line 5 of"),
    "blanks": ("a b y\n" + "1  2 p\n" * 30 + "1 2\n", "line 32 of"),
    "quote": ('Report\n\na,b,y\n1,2,p\n3,4,q\n5,6,"q\n', "line 6 of"),
    "without a header": ("1,2,p\n2,3,q\n3,q\n", "line 3 of"),
}


def test_lines_of_errors_are_those_of_the_file(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"

    def check(name: str) -> None:
        content, line = NOT_SKIPPED[name]
        source.write_text(content)
        options = ["--no-header"] if name == "without a header" else []
        for more in ([], ["--memory", "500MB"]):
            fit = ["fit", source, "--density", "-o", model, *more, *options]
            done = run(*fit)
            assert done.code == 2
            assert line in done.err, done.err

    check_each(NOT_SKIPPED, check)


def test_text_of_one_column_is_not_cut(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"

    def check(content: str) -> None:
        source.write_text(content)
        (column,) = read_table(str(source)).column_names
        assert column == content.partition("\n")[0]

    names = "full name\n" + "Ann Lee\nBob Ray\n" * 9
    moments = "moment\n" + "2024-01-01 10:00:00\n" * 9
    tags = "tag\n" + "#red\n#blue\n" * 9
    check_each([names, moments, tags, "# tag\nred\nblue\n"], check, repr)


def test_headers_and_rows_may_begin_like_comments(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    rows = "chr1,1000,p\nchr2,2000,q\n" * 5

    def check(above: str) -> None:
        source.write_text(f"{above}#chrom,start,y\n{rows}")
        table = read_table(str(source))
        assert table.column_names == ["#chrom", "start", "y"]
        assert table.num_rows == 10

    check_each(["", "# by hand\n", "# for us, you, all\n"], check, repr)
    source.write_text("#tag,y\n" + "#red,p\n%,q\nblue,p\nblue,q\n" * 5)
    assert read_table(str(source)).num_rows == 20


def test_an_empty_name_in_quotes_is_a_header(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text('""\na\nb\na\n')
    assert read_table(str(source)).to_pydict() == {"": ["a", "b", "a"]}


def test_a_cell_after_the_last_separator_is_refused(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"
    rows = text(end=",\n", header=False) * 4
    source.write_text(text(end=",\n") + rows + "red,1,2,p,late\n")
    fit = ["fit", source, "--target", "y", "-o", model]
    for words in (["check", source], [*fit, "--memory", "500MB"]):
        done = run(*words)
        assert done.code == 2
        assert "a cell after its last column, 'late'" in done.err


def test_a_header_that_looks_like_values_is_noted(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"
    source.write_text(text(header=False))
    note = "the first line looks like values; give --no-header if it is a row"
    done = run("check", source)
    assert done.out.splitlines()[:2] == ["39 rows", note]
    assert json.loads(run("check", source, "--json").out)["note"] == note
    fit = ["fit", source, "--target", "p", "--model", "nb", "-o", model]
    assert note in run(*fit).out.splitlines()
    assert note in run(*fit, "--memory", "500MB").out.splitlines()
    source.write_text(text())
    assert "--no-header" not in run("check", source).out
    source.write_text("1,1,p\n" + "1,2,p\n2,1,q\n" * 9)
    done = run("check", source)
    assert (done.code, "--no-header" in done.err) == (2, True)


def test_a_model_of_a_file_without_a_header(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"
    source.write_text(text(header=False))
    fit = ["fit", source, "--target", "y", "-o", model, "--model", "nb"]
    named = ["--no-header", "--names", "colour,score,age,y"]
    done = run(*fit, *named)
    assert "read with no header" in done.out.splitlines()
    predicted = run("predict", model, source, *named).out.splitlines()
    assert len(predicted) == 41
    assert predicted[0].startswith("colour,score,age,y,prediction,")
    done = run(*fit, "--no-header", "--names", "a,b,y")
    assert "--names has 3 names, but the first row of" in done.err
    assert "add --no-header" in run(*fit, "--names", "a,b,c,y").err


def test_fit_names_the_format_of_a_file(run: Run, tmp_path: Path) -> None:
    source, model = tmp_path / "t.csv", tmp_path / "m.json"
    source.write_text("Report\n" + text(";"))
    fit = ["fit", source, "--target", "y", "-o", model, "--model", "nb"]
    described = "semicolons between cells, 1 line above the header skipped"
    for more in ([], ["--memory", "500MB"]):
        assert f"read with {described}" in run(*fit, *more).out.splitlines()
    assert run("check", source).out.startswith(f"40 rows, read with {described}\n")


def test_standard_input_is_laid_out_alike(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO(("# by hand\n" + text("  ")).encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(content)))
    assert run("check", "-", "--target", "y").out.startswith(
        "40 rows, read with blanks"
    )


ABOVE_AND_BELOW = {
    # As R writes the names of rows.
    "names of rows": "a,b,y\n1,2,3,p\n2,4,5,q\n3,6,7,p\n",
    "a name of a row": "b,y\nAnn,5,p\nBob,6,q\nCid,7,p\n",
    "blanks": '"a" "y"\n"1" 5 "p"\n"2" 6 "q"\n"3" 7 "p"\n',
    "empty columns": "a,,b,,\n1,,p,,\n2,,q,,\n3,,p,,\n",
    "empty columns below a title": "Report\n\na,,b,,,\n1,,p,,,\n2,,q,,,\n",
    "units": "a,b,c\n,kg,cm\nr,5,6\ng,7,8\nb,8,9\n",
    "footer": "a,b,c\nr,5,6\ng,7,8\nb,8,9\nSource: own\n",
    "footer without an end": "a,b,c\nr,5,6\ng,7,8\nb,8,9\nSource: own",
    "footers": "a,b,c\nr,5,6\ng,7,8\nb,8,9\n\n\nNote, with comma\n\n* other\n\n",
    "long footer": "a,b,c\nr,5,6\ng,7,8\nb,8,9\n\nSource: own, theirs, all, 5\n",
    "units in brackets": "a,b,c\n(word),(kg),[cm]\nr,5,6\ng,7,8\nb,8,9\n",
    "large": "a,b,c\n" + "red,5,6\n" * 30_000 + "\nSource: own\n",
    "end of a cell": 'a,b,c\nr,5,6\ng,7,8\nb,8,"of\n\ntwo lines"\n',
    "carriage returns": "a,b,c\rr,5,6\rg,7,8\rb,8,9\r\rSource: own\r",
}


def test_what_is_above_and_below_rows_is_left_out(run: Run, tmp_path: Path) -> None:
    def check(name: str) -> None:
        source = tmp_path / f"{name}.csv"
        source.write_text(ABOVE_AND_BELOW[name], newline="")
        table, described = both_ways(source, FormatOptions())
        names = {"names of rows": ["", "a", "b", "y"], "blanks": ["", "a", "y"]}
        names |= {"a name of a row": ["", "b", "y"]}
        is_empty = name.startswith("empty")
        usual = ["a", "b"] if is_empty else ["a", "b", "c"]
        assert table.column_names == names.get(name, usual)
        n_rows = {"empty columns below a title": 2, "large": 30_000}
        assert table.num_rows == n_rows.get(name, 3)
        words = {
            "units": "units",
            "units in brackets": "units",
            "blanks": "no name",
            "empty columns": "2 empty",
        }
        assert words.get(name, "") in described

    check_each(ABOVE_AND_BELOW, check)


def test_lines_below_the_rows_are_reported(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text(text() + "\nSource: own survey\n")
    done = run("check", source)
    assert done.out.startswith("40 rows\n")
    below = f"bayleaf: below the rows of {source}, 'Source: own survey' is skipped\n"
    assert done.err.startswith(below)


def test_a_cell_below_no_name_is_refused(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("a,,,b\n" + "1,,,p\n2,,,q\n" * 90 + "3,odd,,p\n")
    done = run("check", source)
    assert (done.code, "a cell without a name above, 'odd'" in done.err) == (2, True)
    source.write_text("a,,,b\n" + "1,odd,,p\n2,,,q\n" * 90)
    assert read_table(str(source)).column_names == ["a", "", "b"]


def test_a_header_below_a_title_may_have_numbers_among_its_names(
    tmp_path: Path,
) -> None:
    columns = {
        "numbers": "3.5 . 4.5 - 5.5 6.5 7.5 8.5 9.5 NA",
        "dates": " ".join(f"2020-01-1{i}" for i in range(10)),
        "words": "a b b c c a a b c c",
    }

    def check(name: str) -> None:
        cells = columns[name].split()
        body = "".join(f"{cell},{i},{i % 3},w{i}\n" for i, cell in enumerate(cells))
        (tmp_path / "t.csv").write_text("Sales\n\ngröße,1,2,3\n" + body, "utf-8")
        table = read_table(str(tmp_path / "t.csv"))
        assert table.column_names == ["größe", "1", "2", "3"]

    check_each(columns, check)


JOINED = {
    ",2019,,2020,\nRegion,A,B,A,B\n": "Region;2019 A;2019 B;2020 A;2020 B",
    "Region,2019,2019,2020,2020\n,A,B,A,B\n": "Region;2019 A;2019 B;2020 A;2020 B",
    "Region,Sales,,Costs,\n,2019,2020,2019,2020\n": "Region;Sales 2019;Sales 2020;"
    "Costs 2019;Costs 2020",
    "Report\n\n,Sales,,Costs,\nRegion,A,B,C,D\n": "Region;Sales A;Sales B;Costs C;"
    "Costs D",
    ",2019,,,\nRegion,A,B,C,D\n": "Region;A;B;C;D",
    "Report,of June,,,\nRegion,A,B,C,D\n": "Region;A;B;C;D",
    "Report,of June,,,\n,Sales,,Costs,\nRegion,A,B,A,B\n": "Region;Sales A;Sales B;"
    "Costs A;Costs B",
    "Region,A,,B,C\n": "Region;A;;B;C",
    # As predictions are added.
    ",2019,,2020,p\nRegion,A,B,A,\n": "Region;2019 A;2019 B;2020 A;p",
    "Region,A,B,C,\n": "Region;A;B;C;",
}


def test_groups_above_names_are_joined_with_them(tmp_path: Path) -> None:
    rows = [f"{'rs'[i % 3 == 0]}{i},{i}.5,x,{i * 7 % 5},y {i}\n" for i in range(20)]

    def check(head: str) -> None:
        path = tmp_path / "t.csv"
        path.write_text(head + "".join(rows))
        names = JOINED[head].split(";")
        batches = pa.Table.from_batches(read_batches(str(path), FormatOptions()))
        for table in (read_table(str(path)), batches):
            assert (table.column_names, table.num_rows) == (names, 20)

    check_each(JOINED, check)


TOTALS = {
    "Total,98.5,3\n": True,
    "Summe:,98.5,\n\nSource: x\n": True,
    "south,98.5,3\n": False,
    "Total,,\n": False,
    "Total,98.5,3\nTotal,9.5,1\n": False,
}


def test_a_last_row_of_totals_is_a_row_and_is_reported(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    body = "region,x,n\n" + "".join(f"north,{i}.5,{i % 5}\n" for i in range(30))

    def check(end: str) -> None:
        path = tmp_path / f"{len(end)}{end[0]}.csv"
        path.write_text(body + end)
        done = run("check", path, "--json")
        assert ("looks like totals of the others" in done.err) == TOTALS[end]
        n_rows = sum(line.count(",") == 2 for line in end.splitlines())
        assert json.loads(done.out)["n_rows"] == 30 + n_rows

    check_each(TOTALS, check)


def test_lines_that_repeat_a_header_above_numbers_are_no_rows(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    path, model, out = (tmp_path / name for name in ("t.csv", "m.json", "out.csv"))
    rows = [f"{i * 7 % 40},{'uv'[i % 2]},{'pq'[i % 3 == 0]}\n" for i in range(40)]
    path.write_text("x,g,y\n" + "x,g,y\n".join(["".join(rows[:9]), *rows[9:]]))
    whole = read_table(str(path))
    batches = pa.Table.from_batches(read_batches(str(path), FormatOptions()))
    assert whole.num_rows == batches.num_rows == 40
    assert whole.column("x").to_pylist() == [i * 7 % 40 for i in range(40)]
    done = run("fit", path, "--target", "y", "--model", "nb", "-o", model)
    assert f"the header of {path} is repeated in 31 lines, left out" in done.err
    assert run("predict", model, path, "-o", out).code == 0
    written = out.read_text().splitlines()[1:]
    assert [line.rsplit(",", 3)[0] + "\n" for line in written] == rows
    # Among words alone such a line may be a row, and so it may without a header.
    path.write_text("g,y\n" + "u,p\nv,q\ng,y\n" * 20)
    assert read_table(str(path)).num_rows == 60
    path.write_text("x,g\n" + "1,u\nx,g\n" * 20)
    assert read_table(str(path), FormatOptions(no_header=True)).num_rows == 41
