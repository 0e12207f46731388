"""Sampled networks as files hold them: cells as differences, in few bytes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import OccupiedFamilies
from bayleaf.cpds.random_network import RandomNetwork, radices_of
from bayleaf.native.counts import unpack_cells
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
    class; those of a family come in increasing order. Families run feature by feature,
    network after network: n_families = n_networks * n_features.
    """

    n_classes: int
    families: NDArray[np.int64]  # (n_families, n_places), child first, end -1
    n_cells: NDArray[np.int64]  # (n_families,), cells of each
    steps: NDArray[np.uint8]  # packed differences of a family's cells
    weights: NDArray[np.uint8]  # of cells, packed; empty if not all integers
    real_weights: NDArray[np.float64]  # of cells; empty if all are integers
    values: NDArray[np.uint16]  # state of each code of each feature
    n_values: NDArray[np.int64]  # (n_families,), codes, the reserved one too

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

    def restored(self, held: Sequence[RandomNetwork] = ()) -> RestoredNetworks:
        """The networks; ValueError if the arrays do not fit one another.

        Where they are equal to those in `held`, these stand for them, so that no cell
        is in memory twice.
        """
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
        sizes = int(self.n_cells.sum()), int(self.n_values.sum())
        if sizes != (len(weights), len(self.values)):
            raise ValueError("the cells of networks do not fit their families")
        n_features = int(self.families[:, 0].max()) + 1
        if n_features < 1 or n_families % n_features or self.n_classes < 1:
            raise ValueError("networks need a family for each of their features")
        maps = np.split(self.values, np.cumsum(self.n_values)[:-1])
        found: list[RandomNetwork] = []
        n_read = n_before = 0
        for first in range(0, n_families, n_features):
            span = slice(first, first + n_features)
            families, n_cells = self.families[span], self.n_cells[span]
            radices = np.array(radices_of(maps[span]), dtype=np.int64)
            states, classes, taken = unpack_cells(
                self.steps[n_read:], families, radices, n_cells, self.n_classes
            )
            n_read += taken
            starts = np.concatenate([[0], np.cumsum(n_cells)])
            of_network = slice(n_before, n_before := n_before + int(starts[-1]))
            counts = OccupiedFamilies(
                families, states, classes, weights[of_network], starts
            )
            network = RandomNetwork(tuple(maps[span]), counts.compacted())
            same = held[len(found) : len(found) + 1]
            if same and _arrays_of(same[0]) == _arrays_of(network):
                network = same[0]
            found.append(network)
        if n_read != len(self.steps):
            raise ValueError("the cells of networks do not fit their families")
        networks = RestoredNetworks(found)
        networks.packed = self
        return networks


def _arrays_of(network: RandomNetwork) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Type, shape and content of all arrays of a network."""
    arrays = *network.maps, *vars(network.counts).values()
    return [(array.dtype.str, array.shape, array.tobytes()) for array in arrays]


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
        states = counts.states[place]
        highest = np.maximum.reduceat(states, counts.starts[:-1])
        if (highest >= radices[:, place]).any():
            raise ValueError("a family has a cell of an unknown state")
        keys *= np.repeat(radices[:, place], sizes)
        keys += states
    keys *= n_classes
    keys += counts.classes
    steps = np.diff(keys, prepend=0)
    firsts = counts.starts[:-1]
    steps[firsts] = keys[firsts]
    if (steps < 0).any():
        raise ValueError("the cells of a family are not in order")
    return steps


def packed(numbers: Whole) -> Bytes:
    """Integers of at least zero, seven bits a byte, the lowest first."""
    content = (numbers & (_MORE - 1)).astype(np.uint8)
    places = np.flatnonzero(numbers >= _MORE)
    content[places] |= np.uint8(_MORE)
    rest, behind, digits = numbers[places] >> _BITS, [places[:0]], [content[:0]]
    while len(rest):
        goes_on = rest >= _MORE
        digit = (rest & (_MORE - 1)) | np.where(goes_on, _MORE, 0)
        behind.append(places + 1)
        digits.append(digit.astype(np.uint8))
        places, rest = places[goes_on], rest[goes_on] >> _BITS
    return np.insert(content, np.concatenate(behind), np.concatenate(digits))


def unpacked(content: Bytes) -> NDArray[np.integer[Any]]:
    """The integers of `packed`, in as few bytes each as the largest needs.

    ValueError if the last is not complete, or one is too large.
    """
    is_last = content < _MORE
    if is_last.all():
        return content
    if not is_last[-1]:
        raise ValueError("packed numbers end too early")
    continued = np.flatnonzero(~is_last)
    # Last bytes of the numbers of several bytes, and which numbers these are.
    ends = continued[is_last[continued + 1]] + 1
    places = ends - np.searchsorted(continued, ends)
    large, rows = content[ends].astype(np.int64), np.arange(len(ends))
    for back in range(1, _MOST_BYTES):
        digits = content[ends - back].astype(np.int64) & (_MORE - 1)
        large[rows] = (large[rows] << _BITS) | digits
        goes_on = (ends > back) & ~is_last[ends - back - 1]
        ends, rows = ends[goes_on], rows[goes_on]
        if not len(ends):
            kind = np.min_scalar_type(int(large.max()))
            found = content[is_last].astype(np.int64 if kind == np.uint64 else kind)
            found[places] = large
            return found
    raise ValueError("a packed number is too large")
