"""What would have to change in a row for the model to choose another class."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.change_sets import ChangeSets, with_changes
from bayleaf.explain.row_probability import (
    JOINT,
    MARGINALS,
    has_joint,
    row_log_probabilities,
)
from bayleaf.explain.single_changes import Direction, single_changes
from bayleaf.explain.subject import plain_label, predictor_of, row_of
from bayleaf.models.predictor import Predictor
from bayleaf.pictures.notebook import picture_html, table_html
from bayleaf.wording import brief, counted, name_list, quoted, shown_name, stated

# Changed rows that are scored before the search is refused.
MAX_CANDIDATES = 20_000_000
_WIDTH = 80
# Sets of changes that a notebook shows.
_LINES = 20

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Counterfactual:
    """A changed row that the model puts into another class.

    Parameters
    ----------
    changes : dict from name to (str, str)
        Old and new state of each changed feature, in column order; numbers as the
        intervals that the model knows.
    prediction : object
        The class chosen for the changed row.
    probabilities : dict from str to float
        P(class | changed row) by the text of the class.
    log_probability : float
        Log probability (nats) of the changed row's features, by
        `Counterfactuals.basis`.
    """

    changes: dict[str | int, tuple[str, str]]
    prediction: Any
    probabilities: dict[str, float]
    log_probability: float

    def to_dict(self) -> dict[str, Any]:
        """The counterfactual as plain values, ready for JSON."""
        return {
            "changes": [
                {"feature": name, "from": old, "to": new}
                for name, (old, new) in self.changes.items()
            ],
            "class": plain_label(self.prediction),
            "probabilities": dict(self.probabilities),
            "log_probability": self.log_probability,
        }

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        changes = "; ".join(
            f"{stated(shown_name(name), old)} becomes {new}"
            for name, (old, new) in self.changes.items()
        )
        probability = self.probabilities[str(self.prediction)]
        return f"{changes}: {self.prediction} with probability {probability:.3f}"


@dataclass(frozen=True)
class Counterfactuals:
    """The smallest changes that make a model choose another class.

    Parameters
    ----------
    prediction : object
        The class chosen for the row as it is.
    target : object or None
        The class asked for; None for any other than `prediction`.
    items : tuple of Counterfactual
        Fewest changes first, among equally many the most probable changed row first.
        None of them would do with a part of its changes.
    max_changes : int
        Largest number of changed features that was tried.
    basis : str
        By what distribution changed rows were put in order.
    """

    prediction: Any
    target: Any
    items: tuple[Counterfactual, ...]
    max_changes: int
    basis: str

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Counterfactual]:
        return iter(self.items)

    def __getitem__(self, index: int) -> Counterfactual:
        return self.items[index]

    def to_dict(self) -> dict[str, Any]:
        """The counterfactuals as plain values, ready for JSON."""
        return {
            "class": plain_label(self.prediction),
            "target": plain_label(self.target),
            "max_changes": self.max_changes,
            "basis": self.basis,
            "counterfactuals": [item.to_dict() for item in self.items],
        }

    def to_text(self) -> str:
        """Write each set of changes as a sentence, at most 80 columns a line."""
        wanted = "another class" if self.target is None else str(self.target)
        if not self.items:
            within = counted(self.max_changes, "change")
            return f"no way to {wanted}: none within {within}"
        lines = [f"what would make it {wanted}, most probable row first"]
        if self.basis != JOINT:
            lines += textwrap.wrap(f"(rows ranked by {self.basis})", _WIDTH)
        for item in self.items:
            lines += textwrap.wrap(
                str(item), _WIDTH, initial_indent="  - ", subsequent_indent="    "
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        wanted = "another class" if self.target is None else str(self.target)
        title = f"What would make it {wanted} rather than {self.prediction}"
        if not self.items:
            within = counted(self.max_changes, "change")
            return picture_html(table_html(title, [f"nothing within {within}"], []))
        rows = [
            (
                "; ".join(
                    f"{stated(shown_name(name), new)} (not {old})"
                    for name, (old, new) in item.changes.items()
                ),
                item.prediction,
                f"{item.probabilities[str(item.prediction)]:.3f}",
            )
            for item in self.items[:_LINES]
        ]
        return picture_html(table_html(title, ["if", "then", "probability"], rows))

    def __repr__(self) -> str:
        wanted = "another class" if self.target is None else str(self.target)
        found = f"{counted(len(self), 'way')} from {self.prediction} to {wanted}"
        return brief(self, found, *self.items[:1])

    def __str__(self) -> str:
        return self.to_text()


def counterfactuals(
    model: Any,
    row: Any,
    *,
    n: int = 5,
    max_changes: int = 3,
    immutable: Iterable[str | int] = (),
    allowed: Mapping[str | int, Collection[Any]] | None = None,
    directions: Mapping[str | int, Direction] | None = None,
    target: Any = None,
) -> Counterfactuals:
    """Find the smallest changes of a row that change the class chosen for it.

    All sets of one change are tried, then all of two and so on, so that nothing is
    missed. A set that holds a smaller one which does already is left out. Missing
    values stay missing.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model, with its calibration and loss.
    row : mapping, series, list or one-row table
        The row.
    n : int, default=5
        Most counterfactuals to return.
    max_changes : int, default=3
        Most features that may change at once.
    immutable : iterable of names, default=()
        Features that stay as they are.
    allowed : mapping from name to collection of states, optional
        States that a feature may change to; features that are not named may take any.
    directions : mapping from name to {"up", "down"}, optional
        Features of numbers that may only rise, or only fall.
    target : label, optional
        The class to reach; by default any other than the one predicted.

    Returns
    -------
    Counterfactuals

    Raises
    ------
    ValueError
        If there is no such feature, state or class, the row has the target already, a
        direction is given for a feature without order, or there would be more than
        20 million changed rows to try.

    Notes
    -----
    Wachter, Mittelstadt and Russell (2018) define counterfactual explanations.
    """
    predictor = predictor_of(model)
    codes = row_of(model, row)
    for name, count in (("n", n), ("max_changes", max_changes)):
        if not isinstance(count, Integral) or count < 1:
            raise ValueError(f"{name} must be a whole number >= 1, got {quoted(count)}")
    if isinstance(immutable, str):
        raise ValueError(
            f"immutable must be a list of features, got the text {quoted(immutable)}; "
            f"give [{quoted(immutable)}]"
        )
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    wanted = None if target is None else _target(predictor, target, chosen)
    moves = single_changes(
        predictor, codes, tuple(immutable), allowed or {}, directions or {}
    )
    sets = ChangeSets(*moves)
    found: list[tuple[Indices, Codes]] = []
    minimal: set[frozenset[int]] = set()
    for size in range(1, max_changes + 1):
        _check_effort(sets, size)
        aim = _Aim(predictor, codes, sets, chosen, wanted)
        of_size = _flipping(aim, size, minimal, n - len(minimal))
        minimal |= {frozenset(row.tolist()) for row in of_size}
        if len(of_size):
            found.append((of_size, with_changes(codes, sets, of_size)))
        if len(minimal) >= n:
            break
    items = [
        item
        for rows, changed in found
        for item in _described(predictor, codes, sets, rows, changed)
    ]
    return Counterfactuals(
        predictor.classes[chosen],
        target,
        tuple(items[:n]),
        max_changes,
        JOINT if has_joint(predictor.model) else MARGINALS,
    )


def _target(predictor: Predictor, target: Any, chosen: int) -> int:
    """Position of the class to reach."""
    labels: list[Any] = predictor.classes.tolist()
    if target not in labels:
        raise ValueError(
            f"target must be one of the classes {name_list(labels)}, got "
            f"{quoted(target)}"
        )
    if labels.index(target) == chosen:
        raise ValueError(
            f"the row is predicted as {quoted(target)} already; name another"
        )
    return labels.index(target)


def _check_effort(sets: ChangeSets, size: int) -> None:
    """Raise if there are more changed rows of a size than can be tried."""
    total = sets.count(size)
    if total > MAX_CANDIDATES:
        raise ValueError(
            f"{size} changes can be made in {total:.3g} ways, more than "
            f"{MAX_CANDIDATES:.0e}; name immutable features or allowed states, or "
            f"set max_changes={size - 1}"
        )


@dataclass(frozen=True, eq=False)
class _Aim:
    """The row, its single changes, and which classes count as another.

    `wanted` is the only one that does, None for any but `chosen`.
    """

    predictor: Predictor
    codes: Codes
    sets: ChangeSets
    chosen: int
    wanted: int | None

    def reached(self, block: Indices) -> NDArray[np.bool_]:
        """Which sets of changes do, shape (n_sets,)."""
        changed = with_changes(self.codes, self.sets, block)
        classes = self.predictor.choose(self.predictor.proba(changed))
        if self.wanted is None:
            return np.asarray(classes != self.chosen)
        return np.asarray(classes == self.wanted)

    def log_probabilities(self, block: Indices) -> NDArray[np.float64]:
        """Log probability of the row after each set of changes."""
        changed = with_changes(self.codes, self.sets, block)
        return row_log_probabilities(self.predictor.model, changed)


def _flipping(
    aim: _Aim, size: int, minimal: set[frozenset[int]], n_left: int
) -> Indices:
    """Sets of changes of one size that do and hold no smaller one that does.

    All of them or, once there are `n_left`, the best of them: nothing larger is tried
    then.

    Returns
    -------
    ndarray of shape (n_sets, size)
        Most probable changed row first; ties in the order of the columns.
    """
    best = np.empty((0, size), dtype=np.intp)
    scores = np.empty(0)
    for block in aim.sets.of_size(size):
        hits = block[aim.reached(block)]
        if minimal and len(hits):
            hits = hits[[not _holds(minimal, set(row)) for row in hits.tolist()]]
        best = np.concatenate([best, hits])
        scores = np.concatenate([scores, aim.log_probabilities(hits)])
        order = np.argsort(-scores, kind="stable")[:n_left]
        best, scores = best[order], scores[order]
    return best


def _holds(minimal: set[frozenset[int]], changes: set[int]) -> bool:
    """Whether a smaller set that does is part of a set of changes."""
    return any(smaller <= changes for smaller in minimal)


def _described(
    predictor: Predictor, codes: Codes, sets: ChangeSets, rows: Indices, changed: Codes
) -> list[Counterfactual]:
    """Sets of changes with names, classes and probabilities."""
    domain = predictor.encoder.domain
    proba = predictor.proba(changed)
    classes = predictor.choose(proba)
    log_probabilities = row_log_probabilities(predictor.model, changed)
    labels = [str(label) for label in predictor.classes.tolist()]
    found = []
    for place, row in enumerate(rows):
        changes = {}
        for feature, state in zip(sets.features[row], sets.states[row], strict=True):
            variable = domain[int(feature)]
            own = variable.label(int(codes.column(int(feature))[0]))
            changes[variable.name] = (own, variable.label(int(state)))
        found.append(
            Counterfactual(
                changes,
                predictor.classes[classes[place]],
                dict(zip(labels, proba[place].tolist(), strict=True)),
                float(log_probabilities[place]),
            )
        )
    return found
