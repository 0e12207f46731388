"""Missing cells summed out of a network exactly, variable by variable.

A row becomes one row for each state of what it misses and still has to be known; tables
of families are looked up, and as soon as all children of a variable are seen, the rows
that differ in it alone are added up. Observed variables make no rows.
"""

from __future__ import annotations

from math import prod

from sqlglot import exp

from bayleaf.io.exports.sql.looking_up import Addend, Rows, check_size
from bayleaf.io.exports.sql.networks import ScoredNetwork, code_columns
from bayleaf.io.exports.sql.pipeline import Columns, kept
from bayleaf.io.exports.sql.words import (
    Expression,
    at_most,
    below,
    both,
    case,
    chosen,
    col,
    double,
    equal,
    exponential,
    highest,
    logarithm,
    minus,
    nats,
    null,
    num,
    plus,
    times,
)


class SummedOut:
    """The stages that score rows with missing cells.

    Parameters
    ----------
    scored : ScoredNetwork
        The network.
    told : bool
        Whether scores are needed for every prefix of the features, as explanations
        ask.
    limit : int
        Rows that one row may become; where it is more its scores are missing.
    """

    def __init__(self, scored: ScoredNetwork, *, told: bool, limit: int) -> None:
        self.scored = scored
        self.told = told
        self.limit = limit
        self.order = _elimination_order(scored)
        self.widest = max(
            (prod(scored.cards[v] for v in scope) for scope in self._scopes()),
            default=1,
        )

    @property
    def remark(self) -> str:
        """What the reader of the query should know."""
        if self.widest <= self.limit:
            return ""
        return (
            "rows whose missing cells would have to be summed over more than "
            f"{self.limit} combinations at a time have no result"
        )

    def _scopes(self) -> list[list[int]]:
        """What may have several states at once, step by step."""
        open_now: list[int] = []
        found = []
        for place, variable in enumerate(self.order):
            if variable in self.scored.inner:
                open_now = [*open_now, variable]
            found.append(open_now)
            open_now = self._left(open_now, place)
        return found

    def _left(self, open_now: list[int], place: int) -> list[int]:
        """What stays open after a step."""
        done = set(self.order[: place + 1])
        return [v for v in open_now if not self.scored.children[v] <= done]

    def add(self, rows: Rows) -> list[Rows]:
        """Score the rows; gives the ways on, which have the same columns."""
        scored = self.scored
        carried = list(rows.columns)
        order = exp.Order(expressions=[exp.Ordered(this=null())])
        rows.extend({"r": exp.Window(this=exp.RowNumber(), order=order)})
        codes = code_columns(scored.n_features)
        if self.told:
            codes = self._prefixes(rows)
        rows.extend(
            {
                f"e{v}": case(
                    [
                        (
                            both(scored.absent(v, codes), scored.seen_below(v, codes)),
                            num(1),
                        )
                    ],
                    num(0),
                )
                for v in scored.inner
            }
        )
        branches = self._narrow(rows, carried)
        self._sum(rows, codes)
        if self.told:
            self._pivot(rows, carried)
        else:
            names = [*carried, *(f"s_{c}" for c in range(scored.n_classes))]
            rows.extend({}, without=[k for k in rows.columns if k not in names])
        return [rows, *branches]

    def _prefixes(self, rows: Rows) -> list[str]:
        """Rows for every number of features that are known, in their order."""
        scored = self.scored
        steps = range(len(scored.order) + 1)
        table = rows.pipeline.constants({"st": list(steps)})
        columns: Columns = {**kept(rows.columns), "st": col("st", table)}
        for place, feature in enumerate(scored.order):
            hidden = below(col("st", table), num(place + 1))
            columns[f"m{feature}"] = case(
                [(hidden, num(scored.cards[feature]))], col(f"c{feature}")
            )
        rows.stage = rows.pipeline.stage(rows.stage, columns, crossed=[(table, None)])
        rows.columns = list(columns)
        return [f"m{feature}" for feature in range(scored.n_features)]

    def _narrow(self, rows: Rows, carried: list[str]) -> list[Rows]:
        """Go on with rows that do not become too many; another way for the others."""
        if self.widest <= self.limit:
            return []
        cards = self.scored.cards
        widths = [
            times(
                *(
                    case(
                        [(equal(col(f"e{v}"), num(1)), num(float(cards[v])))], num(1.0)
                    )
                    for v in scope
                )
            )
            for scope in self._scopes()
            if prod(cards[v] for v in scope) > self.limit
        ]
        width: Expression = highest(widths)
        if self.told:
            # The row of a prefix goes the way of the whole row.
            rows.extend({"w": width})
            over = [col("r")]
            width = exp.Window(this=exp.Max(this=col("w")), partition_by=over)
        rows.extend({"w": width})
        wide = rows.branch()
        fits = at_most(col("w"), num(float(self.limit)))
        empty = [f"s_{c}" for c in range(self.scored.n_classes)]
        if self.told:
            slots = ["b", *(f"f{v}" for v in range(self.scored.n_features))]
            empty += [f"{s}_{c}" for s in slots for c in range(self.scored.n_classes)]
        columns = {**kept(carried), **{key: double(null()) for key in empty}}
        one = equal(col("st"), num(0)) if self.told else None
        condition = exp.Not(this=exp.Paren(this=fits.copy()))
        wide.stage = rows.pipeline.stage(
            rows.stage, columns, where=both(condition, one) if one else condition
        )
        wide.columns = list(columns)
        own = [key for key in rows.columns if key != "w"]
        rows.stage = rows.pipeline.stage(rows.stage, kept(own), where=fits)
        rows.columns = own
        return [wide]

    def _sum(self, rows: Rows, codes: list[str]) -> None:
        """Look families up and add states up, in the order of elimination."""
        scored = self.scored
        rows.extend({f"s_{c}": nats(base) for c, base in enumerate(scored.base)})
        columns = [*codes, *(f"z{v}" for v in scored.latents)]
        pending: list[Addend] = []
        looks = []
        open_now: list[int] = []
        for place, variable in enumerate(self.order):
            if variable in scored.inner:
                rows.add_up(pending, scored.n_classes)
                pending = []
                self._expand(rows, variable, codes)
                columns[variable] = f"z{variable}"
                open_now = [*open_now, variable]
            looks.append(scored.look(variable, columns))
            pending.append(("s", looks[-1]))
            left = self._left(open_now, place)
            if left != open_now:
                rows.add_up(pending, scored.n_classes)
                pending = []
                gone = [f"z{v}" for v in open_now if v not in left]
                self._add_up(rows, gone, [f"z{v}" for v in left])
                open_now = left
        rows.add_up(pending, scored.n_classes)
        check_size(looks)

    def _expand(self, rows: Rows, variable: int, codes: list[str]) -> None:
        """A row for every state of a variable that is summed out; else for its own."""
        card = self.scored.cards[variable]
        table = rows.pipeline.constants({"k": list(range(card + 1))})
        state = col("k", table)
        own = num(card) if variable >= self.scored.n_features else col(codes[variable])
        fits = exp.Or(
            this=exp.Paren(
                this=both(equal(col(f"e{variable}"), num(1)), below(state, num(card)))
            ),
            expression=exp.Paren(
                this=both(equal(col(f"e{variable}"), num(0)), equal(state.copy(), own))
            ),
        )
        columns = {**kept(rows.columns), f"z{variable}": state.copy()}
        rows.stage = rows.pipeline.stage(rows.stage, columns, crossed=[(table, fits)])
        rows.columns = list(columns)

    def _add_up(self, rows: Rows, gone: list[str], left: list[str]) -> None:
        """Rows that differ in the states of some variables become one."""
        classes = range(self.scored.n_classes)
        over = ["r", *(["st"] if self.told else []), *left]
        rows.extend(
            {
                f"h_{c}": exp.Window(
                    this=exp.Max(this=col(f"s_{c}")),
                    partition_by=[col(key) for key in over],
                )
                for c in classes
            }
        )
        sums = [*(f"{kind}_{c}" for kind in "sh" for c in classes), *gone]
        keys = [key for key in rows.columns if key not in sums]
        added: Columns = {
            f"s_{c}": plus(
                exp.Max(this=col(f"h_{c}")),
                logarithm(
                    exp.Sum(this=exponential(minus(col(f"s_{c}"), col(f"h_{c}"))))
                ),
            )
            for c in classes
        }
        columns = {**kept(keys), **added}
        rows.stage = rows.pipeline.stage(
            rows.stage, columns, group=[col(key) for key in keys]
        )
        rows.columns = list(columns)

    def _pivot(self, rows: Rows, carried: list[str]) -> None:
        """One row again: what each feature changed is what it says."""
        scored = self.scored
        last = len(scored.order)

        def score(step: int, c: int) -> Expression:
            own = chosen(col("st"), {step: col(f"s_{c}")}, null())
            return exp.Max(this=own)

        columns: Columns = kept(["r", *carried])
        for c in range(scored.n_classes):
            columns[f"s_{c}"] = score(last, c)
            columns[f"b_{c}"] = score(0, c)
            for place, feature in enumerate(scored.order):
                columns[f"f{feature}_{c}"] = minus(score(place + 1, c), score(place, c))
        group = [col(key) for key in ("r", *carried)]
        rows.stage = rows.pipeline.stage(rows.stage, columns, group=group)
        rows.columns = list(columns)
        silent: Columns = {
            f"f{v}_{c}": case(
                [(equal(col(f"c{v}"), num(scored.cards[v])), num(0.0))],
                col(f"f{v}_{c}"),
            )
            for v in range(scored.n_features)
            for c in range(scored.n_classes)
        }
        rows.extend(silent, without=["r"])


def _elimination_order(scored: ScoredNetwork) -> list[int]:
    """Variables, parents first, such that few are open at a time."""
    todo = set(range(scored.label)) | (
        set() if scored.class_is_root else {scored.label}
    )
    done: list[int] = []
    open_now: set[int] = set()

    def cost(variable: int) -> tuple[float, int]:
        now = open_now | ({variable} if variable in scored.inner else set())
        seen = {*done, variable}
        left = [v for v in now if not scored.children[v] <= seen]
        return float(prod(scored.cards[v] for v in left)), variable

    while todo:
        ready = [v for v in todo if set(scored.parents[v]) <= set(done)]
        best = min(ready, key=cost)
        todo.remove(best)
        done.append(best)
        if best in scored.inner:
            open_now.add(best)
        open_now = {v for v in open_now if not scored.children[v] <= set(done)}
    return done
