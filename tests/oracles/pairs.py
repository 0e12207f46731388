"""A kind of model that only the tests know: scores from states and pairs of states."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.training import Learned
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.models import ModelKind
from bayleaf.scoring.terms import Look, Term

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PairsModel(ModelKind):
    """Nats of each state, and of each pair of states of neighbours; no network.

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    prior : ndarray of shape (n_classes,)
        P(class).
    states : list of ndarray of shape (n_states, n_classes)
        Nats of the states of each feature.
    pairs : list of ndarray of shape (n_states, n_states of the next, n_classes)
        Nats of each pair of neighbours, a part of what the second adds.
    """

    domain: Domain
    prior: Floats
    states: Sequence[Floats]
    pairs: Sequence[Floats]

    @property
    def class_prior(self) -> Floats:
        return self.prior

    @property
    def n_parameters(self) -> int:
        return sum(table.size for table in (*self.states, *self.pairs))

    @property
    def log_likelihood_scope(self) -> str:
        return "class"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        n = len(self.states)
        return [(n, feature) for feature in range(n)]

    @property
    def feature_marginals(self) -> Sequence[Floats]:
        return [np.full(card, 1 / card) for card in self.domain.cards[:-1]]

    def feature_parents(self, feature: int) -> Sequence[int]:
        return [feature - 1] if feature else []

    def with_class_prior(self, class_prior: Floats) -> Self:
        return replace(self, prior=np.asarray(class_prior, dtype=np.float64))

    @property
    def terms(self) -> tuple[Term, ...]:
        looks = [Look.constant(np.log(self.prior))]
        for feature, table in enumerate(self.states):
            looks.append(Look.of_states(feature, len(table), table))
        for feature, table in enumerate(self.pairs):
            cards = table.shape[:2]
            maps = tuple(np.arange(card + 1) for card in cards)
            joint = np.indices(cards).reshape(2, -1).T
            rows = table.reshape(len(joint), -1)
            members = feature, feature + 1
            looks.append(Look(feature + 1, members, maps, joint, rows))
        return tuple(looks)

    def _nats(self, codes: Codes) -> Floats:
        """Nats of each feature, row by row."""
        n = len(self.states)
        nats = np.zeros((n, codes.n_rows, len(self.prior)))
        columns = [codes.column(feature) for feature in range(n)]
        for row in range(codes.n_rows):
            own = [int(column[row]) for column in columns]
            known = [own[f] < len(self.states[f]) for f in range(n)]
            for f in range(n):
                if known[f]:
                    nats[f, row] += self.states[f][own[f]]
                if f and known[f] and known[f - 1]:
                    nats[f, row] += self.pairs[f - 1][own[f - 1], own[f]]
        return nats

    def class_log_scores(self, codes: Codes) -> Floats:
        return np.log(self.prior) + self._nats(codes).sum(axis=0)

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        nats, rows = self._nats(codes), np.arange(codes.n_rows)
        odds = nats[:, rows, target] - nats[:, rows, against]
        logs = np.log(self.prior)
        return logs[target] - logs[against], odds.T


class PairsClassifier(BayesianClassifier):
    """Nats as they happen to be drawn: what they are worth is of no matter."""

    def _learn(self, counts: Any, domain: Domain, rng: np.random.Generator) -> Learned:
        *cards, n_classes = domain.cards
        states = [rng.normal(size=(card, n_classes)) for card in cards]
        shapes = itertools.pairwise(cards)
        pairs = [rng.normal(size=(*shape, n_classes)) for shape in shapes]
        prior = self._class_prior(counts, self.smoothing_)
        return Learned(PairsModel(domain, prior, states, pairs), 0.0)
