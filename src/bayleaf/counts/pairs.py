"""Joint counts of the class and two features, for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """Layout of the states of some variables along one axis of stored pair counts.

    A variable's last state need not be stored: it is what the class-conditional counts
    of the variable leave over.
    """

    variables: tuple[int, ...]
    cards: Places  # (n_variables,), without the missing state
    n_states: Places  # (n_variables,), card, or one more with missing cells
    n_stored: Places  # (n_variables,), all states, or all but the last
    starts: Places  # (n_variables,), of the first states
    margins: Counts  # (n_classes, n_places), of each stored state

    @cached_property
    def position(self) -> dict[int, int]:
        """Position of each variable along this side."""
        return {variable: k for k, variable in enumerate(self.variables)}

    @cached_property
    def dense_starts(self) -> Places:
        """Where each variable begins if all states and a missing state are kept."""
        return np.cumsum(self.cards + 1) - (self.cards + 1)

    @cached_property
    def stored_places(self) -> Places:
        """Places of all stored states, variable by variable."""
        return ranges(self.starts, self.n_stored)

    @cached_property
    def dense_places(self) -> Places:
        """Places of the same states if all states and a missing state are kept."""
        return ranges(self.dense_starts, self.n_stored)

    @cached_property
    def left_over(self) -> Places:
        """Positions of the variables whose last state is not stored."""
        return np.flatnonzero(self.n_stored < self.n_states)

    def margin(self, position: int) -> Counts:
        """Return counts of class and stored state of one variable."""
        start = self.starts[position]
        return self.margins[:, start : start + self.n_stored[position]]

    def dense_margins(self, class_counts: Counts) -> Counts:
        """Complete counts of class and state, missing included."""
        width = int((self.cards + 1).sum())
        dense = np.zeros((len(class_counts), width))
        dense[:, self.dense_places] = self.margins[:, self.stored_places]
        known = _sums_by_variable(dense, self.dense_starts, 1)
        last = self.dense_starts + self.n_stored
        rest = class_counts[:, None] - known
        dense[:, last[self.left_over]] = rest[:, self.left_over]
        return dense

    def observed_margins(self, class_counts: Counts) -> tuple[Counts, Places]:
        """Counts of class and state without missing cells, and columns per variable.

        A variable without states has one column of zeros.
        """
        dense = self.dense_margins(class_counts)
        missing = self.dense_starts + self.cards
        dense[:, missing] = 0.0
        return np.delete(dense, missing[self.cards > 0], axis=1), self.cards.clip(1)


@dataclass(frozen=True)
class PairCounts:
    """Class-pair counts of every variable on the left with every one on the right.

    Counting leaves them in the form in which it is fastest; tables are completed when
    they are requested. With `triangle`, both sides are the same and only the places on
    and above the diagonal are counted.
    """

    left_side: Side
    right_side: Side
    class_counts: Counts  # (n_classes,)
    stored: NDArray[Any]  # (n_classes, n_left_places, n_right_places)
    triangle: bool = False

    @classmethod
    def from_dense(
        cls,
        left: Sequence[int],
        right: Sequence[int],
        cards: Sequence[int],
        dense: Counts,
    ) -> PairCounts:
        """Wrap counts in the form that `dense` returns.

        `dense` is (n_classes, n_left_states, n_right_states), for each variable its
        states and then its missing state; `cards` are those of all variables of the
        table.
        """
        sides = []
        for variables in (left, right):
            own = np.array([cards[v] for v in variables], dtype=np.int64)
            starts = np.cumsum(own + 1) - (own + 1)
            margins = np.zeros((len(dense), int((own + 1).sum())))
            if tuple(left) == tuple(right):
                # What a state has in common with itself.
                margins[:] = np.einsum("cii->ci", dense)
            sides.append(Side(tuple(variables), own, own + 1, own + 1, starts, margins))
        corner = [slice(int(side.n_stored[:1].sum())) for side in sides]
        class_counts = dense[:, *corner].sum(axis=(1, 2))
        return cls(sides[0], sides[1], class_counts, dense)

    @property
    def left(self) -> tuple[int, ...]:
        """Variables along the first axis."""
        return self.left_side.variables

    @property
    def right(self) -> tuple[int, ...]:
        """Variables along the second axis."""
        return self.right_side.variables

    def table(self, i: int, j: int) -> Counts:
        """Joint counts of the class and two variables where both are observed.

        Returns a new array (n_classes, card_i, card_j); KeyError if `i` is not among
        `left` or `j` not among `right`.
        """
        a, b = self.left_side.position[i], self.right_side.position[j]
        table = self._complete(a, b)
        n_left, n_right = self.left_side.cards[a], self.right_side.cards[b]
        return np.ascontiguousarray(table[:, :n_left, :n_right])

    def dense(self) -> Counts:
        """Complete the counts of all states of all variables, missing cells as a state.

        Returns a new array (n_classes, n_left_states, n_right_states), for each
        variable, in the order of `left` and `right`, its states and then its missing
        state.
        """
        left, right = self.left_side, self.right_side
        shape = (len(self.class_counts), *((s.cards + 1).sum() for s in (left, right)))
        dense = np.zeros(shape)
        rows, columns = left.dense_places, right.dense_places
        source = self._mirrored() if self.triangle else self.stored
        dense[:, rows[:, None], columns] = source[
            :, left.stored_places[:, None], right.stored_places
        ]
        if len(right.left_over):
            rest = left.dense_margins(self.class_counts)[:, :, None]
            rest = rest - _sums_by_variable(dense, right.dense_starts, 2)
            last = right.dense_starts + right.n_stored
            # Only rows that are stored are known so far.
            cells = rows[:, None], last[right.left_over]
            dense[:, *cells] = rest[:, rows[:, None], right.left_over]
        if len(left.left_over):
            rest = right.dense_margins(self.class_counts)[:, None, :]
            rest = rest - _sums_by_variable(dense, left.dense_starts, 1)
            last = left.dense_starts + left.n_stored
            dense[:, last[left.left_over]] = rest[:, left.left_over]
        return dense

    def _mirrored(self) -> NDArray[Any]:
        """Fill in what lies below the diagonal of the stored counts."""
        upper: NDArray[Any] = np.triu(self.stored)
        below: NDArray[Any] = np.triu(self.stored, 1).transpose(0, 2, 1)
        mirrored: NDArray[Any] = upper + below
        return mirrored

    def _complete(self, a: int, b: int) -> Counts:
        """Count all states of the variables at two positions, missing ones included."""
        left, right = self.left_side, self.right_side
        if self.triangle and left.starts[a] > right.starts[b]:
            return self._complete(b, a).transpose(0, 2, 1)
        top, first = left.starts[a], right.starts[b]
        n_rows, n_columns = left.n_stored[a], right.n_stored[b]
        stored = self.stored[:, top : top + n_rows, first : first + n_columns]
        if self.triangle and a == b:
            stored = stored * np.eye(n_rows, dtype=stored.dtype)
        return complete_table(
            stored,
            left.margin(a),
            right.margin(b),
            self.class_counts,
            (int(left.n_states[a]), int(right.n_states[b])),
        )


def complete_table(
    stored: NDArray[Any],
    left_margin: Counts,
    right_margin: Counts,
    class_counts: Counts,
    n_states: tuple[int, int],
) -> Counts:
    """Add the last state of either variable where it is not stored.

    `stored` (n_classes, n_left_stored, n_right_stored) and margins
    (n_classes, n_stored) give (n_classes, *n_states).
    """
    n_classes, n_left, n_right = stored.shape
    table = np.empty((n_classes, *n_states))
    table[:, :n_left, :n_right] = stored
    if n_right < n_states[1]:
        known = table[:, :n_left, :n_right].sum(axis=2)
        table[:, :n_left, n_right] = left_margin - known
    if n_left < n_states[0]:
        margin = right_margin
        if n_right < n_states[1]:
            rest = class_counts - margin.sum(axis=1)
            margin = np.column_stack([margin, rest])
        table[:, n_left] = margin - table[:, :n_left].sum(axis=1)
    return table


def family_table(
    table: Counts,
    features: Sequence[int],
    class_index: int | None,
    family: Sequence[int],
) -> Counts:
    """Turn counts of the class and some features into those of a family of them.

    `table` is (n_classes, *cards); the class may be anywhere in `family`, or absent.
    """
    axes = [class_index, *features]
    if class_index not in family:
        table, axes = table.sum(axis=0), axes[1:]
    return np.ascontiguousarray(table.transpose([axes.index(v) for v in family]))


def ranges(starts: Places, lengths: Places) -> Places:
    """Concatenate ``arange(start, start + length)`` over all starts."""
    ends = np.cumsum(lengths)
    n_places = int(ends[-1]) if len(ends) else 0
    shift = np.repeat(starts - (ends - lengths), lengths)
    places: Places = np.arange(n_places, dtype=np.int64) + shift
    return places


def _sums_by_variable(dense: Counts, starts: Places, axis: int) -> Counts:
    """Sum over the states of each variable along an axis."""
    if not len(starts):
        shape = list(dense.shape)
        shape[axis] = 0
        return np.zeros(shape)
    return np.add.reduceat(dense, starts, axis=axis)
