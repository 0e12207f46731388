"""Value hierarchies learned by joining values that have similar counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, CountSource
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import (
    MAX_DEPTH,
    StateGroup,
    ValueHierarchy,
    flat_hierarchy,
)
from bayleaf.native.search import join_values
from bayleaf.wording import quoted

Linkage = Literal["information", "hamming"]
LinkageArity = Literal["binary", "multiway"]
# The hierarchy of a parent for a child that has certain other parents.
HierarchySource = Callable[[int, int, tuple[int, ...]], ValueHierarchy]

# Share of the least loss within which "multiway" joins clusters in the same step.
_MULTIWAY_MARGIN = 0.1
# Relative difference of two sums of fractional weights that may be rounding.
_MODE_ROUNDING = 1e-9
# States that the name of a group lists.
_LISTED_STATES = 3
# Trees kept at most; each has at most twice as many nodes as its variable states.
_MAX_TREES = 20_000
# Cells of pair tables kept.
_MAX_CELLS = 10_000_000


def check_linkage(linkage: str, linkage_arity: str) -> None:
    """Raise a ValueError unless both settings are known."""
    for name, value, known in (
        ("linkage", linkage, get_args(Linkage)),
        ("linkage_arity", linkage_arity, get_args(LinkageArity)),
    ):
        if value not in known:
            raise ValueError(
                f"{name} must be {' or '.join(map(repr, known))}, got {quoted(value)}"
            )


def build_hierarchy(
    variable: Variable,
    tables: Sequence[Counts],
    linkage: Linkage = "information",
    linkage_arity: LinkageArity = "binary",
    given: ValueHierarchy | None = None,
) -> ValueHierarchy:
    """Learn a value hierarchy from counts of each value with other variables.

    Each table is (n_states, n_context_states); a missing state is a value like any
    other. "information" joins the clusters that lose least mutual information with the
    context variables (least count-weighted Jensen-Shannon divergence), "hamming" those
    whose most frequent context states differ for the fewest variables. "multiway" joins
    in one step all clusters that losses within a tenth of the least tie to the cheapest
    pair. Groups of a `given` hierarchy stay; their members, where they are more than
    two, are joined in the same way.

    BuildAVH of desJardins, Rathod and Getoor (2008), figure 6. A joined cluster goes to
    the end of the list of clusters; the first of pairs with equal losses is joined;
    among equally frequent states (of fractional weights: within a billionth) the
    smallest code counts. Without context variables
    the hierarchy is trivial; levels deeper than a hierarchy may have are left out.
    ValueError if a setting is unknown or a table has another number of rows.
    """
    check_linkage(linkage, linkage_arity)
    n_values = variable.n_states
    if any(len(table) != n_values for table in tables):
        raise ValueError(
            f"every table of variable {quoted(variable.name)} needs {n_values} rows, "
            "one for each state"
        )
    upper = given or flat_hierarchy(variable.states)
    if n_values <= 2 or not tables:
        return upper

    def joined(groups: Sequence[StateGroup]) -> NDArray[np.int64]:
        rows = tables
        if len(groups) < n_values:
            rows = [np.array([t[[*g]].sum(axis=0) for g in groups]) for t in tables]
        return _joined(rows, linkage, linkage_arity)

    return _tree(variable, upper, joined)


def _joined(
    tables: Sequence[Counts], linkage: Linkage, linkage_arity: LinkageArity
) -> NDArray[np.int64]:
    """Join clusters, the rows of each table, until one is left.

    Returns for each cluster, those that were made last, the one that it went into.
    """
    n_values = len(tables[0])
    cells = [table.reshape(n_values, -1) for table in tables]
    starts = np.cumsum([0, *(table.shape[1] for table in cells)])
    shares = np.empty((n_values, int(starts[-1])))
    np.concatenate(cells, axis=1, out=shares)
    # Losses grow in proportion to weights, so that their order stays the same.
    largest = shares.max()
    by_modes = linkage == "hamming"
    rounding = 0.0
    if by_modes:
        rounding = 0.0 if (shares == np.floor(shares)).all() else _MODE_ROUNDING
        # A power of two leaves equal sums of counts equal.
        np.ldexp(shares, -int(np.frexp(largest)[1]), out=shares)
    else:
        total = max((table / (largest or 1.0)).sum() for table in cells)
        shares /= largest or 1.0
        shares /= total or 1.0
    margin = _MULTIWAY_MARGIN if linkage_arity == "multiway" else -1.0
    parents = np.empty(2 * n_values - 1, dtype=np.int64)
    join_values(shares, starts.astype(np.int64), by_modes, rounding, margin, parents)
    return parents


def learn_hierarchies(
    counts: CountSource,
    domain: Domain,
    linkage: Linkage = "information",
    linkage_arity: LinkageArity = "binary",
    *,
    refine: bool = False,
) -> tuple[ValueHierarchy, ...]:
    """Learn a value hierarchy for each variable, with all others as its context.

    Hierarchies of the domain are kept, or `refine`d: see `build_hierarchy`.

    desJardins, Rathod and Getoor (2008), section 7.1, global clustering. Rows that miss
    one of two variables are left out of their counts. Pairs are counted for one
    variable at a time, so that memory grows with the number of variables, not its
    square.
    """
    check_linkage(linkage, linkage_arity)

    def learn(index: int) -> ValueHierarchy:
        given = domain[index].hierarchy
        if given is not None and not refine:
            return given
        others = [other for other in range(len(domain)) if other != index]
        tables: list[Counts] = []
        if domain[index].n_states > 2:
            tables = counts.family_counts([(index, other) for other in others])
        return build_hierarchy(domain[index], tables, linkage, linkage_arity, given)

    return tuple(learn(index) for index in range(len(domain)))


def _tree(
    variable: Variable,
    upper: ValueHierarchy,
    joined: Callable[[Sequence[StateGroup]], NDArray[np.int64]],
) -> ValueHierarchy:
    """The hierarchy of groups, and of clusters that `joined` makes of their members."""
    nodes: list[Hashable] = []
    above: list[int] = []
    taken: set[Hashable] = set(upper.nodes)
    index = {state: i for i, state in enumerate(variable.states)}
    deepest = MAX_DEPTH - _height(upper)

    def item(name: Hashable) -> _Item:
        if name in index:
            return _Item(name, (index[name],), (), ())
        states = sorted(index[state] for state in upper.states_under(name))
        return _Item(name, tuple(states), (), ())

    waiting = [(item(upper.root), -1, 1)]
    while waiting:
        node, parent, depth = waiting.pop()
        above.append(parent)
        position = len(nodes)
        if node.members:
            nodes.append(_group_name(variable, node.states, taken))
            taken.add(nodes[-1])
            below = node.members if depth >= deepest else node.parts
        else:
            nodes.append(node.name)
            if len(node.states) == 1:
                continue
            # Groups of states are in the order of their first ones.
            members = [item(name) for name in upper.children_of(node.name)]
            members.sort(key=lambda member: member.states[0])
            below = tuple(members)
            if len(members) > 2 and depth < deepest:
                below = _clusters(members, joined([m.states for m in members])).parts
        ordered = sorted(below, key=lambda part: part.states[0], reverse=True)
        waiting += [(part, position, depth + 1) for part in ordered]
    return ValueHierarchy(tuple(nodes), tuple(above))


class _Item(NamedTuple):
    """A node of a given hierarchy, or a cluster of some that are below one node."""

    name: Hashable
    states: StateGroup
    members: tuple[_Item, ...]  # of a cluster: the nodes in it
    parts: tuple[_Item, ...]  # of a cluster: what was joined


def _clusters(members: Sequence[_Item], parents: NDArray[np.int64]) -> _Item:
    """The last of the clusters that members and clusters went into."""
    into = parents.tolist()
    last = max(into)
    made = list(members)
    parts: list[list[_Item]] = [[] for _ in range(last + 1)]
    for node in range(last):
        if node >= len(members):
            made.append(_cluster(parts[node]))
        parts[into[node]].append(made[node])
    return _cluster(parts[last])


def _cluster(parts: Sequence[_Item]) -> _Item:
    """A cluster that parts were joined into."""
    members = tuple(member for part in parts for member in part.members or (part,))
    states = sorted(state for part in parts for state in part.states)
    return _Item(None, tuple(states), members, tuple(parts))


def _height(hierarchy: ValueHierarchy) -> int:
    """Number of levels below the root."""
    depths = [0]
    for parent in hierarchy.parents[1:]:
        depths.append(depths[parent] + 1)
    return max(depths)


def _group_name(variable: Variable, states: Sequence[int], taken: set[Hashable]) -> str:
    """A name for a group that no other node has."""
    if len(states) == variable.n_states:
        name = "any"
    elif (
        variable.kind == "numeric"
        and states[-1] - states[0] == len(states) - 1
        and variable.states[states[-1]] is not None
    ):
        name = _interval_name(variable.bounds, states)
    else:
        listed = states[: len(states) if len(states) <= _LISTED_STATES else 2]
        parts = [variable.label(state) for state in listed]
        if len(listed) < len(states):
            parts.append(f"{len(states) - len(listed)} more")
        name = " | ".join(parts)
    while name in taken:
        name += "_"
    return name


def _interval_name(bounds: Sequence[str], states: Sequence[int]) -> str:
    """The interval that adjoining ones make up, in the form of their own names."""
    low = bounds[states[0] - 1] if states[0] else ""
    if states[-1] == len(bounds):
        return f"> {low}"
    high = bounds[states[-1]]
    return f"({low}, {high}]" if low else f"<= {high}"


class LocalHierarchies:
    """Hierarchies learned from the child and its other parents.

    desJardins, Rathod and Getoor (2008), section 7.2, one-time clustering. Hierarchies
    of the domain are kept, or `refine`d: see `build_hierarchy`. The most recently used
    trees and pair tables are cached. Threads may share an instance, and results depend
    on the arguments alone.
    """

    def __init__(
        self,
        counts: CountSource,
        domain: Domain,
        linkage: Linkage = "information",
        linkage_arity: LinkageArity = "binary",
        *,
        refine: bool = False,
    ) -> None:
        check_linkage(linkage, linkage_arity)
        self._refine = refine
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
        given = variable.hierarchy
        if given is not None and not self._refine:
            return given
        # A variable of two states needs no counts: it has the trivial hierarchy.
        others = sorted(context) if variable.n_states > 2 else []
        tables = [
            self._pair(parent, other) if parent < other else self._pair(other, parent).T
            for other in others
        ]
        return build_hierarchy(variable, tables, *self._settings, given)

    def _count(self, first: int, second: int) -> Counts:
        """Counts of two variables from the source."""
        (counts,) = self._counts.family_counts([(first, second)])
        return counts
