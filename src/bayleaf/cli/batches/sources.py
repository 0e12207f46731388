"""Paths, globs and folders on the command line as tables in batches."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bayleaf.counts.source import MOST_ROWS
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.cli.file_format import FileFormat
    from bayleaf.streams.sources import ArrowSource

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# What a row in memory takes beside its codes, and the share of memory that rows get:
# what is learned of them takes several times as much.
_BYTES_A_ROW, _SHARE = 8, 8
_LEAST_ROWS = 10_000


def is_many_files(data: str) -> bool:
    """Whether a name is a folder or a glob, and so a table in several files."""
    if os.path.isdir(data):
        return True
    return any(sign in data for sign in "*?[") and not os.path.exists(data)


def batches_of(
    data: str, form: FileFormat | None = None, drop: Sequence[str] = ()
) -> ArrowSource:
    """A table in batches.

    Parameters
    ----------
    data : str
        Path, glob or folder of Parquet or CSV files.
    form : FileFormat, optional
        How CSV files are read.
    drop : sequence of str, default=()
        Columns to leave out.

    Raises
    ------
    OSError, ValueError
        If it cannot be read, or lacks a column to leave out.
    """
    from bayleaf.cli.tables import read_batches, select_columns
    from bayleaf.streams.sources import open_source

    if data == "-":
        raise ValueError("standard input cannot be read in batches; name a file")
    source = open_source(data, partial(read_batches, form=form))
    if drop:
        select_columns(source.schema.empty_table(), drop, data)
        source = source.without(drop)
    return source


def rows_within(memory: str | None, n_columns: int) -> int:
    """How many rows those learners get that need rows.

    Parameters
    ----------
    memory : str or None
        About how much memory may be used, such as 2GB.
    n_columns : int
        Number of columns.

    Raises
    ------
    ValueError
        If it is no size.
    """
    if memory is None:
        return MOST_ROWS
    found = _SIZE.fullmatch(memory)
    if found is None:
        raise ValueError(f"--memory must be a size such as 2GB, got {quoted(memory)}")
    unit = 1024 if found[3] else 1000
    n_bytes = float(found[1]) * unit ** _POWERS[found[2].lower()]
    rows = n_bytes / _SHARE / (n_columns + _BYTES_A_ROW)
    return max(_LEAST_ROWS, min(int(rows), 1 << 31))
