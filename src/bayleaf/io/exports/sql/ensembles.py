"""Class scores that are the log of a sum over members.

A row becomes one row for each member: each network and state of its super-parents that
fits, missing super-parents fitting every state, or each expert under gates. What the
features add is looked up, and the probabilities of all members are added up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayleaf.io.exports.sql.deciding import Decision, between
from bayleaf.io.exports.sql.look_ups import Addend, Table, add_up, add_zeros, check_size
from bayleaf.io.exports.sql.members import FALLBACK, members_of
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
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import Floats, LogSum

# Differences of logarithms below which a series is exact.
_SMALL = 0.01


class Average:
    """The stages of a sum over members; the shift is added to scores of classes."""

    def __init__(
        self, rows: Rows, term: LogSum, shift: Sequence[float], predictor: Predictor
    ) -> None:
        domain = predictor.model.domain
        self._rows, self._shift, self._predictor = rows, shift, predictor
        self._cards, self._is_posterior = domain.cards[:-1], term.is_posterior
        self._members = members_of(term, self._cards, domain.names[-1])
        self._classes, self._features = range(len(shift)), range(len(self._cards))
        self._carried = list(rows.columns)

    def add(self) -> None:
        """Add s_class, or all up to the contributions of features if reported."""
        rows, members, n_classes = self._rows, self._members, len(self._classes)
        self._expand()
        for level in range(len(members.gates)):
            self._add_gates(level)
        slot = "u" if members.has_parents else "f"
        slots = [f"{slot}{v}" if rows.is_reported else "s" for v in self._features]
        terms = [("s", Table.dense(["j"], members.prior + members.joint))]
        terms += self._tables(slots, "j", members.tables)
        check_size(table for _, table in terms)
        if rows.is_reported:
            reported = {"b": members.first} if members.has_parents else {}
            if members.same_prior is None:
                reported["a"] = members.prior
            terms += [(key, Table.dense(["j"], own)) for key, own in reported.items()]
            slots += reported
        add_up(rows, terms, n_classes)
        add_zeros(rows, ["s", *slots], n_classes)
        scores = [f"s_{c}" for c in self._classes]
        if rows.is_reported and members.has_parents:
            self._chain()
        elif rows.is_reported:
            keys = ["s", *(f"f{v}" for v in self._features)]
            sums = {f"e_{c}": plus(*(f"{k}_{c}" for k in keys)) for c in self._classes}
            rows.extend(sums, without=scores)
        if self._is_posterior:
            self._normalise("e" if rows.is_reported else "s")
        if rows.is_reported:
            self._add_contributions()
            return
        rows.log_sums(scores, ["r"], ["r", *self._carried])
        rows.extend(self._shifted(scores), without=["r"])

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
        if (members.parents[:, k] == FALLBACK).any():
            tests[FALLBACK] = case([(either(*usable), "0")], "1")
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
        index, branches = f"gn{level}", range(gates.base.shape[1])
        terms: list[Addend] = [("y", Table.dense([index], gates.base))]
        terms += self._tables(["y"] * len(self._cards), index, gates.tables)
        check_size(table for _, table in terms if isinstance(table, Table))
        add_up(rows, terms, len(branches))
        add_zeros(rows, ["y"], len(branches))
        scores = [f"y_{k}" for k in branches]
        parts = ["lw"] if level else []
        if self._is_posterior:
            self._add_log_sum(scores)
            parts.append("-lt")
        branch = chosen(f"gb{level}", dict(enumerate(scores)))
        rows.extend({"lw": plus(*parts, branch)}, without=["lt", *scores])

    def _add_log_sum(self, scores: Sequence[str]) -> None:
        """Add lt, the log of the sum of exponentials of some columns."""
        self._rows.extend({"lt": highest(scores)})
        parts = plus(*(exponential(f"{score} - lt") for score in scores))
        self._rows.extend({"lt": f"lt + LN({parts})"})

    def _normalise(self, slot: str) -> None:
        """Make scores of members posteriors, times the weights of their gates."""
        scores = [f"{slot}_{c}" for c in self._classes]
        self._add_log_sum(scores)
        weight = " + lw" if self._members.gates else ""
        new = {score: f"({score} - lt{weight})" for score in scores}
        self._rows.extend(new, without=["lt"])

    def _shifted(self, scores: Sequence[str]) -> Columns:
        """Scores with what is added to the classes."""
        if not any(self._shift):
            return {}
        return {f"s_{c}": plus(s, nats(self._shift[c])) for c, s in enumerate(scores)}

    # ---- what features add

    def _chain(self) -> None:
        """A row for each network: e_class of its score, and what each feature adds."""
        rows, n, classes = self._rows, len(self._cards), self._classes
        sums: Columns = {}
        for c in classes:
            for v in range(n + 1):
                sums[f"l{v}_{c}"] = plus(f"s_{c}", *(f"u{w}_{c}" for w in range(v)))
        # A missing first super-parent adds nothing.
        known = [
            (f"m0 = {v} AND c{v} < {card}", "1") for v, card in enumerate(self._cards)
        ]
        firsts = {f"b_{c}": f"({case(known, '0')} * b_{c})" for c in classes}
        rows.extend(
            sums | firsts, without=[f"u{v}_{c}" for v in range(n) for c in classes]
        )
        constant = [key for key in rows.columns if key.startswith(("a_", "b_"))]
        keys = ["r", "jn", "m0", "m1", *self._carried, *constant]
        rows.log_sums([*sums], ["r", "jn"], keys)
        changes: Columns = {}
        for c in classes:
            changes[f"e_{c}"] = f"l{n}_{c}"
            for v, card in enumerate(self._cards):
                rest = f"l0_{c} - {self._prior(c)} - b_{c}"
                changes[f"f{v}_{c}"] = case(
                    [
                        (f"c{v} = {card}", ZERO),
                        (f"m0 = {v}", f"b_{c}"),
                        (f"m1 = {v}", rest),
                    ],
                    f"l{v + 1}_{c} - l{v}_{c}",
                )
        rows.extend(changes, without=[*sums, "m0", "m1"])

    def _prior(self, c: int) -> str:
        """The prior of a class in the member of a row, nats."""
        prior = self._members.same_prior
        return f"a_{c}" if prior is None else nats(prior[c])

    def _add_contributions(self) -> None:
        """Probabilities, the class, and g and g{feature} of what speaks for it."""
        rows, classes, n = self._rows, self._classes, len(self._classes)
        over = "OVER (PARTITION BY r)"
        rows.extend({f"h_{c}": f"MAX(e_{c}) {over}" for c in classes})
        gaps = {c: exponential(f"e_{c} - h_{c}") for c in classes}
        rows.extend({f"y_{c}": f"SUM({gap}) {over}" for c, gap in gaps.items()})
        scores = {f"s_{c}": f"(h_{c} + LN(y_{c}))" for c in classes}
        temporary = [f"{kind}_{c}" for kind in "hy" for c in classes]
        rows.extend(scores, without=temporary)
        # Scores before the shift, which weights are relative to.
        rows.extend({f"v_{c}": f"s_{c}" for c in classes} | self._shifted([*scores]))
        decision = Decision(self._predictor)
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
        odds = {"g": between([self._prior(c) for c in classes])}
        for v in self._features:
            odds[f"g{v}"] = between([f"f{v}_{c}" for c in classes])
        columns: Columns = {
            key: f"MAX({key})" for key in (*(f"p_{c}" for c in classes), "t", "a", "o")
        }
        for key, value in odds.items():
            columns[key] = f"SUM({decision.tempered(f'q * {value}')})"
        rows.group(["r", *self._carried], columns)
        prior = ["g", *decision.prior_shift()]
        if any(self._shift):
            added = between([nats(self._shift[c]) for c in range(n)])
            prior.append(decision.tempered(added))
        rows.extend({"g": plus(*prior)}, without=["r"])


def _mean_of(gap: str) -> str:
    """Logarithm of the logarithmic mean of two numbers over the larger of them."""
    square = f"{gap} * {gap}"
    near = f"({gap} * -0.5e0 + {square} / 24e0 - {square} * {square} / 2880e0)"
    far = f"LN((1 - {exponential(f'-{gap}')}) / {gap})"
    return f"CASE WHEN {gap} < {_SMALL}e0 THEN {near} ELSE {far} END"
