"""Sheets of workbooks are read as the CSV files that they would be saved as."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from offenders import check_each

openpyxl = pytest.importorskip("openpyxl")
Run = Callable[..., Any]
NAMES = ["colour", "score", "day", "ok", "time", "y"]
ROWS: list[list[Any]] = [
    [
        "red" if i % 2 else "blue",
        i * 7 % 12 / 8,
        datetime.datetime(2020, 1 + i % 12, 3),
        i % 3 == 0,
        datetime.time(i % 24, 5),
        "pq"[i // 20],
    ]
    for i in range(40)
]
CSV = ",".join(NAMES) + "\n"
CSV += "".join(f"{r[0]},{r[1]},{r[2]:%Y-%m-%d},{r[3]},{r[4]},{r[5]}\n" for r in ROWS)


def write_book(path: Path, **sheets: Sequence[Sequence[Any]]) -> None:
    """Write a workbook of sheets with their rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def columns_of(run: Run, *words: object) -> str:
    """What `check` reports below its first line."""
    done = run("check", *words)
    assert done.code == 0, done.err
    return str(done.out.partition("\n")[2])


def test_a_sheet_is_read_like_its_csv(run: Run, tmp_path: Path) -> None:
    book, text = tmp_path / "t.xlsx", tmp_path / "t.csv"
    text.write_text(CSV)
    above, below = [["Report", None, "of June"], []], [[], ["Source: own, all"]]
    write_book(book, Data=[*above, NAMES, *ROWS, *below], Other=[["a"]])
    assert columns_of(run, book, "--target", "y") == columns_of(
        run, text, "--target", "y"
    )
    done = run("check", book)
    first = "40 rows of an Excel workbook (.xlsx), read with 2 lines above the header "
    assert done.out.startswith(first + "skipped\n")
    assert "1 title line above the header is skipped: 'Report,,of June'" in done.err


def test_commands_read_workbooks(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    book, text, model = folder / "t.xlsx", tmp_path / "t.csv", tmp_path / "m.json"
    text.write_text(CSV)
    write_book(book, Data=[NAMES, *ROWS])
    assert run("fit", text, "--target", "y", "--model", "nb", "-o", model).code == 0
    predicted = run("predict", model, text).out.replace("False", "FALSE")
    predicted = predicted.replace("True", "TRUE").replace(",0.0,", ",0,")
    assert run("predict", model, book).out == predicted.replace(",1.0,", ",1,")
    audits = [run("audit", model, p, "--by", "ok").out for p in (text, book)]
    assert audits[0] == audits[1] != ""
    fit = ["fit", folder, "--target", "y", "--model", "nb", "-o"]
    assert run(*fit, tmp_path / "n.json").code == 0
    again = [run("predict", m, text).out for m in (model, tmp_path / "n.json")]
    assert again[0] == again[1]


def table_of(n_columns: int) -> list[list[Any]]:
    """A header and 30 rows, every other column of which has texts."""
    names = [f"{'word' if j % 2 else 'size'} {j}" for j in range(n_columns)]
    rows = [
        [
            ("red", "blue", "grün")[(i + j) % 3] if j % 2 else i * 7 % 30 + 0.25 + j
            for j in range(n_columns)
        ]
        for i in range(30)
    ]
    return [names, *rows]


# Rows above a table, of which these texts are told.
TITLES: dict[str, tuple[list[list[Any]], list[str]]] = {
    "title": ([["Sales"]], ["Sales"]),
    "titles": ([["Sales"], ["All regions, 2024"]], ["Sales", '"All regions, 2024"']),
    "blank rows": ([[], ["Sales"], [], []], ["Sales"]),
    "a blank row between": ([["Sales"], [], ["by region"], []], ["Sales", "by region"]),
    "number": ([["Sales of"], [2024]], ["Sales of", "2024"]),
    "a date": ([["Sales"], [datetime.date(2024, 5, 1)], []], ["Sales", "2024-05-01"]),
}


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [2, 3, 8])
def test_titles_above_a_table_are_not_its_header(
    run: Run, tmp_path: Path, n_columns: int
) -> None:
    table, book = table_of(n_columns), tmp_path / "t.xlsx"
    write_book(book, Data=table)
    plain = columns_of(run, book)
    assert plain.count("numeric") == (n_columns + 1) // 2
    footer = [[], ["Source: own survey"], ["Notes:", "none"][: n_columns // 2]]

    def check(name: str) -> None:
        above, texts = TITLES[name]
        for rows in ([*above, *table], [*above, *table, *footer[:2]]):
            write_book(book, Data=rows, Notes=[["read", "me"], [1, 2]])
            file = json.loads(run("check", book, "--json").out)["file"]
            assert columns_of(run, book) == plain
            assert file["above"] == texts
            assert file["header_line"] == len(above) + 1
            assert file["sheet"] == "'Data', the first of 2"
        shifted = [[None, None, *row] if row else [] for row in [*above, *table]]
        write_book(book, Data=shifted)
        assert columns_of(run, book) == plain

    check_each(TITLES, check)
    write_book(book, Data=[*table, *footer])
    assert columns_of(run, book) == plain


def test_cells_of_a_title_may_be_merged(run: Run, tmp_path: Path) -> None:
    table, book = table_of(2), tmp_path / "t.xlsx"
    write_book(book, Data=table)
    plain = columns_of(run, book)
    sheet = openpyxl.load_workbook(book)
    sheet.active.insert_rows(1, 2)
    sheet.active["A1"] = "Sales"
    sheet.active.merge_cells("A1:B2")
    sheet.save(book)
    assert columns_of(run, book) == plain


def test_a_title_above_two_columns_of_a_text_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{i * 7 % 30 + 0.5},{'pq'[i % 2]}\n" for i in range(30))
    path.write_text("size,word\n" + rows)
    plain = columns_of(run, path)
    path.write_text("Sales,\n,\nsize,word\n" + rows)
    assert columns_of(run, path) == plain
    # A column without a name has values below.
    path.write_text("size,\n" + rows)
    assert "size  " in columns_of(run, path)
    path.write_text(
        "word,\n" + "".join(f"{'pq'[i % 2]},{'uvw'[i % 3]}\n" for i in range(30))
    )
    assert "word  " in columns_of(run, path)


def test_a_sheet_is_chosen_by_its_name(run: Run, tmp_path: Path) -> None:
    book = tmp_path / "t.xlsx"
    write_book(book, Notes=[["nothing", "here"], [1, 2]], Data=[NAMES, *ROWS])
    assert "colour" in columns_of(run, book, "--sheet", "Data")
    done = run("check", book, "--sheet", "data")
    assert (done.code, "a sheet 'data'; did you mean Data?" in done.err) == (2, True)
    text = tmp_path / "t.csv"
    text.write_text(CSV)
    done = run("check", text, "--sheet", "Data")
    assert (done.code, "--sheet belongs to Excel workbooks" in done.err) == (2, True)


def test_rows_of_a_sheet_without_a_header(run: Run, tmp_path: Path) -> None:
    book = tmp_path / "t.xlsx"
    write_book(book, Data=ROWS)
    assert run("check", book, "--no-header").out.startswith("40 rows")


def test_cells_that_hold_nothing_are_not_columns(run: Run, tmp_path: Path) -> None:
    book = tmp_path / "t.xlsx"
    wide = [[*row, None, None] for row in [NAMES, *ROWS]]
    write_book(book, Data=[*wide, [None] * 8, [None] * 3])
    assert run("check", book).out.startswith("40 rows of an Excel workbook")


def test_formulas_need_values(run: Run, tmp_path: Path) -> None:
    book = tmp_path / "t.xlsx"
    write_book(book, Data=[["a", "b"], [1, 2], [2, "=A3+1"]])
    done = run("check", book)
    assert done.code == 2
    assert "a formula without a value in row 3 of sheet 'Data'" in done.err


def test_what_is_not_a_workbook_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "t.xlsx"
    write_book(book, Data=[NAMES, *ROWS])
    whole = book.read_bytes()

    def check(content: bytes) -> None:
        book.write_bytes(content)
        done = run("check", book)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert str(book) in done.err

    check_each([whole[: len(whole) // 2], whole[:300], b"PK\x03\x04xl/"], check)
    write_book(book, Data=[])
    assert "is empty" in run("check", book).err
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert 'pip install "bayleaf[excel]"' in run("check", book).err


def test_tables_are_not_written_as_workbooks(run: Run, tmp_path: Path) -> None:
    book, text, model = (tmp_path / n for n in ("t.xlsx", "t.csv", "m.json"))
    text.write_text(CSV)
    assert run("fit", text, "--target", "y", "--model", "nb", "-o", model).code == 0
    done = run("predict", model, text, "-o", book)
    assert (done.code, "let the name of the output end in .csv" in done.err) == (
        2,
        True,
    )
    assert not book.exists()
