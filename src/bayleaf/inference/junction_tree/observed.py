"""Junction trees of what a network's graph leaves once variables are observed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from enum import Enum

from bayleaf.graph.triangulation import JunctionForest, forest_without
from bayleaf.native.inference import CompiledTree, Known

# Trees that run through fewer cells are done before another one could be compiled.
MANY_CELLS = 1_000_000
# Sets of observed variables that are remembered.
_KEPT_SETS = 32


class Passes(Enum):
    """What a question runs through."""

    TOUCHED = "to the roots, cliques with evidence below only"
    UPWARDS = "to the roots"
    BOTH = "to the roots, cliques with evidence below only, and back"


class ObservedTrees:
    """Trees of the graph without observed variables, kept by their set.

    An observed variable separates its neighbours in the moral graph. A triangulation
    without it can therefore have far smaller cliques than those of the whole network,
    even once the states that the evidence rules out are left out of their tables. The
    states themselves are entered when propagating, so that a tree serves whatever was
    observed of the same variables.

    `compile_forest` makes a tree of a forest and the variables that are always
    observed.
    """

    def __init__(
        self,
        neighbours: Sequence[int],
        cards: Sequence[int],
        compile_forest: Callable[[JunctionForest, Collection[int]], CompiledTree],
    ) -> None:
        self._neighbours = neighbours
        self._cards = cards
        self._compile_forest = compile_forest
        self._kept: OrderedDict[frozenset[int], CompiledTree] = OrderedDict()

    def cheapest(
        self, static: CompiledTree, known: Known, passes: Passes
    ) -> CompiledTree:
        """The tree of the whole network or that without observed variables."""
        cost, observed = _cells(static, known, passes)
        if not observed or cost <= MANY_CELLS:
            return static
        other = self._tree(frozenset(observed))
        return other if _cells(other, known, passes)[0] < cost else static

    def _tree(self, observed: frozenset[int]) -> CompiledTree:
        """The tree for a set of observed variables."""
        tree = self._kept.pop(observed, None)
        if tree is None:
            forest = forest_without(self._neighbours, self._cards, observed)
            tree = self._compile_forest(forest, observed)
        self._kept[observed] = tree
        if len(self._kept) > _KEPT_SETS:
            self._kept.popitem(last=False)
        return tree


def _cells(
    tree: CompiledTree, known: Known, passes: Passes
) -> tuple[float, Sequence[int]]:
    """How many cells of cliques a question runs through; the observed variables."""
    touched, all_cliques, observed = tree.cells(known)
    if passes is Passes.UPWARDS:
        return all_cliques, observed
    return touched + all_cliques * (passes is Passes.BOTH), observed
