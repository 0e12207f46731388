"""Features along which the second class must only gain, or only lose."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.wording import name_list, near_names, quoted

Name = str | int


@dataclass(frozen=True, eq=False)
class MonotoneFeature:
    """A feature and the order in which the second class gains.

    A missing state is left out of the order.
    """

    feature: int  # place in the domain
    order: NDArray[np.intp]  # ascending where the second class gains, else descending


def check_monotone(monotone: Any) -> None:
    """Raise unless a parameter maps names to 1, -1 or 0.

    TypeError if it is not a mapping, or a direction is not a number; ValueError for
    other numbers.
    """
    if monotone is None:
        return
    if not isinstance(monotone, Mapping):
        raise TypeError(
            "monotone must map names of columns to +1 or -1, as in {'age': +1}, got "
            f"{quoted(monotone)}"
        )
    for name, direction in monotone.items():
        refusal = (
            f"monotone of {quoted(name)} must be +1 (the second class gains as the "
            f"feature grows), -1 (it loses) or 0 (free), got {quoted(direction)}"
        )
        whole = isinstance(direction, numbers.Real) and not isinstance(direction, bool)
        if not whole:
            raise TypeError(refusal)
        if direction not in (-1, 0, 1):
            raise ValueError(refusal)


def directions_of(estimator: Any) -> dict[Name, int]:
    """The directions that an estimator asks for, those of free features left out."""
    asked = getattr(estimator, "monotone", None) or {}
    return {name: int(direction) for name, direction in asked.items() if direction}


def keeps_parents(estimator: Any) -> bool:
    """Whether monotone features may have parents among the features.

    The order of each table given the parents is that of a row only while the parents
    are known: a sum over a parent's states need not keep it.
    """
    complete = "error" == estimator.missing == estimator.unknown
    return complete and bool(getattr(estimator, "monotone_parents", False))


def check_two_classes(classes: Sequence[Any]) -> None:
    """Raise if there are classes of which neither is the second of two."""
    if len(classes) > 2:
        raise ValueError(
            "monotone says how the probability of the second of two classes moves, but "
            f"there are {len(classes)}: {name_list([str(own) for own in classes])}; "
            "join classes to two, or leave monotone out"
        )


def monotone_features(estimator: Any, domain: Domain) -> list[MonotoneFeature]:
    """The features that `monotone` names, in the order of the domain.

    The class is the last variable; the estimator's encoder is fitted. ValueError for
    more than two classes, or a name that is not a feature of the model or one without
    order.
    """
    asked = directions_of(estimator)
    if not asked:
        return []
    *features, class_variable = domain.variables
    check_two_classes(class_variable.states)
    places = {variable.name: place for place, variable in enumerate(features)}
    for name in asked:
        if name not in places:
            raise ValueError(_unknown(estimator, name, places))
    found = []
    for name in sorted(asked, key=places.__getitem__):
        order = _order(features[places[name]])
        found.append(MonotoneFeature(places[name], order[:: asked[name]]))
    return found


def monotone_remarks(estimator: Any) -> list[str]:
    """What a summary says of monotone features: a line, if there are any."""
    asked, classes = directions_of(estimator), estimator.classes_
    if not asked or len(classes) < 2:
        return []
    moves = {1: "never falls", -1: "never rises"}
    parts = []
    for direction, move in moves.items():
        names = [str(name) for name, own in asked.items() if own == direction]
        if names:
            grow = "grows" if len(names) == 1 else "grow"
            parts.append(f"{move} as {name_list(names)} {grow}")
    second = quoted(classes[1].item() if hasattr(classes[1], "item") else classes[1])
    return [
        f"monotone: P({second}) {' and '.join(parts)}, whatever the other features "
        "are; checked state by state"
    ]


def _unknown(estimator: Any, name: Name, places: Mapping[Name, int]) -> str:
    """Why a name is none of a feature."""
    if name in estimator.encoder_.column_names:
        note = estimator.encoder_.notes.get(name)
        why = f" ({note})" if note else ""
        return (
            f"monotone names column {quoted(name)}, which is no feature of the model"
            f"{why}; take it out of monotone"
        )
    return (
        f"monotone names {quoted(name)}, which is no column; "
        f"{near_names(str(name), map(str, places))}"
    )


def _order(variable: Variable) -> NDArray[np.intp]:
    """Known states from the least on; refuses those without order."""
    states = variable.known_states
    if variable.kind == "numeric":
        return np.arange(len(states), dtype=np.intp)
    # Whole numbers of few values are nominal, but have their order all the same.
    values = [own for own in states if isinstance(own, numbers.Real | np.bool_)]
    if len(values) < len(states):
        raise ValueError(
            f"monotone names column {quoted(variable.name)}, whose values have no "
            "order; give it one by ordered_features, or take it out of monotone"
        )
    return np.argsort(np.array([float(own) for own in values]), kind="stable")
