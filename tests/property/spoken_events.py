"""Random expressions about a network, and what they say of a joint state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.models.bayesian_network import BayesianNetwork
from property.queried_networks import sparse_networks

Says = Callable[[Sequence[int]], bool]


@st.composite
def mixed_networks(draw: st.DrawFn, *, max_variables: int = 6) -> BayesianNetwork:
    """Sparse networks; some variables are numbers, cut or whole."""
    network = draw(sparse_networks(max_variables=max_variables))
    variables = []
    for variable in network.domain:
        kind = draw(st.sampled_from(["text", "cut", "whole"]))
        card = variable.n_states
        if kind == "cut":
            cuts = [10.0 * (code + 1) for code in range(card - 1)]
            variables.append(numeric_variable(variable.name, cuts))
        elif kind == "whole":
            variables.append(Variable(variable.name, tuple(range(card))))
        else:
            variables.append(variable)
    return replace(network, domain=Domain(tuple(variables)))


def random_condition(rng: np.random.Generator, domain: Domain) -> tuple[str, Says]:
    """A condition on one variable."""
    place = int(rng.integers(len(domain)))
    variable, name = domain[place], str(domain[place].name)
    code = int(rng.integers(variable.n_states))
    kind = rng.integers(5)
    has_order = isinstance(variable.states[0], int) or variable.cut_points
    if kind >= 2 and has_order:
        bound = str(code)
        least = code
        if variable.cut_points:
            # At a cut point, the interval that ends there lies wholly below.
            cut = min(code, len(variable.cut_points) - 1)
            bound, least = str(variable.cut_points[cut]), cut
        sign = ["<=", ">"][int(rng.integers(2))]
        if rng.random() < 0.3 and not (sign == ">" and least == variable.n_states - 1):
            turned = {"<=": ">=", ">": "<"}[sign]
            return f"{bound} {turned} {name}", _compares(place, sign, least)
        if not (sign == ">" and least == variable.n_states - 1):
            return f"{name} {sign} {bound}", _compares(place, sign, least)
    label = f'"{variable.label(code)}"'
    if kind == 0:
        other = int(rng.integers(variable.n_states))
        text = f'{name} in {{{label}, "{variable.label(other)}"}}'
        return text, lambda states: states[place] in (code, other)
    if kind == 1:
        return f"{name} != {label}", lambda states: states[place] != code
    return f"{name} = {label}", lambda states: states[place] == code


def random_event(
    rng: np.random.Generator, domain: Domain, depth: int = 3
) -> tuple[str, Says]:
    """An expression and whether a joint state fulfils it."""
    kind = rng.integers(4) if depth else 0
    if kind == 0:
        return random_condition(rng, domain)
    parts = [random_event(rng, domain, depth - 1) for _ in range(2 + int(kind == 3))]
    texts = [f"({text})" for text, _ in parts]
    if kind == 1:
        negated, says = parts[0]
        return f"not ({negated})", lambda states: not says(states)
    if kind == 2:
        return " and ".join(texts), lambda s: all(said(s) for _, said in parts)
    return " or ".join(texts), lambda s: any(said(s) for _, said in parts)


def happens(says: Says, cards: Sequence[int]) -> np.ndarray:
    """Whether an event happens in each joint state."""
    found = np.zeros(cards, dtype=bool)
    for states in np.ndindex(*cards):
        found[states] = says(states)
    return found


def _compares(place: int, sign: str, code: int) -> Says:
    """Whether a state lies on one side of another."""
    if sign == "<=":
        return lambda states: states[place] <= code
    return lambda states: states[place] > code
