"""Search for a network of trees by splitting leaves and collapsing splits.

Where neither gains, the searches of the paper stop; "regrowing" grows whole trees again
then, see `trees.tree_network`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.local_structure import rows_by_leaf
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore
from bayleaf.search.climb import (
    Climb,
    ProgressCallback,
    Restarts,
    SearchState,
    warn_if_stopped,
)
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import HierarchySource
from bayleaf.search.structure import Mask, Move, MoveKind, SearchResult, sorted_parents
from bayleaf.search.trees.growing import CollapseMove, GrowingTree, SplitMove
from bayleaf.search.trees.leaf_counts import Counts, RowTable
from bayleaf.search.trees.shape import TreeShape
from bayleaf.search.trees.tree_network import (
    LocalOptimumEscape,
    Replacement,
    TreeNetwork,
    TreeTask,
)
from bayleaf.search.trees.tree_terms import TreeTerms
from bayleaf.wording import quoted

TreeSearch = Literal["regrowing", "incremental", "batch"]
TREE_SEARCHES: tuple[TreeSearch, ...] = get_args(TreeSearch)

Parents = frozenset[int]

# Counts of leaves that all restarts together keep: half a gigabyte.
MAX_KEPT_CELLS = 1 << 26
# Failures in a row, a variable, after which a stochastic search looks at all moves.
_PATIENCE = 4
# Most parents that a variable has at the start of a restart drawn by chance.
_MOST_AT_START = 2


def climb_trees(
    counts: CountSource,  # no cell may be missing
    domain: Domain,
    score: LocalScore,
    hierarchies: Sequence[ValueHierarchy],  # flat ones give ordinary trees
    *,
    refine: bool = True,  # branch over nodes of hierarchies, else over all states
    constraints: Constraints | None = None,
    arc_prior: ArcPrior | None = None,
    n_restarts: int = 1,
    skipped_restarts: int = 0,  # those after number 0
    seed: int = 0,  # restart k draws from (seed, k)
    n_jobs: int = 1,  # the result does not depend on it
    progress: ProgressCallback | None = None,  # called by one thread at a time
    hierarchy_source: HierarchySource | None = None,  # kept until the last split goes
    tree_search: TreeSearch = "regrowing",
    merge_leaves: bool = False,  # of the trees found, while it gains
    max_kept_cells: int = MAX_KEPT_CELLS,  # counts kept at a time
) -> SearchResult:
    """Learn a network whose distributions are trees over the parents' states.

    "incremental" splits single leaves, as desJardins, Rathod and Getoor (2008), figure
    5 and section 6, with collapses tried after each proposal, and a stop at a local
    optimum of all moves. "regrowing" goes on from there: regrown trees and turned arcs
    lead out of local optima. "batch" changes edges and grows and prunes a tree for each
    set of parents, their section 4.1, after Friedman and Goldszmidt (1996). Restart 0
    always makes the best of all moves, others propose moves by chance.

    ValueError if the constraints contradict each other or the domain, a hierarchy does
    not fit its variable, a cell is missing, all weights are zero, or `n_restarts` is
    below one; RuntimeWarning if the time limit stops the search.
    """
    if tree_search not in TREE_SEARCHES:
        raise ValueError(
            f"tree_search must be one of {', '.join(map(repr, TREE_SEARCHES))}, got "
            f"{quoted(tree_search)}"
        )
    constraints = constraints or Constraints()
    constraints.check(domain)
    restarts = Restarts(
        n_restarts, skipped_restarts, seed, progress, constraints.time_limit
    )
    for parent, child in sorted(constraints.required_edges):
        if domain[parent].n_states < 2:
            raise ValueError(
                f"variable {quoted(domain[parent].name)} has a single state, so that "
                f"no tree of {quoted(domain[child].name)} can split on it; take the "
                "edge out of required_edges"
            )
    flat = tuple(flat_hierarchy(variable.states) for variable in domain)
    rows = RowTable.from_codes(counts.rows(), [own.name for own in domain])
    terms = TreeTerms(score, len(domain), rows.total_weight, arc_prior)
    task = TreeTask(
        rows,
        domain,
        terms,
        tuple(hierarchies) if refine else flat,
        hierarchy_source if refine else None,
        constraints,
        restarts.deadline,
        max_kept_cells // max(1, min(n_jobs, n_restarts)),
    )

    def restart(number: int, _: SearchState | None) -> SearchState:
        rng = restarts.generator(number)
        if tree_search == "batch":
            edges = restarts.climb(EdgeMoves(task, rng if number else None), number)
            edges.ascend()
            return edges.state
        network = TreeNetwork(task)
        if tree_search == "regrowing":
            network.escape = LocalOptimumEscape(network, from_parents=number > 0)
        climb = restarts.climb(network, number)
        for move in network.required_splits():
            climb.make(move, in_any_case=True)
        if number > 0:
            climb.ascend(before_each=partial(propose, climb, rng))
        else:
            climb.ascend()
        return climb.state

    best = restarts.best(restart, n_jobs)
    result = best.result(best.structure)
    warn_if_stopped(result, constraints)
    return with_merged_leaves(result, counts.rows(), terms) if merge_leaves else result


def propose(climb: Climb[TreeNetwork], rng: np.random.Generator) -> None:
    """Propose moves by chance until too many in a row fail, or time is up."""
    n_variables = len(climb.moves.trees)
    n_failures = 0
    while n_failures < _PATIENCE * n_variables and not climb.stopped:
        child = int(rng.integers(n_variables))
        n_failures += 1
        for draw in (drawn_split, drawn_collapse):
            move = draw(climb.moves, child, rng)
            if move is not None and climb.make(move):
                n_failures = 0


def drawn_split(
    network: TreeNetwork, child: int, rng: np.random.Generator
) -> SplitMove | None:
    """The best split of a leaf drawn by its number of candidates, if it gains."""
    tree, allowed = network.trees[child], network.allowed(child)
    ends = np.cumsum(tree.n_candidates(allowed))
    if ends[-1] == 0:
        return None
    place = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))
    move = tree.leaf_split(tree.leaves[place], allowed)
    return move if move is not None and move.gain > network.least_gain else None


def drawn_collapse(
    network: TreeNetwork, child: int, rng: np.random.Generator
) -> CollapseMove | None:
    """The collapse of a split drawn by chance, if it gains."""
    moves = network.trees[child].collapses_keeping(network.required[child])
    if not moves:
        return None
    move = moves[int(rng.integers(len(moves)))]
    return move if move.gain > network.least_gain else None


@dataclass(frozen=True)
class _GrownTree:
    """A tree that was grown and pruned; its parents are those that it still uses."""

    score: float
    shape: TreeShape

    @property
    def parents(self) -> Parents:
        """Variables that splits ask for."""
        return frozenset(self.shape.parents)


class EdgeMoves:
    """Moves of edges between trees that are grown and pruned as a whole.

    A restart starts with the required edges, and some drawn by `rng` if there is one.
    """

    def __init__(self, task: TreeTask, rng: np.random.Generator | None) -> None:
        self._task = task
        self._grown: dict[tuple[int, Parents], _GrownTree] = {}
        required = task.constraints.required_parents(len(task.domain))
        self._required = list(map(frozenset, required))
        start = self._required if rng is None else self._start_parents(rng)
        self._trees = [self._grow(child, own) for child, own in enumerate(start)]

    @property
    def score(self) -> float:
        """Score of all trees."""
        return sum(tree.score for tree in self._trees)

    @property
    def structure(self) -> tuple[TreeShape, ...]:
        """The trees as they stand."""
        return tuple(tree.shape for tree in self._trees)

    def _start_parents(self, rng: np.random.Generator) -> list[Parents]:
        """Required parents, and some drawn by chance."""
        parents = list(self._required)
        order = rng.permutation(len(parents)).tolist()
        for place, child in enumerate(order):
            number = min(place, int(rng.integers(_MOST_AT_START + 1)))
            for parent in rng.permutation(order[:place])[:number].tolist():
                wider = [*parents]
                wider[child] |= {parent}
                if self._fits(child, wider[child]) and _is_acyclic(wider):
                    parents = wider
        return parents

    def _fits(self, child: int, parents: Parents) -> bool:
        """Whether constraints let a variable have these parents."""
        constraints = self._task.constraints
        limit = constraints.max_parents
        forbidden = {p for p in parents if (p, child) in constraints.forbidden_edges}
        return not forbidden and (limit is None or len(parents) <= limit)

    def _grow(self, child: int, parents: Parents) -> _GrownTree:
        """Grow and prune the tree of a variable over some parents."""
        key = child, parents
        if key not in self._grown:
            tree = self._task.tree(child, self._task.counts())
            required = self._required[child]
            grow_fully(tree, parents)
            tree.enter_missing(required)
            prune(tree, required)
            self._grown[key] = _GrownTree(tree.score, tree.shape())
        return self._grown[key]

    def best_move(self) -> Replacement | None:
        """The best move; of those equal but for rounding, the first."""
        least = self._task.terms.least_gain
        best: Replacement | None = None
        for move in self._moves():
            if move.gain > least + (best.gain if best is not None else 0.0):
                best = move
        return best

    def _moves(self) -> Iterator[Replacement]:
        """All moves that keep the constraints, by child and parent."""
        n_variables = len(self._trees)
        for child in range(n_variables):
            for parent in range(n_variables):
                if parent == child:
                    continue
                if parent not in self._trees[child].parents:
                    yield from self._move("add_edge", child, parent)
                elif parent not in self._required[child]:
                    yield from self._move("delete_edge", child, parent)
                    yield from self._move("reverse_edge", child, parent)

    def _move(self, kind: MoveKind, child: int, parent: int) -> Iterator[Replacement]:
        """A move, if it keeps the constraints."""
        own = self._trees[child].parents
        wanted = {child: own | {parent} if kind == "add_edge" else own - {parent}}
        if kind == "reverse_edge":
            wanted[parent] = self._trees[parent].parents | {child}
        after = [tree.parents for tree in self._trees]
        for node, parents in wanted.items():
            after[node] = parents
        if not all(self._fits(node, parents) for node, parents in wanted.items()):
            return
        if kind != "delete_edge" and not _is_acyclic(after):
            return
        trees = tuple(self._grow(node, parents) for node, parents in wanted.items())
        gain = sum(tree.score - self._trees[tree.shape.child].score for tree in trees)
        yield Replacement(kind, child, parent, trees, gain)

    def apply(self, move: Replacement) -> list[Move]:
        """Take over the trees of a move."""
        for tree in move.trees:
            self._trees[tree.shape.child] = tree
        return [Move(move.kind, move.child, move.parent, None, move.gain, self.score)]


def _is_acyclic(parents: list[Parents]) -> bool:
    """Whether sets of parents make a graph without cycles."""
    try:
        sorted_parents(parents)
    except ValueError:
        return False
    return True


def grow_fully(tree: GrowingTree, parents: frozenset[int]) -> None:
    """Split each leaf of an empty tree on its best variable, even at a loss.

    A leaf stays one when no variable is left, or when even leaves without any surprise
    below it would score less than it does.
    """
    allowed: Mask = np.zeros(tree.n_variables, dtype=np.bool_)
    allowed[list(parents)] = True
    open_leaves = [tree.root]
    while open_leaves:
        leaf = open_leaves.pop()
        if not tree.can_gain(leaf):
            continue
        move = tree.leaf_split(leaf, allowed)
        if move is not None:
            tree.split(leaf, move.variable)
            open_leaves += leaf.branches


def prune(tree: GrowingTree, required: frozenset[int]) -> None:
    """Collapse splits, from the leaves up, that do not raise the score.

    Variables in `required` keep a split.
    """
    tree.prune_upwards(required)
    while True:
        best: CollapseMove | None = None
        for move in tree.collapses():
            is_better = move.gain > tree.least_gain + (best.gain if best else 0.0)
            if is_better and not required.intersection(move.vanishing):
                best = move
        if best is None:
            return
        tree.collapse(best.split)


def with_merged_leaves(
    result: SearchResult, codes: Codes, terms: TreeTerms
) -> SearchResult:
    """Merge leaves of every tree of a network, whose graph stays as it is.

    The trace ends with the merges, whose detail is the two distributions.
    """
    score, trace = result.score, list(result.trace)
    shapes: list[TreeShape] = []
    for shape in result.cpd_structures:
        counts, shares = leaf_counts(shape, codes)
        rows, merges = merge_leaves(counts, shares, shape.n_leaves, terms)
        for kept, absorbed, gain in merges:
            score += gain
            detail = kept, absorbed
            trace.append(Move("merge_leaves", shape.child, None, detail, gain, score))
        shapes.append(shape.with_rows(rows.tolist()))
    return replace(
        result, cpd_structures=tuple(shapes), score=score, trace=tuple(trace)
    )


def leaf_counts(shape: TreeShape, codes: Codes) -> tuple[Counts, Counts]:
    """Count the child at each distribution; share of the parent configurations of each.

    Shapes (n_rows, child card) and (n_rows,); leaves may share a distribution.
    """
    card = codes.cards[shape.child]
    counts, shares = np.zeros((shape.n_rows, card)), np.zeros(shape.n_rows)
    column = codes.column(shape.child)
    for leaf, rows in rows_by_leaf(shape.root, codes):
        states = np.bincount(column[rows], codes.weights[rows], card + 1)
        counts[leaf.row] += states[:card]
    for row, context in shape.leaves(()):
        shares[row] += prod(len(own) / codes.cards[v] for v, own in context.items())
    return counts, shares


def merge_leaves(
    counts: Counts, shares: Counts, n_leaves: int, terms: TreeTerms
) -> tuple[NDArray[np.intp], list[tuple[int, int, float]]]:
    """Merge the two distributions that gain most, again and again, while any gain.

    A merge saves the parameters of one distribution and costs naming, among all leaves
    of the tree, the one that is shared. Takes `counts` (n_rows, child card) and the
    `shares` (n_rows,) of all parent configurations; returns each row's new number, by
    first occurrence, and the merges, of equal gains in the order of rows: the row kept,
    the larger one absorbed, and the gain.
    """
    counts, shares = counts.copy(), shares.copy()
    n_rows = len(counts)
    scores = terms.leaves(counts, shares)
    cost = terms.score.merge_score(n_leaves)
    gains = np.full((n_rows, n_rows), -np.inf)
    owner = np.arange(n_rows)

    def compare(row: int, others: NDArray[np.intp]) -> Counts:
        """Gain of merging a distribution with each of some others."""
        together = terms.leaves(
            counts[row] + counts[others], shares[row] + shares[others]
        )
        gained: Counts = together - scores[row] - scores[others] + cost
        return gained

    for row in range(n_rows - 1):
        gains[row, row + 1 :] = compare(row, np.arange(row + 1, n_rows))
    merges: list[tuple[int, int, float]] = []
    while n_rows > 1 and gains.max() > terms.least_gain:
        first = int(np.argmax(gains >= gains.max() - terms.least_gain))
        kept, absorbed = divmod(first, n_rows)
        merges.append((kept, absorbed, float(gains[kept, absorbed])))
        owner[owner == absorbed] = kept
        gains[absorbed], gains[:, absorbed] = -np.inf, -np.inf
        counts[kept] += counts[absorbed]
        shares[kept] += shares[absorbed]
        scores[kept] = terms.leaves(counts[[kept]], shares[[kept]])[0]
        others = np.unique(owner)
        below, above = others[others < kept], others[others > kept]
        gains[below, kept] = compare(kept, below)
        gains[kept, above] = compare(kept, above)
    return np.unique(owner, return_inverse=True)[1], merges
