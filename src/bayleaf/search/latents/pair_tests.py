"""How much two children of the class depend on one another beyond the class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import feature_blocks, negative_log_p
from bayleaf.counts.source import CountSource
from bayleaf.native.latents import pair_statistics

Counts = NDArray[np.float64]
PairScore = Literal["mutual_information", "expected_kl"]

# Bits of a score that are compared; what lies below is rounding of sums.
_COMPARED_BITS = 36
# Weight that is nothing but the rounding of a difference.
_ROUNDING = 1e-9


def pair_tests(
    dense: Counts,
    left_cards: Sequence[int],
    right_cards: Sequence[int],
    pair_score: PairScore,
    *,
    matched: bool = False,
    triangle: bool = False,
) -> Counts:
    """Test every variable on the left with every one on the right.

    Returns the statistic (G² in nats, or 2 N E[KL]), degrees of freedom and -ln P of a
    larger statistic, (3, n_left, n_right).

    `dense` (n_classes, n_left_states, n_right_states) comes from `PairCounts.dense`;
    rows in which either variable is missing are left out. "mutual_information" takes G²
    given the class, with |C| d degrees of freedom, d = (|X| - 1) (|Y| - 1) on declared
    states; "expected_kl" takes twice the weight times the mean divergence of
    P(C | x, y) from naive Bayes, with (|C| - 1) d. Langseth and Nielsen (2006), Machine
    Learning 63, 135-159, equation 4 and section 6.2.

    If `matched`, the divergence follows the scaled chi-squared law with its first two
    moments where X and Y are independent given the class (Satterthwaite 1946,
    Biometrics Bulletin 2, 110-114): the plain law rejects too often unless they are
    independent of the class too. With `triangle`, sides are equal, and only pairs above
    the diagonal are tested.
    """
    left = np.asarray(left_cards, dtype=np.int64)
    right = np.asarray(right_cards, dtype=np.int64)
    found = np.zeros((3, len(left), len(right)))
    is_divergence = pair_score == "expected_kl"
    kind = is_divergence + (is_divergence and matched)
    pair_statistics(dense, left, right, triangle, kind, found)
    statistic, mean, variance = found
    n_terms = len(dense) - is_divergence
    freedom = n_terms * np.outer(left - 1, right - 1).astype(np.float64)
    scaled = statistic
    if kind == 2:
        tested = (freedom > 0) & (mean > 1e-9) & (variance > 1e-9)
        scale = np.divide(2 * mean, variance, out=np.zeros_like(mean), where=tested)
        scaled, freedom = statistic * scale, mean * scale
    return np.stack([statistic, freedom, negative_log_p(scaled, freedom)])


class PairRanking:
    """Tests of all pairs of nodes on one set of rows, filled in step by step."""

    def __init__(self, n_nodes: int) -> None:
        self._tests = np.zeros((3, n_nodes, n_nodes))

    def add(self, left: Sequence[int], right: Sequence[int], tests: Counts) -> None:
        """Keep the tests of some nodes with others, of larger or equal index."""
        rows = np.asarray(left, dtype=np.intp)[:, None]
        self._tests[:, rows, np.asarray(right, dtype=np.intp)] = tests

    def test(self, left: int, right: int) -> tuple[float, float, float]:
        """Statistic, degrees of freedom and -ln p of a pair."""
        statistic, freedom, log_p = self._tests[:, left, right].tolist()
        return statistic, freedom, log_p

    def ranked(
        self, nodes: Sequence[int], allowed: NDArray[np.bool_]
    ) -> list[tuple[int, int]]:
        """Pairs of some nodes, the least probable first.

        They are sorted by -ln p, equal ones by statistic, then in the order of `nodes`,
        which increase. `allowed` (n_nodes, n_nodes) marks pairs that may be joined.
        """
        own = np.asarray(nodes, dtype=np.intp)
        rows, columns = np.triu_indices(len(own), 1)
        left, right = own[rows], own[columns]
        kept = allowed[left, right]
        left, right = left[kept], right[kept]
        statistic, _, log_p = _compared(self._tests[:, left, right])
        order = np.lexsort((right, left, -statistic, -log_p))
        return list(zip(left[order].tolist(), right[order].tolist()))


def rank_features(
    parts: Sequence[CountSource],
    cards: Sequence[int],
    n_nodes: int,
    pair_score: PairScore,
    *,
    matched: bool,
) -> list[PairRanking]:
    """Test all pairs of features, once for each part of the table.

    With one part its rows are used; with more, all rows but those of the part.
    """
    rankings = [PairRanking(n_nodes) for _ in parts]
    blocks = feature_blocks(cards, parts[0].cards[-1] * len(parts))
    for k, left in enumerate(blocks):
        for right in blocks[k:]:
            dense = [part.pair_counts(left, right).dense() for part in parts]
            total = np.sum(dense, axis=0)
            for ranking, own in zip(rankings, dense):
                tests = pair_tests(
                    own if len(parts) == 1 else without(total, own),
                    [cards[v] for v in left],
                    [cards[v] for v in right],
                    pair_score,
                    matched=matched,
                    triangle=left is right,
                )
                ranking.add(left, right, tests)
    return rankings


def without(total: Counts, part: Counts) -> Counts:
    """Counts of all rows but those of a part; what is left of rounding is nothing."""
    rest: Counts = total - part
    rest[rest < _ROUNDING] = 0.0
    return rest


def _compared(values: Counts) -> Counts:
    """Values without the bits in which equal tables may differ by rounding."""
    mantissa, exponent = np.frexp(values)
    scale = float(1 << _COMPARED_BITS)
    rounded: Counts = np.ldexp(np.rint(mantissa * scale) / scale, exponent)
    return rounded
