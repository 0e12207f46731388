"""Value hierarchies learned by joining values that have similar counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, CountSource
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import MAX_DEPTH, ValueHierarchy, flat_hierarchy
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
) -> ValueHierarchy:
    """Learn a value hierarchy from counts of each value with other variables.

    Each table is (n_states, n_context_states); a missing state is a value like any
    other. "information" joins the clusters that lose least mutual information with the
    context variables (least count-weighted Jensen-Shannon divergence), "hamming" those
    whose most frequent context states differ for the fewest variables. "multiway" joins
    in one step all clusters that losses within a tenth of the least tie to the cheapest
    pair.

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
    if n_values <= 2 or not tables:
        return flat_hierarchy(variable.states)
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
    return _tree(variable, parents)


def learn_hierarchies(
    counts: CountSource,
    domain: Domain,
    linkage: Linkage = "information",
    linkage_arity: LinkageArity = "binary",
) -> tuple[ValueHierarchy, ...]:
    """Learn a value hierarchy for each variable, with all others as its context.

    desJardins, Rathod and Getoor (2008), section 7.1, global clustering. Rows that miss
    one of two variables are left out of their counts. Pairs are counted for one
    variable at a time, so that memory grows with the number of variables, not its
    square.
    """
    check_linkage(linkage, linkage_arity)

    def learn(index: int) -> ValueHierarchy:
        others = [other for other in range(len(domain)) if other != index]
        tables: list[Counts] = []
        if domain[index].n_states > 2:
            tables = counts.family_counts([(index, other) for other in others])
        return build_hierarchy(domain[index], tables, linkage, linkage_arity)

    return tuple(learn(index) for index in range(len(domain)))


def _tree(variable: Variable, parents: NDArray[np.int64]) -> ValueHierarchy:
    """The hierarchy of clusters that went into one another."""
    n_values = variable.n_states
    last = int(parents.max())
    values: list[list[int]] = [[i] if i < n_values else [] for i in range(last + 1)]
    children: list[list[int]] = [[] for _ in values]
    for node in range(last):
        children[parents[node]].append(node)
        values[parents[node]] += values[node]
    nodes: list[Hashable] = []
    above: list[int] = []
    taken: set[Hashable] = set(variable.states)
    waiting = [(last, -1, 1)]
    while waiting:
        node, parent, depth = waiting.pop()
        above.append(parent)
        if node < n_values:
            nodes.append(variable.states[node])
            continue
        position = len(nodes)
        nodes.append(_group_name(variable, sorted(values[node]), taken))
        taken.add(nodes[-1])
        below = values[node] if depth == MAX_DEPTH - 1 else children[node]
        ordered = sorted(below, key=lambda i: min(values[i]), reverse=True)
        waiting += [(child, position, depth + 1) for child in ordered]
    return ValueHierarchy(tuple(nodes), tuple(above))


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
        others = sorted(context) if variable.n_states > 2 else []
        tables = [
            self._pair(parent, other) if parent < other else self._pair(other, parent).T
            for other in others
        ]
        return build_hierarchy(variable, tables, *self._settings)

    def _count(self, first: int, second: int) -> Counts:
        """Counts of two variables from the source."""
        (counts,) = self._counts.family_counts([(first, second)])
        return counts
