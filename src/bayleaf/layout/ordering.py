"""The order of nodes in layers, so that few arcs cross."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Layer = list[int]

# Sweeps of a start, and sweeps without a gain after which it ends.
_SWEEPS, _PATIENCE = 24, 8
# Random starts after the two that follow the graph: as many as one of this many nodes
# takes time for, within bounds.
_NODES, _LEAST_STARTS, _MOST_STARTS = 6000, 2, 12


def ordered_layers(
    layers: Sequence[Sequence[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
) -> list[Layer]:
    """Order nodes by medians of their neighbours, and neighbours by transposition.

    `above` and `below` are neighbours by node. Results are deterministic. Gansner,
    Koutsofios, North and Vo (1993), A technique for drawing directed graphs, IEEE
    Transactions on Software Engineering 19, section 3.
    """
    generator = np.random.default_rng(0)
    n_starts = min(max(_NODES // len(above), _LEAST_STARTS), _MOST_STARTS)
    starts = [_depth_first(layers, above, below), _depth_first(layers, below, above)]
    starts += [
        [generator.permutation(layer).tolist() for layer in layers]
        for _ in range(n_starts)
    ]
    best, fewest = starts[0], n_crossings(starts[0], below)
    for start in starts:
        found, crossings = _improved(start, above, below)
        if crossings < fewest:
            best, fewest = found, crossings
        if not fewest:
            break
    return best


def n_crossings(layers: Sequence[Layer], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of arcs between neighbouring layers cross."""
    total = 0
    for upper, lower in itertools.pairwise(layers):
        place = {node: i for i, node in enumerate(lower)}
        ends: list[int] = []
        for node in upper:
            ends += sorted(place[other] for other in below[node])
        total += _inversions(ends, len(lower))
    return total


def _inversions(ends: Sequence[int], size: int) -> int:
    """Pairs of numbers of which the larger stands first, by a tree of partial sums."""
    tree = [0] * (size + 1)
    found = 0
    for seen, end in enumerate(ends):
        smaller, at = 0, end + 1
        while at:
            smaller += tree[at]
            at &= at - 1
        found += seen - smaller
        at = end + 1
        while at <= size:
            tree[at] += 1
            at += at & -at
    return found


def _depth_first(
    layers: Sequence[Sequence[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
) -> list[Layer]:
    """Nodes in the order in which a walk along the arcs comes by."""
    layer_of = {node: i for i, layer in enumerate(layers) for node in layer}
    found: list[Layer] = [[] for _ in layers]
    seen: set[int] = set()
    for start in (node for layer in layers for node in layer):
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            found[layer_of[node]].append(node)
            waiting += [*reversed(above[node]), *reversed(below[node])]
    return found


def _improved(
    start: Sequence[Layer],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
) -> tuple[list[Layer], int]:
    """The best order that sweeps down and up come by, and its crossings."""
    layers = [list(layer) for layer in start]
    place = np.zeros(len(above))
    for layer in layers:
        place[layer] = np.arange(len(layer))
    _transpose(layers, above, below, place)
    best, fewest = [list(layer) for layer in layers], n_crossings(layers, below)
    idle = 0
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        neighbours = above if is_down else below
        order = range(1, len(layers)) if is_down else range(len(layers) - 2, -1, -1)
        for i in order:
            _by_medians(layers[i], neighbours, place, flips=sweep % 4 > 1)
        _transpose(layers, above, below, place)
        crossings = n_crossings(layers, below)
        idle += 1
        if crossings < fewest:
            best, fewest, idle = [list(layer) for layer in layers], crossings, 0
        if not fewest or idle >= _PATIENCE:
            break
    return best, fewest


def _by_medians(
    layer: Layer,
    neighbours: Sequence[Sequence[int]],
    place: NDArray[np.float64],
    *,
    flips: bool,
) -> None:
    """Sort a layer by weighted medians; nodes without neighbours keep their places."""
    medians = [_median([place[other] for other in neighbours[n]]) for n in layer]
    moved = [i for i, median in enumerate(medians) if median >= 0]
    # Equal medians are turned round in every other pair of sweeps.
    ranked = sorted(moved, key=lambda i: (medians[i], -i if flips else i))
    nodes = [layer[i] for i in ranked]
    for i, node in zip(moved, nodes, strict=True):
        layer[i] = node
    place[layer] = np.arange(len(layer))


def _median(places: list[float]) -> float:
    """The median, of an even number weighted to the denser side; -1 of none."""
    if not places:
        return -1.0
    places.sort()
    middle = len(places) // 2
    if len(places) % 2:
        return places[middle]
    low, high = places[middle - 1], places[middle]
    if len(places) == 2:
        return (low + high) / 2
    left, right = low - places[0], places[-1] - high
    if not left + right:
        return (low + high) / 2
    return (low * right + high * left) / (left + right)


def _transpose(
    layers: list[Layer],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    place: NDArray[np.float64],
) -> None:
    """Swap neighbours in a layer as long as that takes crossings away."""
    waiting = set(range(len(layers)))
    rounds = 0
    while waiting and rounds < 8:
        rounds += 1
        changed = set()
        for i in sorted(waiting):
            if _transposed(layers[i], above, below, place):
                changed |= {i - 1, i, i + 1}
        waiting = changed & set(range(len(layers)))


def _transposed(
    layer: Layer,
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    place: NDArray[np.float64],
) -> bool:
    """One pass over a layer; whether anything was swapped."""
    ends = {
        node: (
            sorted(place[other] for other in above[node]),
            sorted(place[other] for other in below[node]),
        )
        for node in layer
    }
    swapped = False
    for i in range(len(layer) - 1):
        left, right = layer[i], layer[i + 1]
        gain = 0
        for ours, theirs in zip(ends[left], ends[right], strict=True):
            if ours and theirs and ours[-1] > theirs[0]:
                gain += _gain(ours, theirs)
            elif ours and theirs:
                # Nothing crosses now, so a swap cannot gain.
                gain -= sum(1 for own in ours if own < theirs[-1])
        if gain > 0:
            layer[i], layer[i + 1] = right, left
            place[left], place[right] = i + 1, i
            swapped = True
    return swapped


def _gain(ours: Sequence[float], theirs: Sequence[float]) -> int:
    """Crossings of the left node's arcs with the right one's, less those of a swap."""
    return sum(
        bisect_left(theirs, own) - (len(theirs) - bisect_right(theirs, own))
        for own in ours
    )
