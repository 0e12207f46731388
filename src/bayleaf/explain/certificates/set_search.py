"""Search for sets of changes, or of missing cells, size by size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.models.class_model import log_normalize
from bayleaf.scoring.bounds import joint_scores, worst_changes
from bayleaf.scoring.terms import SumOut

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sets that are held at a time, and those that networks score at a time.
_BLOCK_ROWS = 1 << 13
_PATTERN_ROWS = 1 << 10
# What rounding may add to a sum of costs and to a margin, relative.
_PRICE_ROUNDING = 1e-12
_MARGIN_ROUNDING = 1e-7
# Cells of the largest table, and features that may be missing, beyond which sets of
# missing cells are looked at one by one.
_MAX_CELLS = 1 << 22
_MAX_FEATURES = 16
# Costs that differ by no more than this, relative, are compared by the model itself.
_COST_ROUNDING = 1e-9


class BudgetSpentError(Exception):
    """Sets of a size exceed the budget; all smaller ones have been returned."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the budget is spent on sets of {size} changes")
        self.size = size


def blocks_of(search: SetSearch | PatternSearch, max_changes: int) -> Iterator[Indices]:
    """Blocks (n_sets, size) of sets of up to some changes, the smallest first."""
    for size in range(1, min(max_changes, search.n_features) + 1):
        yield from search.of_size(size)


@dataclass(eq=False)
class SetSearch:
    """Search for sets of changes, the most promising features first."""

    row: ChangedRow
    budget: int  # Sets that may be looked at before `BudgetSpentError` is raised.
    costs: Floats | None = None  # What each change costs; by default nothing.
    limit: float = np.inf  # Largest cost of a set; it may fall during the search.
    # Least log-odds (n_classes,) against each class before any change, nats; None for
    # models whose terms have no bounds.
    _start: Floats | None = field(init=False)
    _order: Indices = field(init=False)
    _ranks: Indices = field(init=False)
    _prices: Floats = field(init=False)
    # Worst case (n_changes, n_classes) of each change: the log-odds after a set of
    # changes are at least `_start` minus the sum of its gains.
    _gains: Floats = field(init=False)

    def __post_init__(self) -> None:
        features = self.row.features
        self._start, gains = self._bounds()
        if self._start is None:
            worth = self.row.worth_alone()
        else:
            others = np.delete(gains, self.row.chosen, axis=1)
            worth = others.max(axis=1, initial=-np.inf)
        prices = np.zeros(len(features)) if self.costs is None else self.costs
        if self.costs is not None:
            # Changes without worth are ordered by their price as well.
            worth = (worth - worth.min(initial=0.0) + 1.0) / prices
        distinct, places = np.unique(features, return_inverse=True)
        best = np.full(len(distinct), -np.inf)
        np.maximum.at(best, places, worth)
        ranks = np.argsort(np.argsort(-best, kind="stable"))[places]
        self._order = np.lexsort((-worth, ranks))
        self._ranks, self._prices = ranks[self._order], prices[self._order]
        self._gains = gains[self._order]
        self._spent = 0

    def _bounds(self) -> tuple[Floats | None, Floats]:
        """Start and gains of log-odds after calibration, nats."""
        row, program = self.row, self.row.program
        worst = None
        if program is not None:
            worst = worst_changes(
                program, row.codes, row.features, row.states, row.chosen
            )
        if worst is None:
            return None, np.zeros((len(row.features), 0))
        temperatures, shift = row.predictor.calibration(row.codes)
        start, gains = (nats / temperatures[0] for nats in worst)
        if shift is not None:
            shift = shift.reshape(-1)
            start = start + shift[row.chosen] - shift
        return start, gains

    @property
    def bounded(self) -> bool:
        """Whether bounds rule out sets."""
        return self._start is not None

    @property
    def n_features(self) -> int:
        """Features that may change."""
        return int(self._ranks[-1]) + 1 if len(self._ranks) else 0

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks (n_sets, size) of sets of changes that bounds do not rule out."""
        tops = self._tops(self._gains, size)
        if self.costs is None:
            cheapest = np.zeros(tops.shape[:2])
        else:
            cheapest = -self._tops(-self._prices[:, None], size)[:, :, 0]
        none = np.empty((1, 0), dtype=np.intp)
        waiting = [none[self._may_do(none, tops[size], cheapest[size])]]
        step = max(1, _BLOCK_ROWS // max(1, len(self._order)))
        while waiting:
            sets = waiting.pop()
            if len(sets) > step:
                waiting.append(sets[step:])
            left = size - sets.shape[1] - 1
            sets = self._extended(sets[:step], left, size)
            sets = sets[self._may_do(sets, tops[left], cheapest[left])]
            if len(sets) and left:
                waiting.append(sets)
            elif len(sets):
                yield self._order[sets]

    def _extended(self, sets: Indices, left: int, size: int) -> Indices:
        """Sets with one change more; features remain for the changes left."""
        after = self._ranks_after(sets)
        allowed = self._ranks >= after[:, None]
        allowed &= self._ranks < self.n_features - left
        rows, added = np.nonzero(allowed)
        self._spent += len(rows)
        if self._spent > self.budget:
            raise BudgetSpentError(size)
        return np.column_stack([sets[rows], added])

    def _may_do(
        self, sets: Indices, tops: Floats, cheapest: Floats
    ) -> NDArray[np.bool_]:
        """Whether sets may do with the best, and the cheapest, changes left."""
        after = self._ranks_after(sets)
        prices = self._prices[sets].sum(axis=1) + cheapest[after]
        within = np.asarray(prices <= self.limit * (1.0 + _PRICE_ROUNDING))
        if self._start is None:
            return within
        falls = self._gains[sets].sum(axis=1) + tops[after]
        return within & self._may_flip(falls - self._start)

    def _may_flip(self, odds: Floats) -> NDArray[np.bool_]:
        """Whether another class may be chosen, by log-odds against the chosen one."""
        costs, chosen = self.row.extra_costs, self.row.chosen
        ratios = np.exp(np.clip(odds, None, 500.0))
        ratios[:, chosen] = 0.0
        for_others = ratios @ np.clip(-costs, 0.0, None).T
        against = costs[:, chosen] * (1.0 - _MARGIN_ROUNDING)
        return np.asarray((for_others >= against).any(axis=1))

    def _ranks_after(self, sets: Indices) -> Indices:
        """Rank of the first feature that may be added to each set."""
        if not sets.shape[1]:
            return np.zeros(len(sets), dtype=np.intp)
        return self._ranks[sets[:, -1]] + 1

    def _tops(self, values: Floats, size: int) -> Floats:
        """Sums of the largest values of distinct features from a rank on.

        Shape (size + 1, n_features + 1, n_columns), each column by itself.
        """
        tops = np.zeros((size + 1, self.n_features + 1, values.shape[1]))
        best = np.zeros((0, values.shape[1]))
        for rank in range(self.n_features - 1, -1, -1):
            own = values[self._ranks == rank].max(axis=0, keepdims=True)
            best = -np.sort(-np.concatenate([best, own]), axis=0)[:size]
            tops[1 : 1 + len(best), rank] = np.cumsum(best, axis=0)
        return tops


@dataclass(frozen=True, eq=False)
class PatternSearch:
    """Sets of missing cells that flip a prediction, or nearly do."""

    # Which cells are missing (n_sets, n_features), the most promising sets first.
    near: NDArray[np.bool_]
    bounded: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """Features that may be missing."""
        return int(self.near.shape[1])

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size that may do, as positions of features."""
        sets = np.nonzero(self.near[self.near.sum(axis=1) == size])[1].reshape(-1, size)
        for first in range(0, len(sets), _PATTERN_ROWS):
            yield sets[first : first + _PATTERN_ROWS]


def pattern_search(row: ChangedRow) -> PatternSearch | None:
    """All sets of missing cells of a row, by their probabilities under a network.

    None for other models, for naive Bayes, whose terms add up, and where tables would
    be too large.
    """
    codes = row.codes
    program, n = row.program, len(row.features)
    if program is None or not 0 < n <= _MAX_FEATURES or len(program.terms) != 1:
        return None
    term = program.terms[0]
    if not isinstance(term, SumOut):
        return None
    label = len(term.cards) - 1
    if all(len({*factor.variables} - {label}) <= 1 for factor in term.factors):
        return None
    options = {f: codes.column(f)[:1].astype(np.intp) for f in range(codes.n_variables)}
    for feature in row.features.tolist():
        options[feature] = np.append(options[feature], term.cards[feature])
    try:
        logs = joint_scores(term.cards, term.factors, options, _MAX_CELLS)
    except ValueError:
        return None
    # The bits of a row's index are the features, the first the highest.
    scores = program.base + term.weight * logs.reshape(len(logs), -1).T
    if not np.isfinite(scores.max(axis=1)).all():
        return None
    # Under a temperature, which depends on the known features, no program is given.
    proba, costs = np.exp(log_normalize(scores)), row.extra_costs
    rounding = _COST_ROUNDING + np.expm1(2 * term.weight * term.excess)
    behind = (proba @ costs.T - rounding * (proba @ np.abs(costs).T)).min(axis=1)
    near = np.flatnonzero(behind <= 0.0)
    near = near[np.argsort(behind[near], kind="stable")]
    return PatternSearch((near[:, None] >> np.arange(n)[::-1] & 1).astype(bool))
