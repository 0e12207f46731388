"""Entropy and mutual information, in nats, read off counts.

Everything is a plug-in estimate from raw relative frequencies, without smoothing;
0 ln 0 is 0, and an empty table holds no information.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayleaf.counts.pairs import PairCounts, Side
from bayleaf.counts.source import Counts, CountSource
from bayleaf.counts.threads import run_tasks, stretches, worthwhile

# Cells of pair counts that are held at a time.
_BLOCK_CELLS = 10_000_000
# Cells up to which NumPy is done before numba is imported.
_SMALL_CELLS = 300_000
# Cells, about a millisecond's work, for which a thread is started.
_LEAST_CELLS = 200_000
# Counts whose logarithms are looked up.
_LOGS = 65_536


def entropy(counts: Counts) -> float:
    """Measure the uncertainty about a variable, in nats.

    Parameters
    ----------
    counts : ndarray
        Counts of its states, of any shape; cells may be fractional or zero.

    Returns
    -------
    float
        Zero for an empty table.

    Examples
    --------
    >>> round(entropy(np.array([1.0, 1.0])), 6)
    0.693147
    """
    total = float(counts.sum())
    if total <= 0.0:
        return 0.0
    shares = counts[counts > 0] / total
    return max(0.0, -float(np.sum(shares * np.log(shares))))


def mutual_information_of_table(counts: Counts) -> float:
    """Measure how much X tells about Y, in nats.

    Parameters
    ----------
    counts : ndarray of shape (n_x, n_y)
        Joint counts; cells may be fractional or zero.

    Returns
    -------
    float
        Zero for an empty table.

    Examples
    --------
    >>> round(mutual_information_of_table(np.array([[8.0, 0.0], [0.0, 8.0]])), 6)
    0.693147
    """
    return conditional_mutual_information(counts[:, :, None])


def conditional_mutual_information(counts: Counts) -> float:
    """Measure how much X tells about Y once Z is known, in nats.

    Parameters
    ----------
    counts : ndarray of shape (n_x, n_y, n_z)
        Joint counts; cells may be fractional or zero.

    Returns
    -------
    float
        Zero for an empty table.

    Notes
    -----
    Plug-in estimate, biased upwards for sparse tables (Friedman et al. 1997, eq. 3).

    Examples
    --------
    >>> counts = np.array([[[8.0], [0.0]], [[0.0], [8.0]]])
    >>> round(conditional_mutual_information(counts), 6)
    0.693147
    """
    total = float(counts.sum())
    return _information(counts) / total if total > 0.0 else 0.0


@dataclass(frozen=True)
class LogTerms:
    """The terms n ln n of information measures, as whole multiples of a small unit.

    Sums of whole numbers are exact: they do not depend on the order of states, so that
    tables that are permutations of one another hold the very same information,
    and ties remain ties.

    Parameters
    ----------
    scale : float
        Units per nat, a power of two.
    table : ndarray of shape (n_counts,), dtype int64
        Terms of the counts 0, 1, 2, ...
    """

    scale: float
    table: NDArray[np.int64]

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
    """Measure how much each feature tells about the class, in nats.

    Parameters
    ----------
    source : CountSource
        Counts with the class last.

    Returns
    -------
    ndarray of shape (n_features,)
        I(X;C) over the rows in which X is observed.
    """
    n_features = len(source.cards) - 1
    if n_features == 0:
        return np.zeros(0)
    families = [(source.class_index, feature) for feature in range(n_features)]
    tables = source.family_counts(families)
    starts = np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
    joint = np.concatenate(tables, axis=1)
    class_counts = np.add.reduceat(joint, starts, axis=1)
    totals = class_counts.sum(axis=0)
    terms = LogTerms.up_to(float(totals.max()))
    amounts = terms.of(joint).sum(axis=0) - terms.of(joint.sum(axis=0))
    amounts = np.add.reduceat(amounts, starts) - terms.of(class_counts).sum(axis=0)
    return terms.shares(amounts + terms.of(totals), totals)


def conditional_mutual_information_matrix(source: CountSource) -> NDArray[np.float64]:
    """Measure how much each two features tell about each other given the class.

    Parameters
    ----------
    source : CountSource
        Counts with the class last.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        I(X;Y|C) in nats over the rows in which both are observed; symmetric, with
        zeros on the diagonal.

    Notes
    -----
    Features are taken in blocks, so that beside the result only the counts of two
    blocks are held. Pairs of equal tables, up to the order of their states, get equal
    values, see `LogTerms`; errors are about 2e-18 times the number of cells that
    hold two rows or more, beside the rounding of doubles.
    """
    n_features = len(source.cards) - 1
    information = np.zeros((n_features, n_features))
    blocks = _blocks(source.cards)
    for k, left in enumerate(blocks):
        for right in blocks[k:]:
            part = _pair_information(source.pair_counts(left, right), source.n_jobs)
            if right is left:
                part = np.triu(part, 1)
                part += part.T
            information[left.start : left.stop, right.start : right.stop] = part
            information[right.start : right.stop, left.start : left.stop] = part.T
    return information


def _blocks(cards: tuple[int, ...]) -> list[range]:
    """Group consecutive features whose pair counts can be held at a time."""
    widest = math.sqrt(_BLOCK_CELLS / cards[-1])
    blocks: list[range] = []
    start = width = 0
    for feature, card in enumerate(cards[:-1]):
        if width and width + card + 1 > widest:
            blocks.append(range(start, feature))
            start, width = feature, 0
        width += card + 1
    if width:
        blocks.append(range(start, len(cards) - 1))
    return blocks


def _pair_information(pairs: PairCounts, threads: int) -> NDArray[np.float64]:
    """Compute I(X;Y|C) of every pair; the diagonal of a triangle means nothing."""
    terms = LogTerms.up_to(float(pairs.class_counts.sum()))
    # Counts of planes are integers: whoever made them has imported numba.
    if pairs.stored.dtype == np.float64 and pairs.stored.size <= _SMALL_CELLS:
        return _dense_information(pairs, terms)
    threads = worthwhile(threads, pairs.stored.size, _LEAST_CELLS)
    whole = [_is_whole(side) for side in (pairs.left_side, pairs.right_side)]
    amounts = np.zeros((len(pairs.left), len(pairs.right)), np.int64)
    totals = np.zeros(amounts.shape)
    if whole[0].any() and whole[1].any():
        _add_whole_pairs(pairs, whole, terms, amounts, totals, threads)
    if not (whole[0].all() and whole[1].all()):
        _add_other_pairs(pairs, whole, terms, amounts, totals, threads)
    information = terms.shares(amounts, totals)
    # A triangle follows the places of states, which need not be the order of variables.
    return information + information.T if pairs.triangle else information


def _is_whole(side: Side) -> NDArray[np.bool_]:
    """Tell which variables lack no cell and leave their last state over."""
    whole: NDArray[np.bool_] = side.n_states == side.cards
    whole &= side.n_stored < side.n_states
    return whole


def _add_whole_pairs(
    pairs: PairCounts,
    whole: list[NDArray[np.bool_]],
    terms: LogTerms,
    amounts: NDArray[np.int64],
    totals: NDArray[np.float64],
    threads: int,
) -> None:
    """Add information times weight, and weight, of pairs of whole variables."""
    from bayleaf.counts.information_kernels import whole_pairs

    sides = pairs.left_side, pairs.right_side
    layouts = []
    for side, here in zip(sides, whole, strict=True):
        sums = terms.of(side.dense_margins(pairs.class_counts)).sum(axis=0)
        sums = np.add.reduceat(sums, side.dense_starts)[here]
        places = side.n_stored[here], side.starts[here]
        layouts.append((np.flatnonzero(here), *places, sums))
    tasks = [
        partial(
            whole_pairs,
            pairs.stored,
            pairs.triangle,
            pairs.class_counts.astype(np.int64),
            tuple(array[first:last] for array in layouts[0]),
            layouts[1],
            pairs.left_side.margins.astype(np.int64),
            pairs.right_side.margins.astype(np.int64),
            terms.table,
            terms.scale,
            amounts,
        )
        for first, last in stretches(len(layouts[0][0]), _n_strips(threads))
    ]
    run_tasks(tasks, threads)
    np.copyto(totals, pairs.class_counts.sum(), where=whole[0][:, None] & whole[1])


def _add_other_pairs(
    pairs: PairCounts,
    whole: list[NDArray[np.bool_]],
    terms: LogTerms,
    amounts: NDArray[np.int64],
    totals: NDArray[np.float64],
    threads: int,
) -> None:
    """Add information times weight, and weight, of all other pairs."""
    from bayleaf.counts.information_kernels import other_pairs

    left, right = (
        (here, side.cards, side.n_states, side.n_stored, side.starts)
        for side, here in zip((pairs.left_side, pairs.right_side), whole, strict=True)
    )
    tasks = [
        partial(
            other_pairs,
            pairs.stored,
            pairs.triangle,
            pairs.class_counts,
            left,
            right,
            pairs.left_side.margins,
            pairs.right_side.margins,
            terms.table,
            terms.scale,
            first,
            amounts[first:last],
            totals[first:last],
        )
        for first, last in stretches(len(amounts), _n_strips(threads))
    ]
    run_tasks(tasks, threads)


def _n_strips(threads: int) -> int:
    """Choose into how many strips to cut a triangle, so that threads end together."""
    return 1 if threads == 1 else 8 * threads


def _dense_information(pairs: PairCounts, terms: LogTerms) -> NDArray[np.float64]:
    """Compute I(X;Y|C) of every pair by NumPy, (n_left, n_right)."""
    left, right = pairs.left_side, pairs.right_side
    joint = pairs.dense()
    # Rows in which either is missing are left out of that pair alone, so that even
    # the counts of class and X depend on Y.
    joint[:, left.dense_starts + left.cards] = 0.0
    joint[:, :, right.dense_starts + right.cards] = 0.0
    by_left = np.add.reduceat(joint, right.dense_starts, axis=2)
    by_right = np.add.reduceat(joint, left.dense_starts, axis=1)
    by_class = np.add.reduceat(by_left, left.dense_starts, axis=1)
    by_cell = np.add.reduceat(terms.of(joint).sum(0), left.dense_starts, axis=0)
    amounts = np.add.reduceat(by_cell, right.dense_starts, axis=1)
    amounts -= np.add.reduceat(terms.of(by_left).sum(0), left.dense_starts, axis=0)
    amounts -= np.add.reduceat(terms.of(by_right).sum(0), right.dense_starts, axis=1)
    amounts += terms.of(by_class).sum(axis=0)
    return terms.shares(amounts, by_class.sum(axis=0))


def _information(counts: Counts) -> float:
    """Compute conditional mutual information times the total of a table."""
    logs = _logs(counts) + _logs(counts.sum(axis=(0, 1)))
    logs -= _logs(counts.sum(axis=0)) + _logs(counts.sum(axis=1))[:, None]
    return max(0.0, float(np.sum(counts * logs)))


def _logs(counts: Counts) -> Counts:
    """Take logarithms of counts; zero for zero, which never weighs in."""
    return np.log(np.where(counts > 0, counts, 1.0))
