"""Search for latent variables between the class and its children."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import run_tasks, worthwhile
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import Dirichlet, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.native.latents import collapse, deal
from bayleaf.progress import Work
from bayleaf.search.climb import Climb, Deadline
from bayleaf.search.latents.moves import JoinCandidate, LatentSearchResult, SearchStep
from bayleaf.search.latents.pair_tests import (
    PairScore,
    pair_tests,
    rank_features,
    without,
)
from bayleaf.search.latents.wrapper_scores import (
    Gains,
    HeldOut,
    NodeRows,
    ScoreName,
    WrapperScore,
)
from bayleaf.wording import counted

SearchName = Literal[
    "algorithm3", "top_pairs", "hill_climbing", "significance", "given"
]
# Class children added, or left out, after the search or before it.
SelectionName = Literal["forward", "backward", "forward_before", "backward_before"]
# The features below each of the two class children that a given latent joins.
GivenLatent = tuple[frozenset[int], frozenset[int]]

Counts = NDArray[np.float64]
# A latent variable that may be made, and its states as groups of joint states.
Proposal = tuple[JoinCandidate, NDArray[np.intp]]
# A proposal and the score of the model that takes it.
Trial = tuple[Proposal, WrapperScore | None]

# Gains, by fold, cell and class, that one proposal and all may keep for later rounds.
_KEPT_GAINS, _KEPT_IN_ALL = 4096, 16_000_000
# Rows, about a millisecond's work, for which a thread is started.
_LEAST_SCORED = 200_000
# Pairs that a warning names.
_NAMED_PAIRS = 3
# Gains that differ by less are equal, and a merge must gain more.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class LatentSearchOptions:
    """Options of the search for latent variables."""

    search: SearchName = "top_pairs"
    pair_score: PairScore = "expected_kl"  # see `pair_tests`
    wrapper_score: ScoreName = "accuracy"  # of held-out rows
    n_candidates: int = 10  # per round of "top_pairs"; subsets of "algorithm3"
    score_folds: int = 5
    significance_level: float = 0.05  # "significance" stops where p is not below
    max_cells: int = 5000  # pairs with more joint states are not joined
    deduplicate_rows: bool = True  # equal rows share folds; the paper deals single rows
    smoothing: Smoothing = field(default_factory=Dirichlet)  # of P(node | class)
    prior: Smoothing | None = None  # of P(class); None: as `smoothing`
    feature_selection: SelectionName | None = None  # of class children
    given: tuple[GivenLatent, ...] = ()  # made first; "given" makes no others
    apart: tuple[tuple[int, int], ...] = ()  # features that no latent is over


def search_latents(
    counts: CountSource,
    options: LatentSearchOptions,
    rng: np.random.Generator,
    names: Sequence[str],
) -> LatentSearchResult:
    """Join class children by latent variables.

    `rng` draws the folds, then the subsets of "algorithm3". UserWarning if a pair has
    more than `max_cells` joint states; ValueError if there are fewer rows than folds.
    Langseth and Nielsen (2006), Machine Learning 63, 135-159, algorithms 1 and 3 and
    section 4.2.3.
    """
    search = LatentMoves(counts, options, rng, names)
    work = Work()
    Climb(
        search,
        Deadline(None),
        lambda n_moves, _: work.say(f"{counted(n_moves, 'latent variable')} found"),
    ).ascend()
    if options.feature_selection in ("forward", "backward"):
        search.select()
    used = None
    if options.feature_selection is not None:
        children = search.structure.class_children
        used = tuple(node for node in children if node not in search.left_out)
    return LatentSearchResult(
        search.structure, used, tuple(search.steps), search.baseline
    )


class LatentMoves:
    """Latent variables that may be made next, and the statistics of the rows."""

    def __init__(
        self,
        counts: CountSource,
        options: LatentSearchOptions,
        rng: np.random.Generator,
        names: Sequence[str],
    ) -> None:
        self._options = options
        self._uses_wrapper = options.search not in ("significance", "given")
        self._given = list(options.given)
        self._uses_folds = self._uses_wrapper or options.feature_selection is not None
        self._threads = counts.n_jobs
        codes = counts.rows()
        if not codes.unit_weights and not codes.weights.all():
            codes = codes.rows(codes.weights > 0)
        # Where no rows are dealt, copies of a row are counted alike anyway.
        if options.deduplicate_rows and self._uses_folds:
            codes, _ = merged_rows(codes)
        self._rows = NodeRows(codes)
        self.structure = LatentTree(codes.cards[:-1])
        self.left_out: set[int] = set()  # class children that are not selected
        self.steps: list[SearchStep] = []
        self.baseline: WrapperScore | None = None
        self._kept: dict[tuple[int, int, bytes], Gains] = {}
        self._n_kept = 0
        if self._uses_folds:
            self._folds = self._deal_folds(codes, rng)
        if self._uses_wrapper:
            self._held_out = self.new_held_out()
            for node in self.structure.class_children:
                self._held_out.accept(self._held_out.adding(node))
            self.baseline = self._held_out.score()
        self.score = self.baseline
        if not self._given and self._selects_before:
            self.select()
            self.baseline = self.score
        n_parts = options.n_candidates if options.search == "algorithm3" else 1
        alike = np.zeros(codes.n_rows, dtype=np.uint16)
        self._proposals = LatentProposals(
            codes,
            self._rows,
            self._deal(n_parts, alike, 1, rng) if n_parts > 1 else None,
            n_parts,
            options,
            names,
            self._threads,
            self.left_out,
        )

    def _deal_folds(self, codes: Codes, rng: np.random.Generator) -> NDArray[np.int32]:
        """Stratified folds of about equal weight."""
        n_folds = self._options.score_folds
        n_rows = max(codes.n_rows, math.floor(codes.weights.sum() + 1e-9))
        if n_rows < n_folds:
            raise ValueError(
                f"score_folds={n_folds} needs at least {n_folds} rows, got n_samples = "
                f"{n_rows}; use fewer folds or more rows"
            )
        return self._deal(n_folds, self._rows.classes, self._rows.n_classes, rng)

    def _deal(
        self,
        n_parts: int,
        strata: NDArray[np.uint16],
        n_strata: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int32]:
        """Deal the rows, in random order, to parts of equal weight in each stratum."""
        rows = self._rows
        order = rng.permutation(rows.n_rows).astype(np.int64)
        parts = np.empty(rows.n_rows, dtype=np.int32)
        deal(order, strata, rows.weights, n_strata, n_parts, parts)
        return parts

    @property
    def _selects_before(self) -> bool:
        return (self._options.feature_selection or "").endswith("_before")

    def select(self) -> None:
        """Leave class children out that do not help held-out rows."""
        held_out, children = self.new_held_out(), self.structure.class_children
        forward = str(self._options.feature_selection).startswith("forward")
        choose = forward_selection if forward else backward_selection
        self.left_out.update({*children} - {*choose(held_out, children)})
        if self._uses_wrapper:
            self._held_out, self.score = held_out, held_out.score()

    def new_held_out(self) -> HeldOut:
        """Held-out scores of the class prior alone."""
        options = self._options
        prior = options.smoothing if options.prior is None else options.prior
        return HeldOut(
            self._rows,
            self._folds,
            options.score_folds,
            options.smoothing,
            prior,
            options.wrapper_score,
        )

    def best_move(self) -> Trial | None:
        """The latent variable to make next, if one is worth it."""
        tried, chosen = self._try_round()
        if tried:
            candidates = tuple(
                replace(candidate, score=score, accepted=place == chosen)
                for place, ((candidate, _), score) in enumerate(tried)
            )
            self.steps.append(SearchStep(self.score, candidates))
        return None if chosen is None else tried[chosen]

    def apply(self, move: Trial) -> list[SearchStep]:
        """Make a latent variable."""
        proposal, self.score = move
        candidate, states = proposal
        left, right = candidate.left, candidate.right
        if self._uses_wrapper:
            self._held_out.accept(self._gains(proposal))
        self._rows.add_latent(left, right, states)
        self.structure = self.structure.join(left, right, states)
        self._proposals.add_latent(self.structure)
        is_last_given = len(self.structure.latents) == len(self._options.given)
        if is_last_given and self._selects_before:
            self.select()
        return self.steps[-1:]

    def _try_round(self) -> tuple[list[Trial], int | None]:
        """What one round tries, and which of it to take."""
        options, proposals = self._options, self._proposals
        if self._given:
            proposal = proposals.given(self.structure, *self._given.pop(0))
            gains = self._gains(proposal) if self._uses_wrapper else None
            score = None if gains is None else self._held_out.score(gains)
            return [(proposal, score)], 0
        if options.search == "given":
            return [], None
        if options.search == "algorithm3":
            return self._best_of(list(proposals.best_of_parts(self.structure)))
        ranked = proposals.ranked(self.structure)
        if options.search == "top_pairs":
            return self._best_of(list(islice(ranked, options.n_candidates)))
        if options.search == "hill_climbing":
            return self._first_better(ranked)
        # Of "significance": the most dependent pair, if it is called dependent.
        most = next(ranked, None)
        if most is None:
            return [], None
        is_dependent = most[0].negative_log_p > -math.log(options.significance_level)
        return [(most, None)], 0 if is_dependent else None

    def _first_better(
        self, proposals: Iterable[Proposal]
    ) -> tuple[list[Trial], int | None]:
        """Take the first proposal whose score is strictly better."""
        tried: list[Trial] = []
        for proposal in proposals:
            score = self._held_out.score(self._gains(proposal))
            tried.append((proposal, score))
            if self._rank(score) > self._rank(self.score):
                return tried, len(tried) - 1
        return tried, None

    def _best_of(self, proposals: list[Proposal]) -> tuple[list[Trial], int | None]:
        """Take the best proposal, the first of equal ones, if it is strictly better."""
        tasks = [
            partial(self._held_out.score, self._gains(proposal))
            for proposal in proposals
        ]
        work = self._rows.n_rows * len(tasks)
        scores = run_tasks(tasks, worthwhile(self._threads, work, _LEAST_SCORED))
        tried: list[Trial] = list(zip(proposals, scores))
        ranks = [self._rank(score) for score in scores]
        if not ranks or max(ranks) <= self._rank(self.score):
            return tried, None
        return tried, ranks.index(max(ranks))

    def _rank(self, score: WrapperScore | None) -> tuple[float, ...]:
        """What is compared of a score."""
        return score.rank(self._options.wrapper_score) if score is not None else ()

    def _gains(self, proposal: Proposal) -> Gains:
        """What rows gain by a proposal: the same in every round, so worth keeping."""
        candidate, states = proposal
        key = candidate.left, candidate.right, states.tobytes()
        gains = self._kept.get(key)
        if gains is None:
            gains = self._held_out.joining(candidate.left, candidate.right, states)
            size = gains.table.size
            if size <= _KEPT_GAINS and self._n_kept + size <= _KEPT_IN_ALL:
                self._n_kept += size
                self._kept[key] = gains
        return gains


def forward_selection(held_out: HeldOut, children: Sequence[int]) -> tuple[int, ...]:
    """Choose class children, in increasing order, by the wrapper score.

    Nodes are added best first, of equal ones the first, while the score gets strictly
    better; `held_out` keeps the scores of the choice. Langseth and Nielsen (2006),
    Machine Learning 63, 135-159, sections 6.2 and 7.
    """
    name = held_out.score_name
    left, chosen = list(children), []
    reached = held_out.score().rank(name)
    while left:
        ranks = [held_out.score(held_out.adding(node)).rank(name) for node in left]
        best = max(range(len(left)), key=ranks.__getitem__)
        if ranks[best] <= reached:
            break
        reached = ranks[best]
        held_out.accept(held_out.adding(left[best]))
        chosen.append(left.pop(best))
    return tuple(sorted(chosen))


def backward_selection(held_out: HeldOut, children: Sequence[int]) -> tuple[int, ...]:
    """Choose class children, in increasing order, by leaving others out.

    Starts from all; the node whose removal is best for the wrapper score, of equal ones
    the last, is removed while the score gets no worse. `held_out` has no class children
    yet, and keeps the scores of the choice.
    """
    name = held_out.score_name
    for node in children:
        held_out.accept(held_out.adding(node))
    chosen = sorted(children)
    reached = held_out.score().rank(name)
    while chosen:
        ranks = [held_out.score(held_out.removing(node)).rank(name) for node in chosen]
        worst = max(range(len(chosen)), key=lambda index: (ranks[index], index))
        if ranks[worst] < reached:
            break
        reached = ranks[worst]
        held_out.accept(held_out.removing(chosen.pop(worst)))
    return tuple(chosen)


class LatentProposals:
    """Tests and collapsed states of pairs, on all rows or on overlapping subsets.

    With `parts` (n_rows,), int32, each subset is all rows but those of its part. Latent
    variables are added to `rows`. Pairs with more than `max_cells` joint states are
    never proposed, nor nodes of `left_out`; warnings contain their `names`.
    """

    def __init__(
        self,
        codes: Codes,
        rows: NodeRows,
        parts: NDArray[np.int32] | None,
        n_parts: int,
        options: LatentSearchOptions,
        names: Sequence[str],
        n_jobs: int,
        left_out: Set[int],
    ) -> None:
        self._left_out = left_out
        self._rows, self._names = rows, list(names)
        self._n_parts, self._max_cells = n_parts, options.max_cells
        self._pair_score = options.pair_score
        self._matched = options.search == "significance"
        tables = [codes]
        if parts is None:
            parts = np.zeros(codes.n_rows, dtype=np.int32)
        else:
            tables = [codes.rows(parts == part) for part in range(n_parts)]
        self._runs = rows.runs(parts, n_parts)
        cards, n_nodes = codes.cards[:-1], 2 * codes.n_variables
        self._searches, self._rankings = options.search != "given", []
        if self._searches:
            self._rankings = rank_features(
                [RowCounts(table, n_jobs) for table in tables],
                cards,
                n_nodes,
                self._pair_score,
                matched=self._matched,
            )
        self._apart = options.apart
        self._allowed = np.zeros((n_nodes, n_nodes), dtype=bool)
        self._partitions: dict[tuple[int, int, int], Partition] = {}
        self._allow(LatentTree(cards), range(len(cards)) if self._searches else ())

    def ranked(self, tree: LatentTree, part: int = 0) -> Iterator[Proposal]:
        """Propose pairs of class children, the most dependent first."""
        ranking = self._rankings[part]
        for left, right in ranking.ranked(self._open(tree), self._allowed):
            partition = self._partition(part, left, right)
            groups = partition.states.size, partition.n_states, partition.deltas
            test = ranking.test(left, right)
            candidate = JoinCandidate(left, right, *test, *groups, None, False)
            yield candidate, partition.states

    def _open(self, tree: LatentTree) -> list[int]:
        """Class children that are not left out."""
        return [node for node in tree.class_children if node not in self._left_out]

    def given(
        self, tree: LatentTree, left: frozenset[int], right: frozenset[int]
    ) -> Proposal:
        """Collapse the joint states of the class children over some features.

        ValueError if they have more than `max_cells`.
        """
        node_over = {frozenset(tree.leaves(node)): node for node in tree.class_children}
        pair = sorted((node_over[left], node_over[right]))
        n_cells = tree.cards[pair[0]] * tree.cards[pair[1]]
        if n_cells > self._max_cells:
            names = " and ".join(self._name(tree, node) for node in pair)
            raise ValueError(
                f"the given latent variable over {names} has {n_cells} joint states, "
                f"more than max_cells={self._max_cells}; use fewer intervals or raise "
                "max_cells"
            )
        cells = self._rows.cell_counts(pair[0], pair[1], self._runs)
        parts = cells.reshape(self._n_parts, self._rows.n_classes, *cells.shape[1:])
        counts = parts.sum(axis=0)
        tests = pair_tests(
            np.ascontiguousarray(counts),
            [tree.cards[pair[0]]],
            [tree.cards[pair[1]]],
            self._pair_score,
            matched=self._matched,
        )
        partition = collapse_states(counts[:, :-1, :-1])
        groups = partition.states.size, partition.n_states, partition.deltas
        statistic, freedom, log_p = tests[:, 0, 0].tolist()
        test = statistic, freedom, log_p
        candidate = JoinCandidate(pair[0], pair[1], *test, *groups, None, False)
        return candidate, partition.states

    def best_of_parts(self, tree: LatentTree) -> Iterator[Proposal]:
        """Propose the best pair of each subset, identical latent variables once."""
        seen = set()
        for part in range(self._n_parts):
            best = next(self.ranked(tree, part), None)
            if best is None:
                return
            candidate, states = best
            key = candidate.left, candidate.right, states.tobytes()
            if key not in seen:
                seen.add(key)
                yield best

    def add_latent(self, tree: LatentTree) -> None:
        """Test the tree's last latent variable, which `rows` holds, with the others."""
        if not self._searches:
            return
        node = len(tree.cards) - 1
        self._allow(tree, [node])
        others = [v for v in self._open(tree) if self._allowed[v, node]]
        if not others:
            return
        counts = self._rows.pair_counts(node, others, self._runs)
        n_classes = self._rows.n_classes
        counts = counts.reshape(self._n_parts, n_classes, *counts.shape[1:])
        total = counts.sum(axis=0)
        for ranking, own in zip(self._rankings, counts):
            rest = own if self._n_parts == 1 else without(total, own)
            tests = pair_tests(
                np.ascontiguousarray(rest.transpose(0, 2, 1)),
                [tree.cards[other] for other in others],
                [tree.cards[node]],
                self._pair_score,
                matched=self._matched,
            )
            ranking.add(others, [node], tests)

    def _partition(self, part: int, left: int, right: int) -> Partition:
        """Collapsed states of a pair on one subset."""
        key = part, left, right
        if key not in self._partitions:
            cells = self._rows.cell_counts(left, right, self._runs)[:, :-1, :-1]
            n_parts = self._n_parts
            cells = cells.reshape(n_parts, self._rows.n_classes, *cells.shape[1:])
            own = cells[part]
            counts = own if n_parts == 1 else without(cells.sum(axis=0), own)
            self._partitions[key] = collapse_states(counts)
        return self._partitions[key]

    def _allow(self, tree: LatentTree, nodes: Sequence[int]) -> None:
        """Find out with which earlier class children some nodes may be joined."""
        large = []
        cards = np.array(tree.cards)
        children = self._open(tree)
        for node in [node for node in nodes if node in children]:
            others = np.array([child for child in children if child < node])
            if cards[node] == 1 or not len(others):
                continue
            others = others[cards[others] > 1]
            below = set(tree.leaves(node))
            closed = {
                a for pair in self._apart if below & {*pair} for a in pair
            } - below
            if closed:
                is_open = [closed.isdisjoint(tree.leaves(v)) for v in others.tolist()]
                others = others[np.array(is_open, dtype=bool)]
            fits = cards[others] * cards[node] <= self._max_cells
            self._allowed[others, node] = fits
            large += [(other, node) for other in others[~fits].tolist()]
        if large:
            self._warn(tree, large)

    def _warn(self, tree: LatentTree, pairs: Sequence[tuple[int, int]]) -> None:
        """Warn of pairs with too many joint states."""
        cards = tree.cards
        parts = [
            f"{self._name(tree, i)} and {self._name(tree, j)} ({cards[i] * cards[j]})"
            for i, j in pairs[:_NAMED_PAIRS]
        ]
        if len(pairs) > _NAMED_PAIRS:
            parts.append(f"{len(pairs) - _NAMED_PAIRS} more pairs")
        warnings.warn(
            f"pairs of more than max_cells={self._max_cells} joint states are not "
            f"joined: {', '.join(parts)}; use fewer intervals or raise max_cells",
            stacklevel=2,
        )

    def _name(self, tree: LatentTree, node: int) -> str:
        """Name of a feature, or of a latent variable by its features."""
        leaves = [repr(self._names[leaf]) for leaf in tree.leaves(node)]
        if tree.latent(node) is None:
            return leaves[0]
        return f"the latent variable over {' and '.join(leaves)}"


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of the joint states of two variables."""

    states: NDArray[np.intp]  # (left card, right card), groups by first cell
    deltas: tuple[float, ...]  # gain of each merge in turn, nats

    @property
    def n_states(self) -> int:
        """Number of groups."""
        return int(self.states.max()) + 1


def collapse_states(counts: Counts) -> Partition:
    """Merge joint states of two variables while the gain in description length lasts.

    Merging states i and j of a latent variable changes the model's score by
    ``(|C| / 2) ln N + h(n_i + n_j) - h(n_i) - h(n_j)``, where h(n) is the sum of
    ``n_c ln(n_c / n)`` over the class counts of a state. The pair that gains most is
    merged first; of gains within 1e-9 that of the first cells. Empty cells then join
    the group whose class distribution is nearest to the prediction of naive Bayes.

    `counts` is (n_classes, left card, right card); without any there is one group.
    Langseth and Nielsen (2006), Machine Learning 63, 135-159, algorithm 2; their
    equation 5 is printed upside down.

    >>> import numpy as np
    >>> equal = np.array([[[40.0, 0.0], [0.0, 40.0]], [[0.0, 40.0], [40.0, 0.0]]])
    >>> collapse_states(equal).states.tolist()
    [[0, 1], [1, 0]]
    """
    total = float(counts.sum())
    if total <= 0.0:
        return Partition(np.zeros(counts.shape[1:], dtype=np.intp), ())
    penalty = 0.5 * len(counts) * math.log(total)
    table = np.ascontiguousarray(counts, dtype=np.float64)
    states = np.empty(counts.shape[1:], dtype=np.int64)
    deltas = np.empty(states.size)
    collapse(table, penalty, TOLERANCE, states, deltas)
    gains = deltas[~np.isnan(deltas)]
    return Partition(states.astype(np.intp, copy=False), tuple(gains.tolist()))
