"""Influence diagrams from what a file declares, and as what a file lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import check_distributions
from bayleaf.data.domain import Domain, Variable
from bayleaf.decisions import InfluenceDiagram, Utility
from bayleaf.graph.dag import DAG
from bayleaf.io.atomic import text_file
from bayleaf.io.formats.assemble import (
    DeclaredTable,
    DeclaredVariable,
    Variables,
    assembled_tables,
)
from bayleaf.io.formats.full_tables import MAX_TABLE_CELLS
from bayleaf.io.formats.safe_names import SafeNames, restored_variable
from bayleaf.io.formats.source_file import counted, quoted


def assembled_diagram(
    variables: Variables,
    decisions: Collection[str],
    utilities: Sequence[DeclaredVariable],
    tables: Sequence[DeclaredTable],
    *,
    normalize: bool = False,
) -> InfluenceDiagram:
    """Build the diagram that a file declares; `normalize` as in `RowSums`.

    `decisions` are names of variables. Their tables, if any, have parents alone, those
    of utilities a number per configuration of the parents. NetworkFileError as of
    `assembled_network`, or if a utility's numbers do not fit or there is none.
    """
    if not utilities:
        raise variables.error(
            None,
            "the file has no utility, so that no decision is better than another; add "
            "one, or read it with read_network",
        )
    by_child: dict[str, DeclaredTable] = {}
    separate = {*decisions, *(utility.name for utility in utilities)}
    for table in tables:
        if table.child in by_child:
            raise variables.error(
                table.line,
                f"{quoted(table.child)} is defined a second time here; leave one",
            )
        if table.child in separate:
            by_child[table.child] = table
    observed = {}
    for each in variables.declared:
        if each.name in decisions:
            seen = by_child.get(each.name)
            line = each.line if seen is None else seen.line
            family = variables.family(
                each.name, () if seen is None else seen.parents, line
            )
            observed[family[-1]] = family[:-1], line
    chance = [table for table in tables if table.child not in separate]
    dag, cpds = assembled_tables(variables, chance, observed, normalize=normalize)
    worth = [_worth(variables, each, by_child.get(each.name)) for each in utilities]
    whole = DAG((*dag.parents, *(above for above, _ in worth)))
    try:
        return InfluenceDiagram(
            variables.domain,
            whole,
            tuple(cpds.get(node) for node in range(len(dag))),
            tuple(utility for _, utility in worth),
        )
    except ValueError as error:
        raise variables.error(None, str(error)) from error


def _worth(
    variables: Variables, declared: DeclaredVariable, table: DeclaredTable | None
) -> tuple[tuple[int, ...], Utility]:
    """Parents and values of a utility."""
    what = f"utility {quoted(declared.name)}"
    if table is None:
        raise variables.error(declared.line, f"{what} has no numbers; add them")
    role = f"a parent of {quoted(declared.name)}"
    above = tuple(variables.index(p, table.line, role) for p in table.parents)
    if len(set(above)) < len(above):
        raise variables.error(
            table.line, f"{what} names a parent twice; name each once"
        )
    cards = variables.cards(above)
    if table.values.size != prod(cards):
        raise variables.error(
            table.line,
            f"{what} has {counted(table.values.size)} numbers, but the states of "
            f"its parents ask for {counted(prod(cards))}",
        )
    possible = tuple(slice(variables.domain.cards[parent]) for parent in above)
    try:
        name = restored_variable(declared.name, ["utility"], declared.notes).name
    except ValueError as error:
        raise variables.error(declared.line, str(error)) from error
    return above, Utility(name, table.values.reshape(cards)[possible])


@dataclass(frozen=True)
class ListedNode:
    """A node of a diagram as a file lists it."""

    index: int
    kind: str  # "chance", "decision" or "utility"
    parents: tuple[int, ...]
    values: NDArray[np.float64] | None  # first parent slowest; None for decisions


def diagram_writer(
    texts: Callable[[SafeNames, Iterator[ListedNode]], Iterator[str]],
) -> Callable[[InfluenceDiagram, str | Path], None]:
    """A format's function that writes a file, from its texts; errors of `_listed`."""

    def write_diagram(diagram: InfluenceDiagram, path: str | Path) -> None:
        # A utility counts as a variable of one state.
        utilities = (Variable(u.name, ("utility",)) for u in diagram.utilities)
        names = SafeNames.for_network(Domain((*diagram.domain, *utilities)))
        with text_file(path) as out:
            out.writelines(texts(names, _listed(diagram)))

    return write_diagram


def _listed(diagram: InfluenceDiagram) -> Iterator[ListedNode]:
    """All nodes, the variables in their order before the utilities.

    ValueError names a node whose table exceeds `MAX_TABLE_CELLS` or is not of
    distributions.
    """
    cards = diagram.domain.cards
    for node, parents in enumerate(diagram.dag.parents):
        is_utility = node >= len(cards)
        utility = diagram.utilities[node - len(cards)] if is_utility else None
        name = diagram.domain.names[node] if utility is None else utility.name
        size = prod(cards[p] for p in parents) * (1 if is_utility else cards[node])
        if size > MAX_TABLE_CELLS:
            raise ValueError(
                f"the table of {quoted(name)} would have {size:,} cells, more than "
                f"{MAX_TABLE_CELLS:,}; give it fewer parents"
            )
        if utility is not None:
            yield ListedNode(node, "utility", parents, utility.values)
        elif (cpd := diagram.cpds[node]) is None:
            yield ListedNode(node, "decision", parents, None)
        else:
            table = cpd.probabilities
            check_distributions(table, f"the table of variable {quoted(name)}")
            yield ListedNode(node, "chance", parents, table)
