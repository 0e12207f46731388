"""A file that a model was fitted to is read by every command, and keeps its cells."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from bayleaf.cli.options import FormatOptions
from bayleaf.data.files.table_files import read_batches
from contract.reading_ways import SIGNS, run
from contract.written_tables import MAKERS, WrittenColumn, WrittenTable, written_table
from property.for_all import for_all

NAMES = ("größe", 'a "b"', "x,y", "Unnamed: 1", "prediction of x", "1", " n", "TRUE")
# Words of commands; an ellipsis stands for the file, None for the model.
COMMANDS: tuple[tuple[object, ...], ...] = (
    ("check", ..., "--target", "class", "--plan"),
    ("explain", None, ..., "--line", 1, "--line", 17),
    ("report", None, ..., "--json"),
    ("report", None, ..., "--json", "--held-out"),
    ("audit", None, ..., "--by", "group"),
    ("drift", None, ...),
    ("inspect", None, "--importance", ...),
)


@dataclass(frozen=True)
class File:
    """A file of a table: its name, options that read it, and names of two columns."""

    name: str
    form: FormatOptions = field(default_factory=FormatOptions)
    target: str = "class"
    group: str = "group"

    @property
    def options(self) -> list[object]:
        """The words by which a command reads it."""
        encoding = (
            () if self.form.encoding is None else ("--encoding", self.form.encoding)
        )
        sep = () if self.form.sep is None else ("--sep", self.form.sep)
        return [*encoding, *sep, *["--no-header"] * bool(self.form.no_header)]

    @property
    def written(self) -> FormatOptions:
        """How a file that a command writes from it is read."""
        return replace(self.form, no_header=False)


def write_text(table: WrittenTable, sign: str, path: Path, kind: str) -> File:
    """Write a text file of a kind, in which Latin-1 lacks some signs."""
    text, form = table.csv(sign), FormatOptions()
    file = File(path.name)
    if kind == "comments":
        text = "# by hand\n# on Monday\n" + text
    elif kind == "title":
        text = "Sales of the year\n\n" + text
    elif kind == "blank lines":
        rows = [table.rows([i]).csv(sign) for i in range(table.n_rows)]
        header = rows[0].partition("\n")[0] + "\n"
        text = "\n".join([header, *(row.removeprefix(header) for row in rows)])
    elif kind == "no header":
        n = len(table.columns)
        text = text.partition("\n")[2]
        file = File(path.name, FormatOptions(no_header=True), f"x{n}", f"x{n - 1}")
    elif kind == "latin-1":
        text = text.encode("latin-1", "ignore").decode("latin-1")
        file = File(path.name, replace(form, encoding="latin-1"))
    elif kind == "notes":
        text += "\nSource: own survey, by hand\n* preliminary\n"
    elif kind == "fixed width":
        text, file = fixed_width(table), File(path.name, FormatOptions(sep="blank"))
    elif kind == "utf-16":
        path.write_bytes(text.encode("utf-16"))
        return file
    path.write_bytes(text.encode(kind if kind == "latin-1" else "utf-8"))
    return file


def fixed_width(table: WrittenTable) -> str:
    """The table with blanks between its columns, without line ends in cells."""

    def cell(text: str) -> str:
        text = text.replace("\n", " ")
        is_plain = text and '"' not in text and not any(map(str.isspace, text))
        return text if is_plain else '"{}"'.format(text.replace('"', '""'))

    columns = table.arrow().to_pydict()
    cells = [[cell(text) for text in (n, *texts)] for n, texts in columns.items()]
    widths = [max(map(len, texts)) + 2 for texts in cells]
    rows = zip(*cells, strict=True)
    return "".join(
        "".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) + "\n"
        for row in rows
    )


def write_book(table: WrittenTable, path: Path) -> File:
    """Write a workbook of texts."""
    book = openpyxl.Workbook()
    columns = table.arrow().to_pydict()
    for i, cells in enumerate([[*columns], *zip(*columns.values(), strict=True)], 1):
        for j, text in enumerate(cells, 1):
            cell = book.active.cell(i, j, text)
            cell.data_type = "s" if text else "n"  # not a formula
    book.save(path)
    return File(path.name)


def write_lines(table: WrittenTable, path: Path) -> File:
    """Write an object per row."""
    rows = table.arrow().to_pylist()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return File(path.name)


def write_arff(table: WrittenTable, path: Path) -> File:
    """Write columns of texts, and declared classes."""

    def cell(text: str) -> str:
        escaped = text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n")
        return f"'{escaped}'"

    names = "".join(f"@attribute {cell(n)} string\n" for n in table.columns)
    rows = zip(*table.arrow().to_pydict().values(), strict=True)
    body = "".join(",".join(map(cell, row)) + "\n" for row in rows)
    head = f"@relation t\n{names}@attribute class {{no,yes}}\n@data\n"
    path.write_text(head + body, "utf-8")
    return File(path.name)


def write_stata(table: WrittenTable, path: Path) -> File:
    """Write columns of texts, which have other names, and classes with labels."""
    frame = table.frame()
    frame.columns = [*(f"v{j}" for j in range(frame.shape[1] - 1)), "group"]
    # "class" is a word of Stata's own.
    frame["y"] = [int(label == "yes") for label in table.labels]
    labels = {"y": {0: "no", 1: "yes"}}
    frame.to_stata(path, write_index=False, version=118, value_labels=labels)
    return File(path.name, target="y")


TEXTS = ("plain", "comments", "title", "blank lines", "no header", "latin-1", "utf-16")
TEXTS += ("notes", "fixed width")
WRITERS: dict[str, Callable[[WrittenTable, str, Path], File]] = {
    **{
        f"{kind}.csv": (lambda t, sign, p, k=kind: write_text(t, sign, p, k))
        for kind in TEXTS
    },
    "t.xlsx": lambda t, _, p: write_book(t, p),
    "t.jsonl": lambda t, _, p: write_lines(t, p),
    "t.arff": lambda t, _, p: write_arff(t, p),
    "t.dta": lambda t, _, p: write_stata(t, p),
}


@st.composite
def written(draw: Any) -> tuple[WrittenTable, str, str, str]:
    """A table of columns of any kinds, its separator, a model and a kind of file."""
    kinds = draw(st.lists(st.sampled_from([*MAKERS]), min_size=1, max_size=4))
    n_rows = draw(st.integers(20, 80))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    odd = draw(st.sampled_from([0.0, 0.05, 0.4]))
    table = written_table([*kinds, "words"], n_rows, rng, odd=odd)
    names = [*draw(st.permutations(NAMES))[: len(kinds)], "group"]
    columns = dict(zip(names, table.columns.values(), strict=True))
    sign = draw(st.sampled_from([*SIGNS.values()]))
    model = draw(st.sampled_from(["nb", "tan", "hnb"]))
    file = draw(st.sampled_from([*WRITERS]))
    return WrittenTable(columns, table.labels), sign, model, file


def cells_of(path: Path, form: FormatOptions) -> dict[str, list[str]]:
    """The texts of a file's cells."""
    cells = pa.Table.from_batches(list(read_batches(str(path), form))).to_pydict()
    return {name: [text or "" for text in texts] for name, texts in cells.items()}


def check_same_file(
    table: WrittenTable, sign: str, model: str, name: str, folder: Path
) -> None:
    """Fit a model to a file, and hand the file to every command."""
    data, fitted = folder / name, folder / "m.json"
    file = WRITERS[name](table, sign, data)
    known = ("--target", file.target, *file.options)
    run("fit", data, *known, "--model", model, "-o", fitted)
    before = cells_of(data, file.form)
    scored, full = folder / "scored.csv", folder / "full.csv"
    run("predict", fitted, data, "-o", scored, *file.options)
    after = cells_of(scored, file.written)
    for column, texts in before.items():
        assert after[column] == texts, column
    run("impute", fitted, data, "-o", full, *file.options)
    after = cells_of(full, file.written)
    meaning = dict(zip(before, table.columns.values(), strict=False))
    for column, texts in before.items():
        for old, new in zip(texts, after[column], strict=True):
            # Only cells without a value are filled in.
            lacks = column in meaning and _is_missing(meaning[column], old)
            assert old == new or lacks, (column, old, new)
    words = {...: data, None: fitted, "group": file.group, "class": file.target}
    for command in COMMANDS:
        run(*[words.get(word, word) for word in command], *file.options)
    counts = ("--like", fitted, "-o", folder / "t.counts", *file.options)
    run("counts", data, *counts)
    run("explore", fitted, "--rows", data, "-o", folder / "page.html", *file.options)


def _is_missing(column: WrittenColumn, text: str) -> bool:
    """Whether a text stands for no value in a column."""
    return dict(zip(column.texts, column.values, strict=True)).get(text) is None


QUIET = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@for_all(written(), few=4, many=100, quiet=QUIET)
def test_no_command_refuses_or_changes_the_file_of_a_fit(
    case: tuple[WrittenTable, str, str, str],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_same_file(*case, Path(folder))
