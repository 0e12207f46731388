"""Products of tables that are summed out, from tables alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.factorisation import Factorisation
from bayleaf.scoring.terms import SumOut


def sum_out_of(
    cards: Sequence[int],
    order: Sequence[int],
    tables: Sequence[tuple[tuple[int, ...], NDArray[np.float64]]],
    weight: float = 1.0,
) -> SumOut:
    """A sum of products of distributions, each of the last variable of its family."""
    by_child = {family[-1]: TableCPD(family, table) for family, table in tables}
    cpds = tuple(by_child[child] for child in range(len(cards)))
    domain = Domain(
        tuple(
            Variable(f"v{v}", tuple(f"s{state}" for state in range(card)))
            for v, card in enumerate(cards)
        )
    )
    dag = DAG(tuple(cpd.parents for cpd in cpds))
    return SumOut(Factorisation(domain, dag, cpds), tuple(order), weight)
