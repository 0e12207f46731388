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
    """Branches of the splits of one leaf on several variables, side by side."""

    variables: Places  # (n_splits,)
    n_branches: Places  # (n_splits,)
    places: Places  # (n_states,), in a table of counts, branch by branch
    starts: Places  # (all branches,), first state in `places`
    firsts: Places  # (n_splits,), first branch of each split
    parts: Counts  # (all branches,), share of the states of the split

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
        """Lay out splits (variable, hierarchy, node).

        Splits on single states are left out. `offsets` (n_variables + 1,) is where each
        variable's states start in a table of counts.
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
        """Score of data and parameters after each split, (n_splits,).

        `counts` (all states, child card) are those at the leaf, see `RowTable.count`;
        `share` is the part of all configurations that leads to it.
        """
        if not len(self.variables):
            return np.empty(0)
        totals = np.add.reduceat(counts[self.places], self.starts, axis=0)
        leaves = terms.leaves(totals, share * self.parts)
        return np.add.reduceat(leaves, self.firsts)
