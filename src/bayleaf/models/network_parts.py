"""Parts of a network from names: variables, graphs, and where a name stands."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.wording import name_list, near_names, quoted

Name = str | int


def variable_of(name: Any, states: Any) -> Variable:
    """A variable with states that can be told apart, found again and written down."""
    plain = name.item() if isinstance(name, np.generic) else name
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    if isinstance(states, Mapping) or not isinstance(states, Iterable):
        raise TypeError(
            f"the states of variable {quoted(plain)} must be a list, got "
            f"{type(states).__name__}"
        )
    listed = tuple(s.item() if isinstance(s, np.generic) else s for s in states)
    if not listed:
        raise ValueError(
            f"variable {quoted(plain)} has no states; give it at least one"
        )
    for state in listed:
        if not isinstance(state, Hashable) or state != state:
            raise ValueError(
                f"variable {quoted(plain)} cannot have the state {quoted(state)}; use "
                "text or numbers other than NaN"
            )
    if None in listed[:-1]:
        raise ValueError(
            f"variable {quoted(plain)} has None before its last state; None stands for "
            "missing cells, so put it last"
        )
    return Variable(plain, listed)


def dag_of(domain: Domain, parents: Mapping[Name, Sequence[Name]]) -> DAG:
    """The graph of parents by name, with errors that name variables."""
    members = []
    for name in domain.names:
        role = f"{quoted(name)} has the parent"
        listed = parents.get(name, ())
        if isinstance(listed, str | int):
            listed = [listed]
        if not isinstance(listed, Iterable):
            raise TypeError(
                f"the parents of {quoted(name)} must be a list, got {quoted(listed)}"
            )
        chosen = [position_of(domain, p, role) for p in listed]
        twice = [p for p in chosen if chosen.count(p) > 1]
        if twice:
            parent = domain.names[twice[0]]
            raise ValueError(f"{quoted(name)} lists the parent {quoted(parent)} twice")
        members.append(tuple(chosen))
    try:
        return DAG(tuple(members))
    except CycleError as error:
        names = [domain.names[node] for node in error.nodes]
        raise ValueError(f"the arcs close a cycle among {name_list(names)}") from None


def position_of(domain: Domain, name: Name, role: str) -> int:
    """Index of a variable; ValueError names near ones."""
    try:
        return domain.index(name)
    except (KeyError, TypeError):
        near = near_names(str(name), map(str, domain.names))
        raise ValueError(
            f"{role} {quoted(name)}, but there is no such variable; {near}"
        ) from None
