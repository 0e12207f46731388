"""Leave-one-out by estimating every table again without the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds import Smoothing, TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.models import BayesianNetwork, NetworkModel

Parents = Sequence[tuple[int, ...]]
# A probability of zero counts as this.
LEAST = float(np.finfo(np.float64).tiny)


def domain_of(codes: Codes) -> Domain:
    """A domain with numbers as names and states."""
    cards = codes.cards
    return Domain(
        tuple(Variable(f"v{i}", tuple(range(n))) for i, n in enumerate(cards))
    )


def without(codes: Codes, row: int) -> Codes:
    """The table with one of the rows that a row's weight stands for taken out."""
    weights = np.array(codes.weights)
    weights[row] -= min(weights[row], 1.0)
    columns = [codes.column(i) for i in range(codes.n_variables)]
    return Codes.from_columns(columns, codes.cards, weights)


def network(
    codes: Codes, parents: Parents, rule: Smoothing, prior: NDArray[np.float64] | None
) -> NetworkModel:
    """A network with these parents of each variable, the class last, by one rule."""
    dag = DAG((*parents, ()))
    counts = RowCounts(codes).family_counts(dag.families)
    tables = [rule.estimate(table) for table in counts]
    cpds = [
        TableCPD(family, np.maximum(table, LEAST))
        for family, table in zip(dag.families[:-1], tables, strict=False)
    ]
    cpds.append(TableCPD(dag.families[-1], tables[-1] if prior is None else prior))
    return NetworkModel(BayesianNetwork(domain_of(codes), dag, tuple(cpds)))


def left_out_log_scores(
    codes: Codes, learn: Callable[[Codes], NetworkModel]
) -> NDArray[np.float64]:
    """Log joint of each row under what `learn` makes of the others, (rows, classes)."""
    features = Codes.from_columns(
        [codes.column(i) for i in range(codes.n_variables - 1)], codes.cards[:-1]
    )
    rows = [
        learn(without(codes, row)).class_log_scores(features.rows(slice(row, row + 1)))
        for row in range(codes.n_rows)
    ]
    return np.concatenate(rows)
