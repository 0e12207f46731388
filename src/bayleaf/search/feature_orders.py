"""Orders of features and parents among them: KDB, KDB with noise, the tree of TAN."""

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
from bayleaf.graph.spanning_trees import (
    maximum_arborescence,
    maximum_spanning_forest,
    rooted_parents,
)
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
    order = constraints.ordered(feature_order(counts))
    n_features = len(order)
    if k == 0 or n_features < 2:
        nothing: tuple[tuple[int, ...], ...] = ((),) * n_features
        return KDBRanking(order, nothing, ((),) * n_features)
    information = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    ranked: list[tuple[int, ...]] = [()] * n_features
    for place, feature in enumerate(order.tolist()):
        best = ranked_parents(feature, order[:place], information, constraints)
        ranked[feature] = tuple(best[:k].tolist())
    steps = np.array(counts.cards[:-1], dtype=np.float64) - 1.0
    n_parameters = counts.cards[-1] * np.outer(steps, steps)
    weight = float(counts.class_counts().sum())
    least = least_information(theta, weight, n_parameters)
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


def least_information(
    theta: float | str | None, weight: float, n_parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Nats that arcs must exceed, by the parameters that each of them adds.

    Nothing with None; with "auto" the penalty of minimum description length for rows of
    this weight.
    """
    if theta == "auto":
        return np.asarray(np.log(max(weight, 1.0)) * n_parameters / (2.0 * weight))
    return np.full(n_parameters.shape, -np.inf if theta is None else float(theta))


def feature_order(counts: CountSource) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Features by decreasing I(X;C), ties to the lower index (Sahami 1996, step 1)."""
    relevance = mutual_information(counts).round(TIE_DECIMALS)
    return np.argsort(-relevance, kind="stable")


def noisy_parents(
    relevance: NDArray[np.float64],
    information: NDArray[np.float64],
    max_parents: int,
    generator: np.random.Generator,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Draw a feature order, and the parents of each feature among the earlier ones.

    Gumbel noise on the logarithm of a measure draws in proportion to the measure,
    without replacement, as sampled KDB ensembles do
    (Zhang, Petitjean, Buntine & Webb 2020).

    `relevance` (n_features,) is the logarithm of I(X;C) in nats, `information`
    (n_features, n_features) that of I(X;X'|C), see `log_information`. Parents are
    sorted strongest first; constraints may change the order, and required parents come
    first. A feature that shares no information is a parent only where required.
    """
    n_features = len(relevance)
    order = np.argsort(-(relevance + generator.gumbel(size=n_features)), kind="stable")
    noisy = information + generator.gumbel(size=information.shape)
    constraints = constraints or Constraints()
    if constraints.has_edges:
        order = constraints.ordered(order)
        noisy[~constraints.open_arcs(n_features)] = -np.inf
    place = np.argsort(order)
    noisy[place[:, None] <= place] = -np.inf
    for parent, child in constraints.required_edges:
        noisy[child, parent] = np.inf
    strongest = np.argsort(-noisy, axis=1, kind="stable")[:, :max_parents]
    found = np.take_along_axis(noisy, strongest, axis=1) > -np.inf
    return [
        tuple(parents[:n].tolist())
        for parents, n in zip(strongest, found.sum(axis=1), strict=True)
    ]


def log_information(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of information; minus infinity for what is zero but for rounding."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(information.round(TIE_DECIMALS), 0.0))


def tree_parents(
    counts: CountSource,
    theta: float | None = None,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Choose each feature's parent in the maximum-weight spanning tree.

    Edges with I(X;Y|C) (nats) at or below `theta` are left out, which leaves a forest.
    At most one required arc may lead to a feature. Features are ordered by I(X;C)
    (Friedman, Geiger & Goldszmidt 1997, section 4.1); see `spanning_parents`.
    """
    n_features = counts.class_index
    if n_features < 2:
        return [()] * n_features
    weights = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    return spanning_parents(weights, feature_order(counts), theta, constraints)


def spanning_parents(
    weights: NDArray[np.float64],
    order: NDArray[np.intp],
    theta: float | None = None,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Parents in a spanning forest of largest weight, each tree directed.

    `weights` (n, n) are symmetric, rounded to `TIE_DECIMALS`; edges of at most `theta`
    are left out unless required. Every tree is rooted at its first node in `order`; of
    equal edges the lower pair is taken. With constraints it is the directed forest of
    largest weight (Edmonds 1967), of equal ones that with most arcs, then with roots
    first in `order`.
    """
    n_nodes = len(weights)
    if constraints is None or not constraints.has_edges:
        edges = maximum_spanning_forest(weights, above=theta)
        return rooted_parents(n_nodes, edges, order.tolist())
    required = constraints.required_parents(n_nodes)
    is_open = constraints.open_arcs(n_nodes)
    if theta is not None:
        is_open &= weights > theta
    # Weight first, then arcs, then roots: integers of any size, added exactly.
    for_arc = n_nodes * (n_nodes + 1)
    units = np.rint(weights * 10.0**TIE_DECIMALS).astype(np.int64).astype(object)
    worth = np.full((n_nodes + 1, n_nodes + 1), 0, dtype=object)
    worth[1:, 1:] = units * (for_arc * (n_nodes + 1)) + for_arc
    worth[1 + order, 0] = np.arange(n_nodes, 0, -1).astype(object)
    never = -(n_nodes + 1) * (int(abs(worth).max()) + 1)
    worth[1:, 1:][~is_open] = never
    for child, parents in enumerate(required):
        for parent in parents:
            kept = worth[1 + child, 1 + parent]
            worth[1 + child] = never
            worth[1 + child, 1 + parent] = max(kept, 0)
    found = maximum_arborescence(worth)
    return [(parent - 1,) if parent > 0 else () for parent in found[1:]]
