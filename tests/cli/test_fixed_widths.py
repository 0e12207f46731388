"""Columns of fixed width, whose cells may have blanks, are read and written back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayleaf.cli.options import FormatOptions
from bayleaf.cli.table_reading import read_table
from bayleaf.data.files.csv_dialects import dialect_of
from bayleaf.data.files.fixed_widths import FixedColumns, aligned_columns, parts_between
from bayleaf.data.files.table_files import read_batches
from offenders import check_each

Run = Callable[..., Any]
CITIES = ["New York", "Los Angeles", "Boston", "San Francisco"]
ROWS = [
    [CITIES[i % 4], f"{(3 * i) % 14 / 4}", ["yes", "no", "yes"][i % 3]]
    for i in range(24)
]
NAMES = ["city", "size", "sea"]


def aligned(rows: Sequence[Sequence[str]], signs: str = "<><", gap: int = 2) -> str:
    """Lines of cells that are aligned to the left or right."""
    columns = zip(*rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return "".join(
        (" " * gap)
        .join(
            f"{cell:{sign}{width}}"
            for cell, sign, width in zip(row, signs, widths, strict=True)
        )
        .rstrip()
        + "\n"
        for row in rows
    )


TABLE = [NAMES, *ROWS]
TEXTS = {
    "to the left": aligned(TABLE, "<<<"),
    "numbers to the right": aligned(TABLE),
    "all to the right": aligned(TABLE, ">>>"),
    "one blank between": aligned(TABLE, "><>", 1),
    "a title": "Cities of the year\n\n" + aligned(TABLE),
    "comments": "# by hand\n# of some cities\n" + aligned(TABLE),
    "notes": aligned(TABLE) + "\nSource: own survey of 2019\n",
    "a rule": aligned([NAMES, ["-------------", "----", "---"], *ROWS]),
    "blank lines": aligned(TABLE).replace("\n", "\n\n", 3),
    "two words of one length": aligned([NAMES, *[["New York", *r[1:]] for r in ROWS]]),
}


def test_cells_with_blanks_are_read_by_their_positions(tmp_path: Path) -> None:
    def check(name: str) -> None:
        path = tmp_path / "t.txt"
        path.write_text(TEXTS[name], "utf-8")
        for form in (FormatOptions(), FormatOptions(sep="blank")):
            batches = pa.Table.from_batches(read_batches(str(path), form))
            rows = [["New York", *r[1:]] for r in ROWS] if "words" in name else ROWS
            assert [list(row.values()) for row in batches.to_pylist()] == rows
            assert batches.column_names == NAMES
            whole = read_table(str(path), form)
            assert whole.column("size").to_pylist() == [float(row[1]) for row in rows]

    check_each(TEXTS, check)


def test_names_of_rows_empty_cells_and_longer_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    rows = [["", "n", "x"], ["Mazda RX4", "1", ""], ["Fiat 128", "", "2"]]
    rows += [["Opel", "123", "3"]] * 3000
    # The gap is narrower in a row below those by which the columns are found.
    text = aligned(rows, "<>>", 4) + "Mercedes 280   1  23456\n"
    path.write_text(text, "utf-8")
    read = pa.Table.from_batches(read_batches(str(path), FormatOptions()))
    found = [list(row.values()) for row in read.to_pylist()]
    assert found == [*rows[1:], ["Mercedes 280", "1", "23456"]]
    assert read.column_names == rows[0]
    path.write_text(text + "Alfa Romeo Giulia T 23   1\n", "utf-8")
    with pytest.raises(
        ValueError, match=r"line 3005 of .* has 4 cells, but the header"
    ):
        list(read_batches(str(path), FormatOptions()))


def test_texts_without_columns_stay_whole() -> None:
    for text in (
        "comment\nA text  with two blanks\nanother text\nthe third one is long\n",
        "The fox jumps.  The dog\nsleeps all day. And  it\nIt was,  he said to me.\n",
        "full name\nAnna Bell\nJohn Dunn\n",
    ):
        assert aligned_columns(text.splitlines(), has_header=True) is None
        assert dialect_of(text.encode(), FormatOptions()).n_cells == 1


def test_predictions_and_filled_cells_are_aligned(run: Run, tmp_path: Path) -> None:
    source, model, out = (tmp_path / name for name in ("t.txt", "m.json", "out.txt"))
    source.write_text(TEXTS["notes"], "utf-8")
    done = run("fit", source, "--target", "sea", "--model", "nb", "-o", model)
    assert done.code == 0, done.err
    assert run("predict", model, source, "-o", out).code == 0
    lines = out.read_text("utf-8").splitlines()
    old = TEXTS["notes"].splitlines()
    assert all(a.startswith(b) for a, b in zip(lines, old, strict=True))
    assert lines[-2:] == old[-2:]
    starts = {line.index(word) for line, word in ((lines[0], "prediction"),)}
    assert {len(aligned(TABLE).splitlines()[0]) + 1} == starts
    read = read_table(str(out))
    assert read.select(NAMES).to_pylist() == read_table(str(source)).to_pylist()
    assert read.column_names[3] == "prediction"
    assert {*read.column(3).to_pylist()} <= {"yes", "no"}

    # Averages are longer than what the column has.
    rows = [
        ["" if (i + j) % 7 == 3 else c for j, c in enumerate(r)]
        for i, r in enumerate(ROWS)
    ]
    source.write_text(aligned([NAMES, *rows]) + "\nSource: own survey\n", "utf-8")
    done = run("impute", model, source, "-o", out, "--how", "mean")
    assert done.code == 0, done.err
    full = pa.Table.from_batches(read_batches(str(out), FormatOptions()))
    assert full.column_names == NAMES
    for before, after in zip(rows, full.to_pylist(), strict=True):
        assert all(b in ("", a) for b, a in zip(before, after.values(), strict=True))
        assert "" not in after.values()
    lines = out.read_text("utf-8").splitlines()
    ends = {
        len(line.removesuffix("yes").removesuffix("no").rstrip())
        for line in lines[1:25]
    }
    assert len(ends) == 1  # numbers end where the others do
    assert lines[-1] == "Source: own survey"


def test_the_report_names_the_layout(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "t.txt"
    source.write_text(TEXTS["to the left"], "utf-8")
    done = run("check", source, "--json")
    assert "columns of fixed width" in json.loads(done.out)["format"]


WORD = st.text("abcdé", min_size=1, max_size=6)
CELL = st.one_of(
    st.lists(WORD, min_size=1, max_size=3).map(" ".join),
    st.integers(-999, 99999).map(str),
    st.just(""),
)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=9),
            st.lists(st.sampled_from("<>"), min_size=n, max_size=n),
            st.lists(CELL, min_size=n, max_size=n),
        )
    )
)
def test_filled_cells_are_between_the_same_gaps(
    case: tuple[list[list[str]], list[str], list[str]],
) -> None:
    rows, signs, cells = case
    names = [f"name{j}" for j in range(len(signs))]
    lines = aligned([names, *rows], "".join(signs), 3).splitlines()
    found = aligned_columns([*lines, ""], has_header=True)
    # Words of few rows may begin at one position by chance.
    assume(found is not None and len(found.gaps) == len(signs) - 1)
    columns = FixedColumns(lines, found.gaps)
    columns.widen([len(cell) for cell in cells])
    changes = [
        [new if not old and new else None for old, new in zip(row, cells, strict=True)]
        for row in rows
    ]
    table = [columns.line(lines[0], [None] * len(signs))]
    table += map(columns.line, lines[1:], changes)
    again = aligned_columns([*table, ""], has_header=True)
    assume(again is not None and len(again.gaps) == len(signs) - 1)
    read = [parts_between(line, again.gaps) or [] for line in table]
    want = [[old or new for old, new in zip(r, cells, strict=True)] for r in rows]
    assert [[part.strip() for part in row] for row in read] == [names, *want]
