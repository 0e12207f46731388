"""The cliques of a network, as long as none of them is too large."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from bayleaf.counts.source import Family
from bayleaf.graph.triangulation import (
    JunctionForest,
    hopeless_clique,
    married,
    small_forest,
)
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.junction_tree.decomposition import Product
from bayleaf.inference.junction_tree.small_product import HOPELESS
from bayleaf.wording import name_list


class TooWideError(ValueError):
    """Exact inference needs a larger table than is allowed."""


def bounded_forest(
    network: Factorisation, product: Product, limit: int
) -> JunctionForest:
    """Triangulate the graph of a product so that no clique exceeds `limit` cells.

    TooWideError names the variables of a larger clique.
    """
    neighbours = married(product.families, len(product.cards))
    # A thorough search takes long, and longest where it will find nothing.
    clique = hopeless_clique(neighbours, product.cards, limit * HOPELESS)
    _check_sizes(network, product, [clique], limit)
    forest = small_forest(neighbours, product.cards)
    _check_sizes(network, product, forest.cliques, limit)
    return forest


def _check_sizes(
    network: Factorisation,
    product: Product,
    cliques: Iterable[Family],
    limit: int,
) -> None:
    """Raise if a clique exceeds the limit, naming its variables."""
    for clique in cliques:
        cells = prod(product.cards[v] for v in clique)
        if cells > limit:
            own = product.own_variables(clique)
            names = name_list([str(network.domain[v].name) for v in own])
            raise TooWideError(
                f"exact inference needs a table of {cells:.3g} cells over {names}, "
                f"more than max_table_cells={limit}; raise it, or give these variables "
                "fewer states or parents"
            )
