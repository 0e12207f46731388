"""MDLP by the book: every cut tried, every entropy computed again from the rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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


def cuts_by_trying_all(
    values: NDArray[np.float64],
    classes: NDArray[np.intp],
    n_classes: int,
    weights: NDArray[np.float64],
) -> tuple[float, ...]:
    """The same with arrays, for whole weights above zero: still every cut is tried."""
    order = np.argsort(values, kind="stable")
    values = values[order]
    cells = np.zeros((len(values), n_classes))
    cells[np.arange(len(values)), classes[order]] = weights[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    # Class counts up to each distinct value.
    below = np.concatenate([np.zeros((1, n_classes)), cells.cumsum(axis=0)[last]])
    values = values[last]

    def cuts(first: int, end: int) -> list[float]:
        """Cuts of the distinct values from `first` to before `end`."""
        if end - first < 2:
            return []
        whole = below[end] - below[first]
        left = below[first + 1 : end] - below[first]
        bits = _bits(left) + _bits(whole - left)
        best = int(np.argmax(bits <= bits.min() + 1e-12 * whole.sum()))
        sides = whole, left[best], whole - left[best]
        (n, _, _), (k, *ks) = ([f(side) for side in sides] for f in (np.sum, _present))
        entropies = [float(_bits(side[None])[0] / side.sum()) for side in sides]
        delta = math.log2(3**k - 2) - k * entropies[0]
        delta += sum(k * e for k, e in zip(ks, entropies[1:], strict=True))
        position = math.log2(n - 1) if n > 2 else 0.0
        if (_bits(whole[None])[0] - bits[best]) / n <= (position + delta) / n:
            return []
        middle = first + 1 + best
        cut = (values[middle - 1] + values[middle]) / 2
        return [*cuts(first, middle), cut, *cuts(middle, end)]

    return tuple(cuts(0, len(values)))


def _bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight times class entropy of each row of counts."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return -(counts * np.log2(np.where(counts > 0, shares, 1.0))).sum(axis=1)


def _present(counts: NDArray[np.float64]) -> int:
    return int(np.count_nonzero(counts))


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
