"""A table's codes in a file, column after column, read in blocks of rows."""

from __future__ import annotations

import json
import math
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.files import replace_file
from bayleaf.results.result import Shown
from bayleaf.typing import JSONObject
from bayleaf.wording import brief, counted, shown_name

_MAGIC = b"bayleaf codes 1\n"
_TAIL_BYTES = 8
_MOST_FOOTER_BYTES = 1 << 28
# Rows of a block, which with a few dozen columns stays within a processor's cache.
BLOCK_ROWS = 1 << 18
_WRITTEN_BYTES = 1 << 22
_CHECKING_THREADS = 4


@dataclass(frozen=True, eq=False)
class CodeStore(Shown):
    """A file of codes: one variable after the other, then the weights.

    A byte a cell for variables of at most 255 states, two for others. A checksum of
    each column stands in the file's footer, and is compared when the column is first
    read to its end.

    Parameters
    ----------
    path : Path
        The file.
    cards : tuple of int
        Number of states of each variable.
    n_rows : int
        Number of rows.
    checksums : tuple of int
        CRC-32 of each column, and of the weights where there are any.
    has_missing : tuple of bool
        Whether a cell of each variable is missing.
    unit_weights : bool
        Whether every row counts once, so that no weights are stored.
    about : dict
        What else the writer noted, as JSON holds it.
    """

    path: Path
    cards: tuple[int, ...]
    n_rows: int
    checksums: tuple[int, ...]
    has_missing: tuple[bool, ...]
    unit_weights: bool
    about: JSONObject = field(default_factory=dict)
    # Keeps a temporary folder as long as the store.
    keeps: object = None
    _checked: set[int] = field(default_factory=set, init=False)
    _lock: Any = field(default_factory=threading.Lock, init=False)

    @classmethod
    def open(cls, path: str | Path) -> CodeStore:
        """Open a finished store.

        Raises
        ------
        ValueError
            If the file is no whole store.
        OSError
            If it cannot be read.
        """
        path = Path(path)
        size = path.stat().st_size
        with path.open("rb") as file:
            content = _footer(file, size, path)
        try:
            store = cls(
                path,
                tuple(_whole(c, 0, Codes.MAX_STATES) for c in content["cards"]),
                _whole(content["n_rows"], 0, 1 << 48),
                tuple(_whole(c, 0, 1 << 32) for c in content["checksums"]),
                tuple(bool(m) for m in content["has_missing"]),
                bool(content["unit_weights"]),
                dict(content["about"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"its footer cannot be used ({error})") from error
        n_columns = len(store.cards) + (not store.unit_weights)
        fits = len(store.has_missing) == len(store.cards)
        if not fits or len(store.checksums) != n_columns:
            raise _damaged(path, "its footer cannot be used")
        if size < len(_MAGIC) + store._start(len(store.cards) + 1):
            raise _damaged(path, "it is shorter than its columns")
        return store

    def _start(self, column: int) -> int:
        """Where a column begins, counted from the end of the file's first line."""
        return sum(self._sizes()[:column]) * self.n_rows

    def _sizes(self) -> list[int]:
        """Bytes per cell of each column."""
        sizes = [1 if card <= NARROW_STATES else 2 for card in self.cards]
        return sizes if self.unit_weights else [*sizes, 8]

    def blocks(self, rows: int = BLOCK_ROWS) -> list[range]:
        """The stretches of rows that are read at a time."""
        return [
            range(first, min(first + rows, self.n_rows))
            for first in range(0, self.n_rows, rows)
        ]

    def read(self, rows: range) -> Codes:
        """The codes of a stretch of rows.

        Raises
        ------
        ValueError
            If a column is not what was written.
        """
        self._check_columns()
        weights = None
        if not self.unit_weights:
            weights = np.empty(len(rows))
            self._read_into(len(self.cards), rows, weights)
        codes = Codes.empty(self.cards, len(rows), weights)
        for column in range(len(self.cards)):
            self._read_into(column, rows, codes.column(column))
        return codes

    def _place(self, column: int) -> tuple[Path, int]:
        """The file of a column, and where it begins there."""
        return self.path, len(_MAGIC) + self._start(column)

    def _read_into(self, column: int, rows: range, into: Any) -> None:
        """Read a stretch of one column."""
        path, start = self._place(column)
        with path.open("rb", buffering=0) as file:
            file.seek(start + rows.start * into.itemsize)
            if file.readinto(memoryview(into).cast("B")) != into.nbytes:
                raise _damaged(path, "it is shorter than its columns")

    def _check_columns(self) -> None:
        """Compare all checksums, once."""
        with self._lock:
            if self._checked:
                return
            with ThreadPoolExecutor(_CHECKING_THREADS) as pool:
                found = list(pool.map(self._checksum, range(len(self.checksums))))
            pairs = enumerate(zip(found, self.checksums, strict=True))
            changed = [column for column, (one, other) in pairs if one != other]
            if changed:
                raise _damaged(self.path, f"column {changed[0]} was changed")
            self._checked.add(1)

    def _checksum(self, column: int) -> int:
        """CRC-32 of a column."""
        start, end = self._start(column), self._start(column + 1)
        found = 0
        with self.path.open("rb", buffering=0) as file:
            file.seek(len(_MAGIC) + start)
            left = end - start
            while left:
                piece = file.read(min(left, _WRITTEN_BYTES))
                if not piece:
                    break
                found = zlib.crc32(piece, found)
                left -= len(piece)
        return found

    def __repr__(self) -> str:
        table = f"{counted(self.n_rows, 'row')} of {len(self.cards)} variables"
        return brief(self, table, str(self.path))


class StoreWriter:
    """Writes a store, column after column; the file appears when all is written.

    `path` is a file in the folder of the one to write, on the same disk.
    """

    def __init__(
        self, path: Path, cards: Sequence[int], n_rows: int, *, has_weights: bool
    ) -> None:
        n_columns = len(cards) + has_weights
        self._path = path
        self._has_missing = [False] * len(cards)
        self._store = CodeStore(
            path, tuple(cards), n_rows, (0,) * n_columns, (), not has_weights
        )
        self._checksums = [0] * n_columns
        with path.open("wb") as file:
            file.write(_MAGIC)
            file.truncate(len(_MAGIC) + self._store._start(n_columns))

    def write(self, column: int, pieces: Iterator[NDArray[Any]]) -> None:
        """Write a column, piece by piece; threads may write several side by side."""
        cards = self._store.cards
        card = cards[column] if column < len(cards) else None
        kind: Any = np.float64
        if card is not None:
            kind = np.uint8 if card <= NARROW_STATES else np.uint16
        found, has_missing = 0, False
        with self._path.open("r+b") as file:
            file.seek(len(_MAGIC) + self._store._start(column))
            for piece in pieces:
                own: Any = np.ascontiguousarray(piece, kind)
                if card is not None and own.size:
                    has_missing |= bool(own.max() == card)
                found = zlib.crc32(memoryview(own).cast("B"), found)
                file.write(memoryview(own).cast("B"))
        self._checksums[column] = found
        if card is not None:
            self._has_missing[column] = has_missing

    def finish(self, target: Path, about: dict[str, Any]) -> CodeStore:
        """Add the footer, and give the file its name."""
        footer = json.dumps(
            {
                "cards": self._store.cards,
                "n_rows": self._store.n_rows,
                "checksums": self._checksums,
                "has_missing": self._has_missing,
                "unit_weights": self._store.unit_weights,
                "about": about,
            }
        ).encode()
        with self._path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(footer)
            file.write(zlib.crc32(footer).to_bytes(4, "little"))
            file.write(len(footer).to_bytes(_TAIL_BYTES, "little"))
            file.write(_MAGIC)
            with suppress(OSError):
                os.fsync(file.fileno())
        replace_file(self._path, target)
        store = CodeStore.open(target)
        # What was written a moment ago need not be read to compare it.
        store._checked.add(1)
        return store


def _footer(file: Any, size: int, path: Path) -> dict[str, Any]:
    """What stands at the end of a store."""
    tail = _TAIL_BYTES + 4 + len(_MAGIC)
    if file.read(len(_MAGIC)) != _MAGIC or size < tail + len(_MAGIC):
        raise ValueError(f"{shown_name(path.name)} is no file of codes")
    file.seek(size - tail)
    end = file.read(tail)
    n_bytes = int.from_bytes(end[4 : 4 + _TAIL_BYTES], "little")
    if end[4 + _TAIL_BYTES :] != _MAGIC or n_bytes > min(size, _MOST_FOOTER_BYTES):
        raise _damaged(path, "its end is missing")
    file.seek(size - tail - n_bytes)
    footer = file.read(n_bytes)
    if zlib.crc32(footer) != int.from_bytes(end[:4], "little"):
        raise _damaged(path, "its footer was changed")
    content = json.loads(footer)
    if not isinstance(content, dict):
        raise _damaged(path, "its footer cannot be used")
    return content


def _whole(value: Any, low: int, high: int) -> int:
    """An integer in a range."""
    if type(value) is not int or not low <= value <= high or math.isnan(value):
        raise ValueError(f"{value!r} is no number from {low} to {high}")
    return value


def _damaged(path: Path, why: str) -> ValueError:
    """The error for a store that is not as it was written."""
    return ValueError(
        f"the file of codes {shown_name(path.name)} is damaged: {why}; delete it and "
        "read the table again"
    )
