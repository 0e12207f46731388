"""Search by BIC for latent variables that have distributions, not rules."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import one_thread_of_linear_algebra, run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.log_sums import log_of
from bayleaf.latent.expectation_maximisation import EMOptions, best_climb, climb
from bayleaf.latent.network_parameters import shares
from bayleaf.progress import Work
from bayleaf.search.climb import Climb, Deadline
from bayleaf.search.structure import LEAST_GAIN
from bayleaf.wording import brief_fields, counted

Table = NDArray[np.float64]

# Trees are compared after fewer steps than end the learning of tables; the best of
# their starts goes on after a few.
_COMPARED, _TRIAL_STEPS = EMOptions(n_restarts=3, max_iter=100, tol=1e-4), 5
_LEARNED = EMOptions(n_restarts=1)
# Where the class is the parent of a node.
_CLASS = -1


class LatentNode(NamedTuple):
    """A latent variable over nodes in the order of their first features.

    So equal trees are equal tuples.
    """

    n_states: int
    children: Trees


# A feature, by its index, or a latent variable and what is below it.
Tree = int | LatentNode
Trees = tuple[Tree, ...]


@dataclass(frozen=True)
class TreeMove:
    """One step of a search for free latent variables.

    Parameters
    ----------
    before, after : tuple of str
        Children of the class that were replaced, and what they were replaced by, such
        as "3(a, b)" for a latent variable with three states over the features a and b.
    gain : float
        How much the score grew, nats.
    score : float
        BIC of the whole model after the move, nats; larger is better.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    gain: float
    score: float

    __repr__ = brief_fields


class FreeLatents(NamedTuple):
    """The nodes that a search found: features, then latents, each after its own."""

    parents: tuple[int, ...]  # of each node; the number of nodes for the class
    counts: tuple[Table, ...]  # expected rows (parent card, card) of its table's cells
    score: float  # BIC, nats
    trace: tuple[TreeMove, ...]


def search_free_latents(
    source: CountSource, domain: Domain, apart: Sequence[tuple[int, int]], seed: int
) -> FreeLatents:
    """Climb from naive Bayes to trees of latent variables by the largest gain of BIC.

    BIC is the log-likelihood of class and observed features, latent variables summed
    out, less half of ln N for each free parameter, N the weight of the rows. Moves
    introduce a latent variable over two siblings, with two states or about as many as
    their parent, delete one, move a node below a sibling or up by one level, and add or
    take a state. As the class is known, a move matters to one or two of its children
    only, so that expectation maximisation fits these alone. No latent variable is over
    both features of a pair in `apart`. The result depends neither on the order of rows
    nor on threads.

    Zhang (2004), "Hierarchical latent class models for cluster analysis", Journal of
    Machine Learning Research 5, 697-723; Zhang, Nielsen and Jensen (2004), "Latent
    variable discovery in classification models", Artificial Intelligence in Medicine
    30, 283-299.
    """
    work = Work()
    with one_thread_of_linear_algebra():
        moves = _TreeMoves(source, domain, apart, seed)
        climb = Climb(
            moves,
            Deadline(None),
            lambda n_moves, _: work.say(f"{counted(n_moves, 'move')} made"),
        )
        climb.ascend()
    return moves.result(tuple(climb.trace))


class _Fit(NamedTuple):
    """Tables (parent card, card) of the nodes of a tree below the class."""

    score: float  # the tree's share of BIC, nats
    tables: list[Table]
    counts: list[Table]  # expected rows in their cells


class _TreeMoves:
    """The children of the class, and the moves that change them."""

    def __init__(
        self,
        source: CountSource,
        domain: Domain,
        apart: Sequence[tuple[int, int]],
        seed: int,
    ) -> None:
        codes = source.rows()
        self._rows, _ = merged_rows(codes.rows(codes.weights > 0))
        self._domain, self._apart, self._seed = domain, apart, seed
        self._n_jobs = source.n_jobs
        self._fits: dict[Tree, _Fit] = {}
        self._bounds: dict[Tree, float] = {}
        # Half of ln N for each free parameter.
        self._penalty = 0.5 * math.log(float(self._rows.weights.sum()))
        self._of_classes = _largest_log_likelihood(self._below(()))
        self.structure: Trees = tuple(range(len(domain) - 1))
        self._next = self.structure

    @property
    def score(self) -> float:
        """BIC of the whole model, nats."""
        n_free = self._domain.cards[-1] - 1
        of_trees = self._fitted(self.structure)
        return self._of_classes - n_free * self._penalty + of_trees

    def best_move(self) -> TreeMove | None:
        """The move to the largest BIC, of equal ones the first; None if none gains.

        Trees whose bounds promise no gain are not fitted.
        """
        steps = [
            (old, new)
            for old, new in _steps(self.structure, self._domain.cards[-1])
            if all(map(self._is_legal, new))
            and sum(map(self._bound, new)) > self._fitted(old) + LEAST_GAIN
        ]
        self._fitted({tree: None for _, new in steps for tree in new})
        gains = [self._fitted(new) - self._fitted(old) for old, new in steps]
        best = max(range(len(steps)), key=gains.__getitem__, default=None)
        if best is None or gains[best] <= LEAST_GAIN:
            return None
        old, new = steps[best]
        for tree in new:
            self._fits[tree] = self._fit(tree, self._fits[tree].tables)
        self._next = _sorted((*_without(self.structure, *old), *new))
        gain = self._fitted(new) - self._fitted(old)
        texts = tuple(map(self._text, old)), tuple(map(self._text, new))
        return TreeMove(*texts, gain, self.score + gain)

    def apply(self, move: TreeMove) -> list[TreeMove]:
        """Make the move that was found last."""
        self.structure = self._next
        return [move]

    def result(self, trace: tuple[TreeMove, ...]) -> FreeLatents:
        """All nodes with their counts."""
        nodes, above = _nodes(self.structure), _parents(self.structure)
        indices: dict[Tree | None, int] = {node: i for i, node in enumerate(nodes)}
        indices[None] = len(nodes)
        counts = {
            node: table
            for tree in self.structure
            for node, table in zip(_nodes((tree,)), self._fits[tree].counts)
        }
        return FreeLatents(
            tuple(indices[above[node]] for node in nodes),
            tuple(counts[node] for node in nodes),
            self.score,
            trace,
        )

    def _is_legal(self, tree: Tree) -> bool:
        """Whether no latent variable is over constant features or a pair kept apart."""
        below = set(_features((tree,)))
        return isinstance(tree, int) or (
            all(self._domain.cards[feature] > 1 for feature in below)
            and not any(below.issuperset(pair) for pair in self._apart)
        )

    def _card(self, node: Tree | None) -> int:
        """Number of states of a node; None is the class."""
        if isinstance(node, LatentNode):
            return node.n_states
        return self._domain.cards[-1 if node is None else node]

    def _shapes(self, tree: Tree) -> list[tuple[int, int]]:
        """Shapes of the tables of a tree."""
        above = _parents((tree,))
        return [(self._card(above[n]), self._card(n)) for n in _nodes((tree,))]

    def _fitted(self, trees: Collection[Tree]) -> float:
        """Fit trees that are not fitted yet; the sum of all scores."""
        new = [tree for tree in trees if tree not in self._fits]
        if new:
            fits = run_tasks([partial(self._fit, t) for t in new], self._n_jobs)
            self._fits.update(zip(new, fits, strict=True))
        return math.fsum(self._fits[tree].score for tree in trees)

    def _fit(self, tree: Tree, start: list[Table] | None = None) -> _Fit:
        """Learn the tables of a tree, by few steps unless a start is given."""
        rows, shapes = _TreeRows(tree, self._below((tree,))), self._shapes(tree)
        rng = np.random.default_rng(self._seed)

        def drawn() -> list[Table]:
            tables = [rng.standard_exponential(shape) for shape in shapes]
            return rows.fitted(tables, tables)

        if isinstance(tree, int):
            # Without a latent variable one step ends the learning.
            end = climb(rows, drawn(), EMOptions(n_restarts=1, max_iter=1))
        elif start is not None:
            end = climb(rows, start, _LEARNED)
        else:
            starts = [drawn] * _COMPARED.n_restarts
            end = best_climb(rows, starts, _COMPARED, n_trial_steps=_TRIAL_STEPS)
        score = end.log_likelihood - self._penalty * _n_free(shapes)
        return _Fit(score, end.parameters, end.expected)

    def _bound(self, tree: Tree) -> float:
        """No less than the score of a tree, whatever its tables.

        None make complete rows more probable than their shares of each class do.
        """
        if tree in self._fits:
            return self._fits[tree].score
        if tree not in self._bounds:
            rows, bound = self._below((tree,)), 0.0
            if not any(rows.missing(v).any() for v in range(rows.n_variables)):
                bound = _largest_log_likelihood(rows) - self._of_classes
            bound -= self._penalty * _n_free(self._shapes(tree))
            self._bounds[tree] = bound
        return self._bounds[tree]

    def _below(self, trees: Trees) -> Codes:
        """Distinct rows of the features of trees, increasing, and the class."""
        members = [*_features(trees), self._rows.n_variables - 1]
        rows = Codes.from_columns(
            [self._rows.column(v) for v in members],
            [self._rows.cards[v] for v in members],
            self._rows.weights,
        )
        return merged_rows(rows)[0]

    def _text(self, tree: Tree) -> str:
        if isinstance(tree, int):
            return str(self._domain[tree].name)
        return f"{tree.n_states}({', '.join(map(self._text, tree.children))})"


class _TreeRows:
    """Distinct rows of a tree's features and the class, for the EM steps.

    Missing cells enter neither the likelihood nor counts.
    """

    def __init__(self, tree: Tree, rows: Codes) -> None:
        nodes, above = _nodes((tree,)), _parents((tree,))
        indices: dict[Tree | None, int] = {node: i for i, node in enumerate(nodes)}
        indices[None] = _CLASS
        self._parents = [indices[above[node]] for node in nodes]
        # A column for each state, and one for missing cells.
        *self._states, classes = (
            np.eye(rows.cards[v] + 1)[rows.column(v)] for v in range(rows.n_variables)
        )
        self._classes = classes[:, :-1]
        self._weights = rows.weights
        self.total_weight = float(rows.weights.sum())

    def expect(self, tables: list[Table]) -> tuple[list[Table], float]:
        n_rows, n_features = len(self._weights), len(self._states)
        log_scales = np.zeros(n_rows)
        # Likelihoods (n_rows, card) of the states of each node, and of its parent.
        sizes = [len(table.T) for table in tables[n_features:]]
        inside = [*self._states, *(np.ones((n_rows, size)) for size in sizes)]
        sent = []
        for node, (parent, table) in enumerate(zip(self._parents, tables, strict=True)):
            if node < n_features:
                table = np.column_stack([table, np.ones(len(table))])
            else:
                # Products over many features would underflow.
                highest = inside[node].max(axis=1, keepdims=True)
                highest[highest == 0.0] = 1.0
                inside[node] /= highest
                log_scales += np.log(highest[:, 0])
            sent.append(inside[node] @ table.T)
            if parent != _CLASS:
                inside[parent] *= sent[node]
        likelihoods = (sent[-1] * self._classes).sum(axis=1)
        log_rows = log_of(likelihoods) + log_scales
        counts = [np.zeros(0)] * len(tables)
        posteriors = {_CLASS: self._classes * self._weights[:, None]}
        for node in reversed(range(len(tables))):
            # Weight of each row by the state of the parent, without this node's part.
            rest = np.zeros_like(sent[node])
            above = posteriors[self._parents[node]]
            np.divide(above, sent[node], out=rest, where=sent[node] > 0)
            below = inside[node][:, : len(tables[node].T)]
            counts[node] = tables[node] * (rest.T @ below)
            posteriors[node] = rest @ tables[node] * below
        return counts, float(self._weights @ log_rows)

    def totals(self, expected: list[Table]) -> list[Table]:
        return expected

    def fitted(self, tables: list[Table], totals: Sequence[Table]) -> list[Table]:
        return list(map(shares, totals, tables))

    def log_prior(self, _: list[Table]) -> float:
        return 0.0

    def probabilities(self, tables: list[Table]) -> list[Table]:
        return tables


def _largest_log_likelihood(rows: Codes) -> float:
    """Log-likelihood of distinct rows under their own shares (nats)."""
    return float(rows.weights @ np.log(rows.weights / rows.weights.sum()))


def _n_free(shapes: Sequence[tuple[int, int]]) -> int:
    """Free parameters of tables."""
    return sum(parents * max(card - 1, 0) for parents, card in shapes)


def _features(trees: Trees) -> list[int]:
    """The features of some trees, in increasing order."""
    return [node for node in _nodes(trees) if isinstance(node, int)]


def _nodes(trees: Trees) -> list[Tree]:
    """Features in increasing order, then latent variables, inner ones first."""
    features, latents = [], []
    for tree in trees:
        if isinstance(tree, int):
            features.append(tree)
            continue
        below = _nodes(tree.children)
        features += [node for node in below if isinstance(node, int)]
        latents += [node for node in below if not isinstance(node, int)]
        latents.append(tree)
    return [*sorted(features), *latents]


def _parents(trees: Trees, parent: Tree | None = None) -> dict[Tree, Tree | None]:
    """The node above each node; None is the class."""
    parents: dict[Tree, Tree | None] = dict.fromkeys(trees, parent)
    for tree in trees:
        if not isinstance(tree, int):
            parents |= _parents(tree.children, tree)
    return parents


def _steps(trees: Trees, parent_card: int) -> Iterator[tuple[Trees, Trees]]:
    """Siblings that a move replaces, and what takes their place."""
    for tree in trees:
        for new in () if isinstance(tree, int) else _changes(tree):
            yield (tree,), new
    for pair in combinations(trees, 2):
        # Fewer states than the parent has may not suffice to predict it.
        for n_states in sorted({2, parent_card, parent_card + 1}):
            yield pair, (_latent(n_states, pair),)
        for over, below in (pair, pair[::-1]):
            if not isinstance(over, int):
                yield pair, (_latent(over.n_states, (*over.children, below)),)


def _changes(latent: LatentNode) -> Iterator[Trees]:
    """What may take the place of a latent variable after one move."""
    n_states, children = latent
    yield children
    for changed in range(max(n_states - 1, 2), n_states + 2):
        yield (_latent(changed, children),)
    for child in children:
        yield _latent(n_states, _without(children, child)), child
    for old, new in _steps(children, n_states):
        yield (_latent(n_states, (*_without(children, *old), *new)),)


def _latent(n_states: int, children: Trees) -> Tree:
    """A latent variable over some nodes; a single node is left as it is."""
    return (
        children[0] if len(children) == 1 else LatentNode(n_states, _sorted(children))
    )


def _without(trees: Trees, *others: Tree) -> Trees:
    return tuple(tree for tree in trees if tree not in others)


def _sorted(trees: Trees) -> Trees:
    return tuple(sorted(trees, key=lambda tree: _features((tree,))[0]))
