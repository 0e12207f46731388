"""Scoring programs run with NumPy: what every backend is compared with.

Values of terms for rows of codes, products of tables that are summed out, and the
scores and contributions that they add up to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.scoring.partial_cases import distinct_sets, known_cells
from bayleaf.scoring.terms import (
    MAX_LOG_DENSITY,
    PRIOR,
    Bank,
    Counts,
    Density,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Term,
    Tree,
    joint_keys,
)

Columns = Sequence[NDArray[np.intp]]
# Variables, and logarithms by row and their states.
Table = tuple[tuple[int, ...], Floats]
Classes = NDArray[np.intp]
# An owner, and scores with all evidence up to its own, shape (n_rows, n_classes).
Step = tuple[int | Classes, Floats]


def parts(
    term: Look | Counts | Density | Tree, columns: Columns, shape: tuple[int, ...]
) -> Iterator[tuple[int | NDArray[np.intp], Floats]]:
    """Nats (n_rows, n_classes) that a term adds, by owner: one, or one per row."""
    if isinstance(term, Look):
        yield term.owner, _looked_up(term, columns, shape[0])
    elif isinstance(term, Counts):
        for look in term.looks:
            yield look.owner, _looked_up(look, columns, shape[0])
    elif isinstance(term, Density):
        yield term.features[0], term.weight * _log_density(term, columns)
    else:
        yield from _tree_steps(term, columns, shape)


def tabulated(
    term: Look | Counts | Density | Tree,
    options: Sequence[NDArray[np.intp]],
    n_classes: int,
    max_numbers: int,
) -> tuple[tuple[int, ...], Floats] | None:
    """Features of a term, and its nats for all joint options (*n_options, n_classes).

    Options are codes of all features; None if there were more numbers.
    """
    if isinstance(term, Tree):
        members = tuple(np.unique(term.features[term.features >= 0]).tolist())
    elif isinstance(term, Look) and term.gate is not None:
        members = tuple({*term.features, term.owner})
    else:
        members = term.features
    sizes = [len(options[f]) for f in members]
    n_rows = prod(sizes)
    if n_rows * n_classes > max_numbers:
        return None
    columns = [np.zeros(n_rows, np.intp)] * len(options)
    for feature, indices in zip(members, np.indices(sizes).reshape(len(sizes), -1)):
        columns[feature] = options[feature][indices]
    values = np.zeros((n_rows, n_classes))
    for _, nats in parts(term, columns, values.shape):
        values += nats
    return members, values.reshape(*sizes, n_classes)


def _looked_up(look: Look, columns: Columns, n_rows: int) -> Floats:
    """The entry of each row, zero where no entry is listed."""
    known = look.keys
    total = np.zeros((n_rows, look.rows.shape[1]))
    if not len(known):
        return total
    states = [own[columns[f]] for f, own in zip(look.features, look.maps)]
    keys = joint_keys(states, look.radices, n_rows)
    order = np.argsort(known)
    ranks = np.searchsorted(known, keys, sorter=order)
    entries = order[np.minimum(ranks, len(known) - 1)]
    counts = known[entries] == keys
    if look.gate is not None:
        counts &= look.gate[columns[look.owner]]
    total[counts] = look.rows[entries[counts]]
    return total


def _log_density(term: Density, columns: Columns) -> Floats:
    """Log density of each row's number in each class, zero where it is missing."""
    positions = []
    for feature, by_state in zip(term.features, term.positions):
        by_code = np.append(by_state, np.nan)
        positions.append(by_code[np.minimum(columns[feature], len(by_state))])
    centred = np.stack(positions)[:, :, None] - term.means[:, None, :]
    unknown = np.isnan(centred[1:])
    row = np.concatenate([np.ones_like(centred[:1]), np.where(unknown, 0, centred[1:])])
    residual = centred[0] - (row * term.slopes[:, None]).sum(axis=0)
    missing = (unknown * (term.slopes[1:] ** 2 * term.variances[1:])[:, None]).sum(0)
    leverage, corner = np.zeros_like(residual), 0
    for first in range(len(row)):
        size = len(row) - first
        corners = term.triangle[corner : corner + size, None]
        leverage += (corners * row[first:]).sum(axis=0) ** 2
        corner += size
    spread = term.scale * (1 + leverage) + missing
    far = np.log1p(residual**2 / (spread * term.freedom))
    logs = term.constants - np.log(spread) / 2 - (term.freedom + 1) * far / 2
    logs = np.clip(logs, -MAX_LOG_DENSITY, MAX_LOG_DENSITY)
    return np.where(np.isnan(logs), 0.0, logs)


def _tree_steps(
    tree: Tree, columns: Columns, shape: tuple[int, ...]
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """The steps of all rows from the root on."""
    table, rows = np.stack(columns), np.arange(shape[0])
    nodes = np.zeros(shape[0], np.int64)
    while True:
        tested = tree.features[nodes]
        codes = table[tested, rows]
        moves = (tested >= 0) & (codes < tree.cards[tested])
        if not moves.any():
            return
        ordered, state = tree.is_ordered[nodes], tree.states[nodes]
        left = np.where(ordered, codes <= state, codes == state)
        following = np.where(moves, tree.children[nodes] + ~left, nodes)
        values = np.zeros(shape)
        values[:, tree.label] = tree.values[following] - tree.values[nodes]
        yield tested, values
        nodes = following


def summed_out(
    tables: Sequence[Table],
    cards: Sequence[int],
    kept: set[int],
    max_cells: float = np.inf,
) -> list[Table]:
    """Sum all variables but some out of a product of tables.

    ValueError if a table would have more cells.
    """
    tables = list(tables)
    while True:
        scopes: dict[int, set[int]] = {}
        for variables, _ in tables:
            for variable in variables:
                scopes.setdefault(variable, set()).update(variables)
        # The variable whose sum makes the smallest table goes first.
        sizes = {v: prod(cards[u] for u in s) for v, s in scopes.items()}
        if not scopes.keys() - kept:
            return tables
        variable = min(scopes.keys() - kept, key=lambda v: (sizes[v], v))
        if sizes[variable] > max_cells:
            raise ValueError(f"a table would have {sizes[variable]:,.0f} cells")
        touching = [table for table in tables if variable in table[0]]
        scope = [*sorted(scopes[variable] - {variable}), variable]
        total = log_sum_exp(product(touching, scope), axis=-1)
        rest = [table for table in tables if variable not in table[0]]
        tables = [*rest, (tuple(scope[:-1]), total)]


def sliced(
    variables: tuple[int, ...], logs: Floats, known: dict[int, NDArray[np.intp]]
) -> Table:
    """Select the known states of a table; rows are along the first axis."""
    left = [v for v in variables if v not in known]
    given = [v for v in variables if v in known]
    table = np.moveaxis(logs, [variables.index(v) for v in given], range(len(given)))
    return tuple(left), table[tuple(known[v] for v in given)] if given else table[None]


def product(tables: Sequence[Table], scope: Sequence[int]) -> Floats:
    """Sum of logarithms, with an axis for each variable of a scope."""
    total = np.zeros(1)
    for variables, logs in tables:
        order = sorted(range(len(variables)), key=lambda k: scope.index(variables[k]))
        logs = np.transpose(logs, [0, *(1 + k for k in order)])
        axes = [slice(None) if v in variables else None for v in scope]
        total = total + logs[(slice(None), *axes)]
    return total


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
        prior, terms = (
            np.empty(codes.n_rows),
            np.empty((codes.n_rows, codes.n_variables)),
        )
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
