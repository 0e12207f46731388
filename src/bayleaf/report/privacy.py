"""Counts that are withheld so that no single person can be found in a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from bayleaf.data.domain import Domain, Variable

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Classes beyond which a table of confusions with withheld cells is left out whole.
_MOST_AUDITED_CLASSES = 8


@dataclass(frozen=True)
class Privacy:
    """What a report may show of single rows.

    Parameters
    ----------
    rows : bool, default=True
        Whether rows of the table may be shown.
    min_count : int, default=1
        Numbers of rows from 1 to one less than this are withheld, and as many others
        as it takes for no sum to give them away. 1 withholds nothing.

    Raises
    ------
    ValueError
        If `min_count` is below 1.
    """

    rows: bool = True
    min_count: int = 1

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise ValueError(f"min_count must be at least 1, got {self.min_count}")

    @property
    def withholds(self) -> bool:
        """Whether small counts are withheld."""
        return self.min_count > 1

    @property
    def shows_rows(self) -> bool:
        """Whether rows are shown; a row is a count of one."""
        return self.rows and not self.withholds

    def small(self, counts: Any) -> Mask:
        """Which counts are too small to be shown; a count of none is not."""
        counts = np.asarray(counts)
        return np.asarray((counts > 0) & (counts < self.min_count))

    def shown(self, count: float) -> float | None:
        """A count that stands alone, or None where it is too small."""
        return None if 0 < count < self.min_count else count


def withheld_parts(counts: Any, privacy: Privacy) -> Mask:
    """Which parts of a known total are withheld, so that none follows from the others.

    At least two parts go, or none, and those that go sum to `min_count` or more: each
    might hold that many rows.

    Parameters
    ----------
    counts : array-like of shape (n_parts,)
        Rows in each part.
    privacy : Privacy
        How small a count may be.

    Returns
    -------
    ndarray of shape (n_parts,), dtype bool

    Examples
    --------
    >>> withheld_parts([3, 40, 9, 0], Privacy(min_count=5)).tolist()
    [True, False, True, False]
    """
    counts = np.asarray(counts)
    hidden = privacy.small(counts)
    if not hidden.any():
        return hidden
    for part in np.argsort(counts, kind="stable"):
        enough = counts[hidden].sum() >= privacy.min_count and hidden.sum() >= 2
        if enough:
            break
        hidden[part] |= counts[part] > 0
    if hidden.sum() < 2 or counts[hidden].sum() < privacy.min_count:
        # There is nothing else to hide behind, not even a part without rows.
        hidden[:] = True
    return hidden


@dataclass(frozen=True)
class SharedConfusions:
    """A table of confusions with what may be shown of it.

    Parameters
    ----------
    hidden : ndarray of shape (n_classes, n_classes), dtype bool
        Cells that are withheld; rows are true, columns predicted classes.
    hidden_totals : ndarray of shape (n_classes,), dtype bool
        True classes whose number of rows is withheld.
    tells_accuracy : bool
        Whether the share of the diagonal may be shown.
    """

    hidden: Mask
    hidden_totals: Mask
    tells_accuracy: bool


def withheld_confusions(table: Counts, privacy: Privacy) -> SharedConfusions:
    """Decide what to withhold of a table of confusions.

    Whoever reads the report knows the number of rows, that of each true class and the
    share of right predictions, unless they are withheld too. Cells are added until no
    small one has, by all these sums, an upper bound below `min_count` (complementary
    suppression; Cox 1980, "Suppression methodology and statistical disclosure
    control").

    Parameters
    ----------
    table : ndarray of shape (n_classes, n_classes)
        Rows by true, then predicted class.
    privacy : Privacy
        How small a count may be.
    """
    n_classes = len(table)
    hidden = privacy.small(table)
    totals = withheld_parts(table.sum(axis=1), privacy)
    right = int(np.trace(table))
    accuracy = not privacy.small([right, int(table.sum()) - right]).any()
    if hidden.any() and n_classes > _MOST_AUDITED_CLASSES:
        return SharedConfusions(np.ones_like(hidden), totals, accuracy)
    # A row whose total is withheld must not be summed up from its cells.
    hidden[totals] = True
    while True:
        exposed = _exposed(table, hidden, totals, accuracy, privacy)
        if exposed is None:
            return SharedConfusions(hidden, totals, accuracy)
        candidate = _next_to_hide(table, hidden, exposed)
        if candidate is not None:
            hidden[candidate] = True
        elif accuracy:
            accuracy = False
        else:
            totals[:] = True
            hidden[:] = True
            return SharedConfusions(hidden, totals, accuracy)


def _next_to_hide(
    table: Counts, hidden: Mask, exposed: tuple[int, int]
) -> tuple[int, int] | None:
    """The smallest cell that is still shown, in the same row before all others."""
    told = [
        (cell[0] != exposed[0], int(table[cell]), cell)
        for cell in np.ndindex(*table.shape)
        if not hidden[cell]
    ]
    return min(told)[2] if told else None


def _exposed(
    table: Counts, hidden: Mask, totals: Mask, accuracy: bool, privacy: Privacy
) -> tuple[int, int] | None:
    """A small cell that the sums told keep below `min_count`, if there is one."""
    cells = [tuple(map(int, cell)) for cell in np.argwhere(hidden)]
    if not cells:
        return None
    known = np.where(hidden, 0, table)
    sums = [([1.0] * len(cells), table.sum() - known.sum())]
    for row in np.flatnonzero(~totals):
        inside = [float(cell[0] == row) for cell in cells]
        sums.append((inside, table[row].sum() - known[row].sum()))
    if accuracy:
        diagonal = [float(cell[0] == cell[1]) for cell in cells]
        sums.append((diagonal, np.trace(table) - np.trace(known)))
    left, right = zip(*sums, strict=True)
    for place, cell in enumerate(cells):
        if privacy.small(table[cell]) and (
            _largest(place, np.array(left), np.array(right)) < privacy.min_count
        ):
            return cell[0], cell[1]
    return None


def _largest(
    place: int, left: NDArray[np.float64], right: NDArray[np.float64]
) -> float:
    """The largest value of one unknown under sums of unknowns, all at least 0."""
    goal = np.zeros(left.shape[1])
    goal[place] = -1.0
    found = linprog(goal, A_eq=left, b_eq=right, bounds=(0, None), method="highs")
    return float(np.floor(-float(found.fun or 0.0) + 1e-6))


def merged_intervals(cells: Counts, privacy: Privacy, fixed: int | None) -> list[int]:
    """Bounds to keep between intervals, so that no cell of what is left is small.

    Parameters
    ----------
    cells : ndarray of shape (n_intervals, n_parts)
        Rows in each interval, told apart into parts that are told too.
    privacy : Privacy
        How small a count may be.
    fixed : int, optional
        A bound to keep: the number of intervals below it. The cells on either side of
        it, summed, must not be small.

    Returns
    -------
    list of int
        Numbers of intervals below each bound that is kept, increasing.
    """
    if fixed is None:
        return _merged(cells, privacy, 0)
    below = _merged(cells[:fixed], privacy, 0)
    above = _merged(cells[fixed:], privacy, fixed)
    return [*below, fixed, *above]


def _merged(cells: Counts, privacy: Privacy, offset: int) -> list[int]:
    """Bounds strictly inside some intervals, counted from an offset."""
    kept: list[int] = []
    start = 0
    for bound in range(1, len(cells)):
        before, after = cells[start:bound].sum(axis=0), cells[bound:].sum(axis=0)
        if not (privacy.small(before).any() or privacy.small(after).any()):
            kept.append(offset + bound)
            start = bound
    return kept


def state_counts(columns: Sequence[NDArray[Any]], domain: Domain) -> list[Counts]:
    """Rows in each state of each variable, missing cells last, (n_states + 1,)."""
    return [
        np.bincount(column, minlength=variable.n_states + 1).astype(np.int64)
        for column, variable in zip(columns, domain, strict=True)
    ]


def masked_domain(domain: Domain, counts: Sequence[Counts], privacy: Privacy) -> Domain:
    """A domain in which the states of few rows have no names.

    Parameters
    ----------
    domain : Domain
        The variables.
    counts : sequence of ndarray of shape (n_states + 1,)
        Rows in each state; fewer than `min_count`, or none, make a state rare: the
        table may be another than that of training.
    privacy : Privacy
        How small a count may be.
    """
    if not privacy.withholds:
        return domain
    return Domain(
        tuple(
            _masked(variable, found[: variable.n_states] < privacy.min_count)
            for variable, found in zip(domain, counts, strict=True)
        )
    )


def _masked(variable: Variable, rare: Mask) -> Variable:
    """A variable whose rare states are numbered instead of named."""
    if not rare.any():
        return variable
    numbers = np.cumsum(rare)
    taken = {str(state) for state in variable.states}
    states: list[Any] = []
    for code, state in enumerate(variable.states):
        name = f"rare value {numbers[code]}" if rare[code] else state
        while rare[code] and name in taken:
            name = f"{name}'"
        states.append(name)
    return replace(
        variable, states=tuple(states), kind="nominal", cut_points=(), hierarchy=None
    )
