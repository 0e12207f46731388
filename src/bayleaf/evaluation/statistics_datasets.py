"""Whether classifiers differ over several data sets: sums, ranks and tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import friedmanchisquare, norm, rankdata, studentized_range, wilcoxon

from bayleaf.evaluation.statistics import (
    Floats,
    TestResult,
    paired_scores,
    scores_of,
    unpaired_t_test,
)
from bayleaf.wording import brief_fields


@dataclass(frozen=True)
class RankTest:
    """Friedman's test and the ranks behind it.

    Parameters
    ----------
    statistic, p_value : float
        Friedman's chi-square and its probability if all models are alike.
    mean_ranks : dict of str to float
        Mean rank of each model, 1 the best, in the order given.
    n_datasets : int
        Number of data sets.
    """

    statistic: float
    p_value: float
    mean_ranks: dict[str, float]
    n_datasets: int

    __repr__ = brief_fields

    def critical_difference(self, level: float = 0.05) -> float:
        """Nemenyi's least difference of mean ranks that is significant."""
        return nemenyi_critical_difference(
            len(self.mean_ranks), self.n_datasets, level=level
        )

    def groups(self, level: float = 0.05) -> list[tuple[str, ...]]:
        """Largest sets of models whose ranks do not differ, best first.

        Returns
        -------
        list of tuple of str
            The bars of a critical-difference diagram; models that differ from all
            others are in none.
        """
        order = sorted(self.mean_ranks, key=lambda name: self.mean_ranks[name])
        least = self.critical_difference(level)
        groups: list[tuple[str, ...]] = []
        reached = 0
        for start, name in enumerate(order):
            limit = self.mean_ranks[name] + least
            end = sum(self.mean_ranks[other] < limit for other in order)
            if end > max(reached, start + 1):
                groups.append(tuple(order[start:end]))
                reached = end
        return groups


def lambda_test(
    first: ArrayLike, second: ArrayLike, first_sd: ArrayLike, second_sd: ArrayLike
) -> TestResult:
    """Test over data sets whether `first` is more accurate than `second`.

    If there is no difference, the mean over t data sets of the difference of
    accuracies is normal with mean 0 and variance ``sum(s1^2 + s2^2) / t^2``, where s1
    and s2 are the standard deviations of the two accuracies on each data set
    (Langseth & Nielsen 2006, section 5, their Lambda).

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Accuracies.
    first_sd, second_sd : array-like of shape (n_datasets,)
        Their standard deviations, in the same unit.

    Returns
    -------
    TestResult
        The standardised mean difference and its one-sided p-value: small where
        `first` is better.

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
    Wiering 2003 uses it in table 2).

    Parameters
    ----------
    base_errors, errors : array-like of shape (n_datasets,)
        Error rates of the base and of the other method, in the same unit.

    Returns
    -------
    float
        1 where no error is left, negative where errors were added.

    Raises
    ------
    ValueError
        If the lists do not pair or the base makes no error on a data set.

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
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    level: float = 0.05,
    test: Callable[[ArrayLike, ArrayLike], TestResult] = unpaired_t_test,
) -> tuple[int, int]:
    """Number of data sets where `first` is significantly better, and worse.

    Wiering (2003, table 2) counts them at .05 and marks those at .01.

    Parameters
    ----------
    first, second : sequence of array-like
        Scores of two classifiers, one array a data set; larger is better.
    level : float, default=0.05
        Largest p-value (excluded) that counts as significant.
    test : callable
        Compares the scores on one data set.

    Raises
    ------
    ValueError
        If the numbers of data sets differ, or as `test` does.
    """
    if len(first) != len(second):
        raise ValueError(
            f"first and second must hold the same data sets, but hold {len(first)} "
            f"and {len(second)}"
        )
    found = [test(a, b) for a, b in zip(first, second, strict=True)]
    significant = [result for result in found if result.p_value < level]
    wins = sum(result.statistic > 0 for result in significant)
    return wins, len(significant) - wins


def wilcoxon_signed_rank(first: ArrayLike, second: ArrayLike) -> TestResult:
    """Signed-rank test over data sets (Wilcoxon 1945; Demsar 2006, section 3.1.3).

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Scores of two classifiers.

    Returns
    -------
    TestResult
        Two-sided, data sets without a difference left out; the statistic is the
        smaller sum of ranks.

    Raises
    ------
    ValueError
        If the scores do not pair, are fewer than 2, or not finite.
    """
    a, b = paired_scores(first, second)
    if np.array_equal(a, b):
        return TestResult(0.0, 1.0)
    found = wilcoxon(a, b)
    return TestResult(float(found.statistic), float(found.pvalue))


def mean_ranks(scores: ArrayLike, *, larger_is_better: bool = True) -> Floats:
    """Mean rank of each model over the data sets, 1 the best; ties share a rank.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_models)
        A score of each model on each data set.
    larger_is_better : bool, default=True
        False for losses.

    Returns
    -------
    ndarray of shape (n_models,)

    Raises
    ------
    ValueError
        If the scores form no table or are not finite.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]).tolist()
    [1.0, 2.25, 2.75]
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"scores must have one row a data set and one column a model, got shape "
            f"{table.shape}"
        )
    scores_of("scores", table.ravel(), 1)
    signed = -table if larger_is_better else table
    return np.asarray(rankdata(signed, axis=1).mean(axis=0))


def friedman_test(
    scores: Mapping[str, ArrayLike], *, larger_is_better: bool = True
) -> RankTest:
    """Rank test of several models over data sets (Friedman 1937, Demsar 2006).

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_datasets,)
        The scores of each model, on the same data sets in the same order.
    larger_is_better : bool, default=True
        False for losses.

    Raises
    ------
    ValueError
        If there are fewer than 3 models or 2 data sets, or scores are missing.
    TypeError
        If the scores are no mapping.
    """
    if not isinstance(scores, Mapping):
        raise TypeError(
            f"scores must be a mapping of names to scores, got {type(scores).__name__}"
        )
    if len(scores) < 3:
        raise ValueError(
            f"Friedman's test compares at least 3 models, got {len(scores)}; "
            "wilcoxon_signed_rank compares 2"
        )
    columns = [scores_of(f"scores of {name}", v, 2) for name, v in scores.items()]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(
            "every model needs a score on every data set, but their numbers of scores "
            f"are {[len(column) for column in columns]}"
        )
    table = np.column_stack(columns)
    ranks = mean_ranks(table, larger_is_better=larger_is_better)
    named = dict(zip(scores, ranks.tolist(), strict=True))
    if (table == table[:, :1]).all():
        return RankTest(0.0, 1.0, named, len(table))
    statistic, p_value = friedmanchisquare(*columns)
    return RankTest(float(statistic), float(p_value), named, len(table))


def nemenyi_critical_difference(
    n_models: int, n_datasets: int, *, level: float = 0.05
) -> float:
    """Least difference of mean ranks that is significant among all pairs of models.

    ``q sqrt(k (k + 1) / (6 N))`` with q the quantile of the studentized range over k
    models with infinitely many degrees of freedom, divided by ``sqrt(2)`` (Nemenyi
    1963; Demsar 2006, section 3.2.2).

    Parameters
    ----------
    n_models, n_datasets : int
        k and N.
    level : float, default=0.05
        Probability of finding any difference where there is none.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or no data set, or the level is no
        probability.

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    if n_models < 2 or n_datasets < 1:
        raise ValueError(
            f"a critical difference needs at least 2 models and 1 data set, got "
            f"{n_models} and {n_datasets}"
        )
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level!r}")
    quantile = float(studentized_range.ppf(1 - level, n_models, math.inf))
    scale = math.sqrt(n_models * (n_models + 1) / (6 * n_datasets))
    return quantile / math.sqrt(2) * scale
