"""Value hierarchies for one place in a network: a parent's, as its child sees it."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from bayleaf.counts.source import Counts, CountSource
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.search.hierarchies.clustering import (
    Linkage,
    LinkageArity,
    build_hierarchy,
    check_linkage,
)

# Trees kept at most; each has at most twice as many nodes as its variable states.
_MAX_TREES = 20_000
# Cells of pair tables kept.
_MAX_CELLS = 10_000_000


class LocalHierarchies:
    """Hierarchies learned from the child and its other parents.

    desJardins, Rathod and Getoor (2008), section 7.2, one-time clustering. The most
    recently used trees and pair tables are cached. Threads may share an instance, and
    results depend on the arguments alone.
    """

    def __init__(
        self,
        counts: CountSource,
        domain: Domain,
        linkage: Linkage = "information",
        linkage_arity: LinkageArity = "binary",
    ) -> None:
        check_linkage(linkage, linkage_arity)
        self._counts = counts
        self._domain = domain
        self._settings = linkage, linkage_arity
        n_cells = max(domain.cards, default=1) ** 2
        self._pair = lru_cache(max(_MAX_CELLS // n_cells, 16))(self._count)
        self._tree = lru_cache(_MAX_TREES)(self._learn)

    def __call__(
        self, child: int, parent: int, parents: Collection[int]
    ) -> ValueHierarchy:
        """Hierarchy of a parent, or of a candidate, given the present parents."""
        others = frozenset(parents) - {parent}
        return self._tree(parent, frozenset({child}) | others)

    def _learn(self, parent: int, context: frozenset[int]) -> ValueHierarchy:
        """The hierarchy of a variable in a context."""
        variable = self._domain[parent]
        # A variable of two states needs no counts: it has the trivial hierarchy.
        tables = (
            [self._table(parent, other) for other in sorted(context)]
            if variable.n_states > 2
            else []
        )
        return build_hierarchy(variable, tables, *self._settings)

    def _table(self, row: int, column: int) -> Counts:
        """Counts of two variables, shape (row states, column states)."""
        if row < column:
            return self._pair(row, column)
        return self._pair(column, row).T

    def _count(self, first: int, second: int) -> Counts:
        """Counts of two variables from the source."""
        (counts,) = self._counts.family_counts([(first, second)])
        return counts
