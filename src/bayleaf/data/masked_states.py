"""Names of states that too few rows have to be named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable


def masked_domain(domain: Domain, rare: Sequence[NDArray[np.bool_]]) -> Domain:
    """A domain in which the states of few rows have no names.

    `rare` has a mask (>= n_states,) per variable.
    """
    return Domain(
        tuple(
            _masked(variable, own[: variable.n_states])
            for variable, own in zip(domain, rare, strict=True)
        )
    )


def _masked(variable: Variable, rare: NDArray[np.bool_]) -> Variable:
    """A variable whose rare states are numbered instead of named."""
    if not rare.any():
        return replace(variable, numbers=None)
    numbers = np.cumsum(rare)
    taken = {str(state) for state in variable.states}
    states: list[Any] = []
    for code, state in enumerate(variable.states):
        name = f"rare value {numbers[code]}" if rare[code] else state
        while rare[code] and name in taken:
            name = f"{name}'"
        states.append(name)
    return Variable(variable.name, tuple(states))
