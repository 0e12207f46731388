"""The rows of a table as small integers: one code per cell, one weight per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.data import domain
from bayleaf.results.result import Shown
from bayleaf.wording import brief, brief_names, counted

Block = NDArray[np.uint8] | NDArray[np.uint16]

NARROW_STATES = 255


@dataclass(frozen=True)
class Codes(Shown):
    """Integer codes of all cells, variables along the first axis.

    A variable with ``n`` states uses the codes ``0 .. n-1``, and ``n`` for a missing
    cell. Variables with at most 255 states take one byte per cell, wider ones two.
    """

    MAX_STATES: ClassVar[int] = domain.MAX_STATES

    narrow: NDArray[np.uint8]  # (n_narrow, n_rows), C-contiguous
    wide: NDArray[np.uint16]  # (n_wide, n_rows), C-contiguous
    slots: tuple[int, ...]  # s >= 0 is row s of narrow, s < 0 row -s - 1 of wide
    cards: tuple[int, ...]  # numbers of states, at most 65 535
    weights: NDArray[np.float64]  # (n_rows,), non-negative
    unit_weights: bool  # every weight is 1, so that counts may be integers

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[NDArray[np.integer[Any]]],
        cards: Sequence[int],
        weights: NDArray[np.float64] | None = None,
        *,
        room: NDArray[np.uint8] | None = None,
    ) -> Codes:
        """Stack one integer array of codes per variable.

        Columns that stand in `room` already, each in the row of its own place, stay
        there, and the others are written into the rows that are left.
        """
        if room is not None and _fits(room, columns, cards):
            for place, column in enumerate(columns):
                if column.base is not room:
                    room[place] = column
            slots = range(len(columns))
            no_wide = np.empty((0, room.shape[1]), dtype=np.uint16)
            return cls.from_blocks(room[: len(columns)], no_wide, slots, cards, weights)
        n_rows = len(columns[0]) if columns else len(() if weights is None else weights)
        codes = cls.empty(cards, n_rows, weights)
        for index, column in zip(range(len(cards)), columns):
            codes.column(index)[:] = column
        return codes

    @classmethod
    def empty(
        cls,
        cards: Sequence[int],
        n_rows: int,
        weights: NDArray[np.float64] | None = None,
    ) -> Codes:
        """Codes whose columns are still to be written."""
        slots: list[int] = []
        n_wide = 0
        for index, card in enumerate(cards):
            n_wide += card > NARROW_STATES
            slots.append(-n_wide if card > NARROW_STATES else index - n_wide)
        narrow = np.empty((len(cards) - n_wide, n_rows), dtype=np.uint8)
        wide = np.empty((n_wide, n_rows), dtype=np.uint16)
        return cls.from_blocks(narrow, wide, slots, cards, weights)

    @classmethod
    def from_blocks(
        cls,
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
        slots: Sequence[int],
        cards: Sequence[int],
        weights: NDArray[np.float64] | None = None,
    ) -> Codes:
        """Wrap blocks that are laid out already; no weights means one a row."""
        n_rows = narrow.shape[1] if narrow.size or not wide.size else wide.shape[1]
        if weights is None:
            # A broadcast one costs no memory, however many rows there are.
            weights = np.broadcast_to(np.float64(1.0), (n_rows,))
            unit = True
        else:
            unit = bool((weights == 1.0).all())
        return cls(narrow, wide, tuple(slots), tuple(cards), weights, unit)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.slots)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weights)

    def column(self, index: int) -> Block:
        """Codes of one variable, shape (n_rows,), a view."""
        slot = self.slots[index]
        block: Block = self.narrow[slot] if slot >= 0 else self.wide[-slot - 1]
        return block

    def columns(
        self, indices: Sequence[int] | NDArray[np.int64], rows: slice = slice(None)
    ) -> NDArray[np.uint16]:
        """Codes of some variables in some rows, shape (n_indices, n_rows), a copy."""
        slots = np.array(self.slots, dtype=np.int64)[np.asarray(indices, dtype=int)]
        result = np.empty((len(slots), len(self.weights[rows])), dtype=np.uint16)
        is_narrow = slots >= 0
        result[is_narrow] = self.narrow[slots[is_narrow], rows]
        result[~is_narrow] = self.wide[-slots[~is_narrow] - 1, rows]
        return result

    def missing(self, index: int) -> NDArray[np.bool_]:
        """Which rows miss this variable, shape (n_rows,)."""
        return np.asarray(self.column(index) == self.cards[index])

    def rows(self, selection: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Codes:
        """Codes of some rows only."""
        return Codes.from_blocks(
            np.ascontiguousarray(self.narrow[:, selection]),
            np.ascontiguousarray(self.wide[:, selection]),
            self.slots,
            self.cards,
            None if self.unit_weights else self.weights[selection],
        )

    def without_last(self) -> Codes:
        """The same rows and weights without the last variable."""
        columns = [self.column(i) for i in range(self.n_variables - 1)]
        return Codes.from_columns(columns, self.cards[:-1], self.weights)

    def with_column(
        self,
        column: NDArray[np.integer[Any]],
        card: int,
        weights: NDArray[np.float64] | None = None,
    ) -> Codes:
        """The same rows with one more variable at the end, and other weights."""
        columns = [self.column(i) for i in range(self.n_variables)]
        return Codes.from_columns([*columns, column], (*self.cards, card), weights)

    def replaced(self, index: int, column: NDArray[np.integer[Any]]) -> Codes:
        """The same rows and weights with other codes of one variable."""
        columns: list[NDArray[np.integer[Any]]] = [
            column if i == index else self.column(i) for i in range(self.n_variables)
        ]
        weights = None if self.unit_weights else self.weights
        return Codes.from_columns(columns, self.cards, weights)

    def __repr__(self) -> str:
        table = f"{counted(self.n_rows, 'row')} of {self.n_variables} variables"
        return brief(self, table, f"numbers of states {brief_names(self.cards)}")


def _fits(
    room: NDArray[np.uint8],
    columns: Sequence[NDArray[np.integer[Any]]],
    cards: Sequence[int],
) -> bool:
    """Whether columns may share a block: none is wide, those in it stand in place."""
    if len(room) < len(columns) or max(cards, default=0) > NARROW_STATES:
        return False
    start, step = room.ctypes.data, room.strides[0]
    return all(
        column.base is not room or column.ctypes.data == start + place * step
        for place, column in enumerate(columns)
    )
