"""The factors whose product is proportional to a posterior, evidence put in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation, cut_network
from bayleaf.inference.junction_tree.decomposition import Product
from bayleaf.inference.junction_tree.small_product import small_product

Floats = NDArray[np.float64]
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Potentials:
    """Tables over the variables that are open, whose product is P(all, evidence)."""

    cards: tuple[int, ...]  # the network's variables, then auxiliary ones
    open_variables: Scope
    scopes: tuple[Scope, ...]  # variables along the axes of each table
    tables: tuple[Floats, ...]
    log_constant: float  # factor without variables, minus infinity if 0


def potentials(
    network: Factorisation, evidence: Evidence, kept: Iterable[int], most_cells: int
) -> Potentials:
    """The factors of some variables of a network.

    `kept` includes the evidence and all unknown parents. ValueError if a distribution
    needs more than `most_cells`.
    """
    members = sorted(kept)
    part = cut_network(network, members, evidence.hard)
    product = small_product(part.domain.cards, part.cpds, most_cells)
    own_cards = network.domain.cards
    numbers = _numbers(members, product, len(own_cards))
    place = {member: i for i, member in enumerate(members)}
    known = {place[v]: finding for v, finding in evidence.findings.items()}
    likelihoods = product.auxiliary_likelihoods(known)
    hard = {place[v]: state for v, state in evidence.hard.items()}
    cards = (*own_cards, *product.cards[len(members) :])
    scopes: list[Scope] = []
    tables: list[Floats] = []
    log_constant = 0.0
    for term in product.terms:
        cells = prod(product.cards[v] for v in term.family)
        if cells > most_cells:
            raise ValueError(
                f"a distribution has a table of {cells:.3g} cells, more than "
                f"max_table_cells={most_cells}; raise it, or give its variable fewer "
                "parents"
            )
        table = term.make()[tuple(hard.get(v, slice(None)) for v in term.family)]
        scope = tuple(numbers[v] for v in term.family if v not in hard)
        scopes.append(scope)
        tables.append(np.asarray(table, dtype=np.float64))
    for v, weights in {**known, **likelihoods}.items():
        if isinstance(weights, np.ndarray) and v not in hard:
            scopes.append((numbers[v],))
            tables.append(np.asarray(weights, dtype=np.float64))
        elif isinstance(weights, np.ndarray):
            # A likelihood that leaves one state still has a weight there.
            log_constant += float(np.log(weights[hard[v]]))
    constants = [float(t) for s, t in zip(scopes, tables, strict=True) if not s]
    with np.errstate(divide="ignore"):
        log_constant += float(np.log(constants).sum())
    chosen = [i for i, scope in enumerate(scopes) if scope]
    everything = {v for scope in scopes for v in scope}
    return Potentials(
        cards,
        tuple(sorted(everything)),
        tuple(scopes[i] for i in chosen),
        tuple(tables[i] for i in chosen),
        log_constant,
    )


def _numbers(members: Sequence[int], product: Product, n_own: int) -> list[int]:
    """Number of each of a product's variables, auxiliary ones after all own ones."""
    n_extra = len(product.cards) - len(members)
    return [*members, *range(n_own, n_own + n_extra)]
