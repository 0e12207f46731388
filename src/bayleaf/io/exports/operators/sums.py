"""Averaged KDB as operators: sparse tables of joint states, curves and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.occupied_terms import occupied_terms
from bayleaf.io.exports.operators.graph import ML_DOMAIN, Graph
from bayleaf.io.exports.operators.networks import joint_places
from bayleaf.io.exports.operators.numbers import number_terms

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Below so many cells for each that is occupied, tables are written out.
_MOST_EMPTY = 2


def averaged_scores(
    graph: Graph, values: Mapping[str, Any], codes: Sequence[str], cards: Sequence[int]
) -> str:
    """Scores that sum what the families of all networks say, (n_rows, n_classes)."""
    base = np.asarray(values["base"])
    terms = [graph.constant(base[None])]
    networks = values["networks"]
    # A coding of one variable is looked up once.
    coded: dict[tuple[int, int], str] = {}
    for network in networks:
        coding = int(network["coding"])
        maps = values["codings"][coding]
        for feature, family in enumerate(network["families"]):
            if family is None:
                continue
            known = {v for own, v in coded if own == coding}
            for v in sorted({*family["variables"]} - known):
                states = np.asarray(maps[v]).astype(np.int64)
                coded[coding, v] = graph.look_up(states, codes[v])
            digits = [coded[coding, v] for v in family["variables"]]
            weights = np.asarray(values["weights"])[feature] / len(networks)
            terms += _family(graph, family, digits, weights, values["pseudo"])
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


def _family(
    graph: Graph,
    family: Mapping[str, Any],
    digits: Sequence[str],
    weights: Floats,
    pseudo: Sequence[float],
) -> list[str]:
    """What one family says at each of its depths."""
    found = []
    for term in occupied_terms(family, weights, pseudo):
        if not term.members:
            rows = np.where(term.says[:, None], term.rows, 0.0)
            found.append(graph.look_up(rows, digits[0]))
            continue
        place = joint_places(graph, [digits[k] for k in term.members], term.widths)
        n_cells = prod(term.widths)
        if 0 not in term.members:
            known = graph.look_up(term.says, digits[0])
            place = graph.add("Where", known, place, np.array(n_cells))
        found.append(_sparse(graph, term.keys, term.rows, place, n_cells))
    return found


def _sparse(graph: Graph, keys: Whole, rows: Floats, places: str, n_cells: int) -> str:
    """Rows by joint state, zeros for those that have none; n_cells itself has none."""
    nothing = np.zeros((1, rows.shape[1]))
    if n_cells <= _MOST_EMPTY * max(len(keys), 8):
        table = np.zeros((n_cells + 1, rows.shape[1]))
        table[keys] = rows
        return graph.look_up(table, places)
    numbers = (
        graph.add(
            "LabelEncoder",
            places,
            domain=ML_DOMAIN,
            keys_int64s=keys.tolist(),
            values_int64s=list(range(len(keys))),
            default_int64=len(keys),
        )
        if len(keys)
        else graph.add("Mul", places, np.array(0))
    )
    return graph.look_up(np.concatenate([rows, nothing]), numbers)


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
