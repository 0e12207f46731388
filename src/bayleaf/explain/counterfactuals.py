"""What would have to change in a row for the model to choose another class."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.explain.change_sets import ChangeSets, with_changes
from bayleaf.explain.row_probability import (
    JOINT,
    MARGINALS,
    has_joint,
    row_log_probabilities,
)
from bayleaf.explain.subject import is_absent, predictor_of, row_of
from bayleaf.inference.states import StateReader, find_variable
from bayleaf.models.predictor import Predictor
from bayleaf.wording import shown_name, stated

# Changed rows that are scored before the search is refused.
MAX_CANDIDATES = 20_000_000
_WIDTH = 80

Direction = Literal["up", "down"]
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
            "class": _plain(self.prediction),
            "probabilities": dict(self.probabilities),
            "log_probability": self.log_probability,
        }

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
            "class": _plain(self.prediction),
            "target": _plain(self.target),
            "max_changes": self.max_changes,
            "basis": self.basis,
            "counterfactuals": [item.to_dict() for item in self.items],
        }

    def to_text(self) -> str:
        """Write each set of changes as a sentence, at most 80 columns a line."""
        wanted = "another class" if self.target is None else str(self.target)
        if not self.items:
            plural = "" if self.max_changes == 1 else "s"
            return f"no way to {wanted}: none within {self.max_changes} change{plural}"
        lines = [f"what would make it {wanted}, most probable row first"]
        if self.basis != JOINT:
            lines += textwrap.wrap(f"(rows ranked by {self.basis})", _WIDTH)
        for item in self.items:
            lines += textwrap.wrap(
                str(item), _WIDTH, initial_indent="  - ", subsequent_indent="    "
            )
        return "\n".join(lines)

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
            raise ValueError(f"{name} must be a whole number >= 1, got {count!r}")
    if isinstance(immutable, str):
        raise ValueError(
            f"immutable must be a list of features, got the text {immutable!r}; give "
            f"[{immutable!r}]"
        )
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    wanted = None if target is None else _target(predictor, target, chosen)
    moves = _moves(predictor, codes, tuple(immutable), allowed or {}, directions or {})
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
        raise ValueError(f"target must be one of the classes {labels}, got {target!r}")
    if labels.index(target) == chosen:
        raise ValueError(f"the row is predicted as {target!r} already; name another")
    return labels.index(target)


def _moves(
    predictor: Predictor,
    codes: Codes,
    immutable: tuple[str | int, ...],
    allowed: Mapping[str | int, Collection[Any]],
    directions: Mapping[str | int, Direction],
) -> tuple[Indices, Indices]:
    """Features and new states of all single changes, by column and state."""
    domain = predictor.encoder.domain
    fixed = {_feature(domain, name) for name in immutable}
    limited = {_feature(domain, name): states for name, states in allowed.items()}
    one_way = {_feature(domain, name): way for name, way in directions.items()}
    features: list[int] = []
    states: list[int] = []
    for feature, variable in enumerate(domain):
        own = int(codes.column(feature)[0])
        order = _order(variable, one_way[feature]) if feature in one_way else None
        if feature in fixed or is_absent(codes, domain, feature)[0]:
            continue
        may = set(range(variable.n_states - variable.has_missing_state)) - {own}
        if feature in limited:
            may &= {_state(variable, state) for state in limited[feature]}
        if order is not None:
            may = {state for state in may if order[state] > order[own]}
        features += [feature] * len(may)
        states += sorted(may)
    return np.array(features, dtype=np.intp), np.array(states, dtype=np.intp)


def _feature(domain: Domain, name: str | int) -> int:
    """Position of a feature; an unknown one is refused with its neighbours."""
    return find_variable(domain, name)


def _state(variable: Variable, value: Any) -> int:
    """Code of an allowed state."""
    reader = StateReader(variable)
    code = reader.code(value)
    if code is None:
        raise reader.unknown(value)
    return code


def _order(variable: Variable, way: str) -> list[float]:
    """Places of the states, larger in the direction that is allowed."""
    if way not in ("up", "down"):
        raise ValueError(
            f"the direction of feature {variable.name!r} must be 'up' or 'down', "
            f"got {way!r}"
        )
    sign = 1.0 if way == "up" else -1.0
    known = variable.states[: variable.n_states - variable.has_missing_state]
    if variable.kind == "numeric":
        return [sign * place for place in range(len(known))]
    if all(isinstance(s, int | float | np.number) for s in known):
        return [sign * float(state) for state in known]  # type: ignore[arg-type]
    raise ValueError(
        f"feature {variable.name!r} has no order, so that it cannot go {way}; name the "
        "states that it may take in allowed"
    )


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


def _plain(label: Any) -> Any:
    """A label as a plain Python value."""
    return label.item() if isinstance(label, np.generic) else label
