"""Tables of a program added up, so that a backend looks up as few as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np

from bayleaf.scoring.terms import PRIOR, Counts, Floats, Look, Term, Whole, joint_states

# Cells of a table over the codes themselves that terms of several codings may share.
_MAX_CELLS = 2_000_000
# How many times as many entries that table may have: fewer look-ups are worth some.
_MAX_GROWTH = 1.5


def tables_of(terms: Iterable[Term]) -> Iterator[Look]:
    """The tables among some terms, those of counts included."""
    for term in terms:
        if isinstance(term, Counts):
            yield from term.looks
        elif isinstance(term, Look):
            yield term


def tables_by_weight(terms: Iterable[Term]) -> dict[tuple[int, int], list[Look]]:
    """Tables by owner, and by the number of parents whose change they are.

    In partial cases each has a weight of its own. Tables of counts are returned at a
    weight of one; those that are no parents' change have the number -1.
    """
    groups: dict[tuple[int, int], list[Look]] = {}
    for term in terms:
        if isinstance(term, Counts):
            for look in term.changes:
                n_parents = len(look.features) - (look.gate is None)
                groups.setdefault((look.owner, n_parents), []).append(look)
        elif isinstance(term, Look):
            groups.setdefault((term.owner, -1), []).append(term)
    tables = {key: fused(groups[key], by_owner=True) for key in sorted(groups)}
    return {key: group for key, group in tables.items() if group}


def fused(looks: Iterable[Look], *, by_owner: bool) -> list[Look]:
    """Add up tables over the same features, by owner and features, without zeros.

    Tables in the same coding are added. So are those in different codings, over the
    codes themselves, where that has few more entries. Tables of different owners remain
    separate if `by_owner`.
    """
    groups: dict[tuple[object, ...], dict[bytes, list[Look]]] = {}
    for look in map(_sorted, looks):
        gate = b"" if look.gate is None else look.gate.tobytes()
        owner = look.owner if by_owner or gate else PRIOR
        group = groups.setdefault((owner, look.features, gate), {})
        coding = b"|".join(states.tobytes() for states in look.maps)
        group.setdefault(coding, []).append(look)
    tables: list[Look] = []
    for group in groups.values():
        tables += _over_codes([_added_up(same) for same in group.values()])
    filled = [table for table in tables if len(table.rows)]
    return sorted(filled, key=lambda table: (table.owner, table.features))


def _sorted(look: Look) -> Look:
    """The same table with its features in increasing order."""
    order = np.argsort(look.features).tolist()
    features = tuple(look.features[k] for k in order)
    maps = tuple(look.maps[k] for k in order)
    return Look(look.owner, features, maps, look.states[:, order], look.rows, look.gate)


def _added_up(looks: Sequence[Look]) -> Look:
    """Tables over the same states as one."""
    if len(looks) == 1:
        return looks[0]
    keys = [look.keys for look in looks]
    distinct = np.unique(np.concatenate(keys))
    rows = np.zeros((len(distinct), looks[0].rows.shape[1]))
    for look, states in zip(looks, keys, strict=True):
        rows[np.searchsorted(distinct, states)] += look.rows
    return _table(looks[0], looks[0].maps, distinct, rows)


def _table(like: Look, maps: tuple[Whole, ...], keys: Whole, rows: Floats) -> Look:
    """A table with other entries; those of zeros are left out."""
    filled = (rows != 0).any(axis=1)
    radices = tuple(int(states.max(initial=0)) + 1 for states in maps)
    states = joint_states(keys[filled], radices)
    return Look(like.owner, like.features, maps, states, rows[filled], like.gate)


def _over_codes(looks: list[Look]) -> list[Look]:
    """Tables of several codings as one over the codes, where that is small enough."""
    first = looks[0]
    shape = tuple(len(states) for states in first.maps)
    n_entries = sum(len(look.rows) for look in looks)
    if len(looks) == 1 or prod(shape) > min(_MAX_CELLS, 20 * n_entries):
        return looks
    total = np.zeros((*shape, first.rows.shape[1]))
    for look in looks:
        table = np.zeros((*look.radices, first.rows.shape[1]))
        table[tuple(look.states.T)] = look.rows
        total += table[np.ix_(*look.maps)]
    codes = tuple(np.arange(size) for size in shape)
    keys = np.arange(prod(shape))
    result = _table(first, codes, keys, total.reshape(len(keys), -1))
    return [result] if len(result.rows) <= _MAX_GROWTH * n_entries else looks
