"""Decision graphs: leaves of a tree that share one distribution."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.search.structure import Move, SearchResult
from bayleaf.search.trees.leaf_counts import Counts, row_counts
from bayleaf.search.trees.scores import TreeTerms
from bayleaf.search.trees.shape import TreeShape


@dataclass(frozen=True)
class LeafMerge:
    """Merge of two distributions."""

    kept: int  # row before any merge, below `absorbed`
    absorbed: int  # row before any merge
    gain: float  # how much the score grew


def merge_leaves(
    counts: Counts,
    shares: Counts,
    n_leaves: int,
    terms: TreeTerms,
    surcharge: float = 0.0,
) -> tuple[NDArray[np.intp], list[LeafMerge]]:
    """Merge the two distributions that gain most, again and again, while any gain.

    A merge saves the parameters of one distribution and costs naming, among all leaves
    of the tree, the one that is shared; it may lose up to `surcharge`. Takes `counts`
    (n_rows, child card) and the `shares` (n_rows,) of all parent configurations;
    returns each row's new number, by first occurrence, and the merges, of equal gains
    in the order of rows.
    """
    counts, shares = counts.copy(), shares.copy()
    n_rows = len(counts)
    own = terms.leaves(counts, shares)
    # Of each merge, in the gains by which they are chosen.
    cost = terms.score.merge_score(n_leaves) + surcharge
    gains = np.full((n_rows, n_rows), -np.inf)
    alive = np.ones(n_rows, dtype=np.bool_)
    owner = np.arange(n_rows)

    def compare(row: int, others: NDArray[np.intp]) -> Counts:
        """Gain of merging a distribution with each of some others."""
        together = terms.leaves(
            counts[row] + counts[others], shares[row] + shares[others]
        )
        gained: Counts = together - own[row] - own[others] + cost
        return gained

    for row in range(n_rows - 1):
        gains[row, row + 1 :] = compare(row, np.arange(row + 1, n_rows))
    merges: list[LeafMerge] = []
    while n_rows > 1 and gains.max() > terms.least_gain:
        first = int(np.argmax(gains >= gains.max() - terms.least_gain))
        kept, absorbed = divmod(first, n_rows)
        gain = float(gains[kept, absorbed]) - surcharge
        merges.append(LeafMerge(kept, absorbed, gain))
        owner[owner == absorbed] = kept
        alive[absorbed] = False
        gains[absorbed], gains[:, absorbed] = -np.inf, -np.inf
        counts[kept] += counts[absorbed]
        shares[kept] += shares[absorbed]
        own[kept] = terms.leaves(counts[[kept]], shares[[kept]])[0]
        others = np.flatnonzero(alive)
        below, above = others[others < kept], others[others > kept]
        gains[below, kept] = compare(kept, below)
        gains[kept, above] = compare(kept, above)
    return np.unique(owner, return_inverse=True)[1], merges


def with_merged_leaves(
    result: SearchResult, codes: Codes, terms: TreeTerms
) -> SearchResult:
    """Merge leaves of every tree of a network, whose graph stays as it is.

    The trace ends with the merges, whose detail is the two distributions.
    """
    score, trace = result.score, list(result.trace)
    shapes: list[TreeShape] = []
    for shape in result.cpd_structures:
        shares = configuration_shares(shape, codes.cards)
        counts = row_counts(codes, shape)
        rows, merges = merge_leaves(counts, shares, shape.n_leaves, terms)
        for merge in merges:
            score += merge.gain
            rows_merged = merge.kept, merge.absorbed
            trace.append(
                Move("merge_leaves", shape.child, None, rows_merged, merge.gain, score)
            )
        shapes.append(shape.with_rows(rows.tolist()))
    return dataclasses.replace(
        result, cpd_structures=tuple(shapes), score=score, trace=tuple(trace)
    )


def configuration_shares(shape: TreeShape, cards: tuple[int, ...]) -> Counts:
    """Share of all parent configurations that leads to each distribution, (n_rows,)."""
    shares = np.zeros(shape.n_rows)
    for row, context in shape.leaves(()):
        share = 1.0
        for variable, states in context.items():
            share *= len(states) / cards[variable]
        shares[row] += share
    return shares
