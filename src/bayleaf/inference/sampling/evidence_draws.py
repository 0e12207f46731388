"""Steps that draw rows from a network given evidence, exactly and without rejection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import bits, eliminate, married
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation, cut_network
from bayleaf.inference.junction_tree.decomposition import decomposable
from bayleaf.inference.junction_tree.small_product import small_product
from bayleaf.inference.sampling.draws import Draw, Drawing
from bayleaf.inference.sampling.forward_draws import forward_draw
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
    network: Factorisation, evidence: Evidence, max_table_cells: int
) -> tuple[list[Drawing], float, tuple[int, ...]]:
    """Prepare steps that draw every variable whose state is not known.

    The ancestors of the evidence are eliminated one by one; each is then drawn, in
    reverse order, given the variables that its table held beside it (Dechter 1999,
    "Bucket elimination", section 6, with a draw in place of the maximum). All other
    variables follow from their parents.

    Parameters
    ----------
    network : Factorisation
        The network.
    evidence : Evidence
        What is known.
    max_table_cells : int
        Largest table that elimination may build.

    Returns
    -------
    draws : list of Drawing
        Steps in order.
    log_probability : float
        ln P(evidence), minus infinity if it is impossible; the steps are then useless.
    cards : tuple of int
        Number of states of each variable that is drawn; auxiliary ones, if there are
        any, come after the network's.

    Raises
    ------
    ValueError
        If a table would have more than `max_table_cells` cells.
    """
    hard = evidence.hard
    above = ancestors(network.dag, [item.variable for item in evidence.items])
    factors, cards, owners = _family_factors(network, above, hard, max_table_cells)
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
    left = [v for v in [*sorted(above), *owners] if v not in hard]
    task = _Elimination(network.domain, cards, owners, max_table_cells)
    eliminated, log_probability = task.sum_out(factors, left)
    log_probability += sum(log(weight) for weight in weights) + evidence.log_scale
    forward = [
        forward_draw(network.cpds[node])
        for node in network.dag.order
        if node not in above
    ]
    return [*reversed(eliminated), *forward], log_probability, cards


def _family_factors(
    network: Factorisation,
    members: Collection[int],
    hard: dict[int, int],
    max_table_cells: int,
) -> tuple[list[_Factor], tuple[int, ...], dict[int, list[int]]]:
    """Factors of some families; all variables' cards, whom auxiliary ones follow."""
    cards = network.domain.cards
    kept = sorted(members)
    if not any(decomposable(network.cpds[node]) for node in kept):
        return [_cpd_factor(network, node, hard) for node in kept], cards, {}
    part = cut_network(network, kept, hard)
    product = small_product(part.domain.cards, part.cpds, max_table_cells)
    n_extra = len(product.cards) - len(kept)
    numbers = [*kept, *range(len(cards), len(cards) + n_extra)]
    owners = {
        numbers[v]: [numbers[own] for own in product.own_variables([v])]
        for v in range(len(kept), len(product.cards))
    }
    factors = []
    for term in product.terms:
        family = [numbers[v] for v in term.family]
        sizes = [product.cards[v] for v in term.family]
        own = {v for member in family for v in owners.get(member, [member])}
        _check_size(network.domain, own, prod(sizes), max_table_cells)
        factors.append(_fixed(family, term.make(), hard))
    return factors, (*cards, *product.cards[len(kept) :]), owners


def _cpd_factor(network: Factorisation, node: int, hard: dict[int, int]) -> _Factor:
    """A normalised distribution, known variables fixed at their states."""
    cpd = network.cpds[node]
    table = cpd.probabilities / cpd.probabilities.sum(axis=-1, keepdims=True)
    return _fixed(cpd.family, table, hard)


def _fixed(family: Sequence[int], table: Floats, hard: dict[int, int]) -> _Factor:
    """A factor with known variables at their states, its variables in order."""
    fixed = table[tuple(hard.get(member, slice(None)) for member in family)]
    left = [member for member in family if member not in hard]
    order = np.argsort(left)
    return _Factor(tuple(sorted(left)), np.transpose(fixed, order))


@dataclass(frozen=True)
class _Elimination:
    """Sums variables out of a product of factors.

    Parameters
    ----------
    domain : Domain
        The network's variables.
    cards : tuple of int
        Their numbers of states, then those of auxiliary variables.
    owners : dict from int to list of int
        For each auxiliary variable, the network's variables that it follows.
    limit : int
        Largest table that may be built.
    """

    domain: Domain
    cards: tuple[int, ...]
    owners: dict[int, list[int]]
    limit: int

    def sum_out(
        self, factors: list[_Factor], variables: Sequence[int]
    ) -> tuple[list[Draw], float]:
        """Eliminate variables; a draw for each, and the log of what is left."""
        place = {variable: i for i, variable in enumerate(variables)}
        neighbours = married(
            [[place[v] for v in factor.variables] for factor in factors],
            len(variables),
        )
        order, later = eliminate(neighbours, [self.cards[v] for v in variables])
        draws: list[Draw] = []
        log_scale = 0.0
        for node in order:
            variable = variables[node]
            given = [variables[other] for other in bits(later[node])]
            self._check([*given, variable])
            mentioning = [f for f in factors if variable in f.variables]
            factors = [f for f in factors if variable not in f.variables]
            table = _product(mentioning, given, variable, self.cards)
            draws.append(Draw.from_table(given, (variable,), table))
            message = table.sum(axis=-1)
            largest = float(message.max())
            if largest == 0.0:
                return draws, -np.inf
            log_scale += log(largest)
            factors.append(_Factor(tuple(given), message / largest))
        rest = prod(float(factor.values) for factor in factors)
        return draws, log_scale + log(rest) if rest > 0.0 else -np.inf

    def _check(self, variables: Sequence[int]) -> None:
        """Raise if a table over some variables is too large."""
        own = {v for member in variables for v in self.owners.get(member, [member])}
        cells = prod(self.cards[v] for v in variables)
        _check_size(self.domain, own, cells, self.limit)


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


def _check_size(
    domain: Domain, variables: Collection[int], cells: int, limit: int
) -> None:
    """Raise if a table that speaks of some variables is too large."""
    if cells > limit:
        names = [domain[v].name for v in sorted(variables)]
        raise ValueError(
            f"drawing rows under this evidence needs a table of {cells:.3g} cells over "
            f"{name_list(names)}, more than max_table_cells={limit}; raise it, or give "
            "other evidence"
        )
