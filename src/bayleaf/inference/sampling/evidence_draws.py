"""Steps that draw rows from a network given evidence, exactly and without rejection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import JunctionForest
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import cut_network
from bayleaf.inference.junction_tree.tree import JunctionTree
from bayleaf.inference.parts import NetworkTrees
from bayleaf.inference.sampling.draws import Draw, Drawing
from bayleaf.inference.sampling.forward_draws import forward_draw


def evidence_draws(
    trees: NetworkTrees, evidence: Evidence
) -> tuple[list[Drawing], tuple[int, ...]]:
    """Prepare steps that draw every variable whose state is not known.

    The ancestors of the evidence are drawn clique by clique from the roots of their
    junction tree, each clique given what it shares with those before it (Dawid 1992,
    "Applications of a general propagation algorithm for probabilistic expert systems",
    section 4). All other variables follow from their parents.

    Also returns cards, with auxiliary variables after the network's.
    ImpossibleEvidenceError if P(evidence) is zero, ValueError if a table would be too
    large.
    """
    network, cards = trees.network, trees.domain.cards
    above = ancestors(network.dag, [item.variable for item in evidence.items])
    draws: list[Drawing] = []
    if above:
        kept = sorted(above)
        part = cut_network(network, kept, evidence.hard)
        tree = JunctionTree.compile(part, max_table_cells=trees.max_table_cells)
        place = {variable: i for i, variable in enumerate(kept)}
        findings = {place[v]: value for v, value in evidence.findings.items()}
        tables = tree.clique_posteriors(findings)
        if not tables[0].any():
            raise trees.impossible(evidence)
        extra = tree.product.cards[len(kept) :]
        numbers = [*kept, *range(len(cards), len(cards) + len(extra))]
        draws += _clique_draws(tree.forest, tables, numbers, evidence.hard)
        cards = (*cards, *extra)
    below = [node for node in network.dag.order if node not in above]
    draws += [forward_draw(network.cpds[node]) for node in below]
    return draws, cards


def _clique_draws(
    forest: JunctionForest,
    tables: Sequence[NDArray[np.float64]],
    numbers: Sequence[int],
    hard: Mapping[int, int],
) -> Iterator[Draw]:
    """Steps for the variables that are not known, given the posteriors of cliques.

    Variables of the forest are drawn under the numbers that `numbers` gives them.
    """
    drawn: set[int] = set()
    for position in _from_roots(forest):
        clique = [numbers[v] for v in forest.cliques[position]]
        table = tables[position][tuple(hard.get(v, slice(None)) for v in clique)]
        left = [v for v in clique if v not in hard]
        given = [v for v in left if v in drawn]
        new = [v for v in left if v not in drawn]
        if new:
            order = [left.index(v) for v in (*given, *new)]
            yield Draw.from_table(given, new, np.transpose(table, order))
            drawn.update(new)


def _from_roots(forest: JunctionForest) -> Iterator[int]:
    """Positions of all cliques, each root before its children, and so on."""
    neighbours: list[list[int]] = [[] for _ in forest.cliques]
    for one, other in forest.edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    seen: set[int] = set()
    for root in range(len(forest.cliques)):
        waiting = [root]
        while waiting:
            position = waiting.pop()
            if position not in seen:
                seen.add(position)
                waiting += neighbours[position]
                yield position
