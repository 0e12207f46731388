"""Paths, globs and folders on the command line as tables in batches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayleaf.cli.file_format import FileFormat
    from bayleaf.streams.batch_sources import ArrowSource


def is_many_files(data: str) -> bool:
    """Whether a name is a folder or a glob, and so a table in several files."""
    if os.path.isdir(data):
        return True
    return any(sign in data for sign in "*?[") and not os.path.exists(data)


def batches_of(
    data: str, form: FileFormat | None = None, drop: Sequence[str] = ()
) -> ArrowSource:
    """A table of Parquet or CSV files (path, glob or folder) in batches, less `drop`.

    OSError or ValueError if it cannot be read, or lacks a column to leave out.
    """
    from bayleaf.cli.tables import read_batches, select_columns
    from bayleaf.streams.batch_sources import open_source

    if data == "-":
        raise ValueError("standard input cannot be read in batches; name a file")
    source = open_source(data, partial(read_batches, form=form))
    if drop:
        select_columns(source.schema.empty_table(), drop, data)
        source = source.without(drop)
    return source
