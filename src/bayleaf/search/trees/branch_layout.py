"""Which counts make up the branches of many splits at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.trees.leaf_counts import Counts
from bayleaf.search.trees.scores import TreeTerms
from bayleaf.search.trees.value_nodes import ValueNodes

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SplitLayout:
    """The branches of the splits of one leaf on several variables, side by side.

    Parameters
    ----------
    variables : ndarray of shape (n_splits,), dtype int64
        Variable of each split.
    n_branches : ndarray of shape (n_splits,), dtype int64
    places : ndarray of shape (n_states,), dtype int64
        Place in a table of counts of each state of each branch, branch by branch.
    starts : ndarray of shape (all branches,), dtype int64
        Where the states of each branch start in `places`.
    firsts : ndarray of shape (n_splits,), dtype int64
        First branch of each split.
    parts : ndarray of shape (all branches,), dtype float64
        Part of the states of its split that each branch has.
    """

    variables: Places
    n_branches: Places
    places: Places
    starts: Places
    firsts: Places
    parts: Counts

    @cached_property
    def key(self) -> bytes:
        """What tells the layout from others over the same variables, in 16 bytes."""
        parts = (self.n_branches, self.places, self.starts)
        # Short, since many scores of leaves may be kept under keys that hold it.
        together = b"".join(part.tobytes() for part in parts)
        return blake2b(together, digest_size=16).digest()

    @classmethod
    def of(
        cls, splits: Sequence[tuple[int, ValueNodes, int]], offsets: Places
    ) -> SplitLayout:
        """Lay out splits; those on single states are left out.

        Parameters
        ----------
        splits : sequence of (int, ValueNodes, int)
            Variable, its hierarchy, and the node that is split.
        offsets : ndarray of shape (n_variables + 1,), dtype int64
            Where the states of each variable start in a table of counts.
        """
        wide = [item for item in splits if item[1].children[item[2]]]
        groups = [
            (variable, group, len(values.states[node]))
            for variable, values, node in wide
            for group in values.groups(node)
        ]
        sizes = np.array([len(group) for _, group, _ in groups], dtype=np.int64)
        numbers = [len(values.children[node]) for _, values, node in wide]
        n_branches = np.array(numbers, dtype=np.int64)
        starts = offsets.tolist()
        places = [starts[v] + code for v, group, _ in groups for code in group]
        n_states = np.array([number for _, _, number in groups], dtype=np.int64)
        return cls(
            np.array([variable for variable, _, _ in wide], dtype=np.int64),
            n_branches,
            np.array(places, dtype=np.int64),
            np.cumsum(sizes) - sizes,
            np.cumsum(n_branches) - n_branches,
            sizes / n_states,
        )

    def scores(self, counts: Counts, share: float, terms: TreeTerms) -> Counts:
        """Score of data and parameters after each split, shape (n_splits,).

        Parameters
        ----------
        counts : ndarray of shape (all states, child card), dtype float64
            Counts at the leaf, see `RowTable.count`.
        share : float
            Part of all configurations that leads to the leaf.
        terms : TreeTerms
            The score.
        """
        if not len(self.variables):
            return np.empty(0)
        totals = np.add.reduceat(counts[self.places], self.starts, axis=0)
        leaves = terms.leaves(totals, share * self.parts)
        return np.add.reduceat(leaves, self.firsts)
