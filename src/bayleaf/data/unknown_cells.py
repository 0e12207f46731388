"""Cells of a table whose values training did not contain."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Collection, Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayleaf.progress import caller_level
from bayleaf.results.result import Shown
from bayleaf.wording import counted, quoted, shown_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayleaf.data.tables.columns import Name

# Columns that a warning names.
_MAX_NAMED = 10
_are_reported: ContextVar[bool] = ContextVar("are_reported", default=False)


def _no_rows() -> NDArray[np.intp]:
    # The command's help imports this file, and not NumPy.
    import numpy as np

    return np.empty(0, dtype=np.intp)


class UnknownValuesWarning(UserWarning):
    """Cells hold values not seen in training, and were taken as missing."""


@contextlib.contextmanager
def reported_elsewhere() -> Iterator[None]:
    """Do not warn in a block whose result contains the unknown values."""
    former = _are_reported.set(True)
    try:
        yield
    finally:
        _are_reported.reset(former)


def warn_of(unknown: Collection[UnknownCells]) -> None:
    """Warn once of the unknown values of a table, by column."""
    if not unknown or _are_reported.get():
        return
    columns = [
        f"{shown_name(cells.name)} ({cells.number:,}, such as {quoted(cells.value)}, "
        f"{cells.outcome})"
        for cells in unknown
    ]
    if len(columns) > _MAX_NAMED:
        n_more = counted(len(columns) - _MAX_NAMED, "more column")
        columns = [*columns[:_MAX_NAMED], f"and {n_more}"]
    number = sum(cells.number for cells in unknown)
    hold = "holds a value" if number == 1 else "hold values"
    warnings.warn(
        f"{counted(number, 'cell')} {hold} not seen in training: {', '.join(columns)}",
        UnknownValuesWarning,
        stacklevel=caller_level(),
    )


@dataclass(frozen=True)
class UnknownCells(Shown):
    """Cells of a column whose values training did not contain.

    Parameters
    ----------
    name : str or int
        Name of the column.
    number : int
        How many cells there are.
    value : str, int, float or bool
        Value of the first one.
    row : int
        Its row, counted from 0.
    has_numbers : bool, default=False
        Whether the value is a number and training took the few integers of the column
        as categories.
    outcome : str, default="taken as missing"
        How the cells were handled.
    rows : ndarray of shape (number,)
        Rows of all cells of a table in memory, increasing.
    """

    name: Name
    number: int
    value: Hashable
    row: int
    has_numbers: bool = False
    outcome: str = "taken as missing"
    rows: NDArray[np.intp] = field(default_factory=_no_rows, compare=False, repr=False)

    def sentence(self, where: str, option: str = "--ordered") -> str:
        """What is unknown, with the position of the first cell."""
        cells = counted(self.number, "cell")
        verb = "holds a value" if self.number == 1 else "hold values"
        was = "was" if self.number == 1 else "were"
        text = (
            f"column {shown_name(self.name)}: {cells} {verb} not seen in training, "
            f"such as {quoted(self.value)} in {where}, and {was} {self.outcome}"
        )
        if self.has_numbers:
            text += (
                "; training took its few integers as categories, so that fitting with "
                f"{option} and all values in their order includes later ones"
            )
        return text

    def __str__(self) -> str:
        return self.sentence(f"row {self.row}", option="ordered_features")
