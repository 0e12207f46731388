"""Class scores that are the log of a sum over members.

A row becomes one row for each member: each network and state of its super-parents that
fits, missing super-parents fitting every state, or each expert under gates. What the
features say is looked up and added, and the probabilities of all members are added up.
"""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from bayleaf.io.exports.sql.averages.members import Members
from bayleaf.io.exports.sql.deciding import add_choice, shift_between, tempered
from bayleaf.io.exports.sql.looking_up import Look, Rows, check_size
from bayleaf.io.exports.sql.pipeline import Columns, kept
from bayleaf.io.exports.sql.words import (
    Expression,
    below,
    both,
    case,
    chosen,
    col,
    either,
    equal,
    exponential,
    highest,
    logarithm,
    lowest,
    minus,
    nats,
    null,
    num,
    over,
    plus,
    times,
)
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import Floats

# Differences of logarithms below which a series is exact.
_SMALL = 0.01


class Ensemble:
    """The stages of a sum over members.

    Parameters
    ----------
    members : Members
        The members.
    cards : tuple of int
        Number of states of each feature.
    shift : list of float
        Nats that are added to the classes.
    predictor : Predictor
        The classifier.
    """

    def __init__(
        self,
        members: Members,
        cards: tuple[int, ...],
        shift: list[float],
        predictor: Predictor,
    ) -> None:
        self._members = members
        self._cards = cards
        self._shift = shift
        self._predictor = predictor
        self._classes = range(len(shift))
        # Network of the rows that use none.
        self._none = int(members.networks.max())

    def add(self, rows: Rows, *, told: bool) -> None:
        """Add s_class, or all up to the contributions of features if they are told."""
        members, n_classes = self._members, len(self._classes)
        carried = list(rows.columns)
        self._expand(rows)
        if members.gates:
            self._add_gates(rows)
        slot = "u" if members.has_parents else "f"
        slots = [f"{slot}{v}" if told else "s" for v in range(len(self._cards))]
        looks = [("s", self._by_member(members.prior + members.joint))]
        looks += [
            (slot, self._table("at", f"c{v}", self._cards[v], members.tables[v]))
            for v, slot in enumerate(slots)
        ]
        check_size([look for _, look in looks])
        if told:
            reported = {"b": members.first} if members.has_parents else {}
            if members.same_prior is None:
                reported["a"] = members.prior
            looks += [(key, self._by_member(own)) for key, own in reported.items()]
            slots += reported
        rows.add_up(looks, n_classes)
        rows.zeros(["s", *slots], n_classes)
        if told:
            self._add_contributions(rows, carried)
        else:
            if members.is_posterior:
                self._normalise(rows, "s")
            self._add_up(rows, carried)

    def _expand(self, rows: Rows) -> None:
        """A row for each member that the row's states of super-parents fit."""
        members = self._members
        order = exp.Order(expressions=[exp.Ordered(this=null())])
        rows.extend({"r": exp.Window(this=exp.RowNumber(), order=order)})
        columns = {
            "at": [*range(len(members.networks))],
            "mp": members.networks.tolist(),
        }
        for level, gates in enumerate(members.gates):
            columns[f"gn{level}"] = gates.nodes.tolist()
            columns[f"gb{level}"] = gates.branches.tolist()
        names = list(columns)
        condition = None
        if members.has_parents:
            columns["mu"] = members.usable.tolist()
            for k in (0, 1):
                columns[f"m{k}"] = members.parents[:, k].tolist()
                columns[f"k{k}"] = members.states[:, k].tolist()
        table = rows.pipeline.constants(columns)
        if members.has_parents:
            condition = self._fitting(table)
        columns_now = {**kept(rows.columns), **kept(names, table)}
        rows.stage = rows.pipeline.stage(
            rows.stage, columns_now, crossed=[(table, condition)]
        )
        rows.columns = list(columns_now)

    def _fitting(self, table: str) -> Expression:
        """Whether a row fits a member, whose missing super-parents fit all states."""
        known = [
            either(
                equal(col(f"m{k}", table), num(-1)), self._fits(k, table, missing=False)
            )
            for k in (0, 1)
        ]
        absent = [self._fits(k, table, missing=True) for k in (0, 1)]
        used = both(*known, equal(col("mu", table), num(1)))
        torn = both(
            *(either(a, b.copy()) for a, b in zip(absent, known, strict=True)),
            either(*(a.copy() for a in absent)),
        )
        return either(used, torn)

    def _fits(self, k: int, table: str, *, missing: bool) -> Expression:
        """Whether a super-parent has the state of a place, or is missing."""
        cases = []
        for v, card in enumerate(self._cards):
            own = num(card) if missing else col(f"k{k}", table)
            test = case([(equal(col(f"c{v}"), own), num(1))], num(0))
            cases.append((equal(col(f"m{k}", table), num(v)), test))
        return equal(case(cases, num(0)), num(1))

    def _by_member(self, values: Floats) -> Look:
        """Nats of each class by member."""
        return Look.dense(["at"], [len(values)], values.T)

    def _table(self, index: str, code: str, card: int, values: Floats) -> Look:
        """Nats of a feature by member or gate, and code."""
        radices = [len(values), card + 1]
        return Look.dense([index, code], radices, np.moveaxis(values, -1, 0))

    # ---- gates and posteriors

    def _add_gates(self, rows: Rows) -> None:
        """Add lw, the log of the weight that gates give the member of a row."""
        total: Expression = num(0.0)
        for level, gates in enumerate(self._members.gates):
            slot, index = f"y{level}", f"gn{level}"
            n_branches = gates.base.shape[1]
            looks = [(slot, Look.dense([index], [len(gates.base)], gates.base.T))]
            for v, card in enumerate(self._cards):
                looks.append((slot, self._table(index, f"c{v}", card, gates.tables[v])))
            check_size([look for _, look in looks])
            rows.add_up(looks, n_branches)
            rows.zeros([slot], n_branches)
            scores = [col(f"{slot}_{k}") for k in range(n_branches)]
            if self._members.is_posterior:
                self._add_log_sum(rows, scores)
                total = minus(total, col("lt"))
            branch = chosen(col(f"gb{level}"), dict(enumerate(scores)), null())
            unused = ["lt", *(f"{slot}_{k}" for k in range(n_branches))]
            rows.extend({"lw": plus(total, branch)}, without=unused)
            total = col("lw")

    def _add_log_sum(self, rows: Rows, scores: list[Expression]) -> None:
        """Add lt, the log of the sum of exponentials of some columns."""
        rows.extend({"lt": highest([score.copy() for score in scores])})
        parts = [exponential(minus(score.copy(), col("lt"))) for score in scores]
        rows.extend({"lt": plus(col("lt"), logarithm(plus(*parts)))})

    def _normalise(self, rows: Rows, slot: str) -> None:
        """Make scores of members posteriors, times the weights of their gates."""
        scores = {f"{slot}_{c}": col(f"{slot}_{c}") for c in self._classes}
        self._add_log_sum(rows, list(scores.values()))
        weight = [col("lw")] if self._members.gates else []
        rows.extend(
            {
                key: plus(minus(score, col("lt")), *(one.copy() for one in weight))
                for key, score in scores.items()
            },
            without=["lt"],
        )

    # ---- the sum over members

    def _if_used(self, value: Expression, otherwise: Expression) -> Expression:
        """A value in rows of members, and another in that of the fallback."""
        if not self._members.has_fallback:
            return value
        return case([(below(col("mp"), num(self._none)), value)], otherwise)

    def _add_up(self, rows: Rows, carried: list[str]) -> None:
        """One row again, with the sum over the members that were used."""
        has_fallback = self._members.has_fallback
        rows.extend(
            {
                f"h_{c}": exp.Window(
                    this=exp.Max(this=self._if_used(col(f"s_{c}"), null())),
                    partition_by=[col("r")],
                )
                for c in self._classes
            }
        )
        columns: Columns = kept(["r", *carried])
        if has_fallback:
            columns["m"] = exp.Max(this=self._if_used(num(1), num(0)))
        for c in self._classes:
            own = exponential(minus(col(f"s_{c}"), col(f"h_{c}")))
            columns[f"y_{c}"] = exp.Sum(this=self._if_used(own, num(0.0)))
            columns[f"h_{c}"] = exp.Max(this=col(f"h_{c}"))
            if has_fallback:
                alone = self._if_used(null(), col(f"s_{c}"))
                columns[f"n_{c}"] = exp.Max(this=alone)
        group = [col(key) for key in ("r", *carried)]
        rows.stage = rows.pipeline.stage(rows.stage, columns, group=group)
        rows.columns = list(columns)
        scores: Columns = {}
        for c in self._classes:
            score = plus(col(f"h_{c}"), logarithm(col(f"y_{c}")))
            if has_fallback:
                score = case([(equal(col("m"), num(0)), col(f"n_{c}"))], score)
            scores[f"s_{c}"] = self._shifted(score, c)
        gone = [f"{kind}_{c}" for kind in "yhn" for c in self._classes]
        rows.extend(scores, without=["r", "m", *gone])

    def _shifted(self, score: Expression, c: int) -> Expression:
        """A score with what is added to its class."""
        return plus(score, nats(self._shift[c])) if any(self._shift) else score

    # ---- what features say

    def _add_contributions(self, rows: Rows, carried: list[str]) -> None:
        """Probabilities, the class, and g and g{feature} of what speaks for it."""
        if self._members.has_parents:
            self._chain(rows, carried)
        else:
            scores = {
                f"e_{c}": plus(
                    col(f"s_{c}"), *(col(f"f{v}_{c}") for v in range(len(self._cards)))
                )
                for c in self._classes
            }
            rows.extend(scores, without=[f"s_{c}" for c in self._classes])
        if self._members.is_posterior:
            self._normalise(rows, "e")
        self._sum(rows)
        add_choice(rows, self._predictor, told=True)
        self._weigh(rows)
        self._gather(rows, carried)

    def _chain(self, rows: Rows, carried: list[str]) -> None:
        """A row for each network: its score, and what each feature adds to it."""
        n, classes = len(self._cards), self._classes
        sums: Columns = {}
        for c in classes:
            for v in range(n + 1):
                known = [col(f"u{w}_{c}") for w in range(v)]
                sums[f"l{v}_{c}"] = plus(col(f"s_{c}"), *known)
        rows.extend(sums, without=[f"u{v}_{c}" for v in range(n) for c in classes])
        rows.extend(
            {
                f"h{key}": exp.Window(
                    this=exp.Max(this=col(key)), partition_by=[col("r"), col("mp")]
                )
                for key in sums
            }
        )
        keys = ["r", "mp", *carried]
        columns: Columns = kept(keys)
        for key in sums:
            own = exponential(minus(col(key), col(f"h{key}")))
            total = logarithm(exp.Sum(this=own))
            columns[key] = plus(exp.Max(this=col(f"h{key}")), total)
        for key in rows.columns:
            if key.startswith(("a_", "b_")):
                columns[key] = exp.Max(this=col(key))
        rows.stage = rows.pipeline.stage(
            rows.stage, columns, group=[col(key) for key in keys]
        )
        rows.columns = list(columns)
        self._differences(rows)

    def _differences(self, rows: Rows) -> None:
        """What each feature adds: f{feature}_class; e_class of the network's score."""
        n, classes = len(self._cards), self._classes
        heads: Columns = {}
        for k in (0, 1):
            own = zip(self._members.networks, self._members.parents[:, k])
            parents = {int(m): num(int(v)) for m, v in own if v >= 0}
            heads[f"m{k}"] = chosen(col("mp"), parents, num(-1))
        rows.extend(heads)
        seen = case(
            [
                (
                    both(equal(col("m0"), num(v)), below(col(f"c{v}"), num(card))),
                    num(1.0),
                )
                for v, card in enumerate(self._cards)
            ],
            num(0.0),
        )
        firsts = {f"b_{c}": times(seen.copy(), col(f"b_{c}")) for c in classes}
        rows.extend(firsts)
        found: Columns = {}
        for c in classes:
            found[f"e_{c}"] = col(f"l{n}_{c}")
            for v, card in enumerate(self._cards):
                step = minus(col(f"l{v + 1}_{c}"), col(f"l{v}_{c}"))
                rest = minus(minus(col(f"l0_{c}"), self._prior(c)), col(f"b_{c}"))
                value = case(
                    [
                        (equal(col(f"c{v}"), num(card)), num(0.0)),
                        (equal(col("m0"), num(v)), col(f"b_{c}")),
                        (equal(col("m1"), num(v)), rest),
                    ],
                    step,
                )
                found[f"f{v}_{c}"] = value
        gone = [f"l{v}_{c}" for v in range(n + 1) for c in classes]
        rows.extend(found, without=[*gone, *firsts, *heads])

    def _prior(self, c: int) -> Expression:
        """The prior of a class in the member of a row, nats."""
        prior = self._members.same_prior
        return col(f"a_{c}") if prior is None else nats(prior[c])

    def _sum(self, rows: Rows) -> None:
        """Scores of the classes in the row of every member that is used."""
        over_row = [col("r")]
        if self._members.has_fallback:
            used = self._if_used(num(1), num(0))
            rows.extend(
                {"m": exp.Window(this=exp.Sum(this=used), partition_by=over_row)}
            )
            # Whether it is a row of a member, or of none where there are none.
            is_member = below(col("mp"), num(self._none))
            where = either(is_member, equal(col("m"), num(0)))
            rows.stage = rows.pipeline.stage(
                rows.stage, kept(rows.columns), where=where
            )
        tops = {
            f"h_{c}": exp.Window(
                this=exp.Max(this=col(f"e_{c}")), partition_by=over_row
            )
            for c in self._classes
        }
        rows.extend(tops)
        gaps = [exponential(minus(col(f"e_{c}"), col(f"h_{c}"))) for c in self._classes]
        sums = {
            f"y_{c}": exp.Window(this=exp.Sum(this=gap), partition_by=over_row)
            for c, gap in enumerate(gaps)
        }
        rows.extend(sums)
        scores: Columns = {}
        for c in self._classes:
            score = plus(col(f"h_{c}"), logarithm(col(f"y_{c}")))
            scores[f"s_{c}"] = self._shifted(score, c)
        rows.extend(scores, without=[*tops, *sums])

    def _weigh(self, rows: Rows) -> None:
        """The logarithmic-mean weight of each network."""

        def side(slot: str, index: str) -> Expression:
            values: dict[int, Expression] = {
                c: col(f"{slot}_{c}") for c in self._classes
            }
            if slot == "s" and any(self._shift):
                values = {
                    c: minus(value, nats(self._shift[c])) for c, value in values.items()
                }
            return chosen(col(index), values, null())

        rows.extend({f"{s}{k}": side(s, k) for s in "es" for k in "ta"})
        rows.extend(
            {
                **{f"{s}h": highest([col(f"{s}t"), col(f"{s}a")]) for s in "es"},
                **{f"{s}l": lowest([col(f"{s}t"), col(f"{s}a")]) for s in "es"},
            }
        )
        rows.extend({f"{s}g": minus(col(f"{s}h"), col(f"{s}l")) for s in "es"})
        rows.extend({f"{s}m": plus(col(f"{s}h"), _mean_of(f"{s}g")) for s in "es"})
        rows.extend({"q": minus(col("em"), col("sm"))})
        rows.extend({"q": exponential(col("q"))})

    def _gather(self, rows: Rows, carried: list[str]) -> None:
        """One row again, with what each feature says in all networks together."""
        predictor = self._predictor

        def odds(values: dict[int, Expression]) -> Expression:
            sides = (
                chosen(col(side), {c: v.copy() for c, v in values.items()}, null())
                for side in "ta"
            )
            return minus(*sides)

        def summed(value: Expression) -> Expression:
            return exp.Sum(this=tempered(times(col("q"), value), predictor))

        columns: Columns = kept(["r", *carried])
        for key in (*(f"p_{c}" for c in self._classes), "t", "a", "o"):
            columns[key] = exp.Max(this=col(key))
        columns["g"] = summed(odds({c: self._prior(c) for c in self._classes}))
        for v in range(len(self._cards)):
            values: dict[int, Expression] = {c: col(f"f{v}_{c}") for c in self._classes}
            columns[f"g{v}"] = summed(odds(values))
        group = [col(key) for key in ("r", *carried)]
        rows.stage = rows.pipeline.stage(rows.stage, columns, group=group)
        rows.columns = list(columns)
        prior = [col("g")]
        if any(self._shift):
            added: dict[int, Expression] = {
                c: nats(value) for c, value in enumerate(self._shift)
            }
            prior.append(tempered(odds(added), predictor))
        if (shift := shift_between(predictor)) is not None:
            prior.append(shift)
        rows.extend({"g": plus(*prior)}, without=["r"])


def _mean_of(gap: str) -> Expression:
    """Logarithm of the logarithmic mean of two numbers over the larger of them."""
    near = plus(
        times(num(-0.5), col(gap)),
        over(times(col(gap), col(gap)), num(24.0)),
        times(num(-1 / 2880), times(col(gap), col(gap)), times(col(gap), col(gap))),
    )
    falling = exponential(times(num(-1.0), col(gap)))
    far = logarithm(over(minus(num(1.0), falling), col(gap)))
    return case([(below(col(gap), num(_SMALL)), near)], far)
