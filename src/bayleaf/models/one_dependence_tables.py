"""The tables of averaged one-dependence networks, and the rows behind them."""

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
from bayleaf.models.model_kind import ModelKind
from bayleaf.models.support.cells import Fact, RowFacts, UsedCells
from bayleaf.models.support.shared_information import one_dependence_arcs, turned
from bayleaf.models.support.support_counts import SupportCounts, TableSize
from bayleaf.models.texts.average_remarks import size_remark
from bayleaf.models.texts.picture import PicturedGraph, class_over_features
from bayleaf.scoring.terms import PRIOR, Bank, LogSum, Look, Term
from bayleaf.wording import quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class OneDependenceTables(ModelKind):
    """Base of the averaged one-dependence model: its tables and what follows alone.

    For parameters see `AveragedOneDependenceModel`.
    """

    domain: Domain
    prior: NDArray[np.float64]
    parent_probabilities: NDArray[np.float64]
    child_probabilities: NDArray[np.float64]
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
        return (size_remark(self.child_probabilities.nbytes),)

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

    @property
    def class_prior(self) -> NDArray[np.float64]:
        """Prior probability of each class, shape (n_classes,)."""
        return self.prior

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First position of each feature."""
        widths = [card + 1 for card in self.domain.cards[:-1]]
        return np.cumsum([0, *widths[:-1]]).astype(np.int64)

    def feature_parents(self, feature: int) -> Sequence[int]:
        """None: a feature's term is a mean over networks with different parents."""
        return ()

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        return "observed families of the training rows, mean over the networks"

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

    def with_class_prior(self, class_prior: Floats) -> Self:
        """Return the same model under another class prior, shape (n_classes,)."""
        return replace(self, prior=np.asarray(class_prior, dtype=np.float64))

    @cached_property
    def picture(self) -> PicturedGraph:
        """The class over all features, and every pair by what the two share."""
        arcs = one_dependence_arcs(
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
        with np.errstate(divide="ignore"):
            prior = np.log(self.prior)
            parent = np.log(self.parent_probabilities[:, known])
            child = np.log(self.child_probabilities[:, known[:, None], known])
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

    # ---- the rows behind the tables

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
