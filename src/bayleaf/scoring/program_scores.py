"""Scoring programs run with NumPy, row by row as defined: scores and contributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.scoring.partial_cases import distinct_sets, known_cells
from bayleaf.scoring.term_values import Columns, parts, product, sliced, summed_out
from bayleaf.scoring.terms import (
    PRIOR,
    Bank,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Term,
)

Classes = NDArray[np.intp]
# An owner, and scores with all evidence up to its own, shape (n_rows, n_classes).
Step = tuple[int | Classes, Floats]


def scores(program: ScoringProgram, codes: Codes) -> Floats:
    """Score of each class, shape (n_rows, n_classes), nats up to a constant per row."""
    if program.sharing is not None:
        total = np.empty((codes.n_rows, len(program.base)))
        for given, rows in _by_known_features(program, codes):
            total[rows] = scores(given, codes.rows(rows))
        return total
    columns, n_classes = _columns(program, codes), len(program.base)
    total = np.tile(program.base, (codes.n_rows, 1))
    for term in program.terms:
        if isinstance(term, LogSum):
            total += _Members(term, columns, n_classes).log_mean()
        else:
            total += _last(_steps(term, columns, n_classes), total.shape)
    return total


def contributions(
    program: ScoringProgram, codes: Codes, target: Classes, against: Classes
) -> tuple[Floats, Floats]:
    """Split log-odds into those of the prior (n_rows,) and (n_rows, n_features)."""
    if program.sharing is not None:
        prior = np.empty(codes.n_rows)
        terms = np.empty((codes.n_rows, codes.n_variables))
        for given, rows in _by_known_features(program, codes):
            part = given, codes.rows(rows), target[rows], against[rows]
            prior[rows], terms[rows] = contributions(*part)
        return prior, terms
    columns, n_classes = _columns(program, codes), len(program.base)
    rows = np.arange(codes.n_rows)
    # The last column, -1, is that of the prior.
    total = np.zeros((codes.n_rows, len(columns) + 1))
    total[:, PRIOR] = program.base[target] - program.base[against]
    for term in program.terms:
        if isinstance(term, LogSum):
            weighted = _Members(term, columns, n_classes).weighted(target, against)
        else:
            weighted = iter([(np.ones(len(rows)), _steps(term, columns, n_classes))])
        for weights, steps in weighted:
            for owner, change in _changes(weights, steps, target, against):
                total[rows, owner] += change
    return total[:, PRIOR], total[:, :-1]


def _changes(
    weights: Floats, steps: Iterator[Step], target: Classes, against: Classes
) -> Iterator[tuple[int | Classes, Floats]]:
    """Weighted change of the log-odds with each step."""
    rows, before = np.arange(len(weights)), np.zeros(len(weights))
    for owner, values in steps:
        # A member without weight may be impossible.
        with np.errstate(invalid="ignore"):
            after = values[rows, target] - values[rows, against]
            change = np.where(weights > 0, weights * (after - before), 0.0)
        yield owner, change
        before = after


def _by_known_features(
    program: ScoringProgram, codes: Codes
) -> Iterator[tuple[ScoringProgram, NDArray[np.intp]]]:
    """The program of each set of known features, and its rows."""
    sets, of_row = distinct_sets(known_cells(codes, len(program.cards)))
    for number, known in enumerate(sets):
        yield program.given(known), np.flatnonzero(of_row == number)


def _columns(program: ScoringProgram, codes: Codes) -> Columns:
    return [codes.column(f).astype(np.intp) for f in range(len(program.cards))]


def _last(steps: Iterator[Step], shape: tuple[int, ...]) -> Floats:
    last = np.zeros(shape)
    for _, values in steps:
        last = values
    return last


def _steps(term: Term, columns: Columns, n_classes: int) -> Iterator[Step]:
    """Scores of a term as evidence is added."""
    assert not isinstance(term, LogSum)
    if isinstance(term, SumOut):
        revealed = [
            np.full_like(column, card) for column, card in zip(columns, term.cards)
        ]
        yield PRIOR, _log_joint(term, revealed)
        for feature in (feature for feature in term.order if feature < len(columns)):
            revealed[feature] = columns[feature]
            yield feature, _log_joint(term, revealed)
        return
    total = np.zeros((len(columns[0]), n_classes))
    for owner, values in parts(term, columns, total.shape):
        total = total + values
        yield owner, total


def _log_joint(term: SumOut, columns: Columns) -> Floats:
    """Weighted log joint probability of each class and the known features."""
    unknown = np.stack([column >= card for column, card in zip(columns, term.cards)])
    label = len(term.cards) - 1
    total = np.empty((unknown.shape[1], term.cards[label]))
    patterns, members = np.unique(unknown, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        rows = np.flatnonzero(members.reshape(-1) == number)
        known = {f: columns[f][rows] for f in np.flatnonzero(~pattern).tolist()}
        tables = [sliced(own.variables, own.logs, known) for own in term.factors]
        tables = summed_out(tables, term.cards, {label})
        total[rows] = product(tables, [label])
    return term.weight * total


def _values(looks: Sequence[Look], columns: Columns, like: Floats) -> Floats:
    """Sum of the entries of tables."""
    total = like.copy()
    for look in looks:
        for _, values in parts(look, columns, total.shape):
            total += values
    return total


class _Members:
    """Members of a log sum, for some rows."""

    def __init__(self, term: LogSum, columns: Columns, n_classes: int) -> None:
        self.term, self.columns = term, columns
        self.shape = (len(columns[0]), n_classes)
        members = [
            _last(_steps(net, columns, n_classes), self.shape) for net in term.networks
        ]
        # Of the experts of each path, (n_rows, n_nodes, n_classes).
        self.experts = []
        for *gates, experts in term.paths:
            weights = np.zeros((self.shape[0], 1))
            for gate in gates:
                weights = weights[:, :, None] + self._nodes(gate)
                weights = weights.reshape(self.shape[0], -1)
            nodes = weights[:, :, None] + self._nodes(experts)
            self.experts.append(nodes)
            members += [log_sum_exp(nodes[:, own], axis=1) for own in _members(experts)]
        self.members = np.stack(members, axis=1)
        self.total = log_sum_exp(self.members, axis=1)
        # Rows without a possible member, where there is a fallback.
        is_empty = ~np.isfinite(self.total).any(axis=1) & bool(term.fallback)
        self.is_empty = np.asarray(is_empty)

    def _nodes(self, bank: Bank) -> Floats:
        """Log scores of all nodes, (n_rows, n_nodes, n_outputs)."""
        base = np.tile(bank.base.ravel(), (self.shape[0], 1))
        total = _values(bank.looks, self.columns, base).reshape(-1, *bank.base.shape)
        if self.term.is_posterior:
            total -= log_sum_exp(total, axis=2)[:, :, None]
        return total

    def log_mean(self) -> Floats:
        """Log of the mean of the possible members, or the fallback."""
        n_possible = (self.members > -np.inf).any(axis=2).sum(axis=1, keepdims=True)
        mean = self.total - np.log(np.maximum(n_possible, 1))
        instead = _values(self.term.fallback, self.columns, np.zeros(self.shape))
        return np.where(self.is_empty[:, None], instead, mean)

    def weighted(
        self, target: Classes, against: Classes
    ) -> Iterator[tuple[Floats, Iterator[Step]]]:
        """Logarithmic-mean weight (n_rows,) of each member, and its steps."""
        weights = np.zeros((self.members.shape[1], self.shape[0]))
        rows = np.flatnonzero(~self.is_empty)
        weights[:, rows] = logarithmic_mean_weights(
            self.members[rows, :, target[rows]].T,
            self.members[rows, :, against[rows]].T,
        )
        steps = [_steps(own, self.columns, self.shape[1]) for own in self.term.networks]
        for (*_, experts), nodes in zip(self.term.paths, self.experts):
            own = _members(experts)
            steps += [self._expert_steps(experts, nodes, member) for member in own]
        yield from zip(weights, steps, strict=True)
        if self.is_empty.any():
            yield self.is_empty.astype(float), self._fallback_steps()

    def _expert_steps(
        self, bank: Bank, nodes: Floats, own: NDArray[np.bool_]
    ) -> Iterator[Step]:
        """Log scores of a member as its possible nodes get the evidence."""
        is_left = (nodes[:, own] > -np.inf).any(axis=2, keepdims=True)
        total = np.where(is_left, bank.base[own], -np.inf)
        yield PRIOR, log_sum_exp(total, axis=1)
        for look in sorted(bank.looks, key=lambda look: look.owner != PRIOR):
            for owner, entries in parts(look, self.columns, self.shape):
                total = total + entries.reshape(-1, *bank.base.shape)[:, own]
                yield owner, log_sum_exp(total, axis=1)

    def _fallback_steps(self) -> Iterator[Step]:
        total = np.zeros(self.shape)
        for look in self.term.fallback:
            total = _values([look], self.columns, total)
            yield look.owner, total


def _members(bank: Bank) -> list[NDArray[np.bool_]]:
    """Nodes of each member."""
    return [bank.member_of == number for number in np.unique(bank.member_of)]
