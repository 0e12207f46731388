"""How much the two ends of each arc of a network share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import (
    conditional_mutual_information,
    mutual_information_of_table,
)
from bayleaf.inference.junction_tree import JunctionTree

# Cells of a family beyond which its arcs are not measured.
_MOST_CELLS = 200_000
Floats = NDArray[np.float64]


def informed_arcs(
    tree: JunctionTree, class_index: int | None = None
) -> list[tuple[int, int, float | None]]:
    """Arcs of a network with the information (nats) that parent and child share.

    It is measured within the classes where the class is another parent of the child;
    None where the network never holds the family as one table.
    """
    dag = tree.network.dag
    tables = tree.families({})
    arcs: list[tuple[int, int, float | None]] = []
    for child, parents in enumerate(dag.parents):
        family = tree.product.families[child]
        known = not tree.is_apart(child) and tables[child].size <= _MOST_CELLS
        for parent in parents:
            weight = None
            if known:
                is_within = class_index in parents and parent != class_index
                axis = family.index(class_index) if is_within else None
                weight = _shared(
                    tables[child], family.index(parent), family.index(child), axis
                )
            arcs.append((parent, child, weight))
    return arcs


def _shared(table: Floats, parent: int, child: int, within: int | None) -> float:
    """Information that two axes of a joint table share, within a third's states."""
    kept = [parent, child] if within is None else [parent, child, within]
    others = [axis for axis in range(table.ndim) if axis not in kept]
    rest = table.transpose([*kept, *others])
    sums = rest.reshape(*rest.shape[: len(kept)], -1).sum(axis=-1)
    if within is None:
        return mutual_information_of_table(sums)
    return conditional_mutual_information(sums)
