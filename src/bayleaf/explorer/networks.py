"""A network as the page computes with it: factors, cliques, and their links."""

from __future__ import annotations

from typing import Any

from bayleaf.explorer.packing import packed
from bayleaf.inference.junction_tree.tree import JunctionTree
from bayleaf.models.bayesian_network import BayesianNetwork

# Cells of all cliques together: a browser still answers within a second.
MOST_CELLS = 5_000_000


def compiled_network(network: BayesianNetwork) -> dict[str, Any]:
    """The junction tree of a network as plain values.

    Wide trees and grouped tables keep the auxiliary variables that take them apart,
    numbered from the network's own on.

    Raises
    ------
    ValueError
        If the cliques are too large for a page.
    """
    advice = (
        "the explorer can show networks whose cliques have at most "
        f"{MOST_CELLS} cells together; give variables fewer states or parents, or ask "
        "with `bayleaf query`"
    )
    try:
        tree = JunctionTree.compile(network, max_table_cells=MOST_CELLS)
    except ValueError as error:
        raise ValueError(f"{str(error).split(';')[0]}; {advice}") from None
    cards = tree.product.cards
    cells = sum(tree.forest.table_cells(cards))
    if cells > MOST_CELLS:
        raise ValueError(
            f"exact inference in this network needs {cells} cells in all its cliques; "
            f"{advice}"
        )
    return {
        "cards": list(cards),
        "terms": [
            {"family": list(term.family), "table": packed(term.make())}
            for term in tree.product.terms
        ],
        "cliques": [list(clique) for clique in tree.cliques],
        "links": [list(edge) for edge in tree.forest.edges],
    }
