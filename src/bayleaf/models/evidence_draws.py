"""Steps that draw rows from a network given evidence, exactly and without rejection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import bits, eliminate
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.draws import Draw
from bayleaf.models.evidence import Evidence
from bayleaf.wording import name_list

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Factor:
    """A table over variables in increasing order."""

    variables: tuple[int, ...]
    values: Floats

    def over(self, variables: Sequence[int], cards: Sequence[int]) -> Floats:
        """The table with an axis of length one for each variable that it lacks."""
        own = set(self.variables)
        return self.values.reshape([cards[v] if v in own else 1 for v in variables])


def evidence_draws(
    network: BayesianNetwork, evidence: Evidence, max_table_cells: int
) -> tuple[list[Draw], float]:
    """Prepare steps that draw every variable whose state is not known.

    The ancestors of the evidence are eliminated one by one; each is then drawn, in
    reverse order, given the variables that its table held beside it (Dechter 1999,
    "Bucket elimination", section 6, with a draw in place of the maximum). All other
    variables follow from their parents.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    evidence : Evidence
        What is known.
    max_table_cells : int
        Largest table that elimination may build.

    Returns
    -------
    draws : list of Draw
        Steps in order.
    log_probability : float
        ln P(evidence), minus infinity if it is impossible; the steps are then useless.

    Raises
    ------
    ValueError
        If a table would have more than `max_table_cells` cells.
    """
    hard = evidence.hard
    above = ancestors(network.dag, [item.variable for item in evidence.items])
    factors = [_cpd_factor(network, node, hard) for node in sorted(above)]
    factors += [
        _Factor((variable,), likelihood)
        for variable, likelihood in evidence.likelihoods.items()
        if variable not in hard
    ]
    weights = [
        float(likelihood[hard[variable]])
        for variable, likelihood in evidence.likelihoods.items()
        if variable in hard
    ]
    eliminated, log_probability = _eliminate_all(
        network.domain, factors, sorted(above - hard.keys()), max_table_cells
    )
    log_probability += sum(log(weight) for weight in weights) + evidence.log_scale
    forward = [
        Draw.from_table(
            network.cpds[node].parents, (node,), network.cpds[node].probabilities
        )
        for node in network.dag.order
        if node not in above
    ]
    return [*reversed(eliminated), *forward], log_probability


def _cpd_factor(network: BayesianNetwork, node: int, hard: dict[int, int]) -> _Factor:
    """A normalised distribution, known variables fixed at their states."""
    cpd = network.cpds[node]
    table = cpd.probabilities / cpd.probabilities.sum(axis=-1, keepdims=True)
    fixed = table[tuple(hard.get(member, slice(None)) for member in cpd.family)]
    left = [member for member in cpd.family if member not in hard]
    order = np.argsort(left)
    return _Factor(tuple(sorted(left)), np.transpose(fixed, order))


def _eliminate_all(
    domain: Domain,
    factors: list[_Factor],
    variables: Sequence[int],
    max_table_cells: int,
) -> tuple[list[Draw], float]:
    """Sum variables out of a product; a draw for each, and the log of what is left."""
    cards = domain.cards
    place = {variable: i for i, variable in enumerate(variables)}
    neighbours = [0] * len(variables)
    for factor in factors:
        for v in factor.variables:
            others = (place[u] for u in factor.variables if u != v)
            neighbours[place[v]] |= sum(1 << other for other in others)
    order, later = eliminate(neighbours, [cards[v] for v in variables])
    draws: list[Draw] = []
    log_scale = 0.0
    for node in order:
        variable = variables[node]
        given = [variables[other] for other in bits(later[node])]
        _check_size(domain, [*given, variable], max_table_cells)
        mentioning = [f for f in factors if variable in f.variables]
        factors = [f for f in factors if variable not in f.variables]
        table = _product(mentioning, given, variable, cards)
        draws.append(Draw.from_table(given, (variable,), table))
        message = table.sum(axis=-1)
        largest = float(message.max())
        if largest == 0.0:
            return draws, -np.inf
        log_scale += log(largest)
        factors.append(_Factor(tuple(given), message / largest))
    rest = prod(float(factor.values) for factor in factors)
    return draws, log_scale + log(rest) if rest > 0.0 else -np.inf


def _product(
    factors: Sequence[_Factor],
    given: Sequence[int],
    variable: int,
    cards: Sequence[int],
) -> Floats:
    """Product of factors over some variables, the eliminated one last."""
    scope = sorted([*given, variable])
    product = np.ones([cards[v] for v in scope])
    for factor in factors:
        product *= factor.over(scope, cards)
    return np.moveaxis(product, scope.index(variable), -1)


def _check_size(domain: Domain, variables: Sequence[int], limit: int) -> None:
    """Raise if a table over some variables is too large."""
    cells = prod(domain.cards[v] for v in variables)
    if cells > limit:
        names = [domain[v].name for v in sorted(variables)]
        raise ValueError(
            f"drawing rows under this evidence needs a table of {cells:.3g} cells over "
            f"{name_list(names)}, more than max_table_cells={limit}; raise it, or give "
            "other evidence"
        )
