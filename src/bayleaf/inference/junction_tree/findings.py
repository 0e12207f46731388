"""Evidence as a junction tree takes it: a state or likelihoods of each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.inference.junction_tree.decomposition import Product
from bayleaf.native.inference import Known
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
# The state that a variable is in, or a likelihood for each of its states.
Findings = Mapping[int, int | Floats]

_STATE = (int, np.integer)
# Stands in the place of a state where likelihoods are given.
_WEIGHED = -1


def known_findings(
    product: Product, variables: Sequence[Variable], findings: Findings
) -> Known:
    """Check findings, states or likelihoods (card,), and pass them to the native core.

    What follows for auxiliary variables is entered, too. ValueError if a state does not
    exist, or likelihoods are not one per state.
    """
    cards = product.cards
    states: list[int] = []
    likelihoods: list[Floats] = []
    for variable, value in findings.items():
        if isinstance(value, _STATE):
            if not 0 <= value < cards[variable]:
                raise _misfit(variables[variable], f"the state {value}")
            states += (variable, int(value))
            continue
        vector = np.ascontiguousarray(value, dtype=np.float64)
        if vector.shape != (cards[variable],):
            raise _misfit(variables[variable], f"likelihoods of shape {vector.shape}")
        states += (variable, _WEIGHED)
        likelihoods.append(vector)
    if product.agreeing:
        for variable, vector in product.auxiliary_likelihoods(findings).items():
            states += (variable, _WEIGHED)
            likelihoods.append(vector)
    return Known(states, likelihoods)


def _misfit(variable: Variable, what: str) -> ValueError:
    """The error for a finding that does not fit its variable."""
    n_states = variable.n_states
    return ValueError(
        f"the evidence on variable {quoted(variable.name)} has {what}; give a state "
        f"from 0 to {n_states - 1}, or one likelihood for each of its {n_states} states"
    )
