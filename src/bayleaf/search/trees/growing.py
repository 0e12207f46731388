"""One variable's growing tree: splits of leaves, collapses, and what they gain."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, check_covers
from bayleaf.search.structure import Mask
from bayleaf.search.trees.leaf_counts import Counts, LeafCounts, SplitScores, TreeNode
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms

Places = NDArray[np.int64]
# Hierarchy with which a variable would enter, given the variables that are in.
ValueSource = Callable[[int, tuple[int, ...]], "ValueNodes"]
# Node of a hierarchy that has all states.
ROOT = 0


@dataclass(frozen=True, eq=False)
class SplitMove:
    """Split of a leaf."""

    child: int  # variable of the tree
    leaf: TreeNode
    variable: int
    gain: float  # how much the score of the network grows


class GrowingTree:
    """A variable's tree during a search.

    ``values(parent, parents)`` returns the value hierarchy with which a variable enters
    the tree; it is kept until the variable's last split goes. `are_local` if it depends
    on the parents.
    """

    def __init__(
        self,
        child: int,
        counts: LeafCounts,
        terms: TreeTerms,
        values: ValueSource,
        *,
        are_local: bool,
    ) -> None:
        self.child = child
        self._counts = counts
        self._terms = terms
        self.n_variables = terms.n_variables  # of the network
        self.least_gain = terms.least_gain  # larger than rounding
        self._source = values
        self.are_local = are_local
        self._context: tuple[int, ...] | None = None
        self._order = counts.rows.all_rows
        self._present: dict[int, ValueNodes] = {}
        self._candidates: dict[int, ValueNodes] = {}
        rows = counts.rows
        total = rows.state_weights(child)
        term = float(terms.leaves(total[None, :], np.ones(1))[0])
        self.root = TreeNode(0, rows.n_rows, {}, 0, 1.0, total, term)
        # Terms of a leaf without rows: no leaf scores more.
        self._empty = float(terms.leaves(np.zeros((1, len(total))), np.ones(1))[0])
        self._is_wide = np.array([card > 1 for card in rows.cards], dtype=np.bool_)
        self._is_wide[child] = False
        # How many splits have each number of variables at single states above.
        self._n_with_base = np.zeros(terms.n_variables + 1, dtype=np.int64)
        self._from_roots: SplitLayout | None = None
        self._leaves: list[TreeNode] | None = None
        self._best_by_variable: tuple[Counts, list[TreeNode]] | None = None
        self._collapses: list[CollapseMove] | None = None

    @property
    def leaves(self) -> list[TreeNode]:
        """Leaves from left to right."""
        if self._leaves is None:
            self._leaves = [node for node in self.root.preorder() if node.is_leaf]
        return self._leaves

    @property
    def splits(self) -> list[TreeNode]:
        """Splits in preorder."""
        return [node for node in self.root.preorder() if not node.is_leaf]

    @property
    def parents(self) -> tuple[int, ...]:
        """Variables that splits ask for, increasing."""
        return tuple(sorted(self._present))

    @property
    def score(self) -> float:
        """Score of the variable, summed up again."""
        data = sum(leaf.term for leaf in self.leaves)
        shape = self._n_with_base @ self._costs(0)
        names = self._terms.naming(self._present)
        return float(data + shape + names) + self._terms.leaf * len(self.leaves)

    def values_of(self, variable: int) -> ValueNodes:
        """The hierarchy of a variable that is in, or with which it would enter."""
        if variable in self._present:
            return self._present[variable]
        if variable not in self._candidates:
            context = self.parents if self._context is None else self._context
            others = tuple(other for other in context if other != variable)
            self._candidates[variable] = self._source(variable, others)
        return self._candidates[variable]

    def take_values_for(self, context: tuple[int, ...] | None) -> None:
        """Let variables enter as if these were the parents; None: those that are in."""
        if self.are_local and context != self._context:
            self._context = context
            self._forget_values()

    def n_candidates(self, allowed: Mask) -> NDArray[np.int64]:
        """Number of variables in `allowed`, a mask, that each leaf may be split on."""
        possible = self._is_wide & allowed
        numbers = np.full(len(self.leaves), possible.sum(), dtype=np.int64)
        for place, leaf in enumerate(self.leaves):
            for variable, node in leaf.context.items():
                if not self._present[variable].children[node]:
                    numbers[place] -= possible[variable]
        return numbers

    def leaf_split(self, leaf: TreeNode, allowed: Mask) -> SplitMove | None:
        """The best split of a leaf, ties to the lowest variable; None if it has none.

        `allowed` (n_variables,) marks variables that may be parents.
        """
        gains = self._split_gains([leaf])[0]
        return self._first_best(np.where(allowed, gains, -np.inf), [leaf] * len(gains))

    def best_split(self, allowed: Mask) -> SplitMove | None:
        """The best split of all leaves, see `leaf_split`."""
        if self._best_by_variable is None:
            gains = self._split_gains(self.leaves)
            places = gains.argmax(axis=0)
            best = gains[places, np.arange(len(places))]
            self._best_by_variable = best, [self.leaves[place] for place in places]
        gains, leaves = self._best_by_variable
        return self._first_best(np.where(allowed, gains, -np.inf), leaves)

    def collapses(self) -> list[CollapseMove]:
        """Collapsing each split, in preorder."""
        if self._collapses is not None:
            return self._collapses
        n_parents = len(self._present)
        nodes = list(self.root.preorder())
        splits = [node for node in nodes if not node.is_leaf]
        costs = self._terms.split_scores(n_parents)
        below = _subtrees(nodes, costs.tolist())
        n_base = np.array([split.n_base for split in splits], dtype=np.int64)
        names = self._terms.parents
        gone = _vanishing(splits, [own.n_splits for own in below])
        self._collapses = []
        for place, (split, own) in enumerate(zip(splits, below, strict=True)):
            gain = (
                split.term - own.term - own.cost - (own.n_leaves - 1) * self._terms.leaf
            )
            vanishing = gone.get(place, ())
            if vanishing:
                # All other splits could ask for so many variables less.
                n_left = n_parents - len(vanishing)
                change = self._terms.split_scores(n_left) - costs
                others = n_base[:place], n_base[place + own.n_splits :]
                gain += float(sum(change[part].sum() for part in others))
                gain += float(names[n_left] - names[n_parents])
                gain -= float(self._terms.arcs[list(vanishing)].sum())
            self._collapses.append(CollapseMove(self.child, split, gain, vanishing))
        return self._collapses

    def collapses_keeping(self, required: frozenset[int]) -> list[CollapseMove]:
        """Collapsing each split unless a required variable went, in preorder."""
        moves = self.collapses()
        if not required:
            return moves
        return [move for move in moves if required.isdisjoint(move.vanishing)]

    def best_collapse(self, required: frozenset[int]) -> CollapseMove | None:
        """The collapse that gains most, the first in preorder; required ones stay."""
        moves = self.collapses_keeping(required)
        return max(moves, key=lambda move: move.gain, default=None)

    def split(self, leaf: TreeNode, variable: int) -> None:
        """Split a leaf on a variable."""
        values = self.values_of(variable)
        node = leaf.context.get(variable, ROOT)
        groups = values.groups[node]
        counts = self._counts.of(leaf, self.child, self._order)
        offset = self._counts.rows.offsets[variable]
        totals = np.array(
            [counts[offset + np.array(group)].sum(axis=0) for group in groups]
        )
        n_states = len(values.states[node])
        shares = np.array([leaf.share * len(group) / n_states for group in groups])
        terms = self._terms.leaves(totals, shares)
        if leaf is self.root:
            # Trees without a split share the order of the table.
            self._order = self._order.copy()
        inside = self._order[leaf.first : leaf.last]
        starts = self._counts.rows.partition(inside, variable, groups)
        leaf.branches = [
            TreeNode(
                leaf.first + start,
                leaf.first + end,
                {**leaf.context, variable: below},
                leaf.n_base + (not values.children[below]),
                float(shares[i]),
                totals[i],
                float(terms[i]),
            )
            for i, (below, (start, end)) in enumerate(
                zip(values.children[node], pairwise(starts), strict=True)
            )
        ]
        leaf.variable = variable
        leaf.split_scores = None
        self._counts.forget(leaf)
        is_new = variable not in self._present
        self._present[variable] = values
        self._n_with_base[leaf.n_base] += 1
        self._forget_lists(parents_changed=is_new)

    def enter_missing(self, required: frozenset[int]) -> None:
        """Split on each required variable that no split asks for, where it is best."""
        for variable in sorted(required.difference(self.parents)):
            only: Mask = np.zeros(self.n_variables, dtype=np.bool_)
            only[variable] = True
            move = self.best_split(only)
            if move is not None:
                self.split(move.leaf, variable)

    def collapse(self, split: TreeNode) -> None:
        """Turn a split and all below it into a leaf."""
        for node in split.preorder():
            self._counts.forget(node)
        split.variable, split.branches = -1, []
        self._after_collapse()

    def forget_counts(self) -> None:
        """Drop the counts of all leaves, of a tree that is looked at no more."""
        for leaf in self.leaves:
            self._counts.forget(leaf)

    def can_gain(self, leaf: TreeNode) -> bool:
        """Whether even splitting a leaf into two without any surprise would gain."""
        split = float(self._terms.splits[1] + self._terms.arcs.max(initial=0.0))
        return 2 * self._empty + self._terms.leaf + split > leaf.term

    def prune_upwards(self, kept: frozenset[int]) -> None:
        """Collapse, from the leaves up, every split whose subtree does not pay.

        Splits on variables in `kept`, or whose arcs are believed in, stay with all
        above them. Splits cost what they do with all variables in the tree.
        """
        costs, kept = self._costs(0), kept | self._terms.believed
        values: dict[TreeNode, float] = {}
        must_stay: set[TreeNode] = set()
        for node in reversed(list(self.root.preorder())):
            values[node] = node.term + self._terms.leaf
            if node.is_leaf:
                continue
            below = sum(values[branch] for branch in node.branches)
            value = below + float(costs[node.n_base])
            if node.variable in kept or not must_stay.isdisjoint(node.branches):
                must_stay.add(node)
            if node in must_stay or value > values[node] + self._terms.least_gain:
                values[node] = value
            else:
                node.variable, node.branches = -1, []
        self._after_collapse()

    def shape(self) -> TreeShape:
        """The tree as it stands, leaves numbered from left to right."""
        numbers = {leaf: row for row, leaf in enumerate(self.leaves)}
        return TreeShape(self.child, self.parents, self._shape_of(self.root, numbers))

    def conditions(self, node: TreeNode) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Variables above a node and the states that lead to it."""
        return tuple(
            (variable, self._present[variable].states[value])
            for variable, value in node.context.items()
            if variable in self._present
        )

    def _shape_of(
        self, node: TreeNode, numbers: dict[TreeNode, int]
    ) -> LeafShape | SplitShape:
        """A subtree without its rows."""
        if node.is_leaf:
            return LeafShape(numbers[node])
        values = self._present[node.variable]
        groups = values.groups[node.context.get(node.variable, ROOT)]
        branches = tuple(self._shape_of(branch, numbers) for branch in node.branches)
        return SplitShape(node.variable, groups, branches)

    def _forget_lists(self, *, parents_changed: bool = False) -> None:
        """Drop what no longer holds after a change."""
        self._leaves = self._best_by_variable = self._collapses = None
        if parents_changed and self.are_local and self._context is None:
            self._forget_values()

    def _forget_values(self) -> None:
        """Drop hierarchies with which variables would enter, and what follows."""
        self._candidates = {}
        self._from_roots = self._best_by_variable = None
        for leaf in self.leaves:
            leaf.split_scores = None

    def _after_collapse(self) -> None:
        """Find again which variables are in, after splits went."""
        splits = self.splits
        used = {split.variable for split in splits}
        has_fewer = len(used) < len(self._present)
        self._present = {v: x for v, x in self._present.items() if v in used}
        self._n_with_base = np.bincount(
            np.array([split.n_base for split in splits], dtype=np.int64),
            minlength=self._terms.n_variables + 1,
        )
        self._forget_lists(parents_changed=has_fewer)

    def _costs(self, more: int) -> Counts:
        """Score of a split by its `n_base`, with so many variables more in the tree."""
        return self._terms.split_scores(len(self._present) + more)

    def _split_gains(self, leaves: list[TreeNode]) -> Counts:
        """Gain of each split of some leaves, shape (n_leaves, n_variables)."""
        scores = [self._split_scores(leaf) for leaf in leaves]
        terms = self._terms
        gains = np.array([own.gains for own in scores])
        gains += (np.array([own.n_branches for own in scores]) - 1) * terms.leaf
        n_base = np.array([leaf.n_base for leaf in leaves])
        is_in = np.zeros(terms.n_variables, dtype=np.bool_)
        is_in[list(self._present)] = True
        now, after = self._costs(0), self._costs(1)
        n_parents = len(self._present)
        # A new variable is one more that every split could have asked for.
        entering = float(self._n_with_base @ (after - now))
        entering += terms.parents[min(n_parents + 1, terms.n_variables)]
        entering -= terms.parents[n_parents]
        gains += np.where(is_in, now[n_base][:, None], after[n_base][:, None])
        return np.where(is_in, gains, gains + entering + terms.arcs)

    def _split_scores(self, leaf: TreeNode) -> SplitScores:
        """How much each split of a leaf changes data and parameters."""
        if leaf.split_scores is None:
            if self._from_roots is None:
                others = [v for v in range(self.n_variables) if v != self.child]
                splits = [(v, self.values_of(v), ROOT) for v in others]
                self._from_roots = SplitLayout.of(splits, self._counts.rows.offsets)
            above = frozenset(
                (variable, values.states[node], values.groups[node])
                for variable, node in leaf.context.items()
                for values in [self._present[variable]]
            )
            # All that the scores depend on: the leaf's rows, and the branches.
            key = self.child, leaf.share, self._from_roots.key, above
            found = self._counts.scores.get(key)
            if found is None:
                found = self._score(leaf, self._from_roots)
                self._counts.scores.keep(key, found, found.gains.size)
            leaf.split_scores = found
        return leaf.split_scores

    def _score(self, leaf: TreeNode, from_roots: SplitLayout) -> SplitScores:
        """Find how much each split of a leaf changes data and parameters."""
        counts = self._counts.of(leaf, self.child, self._order)
        gains = np.full(self.n_variables, -np.inf)
        n_branches = np.zeros(self.n_variables, dtype=np.int64)
        offsets = self._counts.rows.offsets
        above = [(v, self._present[v], node) for v, node in leaf.context.items()]
        # What was split on above goes on from there.
        for layout in (from_roots, SplitLayout.of(above, offsets)):
            scores = layout.scores(counts, leaf.share, self._terms)
            gains[list(leaf.context)] = -np.inf
            gains[layout.variables] = scores - leaf.term
            n_branches[layout.variables] = layout.n_branches
        return SplitScores(gains, n_branches)

    def _first_best(self, gains: Counts, leaves: list[TreeNode]) -> SplitMove | None:
        """The first variable whose gain is the best but for rounding."""
        best = float(gains.max(initial=-np.inf))
        if best == -np.inf:
            return None
        variable = int(np.argmax(gains >= best - self._terms.least_gain))
        return SplitMove(self.child, leaves[variable], variable, float(gains[variable]))


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
            for group in values.groups[node]
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


@dataclass(frozen=True, eq=False)
class CollapseMove:
    """Replacement of a split and all below it by a leaf."""

    child: int  # variable of the tree
    split: TreeNode
    gain: float  # how much the score of the network grows
    vanishing: tuple[int, ...]  # variables that no other split asks for


@dataclass(frozen=True, eq=False)
class _Subtree:
    """What a subtree sums up to."""

    term: float
    cost: float
    n_leaves: int
    n_splits: int


def _subtrees(nodes: list[TreeNode], costs: list[float]) -> list[_Subtree]:
    """What the subtree at each split sums up to, in preorder."""
    found: list[_Subtree] = []
    # In reversed preorder the branches of a split are the last that were finished.
    finished: list[_Subtree] = []
    for node in reversed(nodes):
        if node.is_leaf:
            finished.append(_Subtree(node.term, 0.0, 1, 0))
            continue
        branches = [finished.pop() for _ in node.branches]
        own = _Subtree(
            sum(branch.term for branch in branches),
            sum(branch.cost for branch in branches) + costs[node.n_base],
            sum(branch.n_leaves for branch in branches),
            sum(branch.n_splits for branch in branches) + 1,
        )
        finished.append(own)
        found.append(own)
    return found[::-1]


def _vanishing(splits: list[TreeNode], sizes: list[int]) -> dict[int, tuple[int, ...]]:
    """Variables, increasing, that only the subtree at a split asks for, by its place.

    Splits are in preorder; `sizes` counts the splits of each subtree.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, split in enumerate(splits):
        first.setdefault(split.variable, place)
        last[split.variable] = place
    variables = sorted(first)
    starts: NDArray[np.int64] = np.arange(len(splits))
    ends = starts + np.array(sizes, dtype=np.int64)
    firsts = np.array([first[v] for v in variables], dtype=np.int64)
    lasts = np.array([last[v] for v in variables], dtype=np.int64)
    inside = (firsts >= starts[:, None]) & (lasts < ends[:, None])
    return {
        place: tuple(variables[v] for v in np.flatnonzero(inside[place]).tolist())
        for place in np.flatnonzero(inside.any(axis=1)).tolist()
    }


@dataclass(frozen=True)
class ValueNodes:
    """Value hierarchy whose nodes, in preorder, and states are numbers."""

    children: tuple[tuple[int, ...], ...]  # of each node; none, or at least two
    states: tuple[tuple[int, ...], ...]  # codes under each node, increasing

    @cached_property
    def groups(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Codes of each branch of a split on each node."""
        return tuple(
            tuple(self.states[child] for child in children)
            for children in self.children
        )


def value_nodes(hierarchy: ValueHierarchy, variable: Variable) -> ValueNodes:
    """Translate a hierarchy over a variable's states into numbers.

    A missing state that the hierarchy lacks becomes a branch of the root. ValueError if
    the leaves are not the variable's states.
    """
    return _value_nodes(hierarchy, variable.name, variable.states)


@lru_cache(maxsize=4096)
def _value_nodes(
    hierarchy: ValueHierarchy, name: str | int, states: tuple[Hashable, ...]
) -> ValueNodes:
    """Translate a hierarchy; searches ask for the same ones over and over."""
    check_covers(hierarchy, name, states)
    index = {state: code for code, state in enumerate(states)}
    below: list[list[int]] = [[] for _ in hierarchy.nodes]
    for node, parent in enumerate(hierarchy.parents):
        if parent >= 0:
            below[parent].append(node)
    children: list[tuple[int, ...]] = []
    groups: list[tuple[int, ...]] = []

    def add(node: int, extra: Sequence[int] = ()) -> int:
        """Number a node and all below it, extra states as its last branches."""
        while len(below[node]) == 1 and not extra:
            node = below[node][0]
        own = len(children)
        children.append(())
        groups.append(())
        if below[node]:
            under = [add(child) for child in below[node]]
        elif extra:
            under = [add_state(index[hierarchy.nodes[node]])]
        else:
            groups[own] = (index[hierarchy.nodes[node]],)
            return own
        under += [add_state(code) for code in extra]
        children[own] = tuple(under)
        groups[own] = tuple(sorted(code for child in under for code in groups[child]))
        return own

    def add_state(code: int) -> int:
        children.append(())
        groups.append((code,))
        return len(children) - 1

    has_missing = bool(states) and states[-1] is None and None not in hierarchy
    add(ROOT, [len(states) - 1] if has_missing else [])
    return ValueNodes(tuple(children), tuple(groups))
