"""Decision graphs: trees whose leaves share distributions, and merges of leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import group_of_states
from bayleaf.data.codes import Codes
from bayleaf.native.search import Rows
from bayleaf.scores.local_scores import log_likelihood
from bayleaf.search.structure import Move, SearchResult
from bayleaf.search.trees.leaf_counts import Counts, RowTable, row_counts
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms

Groups = tuple[tuple[int, ...], ...]
Context = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Change:
    """A leaf, or a split into leaves, that replaces a node and all below it."""

    node: GraphNode
    variable: int | None  # None for a leaf
    groups: Groups  # states of each branch; of a leaf, an empty group
    distributions: tuple[int, ...]  # of each branch or leaf; new if not in the graph
    gain: float  # how much the score of the network grows
    worth: float  # the same, with the surcharge on distributions


@dataclass(frozen=True, eq=False)
class _Part:
    """A graph, or what is left of it without the subtree at a node."""

    numbers: list[int]
    counts: Counts  # (n_distributions, n_states)
    shares: Counts  # (n_distributions,), of the configurations
    terms: Counts  # (n_distributions,), scores
    n_leaves: int
    n_base: list[int]  # of each split: variables at a single state above
    parents: frozenset[int]  # variables that its splits ask for


class DecisionGraph:
    """Changes of one variable's decision graph, and their gains.

    Where changes and merges are chosen, the parameters of a distribution weigh more
    than in the score, by the fraction `surcharge`.
    """

    def __init__(
        self, shape: TreeShape, rows: RowTable, terms: TreeTerms, surcharge: float = 0.0
    ) -> None:
        self.child = shape.child
        self.root = graph_of(shape, rows)
        self._rows = rows
        self._terms = terms.of(shape.child)
        # A distribution without rows scores what its parameters cost.
        empty = terms.leaves(np.zeros((1, rows.cards[shape.child])), np.ones(1))
        self._empty = float(empty[0])
        self._surcharge = surcharge * -self._empty
        self._whole = self._part()

    @property
    def parents(self) -> tuple[int, ...]:
        """Variables that splits ask for, increasing."""
        return tuple(sorted(self._whole.parents))

    @property
    def score(self) -> float:
        """Score of the variable, summed up again."""
        whole = self._whole
        shape = self._shape_score(whole, len(whole.numbers))
        return float(whole.terms.sum()) + shape

    def shape(self) -> TreeShape:
        """The graph as it stands, distributions numbered by first occurrence."""
        numbers: dict[int, int] = {}
        for leaf in self._leaves():
            numbers.setdefault(leaf.distribution, len(numbers))
        return TreeShape(self.child, self.parents, shape_of(self.root, numbers))

    def merge(self) -> list[LeafMerge]:
        """Merge distributions while that gains, see `merge_leaves`."""
        whole = self._whole
        rows, merges = merge_leaves(
            whole.counts, whole.shares, whole.n_leaves, self._terms, self._surcharge
        )
        new = dict(zip(whole.numbers, rows.tolist(), strict=True))
        for leaf in self._leaves():
            leaf.distribution = new[leaf.distribution]
        self._whole = self._part()
        return merges

    def best_change(
        self,
        node: GraphNode,
        splits: Iterable[tuple[int, Groups]],
        required: frozenset[int] = frozenset(),
        max_parents: int | None = None,
    ) -> Change | None:
        """Find the best change of a node, the first of equal ones; None if none gains.

        Branches, those of most weight first, take the distribution of the graph that
        scores best, or a new one; changes never increase the number of distributions.
        Splits that would not gain if all branches fitted without loss are skipped.
        `splits` contains variables with the states of each branch; `required` variables
        stay parents.
        """
        rest, before = self._part(but=node), self.score
        counts = self._rows.count(self.child, node.rows)
        candidates: list[tuple[int | None, Groups]] = [(None, ((),)), *splits]
        best: Change | None = None
        for variable, groups in candidates:
            # The shape with the node put back, its data left out.
            after = replace(rest, n_leaves=rest.n_leaves + len(groups))
            if variable is not None:
                n_base, parents = [*rest.n_base, node.n_base], rest.parents | {variable}
                after = replace(after, n_base=n_base, parents=parents)
            limit = len(after.parents) if max_parents is None else max_parents
            if not required <= after.parents or len(after.parents) > limit:
                continue
            own, shares = self._branches(node, counts, variable, groups)
            least = self._terms.least_gain + (best.worth if best else 0.0)
            change = self._change(before, after, own, shares, least)
            if change is not None:
                numbers, gain, worth = change
                best = Change(node, variable, groups, numbers, gain, worth)
        return best

    def apply(self, change: Change) -> None:
        """Make a change."""
        node = change.node
        if change.variable is None:
            node.variable, node.groups, node.branches = -1, (), []
            node.distribution = change.distributions[0]
        else:
            node.branch(change.variable, change.groups, self._rows, self.child)
            new = zip(node.branches, change.distributions, strict=True)
            for branch, number in new:
                branch.distribution = number
        self._whole = self._part()

    def _leaves(self) -> list[GraphNode]:
        """Leaves from left to right."""
        return [node for node in self.root.preorder() if not node.branches]

    def _part(self, *, but: GraphNode | None = None) -> _Part:
        """The graph without a node and all below it."""
        nodes = list(self.root.preorder(but=but))
        leaves = [node for node in nodes if not node.branches]
        splits = [node for node in nodes if node.branches]
        numbers = sorted({leaf.distribution for leaf in leaves})
        place = {number: i for i, number in enumerate(numbers)}
        counts = np.zeros((len(numbers), self._rows.cards[self.child]))
        shares = np.zeros(len(numbers))
        for leaf in leaves:
            counts[place[leaf.distribution]] += leaf.counts
            shares[place[leaf.distribution]] += leaf.share
        return _Part(
            numbers,
            counts,
            shares,
            self._terms.leaves(counts, shares),
            len(leaves),
            [split.n_base for split in splits],
            frozenset(split.variable for split in splits),
        )

    def _shape_score(self, part: _Part, n_distributions: int) -> float:
        """Score all of a graph but the data and parameters."""
        merges = (part.n_leaves - n_distributions) * self._merge_score(part.n_leaves)
        costs = self._terms.split_scores(len(part.parents))[part.n_base].sum()
        parents = self._terms.naming(sorted(part.parents))
        return float(part.n_leaves * self._terms.leaf + merges + costs + parents)

    def _merge_score(self, n_leaves: int) -> float:
        """Score naming the distribution that a leaf shares."""
        return self._terms.score.merge_score(n_leaves) if n_leaves > 1 else 0.0

    def _branches(
        self, node: GraphNode, counts: Counts, variable: int | None, groups: Groups
    ) -> tuple[Counts, Counts]:
        """Counts and shares of the branches of a split, or of a leaf."""
        if variable is None:
            return node.counts[None], np.array([node.share])
        start = self._rows.offsets[variable]
        sizes = np.array([len(group) for group in groups])
        states = start + np.array([code for group in groups for code in group])
        own = np.add.reduceat(counts[states], np.cumsum(sizes) - sizes)
        return own, node.share * sizes / sizes.sum()

    def _change(
        self, before: float, after: _Part, own: Counts, shares: Counts, least: float
    ) -> tuple[tuple[int, ...], float, float] | None:
        """Distributions of some branches, the gain and its worth; None if too little.

        `after` is the graph without what is replaced; `own` (n_branches, n_states) and
        `shares` (n_branches,) describe the branches. The worth must exceed `least`.
        """
        n_before = len(self._whole.numbers)
        vanished = n_before - len(after.numbers)
        fitted = float(log_likelihood(own))
        fitted /= math.log(2) if self._terms.score.unit == "bits" else 1.0
        dearest = max(self._empty - self._surcharge, self._merge_score(after.n_leaves))
        bound = float(after.terms.sum()) + fitted + len(own) * dearest
        n_others = after.n_leaves - len(own) - len(after.numbers)
        bound += n_others * self._merge_score(after.n_leaves)
        bound += self._shape_score(after, after.n_leaves)
        if bound - before + vanished * self._surcharge <= least:
            return None
        numbers, data, n_after = self._joined(after, own, shares)
        gain = data + self._shape_score(after, n_after) - before
        worth = gain + (n_before - n_after) * self._surcharge
        return (numbers, gain, worth) if worth > least else None

    def _joined(
        self, after: _Part, own: Counts, shares: Counts
    ) -> tuple[tuple[int, ...], float, int]:
        """The distribution of each branch, the score of all, and their number."""
        terms, end = self._terms, len(after.numbers)
        most = len(self._whole.numbers)
        joining = self._merge_score(after.n_leaves)
        counts = np.concatenate([after.counts, np.zeros_like(own)])
        parts = np.concatenate([after.shares, np.zeros_like(shares)])
        values = np.concatenate([after.terms, np.zeros_like(shares)])
        alone = terms.leaves(own, shares)
        places = [0] * len(own)
        weights = own.sum(axis=1)
        # A branch without rows changes no term but for its share of the prior.
        joins_any = terms.score.adds_over_rows
        joins_any &= joining >= self._empty - self._surcharge
        for branch in np.argsort(-weights, kind="stable").tolist():
            if weights[branch] == 0 and end > 0 and joins_any:
                continue
            sums = counts[:end] + own[branch], parts[:end] + shares[branch]
            together = np.append(terms.leaves(*sums), alone[branch])
            gains = together - np.append(values[:end], 0.0)
            gains[:end] += joining
            gains[end] -= self._surcharge if end < most else np.inf
            place = int(np.argmax(gains >= gains.max() - terms.least_gain))
            values[place] = together[place]
            counts[place] += own[branch]
            parts[place] += shares[branch]
            places[branch] = place
            end = max(end, place + 1)
        n_new = end - len(after.numbers)
        first = 1 + max(after.numbers, default=-1)
        names = [*after.numbers, *range(first, first + n_new)]
        return tuple(names[place] for place in places), float(values.sum()), end


@dataclass(eq=False)
class GraphNode:
    """A leaf or a split."""

    rows: Rows  # rows of the table that arrive here
    context: Context  # states of each variable that splits above narrowed
    counts: Counts  # (child card,)
    share: float  # of all parent configurations
    distribution: int = -1  # of a leaf, which others may share; else -1
    variable: int = -1  # that a split asks for; -1 for a leaf
    groups: Groups = ()  # states of each branch
    branches: list[GraphNode] = field(default_factory=list)

    @property
    def n_base(self) -> int:
        """Number of variables that are at a single state here."""
        return sum(len(states) == 1 for states in self.context.values())

    def preorder(self, *, but: GraphNode | None = None) -> Iterator[GraphNode]:
        """The node and all below it, without another node and all below that one."""
        open_nodes = [self]
        while open_nodes:
            node = open_nodes.pop()
            if node is not but:
                yield node
                open_nodes += reversed(node.branches)

    def branch(self, variable: int, groups: Groups, rows: RowTable, child: int) -> None:
        """Split the node, and drop whatever was below."""
        branch_of = group_of_states(groups, rows.cards[variable])
        places = branch_of[rows.table[self.rows, variable]]
        n_states = sum(len(group) for group in groups)
        self.variable, self.groups, self.distribution = variable, groups, -1
        self.branches = []
        for number, group in enumerate(groups):
            inside = self.rows[places == number]
            weights = rows.weights[inside] if rows.weights.size else None
            counts = np.bincount(rows.table[inside, child], weights, rows.cards[child])
            context = {**self.context, variable: group}
            share = self.share * len(group) / n_states
            self.branches.append(
                GraphNode(inside, context, counts.astype(np.float64), share)
            )


def graph_of(shape: TreeShape, rows: RowTable) -> GraphNode:
    """Root of a graph, with all rows sent down to its nodes."""
    root = GraphNode(rows.all_rows, {}, rows.state_weights(shape.child), 1.0)
    open_nodes: list[tuple[GraphNode, LeafShape | SplitShape]] = [(root, shape.root)]
    while open_nodes:
        node, own = open_nodes.pop()
        if isinstance(own, LeafShape):
            node.distribution = own.row
        else:
            node.branch(own.variable, own.groups, rows, shape.child)
            open_nodes += zip(node.branches, own.branches, strict=True)
    return root


def shape_of(node: GraphNode, numbers: Mapping[int, int]) -> LeafShape | SplitShape:
    """Shape of a node and all below it, its distributions renumbered by `numbers`."""
    if not node.branches:
        return LeafShape(numbers[node.distribution])
    branches = tuple(shape_of(branch, numbers) for branch in node.branches)
    return SplitShape(node.variable, node.groups, branches)


@dataclass(frozen=True)
class LeafMerge:
    """Merge of two distributions."""

    kept: int  # row before any merge, below `absorbed`
    absorbed: int  # row before any merge
    gain: float  # how much the score grew


def merge_leaves(
    counts: Counts,
    shares: Counts,
    n_leaves: int,
    terms: TreeTerms,
    surcharge: float = 0.0,
) -> tuple[NDArray[np.intp], list[LeafMerge]]:
    """Merge the two distributions that gain most, again and again, while any gain.

    A merge saves the parameters of one distribution and costs naming, among all leaves
    of the tree, the one that is shared; it may lose up to `surcharge`. Takes `counts`
    (n_rows, child card) and the `shares` (n_rows,) of all parent configurations;
    returns each row's new number, by first occurrence, and the merges, of equal gains
    in the order of rows.
    """
    counts, shares = counts.copy(), shares.copy()
    n_rows = len(counts)
    own = terms.leaves(counts, shares)
    # Of each merge, in the gains by which they are chosen.
    cost = terms.score.merge_score(n_leaves) + surcharge
    gains = np.full((n_rows, n_rows), -np.inf)
    alive = np.ones(n_rows, dtype=np.bool_)
    owner = np.arange(n_rows)

    def compare(row: int, others: NDArray[np.intp]) -> Counts:
        """Gain of merging a distribution with each of some others."""
        together = terms.leaves(
            counts[row] + counts[others], shares[row] + shares[others]
        )
        gained: Counts = together - own[row] - own[others] + cost
        return gained

    for row in range(n_rows - 1):
        gains[row, row + 1 :] = compare(row, np.arange(row + 1, n_rows))
    merges: list[LeafMerge] = []
    while n_rows > 1 and gains.max() > terms.least_gain:
        first = int(np.argmax(gains >= gains.max() - terms.least_gain))
        kept, absorbed = divmod(first, n_rows)
        gain = float(gains[kept, absorbed]) - surcharge
        merges.append(LeafMerge(kept, absorbed, gain))
        owner[owner == absorbed] = kept
        alive[absorbed] = False
        gains[absorbed], gains[:, absorbed] = -np.inf, -np.inf
        counts[kept] += counts[absorbed]
        shares[kept] += shares[absorbed]
        own[kept] = terms.leaves(counts[[kept]], shares[[kept]])[0]
        others = np.flatnonzero(alive)
        below, above = others[others < kept], others[others > kept]
        gains[below, kept] = compare(kept, below)
        gains[kept, above] = compare(kept, above)
    return np.unique(owner, return_inverse=True)[1], merges


def with_merged_leaves(
    result: SearchResult, codes: Codes, terms: TreeTerms
) -> SearchResult:
    """Merge leaves of every tree of a network, whose graph stays as it is.

    The trace ends with the merges, whose detail is the two distributions.
    """
    score, trace = result.score, list(result.trace)
    shapes: list[TreeShape] = []
    for shape in result.cpd_structures:
        shares = configuration_shares(shape, codes.cards)
        counts = row_counts(codes, shape)
        rows, merges = merge_leaves(counts, shares, shape.n_leaves, terms)
        for merge in merges:
            score += merge.gain
            rows_merged = merge.kept, merge.absorbed
            trace.append(
                Move("merge_leaves", shape.child, None, rows_merged, merge.gain, score)
            )
        shapes.append(shape.with_rows(rows.tolist()))
    return replace(
        result, cpd_structures=tuple(shapes), score=score, trace=tuple(trace)
    )


def configuration_shares(shape: TreeShape, cards: tuple[int, ...]) -> Counts:
    """Share of all parent configurations that leads to each distribution, (n_rows,)."""
    shares = np.zeros(shape.n_rows)
    for row, context in shape.leaves(()):
        share = 1.0
        for variable, states in context.items():
            share *= len(states) / cards[variable]
        shares[row] += share
    return shares
