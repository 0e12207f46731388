"""Runs a scoring program with NumPy: what every backend is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
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
)

Columns = Sequence[NDArray[np.intp]]
Classes = NDArray[np.intp]
# Variables, and logarithms by row and their states.
Table = tuple[tuple[int, ...], Floats]


def scores(program: ScoringProgram, codes: Codes) -> Floats:
    """Score of each class, shape (n_rows, n_classes), nats up to a constant per row."""
    columns = _columns(codes, program)
    total = np.tile(program.base, (codes.n_rows, 1))
    for term in program.terms:
        total += term_scores(term, columns, total.shape)
    return total


def contributions(
    program: ScoringProgram, codes: Codes, target: Classes, against: Classes
) -> tuple[Floats, Floats]:
    """Split the log-odds of one class against another into additive terms.

    Parameters
    ----------
    program : ScoringProgram
        The scores.
    codes : Codes
        Features only.
    target, against : ndarray of shape (n_rows,)
        The two classes of each row.

    Returns
    -------
    prior : ndarray of shape (n_rows,)
        Nats of the prior.
    terms : ndarray of shape (n_rows, n_features)
        Nats; zero for missing features.
    """
    columns, rows = _columns(codes, program), np.arange(codes.n_rows)
    # The last column, -1, is that of the prior.
    total = np.zeros((codes.n_rows, len(columns) + 1))
    total[:, PRIOR] = program.base[target] - program.base[against]
    for term in program.terms:
        for owner, odds in _odds(term, columns, target, against, len(program.base)):
            total[rows, owner] += odds
    return total[:, PRIOR], total[:, :-1]


def _columns(codes: Codes, program: ScoringProgram) -> Columns:
    return [codes.column(f).astype(np.intp) for f in range(len(program.cards))]


def term_scores(term: Term, columns: Columns, shape: tuple[int, ...]) -> Floats:
    """Nats that a term adds to the classes, shape (n_rows, n_classes)."""
    if isinstance(term, SumOut):
        return _sum_out(term, columns)
    if isinstance(term, LogSum):
        return _LogSumRows(term, columns, shape).values()
    total = np.zeros(shape)
    for _, values in _parts(term, columns, shape):
        total += values
    return total


def _parts(
    term: Look | Counts | Density | Tree, columns: Columns, shape: tuple[int, ...]
) -> Iterator[tuple[int | Classes, Floats]]:
    """Nats that a term adds, by owner: a feature, or a feature per row."""
    if isinstance(term, Look):
        yield term.owner, _looked_up(term, columns, shape)
    elif isinstance(term, Counts):
        for look in term.looks:
            yield look.owner, _looked_up(look, columns, shape)
    elif isinstance(term, Density):
        yield term.features[0], term.weight * _log_density(term, columns)
    else:
        yield from _steps(term, columns, shape)


def _odds(
    term: Term, columns: Columns, target: Classes, against: Classes, n_classes: int
) -> Iterator[tuple[int | Classes, Floats]]:
    """Log-odds that a term adds, by owner."""
    rows, shape = np.arange(len(target)), (len(target), n_classes)
    if isinstance(term, SumOut):
        yield from _sum_out_odds(term, columns, target, against)
    elif isinstance(term, LogSum):
        yield from _LogSumRows(term, columns, shape).odds(target, against)
    else:
        for owner, values in _parts(term, columns, shape):
            yield owner, values[rows, target] - values[rows, against]


# ---- tables, densities, trees


def _looked_up(look: Look, columns: Columns, shape: tuple[int, ...]) -> Floats:
    """The entry of each row, zero where no entry is listed."""
    radices = look.radices
    keys = np.zeros(shape[0], np.int64)
    known = np.zeros(len(look.states), np.int64)
    for axis, (feature, states) in enumerate(zip(look.features, look.maps)):
        keys = keys * radices[axis] + states[columns[feature]]
        known = known * radices[axis] + look.states[:, axis]
    total = np.zeros((shape[0], look.rows.shape[1]))
    if not len(known):
        return total
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
    return np.where(
        np.isnan(logs), 0.0, np.clip(logs, -MAX_LOG_DENSITY, MAX_LOG_DENSITY)
    )


def _steps(
    tree: Tree, columns: Columns, shape: tuple[int, ...]
) -> Iterator[tuple[Classes, Floats]]:
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


# ---- networks


def _sum_out(term: SumOut, columns: Columns) -> Floats:
    """Log joint probability of each class and the known features, by weight."""
    unknown = np.stack([column >= card for column, card in zip(columns, term.cards)])
    total = np.empty((unknown.shape[1], term.cards[-1]))
    patterns, members = np.unique(unknown, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        rows = np.flatnonzero(members.reshape(-1) == number)
        known = {f: columns[f][rows] for f in np.flatnonzero(~pattern).tolist()}
        total[rows] = _log_joint(term, known, len(rows))
    return term.weight * total


def _log_joint(term: SumOut, known: dict[int, Classes], n_rows: int) -> Floats:
    """Log joint probabilities of rows with the same known features."""
    label = len(term.cards) - 1
    tables = [sliced(factor.variables, factor.logs, known) for factor in term.factors]
    tables = summed_out(tables, term.cards, {label})
    return np.broadcast_to(product(tables, [label]), (n_rows, term.cards[label]))


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
    variables: tuple[int, ...], logs: Floats, known: dict[int, Classes]
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


def _sum_out_odds(
    term: SumOut, columns: Columns, target: Classes, against: Classes
) -> Iterator[tuple[int, Floats]]:
    """Change of the log-odds as features are added in their order."""
    rows = np.arange(len(target))
    return _changes(_revealed(term, columns), rows, target, against)


def _revealed(term: SumOut, columns: Columns) -> Iterator[tuple[int, Floats]]:
    """Scores without a feature, then with one more after the other."""
    revealed = [np.full_like(column, card) for column, card in zip(columns, term.cards)]
    yield PRIOR, _sum_out(term, revealed)
    for feature in (feature for feature in term.order if feature < len(columns)):
        revealed[feature] = columns[feature]
        yield feature, _sum_out(term, revealed)


# ---- averages and mixtures


class _LogSumRows:
    """The members of a log sum, for some rows."""

    def __init__(self, term: LogSum, columns: Columns, shape: tuple[int, ...]) -> None:
        self._term, self._columns, self._shape = term, columns, shape
        members = [_sum_out(net, columns)[:, None, :] for net in term.networks]
        # Of the experts of each path, (n_rows, n_nodes, n_classes).
        self._experts = []
        for *gates, experts in term.paths:
            weights = np.zeros((shape[0], 1))
            for gate in gates:
                weights = (weights[:, :, None] + self._bank(gate)).reshape(shape[0], -1)
            nodes = weights[:, :, None] + self._bank(experts)
            self._experts.append(nodes)
            numbers = np.unique(experts.member_of)
            members += [
                log_sum_exp(nodes[:, experts.member_of == number], axis=1)[:, None]
                for number in numbers
            ]
        self._members = np.concatenate(members, axis=1)

    def _bank(self, bank: Bank) -> Floats:
        """Log scores of all nodes, (n_rows, n_nodes, n_outputs)."""
        total = np.tile(bank.base.ravel(), (self._shape[0], 1))
        for look in bank.looks:
            total += _looked_up(look, self._columns, self._shape)
        total = total.reshape(-1, *bank.base.shape)
        if self._term.is_posterior:
            total = total - log_sum_exp(total, axis=2)[:, :, None]
        return total

    def values(self) -> Floats:
        """Log of the mean, (n_rows, n_classes)."""
        total = log_sum_exp(self._members, axis=1)
        n_possible = (self._members > -np.inf).any(axis=2).sum(axis=1, keepdims=True)
        mean = total - np.log(np.maximum(n_possible, 1))
        return np.where(self._is_empty(total)[:, None], self._fallback(), mean)

    def _is_empty(self, total: Floats) -> NDArray[np.bool_]:
        """Rows without a member that counts, where a fallback exists."""
        if not self._term.fallback:
            return np.zeros(len(total), dtype=np.bool_)
        return np.asarray(~np.isfinite(total).any(axis=1))

    def _fallback(self) -> Floats:
        total = np.zeros(self._shape)
        for look in self._term.fallback:
            total += _looked_up(look, self._columns, self._shape)
        return total

    def odds(self, target: Classes, against: Classes) -> Iterator[tuple[int, Floats]]:
        """Log-odds of the members by logarithmic-mean weights, split by owner."""
        rows = np.arange(len(target))
        empty = self._is_empty(log_sum_exp(self._members, axis=1))
        shares = np.zeros((self._members.shape[1], len(rows)))
        counts = np.flatnonzero(~empty)
        shares[:, counts] = logarithmic_mean_weights(
            self._members[counts, :, target[counts]].T,
            self._members[counts, :, against[counts]].T,
        )
        # A member without weight may be impossible.
        weights = iter(shares)
        for network in self._term.networks:
            share = next(weights)
            for owner, odds in _sum_out_odds(network, self._columns, target, against):
                yield owner, np.where(share > 0, share * odds, 0.0)
        for (*_, experts), nodes in zip(self._term.paths, self._experts, strict=True):
            evidence = self._evidence(experts)
            for number in np.unique(experts.member_of):
                share, own = next(weights), experts.member_of == number
                steps = _member_steps(nodes[:, own], evidence, own)
                for owner, odds in _changes(steps, rows, target, against):
                    yield owner, np.where(share > 0, share * odds, 0.0)
        for look in self._term.fallback if empty.any() else ():
            entries = _looked_up(look, self._columns, self._shape)
            yield (
                look.owner,
                np.where(empty, entries[rows, target] - entries[rows, against], 0.0),
            )

    def _evidence(self, bank: Bank) -> list[tuple[int, Floats]]:
        """What each table adds to each node, by owner, the prior's first."""
        shape = (-1, *bank.base.shape)
        looks = sorted(bank.looks, key=lambda look: look.owner != PRIOR)
        entries = [_looked_up(look, self._columns, self._shape) for look in looks]
        parts = [(look.owner, e.reshape(shape)) for look, e in zip(looks, entries)]
        return [(PRIOR, bank.base[None]), *parts]


def _member_steps(
    nodes: Floats, evidence: Sequence[tuple[int, Floats]], own: NDArray[np.bool_]
) -> Iterator[tuple[int, Floats]]:
    """Log scores of a member by class as its possible nodes get the evidence."""
    is_left = (nodes > -np.inf).any(axis=2, keepdims=True)
    total = np.where(is_left, 0.0, -np.inf)
    for owner, entries in evidence:
        total = total + entries[:, own]
        yield owner, log_sum_exp(total, axis=1)


def _changes(
    steps: Iterable[tuple[int, Floats]],
    rows: Classes,
    target: Classes,
    against: Classes,
) -> Iterator[tuple[int, Floats]]:
    """Change of the log-odds with each step, by owner."""
    before = np.zeros(len(rows))
    for owner, values in steps:
        with np.errstate(invalid="ignore"):
            after = values[rows, target] - values[rows, against]
            yield owner, after - before
        before = after
