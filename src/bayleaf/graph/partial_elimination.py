"""Orders in which all nodes of a graph but some are eliminated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log, prod

from bayleaf.graph.triangulation import bits, eliminate, priorities

# Cliques that exceed the limit by this factor are not bettered enough by searching.
_HOPELESS = 1000
_MOST_DISTURBED = 20


@dataclass(frozen=True)
class PartialElimination:
    """An order in which some nodes are eliminated."""

    order: tuple[int, ...]  # cut short where a clique is too large
    largest: tuple[int, ...]  # the clique of most cells on the way, sorted
    cells: int  # of the largest clique


def eliminate_all_but(
    neighbours: Sequence[int],
    cards: Sequence[int],
    kept: Collection[int],
    most_cells: int,
) -> PartialElimination:
    """Find a small order for all nodes that are not kept.

    The orders of fewest fill edges and of smallest tables are compared; others are
    tried only while a clique has more cells than allowed. The result's `cells` exceed
    `most_cells` if no order stays within. `neighbours` are bits as from `moral_graph`.
    """
    best: PartialElimination | None = None
    for trial, priority in enumerate(priorities(_MOST_DISTURBED)):
        if best is not None and trial > 1:
            fits = best.cells <= most_cells
            if fits or log(best.cells) > log(most_cells) + log(_HOPELESS):
                break
        # What is a thousand times too large is known before the last node.
        order, later = eliminate(
            neighbours, cards, priority, most_cells * _HOPELESS, kept
        )
        cliques = [tuple(bits(later[node] | 1 << node)) for node in order]
        sizes = [prod(cards[v] for v in clique) for clique in cliques]
        cells = max(sizes, default=1)
        if best is None or cells < best.cells:
            largest = cliques[sizes.index(cells)] if cliques else ()
            best = PartialElimination(tuple(order), largest, cells)
    assert best is not None
    return best
