"""Junction trees of what a network's graph leaves once variables are observed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from enum import Enum
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.triangulation import forest_without
from bayleaf.models.junction_tree_schedule import (
    Layout,
    build_schedule,
    new_layout,
    rooted,
)

# Trees that run through fewer cells are done before another one could be compiled.
MANY_CELLS = 1_000_000
# Sets of observed variables that are remembered.
_KEPT_SETS = 32


class Passes(Enum):
    """What a question runs through."""

    TOUCHED = "to the roots, cliques with evidence below only"
    UPWARDS = "to the roots"
    BOTH = "to the roots, cliques with evidence below only, and back"


class ObservedLayouts:
    """Layouts of the graph without observed variables, kept by their set.

    An observed variable separates its neighbours in the moral graph. A triangulation
    without it can therefore have far smaller cliques than those of the whole network,
    even once the states that the evidence rules out are left out of their tables. The
    states themselves are entered when propagating, so that a layout serves whatever was
    observed of the same variables.

    Parameters
    ----------
    neighbours : sequence of int
        The moral graph, as from `married`.
    cards : sequence of int
        Number of states of each variable.
    rank : sequence of int
        Place of each variable among the axes of every table.
    tables : sequence of ndarray
        Each variable's distribution, axes in the order of `rank`.
    families : sequence of sequence of int
        The variables along those axes.
    unnormalised : collection of int
        Variables whose tables are no distributions of them.
    """

    def __init__(
        self,
        neighbours: Sequence[int],
        cards: Sequence[int],
        rank: Sequence[int],
        tables: Sequence[NDArray[np.float64]],
        families: Sequence[Sequence[int]],
        unnormalised: Collection[int],
    ) -> None:
        self._neighbours = neighbours
        self._cards = cards
        self._rank = rank
        self._tables = tables
        self._families = families
        self._unnormalised = unnormalised
        self._kept: OrderedDict[bytes, Layout] = OrderedDict()

    def cheapest(
        self,
        static: Layout,
        variables: NDArray[np.int64],
        values: NDArray[np.float64],
        passes: Passes,
    ) -> Layout:
        """The layout of the whole network or that without the observed variables.

        Parameters
        ----------
        static : Layout
            That of the whole network.
        variables : ndarray of shape (n_evident,), dtype int64
            Variables with evidence, in increasing order.
        values : ndarray, dtype float64
            Their likelihood vectors, one after another.
        passes : Passes
            What the question runs through.
        """
        cards = np.array(self._cards, dtype=np.int64)
        if not len(variables):
            return static
        firsts = np.concatenate([[0], np.cumsum(cards[variables])[:-1]])
        n_left = np.add.reduceat((values > 0).astype(np.int64), firsts)
        observed = variables[n_left == 1]
        informed = variables[np.minimum.reduceat(values, firsts) != 1.0]
        counts = cards.copy()
        counts[observed] = 1
        cost = _cells(static, counts, informed, passes)
        if not len(observed) or cost <= MANY_CELLS:
            return static
        layout = self._layout(observed)
        return layout if _cells(layout, counts, informed, passes) < cost else static

    def _layout(self, observed: NDArray[np.int64]) -> Layout:
        """The layout for a set of observed variables."""
        key = observed.tobytes()
        layout = self._kept.pop(key, None)
        if layout is None:
            layout = self._compiled(frozenset(observed.tolist()))
        self._kept[key] = layout
        if len(self._kept) > _KEPT_SETS:
            self._kept.popitem(last=False)
        return layout

    def _compiled(self, observed: frozenset[int]) -> Layout:
        """Triangulate the graph without some variables and lay its tables out."""
        counts = [1 if v in observed else card for v, card in enumerate(self._cards)]
        forest = forest_without(self._neighbours, self._cards, observed)
        schedule = build_schedule(
            rooted(forest, counts, None),
            self._rank,
            self._cards,
            self._tables,
            self._families,
            observed,
            self._unnormalised,
        )
        return new_layout(schedule, has_prior=False)


def _cells(
    layout: Layout,
    counts: NDArray[np.int64],
    informed: NDArray[np.int64],
    passes: Passes,
) -> int:
    """How many cells of cliques a question runs through."""
    schedule = layout.schedule
    plan, m = schedule.plan, schedule.n_cliques
    starts: list[int] = plan[schedule.clique_start :][: m + 1].tolist()
    members = plan[schedule.clique_variables :][: starts[-1]]
    sizes: list[int] = counts[members].tolist()
    cells = [prod(sizes[first:end]) for first, end in pairwise(starts)]
    if passes is Passes.UPWARDS:
        return sum(cells)
    touched = [not layout.has_prior] * m
    for clique in plan[schedule.home + informed].tolist():
        touched[clique] = True
    for clique, above in enumerate(plan[schedule.parent :][:m].tolist()):
        if touched[clique] and above >= 0:
            touched[above] = True
    upwards = sum(size for size, used in zip(cells, touched) if used)
    return upwards + sum(cells) if passes is Passes.BOTH else upwards
