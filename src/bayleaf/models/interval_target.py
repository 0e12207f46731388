"""A numeric target as ordered intervals, with trees for what numbers add to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.texts.expectation import (
    ExpectationExplanation,
    ExpectationShape,
    ExpectationTerm,
)
from bayleaf.results.document import Document, Part, Table
from bayleaf.results.result import Result
from bayleaf.wording import brief, brief_fields, counted, like, quoted

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Places in trees that are held at a time.
_BLOCK_PLACES = 1 << 20
_POINTS, _POINT_WEIGHTS = np.polynomial.legendre.leggauss(64)
# Where on the way from 0 to 1 the derivative of the expectation is taken, and what each
# point counts: Gauss-Legendre.
INTEGRATION = (_POINTS + 1) / 2, _POINT_WEIGHTS / 2
# Numbers held at a time while rows are explained.
_BLOCK_VALUES = 1 << 22

# Rows of predicted distributions that notebooks show.
_SHOWN = 10


@dataclass(frozen=True, eq=False)
class TargetDistributions(Result):
    """The predictive distribution of each row.

    Probability is spread evenly inside a cell; a cell whose ends are equal is a value
    with a probability of its own.
    """

    lower: Floats  # (n_cells,), rising, in the target's unit
    upper: Floats  # (n_cells,)
    probabilities: Floats  # (n_rows, n_cells)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        n_rows, n_cells = self.probabilities.shape
        return brief(self, counted(n_rows, "row"), counted(n_cells, "cell"))

    def document(self) -> Document:
        """Expectation, median and 90 % interval of the first rows."""
        shown = replace(self, probabilities=self.probabilities[:_SHOWN])
        numbers = np.column_stack([shown.mean, shown.quantiles((0.05, 0.5, 0.95))])
        whole = float(np.abs(numbers).max(initial=0.0))
        rows = [
            (str(row), *(like(figure, whole) for figure in figures))
            for row, figures in enumerate(numbers.tolist())
        ]
        heads = ("row", "expected", "5 %", "median", "95 %")
        parts: list[Part] = [Table(heads, rows, "predicted distributions")]
        if len(self) > len(rows):
            parts.append(f"and {len(self) - len(rows)} more rows")
        return Document("", parts)

    @cached_property
    def mean(self) -> Floats:
        """Expectation of each row, shape (n_rows,)."""
        return np.asarray(self.probabilities @ self._middle)

    @cached_property
    def variance(self) -> Floats:
        """Variance of each row, in the target's unit squared, shape (n_rows,)."""
        middle, width = self._middle, self.upper - self.lower
        away = middle - self.mean[:, None]
        squares = (self.probabilities * away**2).sum(axis=1)
        return np.asarray(squares + self.probabilities @ (width**2 / 12.0))

    @property
    def median(self) -> Floats:
        """Median of each row, shape (n_rows,)."""
        return self.quantiles([0.5])[:, 0]

    def quantiles(self, levels: Any) -> Floats:
        """Quantiles (n_rows, n_levels) in the target's unit.

        ValueError unless the levels (n_levels,) are numbers from 0 to 1.
        """
        wanted = checked_levels(levels)
        last = len(self.lower) - 1
        totals = self._totals
        found = np.empty((len(self), len(wanted)))
        rows = np.arange(len(self))
        for place, level in enumerate(wanted):
            cell = np.minimum((totals < level).sum(axis=1), last)
            share = self.probabilities[rows, cell]
            below = totals[rows, cell] - share
            inside = (level - below) / np.maximum(share, np.finfo(float).tiny)
            width = self.upper[cell] - self.lower[cell]
            found[:, place] = self.lower[cell] + width * np.clip(inside, 0.0, 1.0)
        return found

    def interval(self, coverage: float = 0.9) -> Floats:
        """The central interval (n_rows, 2) of a probability between 0 and 1."""
        outside = (1.0 - checked_coverage(coverage)) / 2.0
        return self.quantiles([outside, 1.0 - outside])

    def cdf(self, values: Any) -> Floats:
        """Probability (n_rows,) of at most a value; one for all rows, or (n_rows,)."""
        at = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(self),))
        width = self.upper - self.lower
        inside = (at[:, None] - self.lower) / np.where(width > 0, width, 1.0)
        whole = at[:, None] >= self.upper
        shares = np.where(whole, 1.0, np.clip(inside, 0.0, 1.0) * (width > 0))
        return np.asarray((self.probabilities * shares).sum(axis=1))

    def crps(self, values: Any) -> Floats:
        """Continuous ranked probability score, smaller is better, shape (n_rows,).

        The mean distance of a draw from the true value, less half that of two draws
        from each other (Gneiting and Raftery 2007, eq. 21); draws are cell centres.
        True values (n_rows,) are in the target's unit.
        """
        return crps_of_cells(self.probabilities, self._middle, np.asarray(values))

    @property
    def _middle(self) -> Floats:
        # Half of each, as the sum of two huge numbers is none.
        return self.lower / 2.0 + self.upper / 2.0

    @cached_property
    def _totals(self) -> Floats:
        totals = np.cumsum(self.probabilities, axis=1)
        return np.asarray(totals / totals[:, -1:])


def crps_of_cells(probabilities: Floats, centres: Floats, values: Floats) -> Floats:
    """The score of rows whose probability stands at the cells' centres, (n_rows,)."""
    away = np.abs(values[:, None] - centres)
    totals = np.cumsum(probabilities, axis=1)[:, :-1]
    spread = (totals * (1.0 - totals)) @ np.diff(centres)
    return np.asarray((probabilities * away).sum(axis=1) - spread)


def checked_levels(levels: Any) -> Floats:
    """Levels of quantiles as float64; raises ValueError for one that is none."""
    found = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if found.ndim != 1 or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(
            f"levels must be numbers from 0 to 1, got {quoted(levels)}; give shares, "
            "such as 0.9 for 90 %"
        )
    return found


def checked_coverage(coverage: Any) -> float:
    """A coverage as a float; raises ValueError for one that is none."""
    if not isinstance(coverage, int | float) or not 0 < coverage < 1:
        raise ValueError(
            f"coverage must be above 0 and below 1, got {quoted(coverage)}; give a "
            "share, such as 0.9 for 90 %"
        )
    return float(coverage)


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A number and the leaves that a row reaches in many regression trees, added up.

    A row moves to the left child of a node if the position of its state is at most the
    threshold; that child comes right after its parent. At a state that training did not
    contain it stops: the value of a node is the mean of the rows below it. Friedman
    (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232.
    """

    base: float  # added to the roots' values
    positions: tuple[Floats, ...]  # (n_states,) on the scale of the thresholds
    roots: Whole  # (n_trees,), the first node of each tree
    features: Whole  # (n_nodes,), -1 for a leaf
    thresholds: Floats  # (n_nodes,), the greatest position that goes left
    right: Whole  # (n_nodes,), the other child; 0 for a leaf
    values: Floats  # (n_nodes,), what a row adds that stops here

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless all nodes lead to later ones."""
        n_nodes = len(self.features)
        others = (self.thresholds, self.right, self.values)
        if any(np.shape(own) != (n_nodes,) for own in others):
            raise ValueError("every node of a tree needs a threshold, child and value")
        numbers = (self.thresholds, self.values, np.array([self.base]))
        if not all(np.isfinite(own).all() for own in numbers):
            raise ValueError("trees hold a number that is not finite")
        if ((self.features < -1) | (self.features >= len(self.positions))).any():
            raise ValueError("a node of a tree asks for a feature that is none")
        inner = np.flatnonzero(self.features >= 0)
        later = self.right[inner]
        if ((later <= inner + 1) | (later >= n_nodes)).any():
            raise ValueError("a node of a tree does not lead to a later one")
        if ((self.roots < 0) | (self.roots >= n_nodes)).any():
            raise ValueError("a tree has no root")

    def check_fit(self, cards: tuple[int, ...]) -> None:
        """Raise ValueError unless the trees are over features with these states."""
        if tuple(map(len, self.positions)) != cards:
            raise ValueError("the positions of trees do not fit the features")

    @property
    def start(self) -> float:
        """The sum before any feature is seen."""
        return self.base + float(self.values[self.roots].sum())

    def sums(self, codes: Codes) -> Floats:
        """The sum for each row, shape (n_rows,)."""
        found = np.empty(codes.n_rows)
        for rows, where in self._blocks(codes):
            places = np.tile(self.roots, (len(where), 1))
            for _, after in self._steps(places, where):
                places = after
            found[rows] = self.base + self.values[places].sum(axis=1)
        return found

    def terms(self, codes: Codes) -> Floats:
        """What each feature adds to `start`, shape (n_rows, n_features).

        A step from a node to its child counts for the feature that the node asks for.
        """
        n_features = len(self.positions)
        found = np.empty((codes.n_rows, n_features))
        for rows, where in self._blocks(codes):
            n_rows = len(where)
            first = np.arange(n_rows)[:, None] * n_features
            added = np.zeros(n_rows * n_features)
            places = np.tile(self.roots, (n_rows, 1))
            for before, after in self._steps(places, where):
                change = self.values[after] - self.values[before]
                cells = first + np.maximum(self.features[before], 0)
                added += np.bincount(cells.ravel(), change.ravel(), len(added))
            found[rows] = added.reshape(n_rows, n_features)
        return found

    def _blocks(self, codes: Codes) -> Iterator[tuple[slice, Floats]]:
        """Some rows at a time, and the positions of their states; NaN without one."""
        step = max(1, _BLOCK_PLACES // max(1, len(self.roots)))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, min(first + step, codes.n_rows))
            yield rows, columns_at(codes.rows(rows), self.positions)

    def _steps(self, places: Whole, where: Floats) -> Iterator[tuple[Whole, Whole]]:
        """Places in all trees before and after each step, until no row moves."""
        rows = np.arange(len(where))[:, None]
        while True:
            asked = self.features[places]
            position = where[rows, asked]
            left = position <= self.thresholds[places]
            moves = (asked >= 0) & ~np.isnan(position)
            if not moves.any():
                return
            child = np.where(left, places + 1, self.right[places])
            after = np.where(moves, child, places)
            yield places, after
            places = after


def columns_at(codes: Codes, positions: tuple[Floats, ...]) -> Floats:
    """Positions of the states of rows, (n_rows, n_features); NaN for an unknown one."""
    found = np.empty((codes.n_rows, len(positions)))
    for feature, own in enumerate(positions):
        found[:, feature] = np.append(own, np.nan)[codes.column(feature)]
    return found


class Location(NamedTuple):
    """Predictions of trees: mean and logarithm of the scale, each (n_rows, ...).

    `share` is how far that counts, (n_rows,): less where features are unknown, and in
    full without it.
    """

    mean: Floats
    log_scale: Floats
    share: Floats | None = None


@dataclass(frozen=True)
class Head:
    """How the parts of a score are put together; learned on left-out rows.

    `log_scale` is the log of the mean scale of the Student t density around the trees'
    mean, in standard deviations of the target.
    """

    interval_weight: float  # of the intervals' model, at least 0
    log_scale: float
    spread_weight: float  # of the trees' scale
    freedom: float  # degrees of freedom of the density

    def check_content(self) -> None:
        """Raise ValueError unless all numbers make a density."""
        numbers = vars(self).values()
        if not all(np.isfinite(number) for number in numbers):
            raise ValueError("the head holds a number that is not finite")
        if self.interval_weight < 0 or self.freedom <= 0:
            raise ValueError("the head holds a negative weight or no freedom")

    def log_density(self, centres: Floats, where: Location) -> Floats:
        """The t density's logarithm up to a constant of the row, (n_rows, n_cells)."""
        away = self._away(centres, where)
        return np.asarray(-(self.freedom + 1) / 2 * np.log1p(away**2 / self.freedom))

    def slopes(self, centres: Floats, where: Location) -> tuple[Floats, Floats]:
        """Derivatives of `log_density` by the mean and by the trees' log scale."""
        away = self._away(centres, where)
        pull = (self.freedom + 1) * away / (self.freedom + away**2)
        by_mean = pull * self._inverse_scale(where)
        return by_mean, pull * away * self.spread_weight

    def _away(self, centres: Floats, where: Location) -> Floats:
        return (centres - where.mean[..., None]) * self._inverse_scale(where)

    def _inverse_scale(self, where: Location) -> Floats:
        logs = self.log_scale + self.spread_weight * where.log_scale
        return np.asarray(np.exp(-logs)[..., None])


@dataclass(frozen=True, eq=False)
class TargetTrees:
    """Trees of the target, in standard deviations from its mean."""

    mean: TreeSum  # the expectation
    spread: TreeSum  # logarithm of the scale of what remains

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class IntervalTargetModel:
    """Predictive distributions of a number from the scores of its intervals.

    Every interval is divided at quantiles of its training numbers into cells of the
    same training weight. The logarithm of a cell's probability is, up to a constant of
    the row, ``w`` times the score of its interval, ``1 - w`` times the interval's log
    prior, and the logarithm of a Student t density at the cell's centre, whose mean and
    scale are sums of trees. Without trees the intervals count alone.
    """

    intervals: AveragedKDBModel  # with the target's interval as class
    numbers: IntervalNumbers  # of training, by interval, in the target's unit
    centre: float  # mean of the target in training
    scale: float  # its standard deviation
    head: Head
    trees: TargetTrees | None = None

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless the parts fit each other."""
        cards = self.intervals.domain.cards
        if len(self.numbers.means) != cards[-1]:
            raise ValueError("there should be numbers of every interval")
        if not all(self.numbers.quantiles):
            raise ValueError("an interval of the target has no numbers")
        ends = np.concatenate([np.array(own) for own in self.numbers.quantiles])
        if not np.isfinite(ends).all() or (np.diff(ends) < 0).any():
            raise ValueError("the intervals of the target are in no order")
        if not (np.isfinite(self.centre) and 0 < self.scale < np.inf):
            raise ValueError("the target has no mean or scale")
        if self.trees is not None:
            self.trees.mean.check_fit(cards[:-1])
            self.trees.spread.check_fit(cards[:-1])

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of all cells, in the target's unit."""
        own = [np.array(q) for q in self.numbers.quantiles]
        lower = np.concatenate([quantiles[:-1] for quantiles in own])
        return lower, np.concatenate([quantiles[1:] for quantiles in own])

    @cached_property
    def cell_intervals(self) -> NDArray[np.intp]:
        """The interval of each cell."""
        sizes = [len(own) - 1 for own in self.numbers.quantiles]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def _cell_shares(self) -> Floats:
        """Logarithm of each cell's share of its interval."""
        sizes = np.bincount(self.cell_intervals)
        return np.asarray(-np.log(sizes)[self.cell_intervals])

    @cached_property
    def log_prior(self) -> Floats:
        """Logarithm of each interval's share of the training rows, nats."""
        return np.log(np.maximum(self.intervals.prior, np.finfo(float).tiny))

    @cached_property
    def centres(self) -> Floats:
        """Centres of the cells in standard deviations from the mean."""
        lower, upper = self.ends
        return (lower / 2 - self.centre / 2 + (upper / 2 - self.centre / 2)) / (
            self.scale
        )

    def cell_log_scores(
        self, interval_scores: Floats, where: Location | None, head: Head | None = None
    ) -> Floats:
        """Log scores of the cells up to a constant of the row.

        `interval_scores` (..., n_intervals) are in nats. `head` replaces the model's.
        """
        head = self.head if head is None else head
        share = np.ones(1) if where is None or where.share is None else where.share
        share = share[..., None]
        weight = np.asarray(head.interval_weight)
        if where is not None:
            # Without trees, intervals count in full.
            weight = share * weight + (1.0 - share)
        mixed = weight * interval_scores + (1.0 - weight) * self.log_prior
        scores = mixed[..., self.cell_intervals] + self._cell_shares
        if where is not None:
            scores = scores + share * head.log_density(self.centres, where)
        return np.asarray(scores)

    def location(self, codes: Codes) -> Location | None:
        """What the trees say of rows; None without trees."""
        if self.trees is None:
            return None
        mean, spread = self.trees.mean.sums(codes), self.trees.spread.sums(codes)
        return Location(mean, spread, self.intervals.base_shares(codes))

    def distributions(self, codes: Codes) -> TargetDistributions:
        """The predictive distributions of rows."""
        scores = self.intervals.class_log_scores(codes)
        return self.of_scores(scores, self.location(codes))

    def of_scores(
        self, interval_scores: Floats, where: Location | None
    ) -> TargetDistributions:
        """The predictive distributions under scores; see `cell_log_scores`."""
        cells = self.cell_log_scores(interval_scores, where)
        return TargetDistributions(*self.ends, softmax(cells))

    def explain(self, codes: Codes) -> list[ExpectationExplanation]:
        """Explain the expectation of each row; see `expectation_terms`."""
        *features, target = self.intervals.domain.variables
        baselines, terms = self.expectation_terms(codes)
        expected = self.distributions(codes).mean.tolist()
        found = []
        for row, own in enumerate(terms.tolist()):
            told = (
                ExpectationTerm(
                    variable.name, variable.label(int(codes.column(i)[row])), own[i]
                )
                for i, variable in enumerate(features)
            )
            found.append(
                ExpectationExplanation(
                    row, target.name, expected[row], float(baselines[row]), tuple(told)
                )
            )
        return found

    def expectation_terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split expectations into what is known before, and what each feature adds.

        All features are turned up together, from nothing to what they are; on this
        straight line the expectation changes by what each feature's part changes in it
        (Aumann and Shapley 1974; Sundararajan, Taly and Yan 2017). The integral is
        taken at 64 points; what rounding leaves is shared in proportion to size.

        Returns baselines (n_rows,), equal for rows without missing features, and terms
        (n_rows, n_features) in the target's unit; together they sum to the expectation.
        """
        n_features = len(self.intervals.domain) - 1
        n_intervals = self.intervals.n_classes
        terms = np.empty((codes.n_rows, n_features))
        held = len(INTEGRATION[0]) * len(self.centres) + n_features * n_intervals
        step = max(1, _BLOCK_VALUES // held)
        for first in range(0, codes.n_rows, step):
            rows = slice(first, first + step)
            terms[rows] = self._terms(codes.rows(rows))
        return self._baselines(codes), terms

    def feature_shape(self, feature: int, codes: Codes) -> ExpectationShape:
        """The mean expectation of rows where a feature is set to each of its states."""
        *variables, target = self.intervals.domain.variables
        columns = [codes.column(place) for place in range(codes.n_variables)]
        expectations = np.empty(variables[feature].n_states)
        for state in range(len(expectations)):
            columns[feature] = np.full(codes.n_rows, state)
            changed = Codes.from_columns(columns, codes.cards)
            expectations[state] = self.distributions(changed).mean.mean()
        return ExpectationShape.of(
            variables[feature],
            target.name,
            float(self.distributions(codes).mean.mean()),
            expectations,
            self.intervals.state_counts[feature],
        )

    @property
    def baseline(self) -> float:
        """The expectation before any feature is seen, where all are known."""
        scores = self.cell_log_scores(
            self.intervals.base[None], self._start(np.ones(1))
        )
        return float(TargetDistributions(*self.ends, softmax(scores)).mean[0])

    def _baselines(self, codes: Codes) -> Floats:
        """The expectations before any feature is seen, (n_rows,)."""
        shares, of_row = np.unique(
            self.intervals.base_shares(codes), return_inverse=True
        )
        bases = self.intervals.bases(shares)
        scores = self.cell_log_scores(bases, self._start(shares))
        means = TargetDistributions(*self.ends, softmax(scores)).mean
        return np.asarray(means[of_row])

    def _start(self, shares: Floats) -> Location | None:
        """Predictions of the trees before any feature is seen, with their shares."""
        if self.trees is None:
            return None
        ones = np.ones(len(shares))
        mean, spread = self.trees.mean.start, self.trees.spread.start
        return Location(mean * ones, spread * ones, shares)

    def _terms(self, codes: Codes) -> Floats:
        """What each feature adds to the expectations of some rows."""
        parts, shares = self._parts(codes), self.intervals.base_shares(codes)
        base, start = self.intervals.bases(shares), self._start(shares)
        changes = np.zeros((codes.n_rows, parts.intervals.shape[1]))
        whole = parts.intervals.sum(axis=1)
        weights = np.ones((1, 1))
        if start is not None:
            weights = (shares * self.head.interval_weight + (1.0 - shares))[:, None]
        for point, share in zip(*INTEGRATION, strict=True):
            scores = base + point * whole
            where = parts.location(point, start)
            cells = softmax(self.cell_log_scores(scores, where))
            # By the score of a cell the expectation changes as the cell covaries.
            pull = cells * (self.centres - (cells @ self.centres)[:, None])
            by_interval = np.add.reduceat(pull, self._first_cells, axis=1)
            weighted = share * weights * by_interval
            changes += np.einsum("nk,nfk->nf", weighted, parts.intervals)
            if where is not None:
                by_mean, by_scale = self.head.slopes(self.centres, where)
                pull *= share * shares[:, None]
                changes += (pull * by_mean).sum(axis=1)[:, None] * parts.mean
                changes += (pull * by_scale).sum(axis=1)[:, None] * parts.spread
        changes *= self.scale
        missing = self.distributions(codes).mean - self._baselines(codes)
        missing -= changes.sum(axis=1)
        sizes = np.abs(changes) + np.finfo(float).tiny
        sizes /= sizes.sum(axis=1, keepdims=True)
        return np.asarray(changes + missing[:, None] * sizes)

    @cached_property
    def _first_cells(self) -> NDArray[np.intp]:
        """The first cell of each interval."""
        return np.flatnonzero(np.diff(self.cell_intervals, prepend=-1))

    def _parts(self, codes: Codes) -> _Parts:
        """What each feature says of the intervals, the mean and the scale."""
        n_rows, n_features = codes.n_rows, len(self.intervals.domain) - 1
        intervals = np.zeros((n_rows, n_features, self.intervals.n_classes))
        against = np.zeros(n_rows, dtype=np.intp)
        for interval in range(1, self.intervals.n_classes):
            target = np.full(n_rows, interval, dtype=np.intp)
            _, found = self.intervals.contributions(codes, target, against)
            intervals[:, :, interval] = found
        if self.trees is None:
            nothing = np.zeros((n_rows, n_features))
            return _Parts(intervals, nothing, nothing)
        mean, spread = self.trees.mean.terms(codes), self.trees.spread.terms(codes)
        return _Parts(intervals, mean, spread)


class _Parts(NamedTuple):
    """What each feature of rows adds to the parts of a score.

    `intervals` has the shape (n_rows, n_features, n_intervals), against the first
    interval; `mean` and `spread` have (n_rows, n_features).
    """

    intervals: Floats
    mean: Floats
    spread: Floats

    def location(self, share: float, start: Location | None) -> Location | None:
        """What the trees say at a share of what features add."""
        if start is None:
            return None
        return Location(
            start.mean + share * self.mean.sum(axis=1),
            start.log_scale + share * self.spread.sum(axis=1),
            start.share,
        )


def softmax(scores: Floats) -> Floats:
    """Probabilities from log scores along the last axis."""
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
