"""A file that a model was fitted to is read by every command, and keeps its cells."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayleaf.cli.table_reading import read_batches
from contract.reading_ways import SIGNS, run
from contract.written_tables import MAKERS, WrittenTable, written_table

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


@st.composite
def written(draw: Any) -> tuple[WrittenTable, str, str]:
    """A table of columns of any kinds, its separator and a model."""
    kinds = draw(st.lists(st.sampled_from([*MAKERS]), min_size=1, max_size=4))
    n_rows = draw(st.integers(20, 80))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    odd = draw(st.sampled_from([0.0, 0.05, 0.4]))
    table = written_table([*kinds, "words"], n_rows, rng, odd=odd)
    names = [*draw(st.permutations(NAMES))[: len(kinds)], "group"]
    columns = dict(zip(names, table.columns.values(), strict=True))
    sign = draw(st.sampled_from([*SIGNS.values()]))
    model = draw(st.sampled_from(["nb", "tan", "hnb"]))
    return WrittenTable(columns, table.labels), sign, model


def cells_of(path: Path) -> pa.Table:
    """The texts of a file's cells."""
    return pa.Table.from_batches(list(read_batches(str(path))))


def check_same_file(table: WrittenTable, sign: str, model: str, folder: Path) -> None:
    """Fit a model to a file, and hand the file to every command."""
    data, fitted = folder / "t.csv", folder / "m.json"
    data.write_text(table.csv(sign), "utf-8", newline="")
    run("fit", data, "--target", "class", "--model", model, "-o", fitted)
    before = cells_of(data)
    scored, full = folder / "scored.csv", folder / "full.csv"
    run("predict", fitted, data, "-o", scored)
    assert cells_of(scored).select(before.column_names).equals(before)
    run("impute", fitted, data, "-o", full)
    after = cells_of(full)
    for name in before.column_names:
        pairs = zip(
            before.column(name).to_pylist(), after.column(name).to_pylist(), strict=True
        )
        for old, new in pairs:
            # Only cells without a value are filled in.
            assert old == new or _is_missing(table, name, old), (name, old, new)
    for words in COMMANDS:
        run(*[{...: data, None: fitted}.get(word, word) for word in words])
    run("counts", data, "--like", fitted, "-o", folder / "t.counts")
    run("explore", fitted, "--rows", data, "-o", folder / "page.html")


def _is_missing(table: WrittenTable, name: str, text: str | None) -> bool:
    """Whether a text stands for no value in a column."""
    if name == "class":
        return False
    column = table.columns[name]
    meaning = dict(zip(column.texts, column.values, strict=True))
    return meaning[text or ""] is None


def _check(case: tuple[WrittenTable, str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_same_file(*case, Path(folder))


QUIET = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@settings(QUIET, max_examples=8)
@given(written())
def test_no_command_refuses_or_changes_the_file_of_a_fit(
    case: tuple[WrittenTable, str, str],
) -> None:
    _check(case)


@pytest.mark.slow
@pytest.mark.long
@settings(QUIET, max_examples=100)
@given(written())
def test_no_command_refuses_or_changes_many_files(
    case: tuple[WrittenTable, str, str],
) -> None:
    _check(case)
