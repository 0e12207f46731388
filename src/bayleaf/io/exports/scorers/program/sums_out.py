"""Products of distributions, summed over variables that are not known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import log_sum_exp
from bayleaf.io.exports.scorers.program.engine import Reader

# Largest table that summing out may build: a list of some hundred megabytes.
_MOST_CELLS = 5_000_000
# Sums over tables that hang together that are kept.
_MOST_KNOWN = 20_000


class Factor:
    """One distribution: logarithms, from some number of the program on."""

    def __init__(
        self, reader: Reader, cards: list[int], start: int, child: int, variables: int
    ) -> None:
        self.start, self.child = start, child
        self.family: tuple[int, ...] = tuple(reader.integers[variables])
        self.logs = reader.numbers
        self.cards = cards
        self.strides = _strides(self.family, cards)

    def place(self, known: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Variables that are not known, and the first cell of the known states."""
        first, others = self.start, []
        for variable in self.family:
            if known[variable] >= 0:
                first += known[variable] * self.strides[variable]
            else:
                others.append(variable)
        return tuple(others), first

    def sliced(self, others: Sequence[int], first: int) -> list[float]:
        """The cells from one on, over the variables that are not known."""
        cells = [first]
        for variable in others:
            step, states = self.strides[variable], range(self.cards[variable])
            cells = [cell + step * state for cell in cells for state in states]
        return [self.logs[cell] for cell in cells]


class SumOut:
    """The joint probability of the class and the known features of a row."""

    def __init__(
        self,
        reader: Reader,
        cards: int,
        order: int,
        factors: list[list[int]],
        weight: float = 1.0,
    ) -> None:
        self.cards, self.order = reader.integers[cards], reader.integers[order]
        self.weight = weight
        self.label = len(self.cards) - 1
        self.factors = [Factor(reader, self.cards, *own) for own in factors]
        # Whether the odds of a row without missing cells are those of its tables.
        self.is_simple = all(
            factor.child != self.label or len(factor.family) == 1
            for factor in self.factors
        )
        self.totals: dict[Any, float] = {}
        self.prior = self.scores([])

    def _known(self, codes: Sequence[int]) -> list[int]:
        """States of all variables by those of the features, -1 where unknown."""
        known = [-1] * len(self.cards)
        for variable, code in enumerate(codes):
            if code < self.cards[variable]:
                known[variable] = code
        return known

    def _informative(self, known: Sequence[int]) -> list[Factor]:
        """Tables without those of variables of which nothing more is known."""
        factors = self.factors
        if -1 not in known[: self.label]:
            return factors
        while True:
            uses = [0] * len(self.cards)
            for factor in factors:
                for variable in factor.family:
                    uses[variable] += 1
            kept = [
                factor
                for factor in factors
                # Summed over its child, such a table is one.
                if factor.child == self.label
                or known[factor.child] >= 0
                or uses[factor.child] > 1
            ]
            if len(kept) == len(factors):
                return kept
            factors = kept

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Weighted log of the joint probability with each class."""
        known = self._known(codes)
        factors = self._informative(known)
        scores = []
        for label in range(self.cards[self.label]):
            known[self.label] = label
            scores.append(self.weight * self._log_total(factors, known))
        return scores

    def _log_total(self, factors: Sequence[Factor], known: Sequence[int]) -> float:
        """Logarithm of the product of tables, summed over what is not known.

        What hangs together is summed out together, and kept for the next row, or the
        same one with another feature revealed.
        """
        total, left = 0.0, []
        for factor in factors:
            others, first = factor.place(known)
            if others:
                left.append((others, first, factor))
            else:
                total += factor.logs[first]
        if len(self.totals) > _MOST_KNOWN:
            self.totals.clear()
        for group in _connected(left):
            key = tuple(group)
            if key not in self.totals:
                tables = [(own[0], own[2].sliced(own[0], own[1])) for own in group]
                self.totals[key] = _summed(tables, self.cards)
            total += self.totals[key]
        return total

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """Log-odds by feature, and of the prior."""
        prior = self.prior[target] - self.prior[against]
        known = self._known(codes)
        known[self.label] = target
        factors = self._informative(known)
        if self.is_simple and all(
            known[variable] >= 0 for factor in factors for variable in factor.family
        ):
            return [*self._family_odds(known, target, against)[: len(codes)], prior]
        return [*self._chain_odds(codes, prior, target, against), prior]

    def _family_odds(self, known: list[int], target: int, against: int) -> list[float]:
        """What the distribution of each feature adds."""
        odds = [0.0] * self.label
        for factor in self.factors:
            child = factor.child
            if child == self.label or self.label not in factor.family:
                continue
            if known[child] >= 0:
                sides = []
                for label in (target, against):
                    known[self.label] = label
                    sides.append(factor.logs[factor.place(known)[1]])
                odds[child] = self.weight * (sides[0] - sides[1])
        return odds

    def _chain_odds(
        self, codes: Sequence[int], prior: float, target: int, against: int
    ) -> list[float]:
        """How much the log-odds change as features are revealed in their order."""
        odds = [0.0] * len(codes)
        revealed = self.cards[: len(codes)]
        before = prior
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


def _strides(variables: Sequence[int], cards: Sequence[int]) -> dict[int, int]:
    """How far apart neighbouring states of each variable stand in a table."""
    found, stride = {}, 1
    for variable in reversed(variables):
        found[variable] = stride
        stride *= cards[variable]
    return found


def _connected(left: Iterable[Any]) -> list[list[Any]]:
    """Tables in groups that share no variable."""
    groups: list[tuple[set[int], list[Any]]] = []
    for own in left:
        scope, members, apart = set(own[0]), [own], []
        for others, table in groups:
            if scope.isdisjoint(others):
                apart.append((others, table))
            else:
                scope |= others
                members = table + members
        groups = [*apart, (scope, members)]
    return [members for _, members in groups]


def _summed(tables: Iterable[Any], cards: Sequence[int]) -> float:
    """Logarithm of the sum over all cells of a product of tables."""
    total, left = 0.0, list(tables)
    while left:
        variable = _cheapest(left, cards)
        ours = [table for table in left if variable in table[0]]
        left = [table for table in left if variable not in table[0]]
        rest, logs = _summed_out(variable, ours, cards)
        if rest:
            left.append((rest, logs))
        else:
            total += logs[0]
    return total


def _cheapest(tables: Sequence[Any], cards: Sequence[int]) -> int:
    """The variable whose summing out needs the smallest table."""
    scopes: dict[int, set[int]] = {}
    for variables, _ in tables:
        for variable in variables:
            scopes.setdefault(variable, set()).update(variables)
    size, best = min(
        (math.prod([cards[v] for v in scope]), variable)
        for variable, scope in scopes.items()
    )
    if size > _MOST_CELLS:
        raise ValueError(
            f"too many values are missing: summing them out needs a table of {size} "
            f"cells, more than {_MOST_CELLS}; give some of them"
        )
    return best


def _summed_out(
    variable: int, tables: Sequence[Any], cards: Sequence[int]
) -> tuple[tuple[int, ...], list[float]]:
    """The product of tables, summed over a variable that all of them hold."""
    rest = sorted({v for variables, _ in tables for v in variables} - {variable})
    scope = (*rest, variable)
    product = None
    for variables, logs in tables:
        strides = _strides(variables, cards)
        cells = [0]
        for v in scope:
            step, states = strides.get(v, 0), range(cards[v])
            cells = [cell + step * state for cell in cells for state in states]
        if product is None:
            product = [logs[cell] for cell in cells]
        else:
            product = [own + logs[cells[place]] for place, own in enumerate(product)]
    card, filled = cards[variable], product or []
    starts = range(0, len(filled), card)
    return tuple(rest), [log_sum_exp(filled[k : k + card]) for k in starts]
