"""From scores of the classes to probabilities, a class, and what features add to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bayleaf.io.exports.feature_cells import FeatureCells
from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.words import (
    NEVER,
    ZERO,
    both,
    case,
    chosen,
    exponential,
    highest,
    lowest,
    nats,
    num,
    plus,
    text,
)
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import Floats


class Decision:
    """How a classifier decides by the scores of its classes."""

    def __init__(self, predictor: Predictor, cells: Sequence[FeatureCells]) -> None:
        self.predictor, self.cells = predictor, cells
        self._classes = range(len(predictor.classes))
        # Conditions under which features are known, if not all are in all rows.
        self._known = {
            v: f"c{v} < {cell.variable.n_states}"
            for v, cell in enumerate(cells)
            if cell.may_be_unknown and predictor.temperature != 1.0
        }
        # Columns of the calibration of each row, if it is not the same for all.
        self.calibration = ["ks", "tau"] if self._known else []

    def add_choice(self, rows: Rows) -> None:
        """Add p_class of the probabilities, and t of the index of the class chosen.

        If reported, also a of the runner-up, and o of the log-odds between both.
        Without a possible class there are no probabilities.
        """
        classes = self._classes
        if self._known:
            self._add_calibration(rows)
        scores = [self.tempered(f"s_{c}") for c in classes]
        if shift := self._shift():
            scores = [plus(own, shift[c]) for c, own in enumerate(scores)]
        rows.extend({f"z_{c}": own for c, own in enumerate(scores)})
        rows.extend({"h": highest([f"z_{c}" for c in classes])})
        rows.extend({f"y_{c}": exponential(f"z_{c} - h") for c in classes})
        total, possible = plus(*(f"y_{c}" for c in classes)), f"h > {num(NEVER / 2)}"
        shares = {f"p_{c}": case([(possible, f"y_{c} / {total}")]) for c in classes}
        rows.extend(shares, without=["h", *(f"y_{c}" for c in classes)])
        values, best = [f"p_{c}" for c in classes], highest
        if self.predictor.loss is not None:
            best = lowest
            values = [
                plus(*(f"p_{j} * {num(float(cost))}" for j, cost in enumerate(costs)))
                for costs in self.predictor.loss
            ]
        _add_best(rows, "t", values, best)
        if not rows.is_reported:
            return
        # Below the scores of what is impossible.
        others = [case([(f"t = {c}", num(1e7 * NEVER))], f"z_{c}") for c in classes]
        _add_best(rows, "a", others, but="t")
        rows.extend({"o": between([f"z_{c}" for c in classes])})

    def _add_calibration(self, rows: Rows) -> None:
        """Add ks of the share of strength that is known, and tau of the temperature.

        As `Predictor.calibration`; both are constants where all features are known.
        """
        _, beyond = add_known_shares(rows, self.predictor.strengths, self._known)
        rows.extend({"ks": beyond}, without=["kg", "km"])
        temperature = num(float(self.predictor.temperature))
        tau = f"({temperature} / (ks + (1 - ks) * {temperature}))"
        rows.extend({"tau": tau})

    def tempered(self, value: str) -> str:
        """A score, or a difference of scores, under the temperature."""
        if self._known:
            return f"({value} / tau)"
        temperature = float(self.predictor.temperature)
        return value if temperature == 1.0 else f"({value} / {num(temperature)})"

    def _shift(self) -> list[str]:
        """What another prior adds to each class, if there is one."""
        shift = self.predictor.prior_shift
        added = [] if shift is None else list(map(nats, shift))
        return [f"(ks * {own})" for own in added] if self._known else added

    def prior_shift(self) -> list[str]:
        """What another prior adds to the log-odds, if there is one."""
        shift = self._shift()
        return [between(shift)] if shift else []

    def add_contributions(self, rows: Rows, n_features: int) -> None:
        """Add g of the prior's contribution, and g{feature} of each feature's, nats."""
        slots = ["b", *(f"f{v}" for v in range(n_features))]
        columns = {
            "g" + slot[1:]: self.tempered(
                between([f"{slot}_{c}" for c in self._classes])
            )
            for slot in slots
        }
        columns["g"] = plus(columns["g"], *self.prior_shift())
        rows.extend(
            columns, without=[f"{slot}_{c}" for slot in slots for c in self._classes]
        )


def add_known_shares(
    rows: Rows, strengths: Floats, known: Mapping[int, str]
) -> tuple[list[str], str]:
    """Shares of strength as `partial_cases.known_shares`, exactly one for whole rows.

    Features that may be unknown have conditions. Adds kg of the strength that is known
    and km of the strongest, of which the shares are made.
    """
    total = float(strengths.sum())
    certain = [own for v, own in enumerate(strengths.tolist()) if v not in known]
    least, all_known = max(certain, default=0.0), both(*known.values())
    parts = [case([(test, num(strengths[v]))], ZERO) for v, test in known.items()]
    stronger = [
        (known[v], num(strengths[v]))
        for v in sorted(known, key=lambda v: -strengths[v])
        if strengths[v] > least
    ]
    summed = plus(num(float(sum(certain))), *parts)
    summed = case([(all_known, num(total))], summed)
    rows.extend({"kg": summed, "km": case(stronger, num(least))})
    if len(strengths) < 2:
        return [num(1.0)], case([(all_known, num(1.0))], ZERO)

    def share(part: str, whole: float) -> str:
        return highest([lowest([f"((kg - {part}) / {num(whole)})", num(1.0)]), ZERO])

    others = [share(num(own), total - own) for own in strengths.tolist()]
    return others, share("km", total - float(strengths.max()))


def _add_best(
    rows: Rows,
    key: str,
    values: Sequence[str],
    best: Callable[[Sequence[str]], str] = highest,
    but: str = "",
) -> None:
    """Add the index of the best of some values but one, the first of equal ones."""
    columns: Columns = {f"w_{c}": value for c, value in enumerate(values)}
    rows.extend(columns)
    rows.extend({"w": best([*columns])})
    other = f"{but} <> {{}} AND " if but else ""
    cases = ((f"{other.format(c)}w_{c} = w", str(c)) for c in range(len(values)))
    rows.extend({key: case(cases, but or "NULL")}, without=["w", *columns])


def between(values: Sequence[str]) -> str:
    """The value of the class chosen less that of the runner-up."""
    by_class = dict(enumerate(values))
    return f"({chosen('t', by_class)} - {chosen('a', by_class)})"


def ranked(rows: Rows, cells: Sequence[FeatureCells], n_ranks: int) -> Columns:
    """Columns of the features with the largest contributions.

    They are feature, value, state and contribution by rank, ties in order, and the sum
    of the others.
    """
    for rank in range(n_ranks):
        sizes = [
            case([(f"n{k} = {v}", num(-1.0)) for k in range(rank)], f"ABS(g{v})")
            for v in range(len(cells))
        ]
        _add_best(rows, f"n{rank}", sizes)
    labels: Columns = {}
    for v, own in enumerate(cells):
        texts = {c: text(own.variable.label(c)) for c in range(own.n_codes)}
        labels[f"d{v}"] = chosen(f"c{v}", texts)
    rows.extend(labels)
    features = range(len(cells))
    parts = {
        "feature": [text(str(own.variable.name)) for own in cells],
        "value": [f"x{v}" for v in features],
        "state": [f"d{v}" for v in features],
        "contribution": [f"g{v}" for v in features],
    }
    columns: Columns = {}
    for rank in range(n_ranks):
        for part, values in parts.items():
            value = chosen(f"n{rank}", dict(enumerate(values)))
            columns[f"{part}_{rank + 1}"] = value
    shown = [columns[f"contribution_{rank + 1}"] for rank in range(n_ranks)]
    all_features = plus(*(f"g{v}" for v in features))
    columns["other_features"] = f"{all_features} - {plus(*shown)}"
    return columns
