"""Parts of a network from names: variables, graphs, and where a name stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayleaf.data.domain import Variable
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.inference.states import position_of
from bayleaf.wording import name_list, quoted

Name = str | int


def variable_of(name: Any, states: Any) -> Variable:
    """A variable with states that can be told apart, found again and written down.

    A ready `Variable` stands for itself, once it is called by that name.
    """
    if not isinstance(states, Variable):
        return Variable.nominal(name, states)
    if states.name != name:
        raise ValueError(
            f"the states of {quoted(name)} are given as a variable that is called "
            f"{quoted(states.name)}; give both one name"
        )
    return states


def dag_of(names: Sequence[Name], parents: Mapping[Name, Sequence[Name]]) -> DAG:
    """The graph of parents by name, with errors that name variables."""
    members = []
    for name in names:
        role = f"{quoted(name)} has the parent"
        listed = parents.get(name, ())
        if isinstance(listed, str | int):
            listed = [listed]
        if not isinstance(listed, Iterable):
            raise TypeError(
                f"the parents of {quoted(name)} must be a list, got {quoted(listed)}"
            )
        chosen = [position_of(names, p, role) for p in listed]
        twice = [p for p in chosen if chosen.count(p) > 1]
        if twice:
            parent = names[twice[0]]
            raise ValueError(f"{quoted(name)} lists the parent {quoted(parent)} twice")
        members.append(tuple(chosen))
    try:
        return DAG(tuple(members))
    except CycleError as error:
        on_cycle = [names[node] for node in error.nodes]
        raise ValueError(
            f"the arcs close a cycle among {name_list(on_cycle)}"
        ) from None
