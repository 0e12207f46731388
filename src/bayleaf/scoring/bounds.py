"""Worst-case changes: how far changed cells can lower the log-odds of a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.scoring.term_values import joint_scores, linked_factors, tabulated
from bayleaf.scoring.terms import Counts, Factor, Floats, LogSum, ScoringProgram, SumOut

Indices = NDArray[np.intp]

# Families of counts, cells of a table and of one that is computed, and mutable members
# of a table, beyond which no bound is sought.
_MAX_FAMILIES = 30
_MAX_CELLS = 5_000_000
_MAX_COMPUTED_CELLS = 50_000
_MAX_MEMBERS = 6

# Features, and log-odds against each class, (n_classes, *options); the first option of
# each feature is the row's own.
_Table = tuple[tuple[int, ...], Floats]


class _NoBoundsError(Exception):
    """A term has no bounds, or too many cells."""


def worst_changes(
    program: ScoringProgram,
    codes: Codes,
    features: Indices,
    states: Indices,
    chosen: int,
) -> tuple[Floats, Floats] | None:
    """Bound the log-odds of a class after changes of a row to other states.

    `start` (n_classes,) and `gains` (n_changes, n_classes), nats: log-odds against each
    class after a set of changes are at least `start` minus the sum of its gains. Exact
    where each term looks at one feature. None for logs of sums, zeros, large tables.
    Each table charges a change with the largest fall that a set of its members can
    cause, divided by their number; so the charges of a set are never below its fall.
    """
    places = [np.flatnonzero(features == f) for f in range(len(program.cards))]
    options = [
        np.append(codes.column(f)[:1], states[own]).astype(np.intp)
        for f, own in enumerate(places)
    ]
    start = program.base[chosen] - program.base
    gains = np.zeros((len(features), len(start)))
    try:
        # Zeros make differences of infinities, and no bounds.
        with np.errstate(invalid="ignore"):
            tables = list(_tables(program, options, chosen))
    except _NoBoundsError:
        return None
    for members, odds in tables:
        now = odds.reshape(len(odds), -1)[:, 0]
        start = start + now
        for feature, charge in zip(members, _charges(odds, now), strict=True):
            gains[places[feature]] += charge
    for term in program.terms:
        if isinstance(term, SumOut):
            start = start - 2 * term.weight * term.excess
    if not (np.isfinite(start).all() and np.isfinite(gains).all()):
        return None
    return start, gains


def _charges(odds: Floats, now: Floats) -> list[Floats]:
    """Charges of the changes of each member of a table, (n_changes, n_classes)."""
    sizes = [size - 1 for size in odds.shape[1:]]
    charges = [np.full((size, len(now)), -np.inf) for size in sizes]
    mutable = [axis for axis, size in enumerate(sizes) if size]
    if len(mutable) > _MAX_MEMBERS:
        worst = now - odds.reshape(len(now), -1).min(axis=1)
        return [np.broadcast_to(worst, charge.shape) for charge in charges]
    for n in range(1, len(mutable) + 1):
        for changed in combinations(mutable, n):
            index: list[Any] = [slice(None)]
            index += [slice(1, None) if a in changed else 0 for a in range(len(sizes))]
            values = odds[tuple(index)]
            for place, axis in enumerate(changed, start=1):
                others = tuple(a for a in range(1, n + 1) if a != place)
                falls = (now[:, None] - values.min(axis=others)).T / n
                np.maximum(charges[axis], falls, out=charges[axis])
    return charges


def _tables(
    program: ScoringProgram, options: Sequence[Indices], chosen: int
) -> Iterator[_Table]:
    """Least log-odds that the parts of all terms add, by the options of features."""
    if sum(isinstance(term, Counts) for term in program.terms) > _MAX_FAMILIES:
        raise _NoBoundsError
    for term in program.terms:
        if isinstance(term, LogSum):
            raise _NoBoundsError
        if isinstance(term, SumOut):
            yield from _network_tables(term, options, chosen)
            continue
        # Other terms are exact.
        table = tabulated(term, options, len(program.base), _MAX_COMPUTED_CELLS)
        if table is None:
            raise _NoBoundsError
        features, nats = table
        yield features, np.moveaxis(nats[..., [chosen]] - nats, -1, 0)


def _network_tables(
    term: SumOut, options: Sequence[Indices], chosen: int
) -> Iterator[_Table]:
    """Tables of a network: exact for small parts with latent variables."""
    label, n_classes = len(term.cards) - 1, term.cards[-1]
    parents = {v for factor in term.factors for v in factor.variables[:-1]}
    for members, factors in linked_factors(term):
        own = {f: options[f] for f in sorted(members) if f < len(options)}
        n_cells = prod(len(codes) for codes in own.values()) * n_classes
        if len(own) < len(members) and n_cells <= _MAX_COMPUTED_CELLS:
            try:
                logs = joint_scores(term.cards, factors, own, _MAX_CELLS)
            except ValueError as error:
                raise _NoBoundsError from error
            several = tuple(f for f, codes in own.items() if len(codes) > 1)
            yield several, term.weight * (logs[chosen] - logs)
            continue
        for factor in factors:
            if label in factor.variables:
                features, odds = _least_odds(factor, options, term, parents, chosen)
                yield features, term.weight * odds


def _least_odds(
    factor: Factor,
    options: Sequence[Indices],
    term: SumOut,
    parents: set[int],
    chosen: int,
) -> _Table:
    """Least log-odds of a distribution, whatever the states of variables summed out.

    A ratio of sums is not less than the least ratio of their terms.
    """
    label = len(term.cards) - 1
    members = [v for v in factor.variables if v != label]
    logs = np.moveaxis(factor.logs, factor.variables.index(label), 0)
    # A latent variable is missing always.
    codes = {
        v: options[v] if v < len(options) else np.array([term.cards[v]])
        for v in members
    }
    for axis, v in enumerate(members, start=1):
        if (codes[v] < term.cards[v]).all():
            logs = logs.take(codes[v], axis=axis)
    if logs.size > _MAX_CELLS:
        raise _NoBoundsError
    odds = np.asarray(logs[chosen] - logs)
    for axis, v in enumerate(members, start=1):
        if (codes[v] >= term.cards[v]).any():
            least = odds.min(axis=axis, keepdims=True)
            if v < len(options) and v not in parents:
                # A missing feature without children adds nothing.
                least = np.zeros_like(least)
            odds = np.concatenate([odds, least], axis=axis).take(codes[v], axis=axis)
    kept = [v for v in members if v < len(options)]
    return tuple(kept), odds.reshape(len(odds), *(len(options[v]) for v in kept))
