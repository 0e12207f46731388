"""Sampled networks as files hold them: cells as differences, in few bytes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MAX_CELLS, OccupiedFamilies
from bayleaf.cpds.nested import radices_of
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.wording import brief_fields

# Bits of a number in a byte; the highest bit means that more bytes follow.
_BITS, _MORE = 7, 1 << 7
# Bytes of an integer at most.
_MOST_BYTES = 9

Bytes = NDArray[np.uint8]
Whole = NDArray[np.int64]


class RestoredNetworks(tuple[RandomNetwork, ...]):
    """Networks from a file, and what it held of them, to be written as it was."""

    packed: PackedNetworks

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} networks>"


@dataclass(frozen=True, eq=False)
class PackedNetworks:
    """Networks over the same features, all of their arrays in one piece each.

    A cell is a number whose digits are the states of the parents, the child's and the
    class; those of a family come in increasing order.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    families : ndarray of shape (n_networks * n_features, n_places), dtype int64
        Each feature and its parents, network after network, -1 after the last.
    n_cells : ndarray of shape (n_networks * n_features,), dtype int64
        Cells of each.
    steps : ndarray of dtype uint8
        Difference of each cell to the one before in its family, packed.
    weights : ndarray of dtype uint8
        Weights of the cells, packed, if all are integers; else empty.
    real_weights : ndarray of dtype float64
        Weights of the cells, if not all are integers; else empty.
    values : ndarray of dtype uint16
        State that each code of each feature stands for, network after network.
    n_values : ndarray of shape (n_networks * n_features,), dtype int64
        Codes of each feature, the reserved one counted.
    """

    n_classes: int
    families: NDArray[np.int64]
    n_cells: NDArray[np.int64]
    steps: NDArray[np.uint8]
    weights: NDArray[np.uint8]
    real_weights: NDArray[np.float64]
    values: NDArray[np.uint16]
    n_values: NDArray[np.int64]

    __repr__ = brief_fields

    @classmethod
    def standing_for(cls, networks: Sequence[RandomNetwork]) -> PackedNetworks:
        """What files hold of networks."""
        if isinstance(networks, RestoredNetworks):
            return networks.packed
        n_classes = 1 + max(int(item.counts.classes.max()) for item in networks)
        weights = [item.counts.weights for item in networks]
        is_whole = all(
            (item % 1 == 0).all() and float(item.max()) < 2.0**53 for item in weights
        )
        whole = [packed(item.astype(np.int64)) for item in weights if is_whole]
        real = [item.astype(np.float64) for item in weights if not is_whole]
        maps = [values for item in networks for values in item.maps]
        counts = [item.counts for item in networks]
        width = max(item.families.shape[1] for item in counts)
        families = [_widened(item.families, width) for item in counts]
        return cls(
            n_classes,
            np.concatenate(families),
            np.concatenate([np.diff(item.starts) for item in counts]),
            np.concatenate([packed(_steps(item, n_classes)) for item in networks]),
            np.concatenate([np.zeros(0, np.uint8), *whole]),
            np.concatenate([np.zeros(0), *real]),
            np.concatenate(maps),
            np.array([len(values) for values in maps]),
        )

    def restored(self) -> RestoredNetworks:
        """The networks.

        Raises
        ------
        ValueError
            If the arrays do not fit one another.
        """
        steps = unpacked(self.steps)
        weights: NDArray[Any] = self.real_weights
        if not len(weights):
            weights = unpacked(self.weights)
            if weights.max(initial=0) > np.iinfo(np.uint32).max:
                weights = weights.astype(np.float64)
        n_families = len(self.families)
        found_sizes = {len(self.n_cells), len(self.n_values), n_families}
        is_sound = (
            self.families.ndim == 2 and found_sizes == {n_families} and n_families > 0
        )
        lengths = self.n_cells, self.n_values
        if not is_sound or min(int(sizes.min()) for sizes in lengths) < 1:
            raise ValueError("networks need cells and a coding for each family")
        if {int(self.n_cells.sum())} != {len(steps), len(weights)} or int(
            self.n_values.sum()
        ) != len(self.values):
            raise ValueError("the cells of networks do not fit their families")
        n_features = int(self.families[:, 0].max()) + 1
        if n_features < 1 or n_families % n_features or self.n_classes < 1:
            raise ValueError("networks need a family for each of their features")
        cells = np.concatenate([[0], np.cumsum(self.n_cells)])
        maps = np.split(self.values, np.cumsum(self.n_values)[:-1])
        found = []
        for first in range(0, n_families, n_features):
            span = slice(first, first + n_features)
            ends = cells[first : first + n_features + 1]
            of_network = slice(int(ends[0]), int(ends[-1]))
            states, classes = self._states(self.families[span], maps[span], ends, steps)
            counts = OccupiedFamilies(
                self.families[span],
                states,
                classes,
                weights[of_network],
                ends - ends[0],
            )
            found.append(RandomNetwork(tuple(maps[span]), counts.compacted()))
        networks = RestoredNetworks(found)
        networks.packed = self
        return networks

    def _states(
        self,
        families: Whole,
        maps: Sequence[NDArray[np.uint16]],
        ends: Whole,
        steps: NDArray[np.integer[Any]],
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
        """States and classes of the cells of one network."""
        size = int(ends[-1] - ends[0])
        radices = np.array(radices_of(maps))
        kinds = [np.min_scalar_type(int(n)) for n in (radices.max(), self.n_classes)]
        states = np.zeros((families.shape[1], size), dtype=kinds[0])
        classes = np.zeros(size, dtype=kinds[1])
        for variables, (first, last) in zip(
            families, pairwise(ends.tolist()), strict=True
        ):
            members = [int(v) for v in variables if v >= 0]
            if not members or max(members) >= len(radices):
                raise ValueError("a family has a variable that does not exist")
            cards = [int(radix) for radix in radices[members]]
            if prod(cards) > MAX_CELLS:
                raise ValueError("a family has too many joint states")
            span = slice(first - int(ends[0]), last - int(ends[0]))
            keys = np.cumsum(steps[first:last], dtype=np.int64)
            keys = _without_last(keys, self.n_classes, classes[span])
            keys = _without_last(keys, cards[0], states[0, span])
            for place in range(len(members) - 1, 0, -1):
                keys = _without_last(keys, cards[place], states[place, span])
            if keys.any():
                raise ValueError("a family has a cell of an unknown state")
        return states, classes


def _without_last(keys: Whole, radix: int, digits: NDArray[np.uint16]) -> Whole:
    """Divide keys by a radix; what remains goes to `digits`. Faster than divmod."""
    quotients = keys // radix
    digits[...] = keys - quotients * radix
    return quotients


def _widened(families: Whole, width: int) -> Whole:
    """Families with more places, -1 in those added."""
    added = width - families.shape[1]
    return np.pad(families, [(0, 0), (0, added)], constant_values=-1)


def _steps(network: RandomNetwork, n_classes: int) -> Whole:
    """Difference of each cell of a network to the one before in its family."""
    counts = network.counts
    radices = counts.radices(radices_of(network.maps))
    sizes = np.diff(counts.starts)
    keys = np.zeros(len(counts.classes), dtype=np.int64)
    for place in (*range(1, len(counts.states)), 0):
        keys = keys * np.repeat(radices[:, place], sizes) + counts.states[place]
    keys = keys * n_classes + counts.classes
    steps = np.diff(keys, prepend=0)
    firsts = counts.starts[:-1]
    steps[firsts] = keys[firsts]
    return steps


def packed(numbers: Whole) -> Bytes:
    """Integers of at least zero, seven bits a byte, the lowest first."""
    sizes = np.ones(len(numbers), dtype=np.uint8)
    most = max(1, -(-int(numbers.max(initial=0)).bit_length() // _BITS))
    for place in range(1, most):
        sizes += numbers >> (_BITS * place) > 0
    if most == 1:
        return numbers.astype(np.uint8)
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    content = np.empty(int(sizes.sum(dtype=np.int64)), dtype=np.uint8)
    content[starts] = numbers & (_MORE - 1)
    for place in range(1, most):
        large = np.flatnonzero(sizes > place)
        at, digits = starts[large] + place, numbers[large] >> (_BITS * place)
        content[at - 1] |= np.uint8(_MORE)
        content[at] = digits & (_MORE - 1)
    return content


def unpacked(content: Bytes) -> NDArray[np.integer[Any]]:
    """The integers of `packed`, as bytes if each is in one.

    Raises
    ------
    ValueError
        If the last is not complete, or one is too large.
    """
    is_last = content < _MORE
    if is_last.all():
        return content
    if not is_last[-1]:
        raise ValueError("packed numbers end too early")
    found = content[is_last].astype(np.int64)
    continued = np.flatnonzero(~is_last)
    # Last bytes of the numbers of several bytes, and which numbers these are.
    ends = continued[is_last[continued + 1]] + 1
    places = ends - np.searchsorted(continued, ends)
    for back in range(1, _MOST_BYTES + 1):
        digits = content[ends - back].astype(np.int64) & (_MORE - 1)
        found[places] = (found[places] << _BITS) | digits
        goes_on = (ends > back) & ~is_last[ends - back - 1]
        ends, places = ends[goes_on], places[goes_on]
        if not len(ends):
            return found
        if back + 1 == _MOST_BYTES:
            raise ValueError("a packed number is too large")
    return found
