"""Entropy and mutual information, in nats, read off counts.

Everything is a plug-in estimate from raw relative frequencies, without smoothing;
0 ln 0 is 0, and an empty table holds no information.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc, gammaln, xlogy

from bayleaf.counts.pairs import PairCounts, Side
from bayleaf.counts.source import Counts, CountSource
from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.data.memory import check_memory
from bayleaf.native.counts import pair_information

# Cells of pair counts that are held at a time.
_BLOCK_CELLS = 10_000_000
# Cells, about a millisecond's work, for which a thread is started.
_LEAST_CELLS = 200_000
# What a pair takes in the matrix and in its logarithms or ranks.
_BYTES_A_PAIR = 24
# Counts whose logarithms are looked up.
_LOGS = 65_536
# Below this probability the library's own one fails, and the fraction converges fast.
_UNDERFLOW = 1e-260


def mutual_information_of_table(counts: Counts) -> float:
    """Measure the information of X on Y, in nats, from counts (n_x, n_y).

    Counts may be fractional; an empty table gives zero.

    >>> round(mutual_information_of_table(np.array([[8.0, 0.0], [0.0, 8.0]])), 6)
    0.693147
    """
    return conditional_mutual_information(counts[:, :, None])


def left_out_information(counts: Counts) -> tuple[float, float]:
    """Estimate the mutual information of X and Y from rows that are left out.

    Each row is left out of the counts (n_x, n_y), which are smoothed by one pseudo-row
    in all, and Y is predicted from X; the estimate is what that gains in
    log-probability. Returns nats, at least zero, and the standard error; zeros for an
    empty table.

    The plug-in estimate grows with the number of cells: by (n_x - 1)(n_y - 1) / 2n
    where X and Y are independent (Miller 1955).
    """
    total = counts.sum()
    if total <= 0:
        return 0.0, 0.0
    n_x, n_y = counts.shape
    left_out = np.minimum(counts, 1.0)
    # Axes: the row's x and y, and the y that is predicted.
    same = np.eye(n_y)
    of_y = counts.sum(axis=0) - left_out[:, :, None] * same
    cells = counts[:, None, :] - left_out[:, :, None] * same
    joint = np.log((cells + 1.0 / n_x) / (of_y + 1.0)) + np.log(of_y + 1.0 / n_y)
    prior = np.log(of_y + 1.0 / n_y)
    joint -= np.logaddexp.reduce(joint, axis=2, keepdims=True)
    prior -= np.logaddexp.reduce(prior, axis=2, keepdims=True)
    y = np.arange(n_y)
    gains = joint[:, y, y] - prior[:, y, y]
    return mean_gain(gains.ravel(), counts.ravel())


def mean_gain(gains: Counts, weights: Counts) -> tuple[float, float]:
    """The weighted mean of gains of rows, at least zero, and its standard error."""
    total = weights.sum()
    mean = (weights @ gains) / total
    error = np.sqrt((weights @ (gains - mean) ** 2) / total / max(total, 1.0))
    return max(0.0, float(mean)), float(error)


def conditional_mutual_information(counts: Counts) -> float:
    """Measure the information of X on Y once Z is known, in nats.

    Counts (n_x, n_y, n_z) may be fractional; an empty table gives zero. Plug-in
    estimate, biased upwards for sparse tables (Friedman et al. 1997, eq. 3).

    >>> counts = np.array([[[8.0], [0.0]], [[0.0], [8.0]]])
    >>> round(conditional_mutual_information(counts), 6)
    0.693147
    """
    total = float(counts.sum())
    if total <= 0.0:
        return 0.0
    logs = _logs(counts) + _logs(counts.sum(axis=(0, 1)))
    logs -= _logs(counts.sum(axis=0)) + _logs(counts.sum(axis=1))[:, None]
    return max(0.0, float(np.sum(counts * logs))) / total


@dataclass(frozen=True)
class LogTerms:
    """Terms n ln n of information measures, as integer multiples of a small unit.

    Sums of integers are exact: they do not depend on the order of states, so that
    tables that are permutations of one another have the very same information, and ties
    remain ties.
    """

    scale: float  # units per nat, a power of two
    table: NDArray[np.int64]  # of the counts 0, 1, 2, ...

    @classmethod
    @lru_cache(maxsize=4)
    def up_to(cls, total: float) -> LogTerms:
        """Terms of which those of tables of this total weight may be summed."""
        # No term and no information of a table exceeds this; sums on the way may
        # wrap around, which leaves their differences exact.
        largest = total * max(abs(math.log(total)), 12.0) if total > 0.0 else 1.0
        scale = math.ldexp(1.0, 62 - max(math.frexp(largest)[1], -960))
        counts = np.arange(min(int(total), _LOGS) + 1, dtype=np.float64)
        return cls(scale, np.rint(xlogy(counts, counts) * scale).astype(np.int64))

    def of(self, counts: Counts) -> NDArray[np.int64]:
        """Terms of any counts."""
        terms: NDArray[np.int64]
        terms = np.rint(xlogy(counts, counts) * self.scale).astype(np.int64)
        return terms

    def shares(
        self, amounts: NDArray[np.int64], totals: Counts | float
    ) -> NDArray[np.float64]:
        """Turn sums of terms into nats per unit of weight; 0 where there is none."""
        totals = np.broadcast_to(totals, amounts.shape)
        nats = amounts / self.scale
        return np.divide(nats, totals, out=np.zeros_like(nats), where=totals > 0)


def mutual_information(source: CountSource) -> NDArray[np.float64]:
    """Measure the information of each feature on the class, in nats, (n_features,).

    I(X;C) counts the rows in which X is observed; the class is the last variable.
    """
    n_features = source.class_index
    if n_features == 0:
        return np.zeros(0)
    families = [(source.class_index, feature) for feature in range(n_features)]
    # A feature of which nothing was observed has no states; it tells nothing.
    none = np.zeros((source.cards[-1], 1))
    found = source.family_counts(families)
    tables = [table if table.shape[1] else none for table in found]
    n_states = [table.shape[1] for table in tables]
    return _information_on_class(np.concatenate(tables, axis=1), n_states)


def _information_on_class(
    joint: Counts, n_states: Sequence[int] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """I(X;C) of features from counts (n_classes, sum of n_states), side by side."""
    sizes = np.asarray(n_states, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    class_counts = np.add.reduceat(joint, starts, axis=1)
    totals = class_counts.sum(axis=0)
    terms = LogTerms.up_to(float(totals.max()))
    amounts = terms.of(joint).sum(axis=0) - terms.of(joint.sum(axis=0))
    amounts = np.add.reduceat(amounts, starts) - terms.of(class_counts).sum(axis=0)
    return terms.shares(amounts + terms.of(totals), totals)


def conditional_mutual_information_matrix(source: CountSource) -> NDArray[np.float64]:
    """Measure the information of each feature on each other given the class.

    Returns I(X;Y|C) in nats over the rows in which both are observed, (n_features,
    n_features), symmetric with zeros on the diagonal; the class is the last variable.

    Features are taken in blocks, so that only the result and the counts of two blocks
    are in memory. Pairs of equal tables, up to the order of their states, get equal
    values, see `LogTerms`; errors are about 2e-18 times the number of cells with two
    rows or more, plus the rounding of doubles.
    """
    return class_and_pair_information(source)[1]


def class_and_pair_information(
    source: CountSource,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both `mutual_information` and `conditional_mutual_information_matrix`.

    Counts of pairs contain those of each feature and the class.
    """
    n_features = source.class_index
    check_memory(
        n_features**2 * _BYTES_A_PAIR,
        f"measuring all pairs of {n_features} features",
        "drop features, or take a model that needs no pairs, such as naive Bayes",
    )
    relevance, information = np.zeros(n_features), np.zeros((n_features, n_features))
    *cards, n_classes = source.cards
    blocks = feature_blocks(cards, n_classes)
    for k, left in enumerate(blocks):
        for right in blocks[k:]:
            pairs = source.pair_counts(left, right)
            corner = left.start, right.start
            _measure_pairs(pairs, source.n_jobs, information, corner)
            if left is right and len(left):
                side = pairs.left_side
                relevance[left] = _information_on_class(
                    *side.observed_margins(pairs.class_counts)
                )
    return relevance, information


def feature_blocks(cards: Sequence[int], n_layers: int) -> list[range]:
    """Group consecutive features whose pair counts can be held at a time."""
    widest = math.sqrt(_BLOCK_CELLS / n_layers)
    blocks: list[range] = []
    start = width = 0
    for feature, card in enumerate(cards):
        if width and width + card + 1 > widest:
            blocks.append(range(start, feature))
            start, width = feature, 0
        width += card + 1
    return [*blocks, range(start, len(cards))]


def _measure_pairs(
    pairs: PairCounts,
    threads: int,
    information: NDArray[np.float64],
    corner: tuple[int, int],
) -> None:
    """Write I(X;Y|C) of every pair to both its places, the first at the corner."""
    terms = LogTerms.up_to(float(pairs.class_counts.sum()))
    left, right = pairs.left_side, pairs.right_side
    left_variables = _variables(left, pairs.class_counts, terms)
    right_variables = left_variables
    if right is not left:
        right_variables = _variables(right, pairs.class_counts, terms)
    kind = np.int32 if pairs.stored.dtype == np.int32 else np.float64
    stored = np.ascontiguousarray(pairs.stored, dtype=kind)
    threads = worthwhile(threads, stored.size, _LEAST_CELLS)
    # More strips than threads: in a triangle the first ones have the most to do.
    n_strips = 1 if threads == 1 else 8 * threads
    tasks = [
        partial(
            pair_information,
            stored,
            pairs.triangle,
            pairs.class_counts,
            left_variables,
            right_variables,
            left.margins,
            right.margins,
            terms.table,
            terms.scale,
            *stretch,
            information,
            *corner,
        )
        for stretch in stretches(len(pairs.left), n_strips)
    ]
    run_tasks(tasks, threads)


def _variables(side: Side, class_counts: Counts, terms: LogTerms) -> NDArray[np.int64]:
    """What `pair_information` asks of each variable along a side."""
    # A whole variable lacks no cell and leaves its last state over.
    whole = (side.n_states == side.cards) & (side.n_stored < side.n_states)
    sums = np.zeros(len(whole), np.int64)
    if whole.any():
        margins = terms.of(side.dense_margins(class_counts)).sum(axis=0)
        sums = np.add.reduceat(margins, side.dense_starts)
    columns = side.starts, side.n_stored, side.n_states, side.cards, whole, sums
    return np.column_stack([column.astype(np.int64) for column in columns])


def _logs(counts: Counts) -> Counts:
    """Take logarithms of counts; zero for zero, which never weighs in."""
    return np.log(np.where(counts > 0, counts, 1.0))


@dataclass(frozen=True)
class G2Test:
    """Result of a likelihood-ratio test of independence."""

    statistic: float  # G²
    degrees_of_freedom: int  # of its chi-squared law without dependence
    negative_log_p: float  # -ln P(at least `statistic`), finite where P underflows


def g2(counts: Counts) -> G2Test:
    """Test whether X and Y are independent once Z is known.

    `counts` (n_x, n_y, n_z) are joint. Every state counts towards the degrees of
    freedom, ``n_z (n_x - 1) (n_y - 1)``, whether it occurs or not.

    >>> import numpy as np
    >>> test = g2(np.array([[[8.0], [0.0]], [[0.0], [8.0]]]))
    >>> round(test.statistic, 4), test.degrees_of_freedom
    (22.1807, 1)
    """
    n_x, n_y, n_z = counts.shape
    statistic = 2.0 * counts.sum() * conditional_mutual_information(counts)
    freedom = n_z * (n_x - 1) * (n_y - 1)
    return G2Test(float(statistic), freedom, float(negative_log_p(statistic, freedom)))


def negative_log_p(statistic: ArrayLike, freedom: ArrayLike) -> NDArray[np.float64]:
    """Compute -ln P(chi-squared >= statistic), also where P underflows.

    Arguments broadcast, degrees of freedom need not be integers; without any, it is
    zero.
    """
    shape, x = np.broadcast_arrays(
        np.asarray(freedom, dtype=np.float64) / 2.0,
        np.asarray(statistic, dtype=np.float64) / 2.0,
    )
    tested = (shape > 0.0) & (x > 0.0)
    shape, x = shape[tested], x[tested]
    below = gammainc(shape, x)
    above = gammaincc(shape, x)
    log_p = np.log1p(-below, where=below < 0.5, out=np.zeros_like(below))
    np.log(above, where=(below >= 0.5) & (above > _UNDERFLOW), out=log_p)
    far = above <= _UNDERFLOW
    log_p[far] = _log_upper_gamma(shape[far], x[far])
    found = np.zeros(tested.shape)
    found[tested] = -log_p
    return found


def _log_upper_gamma(
    shape: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute ln Q(shape, x) for x far beyond the shape by a continued fraction.

    Legendre's fraction, evaluated forwards by Lentz's method; x - shape is positive
    here, so that no denominator vanishes (DLMF 8.9.2).
    """
    denominator = x + 1.0 - shape
    fraction = 1.0 / denominator
    inverse = fraction.copy()
    ratio = np.full_like(fraction, np.inf)
    for k in range(1, 1000):
        factor = -k * (k - shape)
        denominator += 2.0
        inverse = 1.0 / (factor * inverse + denominator)
        ratio = denominator + factor / ratio
        fraction *= ratio * inverse
        if (np.abs(ratio * inverse - 1.0) < 1e-15).all():
            break
    log_q: NDArray[np.float64]
    log_q = shape * np.log(x) - x - gammaln(shape) + np.log(fraction)
    return log_q
