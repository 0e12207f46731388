"""The order of work in a junction forest, as the flat arrays of the kernels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import RunningWork, kernel_for
from bayleaf.graph.triangulation import JunctionForest

if TYPE_CHECKING:
    from bayleaf.models.junction_tree_kernels import Schedule, Scratch

Lists = Sequence[Sequence[int]]

# All that a process asks of networks, for `kernel_for`, measured in passes through the
# cliques: messages both ways take about three, a search for most probable states five.
PROPAGATIONS = RunningWork()
PASSES_TO_PROPAGATE = 3
PASSES_TO_DECODE = 5
# Stands among the variables of a subtree for tables in it that do not sum to one.
_NO_DISTRIBUTION = -1


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
        if start not in above:
            above[start] = -1
            downwards += _from_root(start, around, above)
    order = downwards[::-1]
    number = {clique: place for place, clique in enumerate(order)}
    number[-1] = -1
    return RootedForest(
        [list(forest.cliques[c]) for c in order],
        [list(forest.separator((c, above[c]))) if above[c] >= 0 else [] for c in order],
        [number[above[c]] for c in order],
    )


def _from_root(root: int, around: Lists, above: dict[int, int]) -> list[int]:
    """Cliques of one tree, parents first; notes each one's parent in `above`."""
    visited: list[int] = []
    stack = [root]
    while stack:
        clique = stack.pop()
        visited.append(clique)
        new = [other for other in around[clique] if other not in above]
        above.update(dict.fromkeys(new, clique))
        stack += new
    return visited


def build_schedule(
    forest: RootedForest,
    rank: Sequence[int],
    cards: Sequence[int],
    tables: Sequence[NDArray[np.float64]],
    families: Lists,
    observed: Collection[int] = (),
    unnormalised: Collection[int] = (),
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
    observed : collection of int
        Variables that are always observed, so that only a clique of their own need
        hold them.
    unnormalised : collection of int
        Variables whose tables are no distributions of them given the others.
    """
    n, m = len(cards), len(forest.cliques)
    cliques = [sorted(clique, key=rank.__getitem__) for clique in forest.cliques]
    separators = [sorted(shared, key=rank.__getitem__) for shared in forest.separators]
    factors: list[Sequence[int]] = [*families, *separators, *separators]
    factors += [[v] for v in range(n)]
    factors += families
    sizes = [prod(cards[v] for v in factor) for factor in factors]
    counts = [1 if v in observed else card for v, card in enumerate(cards)]
    homes = [
        [u for u in family if u not in observed] or [v]
        for v, family in enumerate(families)
    ]
    home = _homes(cliques, homes, counts)
    clique_reads, separator_reads = _readers(cliques, separators, cards)
    lists: dict[str, NDArray[np.int64]] = {
        "cards": _integers(cards),
        "state_start": _starts(cards),
        "factor_offset": _starts(sizes),
        "fixed_offset": _starts(sizes[: n + m]),
        "parent": _integers(forest.parent),
        "home": _integers(home),
        "barren": _barren(forest, home, unnormalised).astype(np.int64),
    }
    for start, name, items in (
        ("factor_start", "factor_variables", factors),
        ("clique_start", "clique_variables", cliques),
        ("child_start", "children", _inverted(forest.parent, m)),
        ("table_start", "tables", _inverted(home, m)),
        ("clique_read_start", "clique_reads", clique_reads),
        ("separator_read_start", "separator_reads", separator_reads),
    ):
        lists[start], lists[name] = _flat(items)
    return _packed(lists, np.concatenate([table.ravel() for table in tables]))


def _packed(
    lists: dict[str, NDArray[np.int64]], probabilities: NDArray[np.float64]
) -> Schedule:
    """A schedule of named lists, the prior still to be filled in."""
    from bayleaf.models.junction_tree_kernels import Schedule

    n, m = len(lists["cards"]), len(lists["parent"])
    n_fixed, n_states = int(lists["fixed_offset"][-1]), int(lists["state_start"][-1])
    fixed = np.zeros(n_fixed + m + n_states)
    fixed[: len(probabilities)] = probabilities
    first = _starts([len(entries) for entries in lists.values()]).tolist()
    return Schedule(
        plan=np.concatenate(list(lists.values())),
        fixed=fixed,
        n_variables=n,
        n_cliques=m,
        prior_log=n_fixed,
        prior_marginals=n_fixed + m,
        **dict(zip(lists, first)),
    )


def with_prior(schedule: Schedule) -> Schedule:
    """The schedule with the messages and marginals of the network without evidence."""
    from bayleaf.models import junction_tree_message_kernels as kernels

    layout = new_layout(schedule, has_prior=False)
    work = PROPAGATIONS.with_more(PASSES_TO_PROPAGATE * layout.pass_work)
    scratch = layout.new_scratch()
    n, m = schedule.n_variables, schedule.n_cliques
    fixed = schedule.fixed.copy()
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    evidence_of = kernel_for(kernels.evidence_of, work)
    evidence_of(schedule, scratch, *nothing, False, False)
    first, end = schedule.plan[schedule.fixed_offset + np.array([n, n + m])]
    source = schedule.plan[schedule.factor_offset + n]
    fixed[first:end] = scratch.cells[source : source + end - first]
    logs = kernel_for(kernels.subtree_logs, work)(schedule, scratch)
    fixed[schedule.prior_log : schedule.prior_marginals] = logs
    kernel_for(kernels.distribute, work)(schedule, scratch, False, False)
    marginals = fixed[schedule.prior_marginals :]
    read_marginals = kernel_for(kernels.read_marginals, work)
    read_marginals(schedule, scratch, False, marginals)
    return schedule._replace(fixed=fixed)


@dataclass(frozen=True)
class Layout:
    """A schedule, and how much memory a propagation needs beside it.

    Parameters
    ----------
    schedule : Schedule
        The arrays of the kernels.
    places : dict of str to int
        Where the lists of `Scratch` begin.
    n_numbers, n_cells : int
        Lengths of its whole numbers and of its cells.
    n_slots, n_axes : int
        Most factors and axes that one step works with.
    longest_row : int
        Most cells along the axis that runs fastest.
    has_prior : bool
        Whether the schedule holds the messages without evidence.
    state_starts : tuple of int
        Where the states of each variable begin among those of all.
    pass_work : float
        Estimate of the steps of one pass through all cliques, see `kernel_for`.
    """

    schedule: Schedule
    places: dict[str, int]
    n_numbers: int
    n_cells: int
    n_slots: int
    n_axes: int
    longest_row: int
    has_prior: bool
    state_starts: tuple[int, ...]
    pass_work: float

    def new_scratch(self) -> Scratch:
        """Memory for one propagation at a time."""
        from bayleaf.models.junction_tree_kernels import Scratch

        return Scratch(
            memory=np.zeros(self.n_numbers, dtype=np.int64),
            cells=np.empty(self.n_cells),
            stride=np.empty((self.n_slots, self.n_axes), dtype=np.int64),
            row=np.empty(self.longest_row),
            **self.places,
        )

    def starts(self, name: str) -> NDArray[np.int64]:
        """Where each variable begins, the end of the last included."""
        n, first = self.schedule.n_variables, getattr(self.schedule, name)
        starts: NDArray[np.int64] = self.schedule.plan[first : first + n + 1]
        return starts


def new_layout(schedule: Schedule, *, has_prior: bool) -> Layout:
    """Measure what a propagation writes."""
    from bayleaf.models.junction_tree_kernels import LONGEST_ROW

    n, m, plan = schedule.n_variables, schedule.n_cliques, schedule.plan
    n_factors = 3 * n + 2 * m
    n_states = int(plan[schedule.state_start + n])

    def lengths(first: int, count: int) -> NDArray[np.int64]:
        return np.diff(plan[first : first + count + 1])

    # A distribution goes in, and its family's posterior comes out; a child's message
    # comes in, and one goes out to it.
    n_slots = 2 + int(
        (
            2 * lengths(schedule.table_start, m)
            + 2 * lengths(schedule.child_start, m)
            + lengths(schedule.clique_read_start, m)
            + lengths(schedule.separator_read_start, m)
        ).max(initial=0)
    )
    # A family is longer than its clique if some of it is always observed.
    n_axes = 1 + max(
        int(lengths(schedule.clique_start, m).max(initial=0)),
        int(lengths(schedule.factor_start, n_factors).max(initial=0)),
    )
    sizes = {"states": n_states, "n_active": n, "evident": n, "weighted": n}
    sizes |= {"dirty": m, "needed": m, "unit": m, "factor": n_slots}
    sizes |= {"axis": n_axes, "size": n_axes, "counter": n_axes, "gap": n_axes}
    sizes["position"] = n_slots
    places = dict(zip(sizes, _starts(list(sizes.values())).tolist()))
    places["weights"] = int(plan[schedule.factor_offset + n_factors])
    places["log_scale"] = places["weights"] + n_states
    return Layout(
        schedule,
        places,
        sum(sizes.values()),
        places["log_scale"] + m,
        n_slots,
        n_axes,
        max(LONGEST_ROW, int(plan[schedule.cards :][:n].max(initial=1))),
        has_prior,
        tuple(plan[schedule.state_start :][: n + 1].tolist()),
        _pass_work(schedule),
    )


def _pass_work(schedule: Schedule) -> float:
    """Estimate of the steps of one pass through all cliques, without any evidence.

    Each of a clique's factors is laid out axis by axis, at about eight steps each, and
    multiplied cell by cell, which takes a quarter of a step.
    """
    plan, m = schedule.plan, schedule.n_cliques
    starts: list[int] = plan[schedule.clique_start :][: m + 1].tolist()
    members = plan[schedule.clique_variables :][: starts[-1]]
    sizes: list[int] = plan[schedule.cards + members].tolist()
    tables, children = (
        plan[first : first + m + 1].tolist()
        for first in (schedule.table_start, schedule.child_start)
    )
    work = 0.0
    for clique, (first, end) in enumerate(pairwise(starts)):
        n_factors = 1 + tables[clique + 1] - tables[clique]
        n_factors += children[clique + 1] - children[clique]
        work += n_factors * (8 * (end - first) + prod(sizes[first:end]) / 4)
    return work


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


def _barren(
    forest: RootedForest, home: Sequence[int], unnormalised: Collection[int]
) -> NDArray[np.bool_]:
    """Cliques whose message is one everywhere as long as nothing below is observed.

    So it is if no distribution in the subtree is that of a variable which the parent
    clique holds too (barren nodes; Shachter 1986), and all are distributions.
    """
    below: list[set[int]] = [set() for _ in forest.parent]
    for variable, clique in enumerate(home):
        below[clique].add(variable)
    barren = np.zeros(len(forest.parent), dtype=np.bool_)
    for variable in unnormalised:
        below[home[variable]].add(_NO_DISTRIBUTION)
    for clique, parent in enumerate(forest.parent):
        outside = below[clique] & {*forest.separators[clique], _NO_DISTRIBUTION}
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
