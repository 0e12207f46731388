"""A numeric target as ordered intervals, with trees for what numbers add to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.support.target_distributions import TargetDistributions
from bayleaf.models.support.tree_sum import TreeSum
from bayleaf.models.texts.expectation import (
    ExpectationExplanation,
    ExpectationShape,
    ExpectationTerm,
)
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]

_POINTS, _POINT_WEIGHTS = np.polynomial.legendre.leggauss(64)
# Where on the way from 0 to 1 the derivative of the expectation is taken, and what each
# point counts: Gauss-Legendre.
INTEGRATION = (_POINTS + 1) / 2, _POINT_WEIGHTS / 2
# Numbers held at a time while rows are explained.
_BLOCK_VALUES = 1 << 22


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

    # ---- cells

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

    # ---- prediction

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

    # ---- explanation

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
        n_features, n_intervals = (
            len(self.intervals.domain) - 1,
            self.intervals.n_classes,
        )
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
