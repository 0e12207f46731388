"""Whether two classifiers differ on one data set: a test over folds."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon
from scipy.stats import t as student_t

from bayleaf.results.document import Document, Table
from bayleaf.results.result import Result, Shown
from bayleaf.wording import brief_fields, counted, quoted, shown_name

Floats = NDArray[np.float64]
# Differences with a smaller p-value count as significant.
LEVEL = 0.05
# Squares of larger scores could overflow.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True)
class TestResult(Shown):
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


@dataclass(frozen=True)
class RankTest(Result):
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

    def document(self) -> Document:
        """Mean ranks, the best first, and whether they differ."""
        ranked = sorted(self.mean_ranks.items(), key=lambda pair: pair[1])
        rows = [(shown_name(name), f"{rank:.2f}") for name, rank in ranked]
        bars = [(0.0, rank) for _, rank in ranked]
        title = f"Mean ranks on {counted(self.n_datasets, 'data set')}"
        return Document(
            "", [Table(("model", "mean rank"), rows, title, bars=bars), self.verdict]
        )

    @property
    def verdict(self) -> str:
        """Friedman's test in a sentence."""
        return f"Friedman's chi-square {self.statistic:.3g}, p {self.p_value:.2g}"

    def critical_difference(self, level: float = LEVEL) -> float:
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


def mean_ranks(
    scores: Mapping[str, ArrayLike], *, larger_is_better: bool = True
) -> dict[str, float]:
    """Mean rank of each model over data sets, 1 the best; ties share a rank.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_datasets,)
        The scores of each model, on the same data sets in the same order.
    larger_is_better : bool, default=True
        False for losses.

    Returns
    -------
    dict of str to float

    Raises
    ------
    ValueError
        If there is no model, or scores do not pair or are not finite.
    TypeError
        If the scores are no mapping.

    Examples
    --------
    >>> mean_ranks({"nb": [0.9, 0.7], "tan": [0.8, 0.6], "kdb": [0.8, 0.5]})
    {'nb': 1.0, 'tan': 2.25, 'kdb': 2.75}
    """
    table = score_table(scores)
    ranks = rankdata(-table if larger_is_better else table, axis=1).mean(axis=0)
    return dict(zip(scores, ranks.tolist(), strict=True))


def score_table(scores: Mapping[str, ArrayLike], least: int = 1) -> Floats:
    """Scores (n_datasets, n_models), finite and paired, of at least `least` data sets.

    ValueError if there is not one model, or scores do not pair or are not finite;
    TypeError unless `scores` is a mapping.
    """
    if not isinstance(scores, Mapping):
        raise TypeError(
            f"scores must be a mapping of names to scores, got {type(scores).__name__}"
        )
    if not scores:
        raise ValueError("there is no model to compare; give the scores of some")
    columns = [scores_of(f"scores of {name}", v, least) for name, v in scores.items()]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(
            "every model needs a score on every data set, but their numbers of scores "
            f"are {[len(column) for column in columns]}"
        )
    return np.column_stack(columns)


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
    table = score_table(scores, 2)
    if len(scores) < 3:
        raise ValueError(
            f"Friedman's test compares at least 3 models, got {len(scores)}; "
            "wilcoxon_signed_rank compares 2"
        )
    named = mean_ranks(scores, larger_is_better=larger_is_better)
    if (table == table[:, :1]).all():
        return RankTest(0.0, 1.0, named, len(table))
    statistic, p_value = friedmanchisquare(*table.T)
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
        raise ValueError(f"level must lie between 0 and 1, got {quoted(level)}")
    quantile = float(studentized_range.ppf(1 - level, n_models, math.inf))
    scale = math.sqrt(n_models * (n_models + 1) / (6 * n_datasets))
    return quantile / math.sqrt(2) * scale
