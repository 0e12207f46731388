"""Products of distributions, summed over variables that are not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Program, log_sum_exp

# Largest table that summing out may build: a list of some hundred megabytes.
_MOST_CELLS = 5_000_000
# Cells of sums that are kept.
_MOST_KNOWN = 200_000
# Orders of variables that are kept.
_MOST_ORDERS = 20_000

# Variables, the first cell, and the table that they are a part of.
_View = Any


class Table:
    """Logarithms over some variables, from some place of a list on."""

    def __init__(
        self, logs: list[float], family: Any, cards: list[int], start: int = 0
    ) -> None:
        self.logs, self.family, self.start = logs, tuple(family), start
        self.cards, self.strides = cards, {}
        stride = 1
        for variable in reversed(self.family):
            self.strides[variable] = stride
            stride *= cards[variable]
        # Of the class.
        self.step = self.strides.get(len(cards) - 1, 0)

    def view(self, known: Sequence[int]) -> _View:
        """The part with the known states, over the variables that are not known."""
        first, others = self.start, []
        for variable in self.family:
            if known[variable] >= 0:
                first += known[variable] * self.strides[variable]
            else:
                others.append(variable)
        return tuple(others), first, self

    def spread(self, scope: Sequence[int], first: int) -> list[float]:
        """The cells from one on, over the variables of a scope."""
        cells = [first]
        for variable in scope:
            step, states = self.strides.get(variable, 0), range(self.cards[variable])
            cells = [cell + step * state for cell in cells for state in states]
        return [self.logs[cell] for cell in cells]


class SumOut:
    """The joint probability of the class and the known features of a row."""

    def __init__(
        self,
        program: Program,
        cards: int,
        order: int,
        tables: list[list[int]],
        weight: float = 1.0,
    ) -> None:
        self.cards, self.order = program.integers[cards], program.integers[order]
        self.weight = weight
        self.label, self.numbers = len(self.cards) - 1, program.numbers
        # A family ends with its child; tables of children come before their parents'.
        self.tables = [
            Table(program.numbers, program.integers[family], self.cards, start)
            for start, family in tables
        ]
        # Whether the odds of a row without missing cells are those of its tables.
        self.is_simple = all(
            table.family[-1] != self.label or len(table.family) == 1
            for table in self.tables
        )
        self.orders: dict[Any, list[int]] = {}
        self.sums: dict[Any, Table] = {}
        self.n_kept = 0
        self.prior = self.scores([])

    def _views(self, codes: Sequence[int]) -> list[_View]:
        """Parts of tables for the first class; those that sum to one are left out."""
        known = [-1] * self.label + [0]
        for variable, code in enumerate(codes):
            if code < self.cards[variable]:
                known[variable] = code
        views, needed = [], set()
        for table in self.tables:
            child = table.family[-1]
            # An unknown child of no known variable sums to one.
            if known[child] >= 0 or child in needed:
                view = table.view(known)
                needed.update(view[0])
                views.append(view)
        return views

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Weighted log of the joint probability with each class."""
        views, logs = self._views(codes), self.numbers
        cells = [(first, table.step) for known, first, table in views if not known]
        left = [view for view in views if view[0]]
        order = self._order(tuple([others for others, _, _ in left]))
        scores = []
        for k in range(self.cards[self.label]):
            total = sum([logs[first + k * step] for first, step in cells])
            own = [(v, first + k * table.step, table) for v, first, table in left]
            scores.append(self.weight * (total + self._total(own, order)))
        return scores

    def _total(self, views: list[_View], order: Sequence[int]) -> float:
        """Logarithm of the product of tables, variables summed out in some order.

        Sums are kept for the next row, or the same one with another feature revealed.
        """
        total = 0.0
        for variable in order:
            ours = tuple([view for view in views if variable in view[0]])
            views = [view for view in views if variable not in view[0]]
            table = self.sums.get(ours) or self._summed(variable, ours)
            if table.family:
                views.append((table.family, 0, table))
            else:
                total += table.logs[0]
        return total

    def _order(self, scopes: tuple[tuple[int, ...], ...]) -> list[int]:
        """The variables of tables, that with the smallest product of tables first."""
        if scopes in self.orders:
            return self.orders[scopes]
        found, left = [], [set(scope) for scope in scopes]
        while any(left):
            joint: dict[int, set[int]] = {}
            for scope in left:
                for variable in scope:
                    joint.setdefault(variable, set()).update(scope)
            size, best = min(
                (math.prod([self.cards[v] for v in scope]), variable)
                for variable, scope in joint.items()
            )
            if size > _MOST_CELLS:
                raise ValueError(
                    "too many values are missing: summing them out needs a table of "
                    f"{size} cells, more than {_MOST_CELLS}; give some of them"
                )
            found.append(best)
            left = [scope for scope in left if best not in scope]
            left.append(joint[best] - {best})
        if len(self.orders) >= _MOST_ORDERS:
            self.orders.clear()
        self.orders[scopes] = found
        return found

    def _summed(self, variable: int, views: Sequence[_View]) -> Table:
        """The product of tables, summed over a variable that all of them hold."""
        rest = sorted({v for others, _, _ in views for v in others} - {variable})
        columns = [table.spread((*rest, variable), first) for _, first, table in views]
        product, card = [sum(own) for own in zip(*columns)], self.cards[variable]
        starts = range(0, len(product), card)
        logs = [log_sum_exp(product[k : k + card]) for k in starts]
        if self.n_kept > _MOST_KNOWN:
            self.sums.clear()
            self.n_kept = 0
        self.n_kept += len(logs)
        found = self.sums[tuple(views)] = Table(logs, rest, self.cards)
        return found

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """Log-odds by feature, and of the prior, which is last."""
        odds = [*[0.0] * len(codes), self.prior[target] - self.prior[against]]
        views = self._views(codes)
        if self.is_simple and not any(others for others, _, _ in views):
            # What the distribution of each feature adds.
            for _, first, table in views:
                if table.step and len(table.family) > 1:
                    ours, theirs = (
                        table.logs[first + k * table.step] for k in (target, against)
                    )
                    odds[table.family[-1]] = self.weight * (ours - theirs)
            return odds
        # How much the log-odds change as features are revealed in their order.
        revealed, before = self.cards[: len(codes)], odds[-1]
        for variable in self.order:
            if variable >= len(codes) or codes[variable] >= self.cards[variable]:
                continue
            revealed[variable] = codes[variable]
            scores = self.scores(revealed)
            after = scores[target] - scores[against]
            # Where a state has become impossible, no later feature adds anything.
            if math.isfinite(before) and not math.isnan(after):
                odds[variable] = after - before
                before = after
        return odds
