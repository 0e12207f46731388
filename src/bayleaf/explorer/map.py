"""The map of a model: boxes with bars or names, and the ways of arcs around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import (
    conditional_mutual_information,
    mutual_information_of_table,
)
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.layout.layered import Drawing, with_tops
from bayleaf.models.texts.picture import WeightedArc

Content = dict[str, Any]
Floats = NDArray[np.float64]

# States with bars in a box, and arcs for a variable where arcs have weights.
STATES_SHOWN = 6
_ARCS_A_VARIABLE = 1.5
# Width of a box, and heights (CSS pixels) of its edges, a line of its name and a state.
_WIDTH, _EDGES, _LINE, _STATE = 176, 14, 19, 21
# A box that holds a name and a state; letters of a name in a line.
_NAME_WIDTH, _NAME_EDGES, _LETTERS = 148, 31, {"bars": 17, "names": 14}
_GAP = (26.0, 44.0)
# A class with more arcs than this is a mark on its children, not a bundle of arcs.
_MOST_CLASS_ARCS = 3
# Graphs above this have one drawing, without the arcs of the class.
_MOST_FOR_CLASS_ARCS = 150
# Cells of a family beyond which its arcs are not measured.
_MOST_CELLS = 200_000


def map_content(
    variables: Sequence[Content], arcs: Sequence[WeightedArc], top: int | None
) -> Content:
    """Places of all variables, computed ahead for the page; the class `top` is above.

    `variables` have name, state and role; "cells" are not drawn, arcs pass through
    them. `arcs` are (parent, child, what the width shows or None); the result's weights
    are from 0 to 1. ``marked`` are children of the class whose arcs from it are marks,
    ``left_out`` is the number of light arcs, and ``drawings`` has "bars" and "names",
    with "bars+class" and "names+class" where the arcs of the class can be drawn as
    well.
    """
    drawn = _without_cells(variables, arcs)
    shown, left_out = _heaviest(drawn, len(variables), top)
    of_class = [arc for arc in shown if arc[0] == top]
    others = [arc for arc in shown if arc[0] != top]
    has_marks = len(of_class) > _MOST_CLASS_ARCS
    plain = others if has_marks else shown
    everything = [*plain, *of_class] if has_marks else plain
    nodes = [v for v, own in enumerate(variables) if own["role"] != "cells"]
    drawings = {}
    for form in ("bars", "names"):
        sizes = [_box(variables[node], form) for node in nodes]
        drawings[form] = _drawing(nodes, sizes, plain, top)
        if has_marks and len(nodes) <= _MOST_FOR_CLASS_ARCS:
            drawings[f"{form}+class"] = _drawing(nodes, sizes, everything, top)
    return {
        "nodes": nodes,
        "arcs": _shares(plain) + (_shares(of_class) if has_marks else []),
        "marked": [child for _, child, _ in of_class] if has_marks else [],
        "left_out": left_out,
        "drawings": drawings,
    }


def _without_cells(
    variables: Sequence[Content], arcs: Sequence[WeightedArc]
) -> list[WeightedArc]:
    """Arcs between variables that are drawn, past those that are not."""
    hidden = {v for v, own in enumerate(variables) if own["role"] == "cells"}
    above: dict[int, list[WeightedArc]] = {}
    for arc in arcs:
        above.setdefault(arc[1], []).append(arc)

    def ends(arc: WeightedArc) -> list[int]:
        if arc[0] not in hidden:
            return [arc[0]]
        return [end for upper in above.get(arc[0], []) for end in ends(upper)]

    found = {
        (parent, arc[1]): arc[2]
        for arc in arcs
        if arc[1] not in hidden
        for parent in ends(arc)
    }
    return [(parent, child, weight) for (parent, child), weight in found.items()]


def _heaviest(
    arcs: Sequence[WeightedArc], n_variables: int, top: int | None
) -> tuple[list[WeightedArc], int]:
    """Arcs by falling weight, and how many light ones a drawing had to leave out."""
    ordered = sorted(arcs, key=lambda arc: -(arc[2] or 0.0))
    light = [arc for arc in ordered if arc[0] != top and arc[2] is not None]
    most = int(_ARCS_A_VARIABLE * n_variables)
    if len(light) <= 2 * most:
        return ordered, 0
    dropped = set(light[most:])
    return [arc for arc in ordered if arc not in dropped], len(dropped)


def _shares(arcs: Sequence[WeightedArc]) -> list[list[int | float | None]]:
    """Arcs with their weights as shares of the largest."""
    heaviest = max((arc[2] or 0.0 for arc in arcs), default=0.0) or 1.0
    return [
        [p, c, None if weight is None else round(weight / heaviest, 4)]
        for p, c, weight in arcs
    ]


def _box(variable: Content, form: str) -> tuple[int, int]:
    """Width and height of a variable's box."""
    lines = 1 if len(variable["name"]) <= _LETTERS[form] else 2
    if form == "names":
        return _NAME_WIDTH, _NAME_EDGES + lines * _LINE
    n_states = len(variable["states"])
    rows = min(n_states, STATES_SHOWN) + (n_states > STATES_SHOWN)
    return _WIDTH, _EDGES + lines * _LINE + rows * _STATE


def _drawing(
    nodes: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    arcs: Sequence[WeightedArc],
    top: int | None,
) -> Content:
    """One layered drawing in whole pixels."""
    place = {node: i for i, node in enumerate(nodes)}
    pairs = [(place[parent], place[child]) for parent, child, _ in arcs]
    tops = [] if top is None else [place[top]]
    drawing: Drawing = with_tops(sizes, pairs, tops, gap=_GAP)
    boxes = np.column_stack([drawing.centres - drawing.sizes / 2, drawing.sizes])
    return {
        "boxes": np.rint(boxes).astype(int).tolist(),
        "ways": [np.rint(way).astype(int).ravel().tolist() for way in drawing.curves],
        "width": int(np.ceil(drawing.width)),
        "height": int(np.ceil(drawing.height)),
    }


def informed_arcs(tree: JunctionTree, class_index: int | None) -> list[WeightedArc]:
    """Arcs of a network with the information (nats) that parent and child share.

    It is measured within the classes where the class is another parent of the child;
    None where the network never holds the family as one table.
    """
    dag = tree.network.dag
    tables = tree.families({})
    found: list[WeightedArc] = []
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
            found.append((parent, child, weight))
    return found


def _shared(table: Floats, parent: int, child: int, within: int | None) -> float:
    """Information that two axes of a joint table share, within a third's states."""
    kept = [parent, child] if within is None else [parent, child, within]
    others = [axis for axis in range(table.ndim) if axis not in kept]
    rest = table.transpose([*kept, *others])
    sums = rest.reshape(*rest.shape[: len(kept)], -1).sum(axis=-1)
    if within is None:
        return mutual_information_of_table(sums)
    return conditional_mutual_information(sums)
