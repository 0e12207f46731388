"""The average of all one-dependence networks (Webb, Boughton & Wang 2005)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import drawn_distributions
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_of, log_sum_exp, logarithmic_mean_weights
from bayleaf.models.class_model import ClassModel, LogScores
from bayleaf.models.support.support_counts import (
    Fact,
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.models.texts.picture import (
    PicturedGraph,
    WeightedArc,
    class_over_features,
    pair_arcs,
    turned,
)
from bayleaf.native.inference import add_children
from bayleaf.scoring.terms import PRIOR, Bank, LogSum, Look, Term
from bayleaf.wording import quoted, size_text

Floats = NDArray[np.float64]
# Rows scored together: each holds one log joint a class and super-parent.
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class AveragedOneDependenceModel(ClassModel):
    """Mean of the joint distributions of n one-dependence networks.

    In network p, feature p (the super-parent) and the class are the parents of every
    other feature. Every state of every feature has a *position*; feature i takes the
    positions from ``offsets[i]`` on, the last of them meaning "missing".

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    prior : ndarray of shape (n_classes,)
        P(class).
    parent_probabilities : ndarray of shape (n_classes, n_positions)
        P(state | class); 1 at positions that mean missing.
    child_probabilities : ndarray of shape (n_classes, n_positions, n_positions)
        P(second state | class, first state); 1 where the second is missing or both
        belong to one feature.
    usable : ndarray of shape (n_positions,), dtype bool
        States seen often enough to serve as a super-parent's.
    left_out : ndarray of shape (n_features, n_features), dtype bool, optional
        By super-parent, then child: arcs that no network has. The child's distribution
        is then the same under all states of the super-parent.
    """

    domain: Domain
    prior: Floats
    parent_probabilities: Floats
    child_probabilities: Floats
    usable: NDArray[np.bool_]
    left_out: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        width = sum(cards) + len(cards)
        shapes = {
            "prior": (n_classes,),
            "parent_probabilities": (n_classes, width),
            "child_probabilities": (n_classes, width, width),
            "usable": (width,),
        }
        for name, shape in shapes.items():
            check_shape(getattr(self, name), shape, name)
        if self.left_out is not None:
            check_shape(self.left_out, (len(cards), len(cards)), "left_out")

    def check_content(self) -> None:
        """Raise ValueError unless every block is a set of distributions."""
        check_distributions(self.prior, "the class prior")
        features = range(len(self.domain) - 1)
        for i in features:
            states, missing = self._states(i), self._states(i).stop
            what = f"the tables of feature {quoted(self.domain[i].name)}"
            check_distributions(self.parent_probabilities[:, states], what)
            for j in features:
                block = self.child_probabilities[:, self._states(j), states]
                if i != j:
                    check_distributions(block, what)
                elif not (block == 1.0).all():
                    raise ValueError(f"{what} should hold ones on the diagonal")
            for table in (self.parent_probabilities, self.child_probabilities):
                if not (table[..., missing] == 1.0).all():
                    raise ValueError(f"{what} should hold ones for missing cells")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a summary reports beside counts and arcs."""
        n_bytes = self.child_probabilities.nbytes
        return (f"its tables take {size_text(n_bytes)} of memory",)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all n networks, the class prior once each."""
        *cards, n_classes = self.domain.cards
        total = 0
        for parent, card in enumerate(cards):
            total += n_classes - 1 + n_classes * (card - 1)
            for child, own in enumerate(cards):
                rows = card if self.has_arc(parent, child) else 1
                total += 0 if child == parent else n_classes * rows * (own - 1)
        return total

    def has_arc(self, parent: int, child: int) -> bool:
        """Whether one feature is a parent of another where it is a super-parent."""
        left_out = self.left_out is not None and bool(self.left_out[parent, child])
        return parent != child and not left_out

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First position of each feature."""
        widths = [card + 1 for card in self.domain.cards[:-1]]
        return np.cumsum([0, *widths[:-1]]).astype(np.int64)

    log_likelihood_scope = (
        "observed families of the training rows, mean over the networks"
    )

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Arcs of all networks, by child: the class and super-parents."""
        n_features = len(self.domain) - 1
        return [
            (parent, child)
            for child in range(n_features)
            for parent in (n_features, *range(n_features))
            if parent == n_features or self.has_arc(parent, child)
        ]

    @cached_property
    def picture(self) -> PicturedGraph:
        """The class over all features, and every pair by what the two share."""
        arcs = _shared_arcs(
            self.prior,
            self.parent_probabilities,
            self.child_probabilities,
            self.offsets,
        )
        return class_over_features(
            self.domain.names,
            "an average of networks: in each of them one feature is a parent of all "
            "others",
            turned(arcs, self.arcs),
        )

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """P(feature | class), the features as super-parents; the class prior."""
        class_index = len(self.domain) - 1
        if variable == class_index:
            return (), self.prior
        return (class_index,), self.parent_probabilities[:, self._states(variable)]

    def _states(self, feature: int) -> slice:
        """Positions of a feature's states, without that of missing cells."""
        start = int(self.offsets[feature])
        return slice(start, start + self.domain.cards[feature])

    @property
    def terms(self) -> tuple[Term, ...]:
        """Each state of each super-parent is a node of a bank of naive Bayes.

        A missing super-parent is summed out: all of its states are part of its member.
        """
        *cards, n_classes = self.domain.cards
        spans = [self._states(feature) for feature in range(len(cards))]
        known = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        prior = self._log_prior
        parent = self._log_parent[:, known]
        child = self._log_child[:, known[:, None], known]
        usable, shape = self.usable[known], (len(known), n_classes)
        looks, fallback = [], [Look.constant(prior)]
        starts = np.cumsum([0, *cards])
        for feature, card in enumerate(cards):
            states = slice(int(starts[feature]), int(starts[feature + 1]))
            table = np.moveaxis(child[:, :, states], (2, 1), (0, 1)).copy()
            # The super-parent adds ln P(state | class), to the prior if it is missing.
            # The other states of it are impossible, as one that is not usable.
            table[:, states] = -np.inf
            table[np.arange(card), np.arange(card) + states.start] = parent[:, states].T
            table[:, states.start + np.flatnonzero(~usable[states])] = -np.inf
            looks.append(Look.of_states(feature, card, table.reshape(card, -1)))
            absent = np.zeros(shape)
            absent[states] = parent[:, states].T
            looks.append(
                Look(
                    PRIOR,
                    (feature,),
                    (np.arange(card + 1),),
                    np.array([[card]]),
                    absent.reshape(1, -1),
                )
            )
            fallback.append(Look.of_states(feature, card, parent[:, states].T))
        members = np.repeat(np.arange(len(cards)), cards)
        bank = Bank(np.tile(prior, (len(known), 1)), tuple(looks), members)
        return (LogSum(paths=((bank,),), fallback=tuple(fallback)),)

    @property
    def table_sizes(self) -> list[TableSize]:
        """The prior, (features, classes), (children, classes, positions)."""
        *cards, n_classes = self.domain.cards
        mean, shape = round(float(np.mean(cards))), (len(cards), n_classes)
        n_positions = self.parent_probabilities.shape[1]
        return [
            TableSize((), n_classes),
            TableSize(shape, mean),
            TableSize((*shape, n_positions), mean),
        ]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """All rows, those that know a feature, and those that know a pair."""
        n_features, n_classes = len(self.domain) - 1, self.domain.cards[-1]
        features = range(n_features)
        yield np.asarray(source.class_counts().sum())
        singles = source.family_counts([(n_features, feature) for feature in features])
        yield np.stack([table.sum(axis=1) for table in singles])
        pairs = source.pair_counts(features, features)
        found = np.zeros((n_features, n_classes, self.parent_probabilities.shape[1]))
        for parent in features:
            for child in features:
                if self.has_arc(parent, child):
                    counts = pairs.table(parent, child).sum(axis=2)
                    found[child, :, self._states(parent)] = counts
                elif child != parent:
                    counts = singles[child].sum(axis=1, keepdims=True)
                    found[child, :, self._states(parent)] = counts
        yield found

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the model with drawn tables of super-parents and children."""
        parents = self.parent_probabilities.copy()
        children = self.child_probabilities.copy()
        ends = np.append(self.offsets, parents.shape[1])
        for feature in range(len(self.domain) - 1):
            span = self._states(feature)
            own = slice(int(ends[feature]), int(ends[feature + 1]))
            strengths = support.strengths(1)[feature], support.strengths(2)[feature]
            parents[:, span] = drawn_distributions(parents[:, span], strengths[0], rng)
            drawn = drawn_distributions(children[:, :, span], strengths[1], rng)
            # Neither a feature's own states nor missing ones have tables.
            drawn[:, own] = children[:, own, span]
            missing = ends[1:] - 1
            drawn[:, missing] = children[:, missing, span]
            children[:, :, span] = drawn
        features = range(len(self.domain) - 1)
        for parent, child in itertools.permutations(features, 2):
            if not self.has_arc(parent, child):
                own = self._states(child)
                children[:, self._states(parent), own] = parents[:, None, own]
        return replace(
            self,
            prior=support.drawn_prior(self.prior, 0, rng),
            parent_probabilities=parents,
            child_probabilities=children,
        )

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Each child's table under the super-parent with the fewest rows."""
        facts = RowFacts(self.domain, codes)
        shape = (codes.n_variables, codes.n_rows, len(self.prior))
        found = np.broadcast_to(support.rows[1][:, None], shape).copy()
        fewest = np.full(shape, -1)
        for parent in range(codes.n_variables):
            positions = codes.column(parent).astype(np.intp) + int(self.offsets[parent])
            usable = self.usable[positions] & ~codes.missing(parent)
            for child in range(codes.n_variables):
                if not self.has_arc(parent, child):
                    continue
                rows = support.rows[2][child][:, positions].T
                less = usable[:, None] & ((rows < found[child]) | (fewest[child] < 0))
                found[child] = np.where(less, rows, found[child])
                fewest[child] = np.where(less, parent, fewest[child])

        def super_parent(feature: int, row: int, chosen: int) -> tuple[Fact, ...]:
            parent = int(fewest[feature, row, chosen])
            return () if parent < 0 else (facts.fact(parent, row, chosen),)

        return facts.of_features(found, super_parent)

    @cached_property
    def _log_prior(self) -> Floats:
        return log_of(self.prior)

    @cached_property
    def _log_parent(self) -> Floats:
        return log_of(self.parent_probabilities)

    @cached_property
    def _log_child(self) -> Floats:
        return log_of(self.child_probabilities)

    def _positions(self, codes: Codes) -> NDArray[np.int32]:
        """Position of each cell, shape (n_features, n_rows)."""
        return np.stack(
            [
                codes.column(i).astype(np.int32) + np.int32(offset)
                for i, offset in enumerate(self.offsets)
            ]
        )

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log of the mean joint probability of each class and the observed features.

        A super-parent whose value was seen too seldom is skipped for that row; if none
        is left the row is scored by naive Bayes. Missing features are summed out of
        each network.
        """
        n_classes = len(self.prior)
        block = max(1, _BLOCK_CELLS // (n_classes * codes.n_variables))
        scores = np.empty((n_classes, codes.n_rows))
        for start in range(0, codes.n_rows, block):
            rows = codes.rows(slice(start, start + block))
            positions = self._positions(rows)
            members, kept = self._member_scores(rows, positions)
            n_kept = kept.sum(axis=0)
            mean = log_sum_exp(members, axis=1) - np.log(np.maximum(n_kept, 1))
            alone = self._naive_scores(positions)
            scores[:, start : start + block] = np.where(n_kept > 0, mean, alone)
        return scores.T

    def _member_scores(
        self, codes: Codes, positions: NDArray[np.int32]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Log joint of each network, (n_classes, n_features, n_rows), and its use."""
        n_features, n_rows = positions.shape
        members = np.empty((len(self.prior), n_features, n_rows))
        kept = np.empty((n_features, n_rows), dtype=bool)
        for parent in range(n_features):
            absent = codes.missing(parent)
            at = positions[parent].astype(np.int64)
            members[:, parent] = self._joint(at, positions)
            kept[parent] = self.usable[at] | absent
            if absent.any():
                those = np.compress(absent, positions, axis=1)
                members[:, parent, absent] = log_sum_exp(
                    self._joint_by_state(parent, those), axis=1
                )
        members[:, ~kept] = -np.inf
        return members, kept

    def _joint_by_state(self, parent: int, positions: NDArray[np.int32]) -> Floats:
        """Log joints with a missing super-parent set to each of its states.

        Shape (n_classes, n_states, n_rows).
        """
        n_rows = positions.shape[1]
        first, n_states = self.offsets[parent], self.domain[parent].n_states
        return np.stack(
            [
                self._joint(np.full(n_rows, first + state, dtype=np.int64), positions)
                for state in range(n_states)
            ],
            axis=1,
        )

    def _joint(
        self, parent_positions: NDArray[np.int64], positions: NDArray[np.int32]
    ) -> Floats:
        """Log joint with the super-parent's state given, shape (n_classes, n_rows)."""
        scores = np.take(self._log_parent, parent_positions, axis=1)
        scores += self._log_prior[:, None]
        add_children(self._log_child, parent_positions, positions, scores)
        return scores

    def _naive_scores(self, positions: NDArray[np.int32]) -> Floats:
        """Log joint of naive Bayes, shape (n_classes, n_rows)."""
        scores = np.repeat(self._log_prior[:, None], positions.shape[1], axis=1)
        for row in positions:
            scores += self._log_parent[:, row]
        return scores

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums is split among the networks by logarithmic-mean weights,
        and each network's log-odds by its own families.
        """
        prior = np.empty(codes.n_rows)
        terms = np.empty((codes.n_rows, codes.n_variables))
        positions = self._positions(codes)
        members, kept = self._member_scores(codes, positions)
        for row in range(codes.n_rows):
            pair = np.array([target[row], against[row]])
            prior[row] = np.subtract(*self._log_prior[pair])
            cells = positions[:, row]
            absent = np.array([codes.missing(i)[row] for i in range(len(cells))])
            if not kept[:, row].any():
                log_odds = np.subtract(*self._log_parent[pair])[cells]
                terms[row] = np.where(absent, 0.0, log_odds)
                continue
            weights = logarithmic_mean_weights(*members[pair, :, row])
            terms[row] = sum(
                weights[p] * self._member_terms(int(p), pair, cells, absent)
                for p in np.flatnonzero(kept[:, row])
            )
            prior[row] *= weights.sum()
        return prior, terms

    def _member_terms(
        self,
        parent: int,
        pair: NDArray[np.intp],
        cells: NDArray[np.int32],
        absent: NDArray[np.bool_],
    ) -> Floats:
        """Terms of one network's log-odds between a pair of classes."""
        present = np.flatnonzero(~absent)
        terms = np.zeros(len(cells))
        if not absent[parent]:
            tables = self._log_child[pair, cells[parent]][:, cells[present]]
            terms[present] = tables[0] - tables[1]
            terms[parent] = np.subtract(*self._log_parent[pair, cells[parent]])
            return terms
        first, n_states = self.offsets[parent], self.domain[parent].n_states
        states = np.arange(first, first + n_states)
        steps = self._log_child[pair[:, None, None], states[:, None], cells[present]]
        start = self._log_parent[pair[:, None], states][:, :, None]
        chain = np.cumsum(np.concatenate([start, steps], axis=2), axis=2)
        odds = np.subtract(*log_sum_exp(chain, axis=1))
        terms[present] = np.diff(odds)
        return terms


def _shared_arcs(
    prior: Floats, parents: Floats, children: Floats, offsets: NDArray[np.int64]
) -> list[WeightedArc]:
    """Pairs of features of averaged one-dependence networks, weighted by information.

    Each pair is in two networks, either feature being the other's parent; its weight is
    the mean of both. Parameters are those of `AveragedOneDependenceModel`.
    """
    joint = prior[:, None] * parents
    mean = joint.sum(axis=0)
    gains = _times_log(joint, parents) - _times_log(joint, mean)
    # A missing cell, the last position of a feature, has probability 1 and tells 0.
    ends = np.append(offsets[1:], parents.shape[1])
    known = np.ones(parents.shape[1], dtype=bool)
    known[ends - 1] = False
    told = np.add.reduceat(np.where(known, gains.sum(axis=0), 0.0), offsets)
    shared = np.empty((len(offsets), len(offsets)))
    for parent, (start, end) in enumerate(zip(offsets, ends - 1, strict=True)):
        given = children[:, start:end]
        cells = parents[:, start:end, None] * given
        ratio = _times_log(cells, given) - _times_log(
            cells, cells.sum(axis=1, keepdims=True)
        )
        nats = (prior[:, None] * ratio.sum(axis=1)).sum(axis=0)
        shared[parent] = np.add.reduceat(nats, offsets)
    return pair_arcs(told, (shared + shared.T) / 2)


def _times_log(values: Floats, probabilities: Floats) -> Floats:
    """Values times the logarithms of probabilities, 0 where a value is 0."""
    logs = np.log(np.where(values > 0.0, probabilities, 1.0))
    return np.asarray(values * logs)
