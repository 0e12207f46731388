"""The components of a mixture within each class, for a reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.wording import stated

# Components are written until they hold this share of their class.
_SHARE_SHOWN = 0.9
# Lines that are written, and states of each component.
_LINES_SHOWN = 40
_STATES_SHOWN = 3


def component_remarks(
    domain: Domain,
    weights: NDArray[np.float64],
    tables: Sequence[NDArray[np.float64]],
) -> tuple[str, ...]:
    """One line for each heavy component: its weight and the states that mark it most.

    A state marks a component by how much it adds to the divergence of the component
    from its class, P(state | class, component) ln(P(state | class, component) / P(state
    | class)). `weights` (n_classes, n_components), `tables` (n_classes, n_components,
    card). Empty with a single component.
    """
    n_classes, n_components = weights.shape
    if n_components == 1:
        return ()
    told = []
    for code in range(n_classes):
        class_variable = domain[len(domain) - 1]
        label = stated(class_variable.name, class_variable.label(code))
        own_tables = [table[code] for table in tables]
        before = np.concatenate([[0.0], np.cumsum(weights[code])[:-1]])
        n_shown = int(np.count_nonzero(before < _SHARE_SHOWN))
        for number in range(n_shown):
            marks = _marks(domain, weights[code], own_tables, number)
            told.append(
                f"component {number + 1} of {label}: "
                f"{weights[code, number]:.3f} of its rows"
                + (f"; {', '.join(marks)}" if marks else "")
            )
        if n_shown < n_components:
            told.append(
                f"{n_components - n_shown} more of {label}: "
                f"{weights[code, n_shown:].sum():.3f} of its rows"
            )
    hidden = len(told) - _LINES_SHOWN
    if hidden > 0:
        return (*told[:_LINES_SHOWN], f"and {hidden} more lines on other components")
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
