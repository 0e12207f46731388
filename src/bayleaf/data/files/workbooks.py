"""Sheets of Excel workbooks as the text of a CSV file."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from bayleaf.wording import near_names, quoted

# What openpyxl raises for archives and sheets that cannot be read.
_BROKEN = (zipfile.BadZipFile, OSError, LookupError, AttributeError, SyntaxError)


class SheetText(NamedTuple):
    """A sheet of a workbook as text."""

    title: str  # its name, and how many there are, in words; empty if it is alone
    lines: Iterator[str]  # of CSV


def sheet_text(content: IO[bytes], source: str, sheet: str | None = None) -> SheetText:
    """The rows of a sheet as lines of CSV, by default of the first that is shown.

    Cells are what formulas gave when the workbook was saved; all rows of the table have
    as many, and empty columns to its left are left out. ValueError without openpyxl or
    such a sheet, or if a formula has no value.
    """
    try:
        import openpyxl
    except ImportError:
        raise ValueError(
            f"{source} is an Excel workbook (.xlsx), which needs openpyxl; install it "
            'with pip install "bayleaf[excel]", or save the table as CSV'
        ) from None
    try:
        has_formulas = _has_formulas(content)
        with contextlib.ExitStack() as stack:
            # Of styles and rules that do not matter here.
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", UserWarning)
            books = [
                stack.enter_context(
                    contextlib.closing(
                        openpyxl.load_workbook(content, True, data_only=is_value)
                    )
                )
                for is_value in ((True, False) if has_formulas else (True,))
            ]
            sheets = [_sheet(book, sheet, source) for book in books]
            rows = [_texts(row) for row in _rows(sheets, source)]
            title = _title(books[0], sheets[0].title)
    except _BROKEN as error:
        raise ValueError(
            f"{source} is not an Excel workbook that can be read ({error}); open it "
            "in a spreadsheet program and save it again"
        ) from error
    return SheetText(title, _lines(rows))


def _title(book: Any, name: str) -> str:
    """Which sheet of a workbook has a name, in words; empty if it is alone."""
    names = [sheet.title for sheet in book.worksheets]
    if len(names) < 2:
        return ""
    index = names.index(name)
    which = "the first" if not index else f"number {index + 1}"
    return f"{quoted(name)}, {which} of {len(names)}"


def _lines(rows: list[list[str]]) -> Iterator[str]:
    """Rows without empty cells at their ends as lines of CSV."""
    firsts = (next(j for j, text in enumerate(row) if text) for row in rows if row)
    left = min(firsts, default=0)
    rows = [row[left:] for row in rows]
    width = max(map(len, rows), default=0)
    few = max(1, width // 2)
    last = max((i for i, row in enumerate(rows) if len(row) > few), default=0)
    # Lines of text below the table are not rows of it.
    blank = (i for i, row in enumerate(rows) if i > last and not row)
    n_padded = next(blank, len(rows))
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for index, row in enumerate(rows):
        # A row without cells is a blank line, as in CSV files.
        if row:
            n_empty = width - len(row) if index < n_padded else 0
            writer.writerow([*row, *[""] * n_empty])
        yield line.getvalue() or "\n"
        line.seek(0)
        line.truncate()


def _has_formulas(content: IO[bytes]) -> bool:
    """Whether a sheet of a workbook may have formulas."""
    with zipfile.ZipFile(content) as archive:
        return any(
            b"<f" in archive.read(name)
            for name in archive.namelist()
            if name.startswith("xl/worksheets/") and name.endswith(".xml")
        )


def _sheet(book: Any, name: str | None, source: str) -> Any:
    """A sheet by its name, or the first that is shown."""
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name is None:
        shown = (s for s in sheets.values() if s.sheet_state == "visible")
        sheet = next(shown, None)
    else:
        sheet = sheets.get(name)
    if sheet is None:
        hint = "add a sheet with a table" if name is None else near_names(name, sheets)
        what = "a sheet" if name is None else f"a sheet {quoted(name)}"
        raise ValueError(f"{source} does not have {what}; {hint}")
    # Programs may write a size that is too small.
    sheet.reset_dimensions()
    return sheet


def _rows(sheets: Sequence[Any], source: str) -> Iterator[list[Any]]:
    """The values of each row; those of formulas are compared with the formulas."""
    for number, rows in enumerate(zip(*[s.iter_rows() for s in sheets], strict=True)):
        for value, formula in zip(rows[0], rows[-1], strict=True):
            if value.value is None and formula.value is not None:
                raise ValueError(
                    f"{source} has a formula without a value in row {number + 1} of "
                    f"sheet {quoted(sheets[0].title)}; open it in a spreadsheet "
                    "program and save it again"
                )
        yield [cell.value for cell in rows[0]]


def _texts(cells: Sequence[Any]) -> list[str]:
    """The text of each cell, without empty ones at the end."""
    texts = [cell_text(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def cell_text(value: Any) -> str:
    """The value of a cell as CSV files write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | np.floating):
        number = float(value)
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
