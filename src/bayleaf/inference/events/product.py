"""What matters to a question, as a product of tables: the network, events, evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.separation import ancestors
from bayleaf.inference.events.events import AllOf, Event, OneOf
from bayleaf.inference.events.known import Known
from bayleaf.inference.events.tables import Floats, Table, TableProduct
from bayleaf.inference.factorisation import cut_network
from bayleaf.inference.junction_tree.small_product import small_product
from bayleaf.inference.parts import NetworkTrees


@dataclass(frozen=True, eq=False)
class RelevantPart:
    """P(variables, what is known) as a product of tables without idle variables.

    Arcs that leave variables with a known state are cut, and whatever is not an
    ancestor of the variables in question or of what is known is left out, as in
    `bayleaf.inference.parts.NetworkTrees`.
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
