"""Class scores of averages of networks with one or two super-parents.

A row becomes one row for each network and state of its super-parents that fits; missing
super-parents fit every state. What the features say is looked up and added, and the
probabilities of all networks are added up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
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
    double,
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

Floats = NDArray[np.float64]
# Differences of logarithms below which a series is exact.
_SMALL = 0.01


class Ensemble:
    """The stages of an average.

    Parameters
    ----------
    members : Members
        The networks.
    cards : tuple of int
        Number of states of each feature.
    predictor : Predictor
        The classifier.
    """

    def __init__(
        self, members: Members, cards: tuple[int, ...], predictor: Predictor
    ) -> None:
        self._members = members
        self._cards = cards
        self._predictor = predictor
        self._classes = range(len(members.log_prior))
        self._none = members.n_networks

    def add(self, rows: Rows, *, told: bool) -> None:
        """Add s_class, or all up to the contributions of features if they are told."""
        carried = list(rows.columns)
        self._expand(rows)
        looks = [("s", self._base())]
        slots = [f"u{v}" if told else "s" for v in range(len(self._cards))]
        looks += [(slot, self._table(v)) for v, slot in enumerate(slots)]
        check_size([look for _, look in looks])
        n_classes = len(self._classes)
        if told:
            first = Look.dense(
                ["at"], [self._members.n_places + 1], _turned(self._members.first)
            )
            looks.append(("b", first))
        rows.add_up(looks, n_classes)
        rows.zeros([*slots, *(["b"] if told else [])], n_classes)
        if told:
            self._add_contributions(rows, carried)
        else:
            self._add_up(rows, carried)

    def _expand(self, rows: Rows) -> None:
        """A row for each place that fits, and one for no network at all."""
        members = self._members
        order = exp.Order(expressions=[exp.Ordered(this=null())])
        rows.extend({"r": exp.Window(this=exp.RowNumber(), order=order)})
        place = members.networks
        parents = members.parents[place]
        columns = {
            "at": [*range(members.n_places), members.n_places],
            "mp": [*place.tolist(), self._none],
            "mu": [*members.usable.tolist(), 1],
        }
        for k in (0, 1):
            columns[f"m{k}"] = [*parents[:, k].tolist(), -1]
            columns[f"k{k}"] = [*members.states[:, k].tolist(), 0]
        table = rows.pipeline.constants(columns)
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
        new = {key: col(key, table) for key in ("at", "mp")}
        stage = rows.pipeline.stage(
            rows.stage,
            {**kept(rows.columns), **new},
            crossed=[(table, either(used, torn))],
        )
        rows.stage = stage
        rows.columns = [*rows.columns, *new]

    def _fits(self, k: int, table: str, *, missing: bool) -> Expression:
        """Whether a super-parent has the state of a place, or is missing."""
        cases = []
        for v, card in enumerate(self._cards):
            own = num(card) if missing else col(f"k{k}", table)
            test = case([(equal(col(f"c{v}"), own), num(1))], num(0))
            cases.append((equal(col(f"m{k}", table), num(v)), test))
        return equal(case(cases, num(0)), num(1))

    def _base(self) -> Look:
        """Nats of class and super-parents by place."""
        members = self._members
        values = np.concatenate([members.joint, np.zeros((1, len(self._classes)))])
        values = values + members.log_prior
        return Look.dense(["at"], [members.n_places + 1], values.T)

    def _table(self, feature: int) -> Look:
        """Nats of a feature by place and code."""
        members = self._members
        card = self._cards[feature]
        own = members.tables[feature]
        last = np.zeros((1, card, len(self._classes)))
        if members.fallback is not None:
            last = members.fallback[feature][None]
        values = np.moveaxis(np.concatenate([own, last]), -1, 0)
        names = ["at", f"c{feature}"]
        return Look.dense(names, [members.n_places + 1, card + 1], values)

    # ---- the sum over networks

    def _is_used(self) -> Expression:
        """Whether a row is that of a network."""
        return below(col("mp"), num(self._none))

    def _add_up(self, rows: Rows, carried: list[str]) -> None:
        """One row again, with the mean over the networks that were used."""
        tops = {
            f"h_{c}": exp.Window(
                this=exp.Max(this=case([(self._is_used(), col(f"s_{c}"))], null())),
                partition_by=[col("r")],
            )
            for c in self._classes
        }
        rows.extend(tops)
        columns: Columns = kept(["r", *carried])
        used = exp.Distinct(expressions=[case([(self._is_used(), col("mp"))], null())])
        columns["m"] = exp.Count(this=used)
        for c in self._classes:
            own = exponential(minus(col(f"s_{c}"), col(f"h_{c}")))
            columns[f"y_{c}"] = exp.Sum(this=case([(self._is_used(), own)], num(0.0)))
            columns[f"h_{c}"] = exp.Max(this=col(f"h_{c}"))
            alone = case([(self._is_used(), null())], col(f"s_{c}"))
            columns[f"n_{c}"] = exp.Max(this=alone)
        group = [col(key) for key in ("r", *carried)]
        rows.stage = rows.pipeline.stage(rows.stage, columns, group=group)
        rows.columns = list(columns)
        count = logarithm(double(col("m")))
        scores = {
            f"s_{c}": case(
                [(equal(col("m"), num(0)), col(f"n_{c}"))],
                minus(plus(col(f"h_{c}"), logarithm(col(f"y_{c}"))), count.copy()),
            )
            for c in self._classes
        }
        gone = [f"{kind}_{c}" for kind in "yhn" for c in self._classes]
        rows.extend(scores, without=["r", "m", *gone])

    # ---- what features say

    def _add_contributions(self, rows: Rows, carried: list[str]) -> None:
        """Probabilities, the class, and g and g{feature} of what speaks for it."""
        self._chain(rows, carried)
        self._mean(rows)
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
        for c in classes:
            columns[f"b_{c}"] = exp.Max(this=col(f"b_{c}"))
        rows.stage = rows.pipeline.stage(
            rows.stage, columns, group=[col(key) for key in keys]
        )
        rows.columns = list(columns)
        self._differences(rows)

    def _differences(self, rows: Rows) -> None:
        """What each feature adds: f{feature}_class; e_class of the network's score."""
        n, classes = len(self._cards), self._classes
        parents = self._members.parents
        prior = self._members.log_prior
        heads: Columns = {}
        for k in (0, 1):
            places = {m: num(int(p)) for m, p in enumerate(parents[:, k])}
            heads[f"m{k}"] = chosen(col("mp"), places, num(-1))
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
                rest = minus(minus(col(f"l0_{c}"), nats(prior[c])), col(f"b_{c}"))
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

    def _mean(self, rows: Rows) -> None:
        """Scores of the classes in the row of every network that is used."""
        one = case([(self._is_used(), num(1))], num(0))
        over_row = [col("r")]
        used = exp.Window(this=exp.Sum(this=one), partition_by=over_row)
        rows.extend({"m": used})
        none = both(equal(col("m"), num(0)), equal(col("mp"), num(self._none)))
        where = either(self._is_used(), none)
        rows.stage = rows.pipeline.stage(rows.stage, kept(rows.columns), where=where)
        rows.extend(
            {
                f"h_{c}": exp.Window(
                    this=exp.Max(this=col(f"e_{c}")), partition_by=over_row
                )
                for c in self._classes
            }
        )
        rows.extend(
            {
                f"y_{c}": exp.Window(
                    this=exp.Sum(this=exponential(minus(col(f"e_{c}"), col(f"h_{c}")))),
                    partition_by=over_row,
                )
                for c in self._classes
            }
        )
        # The sum, whose common factor, the number of networks, says nothing.
        rows.extend(
            {
                f"s_{c}": plus(col(f"h_{c}"), logarithm(col(f"y_{c}")))
                for c in self._classes
            },
            without=[f"{kind}_{c}" for kind in "hy" for c in self._classes],
        )

    def _weigh(self, rows: Rows) -> None:
        """The logarithmic-mean weight of each network."""

        def side(slot: str, place: str) -> Expression:
            values = {c: col(f"{slot}_{c}") for c in self._classes}
            return chosen(col(place), values, null())

        rows.extend({f"{s}{p}": side(s, p) for s in "es" for p in "ta"})
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
        prior = self._members.log_prior

        def odds(values: dict[int, Expression]) -> Expression:
            sides = [chosen(col(side), values, null()) for side in "ta"]
            return minus(sides[0], sides[1].copy())

        def summed(value: Expression) -> Expression:
            return exp.Sum(this=tempered(times(col("q"), value), predictor))

        columns: Columns = kept(["r", *carried])
        for key in (*(f"p_{c}" for c in self._classes), "t", "a", "o"):
            columns[key] = exp.Max(this=col(key))
        columns["g"] = summed(odds({c: nats(prior[c]) for c in self._classes}))
        for v in range(len(self._cards)):
            values: dict[int, Expression] = {c: col(f"f{v}_{c}") for c in self._classes}
            columns[f"g{v}"] = summed(odds(values))
        group = [col(key) for key in ("r", *carried)]
        rows.stage = rows.pipeline.stage(rows.stage, columns, group=group)
        rows.columns = list(columns)
        shift = shift_between(predictor)
        shifted = {} if shift is None else {"g": plus(col("g"), shift)}
        rows.extend(shifted, without=["r"])


def _turned(values: Floats) -> Floats:
    """Values by place, with a last place of zeros, the classes first."""
    return np.concatenate([values, np.zeros((1, values.shape[1]))]).T


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
