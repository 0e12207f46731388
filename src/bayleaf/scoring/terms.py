"""The terms whose sum is the score of a class.

A term adds nats to each class for a row of codes. The code of a missing cell is the
number of states of the feature. Scores are defined up to a constant that all classes of
a row share. The owner of a term is the feature whose evidence it is, -1 for the prior.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.inference.factorisation import Factorisation
from bayleaf.scoring.partial_cases import Sharing
from bayleaf.wording import brief_fields, quoted

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

PRIOR = -1
# Cells above which a table is not expanded.
_MAX_CELLS = 50_000_000


def joint_keys(states: Iterable[Whole], radices: Sequence[int], n: int) -> Whole:
    """Joint states of n rows as integers, the last feature varying fastest."""
    if not radices:
        return np.zeros(n, np.int64)
    return np.asarray(np.ravel_multi_index(tuple(states), radices))


def joint_states(keys: Whole, radices: Sequence[int]) -> Whole:
    """Joint states (n_rows, n_features) of integers that `joint_keys` returns."""
    if not radices:
        return np.zeros((len(keys), 0), np.int64)
    return np.stack(np.unravel_index(keys, radices), axis=1)


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Whole]:
    """Distinct rows in increasing order, and the index of each row among them.

    NumPy's `unique` of an axis compares rows as records, which takes far longer.
    """
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    is_new = np.ones(len(rows), dtype=bool)
    is_new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    indices = np.empty(len(rows), dtype=np.int64)
    indices[order] = np.cumsum(is_new) - 1
    return ranked[is_new], indices


@dataclass(frozen=True, eq=False)
class Look:
    """A table by the joint state of a few features; states not listed add zero."""

    owner: int
    features: tuple[int, ...]  # Whose states are looked up.
    maps: tuple[Whole, ...]  # State of each code of each feature, missing last.
    states: Whole  # Joint states (n_entries, n_features), each once.
    rows: Floats  # Nats (n_entries, n_outputs).
    # Codes (n_codes,) of the owner under which the term counts, if not under all.
    gate: Flags | None = None

    __repr__ = brief_fields

    @classmethod
    def constant(cls, values: Floats) -> Look:
        """The same nats for all rows, shape (n_outputs,), owned by the prior."""
        return cls(PRIOR, (), (), np.zeros((1, 0), np.int64), np.asarray(values)[None])

    @classmethod
    def of_states(cls, feature: int, card: int, rows: Floats) -> Look:
        """A table of one feature, (n_states, n_outputs); row `card`: missing cells."""
        return cls(
            feature,
            (feature,),
            (np.arange(card + 1),),
            np.arange(len(rows))[:, None],
            np.asarray(rows),
        )

    @property
    def radices(self) -> tuple[int, ...]:
        """Numbers of states of the features, those of missing cells included."""
        return tuple(int(states.max(initial=0)) + 1 for states in self.maps)

    @property
    def keys(self) -> Whole:
        """Joint states of the entries as integers."""
        return joint_keys(self.states.T, self.radices, len(self.states))


@dataclass(frozen=True, eq=False)
class Counts:
    """A feature's nested family stored as counts, with the rule that smooths them.

    Depth j adds weight * ln P(child | class, first j parents), relative to a joint
    state without rows, which is the same for all classes. Where no cell has the states
    of the parents, depth j - 1 is repeated.
    """

    features: tuple[int, ...]  # The child, then its parents.
    # State of each code of each feature. The last state is reserved: that of the child
    # adds nothing, and a cell has it for parents that too few rows share.
    maps: tuple[Whole, ...]
    states: Whole  # Occupied joint states (n_cells, n_features).
    classes: Whole  # Class of each cell.
    totals: Floats  # Weight of the training rows in each cell.
    weights: Floats  # Weight of each depth (n_features,).
    # Prior weight of each state, of all together, and by the states' shares.
    pseudo: tuple[float, float, float]
    n_classes: int

    __repr__ = brief_fields

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The same as tables, two a depth that has weight."""
        return tuple(self._looks())

    @property
    def changes(self) -> tuple[Look, ...]:
        """What each further parent changes, at a weight of one for all of them."""
        return replace(self, weights=np.eye(len(self.weights))[-1]).looks

    @property
    def smoothing(self) -> tuple[Floats, float]:
        """Prior weight of each state, zero for the reserved one, and of all."""
        n_states = int(self.maps[0].max(initial=0))
        marginal = np.bincount(self.states[:, 0], self.totals, n_states + 1)
        each, together, shared = self.pseudo
        least = each + together / n_states + shared * marginal / marginal.sum()
        least[n_states] = 0.0
        return least, each * n_states + together + shared

    def _looks(self) -> Iterator[Look]:
        least, strength = self.smoothing
        # A state without prior weight adds nothing.
        counts_for = least > 0
        # What depth j changes counts for all depths from j on.
        deeper = np.cumsum(self.weights[::-1])[::-1]
        cells, logs = np.zeros((0, 0), np.int64), np.zeros((0, self.n_classes))
        shared_logs = np.zeros((1, self.n_classes))
        configurations = np.zeros((1, 0), np.int64)
        for depth in np.flatnonzero(deeper).tolist():
            family, parents = slice(0, depth + 1), slice(1, depth + 1)
            before, configurations_before = (cells, logs), configurations
            cells, counts = self._sums(family)
            has_prior = counts_for[cells[:, 0]]
            cells, counts = cells[has_prior], counts[has_prior]
            logs = np.log1p(counts / least[cells[:, 0], None])
            configurations, totals = self._sums(parents)
            if not depth:
                yield self._look(family, cells, deeper[0] * logs)
                # Counts of the class alone.
                shared_logs = -np.log1p(totals / strength)
                states = np.flatnonzero(counts_for)[:, None]
                rows = np.repeat(deeper[0] * shared_logs, len(states), axis=0)
                yield self._look(family, states, rows)
                continue
            # Each state that occurs under one parent fewer, under each configuration.
            pairs = _continued(before[0][:, 1:], configurations)
            joint = np.hstack([before[0][pairs[0], :1], configurations[pairs[1]]])
            changes = -before[1][pairs[0]]
            changes[_indices(cells, joint)] += logs
            yield self._look(family, joint, deeper[depth] * changes)
            indices, _ = _continued(configurations_before, configurations)
            rows = -np.log1p(totals / strength) - shared_logs[indices]
            shared_logs = shared_logs[indices] + rows
            gate = counts_for[self.maps[0]]
            yield self._look(parents, configurations, deeper[depth] * rows, gate)

    def _look(
        self, members: slice, states: Whole, rows: Floats, gate: Flags | None = None
    ) -> Look:
        features, maps = self.features[members], self.maps[members]
        # Relative to the first class, which takes one column less.
        return Look(self.features[0], features, maps, states, rows - rows[:, :1], gate)

    def _sums(self, members: slice) -> tuple[Whole, Floats]:
        """Joint states of some features that exist, and their counts by class."""
        radices = [int(states.max(initial=0)) + 1 for states in self.maps[members]]
        chosen = self.states[:, members]
        reserved = np.array(radices, dtype=np.int64) - 1
        exists = (chosen < reserved).all(axis=1)
        keys = joint_keys(chosen[exists].T, radices, int(exists.sum()))
        distinct, indices = np.unique(keys, return_inverse=True)
        cells = indices * self.n_classes + self.classes[exists]
        size = len(distinct) * self.n_classes
        sums = np.bincount(cells, self.totals[exists], size)
        totals = sums.astype(np.float64).reshape(-1, self.n_classes)
        return joint_states(distinct, radices), totals


def _keys(*rows: Whole) -> list[Whole]:
    """Equal integers for equal rows of several arrays with the same columns."""
    joined = np.concatenate(rows)
    ends = np.cumsum([len(array) for array in rows])[:-1]
    radices = joined.max(axis=0, initial=0).astype(object) + 1
    if np.prod(radices) < 1 << 62:
        indices = joint_keys(joined.T, radices.tolist(), len(joined))
    else:
        indices = distinct_rows(joined)[1]
    return np.split(indices, ends)


def _indices(cells: Whole, among: Whole) -> Whole:
    """Index of each cell among others, each of which occurs once."""
    targets, keys = _keys(cells, among)
    order = np.argsort(keys)
    return np.asarray(order[np.searchsorted(keys, targets, sorter=order)])


def _continued(before: Whole, configurations: Whole) -> tuple[Whole, Whole]:
    """Rows and the configurations of one parent more that begin with their states."""
    keys, targets = _keys(before, configurations[:, :-1])
    order = np.argsort(keys, kind="stable")
    ranks = keys[order]
    first = np.searchsorted(ranks, targets)
    sizes = np.searchsorted(ranks, targets, "right") - first
    indices = np.repeat(np.arange(len(configurations)), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.repeat(first, sizes) + within], indices


@dataclass(frozen=True, eq=False)
class Density:
    """A number's Student t density given others, linear in each class."""

    weight: float  # What the log density is multiplied by.
    features: tuple[int, ...]  # The child, then its parents.
    # Number of each state of each feature; a missing child adds nothing.
    positions: tuple[Floats, ...]
    # Of the features (n_features, n_classes); a missing parent counts as its mean, and
    # adds its variance.
    means: Floats
    variances: Floats
    # The intercept, then the parents' coefficients, of centred positions.
    slopes: Floats
    # Upper triangle (n_corners, n_classes), row by row, whose product with the row
    # gives its leverage.
    triangle: Floats
    scale: Floats  # Squared scale of each class.
    freedom: Floats  # Degrees of freedom of each class.
    constants: Floats  # Constant of the log density of each class.

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree that adds nats to a class; the owner of a step is the feature it tests."""

    label: int  # The class.
    cards: Whole  # Numbers of states of all features.
    features: Whole  # Feature that each node tests, -1 for a leaf; first the root.
    states: Whole  # The state that leads left.
    children: Whole  # The left child of each node; the right child follows it.
    is_ordered: Flags  # Whether lower states lead left as well.
    # Nats of a row that ends there, in a leaf or because its cell is missing.
    values: Floats

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class Factor:
    """The distribution of a child: nats, an axis for each variable of its family."""

    child: int
    variables: tuple[int, ...]
    logs: Floats

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False)
class SumOut:
    """A product of distributions, summed over latent variables and missing features."""

    # Of the features, any latent variables, and the class, last.
    network: Factorisation
    order: tuple[int, ...]  # Features in the order in which their evidence is added.
    weight: float = 1.0  # What the log is multiplied by.

    __repr__ = brief_fields

    @property
    def cards(self) -> tuple[int, ...]:
        """Of the features, any latent variables, and the class."""
        return self.network.domain.cards

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The distributions as tables; ValueError names one that is too large."""
        return tuple(self._factor(cpd) for cpd in self.network.cpds)

    def _factor(self, cpd: CPD) -> Factor:
        if (cells := np.prod(cpd.cards, dtype=float)) > _MAX_CELLS:
            raise ValueError(
                f"the table of variable {quoted(self.network.domain[cpd.child].name)} "
                f"would have {cells:,.0f} cells with its {len(cpd.parents)} parents; "
                "give it fewer parents"
            )
        return Factor(cpd.child, cpd.family, cpd.log_probabilities())

    @cached_property
    def excess(self) -> float:
        """How far distributions are from summing to one, all together, nats.

        A missing feature without known descendants may be left out and not summed, so
        it matters where they are rounded or have a floor.
        """
        own = [f for f in self.factors if f.child != len(self.cards) - 1]
        sums = [np.exp(factor.logs).sum(axis=-1) for factor in own]
        return float(sum(np.abs(np.log(one)).max() for one in sums))


@dataclass(frozen=True, eq=False)
class Bank:
    """Naive Bayes models over the same features."""

    base: Floats  # Log priors (n_nodes, n_outputs).
    looks: tuple[Look, ...]  # Tables of rows of shape (n_nodes * n_outputs,).
    # The member that each node is a part of, if several are part of one.
    members: Whole | None = None

    __repr__ = brief_fields

    @property
    def member_of(self) -> Whole:
        """The member that each node is a part of."""
        return np.arange(len(self.base)) if self.members is None else self.members


@dataclass(frozen=True, eq=False)
class LogSum:
    """The log of the mean over those members that are possible in some class."""

    # Each a tree of gates, level by level, and the experts below it. The posterior of a
    # gate is the weight of its branches.
    paths: tuple[tuple[Bank, ...], ...] = ()
    networks: tuple[SumOut, ...] = ()  # Members that are networks.
    # Whether experts return posteriors instead of joint probabilities.
    is_posterior: bool = False
    # What scores a row for which all members are impossible in all classes.
    fallback: tuple[Look, ...] = ()

    __repr__ = brief_fields


Term = Look | Counts | Density | Tree | SumOut | LogSum


@dataclass(frozen=True, eq=False)
class ScoringProgram:
    """Scores of the classes: a base and the terms that a row adds to it, in nats."""

    cards: tuple[int, ...]  # Numbers of states of the features.
    base: Floats
    terms: tuple[Term, ...]
    sharing: Sharing | None = None  # Weights of terms where features are unknown.

    __repr__ = brief_fields

    def given(self, known: Flags) -> ScoringProgram:
        """The program of rows that know some features (n_features,) and no others."""
        if self.sharing is None or known.all():
            return replace(self, sharing=None)
        case = self.sharing.weights_of(known[None])
        others, depths = case.others[0], case.depths[0] / len(self.sharing.parents)
        base = self.sharing.bases(self.base, case.base)[0]
        terms = tuple(_given(term, depths, others) for term in self.terms)
        return ScoringProgram(self.cards, base, terms)

    @classmethod
    def of(cls, cards: Sequence[int], terms: Sequence[Term]) -> ScoringProgram:
        """A program of terms over features and, last, a class with these cards."""
        *feature_cards, n_classes = cards
        base, rest = np.zeros(n_classes), []
        for term in terms:
            if isinstance(term, Look) and not term.features:
                base = base + term.rows[0]
            else:
                rest.append(term)
        return cls(tuple(feature_cards), base, tuple(rest))


def _given(term: Term, depths: Floats, others: Floats) -> Term:
    """A term under the weights of a case: of tables by depth, and of all others."""
    if isinstance(term, Counts):
        deeper = depths[term.features[0], : len(term.features)]
        return replace(term, weights=-np.diff(deeper, append=0.0))
    if isinstance(term, Look):
        return replace(term, rows=term.rows * others[term.owner])
    if isinstance(term, Density):
        return replace(term, weight=term.weight * others[term.features[0]])
    assert isinstance(term, Tree)
    values = np.zeros_like(term.values)
    # Children follow their parents.
    for node in np.flatnonzero(term.features >= 0):
        children = term.children[node] + np.arange(2)
        steps = term.values[children] - term.values[node]
        values[children] = values[node] + others[term.features[node]] * steps
    return replace(term, values=values)


def program_of(model: Any) -> ScoringProgram:
    """Return the scoring program of a `ClassModel`; every export is written from it."""
    program = ScoringProgram.of(model.domain.cards, model.terms)
    return replace(program, sharing=model.sharing)
