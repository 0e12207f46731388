"""Domains as plain values, and back with every check."""

from __future__ import annotations

import math
from typing import Any

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.io.fields import Fields, ModelFileError


def domain_to(domain: Domain) -> list[dict[str, Any]]:
    """A domain as plain values.

    Raises
    ------
    TypeError
        If a state is of a type that JSON does not know.
    """
    return [_variable_to(variable) for variable in domain]


def domain_from(values: list[Any]) -> Domain:
    """A domain from plain values."""
    return Domain(tuple(_variable_from(value) for value in values))


def _variable_to(variable: Variable) -> dict[str, Any]:
    """One variable as plain values."""
    values: dict[str, Any] = {
        "name": variable.name,
        "kind": variable.kind,
        "states": [_state_to(variable, state) for state in variable.states],
        "cut_points": list(variable.cut_points),
    }
    if variable.hierarchy is not None:
        nodes = [_state_to(variable, node) for node in variable.hierarchy.nodes]
        parents = list(variable.hierarchy.parents)
        values["hierarchy"] = {"nodes": nodes, "parents": parents}
    return values


def _state_to(variable: Variable, state: Any) -> Any:
    """A state as a JSON value."""
    if state is None or isinstance(state, str | bool | int | float):
        return state
    raise TypeError(
        f"state {state!r} of variable {variable.name!r} has no place in a model file; "
        "use text or numbers"
    )


def _variable_from(value: Any) -> Variable:
    """One variable from plain values."""
    fields = Fields(value, "a variable of the domain")
    if not isinstance(value, dict):
        raise ModelFileError("a variable of the domain should be an object")
    name = Fields.name(value.get("name"))
    states = fields.list("states")
    if len(states) > Codes.MAX_STATES:
        raise ModelFileError(f"variable {name!r} has too many states: {len(states)}")
    for position, state in enumerate(states):
        last = position == len(states) - 1
        plain = isinstance(state, str | bool | int) or (state is None and last)
        if not plain and not (isinstance(state, float) and math.isfinite(state)):
            raise ModelFileError(
                f"variable {name!r} has a state that is neither text nor finite number"
            )
    cuts = fields.list("cut_points")
    for cut in cuts:
        if (
            isinstance(cut, bool)
            or not isinstance(cut, int | float)
            or not math.isfinite(cut)
        ):
            raise ModelFileError(f"variable {name!r} has a cut point that is no number")
    kind = fields.choice("kind", ("nominal", "numeric"))
    return Variable(
        name,
        tuple(states),
        kind,  # type: ignore[arg-type]
        tuple(map(float, cuts)),
        None
        if "hierarchy" not in value
        else _hierarchy_from(fields.object("hierarchy")),
    )


def _hierarchy_from(fields: Fields) -> ValueHierarchy:
    """A tree over states from plain values."""
    nodes, parents = fields.list("nodes"), fields.list("parents")
    if not all(isinstance(node, str | bool | int | float | None) for node in nodes):
        raise ModelFileError("a value hierarchy has a node that is no text or number")
    if not all(type(parent) is int for parent in parents):
        raise ModelFileError("a value hierarchy has a parent that is no position")
    return ValueHierarchy(tuple(nodes), tuple(parents))
