"""The order of work in a junction forest, as the flat arrays of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.triangulation import JunctionForest

if TYPE_CHECKING:
    from bayleaf.models.junction_tree_kernels import Schedule, Scratch

Lists = Sequence[Sequence[int]]


@dataclass(frozen=True)
class RootedForest:
    """A junction forest with its cliques renumbered so that children come first.

    Parameters
    ----------
    cliques : list of list of int
        Variables of each clique.
    separators : list of list of int
        What each clique shares with its parent; empty for a root.
    parent : list of int
        Number of the parent, -1 for a root.
    """

    cliques: list[list[int]]
    separators: list[list[int]]
    parent: list[int]


def rooted(
    forest: JunctionForest, cards: Sequence[int], root: int | None
) -> RootedForest:
    """Choose roots and number the cliques from the leaves upwards.

    Each tree's largest table becomes its root, because a root is worked off once and
    the others twice; `root`, if given, is that of its own tree.
    """
    sizes = forest.table_cells(cards)
    around: list[list[int]] = [[] for _ in sizes]
    for one, other in forest.edges:
        around[one].append(other)
        around[other].append(one)
    preferred = sorted(range(len(sizes)), key=lambda c: (c != root, -sizes[c], c))
    above: dict[int, int] = {}
    downwards: list[int] = []
    for start in preferred:
        if start in above:
            continue
        above[start] = -1
        stack = [start]
        while stack:
            clique = stack.pop()
            downwards.append(clique)
            for other in around[clique]:
                if other not in above:
                    above[other] = clique
                    stack.append(other)
    order = downwards[::-1]
    number = {clique: place for place, clique in enumerate(order)}
    number[-1] = -1
    return RootedForest(
        [list(forest.cliques[c]) for c in order],
        [list(forest.separator((c, above[c]))) if above[c] >= 0 else [] for c in order],
        [number[above[c]] for c in order],
    )


def build_schedule(
    forest: RootedForest,
    rank: Sequence[int],
    cards: Sequence[int],
    tables: Sequence[NDArray[np.float64]],
    families: Lists,
) -> Schedule:
    """Lay a rooted forest and its distributions out for the kernels.

    Parameters
    ----------
    forest : RootedForest
        The cliques.
    rank : sequence of int
        Place of each variable among the axes of every table.
    cards : sequence of int
        Number of states of each variable.
    tables : sequence of ndarray
        Each variable's distribution, axes in the order of `rank`.
    families : sequence of sequence of int
        The variables along those axes.
    """
    from bayleaf.models.junction_tree_kernels import Schedule

    n, m = len(cards), len(forest.cliques)
    cliques = [sorted(clique, key=rank.__getitem__) for clique in forest.cliques]
    separators = [sorted(shared, key=rank.__getitem__) for shared in forest.separators]
    factors: list[Sequence[int]] = [*families, *separators, *separators]
    factors += [[v] for v in range(n)]
    factors += families
    sizes = [prod(cards[v] for v in factor) for factor in factors]
    fixed_sizes = sizes[: n + m]
    home = _homes(cliques, families, cards)
    clique_reads, separator_reads = _readers(cliques, separators, cards)
    fixed = np.zeros(sum(fixed_sizes))
    cells = np.concatenate([table.ravel() for table in tables])
    fixed[: len(cells)] = cells
    clique_start, clique_variables = _flat(cliques)
    factor_start, factor_variables = _flat(factors)
    child_start, children = _flat(_inverted(forest.parent, m))
    table_start, table_list = _flat(_inverted(home, m))
    clique_read_start, clique_read_list = _flat(clique_reads)
    separator_read_start, separator_read_list = _flat(separator_reads)
    return Schedule(
        cards=_integers(cards),
        state_start=_starts(cards),
        factor_start=factor_start,
        factor_variables=factor_variables,
        factor_offset=_starts(sizes),
        fixed_offset=_starts(fixed_sizes),
        clique_start=clique_start,
        clique_variables=clique_variables,
        parent=_integers(forest.parent),
        child_start=child_start,
        children=children,
        table_start=table_start,
        tables=table_list,
        home=_integers(home),
        barren=_barren(forest, home),
        clique_read_start=clique_read_start,
        clique_reads=clique_read_list,
        separator_read_start=separator_read_start,
        separator_reads=separator_read_list,
        fixed=fixed,
        prior_log=np.zeros(m),
        prior_marginals=np.zeros(sum(cards)),
    )


def with_prior(schedule: Schedule) -> Schedule:
    """The schedule with the messages and marginals of the network without evidence."""
    from bayleaf.models import junction_tree_kernels as kernels

    scratch = new_scratch(schedule)
    n, m = len(schedule.cards), len(schedule.parent)
    kernels.reset(schedule, scratch)
    kernels.collect(schedule, scratch, False, False)
    first, end = schedule.fixed_offset[[n, n + m]]
    source = schedule.factor_offset[n]
    fixed = schedule.fixed.copy()
    fixed[first:end] = scratch.cells[source : source + end - first]
    kernels.distribute(schedule, scratch, False, False)
    marginals = np.empty(len(schedule.prior_marginals))
    kernels.read_marginals(schedule, scratch, False, marginals)
    prior_log = kernels.subtree_logs(schedule, scratch)
    return schedule._replace(
        fixed=fixed, prior_log=prior_log, prior_marginals=marginals
    )


def new_scratch(schedule: Schedule) -> Scratch:
    """Memory for one propagation at a time."""
    from bayleaf.models.junction_tree_kernels import LONGEST_ROW, Scratch

    n, m = len(schedule.cards), len(schedule.parent)
    n_states = int(schedule.state_start[-1])
    widths = np.diff(schedule.clique_start)
    slots = (
        np.diff(schedule.table_start) * 2
        + np.diff(schedule.child_start) * 2
        + np.diff(schedule.clique_read_start)
    )
    most_slots = int(slots.max(initial=0)) + 2
    most_slots = max(
        most_slots, int(np.diff(schedule.separator_read_start).max(initial=0)) + 1
    )
    most_axes = int(widths.max(initial=0)) + 1
    return Scratch(
        states=np.empty(n_states, dtype=np.int64),
        weights=np.ones(n_states),
        n_active=np.empty(n, dtype=np.int64),
        evident=np.zeros(n, dtype=np.bool_),
        weighted=np.zeros(n, dtype=np.bool_),
        dirty=np.zeros(m, dtype=np.bool_),
        needed=np.zeros(m, dtype=np.bool_),
        unit=np.zeros(m, dtype=np.bool_),
        log_scale=np.zeros(m),
        factor=np.empty(most_slots, dtype=np.int64),
        axis=np.empty(most_axes, dtype=np.int64),
        size=np.empty(most_axes, dtype=np.int64),
        counter=np.empty(most_axes, dtype=np.int64),
        position=np.empty(most_slots, dtype=np.int64),
        stride=np.empty((most_slots, most_axes), dtype=np.int64),
        row=np.empty(max(LONGEST_ROW, int(schedule.cards.max(initial=1)))),
        cells=np.empty(int(schedule.factor_offset[-1])),
    )


def _homes(cliques: Lists, families: Lists, cards: Sequence[int]) -> list[int]:
    """The clique with the smallest table among those that hold a whole family."""
    sizes = [prod(cards[v] for v in clique) for clique in cliques]
    members = [frozenset(clique) for clique in cliques]
    holding: dict[int, list[int]] = {}
    for place, clique in enumerate(cliques):
        for variable in clique:
            holding.setdefault(variable, []).append(place)
    homes = []
    for family in families:
        rarest = min(family, key=lambda v: len(holding[v]))
        fitting = [c for c in holding[rarest] if members[c].issuperset(family)]
        homes.append(min(fitting, key=lambda c: (sizes[c], c)))
    return homes


def _readers(
    cliques: Lists, separators: Lists, cards: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """The smallest clique or separator for each variable: where to read marginals."""
    best: dict[int, tuple[int, int, int]] = {}
    for kind, groups in ((0, separators), (1, cliques)):
        for place, group in enumerate(groups):
            size = prod(cards[v] for v in group)
            for variable in group:
                found = (size, kind, place)
                best[variable] = min(best.get(variable, found), found)
    reads: tuple[list[list[int]], list[list[int]]] = (
        [[] for _ in cliques],
        [[] for _ in cliques],
    )
    for variable in sorted(best):
        _, kind, place = best[variable]
        reads[1 - kind][place].append(variable)
    return reads


def _barren(forest: RootedForest, home: Sequence[int]) -> NDArray[np.bool_]:
    """Cliques whose message is one everywhere as long as nothing below is observed.

    So it is if no distribution in the subtree is that of a variable which the parent
    clique holds too (barren nodes; Shachter 1986).
    """
    below: list[set[int]] = [set() for _ in forest.parent]
    for variable, clique in enumerate(home):
        below[clique].add(variable)
    barren = np.zeros(len(forest.parent), dtype=np.bool_)
    for clique, parent in enumerate(forest.parent):
        outside = below[clique] & set(forest.separators[clique])
        barren[clique] = not outside
        if parent >= 0:
            # A variable outside the separator cannot come up in another one above.
            below[parent] |= outside
    return barren


def _inverted(targets: Sequence[int], n_lists: int) -> list[list[int]]:
    """For each number, where it stands in a list; negative ones left out."""
    lists: list[list[int]] = [[] for _ in range(n_lists)]
    for place, target in enumerate(targets):
        if target >= 0:
            lists[target].append(place)
    return lists


def _flat(lists: Lists) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each list starts, the end of the last included, and all their items."""
    items = [item for entries in lists for item in entries]
    return _starts([len(entries) for entries in lists]), _integers(items)


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Cumulative sizes, zero first."""
    return np.concatenate([[0], np.cumsum(_integers(sizes))]).astype(np.int64)


def _integers(numbers: Sequence[int]) -> NDArray[np.int64]:
    """An array of whole numbers."""
    return np.array(numbers, dtype=np.int64)
