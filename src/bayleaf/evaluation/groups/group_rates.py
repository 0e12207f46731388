"""Rates, scores and calibration of the rows of one group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.groups.estimates import (
    LEAST_ROUNDINGS,
    Estimate,
    Sample,
    Share,
    mean_difference,
    mean_estimate,
    moved_by_rounding,
    share_difference,
    share_estimate,
    share_ratio,
)
from bayleaf.evaluation.metrics import (
    CALIBRATION_BINS,
    SMALLEST,
    binned_by_confidence,
    expected_calibration_error,
    truth_scores,
)
from bayleaf.evaluation.privacy import PredictedRows
from bayleaf.results.result import Record

Floats = NDArray[np.float64]

# Shares of rows for one class against the others, in the order in which they are shown.
RATES = (
    "base_rate",
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "positive_predictive_value",
    "negative_predictive_value",
)
SCORES = ("accuracy", "log_loss", "brier", "cost")


@dataclass(frozen=True)
class ClassRates(Record, keys={"label": "class"}):
    """Rates of one class against all others among the rows of a group.

    Parameters
    ----------
    label : str
        The class, called positive here.
    base_rate : Estimate
        Share of rows whose true class it is.
    selection_rate : Estimate
        Share of rows for which it is predicted.
    true_positive_rate, false_positive_rate : Estimate
        Share for which it is predicted of the rows whose class it is, and of others.
    positive_predictive_value : Estimate
        Share whose class it is of the rows for which it is predicted.
    negative_predictive_value : Estimate
        Share whose class it is not of the rows for which it is not predicted.
    mean_probability : float or None
        Mean predicted probability of the class; None where it is withheld.
    calibration_gap : Estimate
        Mean predicted probability less the base rate: above zero the class is
        predicted as too probable. Its interval is that of the base rate, turned round.
    """

    label: str
    base_rate: Estimate
    selection_rate: Estimate
    true_positive_rate: Estimate
    false_positive_rate: Estimate
    positive_predictive_value: Estimate
    negative_predictive_value: Estimate
    mean_probability: float | None
    calibration_gap: Estimate


@dataclass(frozen=True)
class Contrast(Record, keys={"label": "class"}, computed=("is_clear",)):
    """How a figure of a group differs from that of the reference group.

    Parameters
    ----------
    figure : str
        One of the rates or scores.
    label : str or None
        The class of a rate; None for scores.
    difference : Estimate
        The group's figure less the reference's.
    ratio : Estimate or None
        The group's rate by the reference's; None for means.
    rounding : float or None
        By how much rounded numbers of rows may move the difference: 0 where they are
        exact, None where it is not known.
    """

    figure: str
    label: str | None
    difference: Estimate
    ratio: Estimate | None
    rounding: float | None = 0.0

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves 0 out, whatever rounding did."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None or self.rounding is None:
            return False
        return low > self.rounding or high < -self.rounding


@dataclass(frozen=True)
class GroupFigures(Record, keys={"label": "group"}):
    """Figures of the rows of one group.

    Parameters
    ----------
    label : tuple of str
        The value of each column that makes the groups; empty for all rows together.
    n_rows : int
        Its rows.
    accuracy, log_loss, brier : Estimate
        Share of rows whose class was predicted; mean negative log probability (nats)
        of the true class; mean squared distance of the probabilities from it.
    cost : Estimate or None
        Mean cost of a row; None without a loss.
    calibration_error : float
        Expected calibration error, see
        `bayleaf.evaluation.metrics.expected_calibration_error`.
    calibration_error_by_chance : float
        What it would be, on average, for as many rows if the probabilities were right.
    classes : tuple of ClassRates
        Of two classes the positive one; of more, each.
    contrasts : tuple of Contrast
        Against the reference group; empty for that group itself.
    rounding : float
        By about how much its numbers of rows may be off; 0 where they are exact.
    """

    label: tuple[str, ...]
    n_rows: int
    accuracy: Estimate
    log_loss: Estimate
    brier: Estimate
    cost: Estimate | None
    calibration_error: float
    calibration_error_by_chance: float
    classes: tuple[ClassRates, ...]
    contrasts: tuple[Contrast, ...] = ()
    rounding: float = 0.0

    @property
    def scores(self) -> dict[str, Estimate | None]:
        """Accuracy, log-loss, Brier score and cost by their names."""
        return {name: getattr(self, name) for name in SCORES}

    @property
    def name(self) -> str:
        """The values of its columns, joined."""
        return ", ".join(self.label) if self.label else "all rows"


class Task(NamedTuple):
    """The figures to compute for every group."""

    names: tuple[str, ...]  # classes as text, in the order of probabilities
    positive: tuple[int, ...]  # classes whose rates are shown, each against the rest
    loss: Floats | None  # (n_classes, n_classes), rows are predictions
    level: float  # probability of the intervals
    ranks: bool = True  # whether probabilities of all classes are known


class GroupRows(NamedTuple):
    """What the figures of one group are computed from.

    `shares` are by rate and class, the accuracy under class -1; `samples` by score.
    Shares of too few rows for `rounding`, by which counts may be off, are left out.
    """

    label: tuple[str, ...]
    shares: dict[tuple[str, int], Share]
    samples: dict[str, Sample]
    mean_probability: Floats  # (n_classes,), predicted
    errors: tuple[float, float]  # calibration error, measured and by chance
    rounding: float

    @classmethod
    def of(
        cls,
        label: tuple[str, ...],
        rows: PredictedRows,
        task: Task,
        rounding: float = 0.0,
    ) -> GroupRows:
        """Count and average the rows of a group, of which there is at least one."""
        hits = int((rows.chosen == rows.truth).sum())
        shares = {("accuracy", -1): Share(hits, len(rows.truth))}
        for place in task.positive:
            counted = class_shares(rows.truth == place, rows.chosen == place)
            shares |= {(rate, place): own for rate, own in counted.items()}
        of_truth, squared = truth_scores(rows.truth, rows.proba)
        samples = {
            "log_loss": Sample.of(-np.log(np.maximum(of_truth, SMALLEST))),
            "brier": Sample.of(squared),
        }
        if task.loss is not None:
            samples["cost"] = Sample.of(task.loss[rows.chosen, rows.truth])
        errors = (
            expected_calibration_error(rows.truth, rows.proba),
            calibration_error_by_chance(rows.proba),
        )
        return cls(label, shares, samples, rows.proba.mean(axis=0), errors, rounding)

    def figures(self, task: Task, reference: GroupRows | None) -> GroupFigures:
        """The figures, and how they differ from those of a reference."""
        accuracy = self.shares["accuracy", -1]
        scores = {
            name: mean_estimate(
                sample, task.level, -math.inf if name == "cost" else 0.0
            )
            for name, sample in self.samples.items()
        }
        return GroupFigures(
            self.label,
            accuracy.n,
            self._estimate(accuracy, task),
            scores["log_loss"],
            scores["brier"],
            scores.get("cost"),
            *self.errors,
            tuple(self._rates(place, task) for place in task.positive),
            () if reference is None else tuple(self._contrasts(task, reference)),
            self.rounding,
        )

    def _tells(self, share: Share) -> bool:
        """Whether a share is not that of rounding."""
        return share.n >= LEAST_ROUNDINGS * self.rounding

    def _estimate(self, share: Share, task: Task) -> Estimate:
        """A share with its interval; nothing where it is that of rounding."""
        if not self._tells(share):
            return Estimate(None, None, None, share.n)
        return share_estimate(share, task.level)

    def _rates(self, place: int, task: Task) -> ClassRates:
        """The rates of one class."""
        rates = {rate: self._estimate(self.shares[rate, place], task) for rate in RATES}
        mean = float(self.mean_probability[place]) if task.ranks else None
        base = rates["base_rate"]
        gap = Estimate(None, None, None, base.n)
        if not (
            mean is None or base.value is None or base.low is None or base.high is None
        ):
            # Of a difference from a base rate the interval turns round.
            gap = Estimate(mean - base.value, mean - base.high, mean - base.low, base.n)
        return ClassRates(
            task.names[place], **rates, mean_probability=mean, calibration_gap=gap
        )

    def _contrasts(self, task: Task, reference: GroupRows) -> Iterator[Contrast]:
        """Every share and mean beside the reference's."""
        for (figure, place), share in self.shares.items():
            other = reference.shares[figure, place]
            label = None if place < 0 else task.names[place]
            if not (self._tells(share) and reference._tells(other)):
                unknown = Estimate(None, None, None, share.n)
                yield Contrast(figure, label, unknown, unknown, None)
                continue
            yield Contrast(
                figure,
                label,
                share_difference(share, other, task.level),
                share_ratio(share, other, task.level),
                moved_by_rounding(
                    (self.rounding, share.n), (reference.rounding, other.n)
                ),
            )
        rounded = self.rounding > 0
        for figure, sample in self.samples.items():
            other_sample = reference.samples[figure]
            difference = mean_difference(sample, other_sample, task.level)
            yield Contrast(figure, None, difference, None, None if rounded else 0.0)


def class_shares(
    actual: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> dict[str, Share]:
    """Six rates of a class; `actual` and `predicted` (n_rows,) mark its rows."""
    n = len(actual)
    n_actual, n_predicted = int(actual.sum()), int(predicted.sum())
    hits = int((actual & predicted).sum())
    alarms, misses = n_predicted - hits, n_actual - hits
    counts = (
        (n_actual, n),
        (n_predicted, n),
        (hits, n_actual),
        (alarms, n - n_actual),
        (hits, n_predicted),
        (n - n_predicted - misses, n - n_predicted),
    )
    return {rate: Share(*own) for rate, own in zip(RATES, counts, strict=True)}


def calibration_error_by_chance(proba: Floats) -> float:
    """Expected calibration error that as many rows have if probabilities are right.

    The sum of a bin's right rows then varies about the sum of its probabilities; the
    mean distance of a normal variable from its mean is sqrt(2 / pi) times its standard
    deviation.
    """
    confidence, _, bins = binned_by_confidence(np.zeros(len(proba), np.intp), proba)
    variances = np.bincount(bins, confidence * (1 - confidence), CALIBRATION_BINS)
    return float(np.sqrt(2 / np.pi) * np.sqrt(variances).sum() / len(proba))
