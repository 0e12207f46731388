"""Hierarchical mixtures that learn row by row: online generalised EM (Wiering 2003).

So do mixtures of rows that come batch by batch (section 3.2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.models.mixture_banks import Banks
from bayleaf.native.latents import learn_pass
from bayleaf.progress import Work
from bayleaf.wording import quoted

Floats = NDArray[np.float64]
Progress = Callable[[int, float], object]

# Products of ratios are kept above exp(-690), which is just a normal number.
_LOWEST_LOG = 690.0

# Rows of a stream are scored alike whatever comes later: no counter may exceed this,
# up to which floats count exactly.
_HIGHEST = float(1 << 53)


@dataclass(frozen=True)
class OnlineOptions:
    """Options of online learning.

    An expert that gives the true class probability p is worth
    ``exp(-sigma * (1 - p))``. `missing_denominator` are the rows of which
    P(value | output) is a share: those in which the feature is known, or all.
    """

    n_passes: int = 5  # over the rows, all in one order
    sigma: float = 0.1
    gamma: float = 0.1  # least start of every counter, above zero
    noise: float = 0.01  # counters start up to this above `gamma`
    missing_denominator: Literal["rows_with_value", "all_rows"] = "rows_with_value"


@dataclass(frozen=True, eq=False)
class MixtureCounters:
    """Counters of all nodes of one mixture, one column per output.

    Nodes are numbered level by level from the root, experts last, and so are their
    columns. A feature's cells are divided by `totals`: the sum of their start, and the
    weight of the output since.
    """

    architecture: tuple[int, ...]  # children of the gates of each level
    n_classes: int
    offsets: NDArray[np.int64]  # (n_features + 1,), first value of each
    priors: Floats  # (n_columns,), weight of each output
    cells: Floats  # (n_values, n_columns), weights
    totals: Floats  # (n_features, n_columns)

    @classmethod
    def drawn(
        cls,
        architecture: tuple[int, ...],
        cards: tuple[int, ...],
        options: OnlineOptions,
        rng: np.random.Generator,
    ) -> MixtureCounters:
        """Counters before any row is seen: gamma plus uniform noise, one draw each.

        Draws go by level, the experts' last; within one first all priors (node,
        output), then all cells (value, node, output). Features of a single value get no
        draws: they tell nothing, and so change none.
        """
        *feature_cards, n_classes = cards
        offsets = np.cumsum([0, *feature_cards]).astype(np.int64)
        varying = np.repeat([card > 1 for card in feature_cards], feature_cards)
        priors, cells = [], []
        for n_nodes, n_outputs in level_shapes(architecture, n_classes):
            width = n_nodes * n_outputs
            start = options.noise * rng.random((1 + np.count_nonzero(varying), width))
            priors.append(options.gamma + start[0])
            cells.append(np.full((len(varying), width), options.gamma))
            cells[-1][varying] += start[1:]
        drawn = np.hstack(cells)
        spans = itertools.pairwise(offsets)
        sums = [drawn[first:last].sum(axis=0) for first, last in spans]
        totals = np.array(sums).reshape(len(sums), drawn.shape[1])
        return cls(
            architecture, n_classes, offsets, np.concatenate(priors), drawn, totals
        )

    def over(
        self,
        cards: Sequence[int],
        options: OnlineOptions,
        moved: NDArray[np.intp] | None = None,
    ) -> MixtureCounters:
        """A copy over other states, class last; cells go to `moved`, by default none.

        Other cells are `gamma`, and in no total.
        """
        offsets = np.cumsum([0, *cards[:-1]]).astype(np.int64)
        cells = np.full((int(offsets[-1]), len(self.priors)), options.gamma)
        if moved is not None:
            cells[moved] = self.cells
        return replace(
            self,
            offsets=offsets,
            priors=self.priors.copy(),
            cells=cells,
            totals=self.totals.copy(),
        )

    def tree(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First column of each node, and first child of each gate.

        The first is (n_nodes + 1,), the second (n_gates,).
        """
        shapes = level_shapes(self.architecture, self.n_classes)
        widths = np.concatenate([np.full(nodes, outputs) for nodes, outputs in shapes])
        gates = widths[: len(widths) - shapes[-1][0]]
        # Level by level, every gate's children follow those of the gate before it.
        first_child = 1 + np.cumsum(gates) - gates
        columns = np.cumsum([0, *widths])
        return columns.astype(np.int64), first_child.astype(np.int64)

    def banks(self) -> Banks:
        """The distributions that the counters stand for."""
        features = np.repeat(np.arange(len(self.totals)), np.diff(self.offsets))
        log_table = np.log(self.cells) - np.log(self.totals)[features]
        banks, first = [], 0
        for shape in level_shapes(self.architecture, self.n_classes):
            columns = slice(first, first + shape[0] * shape[1])
            first = columns.stop
            weights = self.priors[columns].reshape(shape)
            log_prior = np.log(weights / weights.sum(axis=1, keepdims=True))
            table = np.ascontiguousarray(log_table[:, columns])
            banks.append(
                NaiveBayesBank(log_prior, table.reshape(-1, *shape), self.offsets)
            )
        return tuple(banks)


def level_shapes(
    architecture: tuple[int, ...], n_classes: int
) -> list[tuple[int, int]]:
    """Number of nodes and of outputs a node on each level, the experts last."""
    outputs = (*architecture, n_classes)
    return [(prod(architecture[:level]), n) for level, n in enumerate(outputs)]


def learn_counters(
    codes: Codes,
    order: NDArray[np.int64],
    architecture: tuple[int, ...],
    options: OnlineOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> MixtureCounters:
    """Learn the counters of one mixture in several passes.

    Every expert learns the class of every row, weighted by how likely it is the one
    that explains it; every gate learns which of its children is worth most in the row.
    A row of weight w is one visit that counts w times. Wiering (2003), Hierarchical
    mixtures of naive Bayes classifiers, Utrecht University, UU-CS-2003-003, section
    3.2.

    `order` (n_visits,) are the rows of a pass, class last. `progress` is called after
    each pass with its number, from 1 on, and the mean log-loss (nats) of the rows, each
    predicted just before it was learned. ValueError if `gamma` is too small for the
    weight of the rows.
    """
    counters = MixtureCounters.drawn(architecture, codes.cards, options, rng)
    row_cells = cells_of_rows(codes, counters.offsets)
    highest = _highest(counters, codes.weights, options)
    factors = most_factors(highest, options, float(codes.weights.sum()))
    visits = np.ascontiguousarray(order, dtype=np.int64)
    work = Work(options.n_passes)
    for number in range(1, options.n_passes + 1):
        work.step(f"pass {number} of {options.n_passes}")
        loss = visit_rows(counters, codes, row_cells, visits, options, highest, factors)
        if progress is not None:
            progress(number, loss / float(codes.weights[visits].sum()))
    return counters


def visit_rows(
    counters: MixtureCounters,
    codes: Codes,
    row_cells: NDArray[np.int32],
    visits: NDArray[np.int64],
    options: OnlineOptions,
    highest: float,
    factors: int,
) -> float:
    """Let the counters learn some rows in an order, changing them in place.

    Gives the sum of -ln P(class | row) by weight, nats, each row predicted just before
    it is learned. No counter exceeds `highest`; `factors` as from `most_factors`.
    """
    columns, first_child = counters.tree()
    return learn_pass(
        visits,
        row_cells,
        codes.column(codes.n_variables - 1).astype(np.int64),
        np.ascontiguousarray(codes.weights, dtype=np.float64),
        columns,
        first_child,
        float(options.sigma),
        options.missing_denominator == "all_rows",
        highest,
        factors,
        counters.priors,
        counters.cells,
        counters.totals,
    )


def cells_of_rows(codes: Codes, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Which value each cell counts in, (n_rows, n_features); -1 where missing."""
    n_features = codes.n_variables - 1
    found = np.empty((codes.n_rows, n_features), dtype=np.int32)
    for feature in range(n_features):
        values = codes.column(feature).astype(np.int32) + np.int32(offsets[feature])
        found[:, feature] = np.where(codes.missing(feature), -1, values)
    return found


def _highest(
    counters: MixtureCounters, weights: Floats, options: OnlineOptions
) -> float:
    """A number that no counter exceeds."""
    start = max(counters.totals.max(initial=0.0), counters.priors.max())
    with np.errstate(over="ignore"):
        return float(start + options.n_passes * weights.sum())


def most_factors(highest: float, options: OnlineOptions, weight: float = 0.0) -> int:
    """How many shares of counters up to a number may be multiplied.

    ValueError if `gamma` is too small for rows of a weight, if one is given.
    """
    with np.errstate(over="ignore"):
        deepest = float(np.log(highest)) - math.log(options.gamma)
    if not deepest < _LOWEST_LOG:
        rows = (
            f"rows of total weight {weight:.3g} in {options.n_passes} passes"
            if weight
            else "batches of rows"
        )
        raise ValueError(
            f"gamma={quoted(options.gamma)} is too small beside {rows}; raise gamma or "
            "divide all weights by one number"
        )
    return int(_LOWEST_LOG / max(deepest, 1.0))


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
