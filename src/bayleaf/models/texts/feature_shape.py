"""What one feature says of the classes, state by state: a curve or a set of bars."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.results.document import Document, Part
from bayleaf.results.drawings import states_part
from bayleaf.results.result import Result
from bayleaf.typing import JSONObject
from bayleaf.wording import brief_fields, format_number, in_bits, shown_name, visible

Floats = NDArray[np.float64]

# What a state says at most, in favour of one class against another.
_MOST_NATS = 50.0
# Classes whose pictures a notebook shows.
_CLASSES = 4


@dataclass(frozen=True, eq=False)
class FeatureShape(Result, keys={"contributions": None, "row_counts": None}):
    """Contribution of a feature's states to each class, other features left aside.

    Parameters
    ----------
    feature : str or int
        Name of the feature.
    kind : {"numeric", "nominal"}
        A step curve over intervals, or a bar for each value.
    states : tuple of str
        Intervals in increasing order, or values; "missing" last where it is a state.
    edges : ndarray of shape (n_intervals + 1,)
        Ends of the intervals, the outer ones infinite; empty for a nominal feature.
    classes : tuple
        Class labels.
    contributions : ndarray of shape (n_states, n_classes)
        Nats for each class against the other, or against the mean of all others:
        positive speaks for a class.
    row_counts : ndarray of shape (n_states,)
        Weight of the training rows in each state; empty where it is not known.
    drawn_edges : ndarray of shape (n_intervals + 1,)
        The same ends as pictures draw them, all finite; see `finite_edges`.
    """

    feature: str | int
    kind: str
    states: tuple[str, ...]
    edges: Floats
    classes: tuple[Hashable, ...]
    contributions: Floats
    row_counts: Floats
    drawn_edges: Floats = field(default_factory=lambda: np.array([]))

    __repr__ = brief_fields

    def to_dict(self) -> JSONObject:
        """The shape as plain values, ready for JSON; infinite ends are null."""
        columns = zip(self.states, self._rows, self.contributions.tolist(), strict=True)
        states = [
            {"state": state, "rows": rows, "contributions": values}
            for state, rows, values in columns
        ]
        return {**super().to_dict(), "states": states}

    @property
    def _rows(self) -> list[float | None]:
        """Weight of the rows in each state, None where it is not known."""
        known: list[float] = self.row_counts.tolist()
        return [*known] if known else [None] * len(self.states)

    def document(self) -> Document:
        """What each state says for a class, as bars or steps, class by class."""
        # Of two classes, what speaks for one speaks against the other.
        n_classes = len(self.classes)
        shown = [1] if n_classes == 2 else range(min(n_classes, _CLASSES))
        parts: list[Part] = [
            states_part(
                f"{self.feature}: bits for {self.classes[label]}",
                self.states,
                in_bits(self.contributions[:, label]).tolist(),
                self.row_counts.tolist(),
                self.drawn_edges.tolist(),
            )
            for label in shown
        ]
        more = n_classes - _CLASSES
        if more > 0:
            parts.append(f"and {more} more classes")
        return Document("", parts)

    def to_text(self, width: int = 80) -> str:
        """The bits of each state for each class, line by line."""
        del width
        title = f"{shown_name(self.feature)}: bits in favour of each class"
        heads = [f"{visible(str(label)):>9}" for label in self.classes]
        values = in_bits(self.contributions)
        return states_text(title, self.states, self._rows, heads, values, "{:+9.3f}")


def states_text(
    title: str,
    states: Sequence[str],
    rows: Sequence[float | None],
    heads: Sequence[str],
    values: Floats,
    form: str,
) -> str:
    """A line per state: its training rows, None if not known, and its values.

    `values` (n_states, n_heads) are written as `form`, as wide as their heads.
    """
    names = [visible(state) for state in states]
    width = max(map(len, names), default=0)
    lines = [title, f"  {'':{width}} {'rows':>8} {' '.join(heads)}"]
    for name, n_rows, own in zip(names, rows, values, strict=True):
        cells = " ".join(form.format(value) for value in own)
        count = "-" if n_rows is None else format_number(n_rows)
        lines.append(f"  {name:{width}} {count:>8} {cells}")
    return "\n".join(lines)


def interval_edges(variable: Variable) -> Floats:
    """Ends of the intervals of a number, the outer ones infinite; else none."""
    if variable.kind != "numeric" or variable.categories is not None:
        return np.array([])
    return np.array([-np.inf, *variable.cut_points, np.inf])


def finite_edges(variable: Variable) -> Floats:
    """Ends of the intervals of a number on the axis of a picture; else none.

    The outer ones are at the least and greatest number of training, or, where these
    are not known, as far out as the other intervals are wide on average.
    """
    cuts = variable.cut_points
    if not len(interval_edges(variable)) or not cuts:
        return np.array([])
    mean = (cuts[-1] - cuts[0]) / (len(cuts) - 1) if len(cuts) > 1 else 0.0
    width = mean or abs(cuts[0]) / 2 or 1.0
    low, high = cuts[0] - width, cuts[-1] + width
    known = [] if variable.numbers is None else [*chain(*variable.numbers.quantiles)]
    if known:
        # Where no training row lies in an outer interval, it is drawn as a narrow one.
        least, greatest = min(known), max(known)
        low = least if least < cuts[0] else cuts[0] - width / 10
        high = greatest if greatest > cuts[-1] else cuts[-1] + width / 10
    return np.array([low, *cuts, high])


def states_alone(
    scores: Callable[[Codes], Floats], domain: Domain, feature: int
) -> Floats:
    """What each state adds to class scores where nothing else is known, in nats.

    Shape (n_states, n_classes); a class that a state rules out has 50 less than the
    best.
    """
    cards = domain.cards[:-1]
    n_states = cards[feature]
    columns = [np.full(n_states + 1, card) for card in cards]
    columns[feature] = np.arange(n_states + 1)
    *found, nothing = scores(Codes.from_columns(columns, cards))
    alone = np.array(found) - nothing
    best = alone.max(axis=1, keepdims=True)
    # A state that no class can have says nothing.
    possible = np.isfinite(best)
    least = np.where(possible, best, 0.0) - _MOST_NATS
    return np.where(possible, np.maximum(alone, least), 0.0)


def feature_shape(
    variable: Variable, alone: Floats, row_counts: Floats, classes: tuple[Any, ...]
) -> FeatureShape:
    """The shape of a feature alone, from nats (n_states, n_classes) of its states.

    `row_counts` (n_states,) are training weights.
    """
    edges = interval_edges(variable)
    n_others = max(1, alone.shape[1] - 1)
    others = (alone.sum(axis=1, keepdims=True) - alone) / n_others
    return FeatureShape(
        feature=variable.name,
        kind="numeric" if len(edges) else "nominal",
        states=tuple(variable.label(code) for code in range(variable.n_states)),
        edges=edges,
        classes=classes,
        contributions=np.asarray(alone - others),
        row_counts=row_counts,
        drawn_edges=finite_edges(variable),
    )
