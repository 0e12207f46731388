"""Whether two classifiers differ on one data set: a test over folds."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t

from bayleaf.wording import quoted

Floats = NDArray[np.float64]
# Squares of larger scores could overflow.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True)
class TestResult:
    """Outcome of a test.

    Parameters
    ----------
    statistic : float
        What was compared with its distribution; infinite where scores differ by the
        same amount everywhere.
    p_value : float
        Probability of a statistic at least as extreme if there is no difference;
        1 where all scores are equal.
    """

    statistic: float
    p_value: float

    # The name begins like a test function's, yet there is nothing to collect.
    __test__ = False

    def mark(self) -> str:
        """Sign of the difference: ``++``/``--`` at .01, ``+``/``-`` at .05, or ``=``.

        Examples
        --------
        >>> TestResult(2.5, 0.02).mark(), TestResult(-9.0, 0.001).mark()
        ('+', '--')
        """
        sign = "+" if self.statistic > 0 else "-"
        if self.p_value < 0.01:
            return 2 * sign
        return sign if self.p_value < 0.05 else "="


def corrected_t_test(
    first: ArrayLike, second: ArrayLike, *, n_train: float, n_test: float
) -> TestResult:
    """Paired t-test over folds, corrected for training sets that overlap.

    The variance of the mean difference over J folds is taken as
    ``(1/J + n_test/n_train) s^2`` instead of ``s^2/J``, with J - 1 degrees of freedom
    (Nadeau & Bengio 2003, Inference for the generalization error, Machine Learning 52,
    the corrected resampled t-test). ``n_test=0`` gives the plain paired t-test.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Scores of two classifiers on the same folds.
    n_train, n_test : float
        Rows in a training and in a test fold.

    Returns
    -------
    TestResult
        Two-sided; the statistic is positive where `first` is larger.

    Raises
    ------
    ValueError
        If the scores do not pair, are fewer than 2 or not finite, or a size is
        impossible.
    """
    a, b = paired_scores(first, second)
    if not 0 < n_train < math.inf or not 0 <= n_test < math.inf:
        raise ValueError(
            f"n_train must be above 0, n_test at least 0 and both finite, got "
            f"{quoted(n_train)} and {quoted(n_test)}"
        )
    difference = a - b
    factor = 1 / len(difference) + n_test / n_train
    spread = math.sqrt(factor) * float(difference.std(ddof=1))
    # Equal differences leave rounding errors in their spread, not zeros.
    if np.ptp(difference) <= rounding_of(a, b):
        spread = 0.0
    return t_result(float(difference.mean()), spread, len(a) - 1, rounding_of(a, b))


def scores_of(name: str, values: Any, least: int) -> Floats:
    """Scores as an array of shape (n,), once there are enough and all are finite.

    ValueError unless they are a list of at least `least` finite numbers.
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers in one dimension, got {reprlib.repr(values)}"
        ) from error
    if scores.ndim != 1 or len(scores) < least:
        raise ValueError(
            f"{name} must hold at least {least} scores in one dimension, got shape "
            f"{scores.shape}"
        )
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(
            f"{name} must hold finite scores, but score {place} is {scores[place]}"
        )
    if (np.abs(scores) > _LARGEST_SCORE).any():
        raise ValueError(
            f"{name} must hold scores of at most {_LARGEST_SCORE:g}, got "
            f"{np.abs(scores).max():g}; divide all scores by one number"
        )
    return scores


def paired_scores(
    first: Any, second: Any, names: tuple[str, str] = ("first", "second")
) -> tuple[Floats, Floats]:
    """Two lists of at least 2 finite scores that belong together pair by pair.

    ValueError if they are not of one length, too short or not finite.
    """
    a, b = scores_of(names[0], first, 2), scores_of(names[1], second, 2)
    if len(a) != len(b):
        raise ValueError(
            f"{names[0]} and {names[1]} must pair, but hold {len(a)} and {len(b)} "
            "scores"
        )
    return a, b


def rounding_of(a: Floats, b: Floats) -> float:
    """Differences that floating point alone can make between scores."""
    largest = float(np.abs(np.concatenate([a, b])).max())
    return 8 * float(np.finfo(np.float64).eps) * largest


def t_result(mean: float, spread: float, freedom: int, slack: float) -> TestResult:
    """A two-sided t-test; without spread only equal means can be due to chance."""
    if spread == 0.0:
        if abs(mean) <= slack:
            return TestResult(0.0, 1.0)
        return TestResult(math.copysign(math.inf, mean), 0.0)
    statistic = mean / spread
    return TestResult(statistic, float(2 * student_t.sf(abs(statistic), freedom)))
