"""Learning what the terms of an average count in partial cases, from left-out rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from bayleaf.cpds.random_network import FamilyBank, OwnShares
from bayleaf.data.codes import Codes
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.scoring.partial_cases import (
    MIN_STRENGTH,
    PartialCases,
    deeper_weights,
    mean_factors,
    parent_sets,
    parents_of,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows

Floats = NDArray[np.float64]

# Logarithms to take for left-out rows at most, rows to take them for, and sets per row.
_MAX_LOGS, _ROWS, _SETS_PER_ROW = 1 << 22, (100, 500), 3
# Rows whose posteriors by class and feature are held at a time.
_BLOCK_ROWS = 512
# What a row counts, all its sets together, against the pull.
_ROW_WEIGHT = 4.0
# Where ln(rate), ln(base rate) and the parents' share are pulled to, and their bounds.
_START = np.array([0.3, 0.0, 0.5])
_BOUNDS = [(-6.0, 4.0), (-4.0, 4.0), (0.0, 2.5)]
# Share of sets of at most so many features.
_SHARE_OF_FEW, _FEW = 0.3, 4


def learn_partial_cases(
    model: AveragedKDBModel,
    bank: FamilyBank,
    left_out: LeftOutRows,
    alone: NDArray[np.floating[Any]] | None,
    rng: np.random.Generator,
    monotone: tuple[int, ...] = (),
) -> PartialCases:
    """Learn the strengths of features, two rates and the share of parents.

    The weights of `model` stay; `left_out` rows are in random order. `alone` are their
    mean ln P(state | class), (n_rows, n_classes, n_features), if known; `rng` draws the
    sets of known features; the sums of `monotone` features are in order.
    """
    n_features, n_depths = model.weights.shape
    work = model.n_classes * n_depths * len(model.networks) * n_features
    n_rows = int(np.clip(_MAX_LOGS // max(1, work), *_ROWS))
    rows = left_out.stretch(slice(0, n_rows))
    if alone is None:
        alone = np.empty((rows.n_rows, model.n_classes, n_features))
        shares = OwnShares(rows.own.astype(np.int64), rows.shares)
        features = range(n_features)
        bank.write_log_probabilities(features, rows.features, alone, 0, 1, shares)
        strengths = _strengths(model.prior, alone, rows)
    else:
        strengths = _strengths(model.prior, alone, left_out)
    start = PartialCases(strengths, *_numbers(_START), monotone)
    if n_features < 2 or model.n_classes < 2:
        return start
    pieces = _Pieces.of(model, bank, rows, start, rng)
    result = minimize(
        pieces.loss,
        _START,
        args=(start,),
        jac=True,
        method="L-BFGS-B",
        bounds=_BOUNDS,
        options={"maxiter": 60, "ftol": 1e-13, "gtol": 1e-9},
    )
    return PartialCases(strengths, *_numbers(result.x), monotone)


def _numbers(logs: Floats) -> tuple[float, float, float]:
    """The two rates and the share of parents."""
    return float(np.exp(logs[0])), float(np.exp(logs[1])), float(logs[2])


def _strengths(
    prior: Floats, alone: NDArray[np.floating[Any]], rows: LeftOutRows
) -> Floats:
    """Information of each feature alone about the class of left-out rows, nats."""
    labels, weights = rows.own, rows.codes.weights
    gains = np.empty((len(labels), alone.shape[2]))
    for first in range(0, len(labels), _BLOCK_ROWS):
        part = slice(first, first + _BLOCK_ROWS)
        own = labels[part]
        with np.errstate(divide="ignore"):
            logs = log_softmax(np.log(prior)[:, None] + alone[part], axis=1)
        gains[part] = logs[np.arange(len(own)), own] - np.log(prior[own])[:, None]
    for feature, gain in enumerate(gains.T):
        gain[rows.codes.column(feature) >= rows.codes.cards[feature]] = 0.0
    means = weights @ gains / weights.sum()
    return np.asarray(np.maximum(means, MIN_STRENGTH))


def _drawn_sets(
    n_sets: int, strengths: Floats, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Sets of features of all sizes but the whole; half favour strong features."""
    n_features = len(strengths)
    sizes = rng.integers(1, n_features, n_sets)
    few = rng.random(n_sets) < _SHARE_OF_FEW
    small = rng.integers(1, _FEW + 1, n_sets)
    sizes = np.where(few, np.minimum(small, n_features - 1), sizes)
    noise = rng.gumbel(size=(n_sets, n_features))
    noise += (rng.random(n_sets) < 0.5)[:, None] * np.log(strengths)
    ranks = np.argsort(np.argsort(-noise, axis=1), axis=1)
    return np.asarray(ranks < sizes[:, None])


class _Pieces(NamedTuple):
    """Scores of the known features of left-out rows, (n_pairs, n_classes, n_features).

    A pair is a row and a set of features.
    """

    known: NDArray[np.bool_]  # (n_pairs, n_features)
    labels: NDArray[np.intp]  # (n_pairs,), class of the row
    weights: Floats  # (n_pairs,)
    alone: Floats  # by the feature itself
    parents: Floats  # what its parents change then
    learned: Floats  # as in complete rows
    prior: Floats  # (n_classes,), log
    base: Floats  # (n_classes,), as learned

    @classmethod
    def of(
        cls,
        model: AveragedKDBModel,
        bank: FamilyBank,
        rows: LeftOutRows,
        rule: PartialCases,
        rng: np.random.Generator,
    ) -> _Pieces:
        """Pairs of rows and drawn sets."""
        n_features = len(model.weights)
        n_pairs = _SETS_PER_ROW * rows.n_rows
        of_pair = np.arange(n_pairs) % rows.n_rows
        codes = rows.features.rows(of_pair)
        columns = [codes.column(i).copy() for i in range(n_features)]
        known = _drawn_sets(n_pairs, rule.strengths, rng)
        for feature, (column, card) in enumerate(
            zip(columns, codes.cards, strict=True)
        ):
            known[:, feature] &= column < card
            column[~known[:, feature]] = card
        masked = Codes.from_columns(columns, codes.cards)
        labels, shares = rows.own[of_pair], rows.shares[of_pair]
        left_out = OwnShares(labels.astype(np.int64), shares)
        learned = np.zeros((n_pairs, model.n_classes, n_features))
        if model.linear is not None:
            learned += model.linear.changes(masked, n_features, left_out).sum(axis=3)
        for part in (model.curves, model.trees):
            if part is not None:
                learned += part.changes(masked, n_features).sum(axis=3)
        alone, parents = np.zeros_like(learned), np.zeros_like(learned)
        needed = parent_sets(parents_of(model.networks, model.weights.shape[1]))
        factors = mean_factors(needed, known)
        by_itself = replace(rule, parents_share=1.0).alone_weights(model.weights)
        deeper = deeper_weights(model.weights)
        for feature in range(n_features):
            chosen = np.flatnonzero(known[:, feature])
            # Parents without weight in whole rows do not count here either.
            n_used = 1 + int(np.flatnonzero(deeper[feature]).max(initial=0))
            logs = np.empty((len(chosen), model.n_classes, n_used))
            bank.write_log_probabilities(
                range(feature, feature + 1),
                masked.rows(chosen),
                logs,
                0,
                n_used,
                OwnShares(left_out.own[chosen], shares[chosen]),
            )
            changes = np.diff(logs, axis=2, prepend=0.0)
            changes *= factors[chosen, None, feature, :n_used]
            learned[chosen, :, feature] += changes @ deeper[feature, :n_used]
            alone[chosen, :, feature] = changes[:, :, 0]
            parents[chosen, :, feature] = (
                changes[:, :, 1:] @ by_itself[feature, 1:n_used]
            )
        for feature in rule.monotone:
            total = model.weights[feature].sum() or 1.0
            alone[:, :, feature] = learned[:, :, feature] / total
            parents[:, :, feature] = 0.0
        with np.errstate(divide="ignore"):
            prior = np.log(model.prior)
        weights = rows.codes.weights[of_pair] * (_ROW_WEIGHT / _SETS_PER_ROW)
        for piece in (alone, parents, learned):
            piece -= piece.mean(axis=1, keepdims=True)
        return cls(known, labels, weights, alone, parents, learned, prior, model.base)

    def loss(self, numbers: Floats, rule: PartialCases) -> tuple[float, Floats]:
        """Log-loss of all pairs, and the pull of the numbers, with the slope."""
        tried = PartialCases(rule.strengths, *_numbers(numbers), rule.monotone)
        alone, base = tried.shares(self.known)
        # Two arrays of the pieces' size serve all products: fresh ones cost more.
        beyond = numbers[2] * self.parents
        beyond += self.alone
        beyond -= self.learned
        pieces = alone[:, None] * beyond
        pieces += self.learned
        scores = self.prior + base[:, None] * (self.base - self.prior)
        scores = scores + pieces.sum(axis=2)
        logs = log_softmax(scores, axis=1)
        pairs = np.arange(len(self.labels))
        errors = np.exp(logs)
        errors[pairs, self.labels] -= 1.0
        errors *= self.weights[:, None]
        bent = alone * (1.0 - alone) * self.known
        product = partial(np.multiply, out=pieces)
        slopes = np.array(
            [
                -(errors * product(beyond, bent[:, None]).sum(axis=2)).sum(),
                (
                    errors * (base * (1.0 - base))[:, None] * (self.base - self.prior)
                ).sum(),
                (errors * product(self.parents, alone[:, None]).sum(axis=2)).sum(),
            ]
        )
        pull = numbers - _START
        loss = -(self.weights @ logs[pairs, self.labels]) + (pull @ pull) / 2.0
        return float(loss), slopes + pull
