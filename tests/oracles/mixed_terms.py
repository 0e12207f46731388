"""A kind of model that only the tests know: states, a tree, a density and experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.training import Learned
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.scoring.program_scores import contributions, scores
from bayleaf.scoring.terms import Bank, Density, LogSum, Look, Term, Tree, program_of
from oracles.pairs import PairsModel

Floats = NDArray[np.float64]
Classes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MixedModel(PairsModel):
    """Nats of states, and of further terms of any kinds."""

    others: Sequence[Term]

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*super().terms, *self.others)

    def class_log_scores(self, codes: Codes) -> Floats:
        return scores(program_of(self), codes)

    def contributions(
        self, codes: Codes, target: Classes, against: Classes
    ) -> tuple[Floats, Floats]:
        return contributions(program_of(self), codes, target, against)


class MixedClassifier(BayesianClassifier):
    """Nats as they happen to be drawn: what they are worth is of no matter."""

    def _learn(self, counts: Any, domain: Domain, rng: np.random.Generator) -> Learned:
        *cards, n_classes = domain.cards
        states = [rng.normal(size=(card, n_classes)) for card in cards]
        # A root whose value is not zero: changes alone count.
        tree = Tree(
            1,
            np.array(cards),
            np.array([2, -1, 1, -1, -1]),
            np.array([1, 0, 0, 0, 0]),
            np.array([1, 0, 3, 0, 0]),
            np.array([True, True, False, True, True]),
            rng.normal(size=5),
        )
        members = (2, 1)
        squares = np.exp(rng.normal(size=(4, n_classes)))
        density = Density(
            0.7,
            members,
            tuple(np.sort(rng.normal(size=cards[feature])) for feature in members),
            rng.normal(size=(2, n_classes)),
            squares[:2],
            rng.normal(size=(2, n_classes)),
            rng.normal(size=(3, n_classes)),
            squares[2],
            squares[3] + 2.0,
            rng.normal(size=n_classes),
        )
        banks = tuple(
            Bank(
                rng.normal(size=shape),
                tuple(
                    Look.of_states(
                        feature, card, rng.normal(size=(card, np.prod(shape)))
                    )
                    for feature, card in enumerate(cards)
                ),
            )
            for shape in ((1, 2), (2, n_classes))
        )
        experts = LogSum((banks,), is_posterior=True)
        others = (tree, density, experts)
        prior = self._class_prior(counts, self.smoothing_)
        return Learned(MixedModel(domain, prior, states, (), others), 0.0)
