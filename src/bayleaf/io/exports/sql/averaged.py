"""Class scores of averaged KDB: tables of all networks, and what stands beside them.

A table holds what states say relative to their shares of the training rows, so that
states and parents without data say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows, check_size
from bayleaf.io.exports.sql.networks import add_terms
from bayleaf.io.exports.sql.numbers import add_curves, add_linear, tree_terms
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.words import Expression, at_most, case, col, num

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Joint states up to which all depths of a family are one table.
_MOST_FUSED = 4000
# How many times as many numbers that table may hold.
_WORTH_FUSING = 2


def add_averaged(
    rows: Rows, values: Mapping[str, Any], cards: Sequence[int], *, told: bool
) -> None:
    """Score rows by an average of networks; columns as for `add_families`."""
    base = np.asarray(values["base"])
    n_features, n_classes = len(cards), len(base)

    def slot(feature: int) -> str:
        return f"f{feature}" if told else "u"

    looks = _tables(rows, values, n_classes)
    check_size([look for _, look in looks])
    rows.add_up([(slot(v), look) for v, look in looks], n_classes)
    if "linear" in values:
        add_linear(rows, values["linear"], n_classes, slot)
    more: list[Addend] = []
    if "curves" in values:
        more += add_curves(values["curves"], cards, slot)
    if "trees" in values:
        more += tree_terms(values["trees"], cards, n_classes, slot)
    add_terms(rows, base.tolist(), more, n_features, told=told)


def _tables(
    rows: Rows, values: Mapping[str, Any], n_classes: int
) -> list[tuple[int, Look]]:
    """Tables of all networks and the feature that each tells of."""
    coded = _Coded(values["codings"])
    fused: dict[tuple[str, ...], tuple[int, tuple[int, ...], Floats]] = {}
    found: list[tuple[int, Look]] = []
    n_networks = len(values["networks"])
    for network in values["networks"]:
        for feature, family in enumerate(network["families"]):
            if family is None:
                continue
            weights = np.asarray(values["weights"])[feature] / n_networks
            own = _Family(family, weights, values["pseudo"], n_classes)
            names = coded.columns(network["coding"], own.variables)
            looks = own.looks(names)
            n_apart = sum(look.n_entries for look in looks)
            if prod(own.radices) > min(_MOST_FUSED, _WORTH_FUSING * n_apart):
                found += [(feature, look) for look in looks]
                continue
            key = (names[0], *sorted(names[1:]))
            order = [names.index(name) for name in key]
            table = np.transpose(own.dense(), [0, *(1 + k for k in order)])
            radices = tuple(own.radices[k] for k in order)
            before = fused.get(key)
            total = table if before is None else before[2] + table
            fused[key] = feature, radices, total
    for key, (feature, radices, table) in fused.items():
        # Parents first, so that conditions on the child stand innermost.
        turned = np.moveaxis(table, 1, -1)
        look = Look.dense((*key[1:], key[0]), (*radices[1:], radices[0]), turned)
        found.append((feature, look))
    if coded.new:
        rows.extend(coded.new)
    return sorted(found, key=lambda item: item[0])


class _Coded:
    """Columns of the states that networks' codings make of codes."""

    def __init__(self, codings: Sequence[Sequence[NDArray[np.uint16]]]) -> None:
        self._codings = codings
        self._known: dict[tuple[int, bytes], str] = {}
        self.new: Columns = {}

    def columns(self, coding: int, variables: Sequence[int]) -> list[str]:
        """The columns of some variables under a coding."""
        return [self._column(self._codings[coding][v], v) for v in variables]

    def _column(self, states: NDArray[np.uint16], variable: int) -> str:
        """The column of one variable; its codes where these are the states."""
        if np.array_equal(states, np.arange(len(states))):
            return f"c{variable}"
        key = variable, np.asarray(states).tobytes()
        if key not in self._known:
            self._known[key] = f"q{len(self._known)}"
            self.new[self._known[key]] = _mapped(f"c{variable}", states)
        return self._known[key]


def _mapped(column: str, states: NDArray[np.uint16]) -> Expression:
    """The state of a code: runs of codes with one state are one condition."""
    ends = np.flatnonzero(np.diff(states.astype(int), append=-1))
    cases = [
        (at_most(col(column), num(int(end))), num(int(states[end]))) for end in ends
    ]
    return case(cases[:-1], cases[-1][1])


class _Family:
    """Counts of a feature and its parents in one network."""

    def __init__(
        self,
        family: Mapping[str, Any],
        weights: Floats,
        pseudo: Sequence[float],
        n_classes: int,
    ) -> None:
        self.variables: list[int] = family["variables"]
        self.radices: list[int] = family["radices"][:-1]
        self.n_classes = n_classes
        depth = len(self.variables)
        self.weights = weights[:depth].copy()
        # What is beyond the last parent counts for the deepest.
        self.weights[-1] += weights[depth:].sum()
        self._totals = np.asarray(family["totals"], dtype=np.float64)
        keys = np.cumsum(np.asarray(family["steps"], dtype=np.int64))
        digits = []
        for radix in reversed(family["radices"]):
            digits.append(keys % radix)
            keys = keys // radix
        *self._states, self._classes = digits[::-1]
        n_states = self.radices[0] - 1
        each, together, shared = pseudo
        marginal = np.bincount(self._states[0], self._totals, minlength=n_states)
        self.prior = each + together / n_states + shared * marginal / marginal.sum()
        self.strength = each * n_states + together + shared

    def _depth(self, depth: int) -> tuple[Whole, Floats]:
        """States of the parents that occur, and nats (parents, child, class)."""
        n_states = len(self.prior)
        parents = np.stack([*self._states[1 : depth + 1], np.zeros_like(self._classes)])
        met, place = np.unique(parents[:-1], axis=1, return_inverse=True)
        if not depth:
            met, place = np.zeros((0, 1), dtype=np.int64), parents[-1]
        shape = met.shape[1], n_states, self.n_classes
        flat = (place.ravel() * n_states + self._states[0]) * self.n_classes
        counts = np.bincount(flat + self._classes, self._totals, minlength=prod(shape))
        counts = counts.reshape(shape)
        totals = counts.sum(axis=1, keepdims=True)
        known = self.prior > 0
        prior = np.where(known, self.prior, 1.0)[:, None]
        values = np.log1p(counts / prior) - np.log1p(totals / self.strength)
        values = np.where(known[:, None], values, 0.0) * self.weights[depth]
        # Scores count up to a number that all classes share: the first says nothing.
        values = values - values[..., :1]
        return met.astype(np.int64), np.asarray(values)

    def dense(self) -> Floats:
        """All depths in one table, shape (n_classes, *radices)."""
        found = np.zeros((self.n_classes, *self.radices))
        for depth in np.flatnonzero(self.weights).tolist():
            met, values = self._depth(depth)
            part = np.zeros((*self.radices[1 : depth + 1], *values.shape[1:]))
            part[tuple(met)] = values if depth else values[0]
            part = np.moveaxis(part, (-1, -2), (0, 1))
            rest = (1,) * (len(self.radices) - 1 - depth)
            found[:, :-1] += part.reshape(*part.shape, *rest)
        return found

    def looks(self, names: Sequence[str]) -> list[Look]:
        """A table for each depth, parents first."""
        found = []
        for depth in np.flatnonzero(self.weights).tolist():
            met, values = self._depth(depth)
            n_met, n_states, _ = values.shape
            states = np.concatenate(
                [
                    np.repeat(met.T, n_states, axis=0).reshape(n_met * n_states, depth),
                    np.tile(np.arange(n_states), n_met)[:, None],
                ],
                axis=1,
            )
            columns = (*names[1 : depth + 1], names[0])
            radices = (*self.radices[1 : depth + 1], self.radices[0])
            flat = values.reshape(-1, self.n_classes)
            found.append(Look(columns, radices, states, flat))
        return found
