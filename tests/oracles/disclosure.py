"""What an attacker makes of rounded partitions: integer programmes on all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# A partition: which of its cells each cell of the joint table belongs to, the number of
# its cells, what was published, and which offset (of those unknown) it was rounded by.
Partition = tuple[np.ndarray, int, np.ndarray, int]


class Attack:
    """Everything an attacker knows: the number of rows, the base, and how it works."""

    def __init__(
        self,
        n_rows: int | None,
        base: int,
        n_joint: int,
        partitions: Sequence[Partition],
    ) -> None:
        n_offsets = 1 + max(partition[3] for partition in partitions)
        self.n_joint, self.n_variables = n_joint, n_joint + n_offsets
        rows, low, high = [], [], []
        for cell_of, n_cells, published, offset in partitions:
            ends = np.cumsum(published) // base
            for cell in range(n_cells):
                row = np.zeros(self.n_variables)
                row[:n_joint] = cell_of <= cell
                row[n_joint + offset] = 1.0
                rows.append(row)
                low.append(base * ends[cell])
                high.append(base * ends[cell] + base - 1)
        rows.append(np.append(np.ones(n_joint), np.zeros(n_offsets)))
        low.append(n_rows)
        high.append(n_rows)
        self.constraint = LinearConstraint(np.array(rows), low, high)
        upper = np.append(np.full(n_joint, np.inf), np.full(n_offsets, base - 1))
        self.bounds = Bounds(np.zeros(self.n_variables), upper)

    def range_of(self, cells: np.ndarray) -> tuple[int, int]:
        """Least and largest number of rows in some joint cells together."""
        goal = np.append(cells.astype(float), np.zeros(self.n_variables - self.n_joint))
        return self._best(goal), -self._best(-goal)

    def _best(self, goal: np.ndarray) -> int:
        found = milp(
            goal,
            constraints=self.constraint,
            bounds=self.bounds,
            integrality=np.ones(self.n_variables),
        )
        assert found.success, found.message
        return round(found.fun)


def recovered(
    attack: Attack, joint: np.ndarray, groups: Iterator[np.ndarray], limit: int
) -> list[int]:
    """Numbers of rows from 1 to below a limit that the attacker knows for certain."""
    found = []
    for cells in groups:
        count = int(joint[cells].sum())
        if 0 < count < limit:
            low, high = attack.range_of(cells)
            assert low <= count <= high
            if low == high:
                found.append(count)
    return found
