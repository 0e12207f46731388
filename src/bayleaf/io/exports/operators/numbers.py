"""Numbers as operators: Student t densities of linear families in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.operators.graph import Graph

Floats = NDArray[np.float64]
# No piece says more than this, nats.
_MOST_NATS = 50.0


def number_terms(
    graph: Graph, linear: Mapping[str, Any], codes: Sequence[str]
) -> list[str]:
    """What each family with weight adds, (n_rows, n_classes) each."""
    means = np.asarray(linear["means"])
    own = [codes[feature] for feature in linear["features"]]
    # Missing numbers stand at the mean of their class.
    deviations = [
        graph.look_up(
            _extended(np.asarray(positions)[:, None] - means[:, column]), code
        )
        for column, (positions, code) in enumerate(zip(linear["positions"], own))
    ]
    weights = np.asarray(linear["weights"]).ravel()
    terms, corner = [], 0
    for family, child in enumerate(linear["children"]):
        first, last = linear["starts"][family : family + 2]
        size = last - first + 1
        weight = float(linear["shares"][family] * weights[linear["pieces"][family]])
        if weight:
            parents = linear["parents"][first:last]
            density = _log_density(graph, linear, family, corner, deviations, own)
            n_states = len(linear["positions"][child])
            counts = _extended(np.full((n_states, 1), weight))
            known = graph.look_up(counts, own[child])
            assert len(parents) == size - 1
            terms.append(graph.add("Mul", density, known))
        corner += size * (size + 1) // 2
    return terms


def _extended(table: Floats) -> Floats:
    """A table with zeros for a missing cell."""
    return np.concatenate([table, np.zeros((1, table.shape[1]))])


def _log_density(
    graph: Graph,
    linear: Mapping[str, Any],
    family: int,
    corner: int,
    deviations: Sequence[str],
    codes: Sequence[str],
) -> str:
    """Log density of a family's number given its parents, (n_rows, n_classes)."""
    first, last = linear["starts"][family : family + 2]
    parents, child = linear["parents"][first:last], linear["children"][family]
    slopes = np.asarray(linear["coefficients"])[:, first + family : last + family + 1]
    row = [deviations[parent] for parent in parents]
    residual = graph.add("Sub", deviations[child], slopes[:, 0])
    for k, value in enumerate(row, 1):
        step = graph.add("Mul", value, slopes[:, k])
        residual = graph.add("Sub", residual, step)
    scale = np.asarray(linear["scale"])[family]
    more = [_leverage(graph, row, np.asarray(linear["triangles"])[:, corner:])]
    spread = graph.add("Mul", graph.add("Add", more[0], np.array(1.0)), scale)
    for k, parent in enumerate(parents, 1):
        variance = slopes[:, k] ** 2 * np.asarray(linear["variances"])[:, parent]
        n_states = len(linear["positions"][parent])
        table = np.zeros((n_states + 1, len(variance)))
        table[-1] = variance
        spread = graph.add("Add", spread, graph.look_up(table, codes[parent]))
    freedom = np.asarray(linear["freedom"])[family]
    square = graph.add("Mul", residual, residual)
    ratio = graph.add("Div", square, graph.add("Mul", spread, freedom))
    far = graph.add("Log", graph.add("Add", ratio, np.array(1.0)))
    tail = graph.add("Mul", far, (freedom + 1.0) / 2.0)
    width = graph.add("Mul", graph.add("Log", spread), np.array(0.5))
    constants = np.asarray(linear["constants"])[family]
    found = graph.add("Sub", graph.add("Sub", constants, width), tail)
    return graph.add("Clip", found, np.array(-_MOST_NATS), np.array(_MOST_NATS))


def _leverage(graph: Graph, row: Sequence[str], triangle: Floats) -> str:
    """The squared length of the triangle's product with a row that begins with one."""
    squares, place = [], 0
    for k in range(len(row) + 1):
        product = ""
        for column in range(k, len(row) + 1):
            factor = graph.constant(triangle[:, place])
            place += 1
            term = factor if column == 0 else graph.add("Mul", row[column - 1], factor)
            product = graph.add("Add", product, term) if product else term
        squares.append(graph.add("Mul", product, product))
    return graph.sum(squares)
