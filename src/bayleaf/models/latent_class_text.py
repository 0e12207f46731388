"""The components of a mixture within each class, for a reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.wording import stated

# Components and states of each that are written.
_COMPONENTS_SHOWN = 30
_STATES_SHOWN = 3


def component_remarks(
    domain: Domain,
    weights: NDArray[np.float64],
    tables: Sequence[NDArray[np.float64]],
) -> tuple[str, ...]:
    """One line for each component: its weight and the states that mark it most.

    A state marks a component by how much it adds to the divergence of the component
    from its class, P(state | class, component) ln(P(state | class, component) /
    P(state | class)).

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    weights : ndarray of shape (n_classes, n_components)
        P(component | class).
    tables : sequence of ndarray of shape (n_classes, n_components, card)
        P(feature | class, component).

    Returns
    -------
    tuple of str
        Empty with a single component.
    """
    n_classes, n_components = weights.shape
    if n_components == 1:
        return ()
    told = []
    for code in range(n_classes):
        label = stated(
            domain[len(domain) - 1].name, domain[len(domain) - 1].label(code)
        )
        for number in range(n_components):
            marks = _marks(domain, weights[code], [t[code] for t in tables], number)
            told.append(
                f"component {number + 1} of {label}: "
                f"{weights[code, number]:.3f} of its rows"
                + (f"; {', '.join(marks)}" if marks else "")
            )
    hidden = len(told) - _COMPONENTS_SHOWN
    if hidden > 0:
        return (*told[:_COMPONENTS_SHOWN], f"and {hidden} more components")
    return tuple(told)


def _marks(
    domain: Domain,
    weights: NDArray[np.float64],
    tables: Sequence[NDArray[np.float64]],
    number: int,
) -> list[str]:
    """The states that mark one component of one class, the most telling first."""
    found = []
    for feature, table in enumerate(tables):
        own, overall = table[number], weights @ table
        possible = (own > 0) & (overall > 0)
        gains = np.zeros(len(own))
        gains[possible] = own[possible] * np.log(own[possible] / overall[possible])
        for state in np.flatnonzero(gains > 0):
            fact = stated(domain[feature].name, domain[feature].label(int(state)))
            text = f"{fact} ({own[state]:.2f}, overall {overall[state]:.2f})"
            found.append((-float(gains[state]), feature, text))
    return [text for _, _, text in sorted(found)[:_STATES_SHOWN]]
