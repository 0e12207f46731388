"""A local score taken apart into the terms of a growing tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore
from bayleaf.search.structure import LEAST_GAIN

Counts = NDArray[np.float64]

# A term of so much weight is rounded by less, a unit of weight.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class TreeTerms:
    """Scores of the leaves, splits and parents of trees."""

    score: LocalScore
    n_variables: int
    total_weight: float
    arc_prior: ArcPrior | None = None
    child: int | None = None  # only needed with `arc_prior`
    least_gain: float = field(init=False)  # smaller gains are rounding
    leaf: float = field(init=False)  # of being a leaf
    splits: Counts = field(init=False)  # (n_variables + 2,), by open variables; [0]: 0
    parents: Counts = field(init=False)  # (n_variables + 1,), by number of parents
    arcs: Counts = field(init=False)  # (n_variables,), by parent

    def __post_init__(self) -> None:
        n = self.n_variables
        splits = [0.0, *(self.score.split_score(k) for k in range(1, n + 2))]
        parents = [self.score.parents_score(k, n) for k in range(n + 1)]
        least = max(LEAST_GAIN, _ROUNDING * self.total_weight)
        object.__setattr__(self, "least_gain", least)
        object.__setattr__(self, "leaf", self.score.leaf_score())
        object.__setattr__(self, "splits", np.array(splits))
        object.__setattr__(self, "parents", np.array(parents))
        arcs = np.zeros(n)
        if self.arc_prior is not None and self.child is not None:
            arcs = self.arc_prior.log_odds[self.child]
        object.__setattr__(self, "arcs", arcs)

    def of(self, child: int) -> TreeTerms:
        """The terms of one variable's tree."""
        return self if self.arc_prior is None else replace(self, child=child)

    @property
    def believed(self) -> frozenset[int]:
        """Variables whose arcs score more than none."""
        return frozenset(np.flatnonzero(self.arcs > 0.0).tolist())

    def naming(self, parents: Iterable[int]) -> float:
        """Score naming these parents."""
        own = list(parents)
        return float(self.parents[len(own)] + self.arcs[own].sum())

    def split_scores(self, n_parents: int) -> Counts:
        """Score of being a split, (n_variables + 1,).

        Indexed by how many of the tree's `n_parents` variables are at a single state
        above the split; the others are those that it could ask for.
        """
        open_numbers = n_parents - np.arange(self.n_variables + 1)
        return self.splits[np.maximum(open_numbers, 0)]

    def leaves(self, counts: Counts, shares: Counts) -> Counts:
        """Score the data and parameters of leaves, each for itself, (n_leaves,).

        Takes `counts` (n_leaves, child card) and `shares` (n_leaves,) of all
        configurations. A score whose prior is shared out over the rows of a table gives
        a leaf the share of the configurations that it represents, so that a tree with a
        leaf for each configuration scores what the table does, and a split changes no
        other leaf's term.
        """
        rows = counts[:, None, :]
        if self.score.adds_over_rows:
            return self.score.rows_score(rows, 1.0, self.total_weight)
        result = np.empty(len(counts))
        for share in np.unique(shares):
            here = shares == share
            result[here] = self.score.rows_score(
                rows[here], 1.0 / float(share), self.total_weight
            )
        return result
