"""How far to the right everything stands: arcs short and straight, nothing overlaps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

Floats = NDArray[np.float64]
Arc = tuple[int, int]


def columns_of(
    layers: Sequence[Sequence[int]],
    widths: Floats,
    links: Sequence[Arc],
    strengths: Floats,
    gap: float,
) -> Floats:
    """The horizontal centre of each node, the leftmost edge at 0.

    `links` join neighbouring layers; `strengths` (n_links,) is each link's cost per
    unit of horizontal distance, `gap` the least distance of neighbours' edges. The sum
    of all distances times strengths is least, a linear programme (Gansner, Koutsofios,
    North and Vo 1993, section 4.2).
    """
    n_nodes, n_links = len(widths), len(links)
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
    shape = (len(bounds), n_nodes + n_links)
    table: Any = coo_array((values, (rows, places)), shape=shape).tocsr()
    found: Any = linprog(
        np.concatenate([np.zeros(n_nodes), strengths]),
        A_ub=table,
        b_ub=np.array(bounds),
        bounds=(0, None),
        method="highs",
    )
    centres = found.x[:n_nodes]
    return np.asarray(centres - (centres - widths / 2).min())
