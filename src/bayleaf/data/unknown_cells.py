"""Cells of a table whose values training did not contain."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from bayleaf.data.tables.columns import Name
from bayleaf.wording import counted, quoted, shown_name


@dataclass(frozen=True)
class UnknownCells:
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
    """

    name: Name
    number: int
    value: Hashable
    row: int
    has_numbers: bool = False
    outcome: str = "taken as missing"

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
