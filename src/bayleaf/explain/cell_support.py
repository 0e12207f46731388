"""How many training rows stand behind the table cells that a row uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.models.class_model import ClassModel
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.results.result import Record
from bayleaf.wording import brief, stated

Given = tuple[tuple[str | int, str], ...]

# Rows below which a distribution is told to rest on little.
FEW_ROWS = 5.0


@dataclass(frozen=True)
class CellSupport(Record, keys={"is_rare": "rare"}, computed=("is_rare",)):
    """The training rows behind one distribution that a row uses.

    Parameters
    ----------
    feature : str or int
        Whose distribution it is.
    value : str
        Its state in the row.
    given : tuple of (str or int, str)
        What the distribution is conditioned on, the class included.
    rows : float
        Weight of the training rows behind the distribution, before smoothing.
    """

    feature: str | int
    value: str
    given: Given
    rows: float

    @property
    def is_rare(self) -> bool:
        """Whether fewer than five rows stand behind it."""
        return self.rows < FEW_ROWS

    def to_dict(self) -> dict[str, Any]:
        """The support as plain values, ready for JSON."""
        return super().to_dict() | {"given": {str(n): state for n, state in self.given}}

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        given = ", ".join(stated(name, state) for name, state in self.given)
        condition = f" given {given}" if given else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows:.4g} rows"
        return f"{stated(self.feature, self.value)}{condition}: {rows}"


def cells_behind(
    model: ClassModel,
    support: SupportCounts,
    codes: Codes,
    classes: NDArray[np.intp],
) -> list[tuple[CellSupport, ...]]:
    """Rows behind the cells that rows use under `classes`, shape (n_rows, n_shown).

    Cells by feature, then class. Where a feature is in several tables: for averages the
    one with the fewest rows, for mixtures that of the row's most likely component or
    expert.
    """
    found: list[list[CellSupport]] = [[] for _ in range(codes.n_rows)]
    for fact, given, rows in model.used_cells(codes, support):
        for row, label in np.ndindex(classes.shape):
            chosen = int(classes[row, label])
            weight = float(rows[row, chosen])
            if np.isfinite(weight):
                cell = CellSupport(*fact(row, chosen), given(row, chosen), weight)
                found[row].append(cell)
    return [tuple(cells) for cells in found]
