"""What an attacker makes of rounded partitions: integer programmes on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# A partition: which of its cells each cell of the joint table belongs to, and the
# numbers of rows that were published of its cells.
Partition = tuple[np.ndarray, np.ndarray]

_MOST_ROWS = 1000


class Attack:
    """Everything that is published, and a belief on errors.

    Parameters
    ----------
    n_rows : int or None
        Number of rows, if the attacker knows it.
    partitions : sequence of Partition
        What is published; no cell without rows is published with any.
    error : int or None
        The most by which the attacker takes a published number, or a sum of those of
        consecutive cells, to be off; None to take nothing for granted.
    """

    def __init__(
        self,
        n_rows: int | None,
        partitions: Sequence[Partition],
        error: int | None,
    ) -> None:
        n_joint, most = len(partitions[0][0]), _MOST_ROWS
        rows = [np.ones(n_joint)]
        low, high = ([0], [most]) if n_rows is None else ([n_rows], [n_rows])
        for cell_of, published in partitions:
            for first in range(len(published)):
                rows.append((cell_of == first) * 1.0)
                low.append(int(published[first] > 0))
                high.append(most)
                for last in range(first, len(published)) if error is not None else ():
                    told = int(published[first : last + 1].sum())
                    rows.append(((cell_of >= first) & (cell_of <= last)) * 1.0)
                    low.append(max(told - error, 0))
                    high.append(told + error)
        self.constraints = [LinearConstraint(np.array(rows), low, high)]
        self.bounds = Bounds(np.zeros(n_joint), np.full(n_joint, most))

    def know_sum(self, cells: np.ndarray, total: int) -> None:
        """The attacker knows how many rows are in some joint cells together."""
        self.know_between(cells, total, total)

    def know_between(self, cells: np.ndarray, low: float, high: float) -> None:
        """The attacker knows bounds of the rows in some joint cells together."""
        known = LinearConstraint(cells.astype(float)[None], low, high)
        self.constraints.append(known)

    def range_of(self, cells: np.ndarray) -> tuple[int, int] | None:
        """Least and largest number of rows in some joint cells; None if impossible."""
        goal = cells.astype(float)
        found = [self._best(goal), self._best(-goal)]
        return None if None in found else (found[0], -found[1])

    def _best(self, goal: np.ndarray) -> int | None:
        found = milp(
            goal,
            constraints=self.constraints,
            bounds=self.bounds,
            integrality=np.ones(len(goal)),
        )
        return round(found.fun) if found.success else None


def recovered(
    attack: Attack, joint: np.ndarray, groups: Iterable[np.ndarray], limit: int
) -> list[int]:
    """Numbers of rows from 1 to below a limit that the attacker finds, and rightly."""
    found = []
    for cells in groups:
        count = int(joint[cells].sum())
        if 0 < count < limit:
            limits = attack.range_of(cells)
            if limits is None:
                # What the attacker takes for granted is wrong.
                return found
            if limits == (count, count):
                found.append(count)
    return found
