"""Class scores that are the log of a sum over members.

A row becomes one row for each member: each network and state of its super-parents that
fits, missing super-parents fitting every state, or each expert under gates. What the
features add is looked up, and the probabilities of all members are added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayleaf.io.exports.sql.deciding import Decision, between
from bayleaf.io.exports.sql.look_ups import Addend, Table, add_up, check_size
from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.words import (
    ZERO,
    case,
    chosen,
    either,
    exponential,
    highest,
    lowest,
    nats,
    plus,
)
from bayleaf.scoring.term_values import product, sliced
from bayleaf.scoring.terms import Bank, Floats, LogSum, Look, SumOut, Whole
from bayleaf.wording import quoted

# Differences of logarithms below which a series is exact.
_SMALL = 0.01
# Stands for the super-parent of the fallback.
_FALLBACK = -2


class Gates(NamedTuple):
    """Gates of one level: the gate and branch above each member; nats.

    Arrays of shapes (n_members,), (n_members,) and (n_nodes, n_branches); for each
    feature one of shape (n_nodes, n_codes, n_branches).
    """

    nodes: Whole
    branches: Whole
    base: Floats
    tables: list[Floats]


class Members(NamedTuple):
    """Members of a sum; a network is a member for each joint state of super-parents.

    Networks have shape (n_members,), the fallback is the last one; super-parents, -1
    for none, and their states (n_members, 2), -1 where rows with the state do not use
    the network; nats of the prior, of the first super-parent, and of both (n_members,
    n_classes), of each feature but super-parents (n_members, n_codes, n_classes).
    Posteriors of gates, by level, are the weights of the members.
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


class Average:
    """The stages of a sum over members, and what is added to it.

    Nats of each class are added to scores, "s", and to the contributions of the prior
    and of features, "g" and "g{feature}".
    """

    def __init__(
        self,
        rows: Rows,
        term: LogSum,
        added: Mapping[str, Sequence[str]],
        decision: Decision,
    ) -> None:
        domain = decision.predictor.model.domain
        self._rows, self._added, self._decision = rows, added, decision
        self._cards, self._is_posterior = domain.cards[:-1], term.is_posterior
        self._members = _members_of(term, self._cards, domain.names[-1])
        self._classes = range(domain.cards[-1])
        self._features = range(len(self._cards))
        self._carried = list(rows.columns)

    def add(self) -> None:
        """Add s_class, or all up to the contributions of features if reported."""
        rows, members, n_classes = self._rows, self._members, len(self._classes)
        self._expand()
        for level in range(len(members.gates)):
            self._add_gates(level)
        slots = [rows.slot(v) for v in self._features]
        tables = [("s", Table.dense(["j"], members.prior + members.joint))]
        tables += self._tables(slots, "j", members.tables)
        check_size(table for _, table in tables)
        terms: list[Addend] = [*tables]
        if rows.is_reported:
            prior, is_same = members.prior, (members.prior == members.prior[0]).all()
            by_class = list(map(nats, prior[0]))
            terms.append(("a", by_class if is_same else Table.dense(["j"], prior)))
            terms.append(("b", Table.dense(["j"], members.first)))
            slots += ["a", "b"]
        add_up(rows, terms, n_classes, ["s", *slots])
        scores = [f"s_{c}" for c in self._classes]
        if rows.is_reported and members.has_parents:
            self._chain()
        elif rows.is_reported:
            keys = ["s", *(f"f{v}" for v in self._features)]
            sums = {f"e_{c}": plus(*(f"{k}_{c}" for k in keys)) for c in self._classes}
            rows.extend(sums, without=scores)
        slot, is_below = "e" if rows.is_reported else "s", len(members.gates) > 0
        self._weigh(slot, n_classes, is_below=is_below)
        if rows.is_reported:
            self._add_contributions()
            return
        rows.log_sums(scores, ["r"], ["r", *self._carried])
        rows.extend(self._with_added(scores), without=["r"])

    def _expand(self) -> None:
        """A row for each member that the row's states of super-parents fit."""
        rows, members = self._rows, self._members
        columns = {"j": np.arange(len(members.networks)), "jn": members.networks}
        for level, gates in enumerate(members.gates):
            columns |= {f"gn{level}": gates.nodes, f"gb{level}": gates.branches}
        condition = ""
        if members.has_parents:
            for k in (0, 1):
                columns[f"m{k}"] = members.parents[:, k]
                columns[f"k{k}"] = members.states[:, k]
            condition = " ON " + " AND ".join(self._fits(k) for k in (0, 1))
        rows.number()
        table = rows.constants({key: own.tolist() for key, own in columns.items()})
        join = "JOIN" if condition else "CROSS JOIN"
        added = {key: key for key in columns if key not in ("k0", "k1")}
        rows.extend(added, f" {join} {table}{condition}")

    def _fits(self, k: int) -> str:
        """Whether a super-parent has the state of a member, or is missing."""
        members, tests = self._members, {-1: "1"}
        usable = []
        for v, card in enumerate(self._cards):
            tests[v] = case([(f"c{v} IN (k{k}, {card})", "1")], "0")
            own = {*members.states[members.parents[:, k] == v, k].tolist()} - {-1}
            codes = ", ".join(map(str, [*sorted(own), card]))
            usable.append(f"c{v} IN ({codes})")
        if (members.parents[:, k] == _FALLBACK).any():
            tests[_FALLBACK] = case([(either(*usable), "0")], "1")
        used = {*members.parents[:, k].tolist()}
        tests = {parent: test for parent, test in tests.items() if parent in used}
        return f"{chosen(f'm{k}', tests)} = 1"

    def _tables(
        self, slots: Sequence[str], index: str, tables: Sequence[Floats]
    ) -> list[tuple[str, Table]]:
        """Nats of each feature by member or gate, and code."""
        return [
            (slot, Table.dense([index, f"c{v}"], table))
            for v, (slot, table) in enumerate(zip(slots, tables, strict=True))
        ]

    # ---- gates and posteriors

    def _add_gates(self, level: int) -> None:
        """Add lw, the log of the weight that gates give the member of a row."""
        rows, gates = self._rows, self._members.gates[level]
        index, n_branches = f"gn{level}", gates.base.shape[1]
        terms = [("y", Table.dense([index], gates.base))]
        terms += self._tables(["y"] * len(self._cards), index, gates.tables)
        check_size(table for _, table in terms)
        add_up(rows, terms, n_branches, ["y"])
        self._weigh("y", n_branches, is_below=level > 0)
        scores = {k: f"y_{k}" for k in range(n_branches)}
        rows.extend({"lw": chosen(f"gb{level}", scores)}, without=scores.values())

    def _weigh(self, slot: str, n_outputs: int, *, is_below: bool) -> None:
        """Make outputs posteriors where they are, times the weights of gates above."""
        scores = [f"{slot}_{k}" for k in range(n_outputs)]
        parts = ["lw"] if is_below else []
        if self._is_posterior:
            self._rows.extend({"lt": highest(scores)})
            total = plus(*(exponential(f"{score} - lt") for score in scores))
            self._rows.extend({"lt": f"lt + LN({total})"})
            parts.append("-lt")
        if parts:
            new = {score: plus(score, *parts) for score in scores}
            self._rows.extend(new, without=["lt"])

    def _with_added(self, scores: Sequence[str]) -> Columns:
        """Scores with what is added to the classes."""
        pairs = zip(scores, self._added.get("s", ()))
        return {f"s_{c}": plus(*pair) for c, pair in enumerate(pairs)}

    # ---- what features add

    def _chain(self) -> None:
        """A row for each network: e_class of its score, and what each feature adds."""
        rows, n, classes = self._rows, len(self._cards), self._classes
        sums: Columns = {}
        for c in classes:
            for v in range(n + 1):
                sums[f"l{v}_{c}"] = plus(f"s_{c}", *(f"f{w}_{c}" for w in range(v)))
        # A missing first super-parent adds nothing.
        known = [
            (f"m0 = {v} AND c{v} < {card}", "1") for v, card in enumerate(self._cards)
        ]
        firsts = {f"b_{c}": f"({case(known, '0')} * b_{c})" for c in classes}
        rows.extend(
            sums | firsts, without=[f"f{v}_{c}" for v in range(n) for c in classes]
        )
        constant = [key for key in rows.columns if key.startswith(("a_", "b_"))]
        keys = ["r", "jn", "m0", "m1", *self._carried, *constant]
        rows.log_sums([*sums], ["r", "jn"], keys)
        changes: Columns = {}
        for c in classes:
            changes[f"e_{c}"] = f"l{n}_{c}"
            for v, card in enumerate(self._cards):
                cases = [
                    (f"c{v} = {card}", ZERO),
                    (f"m0 = {v}", f"b_{c}"),
                    (f"m1 = {v}", f"l0_{c} - a_{c} - b_{c}"),
                ]
                changes[f"f{v}_{c}"] = case(cases, f"l{v + 1}_{c} - l{v}_{c}")
        rows.extend(changes, without=[*sums, "m0", "m1"])

    def _add_contributions(self) -> None:
        """Probabilities, the class, and g and g{feature} of what speaks for it."""
        rows, classes = self._rows, self._classes
        over = "OVER (PARTITION BY r)"
        rows.extend({f"h_{c}": f"MAX(e_{c}) {over}" for c in classes})
        gaps = [exponential(f"e_{c} - h_{c}") for c in classes]
        rows.extend({f"y_{c}": f"SUM({gap}) {over}" for c, gap in enumerate(gaps)})
        scores = {f"s_{c}": f"(h_{c} + LN(y_{c}))" for c in classes}
        temporary = [f"{kind}_{c}" for kind in "hy" for c in classes]
        rows.extend(scores, without=temporary)
        # Scores before anything is added, which weights are relative to.
        before = {f"v_{c}": f"s_{c}" for c in classes}
        rows.extend(before | self._with_added([*scores]))
        decision = self._decision
        decision.add_choice(rows)
        # The logarithmic-mean weight q of each member.
        sides = {
            f"{slot}{k}": chosen(k, {c: f"{slot}_{c}" for c in classes})
            for slot in "ev"
            for k in "ta"
        }
        rows.extend(sides)
        ends = {f"{s}h": highest([f"{s}t", f"{s}a"]) for s in "ev"}
        rows.extend(ends | {f"{s}l": lowest([f"{s}t", f"{s}a"]) for s in "ev"})
        rows.extend({f"{s}g": f"({s}h - {s}l)" for s in "ev"})
        rows.extend({f"{s}m": f"({s}h + {_mean_of(f'{s}g')})" for s in "ev"})
        rows.extend({"q": "em - vm"})
        rows.extend({"q": exponential("q")})
        # One row again, with what each feature adds in all members together.
        odds = {"g": between([f"a_{c}" for c in classes])}
        for v in self._features:
            odds[f"g{v}"] = between([f"f{v}_{c}" for c in classes])
        same = [*(f"p_{c}" for c in classes), "t", "a", "o", *decision.calibration]
        columns = {key: f"MAX({key})" for key in same}
        for key, value in odds.items():
            columns[key] = f"SUM({decision.tempered(f'q * {value}')})"
        rows.group(["r", *self._carried], columns)
        parts = {"g": ["g", *decision.prior_shift()]}
        for key in (key for key in odds if key in self._added):
            added = decision.tempered(between(self._added[key]))
            parts[key] = [*parts.get(key, [key]), added]
        rows.extend({key: plus(*added) for key, added in parts.items()}, without=["r"])


def _mean_of(gap: str) -> str:
    """Logarithm of the logarithmic mean of two numbers over the larger of them."""
    square = f"{gap} * {gap}"
    near = f"({gap} * -0.5e0 + {square} / 24e0 - {square} * {square} / 2880e0)"
    far = f"LN((1 - {exponential(f'-{gap}')}) / {gap})"
    return f"CASE WHEN {gap} < {_SMALL}e0 THEN {near} ELSE {far} END"


def _members_of(term: LogSum, cards: Sequence[int], label: str | int) -> Members:
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
        np.append(parents, [[-1, _FALLBACK]], axis=0),
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
        parents = [{*f.variables} - {f.child, last} for f in network.factors]
        # The second is a child of the first.
        known = sorted(set().union(*parents), key=lambda v: (len(parents[v]), v)) or [0]
        if len(known) > 2 or parents[last]:
            raise ValueError(
                f"an average of networks for {quoted(label)} is written as SQL only "
                "where at most two features of each are parents"
            )
        states = np.argwhere(np.ones([cards[v] for v in known]))
        given = dict(zip(known, states.T, strict=True))
        nats_of = []
        for factor in network.factors:
            scope = [*({factor.child} - {*given, last}), last]
            table = sliced(factor.variables, factor.logs, given)
            shape = (len(states), *(cards[v] for v in scope))
            nats_of.append(np.broadcast_to(product([table], scope), shape))
        heads = [nats_of[v] for v in known]
        zeros = np.zeros_like(heads[0])
        tables = [
            np.zeros((len(states), cards[v], cards[last])) if v in known else nats_of[v]
            for v in range(last)
        ]
        none = np.full((len(states), 2 - len(known)), -1)
        rows.append(
            [
                np.full(len(states), number),
                np.hstack([none, np.broadcast_to(known, states.shape)]),
                np.hstack([none, states]),
                nats_of[last],
                heads[0] if len(known) == 2 else zeros,
                sum(heads, zeros),
                *tables,
            ]
        )
    numbers, heads_of, states_of, prior, first, joint, *nats_by_feature = (
        np.concatenate(own) for own in zip(*rows)
    )
    return Members(numbers, heads_of, states_of, prior, first, joint, nats_by_feature)
