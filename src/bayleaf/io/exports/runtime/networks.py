"""A network as scripts compute with it: factors, cliques, and their links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.family_decomposition import Form
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.io.exports.runtime.packing import packed
from bayleaf.scoring.terms import Floats

# Cells of all cliques together: a browser still answers within a second.
MOST_CELLS = 5_000_000


def compiled_tree(network: Factorisation) -> JunctionTree:
    """The junction tree of a network that a page can hold.

    ValueError if the cliques are too large for a page.
    """
    advice = (
        "a page can hold networks whose cliques have at most "
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
    return tree


def tree_content(
    tree: JunctionTree, form: Callable[[Floats], Any] = packed
) -> dict[str, Any]:
    """A junction tree as plain values.

    Wide trees and grouped tables keep the auxiliary variables that take them apart,
    numbered from the network's own on. A term that is the whole table of a variable
    names it as its child. Tables come in a form, packed if no other is given.
    """
    product = tree.product
    whole = [form is Form.WHOLE for form in product.forms]
    return {
        "cards": list(product.cards),
        "terms": [
            {
                "family": list(term.family),
                "table": form(term.make()),
                **({"child": place} if place < len(whole) and whole[place] else {}),
            }
            for place, term in enumerate(product.terms)
        ],
        "cliques": [list(clique) for clique in tree.cliques],
        "links": [list(edge) for edge in tree.forest.edges],
    }
