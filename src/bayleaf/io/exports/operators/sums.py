"""Averaged KDB as operators: sparse tables of joint states, curves and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.fused_terms import FusedTerm, fused_terms
from bayleaf.io.exports.operators.graph import ML_DOMAIN, Graph
from bayleaf.io.exports.operators.networks import joint_places
from bayleaf.io.exports.operators.numbers import number_terms

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Bytes that an occupied joint state takes where those without data are left out.
_SPARSE_BYTES = 6


def averaged_scores(
    graph: Graph, values: Mapping[str, Any], codes: Sequence[str], cards: Sequence[int]
) -> str:
    """Scores that sum what the families of all networks say, (n_rows, n_classes)."""
    base = np.asarray(values["base"])
    terms = [graph.constant(base[None])]
    # A coding of one variable is looked up once.
    coded: dict[tuple[int, bytes], str] = {}
    for term in fused_terms(values, by_child=False):
        digits = []
        for v, states in zip(term.features, term.maps, strict=True):
            key = v, states.tobytes()
            if key not in coded:
                coded[key] = graph.look_up(states, codes[v])
            digits.append(coded[key])
        terms.append(_looked_up(graph, term, digits, codes[term.child]))
    terms += beside_tables(graph, values, codes, cards, len(base))
    return graph.add("Add", graph.sum(terms), graph.row_zeros)


def beside_tables(
    graph: Graph,
    values: Mapping[str, Any],
    codes: Sequence[str],
    cards: Sequence[int],
    n_classes: int,
) -> list[str]:
    """What numbers, curves and trees add, each of shape (n_rows, n_classes)."""
    terms = []
    if "linear" in values:
        terms += number_terms(graph, values["linear"], codes)
    if "curves" in values:
        curves = values["curves"]
        for feature, curve in zip(curves["features"], curves["curves"], strict=True):
            table = np.concatenate([curve, np.zeros((1, n_classes))])
            terms.append(graph.look_up(table, codes[feature]))
    if "trees" in values:
        terms.append(_trees(graph, values["trees"], codes, cards, n_classes))
    return terms


def _looked_up(graph: Graph, term: FusedTerm, digits: Sequence[str], child: str) -> str:
    """What a term adds: the places of its distinct rows by joint state, then these."""
    place = joint_places(graph, digits, term.radices)
    n_cells = prod(term.radices)
    if term.counts_for is not None:
        known = graph.look_up(term.counts_for, child)
        place = graph.add("Where", known, place, np.array(n_cells))
    distinct, rows = np.unique(term.rows, axis=0, return_inverse=True)
    # The first says nothing; it is that of joint states without data.
    table = np.concatenate([np.zeros((1, distinct.shape[1])), distinct])
    return graph.look_up(
        table, _places(graph, term.keys, rows.ravel() + 1, place, n_cells)
    )


def _places(graph: Graph, keys: Whole, rows: Whole, place: str, n_cells: int) -> str:
    """The row of a joint state, 0 for those without; n_cells itself has none."""
    kind = np.min_scalar_type(int(rows.max(initial=0)))
    if n_cells * kind.itemsize <= _SPARSE_BYTES * len(keys):
        table = np.zeros(n_cells + 1, dtype=kind)
        table[keys] = rows
        return graph.cast(
            graph.add("Gather", graph.small_constant(table), place, axis=0), "INT64"
        )
    return graph.add(
        "LabelEncoder",
        place,
        domain=ML_DOMAIN,
        keys_int64s=keys.tolist(),
        values_int64s=rows.tolist(),
        default_int64=0,
    )


def _trees(
    graph: Graph,
    trees: Mapping[str, Any],
    codes: Sequence[str],
    cards: Sequence[int],
    n_classes: int,
) -> str:
    """What all trees add: rows go down all of them together, a level at a time."""
    features = np.array(trees["features"], dtype=np.int64)
    states, children = (
        np.array(trees[name], dtype=np.int64) for name in ("states", "children")
    )
    is_ordered = np.isin(features, trees["ordered"])
    # Leaves look at a last column, of which no state is known.
    looked_at = np.where(features < 0, len(cards), features)
    unknown = np.array([*cards, 0])[looked_at]
    columns = [graph.add("Unsqueeze", code, [1]) for code in codes]
    leaf = graph.cast(graph.add("Mul", columns[0], np.array(0)), "INT64")
    cells = graph.add("Concat", *columns, leaf, axis=1)
    roots = np.array(trees["roots"], dtype=np.int64)[None]
    node = graph.add("Add", graph.add("Mul", columns[0], np.array(0)), roots)
    for _ in range(_depth(features, children, roots[0])):
        feature = graph.look_up(looked_at, node)
        code = graph.add("GatherElements", cells, feature, axis=1)
        state = graph.look_up(states, node)
        below = graph.add("LessOrEqual", code, state)
        same = graph.add("Equal", code, state)
        ordered = graph.look_up(is_ordered, node)
        left = graph.add("Or", same, graph.add("And", ordered, below))
        right = graph.cast(graph.add("Not", left), "INT64")
        following = graph.add("Add", graph.look_up(children, node), right)
        stops = graph.add("GreaterOrEqual", code, graph.look_up(unknown, node))
        node = graph.add("Where", stops, node, following)
    values = graph.look_up(np.asarray(trees["values"]), node)
    by_class = np.eye(n_classes)[np.array(trees["classes"], dtype=np.int64)]
    return graph.add("MatMul", values, by_class)


def _depth(features: Whole, children: Whole, roots: Whole) -> int:
    """Most splits on a way from a root."""
    depth, level = 0, roots[features[roots] >= 0]
    while len(level):
        depth += 1
        below = np.concatenate([children[level], children[level] + 1])
        level = below[features[below] >= 0]
    return depth
