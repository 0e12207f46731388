"""Places for the nodes of a graph: layers from top to bottom, few crossings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Arc = tuple[int, int]
_SWEEPS = 6
# Bows among which an arc chooses.
BOWS = (0.0, 0.12, -0.12, 0.25, -0.25, 0.4, -0.4, 0.55, -0.55)


def layered(
    n_nodes: int, arcs: Sequence[Arc], tops: Iterable[int] = ()
) -> NDArray[np.float64]:
    """Columns and rows for the nodes of a graph, parents above their children.

    Nodes stand below all of their parents (longest paths), in each layer by the mean
    place of their neighbours (Sugiyama, Tagawa & Toda 1981, "Methods for visual
    understanding of hierarchical system structures"); layers that are too wide to read
    are broken into rows. Nodes without arcs come last,
    those with arcs from the top alone first.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    arcs : sequence of (int, int)
        Parent and child, the most important first: one that would close a cycle with
        those before it has no say in the places.
    tops : iterable of int
        Nodes with a row of their own above all others, whose arcs have no say.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        Column (centre at 0) and row (from 0 downwards); nodes in a row are at least
        one column apart.
    """
    above = list(tops)
    inner = [node for node in range(n_nodes) if node not in set(above)]
    used = acyclic(n_nodes, [a for a in arcs if not set(a) & set(above)])
    neighbours: list[list[int]] = [[] for _ in range(n_nodes)]
    for parent, child in used:
        neighbours[parent].append(child)
        neighbours[child].append(parent)
    joined = [node for node in inner if neighbours[node]]
    alone = [node for node in inner if not neighbours[node]]
    layers = _ordered(_layers(n_nodes, joined, used), neighbours)
    width = max(6, math.ceil(math.sqrt(1.3 * max(len(inner), 1))))
    rows = [above] if above else []
    parents = {parent for parent, _ in used}
    hung = {child for parent, child in arcs if parent in above}
    first = [node for node in alone if node in hung]
    last = [node for node in alone if node not in hung]
    for layer in [first, *layers, last]:
        # Nodes with children come last, next to these.
        layer = sorted(layer, key=lambda node: node in parents)
        n_rows = max(1, math.ceil(len(layer) / width))
        size = max(1, math.ceil(len(layer) / n_rows))
        rows += [layer[i : i + size] for i in range(0, len(layer), size)]
    return _placed(n_nodes, rows, used)


def acyclic(n_nodes: int, arcs: Iterable[Arc]) -> list[Arc]:
    """The arcs without those that close a cycle with the ones before them."""
    children: list[set[int]] = [set() for _ in range(n_nodes)]
    kept = []
    for parent, child in arcs:
        if not _reaches(children, child, parent):
            children[parent].add(child)
            kept.append((parent, child))
    return kept


def _reaches(children: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether a path leads from one node to another."""
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        if node == end:
            return True
        fresh = children[node] - seen
        seen |= fresh
        waiting += fresh
    return False


def _layers(n_nodes: int, inner: Sequence[int], arcs: Sequence[Arc]) -> list[list[int]]:
    """Nodes by the length of the longest path that leads to them."""
    children: list[list[int]] = [[] for _ in range(n_nodes)]
    missing = [0] * n_nodes
    for parent, child in arcs:
        children[parent].append(child)
        missing[child] += 1
    layer = [node for node in inner if not missing[node]]
    layers = []
    while layer:
        layers.append(layer)
        below = []
        for child in (child for node in layer for child in children[node]):
            missing[child] -= 1
            if not missing[child]:
                below.append(child)
        layer = below
    return layers


def _ordered(
    layers: list[list[int]], neighbours: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Layers sorted by where the neighbours of each node stand, down and up."""
    place: dict[int, float] = {}
    for layer in layers:
        place |= {node: _share(i, len(layer)) for i, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for depth in range(len(layers))[:: -1 if sweep % 2 else 1]:
            layer = layers[depth]
            wanted = {
                node: float(np.mean([place[n] for n in neighbours[node]]))
                if neighbours[node]
                else place[node]
                for node in layer
            }
            layers[depth] = layer = sorted(layer, key=lambda node: wanted[node])
            place |= {node: _share(i, len(layer)) for i, node in enumerate(layer)}
    return layers


def _share(position: int, length: int) -> float:
    """Place in a row between 0 and 1."""
    return (position + 0.5) / length


def _placed(
    n_nodes: int, rows: Sequence[Sequence[int]], arcs: Sequence[Arc]
) -> NDArray[np.float64]:
    """Nodes of each row near the middle of their parents, a column apart or more."""
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    for parent, child in arcs:
        parents[child].append(parent)
    width = max(map(len, rows), default=1)
    places = np.zeros((n_nodes, 2))
    for depth, row in enumerate(rows):
        even = (np.arange(len(row)) - (len(row) - 1) / 2) * (width / max(len(row), 1))
        wanted = [
            float(np.mean(places[parents[node], 0])) if parents[node] else even[i]
            for i, node in enumerate(row)
        ]
        order = np.argsort(wanted, kind="stable")
        half = (width - 1) / 2
        spread = spaced(np.asarray(wanted)[order], 1.0, -half, half)
        for position, x in zip(order, spread, strict=True):
            places[row[position]] = x, depth
    return places


def spaced(
    wanted: ArrayLike, gap: float, low: float, high: float
) -> NDArray[np.float64]:
    """Sorted places at least a gap apart that move least, in squares.

    Parameters
    ----------
    wanted : array-like of shape (n,)
        Places in increasing order.
    gap : float
        Least distance of neighbours.
    low, high : float
        All places lie between, if there is room for that.

    Returns
    -------
    ndarray of shape (n,)
    """
    values = np.asarray(wanted, dtype=np.float64)
    offsets = gap * np.arange(len(values))
    # Pools of neighbours that would come too close, each with its sum and size.
    pools: list[tuple[float, int]] = []
    for value in values - offsets:
        total, size = float(value), 1
        while pools and pools[-1][0] / pools[-1][1] > total / size:
            before, n_before = pools.pop()
            total, size = total + before, size + n_before
        pools.append((total, size))
    means = np.repeat(
        [total / size for total, size in pools], [size for _, size in pools]
    )
    last = offsets[-1] if len(offsets) else 0.0
    if high - last < low:
        middle = (low + high - last) / 2
        return np.asarray(middle + offsets)
    return np.asarray(means.clip(low, high - last) + offsets)


def clear_bow(
    start: ArrayLike, end: ArrayLike, boxes: ArrayLike, bounds: tuple[float, float]
) -> float:
    """The flattest bow of an arc that passes the fewest boxes.

    Parameters
    ----------
    start, end : array-like of shape (2,)
        Where the arc begins and ends, on paper, upwards.
    boxes : array-like of shape (n_boxes, 4)
        Left, right, lower and upper end of boxes in its way.
    bounds : (float, float)
        Left and right end of the paper.

    Returns
    -------
    float
        How far the control point of the quadratic curve is to the side, as a share of
        the distance of its ends; below zero to the left of somebody who walks along.
    """
    first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    left, right, low, high = np.asarray(boxes, dtype=float).reshape(-1, 4).T
    aside = np.array([last[1] - first[1], first[0] - last[0]])
    t = np.linspace(0.0, 1.0, 41)[1:-1, None]

    def hits(bow: float) -> int:
        """Boxes that the curve touches; leaving the paper counts as many."""
        control = (first + last) / 2 + bow * aside
        points = (1 - t) ** 2 * first + 2 * t * (1 - t) * control + t**2 * last
        x, y = points[:, :1], points[:, 1:]
        inside = (left <= x) & (x <= right) & (low <= y) & (y <= high)
        outside = bool((x < bounds[0]).any() or (x > bounds[1]).any())
        return int(inside.any(axis=0).sum()) + 100 * outside

    return min(BOWS, key=lambda bow: (hits(bow), abs(bow)))
