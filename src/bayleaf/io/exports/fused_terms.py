"""Terms of an average, those of all networks that look at the same features as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.occupied_terms import OccupiedTerm, occupied_terms

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Maps = tuple[NDArray[np.int64], ...]
# Cells of a table over the model's own codes that terms of several codings may share.
_MOST_CELLS = 2_000_000
# How many times as many entries that table may have: fewer look-ups are worth some.
_WORTH = 1.5


@dataclass(frozen=True, eq=False)
class FusedTerm:
    """What joint states of some features add to the scores, zero for other states.

    Parameters
    ----------
    child : int
        The feature that the term tells of.
    features : tuple of int
        Whose joint states are looked up, in increasing order.
    maps : tuple of ndarray of shape (n_codes,)
        The state of each code of each feature, missing cells last.
    counts_for : ndarray of shape (n_codes,), optional
        Under which codes of the child the term counts, if not under all.
    states : ndarray of shape (n_entries, n_features)
        Joint states, in increasing order.
    rows : ndarray of shape (n_entries, n_classes)
        Nats relative to those of the first class.
    """

    child: int
    features: tuple[int, ...]
    maps: Maps
    counts_for: NDArray[np.bool_] | None
    states: Whole
    rows: Floats

    @property
    def radices(self) -> tuple[int, ...]:
        """Numbers of states of the features, those of unknown ones included."""
        return tuple(int(own.max()) + 1 for own in self.maps)

    @property
    def keys(self) -> Whole:
        """Joint states as numbers, the last feature varying fastest."""
        keys: Whole = np.ravel_multi_index(tuple(self.states.T), self.radices)
        return keys


def fused_terms(values: Mapping[str, Any], *, by_child: bool) -> list[FusedTerm]:
    """What all families of an average say at all depths, in as few tables as pay.

    Tables of networks that see features in the same coding are added up. So are those
    of different codings, over the model's own codes, where that has few more entries.

    Parameters
    ----------
    values : mapping of str to object
        What an average ships.
    by_child : bool
        Whether tables that tell of different features are kept apart.

    Returns
    -------
    list of FusedTerm
        By child and features. Nats are relative to a row without any evidence.
    """
    groups: dict[tuple[Any, ...], dict[bytes, list[FusedTerm]]] = {}
    for term in _coded_terms(values):
        says = b"" if term.counts_for is None else term.counts_for.tobytes()
        owner = term.child if by_child or says else -1
        group = groups.setdefault((owner, term.features, says), {})
        coding = b"|".join(own.tobytes() for own in term.maps)
        group.setdefault(coding, []).append(term)
    found: list[FusedTerm] = []
    for group in groups.values():
        found += _shared_codes([_added_up(terms) for terms in group.values()])
    telling = [term for term in found if len(term.rows)]
    return sorted(telling, key=lambda term: (term.child, term.features))


def _added_up(terms: Sequence[FusedTerm]) -> FusedTerm:
    """Terms over the same states as one."""
    keys = np.concatenate([term.keys for term in terms])
    rows = np.concatenate([term.rows for term in terms])
    distinct, places = np.unique(keys, return_inverse=True)
    columns = [np.bincount(places, own, len(distinct)) for own in rows.T]
    return _term(terms[0], terms[0].maps, distinct, np.stack(columns, axis=1))


def _term(like: FusedTerm, maps: Maps, keys: Whole, rows: Floats) -> FusedTerm:
    """A term with other states."""
    says = (rows != 0).any(axis=1)
    radices = tuple(int(own.max()) + 1 for own in maps)
    states = np.stack(np.unravel_index(keys[says], radices), axis=1)
    return FusedTerm(
        like.child, like.features, maps, like.counts_for, states, rows[says]
    )


def _shared_codes(terms: list[FusedTerm]) -> list[FusedTerm]:
    """Terms of several codings as one over the codes where that pays."""
    first = terms[0]
    cells = prod(len(own) for own in first.maps)
    n_entries = sum(len(term.rows) for term in terms)
    if len(terms) == 1 or cells > min(_MOST_CELLS, 20 * n_entries):
        return terms
    shape = tuple(len(own) for own in first.maps)
    total = np.zeros((*shape, first.rows.shape[1]))
    for term in terms:
        table = np.zeros((*term.radices, first.rows.shape[1]))
        table[tuple(term.states.T)] = term.rows
        total += table[np.ix_(*term.maps)]
    codes = tuple(np.arange(size) for size in shape)
    fused = _term(first, codes, np.arange(cells), total.reshape(cells, -1))
    return [fused] if len(fused.rows) <= _WORTH * n_entries else terms


def _coded_terms(values: Mapping[str, Any]) -> list[FusedTerm]:
    """The terms of all families, each in the coding of its network."""
    networks = values["networks"]
    every = np.asarray(values["weights"]) / len(networks)
    codings = [
        [np.asarray(own).astype(np.int64) for own in coding]
        for coding in values["codings"]
    ]
    found = []
    for network in networks:
        maps = codings[int(network["coding"])]
        for family, weights in zip(network["families"], every, strict=True):
            if family is None:
                continue
            terms = occupied_terms(family, weights, values["pseudo"])
            found += [_of_features(term, family["variables"], maps) for term in terms]
    return found


def _of_features(
    term: OccupiedTerm, variables: Sequence[int], maps: Sequence[Whole]
) -> FusedTerm:
    """A term of a family's members as one of features in increasing order."""
    child = variables[0]
    rows = term.rows - term.rows[:, :1]
    if not term.members:
        # What no parent conditions is a table of the child's states.
        states = np.flatnonzero(term.says)[:, None]
        rows = np.repeat(rows, len(states), axis=0)
        return FusedTerm(child, (child,), (maps[child],), None, states, rows)
    own = [variables[k] for k in term.members]
    states = np.stack(np.unravel_index(term.keys, term.widths), axis=1)
    order = np.argsort(own)
    features = tuple(own[k] for k in order)
    counts_for = None if 0 in term.members else term.says[maps[child]]
    return FusedTerm(
        child,
        features,
        tuple(maps[v] for v in features),
        counts_for,
        states[:, order],
        rows,
    )
