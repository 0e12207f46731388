"""What matters to a question as a product of tables, summed or maximised out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import eliminate_all_but, married
from bayleaf.inference.events.events import AllOf, Event, Known, OneOf
from bayleaf.inference.factorisation import cut_network
from bayleaf.inference.family_decomposition import small_product
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.table_algebra import aligned
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
        # Thousands of factors would leave the range of numbers without a new scale.
        values, log_peak = _scaled(values * aligned(table.values, table.scope, scope))
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


@dataclass(frozen=True, eq=False)
class RelevantPart:
    """P(variables, what is known) as a product of tables without idle variables.

    Arcs that leave variables with a known state are cut, and whatever is not an
    ancestor of the variables in question or of what is known is left out, as in
    `bayleaf.inference.network_trees.NetworkTrees`.
    """

    product: TableProduct  # without known variables
    places: Mapping[int, int]  # number in the product, by the network's variable
    hard: Mapping[int, int]  # the only states that are left, by variable
    log_scale: float  # of the evidence, missing in the tables, nats

    @classmethod
    def of(
        cls, trees: NetworkTrees, asked: Iterable[int], known: Known
    ) -> RelevantPart:
        """Gather what bears on some variables once something is known.

        Events get variables of their own: one of two states for each set of states,
        conjunction and disjunction, so that no table runs over all variables of a large
        event.
        """
        network, cards = trees.network, trees.domain.cards
        hard = {v: 0 for v in range(len(cards)) if cards[v] == 1} | known.evidence.hard
        wanted = set(asked) | known.variables
        members = sorted(ancestors(network.dag, wanted))
        places = {member: place for place, member in enumerate(members)}
        part = cut_network(network, members, hard)
        product = small_product(part.domain.cards, part.cpds, trees.max_table_cells)
        gates = _Gates(list(product.cards), places)
        gates.tables += [(term.family, term.make()) for term in product.terms]
        gates.tables += [
            ((places[v],), np.asarray(weights))
            for v, weights in known.evidence.findings.items()
            if not isinstance(weights, int)
        ]
        fixed = {places[v]: state for v, state in hard.items() if v in places}
        for event in known.events:
            fixed[gates.holds(event)] = 1

        def names_of(scope: Iterable[int]) -> list[str]:
            own = product.own_variables(v for v in scope if v < len(product.cards))
            return [str(part.domain[v].name) for v in own]

        one_state = {v: 0 for v, card in enumerate(gates.cards) if card == 1}
        tables = tuple(_cut(*table, one_state | fixed) for table in gates.tables)
        limit = trees.max_table_cells
        whole = TableProduct(tuple(gates.cards), tables, 0.0, limit, names_of)
        return cls(whole, places, hard, known.evidence.log_scale)

    @property
    def log_probability(self) -> float:
        """Logarithm of P(what is known), minus infinity if it is impossible."""
        return self.product.summed_to(()).log_total + self.log_scale

    def open(self, variables: Collection[int]) -> dict[int, int]:
        """Numbers in the product of those variables whose state is open, in order."""
        return {v: self.places[v] for v in sorted(variables) if v not in self.hard}

    def joint(self, variables: Collection[int]) -> tuple[Floats, float]:
        """P(variables, what is known), and the log (nats) of what it is divided by.

        The table has the cards of the variables in increasing order.
        """
        within = self.open(variables)
        kept = tuple(within.values())
        self.product.check(kept)
        values, log_scale = self.product.summed_to(kept).joint(kept)
        ordered = sorted(variables)
        cards = [self.product.cards[self.places[v]] for v in ordered]
        table = np.zeros(cards)
        # A variable whose state is known has all its probability there.
        index: list[Any] = [self.hard.get(v, slice(None)) for v in ordered]
        table[tuple(index)] = values
        return table, log_scale + self.log_scale

    def most_probable(self, variables: Collection[int]) -> tuple[dict[int, int], float]:
        """Most probable states of some variables, and ln P(states, what is known).

        All other variables are summed out first. There are no states if what is known
        is impossible.
        """
        within = self.open(variables)
        kept = tuple(within.values())
        found, log_most = self.product.summed_to(kept).most_probable(kept)
        if log_most == -np.inf:
            return {}, log_most
        states = {v: found[place] for v, place in within.items()}
        states |= {v: self.hard[v] for v in variables if v not in within}
        return states, log_most + self.log_scale


class _Gates:
    """Variables of two states for events that happen or not, while they are added."""

    def __init__(self, cards: list[int], places: Mapping[int, int]) -> None:
        self.cards = cards
        self.tables: list[tuple[tuple[int, ...], NDArray[Any]]] = []
        self._places = places
        self._known: dict[Event, int] = {}

    def holds(self, event: Event) -> int:
        """The variable whose state 1 means that an event happens."""
        if event not in self._known:
            self._known[event] = self._made(event)
        return self._known[event]

    def _made(self, event: Event) -> int:
        """A new variable for an event."""
        if isinstance(event, OneOf):
            place = self._places[event.variable]
            happens = np.zeros((self.cards[place], 2))
            happens[:, 0] = 1.0
            happens[list(event.codes)] = (0.0, 1.0)
            return self._added((place,), happens)
        # One part after another, so that tables stay small however many there are.
        first, *others = event.parts
        found = self.holds(first)
        both = np.zeros((2, 2, 2))
        for one, other in np.ndindex(2, 2):
            happens_both = one and other if isinstance(event, AllOf) else one or other
            both[one, other, happens_both] = 1.0
        for part in others:
            found = self._added((found, self.holds(part)), both)
        return found

    def _added(self, parents: tuple[int, ...], table: NDArray[Any]) -> int:
        """A new variable that follows from others."""
        self.cards.append(2)
        new = len(self.cards) - 1
        self.tables.append(((*parents, new), table))
        return new


def _cut(scope: tuple[int, ...], values: Floats, fixed: Mapping[int, int]) -> Table:
    """A table at the fixed states, its open variables in increasing order."""
    index: list[Any] = [fixed.get(v, slice(None)) for v in scope]
    left = [v for v in scope if v not in fixed]
    order = sorted(range(len(left)), key=lambda axis: left[axis])
    cut = np.asarray(values[tuple(index)], dtype=np.float64)
    return Table(tuple(sorted(left)), cut.transpose(order))
