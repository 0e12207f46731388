"""A hierarchy of gates over experts, learned from all rows at once."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import OptimizeResult, minimize

from bayleaf.counts.threads import one_thread_of_linear_algebra
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.inference.states import check_integer
from bayleaf.latent.expectation_maximisation import Progress
from bayleaf.progress import Work
from bayleaf.wording import quoted

Floats = NDArray[np.float64]

# Rows that are looked at together; sums over blocks are added in their order.
_BLOCK = 4096


@dataclass(frozen=True)
class BatchOptions:
    """Options of learning from all rows at once; ValueError if one is out of range."""

    pseudo_count: float = 1.0  # prior rows of each state of each distribution
    start_spread: float = 1.0  # standard deviation (nats) of the experts at the start
    max_iter: int = 200
    tol: float = 3e-5  # steps end once one gains fewer nats per row

    def __post_init__(self) -> None:
        for name in ("pseudo_count", "start_spread", "tol"):
            value = getattr(self, name)
            real = isinstance(value, numbers.Real) and math.isfinite(value)
            if not (real and (value > 0 or (name == "tol" and value == 0))):
                least = "of at least" if name == "tol" else "above"
                raise ValueError(
                    f"{name} must be a number {least} 0, got {quoted(value)}"
                )
        check_integer("max_iter", self.max_iter)


@dataclass(frozen=True, eq=False)
class BatchMixture:
    """A learned mixture, and the course of learning.

    `objectives`, from the start on, are that log-likelihood plus the logarithm of the
    prior density, up to a constant (nats); they rise at every step.
    """

    banks: tuple[NaiveBayesBank, ...]  # gates by level from the root, then experts
    log_likelihood: float  # of the classes given the features, nats
    objectives: tuple[float, ...]
    converged: bool  # whether it ended for want of a rise, not of steps


def learn_batch(
    codes: Codes,
    architecture: tuple[int, ...],
    options: BatchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> BatchMixture:
    """Learn a hierarchical mixture of naive Bayes classifiers from all rows at once.

    Maximises the conditional log-likelihood of the classes plus the logarithm of a
    Dirichlet prior of `pseudo_count` rows per state. Equal rows are merged first, so a
    row of weight 2 is a row that occurs twice, and the order of rows does not matter;
    missing cells are left out. ValueError if no row has a positive weight.

    `architecture` lists the branching factors of the levels of gates, the root's first;
    if empty, there is one expert. The start is naive Bayes in every expert and even
    gates, with noise of `start_spread` added to the logarithms. `progress` is called
    with the step's number and the objective after each step.

    The model is that of Wiering (2003), sections 3.1-3.2. An E step shares each row
    among the experts by their path weight times the probability they give to the true
    class; expected counts with the class known less those without are the gradient, and
    the steps are those of L-BFGS (Salakhutdinov, Roweis and Ghahramani 2003, on
    optimisation by expectation and gradient). A distribution's free parameters are
    logarithms that are normalised afterwards.
    """
    likelihood = MixtureLikelihood(codes, architecture, options.pseudo_count)
    start = likelihood.random_start(options.start_spread, rng)
    found = likelihood.maximize(start, options.max_iter, options.tol, progress)
    logs = likelihood.normalized(found.point)
    return BatchMixture(
        likelihood.layout.banks(logs),
        found.objectives[-1] - likelihood.log_prior(logs),
        found.objectives,
        found.converged,
    )


@dataclass(frozen=True, eq=False)
class _Level:
    """Where the classifiers of one level lie among the columns of the flat tables."""

    columns: slice
    n_nodes: int
    n_outputs: int

    def part(self, table: Floats) -> Floats:
        """The level's columns, by node and output; shape (n, n_nodes, n_outputs)."""
        return table[:, self.columns].reshape(-1, self.n_nodes, self.n_outputs)


class Layout:
    """Distributions of a mixture as the columns of one table.

    Row ``offsets[k] + state`` contains feature k's state, the last row the priors; each
    column is an output of a classifier, level by level. Each of the `outputs` of a
    level has one classifier of the next level below it.
    """

    def __init__(self, cards: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)
        ends = list(accumulate(outputs, mul, initial=1))
        bounds = list(accumulate(ends[1:], initial=0))
        self.levels = [
            _Level(slice(bounds[i], bounds[i + 1]), ends[i], outputs[i])
            for i in range(len(outputs))
        ]
        self.shape = (int(self.offsets[-1]) + 1, bounds[-1])
        self._feature = np.repeat(np.arange(len(cards)), cards)

    def normalized(self, table: Floats) -> Floats:
        """Logarithms of distributions, proportional to those of the table."""
        logs = np.empty(self.shape)
        features = table[:-1]
        highest = np.maximum.reduceat(features, self.offsets[:-1], axis=0)
        logs[:-1] = features - highest[self._feature]
        logs[:-1] -= np.log(self._feature_sums(np.exp(logs[:-1])))[self._feature]
        for level in self.levels:
            prior = level.part(table[-1:])
            total = log_sum_exp(prior, axis=2)[:, :, None]
            logs[-1, level.columns] = (prior - total).ravel()
        return logs

    def tangent(self, slopes: Floats, logs: Floats) -> Floats:
        """Derivatives by the table, given those by its normalised logarithms."""
        found = slopes.copy()
        sums = self._feature_sums(slopes[:-1])[self._feature]
        found[:-1] -= np.exp(logs[:-1]) * sums
        for level in self.levels:
            total = level.part(slopes[-1:]).sum(axis=2, keepdims=True)
            pulled = np.exp(level.part(logs[-1:])) * total
            found[-1, level.columns] -= pulled.ravel()
        return found

    def banks(self, logs: Floats) -> tuple[NaiveBayesBank, ...]:
        """The classifiers of each level."""
        return tuple(
            NaiveBayesBank(
                level.part(logs[-1:])[0].copy(),
                level.part(logs[:-1]).copy(),
                self.offsets,
            )
            for level in self.levels
        )

    def _feature_sums(self, table: Floats) -> Floats:
        """Sum over the states of each feature, shape (n_features, n_columns)."""
        return np.asarray(np.add.reduceat(table, self.offsets[:-1], axis=0))


class _Block(NamedTuple):
    """Some rows: which states they show, their classes and weights."""

    rows: slice
    shown: sparse.csr_array
    classes: NDArray[np.intp]
    weights: Floats


class _Expectation(NamedTuple):
    """Results of an E step for some rows."""

    log_posteriors: list[Floats]  # each (n_rows, n_nodes, n_outputs), class unseen
    shares: list[Floats]  # each (n_rows, n_nodes), P(node), class known
    log_own: Floats  # (n_rows,), log P(own class)


@dataclass(frozen=True, eq=False)
class Ascent:
    """The end of the steps that raise an objective, and its course."""

    point: Floats  # (n_parameters,), the end
    objectives: tuple[float, ...]  # at the start and after each step; never falls
    converged: bool  # whether it ended for want of a rise, not of steps


class MixtureLikelihood:
    """Probability of the classes under a hierarchical mixture, given the features.

    Equal rows are merged, and rows without weight left out; ValueError if none is left.
    Unless `naive_experts`, the parameters are only those of the gates, and `log_own`
    (n_rows, n_experts) contains the log probability that each given expert assigns to
    the class of each merged row.
    """

    def __init__(
        self,
        codes: Codes,
        architecture: tuple[int, ...],
        pseudo_count: float,
        *,
        naive_experts: bool = True,
    ) -> None:
        codes = codes.rows(codes.weights > 0)
        if not codes.n_rows:
            raise ValueError("there are no rows with a positive weight to learn from")
        self.codes = merged_rows(codes)[0]
        self.architecture = architecture
        self._pseudo_count = pseudo_count
        self._naive_experts = naive_experts
        *cards, n_classes = codes.cards
        outputs = (*architecture, n_classes) if naive_experts else architecture
        self.layout = Layout(tuple(cards), outputs)
        self.log_own = np.zeros((self.codes.n_rows, prod(architecture)))
        self._blocks = [
            self._block(slice(first, first + _BLOCK))
            for first in range(0, self.codes.n_rows, _BLOCK)
        ]

    def random_start(self, spread: float, rng: np.random.Generator) -> Floats:
        """A start, flat: naive Bayes experts, undecided gates, and normal noise."""
        n_experts = prod(self.architecture)
        counts = np.zeros(self.layout.shape)
        for block in self._blocks:
            shares = [np.full((len(block.classes), n_experts), 1.0 / n_experts)]
            known = self._known(block, self._up_the_tree(shares))
            counts += _counts(block, known)
        noise = spread * rng.standard_normal(self.layout.shape)
        return np.asarray(np.log(counts + self._pseudo_count) + noise).ravel()

    def normalized(self, point: Floats) -> Floats:
        """Logarithms of the distributions that a flat point stands for."""
        return self.layout.normalized(point.reshape(self.layout.shape))

    def log_prior(self, logs: Floats) -> float:
        """Log density of the Dirichlet prior, up to a constant (nats)."""
        return self._pseudo_count * float(logs.sum())

    def objective(self, point: Floats) -> tuple[float, Floats]:
        """Conditional log-likelihood plus log prior (nats), and the gradient.

        `point` (n_parameters,) is the flat table of unnormalised logarithms; its
        gradient is expected counts with the class known less those without.
        """
        logs = self.normalized(point)
        value = self.log_prior(logs)
        slopes = np.full(self.layout.shape, self._pseudo_count)
        for block, found in self._expectations(logs):
            value += float((block.weights * found.log_own).sum())
            known = self._known(block, found.shares)
            blind = [
                (np.exp(posterior) * share[:, :, None]).reshape(len(known), -1)
                for posterior, share in zip(found.log_posteriors, found.shares)
            ]
            slopes += _counts(block, known - np.concatenate(blind, axis=1))
        return value, self.layout.tangent(slopes, logs).ravel()

    def maximize(
        self, start: Floats, max_iter: int, tol: float, progress: Progress | None = None
    ) -> Ascent:
        """Raise the objective from a flat point by steps none of which leads down.

        L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995). The steps end once one gains at most
        `tol` nats per row, by weight, or that share of a larger loss.
        """
        objectives = [self.objective(start)[0]]
        weight, work = float(self.codes.weights.sum()), Work()

        def loss(point: Floats) -> tuple[float, Floats]:
            value, gradient = self.objective(point)
            return -value / weight, -gradient / weight

        def record(intermediate_result: OptimizeResult) -> None:
            objectives.append(-weight * float(intermediate_result.fun))
            work.say(f"step {len(objectives) - 1} of at most {max_iter}")
            if progress is not None:
                progress(len(objectives) - 1, objectives[-1])

        with one_thread_of_linear_algebra():
            end = minimize(
                loss,
                start,
                jac=True,
                method="L-BFGS-B",
                callback=record,
                options={
                    "maxiter": max_iter,
                    "maxfun": 100 * max_iter,
                    "ftol": tol,
                    "gtol": 0.0,
                },
            )
        return Ascent(end.x, tuple(objectives), len(objectives) <= max_iter)

    def responsibilities(self, logs: Floats) -> Floats:
        """Which expert each merged row belongs to, shape (n_rows, n_experts)."""
        shares = [found.shares[-1] for _, found in self._expectations(logs)]
        return np.concatenate(shares)

    def _block(self, rows: slice) -> _Block:
        """Take some rows apart."""
        codes = self.codes.rows(rows)
        cards = codes.cards[:-1]
        columns = [codes.column(feature) for feature in range(len(cards))]
        seen = [column < card for column, card in zip(columns, cards, strict=True)]
        present = np.array(seen).T
        places = np.array(columns, dtype=np.int64).T + self.layout.offsets[:-1]
        shown = sparse.csr_array(
            (
                np.ones(np.count_nonzero(present)),
                places[present],
                np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
            ),
            shape=(codes.n_rows, self.layout.shape[0] - 1),
        )
        classes = codes.column(len(cards)).astype(np.intp)
        return _Block(rows, shown, classes, np.asarray(codes.weights))

    def _expectations(self, logs: Floats) -> Iterator[tuple[_Block, _Expectation]]:
        """The E step, block by block."""
        for block in self._blocks:
            scores = block.shown @ logs[:-1] + logs[-1]
            log_posteriors = []
            path = np.zeros((len(scores), 1))
            for level in self.layout.levels:
                part = level.part(scores)
                posterior = part - log_sum_exp(part, axis=2)[:, :, None]
                log_posteriors.append(posterior)
                if len(log_posteriors) <= len(self.architecture):
                    path = (path[:, :, None] + posterior).reshape(len(path), -1)
            joint = path + self._log_own(block, log_posteriors)
            log_own = log_sum_exp(joint, axis=1)
            shares = self._up_the_tree([np.exp(joint - log_own[:, None])])
            yield block, _Expectation(log_posteriors, shares, log_own)

    def _log_own(self, block: _Block, log_posteriors: list[Floats]) -> Floats:
        """Log probability of each row's class by each expert."""
        if not self._naive_experts:
            return self.log_own[block.rows]
        rows = np.arange(len(block.classes))
        return np.asarray(log_posteriors[-1][rows, :, block.classes])

    def _up_the_tree(self, shares: list[Floats]) -> list[Floats]:
        """Shares of all levels, the root's first, from those of the experts."""
        for n_children in reversed(self.architecture):
            below = shares[0]
            groups = below.reshape(len(below), -1, n_children)
            shares = [groups.sum(axis=2), *shares]
        return shares

    def _known(self, block: _Block, shares: list[Floats]) -> Floats:
        """What each output should have said, shape (n_rows, n_columns).

        A gate's child gets the child's share, an expert's true class the expert's.
        """
        parts = shares[1:]
        if self._naive_experts:
            n_classes = self.layout.levels[-1].n_outputs
            told = np.zeros((*shares[-1].shape, n_classes))
            told[np.arange(len(told)), :, block.classes] = shares[-1]
            parts = [*parts, told.reshape(len(told), -1)]
        return np.concatenate(parts, axis=1)


def _counts(block: _Block, said: Floats) -> Floats:
    """Weight of what the outputs said, with each state and, last, in all."""
    weighted = said * block.weights[:, None]
    return np.vstack([block.shown.T @ weighted, weighted.sum(axis=0)])
