"""Online mixtures of rows that come batch by batch (Wiering 2003, section 3.2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.latent.online_mixture import (
    MixtureCounters,
    OnlineOptions,
    cells_of_rows,
    most_factors,
    visit_rows,
)
from bayleaf.models.mixture_banks import Banks

# Rows of a stream are scored alike whatever comes later: no counter may exceed this,
# up to which floats count exactly.
_HIGHEST = float(1 << 53)


@dataclass(frozen=True, eq=False)
class OnlineStream:
    """One mixture that visits each row once, as it comes.

    A value gets its counters, `gamma` plus noise, just before the first row that has
    it, drawn from the seed, its feature and how many values came before it. So batches
    leave no trace: any cut of the same rows gives the same counters, bit for bit.
    """

    counters: MixtureCounters  # over all states of `variables`
    variables: tuple[Variable, ...]  # the features
    met: NDArray[np.bool_]  # (n_values,), whether a row had the value
    seed: int
    weight: float = 0.0  # of all visits
    loss: float = 0.0  # sum of -ln P(class | row) before learning it, nats

    @classmethod
    def of_fit(
        cls,
        counters: MixtureCounters,
        variables: Sequence[Variable],
        weight: float,
        seed: int,
    ) -> OnlineStream:
        """The mixture of a fit to rows, whose visits have a weight together."""
        met = np.ones(len(counters.cells), dtype=np.bool_)
        return cls(counters, tuple(variables), met, seed, weight)

    @classmethod
    def begun(
        cls,
        architecture: tuple[int, ...],
        variables: Sequence[Variable],
        n_classes: int,
        options: OnlineOptions,
        seed: int,
    ) -> OnlineStream:
        """A mixture before any row."""
        rng = np.random.default_rng(seed)
        cards = (*(variable.n_states for variable in variables), n_classes)
        unknown = (*(0 for _ in variables), n_classes)
        empty = MixtureCounters.drawn(architecture, unknown, options, rng)
        counters = empty.over(cards, options)
        met = np.zeros(len(counters.cells), dtype=np.bool_)
        return cls(counters, tuple(variables), met, seed)

    def after(
        self, codes: Codes, variables: Sequence[Variable], options: OnlineOptions
    ) -> OnlineStream:
        """The mixture after more rows, class last, over features that may have grown.

        ValueError if `gamma` is too small, or the rows have too much weight together.
        """
        factors = most_factors(_HIGHEST, options)
        weight = self.weight + float(codes.weights.sum())
        if not weight < _HIGHEST:
            raise ValueError(
                f"rows of total weight {weight:.3g} are too many for counters that "
                "count exactly; divide all weights by one number"
            )
        grown = self._over(variables, options)
        counters, offsets = grown.counters, grown.counters.offsets
        cells = cells_of_rows(codes, offsets)
        first: dict[int, list[int]] = {0: []}
        for column in cells.T:
            values, rows = np.unique(column, return_index=True)
            for value, row in zip(values.tolist(), rows.tolist(), strict=True):
                if value >= 0 and not grown.met[value]:
                    first.setdefault(row, []).append(value)
        loss = self.loss
        for start, stop in itertools.pairwise([*sorted(first), codes.n_rows]):
            for value in first[start]:
                grown._meet(value, options)
            visits = np.arange(start, stop)
            loss += visit_rows(
                counters, codes, cells, visits, options, _HIGHEST, factors
            )
        return replace(grown, weight=weight, loss=loss)

    def banks(self, options: OnlineOptions) -> Banks:
        """The distributions; a value that no row had counts as `gamma`."""
        offsets = self.counters.offsets
        unmet = [
            np.count_nonzero(~self.met[first:last])
            for first, last in itertools.pairwise(offsets)
        ]
        totals = self.counters.totals + options.gamma * np.array(unmet)[:, None]
        totals[np.diff(offsets) == 0] = 1.0
        return replace(self.counters, totals=totals).banks()

    def _over(
        self, variables: Sequence[Variable], options: OnlineOptions
    ) -> OnlineStream:
        """Counters of its own over the states of a later batch."""
        codes = [
            np.array([new.state_index[state] for state in old.states], dtype=np.intp)
            for old, new in zip(self.variables, variables, strict=True)
        ]
        cards = (*(v.n_states for v in variables), self.counters.n_classes)
        starts = np.cumsum([0, *cards[:-1]])[:-1]
        moved = np.concatenate([p + s for p, s in zip(codes, starts, strict=True)])
        counters = self.counters.over(cards, options, moved)
        met = np.zeros(len(counters.cells), dtype=np.bool_)
        met[moved] = self.met
        return replace(self, counters=counters, variables=tuple(variables), met=met)

    def _meet(self, value: int, options: OnlineOptions) -> None:
        """Start the counters of a value."""
        counters = self.counters
        feature = int(np.searchsorted(counters.offsets, value, side="right")) - 1
        cells = slice(counters.offsets[feature], counters.offsets[feature + 1])
        rng = np.random.default_rng(
            (self.seed, feature, int(np.count_nonzero(self.met[cells])))
        )
        counters.cells[value] += options.noise * rng.random(counters.cells.shape[1])
        counters.totals[feature] += counters.cells[value]
        self.met[value] = True
