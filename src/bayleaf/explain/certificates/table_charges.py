"""What three features or more of an average's families do beyond all pairs of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.occupied_terms import OccupiedTerm, occupied_terms
from bayleaf.models.averaged_kdb import AveragedKDBModel

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# States of each feature: that of the row first, then those of its changes.
Axes = Sequence[NDArray[np.intp]]

# Cells of all families' tables, and members of a family, beyond which no bound is
# sought.
_MAX_CELLS = 20_000_000
_MAX_MEMBERS = 6


@dataclass(frozen=True, eq=False)
class _Family:
    """What a family adds to the scores: (n_classes, *states), unknown ones last."""

    variables: tuple[int, ...]
    maps: tuple[Whole, ...]
    values: Floats


_KNOWN: WeakKeyDictionary[AveragedKDBModel, list[_Family] | None] = WeakKeyDictionary()


def add_table_charges(
    charges: Floats, model: AveragedKDBModel, chosen: int, axes: Axes
) -> bool:
    """Add charges of all families to those of triples, (n, n, n, n_classes).

    Parameters
    ----------
    charges : ndarray of shape (n_features, n_features, n_features, n_classes)
        Takes, at increasing features, what log-odds may fall beyond the falls of all
        single changes and pairs, once for each three features that change.
    model : AveragedKDBModel
        The model.
    chosen : int
        The class whose log-odds fall.
    axes : sequence of ndarray
        Codes of each feature, the row's own first.

    Returns
    -------
    bool
        Whether there are charges; not where tables would be too large.
    """
    if model not in _KNOWN:
        _KNOWN[model] = _families(model)
    families = _KNOWN[model]
    if families is None:
        return False
    for family in families:
        states = [_coded(own, axes[v]) for v, own in zip(family.variables, family.maps)]
        table = family.values[np.ix_(np.arange(len(family.values)), *states)]
        moved = [place for place, own in enumerate(states) if len(own) > 1]
        beyond = _beyond_pairs(np.asarray(table - table[chosen]), moved)
        add_charges(charges, family.variables, beyond)
    return True


def add_charges(
    charges: Floats,
    variables: Sequence[int],
    beyond: Mapping[tuple[int, ...], Floats],
) -> None:
    """Share what sets of members do beyond pairs among their triples.

    Whichever members move, the charges of their triples add up to no less.
    """
    shares: dict[tuple[int, ...], Floats] = {}
    for places, most in beyond.items():
        share = np.maximum(most, 0.0) / comb(len(places), 3)
        for triple in combinations(places, 3):
            shares[triple] = np.maximum(shares.get(triple, 0.0), share)
    for members, share in shares.items():
        one, other, third = sorted(variables[place] for place in members)
        charges[one, other, third] += share


def _coded(own: Whole, codes: NDArray[np.intp]) -> Whole:
    """States of codes in a coding: the first code's, then each other one once."""
    states = own[codes]
    others = np.unique(states)
    return np.concatenate([states[:1], others[others != states[0]]])


def _beyond_pairs(table: Floats, moved: Sequence[int]) -> dict[tuple[int, ...], Floats]:
    """Most that members do together beyond their pairs, by the set that moves."""
    if len(moved) < 3:
        return {}
    n = len(moved)
    kept = {0, *(1 + place for place in moved)}
    still = tuple(slice(None) if a in kept else 0 for a in range(table.ndim))
    table = table[still]
    lower = comb(n - 1, 2) * _moving(table, ())
    for place in range(n):
        lower = lower - (n - 2) * _moving(table, (place,))
    for pair in combinations(range(n), 2):
        lower = lower + _moving(table, pair)
    rest = table - lower
    found = {}
    for size in range(3, n + 1):
        for places in combinations(range(n), size):
            most = _moving(rest, places).reshape(len(rest), -1).max(axis=1)
            found[tuple(moved[place] for place in places)] = most
    return found


def _moving(table: Floats, places: tuple[int, ...]) -> Floats:
    """The part of a table in which only some members move."""
    index = [slice(None) if p in places else slice(1) for p in range(table.ndim - 1)]
    return table[(slice(None), *index)]


def _families(model: AveragedKDBModel) -> list[_Family] | None:
    """Families of three features or more with their tables; None if too large."""
    values = model.shipped.values
    scales = np.asarray(values["weights"]) / len(values["networks"])
    n_cells, found = 0, []
    for network in values["networks"]:
        maps = [np.asarray(o, np.int64) for o in values["codings"][network["coding"]]]
        for family, weights in zip(network["families"], scales, strict=True):
            if family is None or len(family["variables"]) < 3:
                continue
            variables = tuple(family["variables"])
            n_cells += prod(family["radices"])
            if n_cells > _MAX_CELLS or len(variables) > _MAX_MEMBERS:
                return None
            terms = occupied_terms(family, weights, values["pseudo"])
            table = _dense(terms, (model.n_classes, *family["radices"][:-1]))
            found.append(_Family(variables, tuple(maps[v] for v in variables), table))
    return found


def _dense(terms: Iterable[OccupiedTerm], shape: tuple[int, ...]) -> Floats:
    """The sum of a family's terms as a table of the shape (n_classes, *states)."""
    table = np.zeros(shape)
    for term in terms:
        own = np.zeros((prod(term.widths), shape[0]))
        own[term.keys] = term.rows
        own = np.moveaxis(own.reshape(*term.widths, shape[0]), -1, 0)
        if 0 in term.members:
            own = np.moveaxis(own, -1, 1)
        else:
            says = term.says.reshape(-1, *[1] * len(term.members))
            own = own[:, None] * says
        table += own.reshape(*own.shape, *[1] * (table.ndim - own.ndim))
    return table
