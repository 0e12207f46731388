"""Counts of those joint states of a family and the class that occur at all.

The table of a feature with four parents may have millions of cells, of which training
fills at most one a row. What is kept here is the filled ones, each with its states
written out, so that memory is bounded by the number of rows. Configurations of parents
that few rows have can be merged with those of one parent fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.native.counts import count_families, family_sizes
from bayleaf.wording import brief_fields

# The state that each code of a variable stands for.
Map = NDArray[np.uint16]

# Larger keys than this would overflow when the class is appended.
MAX_CELLS = 1 << 46
# At most: a node of a tree; a cell without its states; the lists that each family has.
# Which networks are drawn follows from these, not from what trees take.
_NODE_BYTES, _CELL_BYTES, _FAMILY_BYTES = 26, 3, 4096
# Larger weights could overflow once they are added up or multiplied.
MOST_WEIGHT = 1e100


@dataclass(frozen=True, eq=False)
class OccupiedCounts:
    """Weights of the joint states of some variables and the class that occur."""

    states: NDArray[np.uint16]  # (n_variables, n_cells)
    classes: NDArray[np.uint16]  # (n_cells,)
    weights: NDArray[np.float64]  # (n_cells,), above zero

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class OccupiedFamilies:
    """Occupied counts of several families, laid out in one piece.

    Cells are sorted by family, then by the states of the parents. Parents of which too
    few rows have the same states have the reserved code, past the last state. `states`
    and `classes` may be uint8, `weights` uint8 to uint32 or float64.
    """

    families: NDArray[np.int64]  # (n_families, n_places), -1 after the last variable
    states: NDArray[np.uint16]  # (n_places, n_cells), 0 beyond the last variable
    classes: NDArray[np.uint16]  # (n_cells,)
    weights: NDArray[np.float64]  # (n_cells,), above zero
    starts: NDArray[np.int64]  # (n_families + 1,), first cell of each

    __repr__ = brief_fields

    @property
    def nbytes(self) -> int:
        """Bytes of all cells."""
        return self.states.nbytes + self.classes.nbytes + self.weights.nbytes

    def compacted(self) -> OccupiedFamilies:
        """The same in as few bytes as states, classes and whole weights need."""
        return replace(
            self,
            states=_compact(self.states),
            classes=_compact(self.classes),
            weights=_compact(self.weights),
        )

    def check_content(self) -> None:
        """Raise ValueError unless these are counts of one family a variable."""
        n_families, n_cells = len(self.families), len(self.weights)
        if not n_families or self.families.ndim != 2:
            raise ValueError("there should be one family for each feature")
        shape = (self.families.shape[1], n_cells)
        if self.states.shape != shape or self.classes.shape != self.weights.shape:
            raise ValueError(f"the states of cells should have the shape {shape}")
        ends = (0, n_cells) if self.starts.shape == (n_families + 1,) else None
        if (
            ends != (self.starts[0], self.starts[-1])
            or (np.diff(self.starts) < 1).any()
        ):
            raise ValueError(
                "each family should have cells, one family after the other"
            )
        if not ((self.weights > 0) & (self.weights <= MOST_WEIGHT)).all():
            raise ValueError(
                f"the weight of a cell should be above 0 and at most {MOST_WEIGHT:.0e}"
            )
        places, ordered = self.families, np.sort(self.families, axis=1)
        is_wrong = (places < -1) | (places >= n_families)
        is_wrong[:, 0] |= places[:, 0] != np.arange(n_families)
        is_wrong[:, 1:] |= (places[:, :-1] < 0) & (places[:, 1:] >= 0)
        is_wrong[:, 1:] |= (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if is_wrong.any():
            feature = is_wrong.any(axis=1).argmax()
            raise ValueError(
                f"family {feature} should be the feature and distinct parents"
            )

    def __len__(self) -> int:
        return len(self.families)

    def __getitem__(self, family: int) -> OccupiedCounts:
        if not 0 <= family < len(self):
            raise IndexError(f"there are {len(self)} families, got {family}")
        cells = slice(self.starts[family], self.starts[family + 1])
        return OccupiedCounts(
            self.states[: len(self.variables(family)), cells],
            self.classes[cells],
            self.weights[cells],
        )

    def drawn(self, rng: np.random.Generator) -> OccupiedFamilies:
        """Cells with gamma variates as weights; at least one cell a family stays."""
        weights, kept = np.empty_like(self.weights), np.zeros(len(self.weights), bool)
        for first, last in pairwise(self.starts.tolist()):
            own = np.floor(rng.standard_gamma(self.weights[first:last]))
            weights[first:last], kept[first:last] = own, own >= 1
            if not (own >= 1).any():
                weights[first], kept[first] = 1.0, True
        ends = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return replace(
            self,
            states=np.ascontiguousarray(self.states[:, kept]),
            classes=self.classes[kept],
            weights=weights[kept],
            starts=ends,
        )

    def radices(self, radices: Sequence[int]) -> NDArray[np.int64]:
        """Of each variable's number the one of each family's, 1 after the last."""
        return np.array([*radices, 1], dtype=np.int64)[self.families]

    def variables(self, family: int) -> tuple[int, ...]:
        """The variables of a family."""
        return tuple(
            variable for variable in self.families[family].tolist() if variable >= 0
        )


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    """Integers as the smallest unsigned integers that hold them."""
    largest = values.max(initial=0)
    if values.dtype == np.uint8 or not largest <= np.iinfo(np.uint32).max:
        return values
    integers = values.astype(np.min_scalar_type(int(largest)))
    is_real = values.dtype.kind == "f"
    return values if is_real and (integers != values).any() else integers


def padded(families: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Families as rows of one length, -1 after the last variable of each."""
    places = np.full((len(families), max(map(len, families))), -1, dtype=np.int64)
    for row, family in zip(places, families, strict=True):
        row[: len(family)] = family
    return places


def joined(maps: Sequence[Map]) -> tuple[Map, NDArray[np.int64]]:
    """The maps of all variables in one array, and where each begins."""
    starts = np.cumsum([0, *map(len, maps)], dtype=np.int64)
    return np.concatenate(maps), starts


def count_occupied(
    codes: Codes,
    families: Sequence[Sequence[int]],
    maps: Sequence[Map],
    min_rows: float = 1.0,
) -> OccupiedFamilies:
    """Count the joint states of families of variables and the class that occur.

    `maps` (uint16) contain, for each variable but the class, the state of each code,
    the highest last; in a family their numbers multiply to at most `MAX_CELLS`. A
    configuration of parents, strongest first, needs rows of weight `min_rows` to be
    distinguished from that without its last parent. The class is the last variable.
    """
    places = padded(families)
    cells = count_families(*_native_arguments(codes, places, maps, min_rows))
    return OccupiedFamilies(places, *cells).compacted()


@dataclass(frozen=True)
class CountedSize:
    """Memory that families take."""

    n_cells: int  # occupied joint states, see `OccupiedFamilies`
    n_bytes: int  # cells, and families as trees over the parents


def occupied_size(
    codes: Codes,
    families: Sequence[Sequence[int]],
    maps: Sequence[Map],
    min_rows: float,
) -> CountedSize:
    """Measure what `count_occupied` would give, without keeping it."""
    places = padded(families)
    sizes = family_sizes(*_native_arguments(codes, places, maps, min_rows)).tolist()
    n_cells, n_nodes, n_counts, n_labels, n_links = sizes
    trees = _NODE_BYTES * n_nodes + n_counts + 2 * n_labels + 4 * n_links
    cells = n_cells * (places.shape[1] + _CELL_BYTES)
    return CountedSize(n_cells, trees + cells + _FAMILY_BYTES * len(families))


def _native_arguments(
    codes: Codes, places: NDArray[np.int64], maps: Sequence[Map], min_rows: float
) -> Any:
    """The table, the families and the codings as native functions take them."""
    slots = np.array(codes.slots, dtype=np.int64)
    table = codes.narrow, codes.wide, slots, codes.weights
    return *table, places, *joined(maps), codes.cards[-1], min_rows


def mapped_states(
    columns: Sequence[NDArray[np.unsignedinteger[Any]]], maps: Sequence[Map]
) -> NDArray[np.uint16]:
    """State of each variable in each row, (n_variables, n_rows).

    `columns` contain codes, and `maps` (uint16) the state of each code.
    """
    states = np.empty((len(columns), len(columns[0])), dtype=np.uint16)
    for row, column, values in zip(states, columns, maps, strict=True):
        # Unlike indexing, this lets other threads go on.
        np.take(values, column, out=row, mode="clip")
    return states
