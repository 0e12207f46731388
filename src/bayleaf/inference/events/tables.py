"""Products of tables, with variables summed or maximised out one after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.triangulation import eliminate_all_but, married
from bayleaf.wording import name_list

Floats = NDArray[np.float64]
Scope = tuple[int, ...]
# Joint states among which the best is found at once, ties going to the lowest.
_AT_ONCE = 1 << 16
# Probabilities that differ by less than this share come from rounding alone.
_TIE = 1e-12


class Table(NamedTuple):
    """Numbers of at least 0 over some variables."""

    scope: Scope  # in increasing order
    values: Floats  # (cards of the scope)


@dataclass(frozen=True, eq=False)
class TableProduct:
    """A product of tables over numbered variables."""

    cards: Sequence[int]
    tables: tuple[Table, ...]
    log_scale: float  # one more factor, nats
    limit: int  # most cells of a table
    names_of: Callable[[Iterable[int]], list[str]]  # for messages

    def summed_to(self, kept: Collection[int]) -> TableProduct:
        """The product with all variables but some summed out.

        ValueError names the variables of a table that would have too many cells.
        """
        pool = _Pool(self.tables)
        for variable in self._order(kept):
            pool.take_out(variable, np.sum)
        log_scale = self.log_scale + pool.log_scale
        return replace(self, tables=pool.tables, log_scale=log_scale)

    def joint(self, scope: Scope) -> tuple[Floats, float]:
        """One table over all variables, sorted, and the log of what it is scaled by."""
        self.check(scope)
        ones = Table(scope, np.ones([self.cards[v] for v in scope]))
        joined, log_scale = _joined([ones, *self.tables])
        return joined.values, self.log_scale + log_scale

    @property
    def log_total(self) -> float:
        """Logarithm of the product without variables, minus infinity if it is zero."""
        values, log_scale = self.joint(())
        return log_scale if values > 0 else -math.inf

    def most_probable(self, scope: Scope) -> tuple[dict[int, int], float]:
        """The joint state of largest product over all variables, sorted, and its log.

        Among equal ones, the variables that come first have their lowest states. Beyond
        65 536 joint states that holds for the last variables together, and then for one
        variable after another.
        """
        ones = [Table((v,), np.ones(self.cards[v])) for v in scope]
        pool = _Pool([*self.tables, *ones])
        passed: list[tuple[int, Table]] = []
        left = list(scope)
        for variable in self._order(()):
            if prod(self.cards[v] for v in left) <= min(_AT_ONCE, self.limit):
                break
            passed.append((variable, pool.take_out(variable, np.max)))
            left.remove(variable)
        log_scale = self.log_scale + pool.log_scale
        last = replace(self, tables=pool.tables, log_scale=log_scale)
        values, log_scale = last.joint(tuple(left))
        if not values.max() > 0:
            return {}, -math.inf
        shape = [self.cards[v] for v in left]
        best = np.unravel_index(_lowest_best(values.ravel()), shape)
        states = dict(zip(left, map(int, best), strict=True))
        log_scale += math.log(values[best])
        for variable, joined in reversed(passed):
            index = tuple(states.get(v, slice(None)) for v in joined.scope)
            states[variable] = _lowest_best(joined.values[index])
        return states, log_scale

    def _order(self, kept: Collection[int]) -> list[int]:
        """All variables that are not kept, in an order that keeps tables small."""
        scopes = [table.scope for table in self.tables]
        present = sorted({v for scope in scopes for v in scope})
        places = {v: place for place, v in enumerate(present)}
        cards = [self.cards[v] for v in present]
        graph = married([[places[v] for v in scope] for scope in scopes], len(cards))
        stay = {places[v] for v in kept if v in places}
        found = eliminate_all_but(graph, cards, stay, self.limit)
        self.check([present[place] for place in found.largest])
        return [present[place] for place in found.order]

    def check(self, scope: Collection[int]) -> None:
        """Raise if a table over some variables would have too many cells."""
        cells = prod(self.cards[v] for v in scope)
        if cells > self.limit:
            raise ValueError(
                f"the exact answer needs a table of {cells:.3g} cells over "
                f"{name_list(self.names_of(scope))}, more than "
                f"max_table_cells={self.limit}; raise it, or ask about fewer variables"
            )


def _joined(tables: Sequence[Table]) -> tuple[Table, float]:
    """The product of some tables as one, scaled, and the logarithm of the scale."""
    scope = tuple(sorted({v for table in tables for v in table.scope}))
    values, log_scale = np.ones([1] * len(scope)), 0.0
    # Small tables first, so that few multiplications run over all cells.
    for table in sorted(tables, key=lambda table: table.values.size):
        sizes = iter(table.values.shape)
        shape = [next(sizes) if v in table.scope else 1 for v in scope]
        # Thousands of factors would leave the range of numbers without a new scale.
        values, log_peak = _scaled(values * table.values.reshape(shape))
        log_scale += log_peak
    return Table(scope, values), log_scale


class _Pool:
    """Tables out of which variables are taken, found by their variables."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.log_scale = 0.0
        self._tables: dict[int, Table] = {}
        self._n_made = 0
        self._with: dict[int, dict[int, None]] = {}
        for table in tables:
            self._add(table)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those that are left, in the order in which they came."""
        return tuple(self._tables.values())

    def take_out(self, variable: int, join: Callable[..., Floats]) -> Table:
        """Sum or maximise a variable out; the product that it was in is returned."""
        own = [self._remove(number) for number in list(self._with[variable])]
        joined, log_scale = _joined(own)
        axis = joined.scope.index(variable)
        rest = joined.scope[:axis] + joined.scope[axis + 1 :]
        values, log_peak = _scaled(join(joined.values, axis=axis))
        self._add(Table(rest, values))
        self.log_scale += log_scale + log_peak
        return joined

    def _add(self, table: Table) -> None:
        """Take a table in."""
        self._tables[self._n_made] = table
        for variable in table.scope:
            self._with.setdefault(variable, {})[self._n_made] = None
        self._n_made += 1

    def _remove(self, number: int) -> Table:
        """Give a table away."""
        table = self._tables.pop(number)
        for variable in table.scope:
            del self._with[variable][number]
        return table


def _scaled(values: Floats) -> tuple[Floats, float]:
    """Numbers divided by the largest, and the logarithm of that; zeros as they are."""
    peak = float(values.max(initial=0.0))
    if not peak > 0:
        return values, 0.0
    return values / peak, math.log(peak)


def _lowest_best(values: Floats) -> int:
    """Position of the first among the largest numbers."""
    return int(np.flatnonzero(values >= values.max() * (1 - _TIE))[0])
