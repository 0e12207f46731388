"""What the restarts of a search over trees share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import Deadline, ProgressCallback
from bayleaf.search.trees.growing import GrowingTree
from bayleaf.search.trees.leaf_counts import RowTable
from bayleaf.search.trees.nodes import LeafCounts
from bayleaf.search.trees.scores import TreeTerms
from bayleaf.search.trees.value_nodes import ValueNodes, value_nodes

# The hierarchy of a parent for a child, given the parents that the child has.
HierarchySource = Callable[[int, int, tuple[int, ...]], ValueHierarchy]


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A search over trees, but for the restart."""

    rows: RowTable
    domain: Domain
    terms: TreeTerms
    hierarchies: tuple[ValueHierarchy, ...]  # one per variable
    hierarchy_source: HierarchySource | None  # replaces `hierarchies`
    constraints: Constraints
    deadline: Deadline  # of all restarts
    seed: int  # restart k draws from (seed, k)
    progress: ProgressCallback | None  # called after each move
    max_kept_cells: int  # counts kept by one restart

    def generator(self, restart: int) -> np.random.Generator:
        """The random numbers of a restart."""
        return np.random.default_rng((self.seed, restart))

    def counts(self) -> LeafCounts:
        """A store of counts for one restart."""
        return LeafCounts(self.rows, self.max_kept_cells)

    def tree(self, child: int, counts: LeafCounts) -> GrowingTree:
        """An empty tree."""
        source = self.hierarchy_source

        def values(parent: int, parents: tuple[int, ...]) -> ValueNodes:
            if source is None:
                hierarchy = self.hierarchies[parent]
            else:
                hierarchy = source(child, parent, parents)
            return value_nodes(hierarchy, self.domain[parent])

        are_local = source is not None
        terms = self.terms.of(child)
        return GrowingTree(child, counts, terms, values, are_local=are_local)
