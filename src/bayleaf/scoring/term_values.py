"""Values of terms for rows of codes, and products of tables that are summed out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.inference.plain_rules import MAX_LOG_DENSITY
from bayleaf.inference.table_algebra import (
    Table,
    aligned,
    eliminated,
    elimination_order,
)
from bayleaf.scoring.terms import (
    Counts,
    Density,
    Factor,
    Floats,
    Look,
    SumOut,
    Tree,
    joint_keys,
)

Columns = Sequence[NDArray[np.intp]]


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
    scopes = [frozenset(variables) for variables, _ in tables]
    order, n_cells = elimination_order(scopes, frozenset().union(*scopes) - kept, cards)
    if n_cells > max_cells:
        raise ValueError(f"a table would have {n_cells:,.0f} cells")
    return eliminated(tables, order, np.add, partial(log_sum_exp, axis=-1), 1)


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
        total = total + aligned(logs, variables, scope, 1)
    return total


def joint_scores(
    cards: Sequence[int],
    factors: Sequence[Factor],
    options: Mapping[int, NDArray[np.intp]],
    max_cells: float = np.inf,
) -> Floats:
    """Sum out a network for all joint options of features, (n_classes, *n_options).

    An option is a code of a known or missing cell; other variables are summed out.
    Features with one option have no axis; each other one is the child of a variable
    that chooses among them. ValueError if a table would have more cells.
    """
    single = {f: codes for f, codes in options.items() if len(codes) == 1}
    known = {f: codes for f, codes in single.items() if codes[0] < cards[f]}
    tables = [sliced(factor.variables, factor.logs, known) for factor in factors]
    label, sizes = len(cards) - 1, list(cards)
    for feature, codes in options.items():
        if feature in single:
            continue
        logs = np.zeros((1, len(codes), cards[feature]))
        rows = np.flatnonzero(codes < cards[feature])
        logs[0, rows] = -np.inf
        logs[0, rows, codes[rows]] = 0.0
        tables.append(((len(sizes), feature), logs))
        sizes.append(len(codes))
    kept = [label, *range(len(cards), len(sizes))]
    tables = summed_out(tables, sizes, set(kept), max_cells)
    total = product(tables, kept)[0]
    return np.broadcast_to(total, [sizes[v] for v in kept])


def linked_factors(term: SumOut) -> Iterator[tuple[set[int], tuple[Factor, ...]]]:
    """Factors that share no variable but the class with others, and their variables."""
    label = len(term.cards) - 1
    parts: list[tuple[set[int], tuple[Factor, ...]]] = []
    for factor in term.factors:
        members = {*factor.variables} - {label}
        factors: tuple[Factor, ...] = (factor,)
        for own, others in [part for part in parts if part[0] & members]:
            members, factors = members | own, (*others, *factors)
        parts = [part for part in parts if not part[0] & members]
        parts.append((members, factors))
    yield from parts
