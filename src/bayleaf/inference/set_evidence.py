"""Cells that are one of several states, as evidence on auxiliary variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import PartialCodes, Rows
from bayleaf.graph.dag import DAG
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.network_trees import NetworkTrees


def with_set_evidence(trees: NetworkTrees, rows: Rows) -> tuple[NetworkTrees, Codes]:
    """Trees and codes in which children of variables stand for cells' sets of states.

    Each set that a variable's cells may have adds a binary child, which is certain
    inside the set and impossible outside; it is observed in the rows of these cells
    (virtual evidence, Pearl 1988, section 2.2.2). So sets are summed over exactly, and
    the indices of the network's own variables stay. Plain codes are returned as given.
    """
    if not isinstance(rows, PartialCodes):
        return trees, rows
    partial, codes, network = rows.partial, rows.codes, trees.network
    variables, cpds = [*network.domain], [*network.cpds]
    parents = [*network.dag.parents]
    columns = [codes.column(v) for v in range(codes.n_variables)]
    names = set(network.domain.names)
    pairs = np.stack([partial.variables, partial.sets], axis=1)
    kinds, firsts, kind_of = np.unique(
        pairs, axis=0, return_index=True, return_inverse=True
    )
    for kind, (variable, set_index) in enumerate(kinds.tolist()):
        name = f"group of {network.domain[variable].name}"
        while name in names:
            name += "_"
        names.add(name)
        label = rows.label(int(firsts[kind]))
        variables.append(Variable(name, (f"not {label}", label)))
        is_inside = np.zeros(codes.cards[variable])
        is_inside[[*partial.states[set_index]]] = 1.0
        table = np.stack([1.0 - is_inside, is_inside], axis=1)
        cpds.append(TableCPD((variable, len(cpds)), table))
        parents.append((variable,))
        column = np.full(codes.n_rows, 2)
        column[partial.rows[kind_of.ravel() == kind]] = 1
        columns.append(column)
    domain = Domain(tuple(variables))
    whole = Factorisation(domain, DAG(tuple(parents)), tuple(cpds))
    return (
        NetworkTrees(whole, max_table_cells=trees.max_table_cells),
        Codes.from_columns(columns, domain.cards, codes.weights),
    )


def with_set_families(
    rows: Rows,
) -> tuple[Codes, list[tuple[int, int]], NDArray[np.float64]]:
    """Codes with variables of sets of states, their families, and the cells of these.

    Each variable with such cells adds one, known in every row: its states are the sets,
    and last that no set is known. The tables of the families (variable, set), one after
    another, are one where a set contains a state and zero elsewhere, so they are
    likelihoods: what sums products of families over missing cells sums over the sets.
    """
    if not isinstance(rows, PartialCodes):
        return rows, [], np.empty(0)
    partial, codes = rows.partial, rows.codes
    columns = [codes.column(v) for v in range(codes.n_variables)]
    cards, families, tables = [*codes.cards], [], []
    for variable in np.unique(partial.variables).tolist():
        cells = partial.variables == variable
        used, kinds = np.unique(partial.sets[cells], return_inverse=True)
        table = np.zeros((codes.cards[variable], len(used) + 1))
        table[:, -1] = 1.0
        for kind, set_index in enumerate(used.tolist()):
            table[list(partial.states[set_index]), kind] = 1.0
        column = np.full(codes.n_rows, len(used))
        column[partial.rows[cells]] = kinds
        families.append((variable, len(columns)))
        columns.append(column)
        cards.append(len(used) + 1)
        tables.append(table.ravel())
    extended = Codes.from_columns(columns, cards, codes.weights)
    return extended, families, np.concatenate(tables)
