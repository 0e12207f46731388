"""Wiering's (2003) naive Bayes on codes, his bagging, boosting and gates over it.

The paper's naive Bayes for its table 2, beside the library's mixtures, combined as
`EnsembleClassifier` combines classifiers. Codes have the features' columns only, a
missing cell has the number of states of its feature as code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.voting import (
    bagged,
    best_experts,
    boosted,
    gated,
    vote_sums,
)
from bayleaf.data.codes import Codes
from bayleaf.latent.online_mixture import OnlineOptions, learn_counters
from bayleaf.models.mixture_banks import Banks, mixture_log_posteriors

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
GAMMA, NOISE, SIGMA, N_PASSES = 0.1, 0.01, 0.1, 5
N_MODELS = 10


class Classifier(Protocol):
    """What bagging and boosting ask of the classifiers that they combine."""

    def posteriors(self, codes: Integers) -> Floats:
        """Class probabilities, of shape (n_rows, n_classes)."""
        ...


# Codes, class of each row, row weights and generator to classifier.
Learn = Callable[[Integers, Integers, Floats, np.random.Generator], Classifier]


@dataclass(frozen=True)
class NaiveBayes:
    """A naive Bayes classifier made of counters.

    Row ``offsets[k] + state`` of `log_table` is ln P(f_k = state | output); the row
    after a feature's last state is zero, for missing cells.
    """

    log_prior: Floats  # (n_outputs,), nats
    log_table: Floats  # (n_values, n_outputs), nats
    offsets: Integers  # (n_features,), first rows

    def posteriors(self, codes: Integers) -> Floats:
        """Probabilities of the outputs, of shape (n_rows, n_outputs)."""
        scores = np.tile(self.log_prior, (len(codes), 1))
        for column, offset in zip(codes.T, self.offsets, strict=True):
            scores += self.log_table[column + offset]
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        posteriors: Floats = scores / scores.sum(axis=1, keepdims=True)
        return posteriors


def naive_bayes(cards: Sequence[int], n_outputs: int) -> Learn:
    """How the paper learns one naive Bayes classifier (section 2.2).

    Every counter starts at `GAMMA` plus noise; a feature's counters are divided by
    their sum at the start plus the weight of all rows of the output, those where the
    feature is missing included.
    """
    sizes = np.array(cards) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    n_values = int(sizes.sum())
    gaps = offsets + cards

    def learn(
        codes: Integers, y: Integers, weights: Floats, rng: np.random.Generator
    ) -> NaiveBayes:
        prior = GAMMA + NOISE * rng.random(n_outputs)
        counters = GAMMA + NOISE * rng.random((n_values, n_outputs))
        counters[gaps] = 0.0
        seen = np.bincount(y, weights=weights, minlength=n_outputs)
        totals = np.add.reduceat(counters, offsets) + seen
        cells = ((codes + offsets) * n_outputs + y[:, None]).ravel()
        counters += np.bincount(
            cells, np.repeat(weights, codes.shape[1]), n_values * n_outputs
        ).reshape(n_values, n_outputs)
        shares = counters / np.repeat(totals, sizes, axis=0)
        shares[gaps] = 1.0
        prior += seen
        return NaiveBayes(np.log(prior / prior.sum()), np.log(shares), offsets)

    return learn


@dataclass(frozen=True)
class Mixture:
    """A hierarchical mixture of the library."""

    banks: Banks  # the gates of each level, then the experts
    cards: tuple[int, ...]  # number of states of each feature

    def posteriors(self, codes: Integers) -> Floats:
        """Class probabilities, of shape (n_rows, n_classes)."""
        table = Codes.from_columns(list(codes.T), self.cards)
        return np.exp(mixture_log_posteriors((self.banks,), table))


def mixture(
    cards: tuple[int, ...], n_classes: int, architecture: tuple[int, ...]
) -> Learn:
    """How the paper learns a mixture: single rows, shuffled once (section 3.2)."""
    options = OnlineOptions(N_PASSES, SIGMA, GAMMA, NOISE, "all_rows")

    def learn(
        codes: Integers, y: Integers, weights: Floats, rng: np.random.Generator
    ) -> Mixture:
        table = Codes.from_columns([*codes.T, y], (*cards, n_classes), weights)
        order = rng.permutation(len(y))
        return Mixture(
            learn_counters(table, order, architecture, options, rng).banks(), cards
        )

    return learn


@dataclass(frozen=True)
class Vote:
    """Classifiers that each vote for one class; ties go to the lower class."""

    classifiers: list[Classifier]
    weights: list[float]  # the vote of each
    n_classes: int

    def predict(self, codes: Integers) -> Integers:
        """Class with the most votes, of shape (n_rows,)."""
        answers = [_answers(classifier, codes) for classifier in self.classifiers]
        return np.asarray(vote_sums(answers, self.weights, self.n_classes).argmax(1))


def bagging(
    learn: Learn,
    codes: Integers,
    y: Integers,
    n_classes: int,
    rng: np.random.Generator,
    *,
    share: float,
) -> Vote:
    """Learn from bootstrap samples of a share of the rows, equal votes."""
    classifiers = bagged(
        lambda weights: learn(codes, y, weights, rng),
        np.ones(len(y)),
        N_MODELS,
        share,
        rng,
    )
    return Vote(classifiers, [1.0] * N_MODELS, n_classes)


def boosting(
    learn: Learn, codes: Integers, y: Integers, n_classes: int, rng: np.random.Generator
) -> Vote:
    """AdaBoost.M1 on weights that sum to the number of rows."""
    classifiers, votes = boosted(
        lambda weights: learn(codes, y, weights, rng),
        lambda classifier: _answers(classifier, codes) != y,
        np.ones(len(y)),
        N_MODELS,
        rng,
    )
    return Vote(classifiers, votes, n_classes)


def _answers(classifier: Classifier, codes: Integers) -> Integers:
    """Most probable class, of shape (n_rows,)."""
    return np.asarray(classifier.posteriors(codes).argmax(axis=1))


@dataclass(frozen=True)
class Gated:
    """Classifiers weighted row by row by a gate."""

    gate: NaiveBayes  # its outputs are the experts
    experts: list[Classifier]

    def predict(self, codes: Integers) -> Integers:
        """Most probable class, of shape (n_rows,)."""
        outputs = np.stack([expert.posteriors(codes) for expert in self.experts])
        gates = self.gate.posteriors(codes)
        return np.asarray(gated(gates, outputs).argmax(axis=1))


def gate_over(
    experts: list[Classifier],
    cards: Sequence[int],
    codes: Integers,
    y: Integers,
    rng: np.random.Generator,
) -> Gated:
    """Learn one gate over experts that stay as they are (end of section 4).

    The expert most certain of a row's class is its target. Fixed experts make the
    passes over the rows alike, so all of them are counted at once.
    """
    best = best_experts(np.stack([expert.posteriors(codes) for expert in experts]), y)
    learn = naive_bayes(cards, len(experts))
    gate = learn(codes, best, np.full(len(y), float(N_PASSES)), rng)
    assert isinstance(gate, NaiveBayes)
    return Gated(gate, experts)
