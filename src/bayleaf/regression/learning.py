"""From a table and a numeric target to a model of predictive distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.averaged_kdb import AveragedKDBClassifier
from bayleaf.classifiers.shared.parameters import numbers_of
from bayleaf.classifiers.shared.training import one_dimensional
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.shuffled_rows import shuffled_distinct_rows
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.models.interval_target import Head, IntervalTargetModel
from bayleaf.regression.learned_head import LeftOut, learn_head, left_out_scores
from bayleaf.regression.learned_trees import LearnedTrees, learn_trees

Floats = NDArray[np.float64]
# States of the two columns that number the target's values.
_MOST_STATES = 1 << 15


class Fitted(NamedTuple):
    """A learned model, how tables are read, and what left-out rows say of it."""

    encoder: TableEncoder
    model: IntervalTargetModel
    left_out: LeftOut
    loss: float
    left_out_codes: Codes  # of these rows' features
    training: Codes  # of the features and the interval
    target: Floats  # (n_rows,), of these rows


@dataclass(frozen=True, eq=False)
class TargetTask:
    """A training table with a numeric target."""

    table: Any  # (n_rows, n_features)
    target: Floats  # (n_rows,), finite
    weights: Floats  # (n_rows,), at least 0, some above
    name: str

    def learn(
        self,
        classifier: AveragedKDBClassifier,
        candidates: Sequence[int],
        *,
        trees: bool,
        rng: np.random.Generator,
        n_jobs: int,
    ) -> Fitted:
        """Learn a model with as many intervals as predict left-out rows best.

        `random_state` of the classifier is a number, so that all `candidates`
        (numbers of intervals) have the same codes, and trees the same rows.
        """
        seeds = rng.integers(1 << 63, size=2).tolist()
        grown: LearnedTrees | None = None
        rows: _Rows | None = None
        found: list[Fitted] = []
        for cut in self._cuts(candidates):
            codes = self._fitted_codes(classifier, cut)
            if rows is None:
                rows = self._distinct(codes, classifier.max_rows, seeds[0])
                if trees:
                    grown = learn_trees(
                        rows.codes,
                        classifier.encoder_.domain.variables,
                        (rows.target - self.centre) / self.scale,
                        np.random.default_rng(seeds[1]),
                        n_jobs,
                    )
            found.append(self._weighed(classifier, cut, rows, grown))
        return min(found, key=lambda one: one.loss)

    def _cuts(self, candidates: Sequence[int]) -> list[TargetIntervals]:
        """Intervals of each number, those of fewer values once."""
        kept = self.weights > 0
        target, weights = self.target[kept], self.weights[kept]
        found: list[TargetIntervals] = []
        for number in candidates:
            cut = TargetIntervals.of_target(target, weights, number)
            if all(cut.cut_points != one.cut_points for one in found):
                found.append(cut)
        return found

    @cached_property
    def _weighted_target(self) -> Floats:
        """Of the rows with a weight, (n_rows,)."""
        return self.target[self.weights > 0]

    @staticmethod
    def _labels(cut: TargetIntervals, target: Floats) -> NDArray[np.int64]:
        return cut.of(target).astype(np.int64)

    def _fitted_codes(
        self, classifier: AveragedKDBClassifier, cut: TargetIntervals
    ) -> Codes:
        """Fit the classifier to the intervals; its training rows."""
        labels = self._labels(cut, self.target)
        plan = classifier._plan
        classifier.fit(self.table, labels, sample_weight=self.weights, plan=plan)
        codes = classifier._training_codes
        assert codes is not None
        return codes

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation, whatever the order of the rows."""
        values, places = np.unique(self.target, return_inverse=True)
        totals = np.bincount(places, self.weights)
        # Sums of squares of huge numbers would overflow.
        unit = float(np.abs(values[totals > 0]).max()) or 1.0
        mean = float(np.average(values / unit, weights=totals))
        square = float(np.average((values / unit - mean) ** 2, weights=totals))
        return mean * unit, (float(np.sqrt(square)) or 1.0) * unit

    @property
    def centre(self) -> float:
        """Mean of the target."""
        return self._moments[0]

    @property
    def scale(self) -> float:
        """Standard deviation of the target; one where all rows agree."""
        return self._moments[1]

    def _distinct(self, training: Codes, max_rows: int, seed: int) -> _Rows:
        """Distinct rows in random order, by their codes and numbers."""
        target = self._weighted_target
        features = [training.column(i) for i in range(training.n_variables - 1)]
        numbers = np.unique(target, return_inverse=True)[1]
        parts = np.divmod(numbers, _MOST_STATES)
        cards = training.cards[:-1]
        told = Codes.from_columns(
            [*features, *(part.astype(np.uint16) for part in parts)],
            (*cards, int(parts[0].max()) + 1, _MOST_STATES),
            training.weights,
        )
        rows, weights = shuffled_distinct_rows(told, np.random.default_rng(seed))
        rows, weights = rows[:max_rows], weights[:max_rows]
        columns = [column[rows] for column in features]
        return _Rows(Codes.from_columns(columns, cards, weights), target[rows])

    def _weighed(
        self,
        classifier: AveragedKDBClassifier,
        cut: TargetIntervals,
        rows: _Rows,
        grown: LearnedTrees | None,
    ) -> Fitted:
        """The model of some intervals, with the best head."""
        training = classifier._training_codes
        assert training is not None
        codes = rows.with_intervals(self._labels(cut, rows.target), len(cut.names))
        model = classifier._averaged_model
        scores = left_out_scores(classifier, model, training, codes)
        where = None if grown is None else grown.left_out
        left_out = LeftOut(scores, where, rows.target, rows.codes.weights)
        variable = Variable(self.name, cut.names)
        domain = Domain((*classifier.encoder_.domain.variables, variable))
        found = IntervalTargetModel(
            replace(model, domain=domain),
            cut.numbers,
            self.centre,
            self.scale,
            Head(1.0, 0.0, 0.0, 1.0),
            None if grown is None else grown.trees,
        )
        head, loss = learn_head(found, left_out)
        return Fitted(
            classifier.encoder_,
            replace(found, head=head),
            left_out,
            loss,
            rows.codes,
            training,
            self._weighted_target,
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct rows: features with weights, and the target."""

    codes: Codes
    target: Floats

    def with_intervals(self, labels: NDArray[np.int64], n_intervals: int) -> Codes:
        """The codes with the target's interval as the class."""
        column = labels.astype(np.uint16)
        return self.codes.with_column(column, n_intervals, self.codes.weights)


class TargetIntervals(NamedTuple):
    """Intervals of a target, and the training numbers in them."""

    cut_points: tuple[float, ...]
    numbers: IntervalNumbers

    @classmethod
    def of_target(
        cls, target: Floats, weights: Floats, n_intervals: int
    ) -> TargetIntervals:
        """Cut a target into at most `n_intervals` intervals of about the same weight.

        Equal numbers share one, so that there may be fewer. `target` (n_rows,) is
        finite, `weights` (n_rows,) are above zero.
        """
        values, places = np.unique(target, return_inverse=True)
        totals = np.bincount(places, weights).astype(np.float64)
        shares = np.cumsum(totals) / totals.sum()
        wanted = np.arange(1, n_intervals) / n_intervals
        # What rounding takes from a share must not move a cut to the next number.
        cuts = np.unique(np.searchsorted(shares, wanted - 1e-12))
        points = values[cuts[cuts < len(values) - 1]]
        numbers = IntervalNumbers.of_column(values, totals, points.tolist())
        return cls(tuple(points.tolist()), numbers)

    def of(self, target: Floats) -> NDArray[np.intp]:
        """The interval of each number; a cut point belongs to the one below it."""
        return np.searchsorted(self.cut_points, target, side="left")

    @property
    def names(self) -> tuple[str, ...]:
        """What the intervals are called."""
        cuts = [f"{cut:.6g}" for cut in self.cut_points]
        if len(set(cuts)) < len(cuts):
            cuts = [repr(cut) for cut in self.cut_points]
        if not cuts:
            return ("all",)
        inner = [f"above {a} to {b}" for a, b in pairwise(cuts)]
        return (f"up to {cuts[0]}", *inner, f"above {cuts[-1]}")


def checked_target(y: Any, n_rows: int) -> Floats:
    """A target as finite float64 numbers.

    ValueError if it does not fit the table, or contains anything but finite numbers.
    """
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; give one number a row"
        )
    found = numbers_of("y", one_dimensional(y))
    if len(found) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: the table "
            f"has {n_rows} rows, the target {len(found)}; give one number a row"
        )
    if not np.isfinite(found).all():
        raise ValueError("y holds NaN or infinity; give finite numbers")
    return found
