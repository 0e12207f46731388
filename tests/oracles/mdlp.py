"""MDLP by the book: every cut tried, every entropy computed anew from the rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Row = tuple[float, int, float]


def mdlp_cut_points(
    values: Sequence[float], classes: Sequence[int], weights: Sequence[float]
) -> tuple[float, ...]:
    """Cut points of Fayyad & Irani (1993), in plain Python."""
    rows = [
        (value, label, weight)
        for value, label, weight in zip(values, classes, weights, strict=True)
        if weight > 0 and not math.isnan(value)
    ]
    return tuple(sorted(_cuts(rows)))


def entropy(rows: Sequence[Row]) -> float:
    """Class entropy of some rows, in bits."""
    n = _weight(rows)
    bits = 0.0
    for label in _labels(rows):
        share = _weight([row for row in rows if row[1] == label]) / n
        bits -= share * math.log2(share)
    return bits


def split_entropy(rows: Sequence[Row], cut: float) -> float:
    """Mean class entropy of the two sides of a cut."""
    sides = _sides(rows, cut)
    return sum(_weight(side) / _weight(rows) * entropy(side) for side in sides)


def _cuts(rows: Sequence[Row]) -> list[float]:
    candidates = _candidates(rows)
    if not candidates:
        return []
    entropies = [split_entropy(rows, cut) for cut in candidates]
    tied = min(entropies) + 1e-12
    cut = next(c for c, e in zip(candidates, entropies, strict=True) if e <= tied)
    if not _accepted(rows, cut):
        return []
    below, above = _sides(rows, cut)
    return [*_cuts(below), cut, *_cuts(above)]


def _accepted(rows: Sequence[Row], cut: float) -> bool:
    n = _weight(rows)
    gain = entropy(rows) - split_entropy(rows, cut)
    delta = math.log2(3 ** len(_labels(rows)) - 2) - len(_labels(rows)) * entropy(rows)
    for side in _sides(rows, cut):
        delta += len(_labels(side)) * entropy(side)
    position = math.log2(n - 1) if n > 2 else 0.0
    return gain > position / n + delta / n


def _candidates(rows: Sequence[Row]) -> list[float]:
    distinct = sorted({value for value, _, _ in rows})
    return [(a + b) / 2 for a, b in itertools.pairwise(distinct)]


def _sides(rows: Sequence[Row], cut: float) -> tuple[list[Row], list[Row]]:
    return [r for r in rows if r[0] <= cut], [r for r in rows if r[0] > cut]


def _weight(rows: Sequence[Row]) -> float:
    return math.fsum(weight for _, _, weight in rows)


def _labels(rows: Sequence[Row]) -> set[int]:
    return {label for _, label, _ in rows}
