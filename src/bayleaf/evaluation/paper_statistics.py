"""Statistics by which the papers compare methods."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from bayleaf.evaluation.statistics import (
    TestResult,
    paired_scores,
    rounding_of,
    scores_of,
    t_result,
)


def accuracy_sd(accuracy: float, n_rows: int) -> float:
    """Standard deviation of an accuracy, a share in [0, 1], measured on N rows.

    That of a binomial share, ``sqrt(a (1 - a) / N)`` (Kohavi 1995, section 2).

    Parameters
    ----------
    accuracy : float
        Share of rows whose class was predicted.
    n_rows : int
        Rows that were predicted.

    Raises
    ------
    ValueError
        If the accuracy is not a share or there is no row.

    Examples
    --------
    >>> accuracy_sd(0.8, 100)
    0.04
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy must lie between 0 and 1, got {accuracy!r}")
    if not 1 <= n_rows < math.inf:
        raise ValueError(f"n_rows must be at least 1, got {n_rows!r}")
    return math.sqrt(accuracy * (1 - accuracy) / n_rows)


def unpaired_t_test(first: ArrayLike, second: ArrayLike) -> TestResult:
    """Two-sided two-sample t-test with a pooled variance (Student 1908).

    Wiering (2003, table 2) compares methods so over random halves of a data set.

    Parameters
    ----------
    first, second : array-like of shape (n_first,) and (n_second,)
        Scores from splits of their own.

    Returns
    -------
    TestResult
        The statistic is positive where `first` is larger on average.

    Raises
    ------
    ValueError
        If there are fewer than 2 scores, or one is not finite.
    """
    a, b = scores_of("first", first, 2), scores_of("second", second, 2)
    freedom = len(a) + len(b) - 2
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    spread = math.sqrt(squares / freedom * (1 / len(a) + 1 / len(b)))
    slack = rounding_of(a, b)
    if np.ptp(a) <= slack and np.ptp(b) <= slack:
        spread = 0.0
    return t_result(float(a.mean() - b.mean()), spread, freedom, slack)


def lambda_test(
    first: ArrayLike, second: ArrayLike, first_sd: ArrayLike, second_sd: ArrayLike
) -> TestResult:
    """Test over data sets whether `first` is more accurate than `second`.

    Without a difference, the mean over t data sets of the difference of accuracies is
    normal with mean 0 and variance ``sum(s1^2 + s2^2) / t^2``, s1 and s2 the standard
    deviations on each data set (Langseth & Nielsen 2006, section 5).

    Parameters
    ----------
    first, second, first_sd, second_sd : array-like of shape (n_datasets,)
        Accuracies and their standard deviations, as of `accuracy_sd`, in one unit.

    Returns
    -------
    TestResult
        The one-sided p-value is small where `first` is better.

    Raises
    ------
    ValueError
        If the lists do not pair, a deviation is negative, or all are zero.
    """
    a, b = paired_scores(first, second)
    deviations = paired_scores(first_sd, second_sd, ("first_sd", "second_sd"))
    if len(deviations[0]) != len(a):
        raise ValueError(
            f"every accuracy needs a standard deviation, but there are {len(a)} "
            f"accuracies and {len(deviations[0])} deviations"
        )
    squares = np.square(deviations)
    if (np.array(deviations) < 0).any() or not squares.any():
        raise ValueError(
            "standard deviations must be at least 0 and not all 0; without spread "
            "nothing can be tested"
        )
    statistic = float((a - b).mean()) / (math.sqrt(squares.sum()) / len(a))
    return TestResult(statistic, float(norm.sf(statistic)))


def error_reduction(base_errors: ArrayLike, errors: ArrayLike) -> float:
    """Mean over data sets of the share of a base method's errors that is avoided.

    ``mean((e_a - e_b) / e_a)``, e_a the errors of the base (Bauer & Kohavi 1999, as
    Wiering 2003 uses it in table 2): 1 where no error is left, negative where errors
    were added.

    Parameters
    ----------
    base_errors, errors : array-like of shape (n_datasets,)
        Shares of rows predicted wrongly, in one unit.

    Raises
    ------
    ValueError
        If they do not pair or the base makes no error on a data set.

    Examples
    --------
    >>> error_reduction([0.2, 0.4], [0.1, 0.4])
    0.25
    """
    base, other = paired_scores(base_errors, errors, ("base_errors", "errors"))
    if (base <= 0).any():
        place = int(np.flatnonzero(base <= 0)[0])
        raise ValueError(
            f"base_errors must be above 0, but data set {place} has {base[place]:g}; "
            "leave out data sets on which the base makes no error"
        )
    return float(np.mean((base - other) / base))


def wins_and_losses(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], *, level: float = 0.05
) -> tuple[int, int]:
    """Number of data sets where `first` is significantly better, and worse.

    Wiering (2003, table 2) counts them at .05 and marks those at .01.

    Parameters
    ----------
    first, second : sequence of array-like of shape (n_splits,)
        Scores of two models, an array for each data set; larger is better.
    level : float, default=0.05
        Smaller p-values of `unpaired_t_test` are significant.

    Returns
    -------
    tuple of int
        Wins and losses.

    Raises
    ------
    ValueError
        If the numbers of data sets differ, or as in `unpaired_t_test`.
    """
    if len(first) != len(second):
        raise ValueError(
            f"first and second must hold the same data sets, but hold {len(first)} "
            f"and {len(second)}"
        )
    found = [unpaired_t_test(a, b) for a, b in zip(first, second, strict=True)]
    significant = [result for result in found if result.p_value < level]
    wins = sum(result.statistic > 0 for result in significant)
    return wins, len(significant) - wins
