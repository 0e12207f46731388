"""What is wrong with a drawing: arcs that cross, and arcs behind boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Arc = tuple[int, int]


def polyline(curve: Floats, n_points: int = 10) -> Floats:
    """Points on cubic Bezier curves, each the next one's start."""
    t = np.linspace(0, 1, n_points)[:, None]
    parts = []
    for i in range(0, len(curve) - 1, 3):
        a, b, c, d = curve[i : i + 4]
        parts.append(
            (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c
            + t**3 * d
        )  # fmt: skip
    return np.concatenate(parts)


def n_crossings(lines: Sequence[Floats], arcs: Sequence[Arc]) -> int:
    """Points at which two arcs cross that share no end."""
    pieces, owners = [], []
    for arc, line in enumerate(lines):
        moves = np.abs(np.diff(line, axis=0)).sum(axis=1) > 1e-9
        kept = line[np.concatenate([[True], moves])]
        pieces.append(np.hstack([kept[:-1], kept[1:]]))
        owners += [arc] * (len(kept) - 1)
    found = 0
    segments, own = np.concatenate(pieces), np.array(owners)
    low = np.minimum(segments[:, :2], segments[:, 2:])
    high = np.maximum(segments[:, :2], segments[:, 2:])
    shares = [np.array([bool({*a} & {*b}) for b in arcs]) for a in arcs]
    for i, segment in enumerate(segments):
        near = (own > own[i]) & ~shares[own[i]][own]
        near &= (low <= high[i]).all(axis=1) & (high >= low[i]).all(axis=1)
        found += int(_meets(segment, segments[near]).sum())
    return found


def _meets(one: Floats, others: Floats) -> NDArray[np.bool_]:
    """Whether a segment crosses others."""
    start, way = one[:2], one[2:] - one[:2]
    ways, apart = others[:, 2:] - others[:, :2], others[:, :2] - start
    area = way[0] * ways[:, 1] - way[1] * ways[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        here = (apart[:, 0] * ways[:, 1] - apart[:, 1] * ways[:, 0]) / area
        there = (apart[:, 0] * way[1] - apart[:, 1] * way[0]) / area
    inside = (here >= 0) & (here < 1) & (there >= 0) & (there < 1)
    return np.asarray((np.abs(area) > 1e-12) & inside)


def n_behind(
    lines: Sequence[Floats], arcs: Sequence[Arc], centres: Floats, sizes: Floats
) -> int:
    """Arcs that pass through a box that is not their end."""
    found = 0
    for line, arc in zip(lines, arcs, strict=True):
        away = np.abs(line[:, None, :] - centres)
        inside = (away < sizes / 2 - 1e-6).all(axis=2)
        inside[:, list(arc)] = False
        found += bool(inside.any())
    return found
