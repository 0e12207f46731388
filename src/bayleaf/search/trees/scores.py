"""A local score taken apart into the terms of a growing tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.structure import LEAST_GAIN

Counts = NDArray[np.float64]

# A term of so much weight is rounded by less, a unit of weight.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class TreeTerms:
    """What the leaves, splits and parents of trees score.

    Parameters
    ----------
    score : LocalScore
        The score.
    n_variables : int
        Number of variables of the network.
    total_weight : float
        Weight of all rows.
    arc_prior : ArcPrior, optional
        What arcs add to scores.
    child : int, optional
        The variable whose tree it is; only needed where arcs add to scores.

    Attributes
    ----------
    least_gain : float
        Gains up to this are no gains but rounding.
    leaf : float
        That a node is a leaf.
    splits : ndarray of shape (n_variables + 2,), dtype float64
        That a node is a split on one of so many variables; zero for none.
    parents : ndarray of shape (n_variables + 1,), dtype float64
        That there are so many parents.
    arcs : ndarray of shape (n_variables,), dtype float64
        That a variable is a parent.
    """

    score: LocalScore
    n_variables: int
    total_weight: float
    arc_prior: ArcPrior | None = None
    child: int | None = None
    least_gain: float = field(init=False)
    leaf: float = field(init=False)
    splits: Counts = field(init=False)
    parents: Counts = field(init=False)
    arcs: Counts = field(init=False)

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
        """Score that a node is a split, shape (n_variables + 1,).

        Parameters
        ----------
        n_parents : int
            Number of variables that splits of the tree ask for.

        Returns
        -------
        ndarray of shape (n_variables + 1,), dtype float64
            By how many of these are at a single state above the split; the others are
            those that it could ask for.
        """
        open_numbers = n_parents - np.arange(self.n_variables + 1)
        return self.splits[np.maximum(open_numbers, 0)]

    def leaves(self, counts: Counts, shares: Counts) -> Counts:
        """Score the data and parameters of leaves, each for itself.

        Parameters
        ----------
        counts : ndarray of shape (n_leaves, child card), dtype float64
            Weight of each state at each leaf.
        shares : ndarray of shape (n_leaves,), dtype float64
            Part of all configurations of the variables that leads to each leaf.

        Returns
        -------
        ndarray of shape (n_leaves,), dtype float64

        Notes
        -----
        A score whose prior is shared out over the rows of a table gives a leaf the
        share of the configurations that it stands for, so that a tree with a leaf for
        each configuration scores what the table does, and a split changes no other
        leaf's term.
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
