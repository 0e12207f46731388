"""From scores of the classes to probabilities, a class, and what features say of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.cells import FeatureCells
from bayleaf.io.exports.sql.looking_up import Rows
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.words import (
    NEVER,
    Expression,
    both,
    case,
    chosen,
    col,
    differs,
    equal,
    exponential,
    highest,
    lowest,
    magnitude,
    minus,
    null,
    num,
    over,
    plus,
    text,
    times,
)
from bayleaf.models.predictor import Predictor

# Below the scores of what is impossible.
_NOTHING = 10 * NEVER


def add_choice(rows: Rows, predictor: Predictor, *, told: bool) -> None:
    """Add p_class of the probabilities, and t of the place of the class chosen.

    If it is told, also a of the runner-up's place, and o of the log-odds between both.
    A class that scores cannot tell, because all are impossible, is missing.
    """
    n_classes = len(predictor.classes)
    classes = range(n_classes)
    rows.extend({f"z_{c}": _calibrated(c, predictor) for c in classes})
    rows.extend({"h": highest([col(f"z_{c}") for c in classes])})
    gap = {f"y_{c}": exponential(minus(col(f"z_{c}"), col("h"))) for c in classes}
    rows.extend(gap)
    total = plus(*(col(f"y_{c}") for c in classes))
    possible = exp_above(col("h"))
    rows.extend(
        {
            f"p_{c}": case(
                [(possible.copy(), over(col(f"y_{c}"), total.copy()))], null()
            )
            for c in classes
        },
        without=[f"y_{c}" for c in classes],
    )
    _add_place(rows, predictor)
    if told:
        _add_runner_up(rows, n_classes)


def exp_above(score: Expression) -> Expression:
    """Whether a score is that of something possible."""
    from sqlglot import exp

    return exp.GT(this=score, expression=num(NEVER / 2))


def _calibrated(c: int, predictor: Predictor) -> Expression:
    """The score of a class under temperature and shift."""
    found = col(f"s_{c}")
    if predictor.temperature != 1.0:
        found = over(found, num(float(predictor.temperature)))
    if predictor.prior_shift is not None:
        found = plus(found, _shift(c, predictor))
    return found


def _shift(c: int, predictor: Predictor) -> Expression:
    """What is added to the score of a class, nats."""
    if predictor.prior_shift is None:
        return num(0.0)
    from bayleaf.io.exports.sql.words import nats

    return nats(predictor.prior_shift[c])


def _add_place(rows: Rows, predictor: Predictor) -> None:
    """The place of the class that is most probable or, under a loss, cheapest."""
    classes = range(len(predictor.classes))
    values = {f"w_{c}": col(f"p_{c}") for c in classes}
    best = highest
    if predictor.loss is not None:
        best = lowest
        for c in classes:
            costs = predictor.loss[c]
            values[f"w_{c}"] = plus(
                *(times(col(f"p_{j}"), num(float(costs[j]))) for j in classes)
            )
    rows.extend(values)
    rows.extend({"w": best([col(f"w_{c}") for c in classes])})
    place = case([(equal(col(f"w_{c}"), col("w")), num(c)) for c in classes], null())
    rows.extend({"t": place}, without=["w", *values])


def _add_runner_up(rows: Rows, n_classes: int) -> None:
    """The most probable class but the one chosen, and the log-odds of the two."""
    classes = range(n_classes)
    others = {
        f"w_{c}": case([(equal(col("t"), num(c)), num(_NOTHING))], col(f"z_{c}"))
        for c in classes
    }
    rows.extend(others)
    rows.extend({"w": highest([col(f"w_{c}") for c in classes])})
    place: Expression = col("t")
    if n_classes > 1:
        fits = [
            both(equal(col(f"w_{c}"), col("w")), differs(col("t"), num(c)))
            for c in classes
        ]
        place = case([(fit, num(c)) for c, fit in enumerate(fits)], null())
    rows.extend({"a": place}, without=["w", *others])
    rows.extend({"o": between("z", n_classes)})


def between(slot: str, n_classes: int) -> Expression:
    """The value of the class chosen less that of the runner-up."""
    sides = [
        chosen(col(side), {c: col(f"{slot}_{c}") for c in range(n_classes)}, null())
        for side in ("t", "a")
    ]
    return minus(sides[0], sides[1])


def tempered(value: Expression, predictor: Predictor) -> Expression:
    """A difference of scores under the temperature."""
    if predictor.temperature == 1.0:
        return value
    return over(value, num(float(predictor.temperature)))


def shift_between(predictor: Predictor) -> Expression | None:
    """What another prior adds to the log-odds; None where there is none."""
    if predictor.prior_shift is None:
        return None
    values = {c: _shift(c, predictor) for c in range(len(predictor.classes))}
    sides = [chosen(col(side), values, null()) for side in ("t", "a")]
    return minus(sides[0], sides[1].copy())


def add_contributions(rows: Rows, predictor: Predictor, n_features: int) -> None:
    """Add g of the prior's contribution, and g{feature} of each feature's, nats."""
    n_classes = len(predictor.classes)

    prior = tempered(between("b", n_classes), predictor)
    if (shift := shift_between(predictor)) is not None:
        prior = plus(prior, shift)
    slots = ["b", *(f"f{v}" for v in range(n_features))]
    rows.extend(
        {
            "g": prior,
            **{
                f"g{v}": tempered(between(f"f{v}", n_classes), predictor)
                for v in range(n_features)
            },
        },
        without=[f"{slot}_{c}" for slot in slots for c in range(n_classes)],
    )


def add_ranking(rows: Rows, n_features: int, n_ranks: int) -> None:
    """Add n{rank} of the features with the largest contributions, ties in order."""
    features = range(n_features)
    for rank in range(n_ranks):
        left: Columns = {}
        for v in features:
            size = magnitude(col(f"g{v}"))
            taken = [(equal(col(f"n{k}"), num(v)), num(-1.0)) for k in range(rank)]
            left[f"l{v}"] = case(taken, size)
        rows.extend(left)
        rows.extend({"l": highest([col(f"l{v}") for v in features])})
        place = case(
            [(equal(col(f"l{v}"), col("l")), num(v)) for v in features], null()
        )
        rows.extend({f"n{rank}": place}, without=["l", *left])


def ranked(
    cells: Sequence[FeatureCells], n_ranks: int
) -> tuple[Columns, dict[str, Any]]:
    """What is told of the features with the largest contributions.

    Returns
    -------
    labels : mapping of str to expression
        Columns d{feature} of the states' names, to be added first.
    columns : mapping of str to expression
        Feature, value, state and contribution by rank, and the sum of the others.
    """
    labels: Columns = {}
    for v, own in enumerate(cells):
        texts = {c: text(own.variable.label(c)) for c in range(own.n_codes)}
        labels[f"d{v}"] = chosen(col(f"c{v}"), texts, null())
    columns: Columns = {}
    for rank in range(n_ranks):

        def of(values: list[Expression], rank: int = rank) -> Expression:
            return chosen(col(f"n{rank}"), dict(enumerate(values)), null())

        n = rank + 1
        columns[f"feature_{n}"] = of([text(str(own.variable.name)) for own in cells])
        columns[f"value_{n}"] = of([col(f"x{v}") for v in range(len(cells))])
        columns[f"state_{n}"] = of([col(f"d{v}") for v in range(len(cells))])
        columns[f"contribution_{n}"] = of([col(f"g{v}") for v in range(len(cells))])
    every = plus(*(col(f"g{v}") for v in range(len(cells))))
    told = plus(
        *(columns[f"contribution_{rank + 1}"].copy() for rank in range(n_ranks))
    )
    columns["other_features"] = minus(every, told)
    return labels, columns
