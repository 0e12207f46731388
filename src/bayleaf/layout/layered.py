"""A layered drawing: boxes below one another, arcs as curves that pass them by."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from bayleaf.layout.ordering import ordered_layers

Floats = NDArray[np.float64]
Arc = tuple[int, int]

# What a unit of horizontal distance costs between boxes, between a box and a bend, and
# between bends, so that long arcs are straight.
_STRENGTHS = (1.0, 2.0, 8.0)
# A bend's room, as a share of the gap between boxes.
_BEND = 0.4
# Width of the whole in its height, if the parts allow it.
_ASPECT = 1.6
# Those tried in turn for drawings that are wider than a page.
_PAGE_SHAPES = (2.2, 1.5, 1.1, 0.77, 0.55)
# A bend's room where layers are folded and many arcs pass one: the gap narrows.
_FOLDED_BEND = -0.5
# Widths of rows that are tried to fold layers, from the widest layer down.
_WIDTHS_TRIED = 24


@dataclass(frozen=True, eq=False)
class Drawing:
    """Positions of boxes and arcs; x to the right, y downwards, from 0.

    Each of `curves` goes from the edge of the parent's box to the child's by the points
    of cubic Bezier curves: start, two control points and end, two more and the next
    end.
    """

    centres: Floats  # (n_nodes, 2)
    sizes: Floats  # (n_nodes, 2), widths and heights
    curves: tuple[Floats, ...]  # by arc: (1 + 3 * n_pieces, 2)
    width: float
    height: float


def layered_drawing(
    sizes: ArrayLike,
    arcs: Sequence[Arc],
    *,
    gap: tuple[float, float] = (18.0, 36.0),
    shape: float | None = None,
) -> Drawing:
    """Draw a directed graph in layers, boxes of given widths and heights (n_nodes, 2).

    No arc passes behind a box that is not its end: between layers arcs are curves that
    begin and end upright, and through a layer they have a lane of their own. Arcs come
    most important first; one that closes a cycle with those before it is drawn upwards.
    `gap` is the least distance of neighbours, and of layers. Layers too wide for a
    `shape`, the width of the whole in its height, are folded into several rows.

    Sugiyama, Tagawa and Toda (1981), Methods for visual understanding of hierarchical
    system structures, IEEE Transactions on Systems, Man, and Cybernetics 11, 109-125.
    Gansner, Koutsofios, North and Vo (1993), A technique for drawing directed graphs,
    IEEE Transactions on Software Engineering 19, 214-230.
    """
    boxes = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)
    parts = connected_parts(len(boxes), arcs)
    place = {node: i for part in parts for i, node in enumerate(part)}
    of_part = {node: i for i, part in enumerate(parts) for node in part}
    members: list[list[int]] = [[] for _ in parts]
    for arc, (parent, _) in enumerate(arcs):
        members[of_part[parent]].append(arc)
    drawn = [
        _part(
            boxes[part],
            [(place[arcs[a][0]], place[arcs[a][1]]) for a in own],
            gap,
            shape,
        )
        for part, own in zip(parts, members, strict=True)
    ]
    extents_of_parts = [(one.width, one.height) for one in drawn]
    starts = side_by_side(extents_of_parts, gap[0] * 2, shape or _ASPECT)
    centres = np.empty_like(boxes)
    curves: dict[int, Floats] = {}
    for part, own, one, start in zip(parts, members, drawn, starts, strict=True):
        centres[part] = one.centres + start
        curves |= {arc: way + start for arc, way in zip(own, one.curves, strict=True)}
    extents = np.array(extents_of_parts).reshape(-1, 2)
    width, height = (starts + extents).max(axis=0, initial=0.0).tolist()
    ways = tuple(curves[arc] for arc in range(len(arcs)))
    return Drawing(centres, boxes, ways, width, height)


def with_tops(
    sizes: ArrayLike,
    arcs: Sequence[Arc],
    tops: Sequence[int],
    *,
    gap: tuple[float, float] = (18.0, 36.0),
    shape: float | None = None,
    page: float = np.inf,
) -> Drawing:
    """A layered drawing with boxes of `tops` above all others unless they have arcs.

    One without `shape` that is wider than a `page` is folded.
    """
    boxes = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)
    bound = {node for arc in arcs for node in arc}
    above = [node for node in tops if node not in bound]
    others = [node for node in range(len(boxes)) if node not in above]
    if not above or not others:
        return _on_page(boxes, arcs, gap, shape, page)
    place = {node: i for i, node in enumerate(others)}
    pairs = [(place[p], place[c]) for p, c in arcs]
    below = _on_page(boxes[others], pairs, gap, shape, page)
    row = float(boxes[above, 0].sum() + gap[0] * (len(above) - 1))
    width, shift = max(row, below.width), float(boxes[above, 1].max() + gap[1])
    aside = np.array([(width - below.width) / 2, shift])
    centres = np.empty_like(boxes)
    centres[others] = below.centres + aside
    lefts = np.cumsum([0.0, *(boxes[above, 0] + gap[0])])[:-1]
    centres[above, 0] = (width - row) / 2 + lefts + boxes[above, 0] / 2
    centres[above, 1] = boxes[above, 1].max() / 2
    curves = tuple(curve + aside for curve in below.curves)
    return Drawing(centres, boxes, curves, width, below.height + shift)


def _on_page(
    boxes: Floats,
    arcs: Sequence[Arc],
    gap: tuple[float, float],
    shape: float | None,
    page: float,
) -> Drawing:
    """A layered drawing, folded ever higher if it has no shape and exceeds a page."""
    drawing = layered_drawing(boxes, arcs, gap=gap, shape=shape)
    for page_shape in _PAGE_SHAPES if shape is None else ():
        if drawing.width <= page:
            break
        drawing = layered_drawing(boxes, arcs, gap=gap, shape=page_shape)
    return drawing


def _part(
    boxes: Floats, arcs: Sequence[Arc], gap: tuple[float, float], shape: float | None
) -> Drawing:
    """Draw a connected graph."""
    n_nodes = len(boxes)
    downwards = set(acyclic(n_nodes, arcs))
    ways = [(p, c) if (p, c) in downwards else (c, p) for p, c in arcs]
    layer_of = layers_of(n_nodes, ways)
    chains, ordered = _ordered(ways, layer_of)
    bend = _BEND * gap[0]
    if shape is not None:
        folded = _folded(ordered, ways, boxes, gap, shape)
        if folded.max(initial=0) > layer_of.max(initial=0):
            layer_of, bend = folded, _FOLDED_BEND * gap[0]
            chains, ordered = _ordered(ways, layer_of, is_shared=True)
    links = sorted({pair for chain in chains for pair in itertools.pairwise(chain)})
    n_all = sum(map(len, ordered))
    widths = np.full(n_all, bend)
    widths[:n_nodes] = boxes[:, 0]
    strengths = np.array(
        [_STRENGTHS[int(u >= n_nodes) + int(v >= n_nodes)] for u, v in links]
    )
    heights = np.array(
        [
            boxes[[n for n in level if n < n_nodes], 1].max(initial=0.0)
            for level in ordered
        ]
    )
    tops = np.concatenate([[0.0], np.cumsum(heights + gap[1])[:-1]])
    width = np.inf
    if shape is not None:
        rows = [float((widths[level] + gap[0]).sum()) - gap[0] for level in ordered]
        # A bend at an end needs its own place, however narrow the gap beside it.
        width = max(*rows, shape * float(tops[-1] + heights[-1])) + gap[0]
    x = columns_of(ordered, widths, links, strengths, gap[0], width)
    centres = np.column_stack([x[:n_nodes], (tops + heights / 2)[layer_of]])
    curves = []
    for (parent, _), (upper, lower), chain in zip(arcs, ways, chains, strict=True):
        ends = tops, tops + heights
        way = _curve(chain, int(layer_of[upper]), x, ends)
        # Boxes that are less tall than their layer are reached upright.
        leaves = float(centres[upper, 1] + boxes[upper, 1] / 2)
        enters = float(centres[lower, 1] - boxes[lower, 1] / 2)
        before = _upright(way[0, 0], way[0, 1], leaves)[::-1]
        after = _upright(way[-1, 0], way[-1, 1], enters)
        way = np.array([*before, *way.tolist(), *after])
        curves.append(way if parent == upper else way[::-1])
    right = float((x + np.maximum(widths, 0.0) / 2).max(initial=0.0))
    return Drawing(centres, boxes, tuple(curves), right, float(tops[-1] + heights[-1]))


def _ordered(
    ways: Sequence[Arc], layer_of: NDArray[np.int64], is_shared: bool = False
) -> tuple[list[list[int]], list[list[int]]]:
    """Chains of arcs, and the nodes and bends of each layer from left to right."""
    chains, level_of = _chains(ways, layer_of, is_shared)
    above: list[list[int]] = [[] for _ in level_of]
    below: list[list[int]] = [[] for _ in level_of]
    for upper, lower in sorted(
        {p for chain in chains for p in itertools.pairwise(chain)}
    ):
        below[upper].append(lower)
        above[lower].append(upper)
    levels: list[list[int]] = [[] for _ in range(max(level_of, default=0) + 1)]
    for node, level in enumerate(level_of):
        levels[level].append(node)
    return chains, ordered_layers(levels, above, below)


def _chains(
    ways: Sequence[Arc], layer_of: NDArray[np.int64], is_shared: bool
) -> tuple[list[list[int]], list[int]]:
    """For each arc its ends, with a bend in each layer between; layers of all these.

    Arcs from one node may share their bends.
    """
    chains: list[list[int]] = []
    level_of: list[int] = layer_of.tolist()
    shared: dict[Arc, int] = {}
    for upper, lower in ways:
        chain = [upper]
        for level in range(level_of[upper] + 1, level_of[lower]):
            bend = shared.get((upper, level)) if is_shared else None
            if bend is None:
                bend = shared[upper, level] = len(level_of)
                level_of.append(level)
            chain.append(bend)
        chains.append([*chain, lower])
    return chains, level_of


def _folded(
    ordered: Sequence[Sequence[int]],
    ways: Sequence[Arc],
    boxes: Floats,
    gap: tuple[float, float],
    shape: float,
) -> NDArray[np.int64]:
    """The row of each node: wide layers, in their order, become several rows.

    Of several widths of rows the one whose drawing would be largest in a window of the
    `shape` is taken; heights and widths are estimated without solving for columns.
    """
    layers = [[node for node in layer if node < len(boxes)] for layer in ordered]
    room = boxes[:, 0] + gap[0]
    widest = max(float(room[layer].sum()) for layer in layers)
    best, folded = np.inf, np.empty(0, dtype=np.int64)
    for width in np.geomspace(widest, float(room.max()), _WIDTHS_TRIED):
        rows = np.zeros(len(boxes), dtype=np.int64)
        n_rows = 0
        for layer in layers:
            ends = np.cumsum(room[layer])
            n_parts = max(1, int(np.ceil(ends[-1] / width - 1e-9)))
            part = np.ceil(ends / ends[-1] * n_parts - 1e-9).astype(np.int64)
            rows[layer] = n_rows + np.unique(part, return_inverse=True)[1]
            n_rows = int(rows[layer].max()) + 1
        passing = {(u, r) for u, v in ways for r in range(rows[u] + 1, rows[v])}
        lanes = np.bincount([row for _, row in passing], minlength=n_rows)
        across = np.bincount(rows, weights=room)
        across = across + lanes * (1 + _FOLDED_BEND) * gap[0]
        heights = np.zeros(n_rows)
        np.maximum.at(heights, rows, boxes[:, 1] + gap[1])
        size = max(float(across.max()) / shape, float(heights.sum()))
        if size < best - 1e-9:
            best, folded = size, rows
    return folded


def _curve(
    chain: Sequence[int], first: int, x: Floats, ends: tuple[Floats, Floats]
) -> Floats:
    """From layer to layer, upright through each; the ends are those of layers."""
    tops, bottoms = ends
    points = [(x[chain[0]], bottoms[first])]
    for step, (upper, lower) in enumerate(itertools.pairwise(chain)):
        start, end = bottoms[first + step], tops[first + step + 1]
        middle = (start + end) / 2
        points += [(x[upper], middle), (x[lower], middle), (x[lower], end)]
        if lower != chain[-1]:
            points += _upright(x[lower], end, bottoms[first + step + 1])
    return np.array(points)


def _upright(x: float, start: float, end: float) -> list[tuple[float, float]]:
    """What goes on from one height to another; nothing if they are the same."""
    if start == end:
        return []
    return [(x, start + (end - start) * share) for share in (1 / 3, 2 / 3, 1.0)]


def connected_parts(n_nodes: int, arcs: Sequence[Arc]) -> list[list[int]]:
    """Nodes that arcs join, in the order of their first node."""
    neighbours: list[list[int]] = [[] for _ in range(n_nodes)]
    for parent, child in arcs:
        neighbours[parent].append(child)
        neighbours[child].append(parent)
    seen = np.zeros(n_nodes, dtype=bool)
    parts = []
    for start in range(n_nodes):
        if seen[start]:
            continue
        seen[start] = True
        part, waiting = [], [start]
        while waiting:
            node = waiting.pop()
            part.append(node)
            fresh = [other for other in neighbours[node] if not seen[other]]
            seen[fresh] = True
            waiting += dict.fromkeys(fresh)
        parts.append(sorted(part))
    return parts


def side_by_side(
    extents: Sequence[tuple[float, float]], gap: float, shape: float = _ASPECT
) -> Floats:
    """Left and upper ends (n_parts, 2) of parts of given sizes, large ones first."""
    area = sum((width + gap) * (height + gap) for width, height in extents)
    widest = max((width for width, _ in extents), default=0.0)
    row_width = max(widest, float(np.sqrt(area * shape)))
    found = np.zeros((len(extents), 2))
    x = y = tallest = 0.0
    by_height = sorted(range(len(extents)), key=lambda part: -extents[part][1])
    for part in by_height:
        width, height = extents[part]
        if x and x + width > row_width:
            x, y, tallest = 0.0, y + tallest + gap, 0.0
        found[part] = x, y
        x += width + gap
        tallest = max(tallest, height)
    return found


def acyclic(n_nodes: int, arcs: Iterable[Arc]) -> list[Arc]:
    """The arcs, most important first, without those that close a cycle."""
    children: list[set[int]] = [set() for _ in range(n_nodes)]
    kept = []
    for parent, child in arcs:
        if not _reaches(children, child, parent):
            children[parent].add(child)
            kept.append((parent, child))
    return kept


def _reaches(children: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether a way leads from one node to another."""
    waiting, seen = [start], {start}
    while waiting:
        node = waiting.pop()
        if node == end:
            return True
        waiting += children[node] - seen
        seen |= children[node]
    return False


def layers_of(n_nodes: int, arcs: Sequence[Arc]) -> NDArray[np.int64]:
    """The layer of each node, from 0 downwards; children lie below their parents.

    The sum of all arcs' lengths is least, a linear programme whose corners are integers
    (Gansner, Koutsofios, North and Vo 1993, section 2.2).
    """
    if not arcs:
        return np.zeros(n_nodes, dtype=np.int64)
    ends = np.array(arcs)
    rows = np.arange(len(ends))
    # parent - child <= -1
    values = np.concatenate([np.ones(len(ends)), -np.ones(len(ends))])
    places = np.concatenate([rows, rows]), np.concatenate([ends[:, 0], ends[:, 1]])
    above: Any = coo_array((values, places), shape=(len(ends), n_nodes)).tocsr()
    costs = np.bincount(ends[:, 1], minlength=n_nodes) - np.bincount(
        ends[:, 0], minlength=n_nodes
    )
    found: Any = linprog(
        costs,
        A_ub=above,
        b_ub=-np.ones(len(ends)),
        bounds=(0, n_nodes),
        method="highs-ds",
    )
    layers = np.round(found.x).astype(np.int64)
    return np.asarray(layers - layers.min())


def columns_of(
    layers: Sequence[Sequence[int]],
    widths: Floats,
    links: Sequence[Arc],
    strengths: Floats,
    gap: float,
    width: float = np.inf,
) -> Floats:
    """The horizontal centre of each node, the leftmost edge at 0.

    `links` join neighbouring layers; `strengths` (n_links,) is each link's cost per
    unit of horizontal distance, `gap` the least distance of neighbours' edges, `width`
    the largest of the whole. The sum of all distances times strengths is least, a
    linear programme (Gansner, Koutsofios, North and Vo 1993, section 4.2).
    """
    n_nodes, n_links = len(widths), len(links)
    edges = np.maximum(widths, 0.0) / 2
    rows: list[int] = []
    places: list[int] = []
    values: list[float] = []
    bounds: list[float] = []

    def demand(entries: Sequence[tuple[int, float]], at_most: float) -> None:
        for place, value in entries:
            rows.append(len(bounds))
            places.append(place)
            values.append(value)
        bounds.append(at_most)

    for layer in layers:
        for left, right in itertools.pairwise(layer):
            apart = (widths[left] + widths[right]) / 2 + gap
            demand([(left, 1.0), (right, -1.0)], -apart)
    for link, (upper, lower) in enumerate(links):
        demand([(upper, 1.0), (lower, -1.0), (n_nodes + link, -1.0)], 0.0)
        demand([(lower, 1.0), (upper, -1.0), (n_nodes + link, -1.0)], 0.0)
    if not bounds:
        return widths / 2
    ends: Any = np.column_stack(
        [
            np.concatenate([edges, np.zeros(n_links)]),
            np.concatenate([width - edges, np.full(n_links, np.inf)]),
        ]
    )
    shape = (len(bounds), n_nodes + n_links)
    table: Any = coo_array((values, (rows, places)), shape=shape).tocsr()
    found: Any = linprog(
        np.concatenate([np.zeros(n_nodes), strengths]),
        A_ub=table,
        b_ub=np.array(bounds),
        bounds=ends,
        method="highs",
    )
    centres = found.x[:n_nodes]
    return np.asarray(centres - (centres - edges).min())
