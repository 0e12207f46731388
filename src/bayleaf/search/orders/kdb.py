"""The order of features and the parents that KDB chooses (Sahami 1996)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import (
    conditional_mutual_information_matrix,
    mutual_information,
)
from bayleaf.counts.source import CountSource
from bayleaf.search.constraints import Constraints

# Information values that agree to this many decimals count as equal.
TIE_DECIMALS = 12


# Parents among the features, or None for a feature that even the class says nothing of.
Parents = tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class KDBRanking:
    """Features in KDB's order, and the best parents of each."""

    order: NDArray[np.intp]  # (n_features,), by decreasing I(X;C)
    ranked: tuple[tuple[int, ...], ...]  # earlier features by I(X;X'|C), the best first
    kept: tuple[tuple[bool, ...], ...]  # whether each of these arcs is strong enough

    def parents(self, k: int, n_features: int | None = None) -> list[Parents]:
        """Parents of each feature for this k, strongest first.

        With `n_features`, features after that many of the order get None.
        """
        chosen: list[Parents] = [
            tuple(itertools.compress(ranked[:k], kept[:k]))
            for ranked, kept in zip(self.ranked, self.kept, strict=True)
        ]
        outside = [] if n_features is None else self.order[n_features:].tolist()
        for feature in outside:
            chosen[feature] = None
        return chosen


def kdb_parents(
    counts: CountSource,
    k: int,
    theta: float | str | None = None,
    constraints: Constraints | None = None,
) -> list[Parents]:
    """Choose each feature's parents among the features, see `rank_parents`."""
    n_features = counts.class_index
    if k == 0 or n_features < 2:
        return [()] * n_features
    return rank_parents(counts, k, theta, constraints).parents(k)


def rank_parents(
    counts: CountSource,
    k: int,
    theta: float | str | None = None,
    constraints: Constraints | None = None,
) -> KDBRanking:
    """Order the features and choose at most k best parents of each.

    Arcs with I(X;X'|C) (nats) at or below `theta` are left out, without replacement
    (Sahami 1996, the threshold of his second algorithm). With "auto" an arc is kept
    where its G² exceeds the penalty of minimum description length: ln N for each
    parameter that the arc adds to a table with the class alone. Constraints may change
    the order; required parents come first, whatever `theta`. Ties go to the lower
    index.
    """
    constraints = constraints or Constraints()
    order = feature_order(counts)
    if constraints.has_edges:
        order = constraints.ordered(order)
    n_features = len(order)
    if k == 0 or n_features < 2:
        nothing: tuple[tuple[int, ...], ...] = ((),) * n_features
        return KDBRanking(order, nothing, ((),) * n_features)
    information = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    ranked: list[tuple[int, ...]] = [()] * n_features
    for place, feature in enumerate(order.tolist()):
        best = ranked_parents(feature, order[:place], information, constraints)
        ranked[feature] = tuple(best[:k].tolist())
    least = _least_information(counts, theta)
    for parent, child in constraints.required_edges:
        least[child, parent] = -np.inf
    kept = tuple(
        tuple((information[feature, list(best)] > least[feature, list(best)]).tolist())
        for feature, best in enumerate(ranked)
    )
    return KDBRanking(order, tuple(ranked), kept)


def ranked_parents(
    child: int,
    earlier: NDArray[np.intp],
    strength: NDArray[np.float64],
    constraints: Constraints,
) -> NDArray[np.intp]:
    """Allowed parents of a variable, required ones first, then by strength.

    `earlier` are the variables before it; `strength` (n_variables, n_variables) is
    indexed by child, then parent.
    """
    # Sorted by index first, so that a stable sort leaves ties to the lower one.
    earlier = np.sort(earlier)
    best = earlier[np.argsort(-strength[child, earlier], kind="stable")]
    return constraints.sorted_parents(child, best)


def _least_information(
    counts: CountSource, theta: float | str | None
) -> NDArray[np.float64]:
    """What I(X;X'|C) of each pair must exceed, shape (n_features, n_features)."""
    *cards, n_classes = counts.cards
    shape = len(cards), len(cards)
    if theta is None:
        return np.full(shape, -np.inf)
    if theta != "auto":
        return np.full(shape, float(theta))
    weight = float(counts.class_counts().sum())
    steps = np.array(cards, dtype=np.float64) - 1.0
    n_parameters = n_classes * np.outer(steps, steps)
    return np.asarray(np.log(max(weight, 1.0)) * n_parameters / (2.0 * weight))


def feature_order(counts: CountSource) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Features by decreasing I(X;C), ties to the lower index (Sahami 1996, step 1)."""
    relevance = mutual_information(counts).round(TIE_DECIMALS)
    return np.argsort(-relevance, kind="stable")
