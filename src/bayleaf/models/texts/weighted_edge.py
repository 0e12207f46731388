"""An arc by the names of its ends, with a weight."""

from __future__ import annotations

from typing import Self


class WeightedEdge(tuple[str | int, str | int]):
    """An arc (parent, child) and the weight of the terms that look at it.

    Parameters
    ----------
    parent, child : str or int
        Names of the variables.
    weight : float
        Total weight, over depths and networks, of the child's terms that look at
        the parent.
    """

    weight: float

    def __new__(cls, parent: str | int, child: str | int, weight: float) -> Self:
        """Build the pair and keep the weight beside it."""
        edge = super().__new__(cls, (parent, child))
        edge.weight = weight
        return edge

    def __getnewargs__(self) -> tuple[str | int, str | int, float]:
        return (*self, self.weight)

    def __repr__(self) -> str:
        return f"({self[0]!r}, {self[1]!r}, weight={self.weight:.3g})"
