"""Codes that nobody keeps: each column where the table's cells were written down.

A file of all columns would have to be written a second time, which takes longer than
looking the codes up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks
from bayleaf.data.code_store import CodeStore
from bayleaf.data.codes import NARROW_STATES
from bayleaf.streams.spool import Spool, ValueSpool


@dataclass(frozen=True, eq=False)
class ColumnFiles(CodeStore):
    """A file of codes per column, as long as this process needs them."""

    files: tuple[Path, ...] = ()  # by variable, then the weights', if any

    def _place(self, column: int) -> tuple[Path, int]:
        """The file of a column, and where it begins there."""
        return self.files[column], 0

    def _check_columns(self) -> None:
        """Nothing: this process wrote them a moment ago."""


class CodedColumn(NamedTuple):
    """The codes of a variable on their way into a file."""

    pieces: Iterator[NDArray[Any]]  # parts in order, each read when requested
    spool: Spool | None  # which only these codes are made of


def column_files(
    folder: Path,
    cards: Sequence[int],
    n_rows: int,
    columns: Sequence[CodedColumn],
    n_jobs: int,
) -> ColumnFiles:
    """Write codes over the cells that they are made of, or into files next to them.

    `columns` are those of the variables, then of the weights where there are any.
    """
    kinds: list[np.dtype[Any]] = [
        np.dtype("u1" if c <= NARROW_STATES else "u2") for c in cards
    ]
    kinds += [np.dtype("f8")] * (len(columns) - len(cards))
    most = [*cards, *[0] * (len(columns) - len(cards))]
    places = range(len(columns))
    found = run_tasks(
        [
            partial(_written, folder / f"{p}.codes", columns[p], kinds[p], most[p])
            for p in places
        ],
        n_jobs,
    )
    return ColumnFiles(
        folder,
        tuple(cards),
        n_rows,
        (0,) * len(columns),
        tuple(has_missing for _, has_missing in found[: len(cards)]),
        len(columns) == len(cards),
        files=tuple(path for path, _ in found),
    )


def _written(
    path: Path, column: CodedColumn, kind: np.dtype[Any], card: int
) -> tuple[Path, bool]:
    """Write a column; its file, and whether one of its cells is missing."""
    spool = column.spool
    if isinstance(spool, ValueSpool) and spool.width == kind.itemsize:
        spool.close()
        path, is_new = spool.cell_file, False
    else:
        path.touch()
        is_new = True
    has_missing = False
    with path.open("r+b") as file:
        for piece in column.pieces:
            own: Any = np.ascontiguousarray(piece, kind)
            has_missing = has_missing or bool(own.size and own.max() == card)
            file.write(memoryview(own).cast("B"))
    if is_new and spool is not None:
        spool.discard()
    return path, has_missing
