"""Parts of a graph without arcs between them, set side by side in rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Arc = tuple[int, int]

# Width of the whole in its height, if the parts allow it.
_ASPECT = 1.6


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


def side_by_side(extents: Sequence[tuple[float, float]], gap: float) -> Floats:
    """Left and upper ends (n_parts, 2) of parts of given sizes, large ones first."""
    area = sum((width + gap) * (height + gap) for width, height in extents)
    widest = max((width for width, _ in extents), default=0.0)
    row_width = max(widest, float(np.sqrt(area * _ASPECT)))
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
