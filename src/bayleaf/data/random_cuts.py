"""Random quantile cut points: a coding of the numeric columns for every network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES
from bayleaf.data.cut_points import distinct_values, midpoints
from bayleaf.data.domain import Variable

# A column with at most this many distinct values is cut between all of them.
FEW_VALUES = 10
# Quantiles that tell how large a number is.
_FINEST = 160
# Most cut points of a column: a byte holds its intervals, missing cells and a reserved
# code.
_MOST_CUTS = NARROW_STATES - 3
# Codings, and rows up to which there are most of them: beyond, they differ less and the
# networks that they are for cost more.
_LEAST_CODINGS, _MOST_CODINGS, _FEW_ROWS = 16, 64, 10_000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass
class RandomCuts:
    """A discretiser that draws several codings of a column and returns their union.

    A state of the union lies in one interval of every coding, so that a table is
    encoded once and each coding is a map of states (`interval_maps`). Cut points are
    drawn from as many as one byte can distinguish. Finer quantiles fill the union up,
    so that its states still show how large a number is. `drawn` has an entry per column
    so far: the cut points of each coding.
    """

    generator: np.random.Generator  # asked once per column, in their order
    n_codings: int | None = None  # None: 64 up to 10 000 rows, then fewer; at least 16
    max_bins: int | None = None  # None: cube root of the total weight, in 4 .. 32
    drawn: list[list[tuple[float, ...]]] = field(default_factory=list)

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Draw the codings of one column; NaN marks missing cells.

        Coding m cuts at the quantiles (k + u) / b, k = 0 to b - 1, with b uniform on 2
        to the largest number of quantiles and u uniform on 0 to 1; equal cut points
        count once. They are quantiles of the observed weight or, with probability one
        half, of the distinct values, which tell apart the tail of a column that is
        mostly zero.
        """
        distinct, counts = distinct_values(values, weights)
        total = float(weights.sum())
        n_codings = self.n_codings or default_n_codings(total)
        if len(distinct) <= FEW_VALUES:
            every = midpoints(distinct[:-1], distinct[1:])
            self.drawn.append([every] * n_codings)
            return every
        most = self.max_bins or int(np.clip(round(total ** (1 / 3)), 4, 32))
        grid = _Grid.of(distinct, counts)
        draw = self.generator
        sizes, offsets, is_even = zip(
            *(
                (draw.integers(2, most + 1), draw.random(), draw.random() >= 0.5)
                for _ in range(n_codings)
            ),
            strict=True,
        )
        codings = grid.codings(np.array(sizes), np.array(offsets), np.array(is_even))
        self.drawn.append(codings)
        union = set().union(*codings)
        n_finer = min(_FINEST, _MOST_CUTS + 1 - len(union))
        if n_finer > 1:
            union.update(grid.cuts(grid.below, np.arange(1, n_finer) / n_finer))
        return tuple(sorted(union))


class _Grid(NamedTuple):
    """Where a column may be cut, each after a distinct value."""

    below: Floats  # (n_cuts + 1,), weight up to each cut, and in all
    each_once: Floats  # (n_cuts + 1,), number of values likewise
    middles: tuple[float, ...]  # (n_cuts,), each midway between two values

    @classmethod
    def of(cls, distinct: Floats, counts: Floats) -> _Grid:
        """Every cut, or as many as a byte allows: quantiles of weight and of values."""
        below = np.cumsum(counts)
        each_once = np.arange(1.0, len(distinct) + 1.0)
        after = np.arange(len(distinct) - 1)
        if len(after) > _MOST_CUTS:
            n_quantiles = _MOST_CUTS // 2 + 1
            shares = np.arange(1, n_quantiles) / n_quantiles
            of_weight, of_values = (
                np.searchsorted(passed, shares * passed[-1])
                for passed in (below, each_once)
            )
            after = np.union1d(of_weight, of_values)
            after = after[after < len(distinct) - 1]
        ends = np.append(after, len(distinct) - 1)
        middles = midpoints(distinct[after], distinct[after + 1])
        return cls(below[ends], each_once[ends], middles)

    def cuts(self, passed: Floats, shares: Floats) -> tuple[float, ...]:
        """Cut points where rising shares of what has passed are reached."""
        reached = np.searchsorted(passed, shares * passed[-1])
        # The last place is the end of all values.
        middles = dict.fromkeys(reached[reached < len(self.middles)].tolist())
        return tuple(map(self.middles.__getitem__, middles))

    def codings(
        self, sizes: Integers, offsets: Floats, is_even: NDArray[np.bool_]
    ) -> list[tuple[float, ...]]:
        """Cut points of codings (n_codings,) at the quantiles (k + offset) / size.

        They are quantiles of the values where a coding `is_even`, else of the weight.
        """
        ends = np.cumsum(sizes)
        coding = np.repeat(np.arange(len(sizes)), sizes)
        k = np.arange(ends[-1]) - (ends - sizes)[coding]
        shares = (k + offsets[coding]) / sizes[coding]
        reached = np.where(
            is_even[coding],
            np.searchsorted(self.each_once, shares * self.each_once[-1]),
            np.searchsorted(self.below, shares * self.below[-1]),
        )
        # Equal ones of a coding are neighbours; the last place ends all values.
        is_cut = reached < len(self.middles)
        is_cut[1:] &= (reached[1:] != reached[:-1]) | (coding[1:] != coding[:-1])
        middles = list(map(self.middles.__getitem__, reached[is_cut].tolist()))
        bounds = [0, *np.cumsum(np.bincount(coding, is_cut)).astype(int).tolist()]
        return [tuple(middles[first:last]) for first, last in pairwise(bounds)]


def default_n_codings(n_rows: float) -> int:
    """Number of codings, and so of networks, for a weight of rows."""
    share = _FEW_ROWS / max(n_rows, _FEW_ROWS)
    return max(_LEAST_CODINGS, int(_MOST_CODINGS * share))


def interval_maps(
    variable: Variable, codings: Sequence[tuple[float, ...]]
) -> NDArray[np.uint16]:
    """Code under coarser codings of each code of a numeric variable.

    Shape (n_codings, n_states + 1). The cut points of `codings` are among the
    variable's own. A missing state keeps a state of its own; the reserved code past the
    last state maps to the reserved code.
    """
    sizes = np.array(list(map(len, codings)))
    states = np.zeros((len(codings), variable.n_states + 1), dtype=np.uint16)
    # An interval begins at a cut point.
    cuts = np.searchsorted(variable.cut_array, np.concatenate(codings))
    states[np.repeat(np.arange(len(codings)), sizes), 1 + cuts] = 1
    last = len(variable.cut_points) + 1
    states[:, :last] = np.cumsum(states[:, :last], axis=1)
    states[:, last:] = sizes[:, None] + np.arange(1, states.shape[1] - last + 1)
    return states


def value_maps(
    features: Sequence[Variable], cuts: RandomCuts | None
) -> list[tuple[NDArray[np.uint16], ...]]:
    """For each coding, the state that each code of each feature stands for.

    Numeric features come in the order in which they were cut. Without `cuts` there is
    one coding, the features' own.
    """
    as_is = tuple(np.arange(v.n_states + 1, dtype=np.uint16) for v in features)
    if cuts is None or not cuts.drawn:
        return [as_is]
    drawn = iter(cuts.drawn)
    maps: list[Iterable[NDArray[np.uint16]]] = [
        interval_maps(v, next(drawn)) if v.kind == "numeric" else repeat(same)
        for v, same in zip(features, as_is, strict=True)
    ]
    return list(islice(zip(*maps, strict=False), len(cuts.drawn[0])))
