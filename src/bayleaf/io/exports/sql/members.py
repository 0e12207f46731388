"""Members of a log sum: networks by states of super-parents, or experts under gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayleaf.scoring.reference import product, sliced
from bayleaf.scoring.terms import Bank, Floats, LogSum, Look, SumOut, Whole
from bayleaf.wording import quoted


class Gates(NamedTuple):
    """Gates of one level: the gate and branch above each member; nats.

    Arrays of shapes (n_members,), (n_members,) and (n_nodes, n_branches); for each
    feature one of shape (n_nodes, n_codes, n_branches).
    """

    nodes: Whole
    branches: Whole
    base: Floats
    tables: list[Floats]


@dataclass(frozen=True, eq=False)
class Members:
    """Members of a sum; a network is a member for each joint state of super-parents.

    Parameters
    ----------
    networks : ndarray of shape (n_members,)
        Network of each member; the fallback is the last one.
    parents, states : ndarray of shape (n_members, 2)
        Super-parents, -1 for none, FALLBACK for the fallback; their states, -1 where
        rows with the state do not use the network.
    prior : ndarray of shape (n_members, n_classes)
        Of the class, nats.
    first, joint : ndarray of shape (n_members, n_classes)
        Of the state of the first super-parent, and of both states, nats.
    tables : list of ndarray of shape (n_members, n_codes, n_classes)
        Of each feature, nats; zero for super-parents.
    gates : list of Gates
        Levels of gates, whose posteriors are the weights of the members.
    """

    networks: Whole
    parents: Whole
    states: Whole
    prior: Floats
    first: Floats
    joint: Floats
    tables: list[Floats]
    gates: Sequence[Gates] = ()

    @property
    def has_parents(self) -> bool:
        """Whether members differ in states of super-parents."""
        return bool((self.parents >= 0).any())

    @property
    def same_prior(self) -> Floats | None:
        """The prior, shape (n_classes,), if all members have the same."""
        return self.prior[0] if (self.prior == self.prior[0]).all() else None


FALLBACK = -2


def members_of(term: LogSum, cards: Sequence[int], label: str | int) -> Members:
    """Members of a log sum over features with these cards and a class of this name.

    ValueError if queries cannot contain them.
    """
    banks = [bank for path in term.paths for bank in path]
    if term.networks and not banks and not term.fallback:
        return _of_networks(term.networks, label)
    looks = [*term.fallback, *(look for bank in banks for look in bank.looks)]
    is_simple = all(len(look.features) < 2 and look.gate is None for look in looks)
    shapes = {tuple(bank.base.shape[1] for bank in path) for path in term.paths}
    if is_simple and len(shapes) == 1 and not term.networks:
        if not term.fallback:
            return _of_experts(term, cards)
        if len(banks) == 1 and not term.is_posterior:
            members = _of_states(banks[0], term.fallback, cards)
            if members is not None:
                return members
    raise ValueError(
        f"the average of models for {quoted(label)} has members that are not written "
        "as SQL; fit another classifier"
    )


def _tables(
    looks: Sequence[Look], cards: Sequence[int], base: Floats
) -> tuple[Floats, list[Floats]]:
    """The base and, of each feature, nats by node, code and output."""
    base = base.copy()
    tables = [np.zeros((len(base), card + 1, base.shape[1])) for card in cards]
    for look in looks:
        if not look.features:
            base += look.rows[0].reshape(base.shape)
            continue
        values = np.zeros((look.radices[0], look.rows.shape[1]))
        values[look.states[:, 0]] = look.rows
        by_code = values[look.maps[0]].reshape(-1, *base.shape)
        tables[look.features[0]] += np.moveaxis(by_code, 0, 1)
    return base, tables


def _of_experts(term: LogSum, cards: Sequence[int]) -> Members:
    """Experts, and the gates above them."""
    levels = []
    for banks in zip(*term.paths):
        looks = [_tables(bank.looks, cards, bank.base) for bank in banks]
        tables = [np.concatenate(own) for own in zip(*(each[1] for each in looks))]
        levels.append((np.concatenate([base for base, _ in looks]), tables))
    *above, (prior, tables) = levels
    nodes, gates = np.arange(len(prior)), []
    for base, own in reversed(above):
        # Members below a gate follow each other, those of a path those of another.
        nodes, branches = np.divmod(nodes, base.shape[1])
        gates.append(Gates(nodes, branches, base, own))
    numbers, zeros = np.arange(len(prior)), np.zeros_like(prior)
    nothing = np.full((len(prior), 2), -1)
    return Members(numbers, nothing, nothing, prior, zeros, zeros, tables, gates)


def _of_states(
    bank: Bank, fallback: Sequence[Look], cards: Sequence[int]
) -> Members | None:
    """One-dependence networks; None unless nodes are the states of all features."""
    features = np.repeat(np.arange(len(cards)), cards)
    if len(bank.base) != len(features):
        return None
    prior, tables = _tables(bank.looks, cards, bank.base)
    joint, states = np.zeros_like(prior), np.zeros((len(prior), 2), np.int64)
    for feature, table in enumerate(tables):
        nodes = features == feature
        is_possible = np.isfinite(table[nodes, :-1]).any(axis=2)
        is_used = np.diagonal(is_possible)
        if is_possible.sum() != is_used.sum():
            return None
        states[nodes, 1] = np.where(is_used, np.arange(len(is_used)), -1)
        # The state of a super-parent adds the same whether it is known or summed over.
        joint[nodes] = table[nodes, -1]
        table[nodes] = 0.0
    parents = np.stack([np.full(len(features), -1), features], axis=1)
    other, own = _tables(fallback, cards, np.zeros((1, prior.shape[1])))
    return Members(
        np.append(features, len(cards)),
        np.append(parents, [[-1, FALLBACK]], axis=0),
        np.append(states, [[0, 0]], axis=0),
        np.append(prior, other, axis=0),
        np.zeros((len(prior) + 1, prior.shape[1])),
        np.append(joint, np.zeros_like(other), axis=0),
        [np.append(*both, axis=0) for both in zip(tables, own, strict=True)],
    )


def _of_networks(networks: Sequence[SumOut], label: str | int) -> Members:
    """Networks in which at most two features are parents of others."""
    rows: list[list[Any]] = []
    for number, network in enumerate(networks):
        cards, last = network.cards, len(network.cards) - 1
        known = _super_parents(network, label)
        states = np.argwhere(np.ones([cards[v] for v in known]))
        given = dict(zip(known, states.T, strict=True))
        nats = []
        for factor in network.factors:
            scope = [*({factor.child} - {*given, last}), last]
            table = sliced(factor.variables, factor.logs, given)
            shape = (len(states), *(cards[v] for v in scope))
            nats.append(np.broadcast_to(product([table], scope), shape))
        *others, second = (nats[v] for v in known)
        first = others[0] if others else np.zeros_like(second)
        none = np.full((len(states), 2 - len(known)), -1)
        parents = np.broadcast_to(known, states.shape)
        tables = [
            np.zeros((len(states), cards[v], cards[last])) if v in known else nats[v]
            for v in range(last)
        ]
        rows.append(
            [
                np.full(len(states), number),
                np.hstack([none, parents]),
                np.hstack([none, states]),
                nats[last],
                first,
                first + second,
                *tables,
            ]
        )
    each, heads, both, prior, *logs = (np.concatenate(own) for own in zip(*rows))
    return Members(each, heads, both, prior, logs[0], logs[1], logs[2:])


def _super_parents(network: SumOut, label: str | int) -> list[int]:
    """The one or two features that are parents."""
    last = len(network.cards) - 1
    is_ordered = [factor.child for factor in network.factors] == [*range(last + 1)]
    parents = [
        {v for v in factor.variables if v not in (factor.child, last)}
        for factor in network.factors
    ]
    # The second is a child of the first.
    inner = sorted(set().union(*parents), key=lambda v: (len(parents[v]), v)) or [0]
    fits = len(inner) <= 2 and all(own <= {*inner} for own in parents)
    depends = all(last in factor.variables for factor in network.factors)
    if not (is_ordered and fits and depends) or parents[-1]:
        raise ValueError(
            f"an average of networks for {quoted(label)} is written as SQL only where "
            "at most two features of each are parents"
        )
    return inner
