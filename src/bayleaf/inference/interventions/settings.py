"""Interventions as a user writes them, and the network that they leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.cpds.given_tables import checked_table
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.array_columns import is_missing_cell
from bayleaf.graph.dag import DAG
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.states import find_variable, known_state
from bayleaf.wording import quoted

Floats = NDArray[np.float64]


def read_settings(domain: Domain, settings: Mapping[Any, Any]) -> dict[int, Floats]:
    """Distributions that variables are set to.

    Each is a state; a number for cut points; probabilities by state, 0 where left out,
    or in the order of states. ValueError if a name does not exist or comes twice, or
    probabilities are invalid; TypeError if `settings` is not a mapping.
    """
    if not isinstance(settings, Mapping):
        raise TypeError(
            "interventions must be a mapping from names of variables to what they are "
            f"set to, got {type(settings).__name__}"
        )
    found: dict[int, Floats] = {}
    for name, value in settings.items():
        position = find_variable(domain, name)
        if position in found:
            raise ValueError(f"variable {quoted(name)} is set twice; set it once")
        found[position] = _distribution(domain[position], value)
    return found


def _distribution(variable: Variable, value: Any) -> Floats:
    """The probabilities that one variable is set to."""
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub":
        return checked_table(value, (variable.n_states,), variable.name)
    if isinstance(value, Mapping):
        weights: list[Any] = [0.0] * variable.n_states
        seen: set[int] = set()
        for state, weight in value.items():
            code = known_state(variable, state)
            if code in seen:
                raise ValueError(
                    f"the intervention on variable {quoted(variable.name)} weighs "
                    f"state {variable.label(code)} twice; give it one probability"
                )
            seen.add(code)
            weights[code] = weight
        return checked_table(weights, (variable.n_states,), variable.name)
    is_several = isinstance(value, list | tuple | set | frozenset)
    is_open = not is_several and is_missing_cell(value)
    if (is_several or is_open) and value not in variable.states:
        raise ValueError(
            f"variable {quoted(variable.name)} cannot be set to {quoted(value)}; give "
            "one state, or a mapping from states to probabilities"
        )
    point = np.zeros(variable.n_states)
    point[known_state(variable, value)] = 1.0
    return point


def intervened(
    network: Factorisation, distributions: Mapping[int, Floats]
) -> tuple[DAG, tuple[CPD, ...]]:
    """The graph without arcs into variables that are set, and its distributions."""
    parents, cpds = list(network.dag.parents), list(network.cpds)
    for node, distribution in distributions.items():
        parents[node] = ()
        cpds[node] = TableCPD((node,), distribution)
    return DAG(tuple(parents)), tuple(cpds)
