"""A query as one record: variables, and what is known, answered exactly."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.separation import ancestors
from bayleaf.graph.triangulation import eliminate_all_but, married
from bayleaf.inference.events.events import ALWAYS, NEVER, AllOf, Event, Known, OneOf
from bayleaf.inference.evidence import Evidence, ImpossibleEvidenceError
from bayleaf.inference.factorisation import cut_network
from bayleaf.inference.family_decomposition import small_product
from bayleaf.inference.junction_tree import Propagation
from bayleaf.inference.network_trees import NetworkTrees, Part
from bayleaf.inference.posteriors import Answers, Posteriors
from bayleaf.inference.states import indicator
from bayleaf.inference.table_algebra import aligned
from bayleaf.wording import name_list

Floats = NDArray[np.float64]
Scope = tuple[int, ...]
# Joint states among which the best is found at once, ties going to the lowest.
_AT_ONCE = 1 << 16
# Probabilities that differ by less than this share come from rounding alone.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Query:
    """Variables in question and what is known, over the trees of a network.

    Answers raise ImpossibleEvidenceError if what is known has probability zero, and
    ValueError if a table would be too large.
    """

    trees: NetworkTrees
    known: Known
    targets: Sequence[int] = ()  # indices, each once

    @property
    def evidence(self) -> Evidence:
        """What is known of single variables."""
        return self.known.evidence

    def posteriors(self) -> Posteriors:
        """Posterior of each target; nothing is known of several variables together."""
        sources: dict[int, tuple[Part, Propagation]] = {}
        log_evidence = 0.0
        for group, part in self.trees.parts(self.evidence, self.targets):
            propagation = part.propagate(self.evidence.findings, group)
            log_evidence = propagation.log_evidence
            if log_evidence == -math.inf:
                raise self.trees.impossible(self.evidence)
            sources |= dict.fromkeys(group, (part, propagation))

        def marginal(variable: int) -> Floats:
            part, propagation = sources[variable]
            return propagation.marginal(part.positions[variable])

        return Posteriors(
            Answers(self.trees.domain, self.targets, marginal),
            log_evidence + self.evidence.log_scale,
        )

    def posterior(self) -> Floats:
        """Posterior of the only target, shape (card,)."""
        if self.known.events:
            return self.joint()[0]
        name = self.trees.domain[self.targets[0]].name
        return self.posteriors()[name].probabilities

    def joint(self) -> tuple[Floats, float]:
        """Joint posterior, axes in the order of the targets, and ln P(known)."""
        part = RelevantPart.of(self)
        open_places = part.open(self.targets)
        kept = tuple(open_places.values())
        part.product.check(kept)
        values, log_scale = part.product.summed_to(kept).joint(kept)
        ordered = sorted(self.targets)
        table = np.zeros([self.trees.domain.cards[v] for v in ordered])
        # A variable whose state is known has all its probability there.
        table[tuple(part.hard.get(v, slice(None)) for v in ordered)] = values
        total = float(table.sum())
        if not total > 0:
            raise self.known.impossible(self.trees)
        order = [ordered.index(v) for v in self.targets]
        log_known = log_scale + self.evidence.log_scale + math.log(total)
        return (table / total).transpose(order), log_known

    def most_probable(self) -> tuple[dict[str | int, Hashable], float, float]:
        """Most probable joint state of the targets, ln P of it, and of what is known.

        The first given what is known.
        """
        part = RelevantPart.of(self)
        open_places = part.open(self.targets)
        kept = tuple(open_places.values())
        codes, log_most = part.product.summed_to(kept).most_probable(kept)
        if log_most == -math.inf:
            raise self.known.impossible(self.trees)
        states = {}
        for v in self.targets:
            variable = self.trees.domain[v]
            code = codes[open_places[v]] if v in open_places else part.hard[v]
            states[variable.name] = variable.states[code]
        log_most += self.evidence.log_scale
        log_known = self.log_known(by_elimination=True)
        return states, min(0.0, log_most - log_known), log_known

    def log_probability(self, event: Event, text: str) -> float:
        """Logarithm of P(event | known); `text` is the event as the user wrote it."""
        both: Query | None = None
        if event != NEVER:
            with contextlib.suppress(ImpossibleEvidenceError):
                both = replace(self, known=self.known.also(event, text))
        # An event over several variables asks for no more than the part that matters;
        # compiling the whole network would take longer than the answer.
        queries = [self] if both is None else [self, both]
        by_elimination = any(query.known.events for query in queries)
        log_known = self.log_known(by_elimination=by_elimination)
        if log_known == -math.inf:
            raise self.known.impossible(self.trees)
        if event == ALWAYS:
            return 0.0
        if both is None:
            return -math.inf
        return min(0.0, both.log_known(by_elimination=by_elimination) - log_known)

    def log_known(self, *, by_elimination: bool) -> float:
        """Logarithm of P(what is known), minus infinity if it is impossible."""
        if not self.known.events and not self.evidence.items:
            return 0.0
        if by_elimination:
            part = RelevantPart.of(replace(self, targets=()))
            return part.product.summed_to(()).log_total + self.evidence.log_scale
        return self.trees.log_probability(self.evidence) + self.evidence.log_scale

    def log_evidence(self) -> float:
        """Logarithm of P(evidence) on the scale of `Evidence.likelihoods`."""
        log_probability = self.trees.log_probability(self.evidence)
        if log_probability == -math.inf:
            raise self.trees.impossible(self.evidence)
        return log_probability

    def log_alone(self) -> dict[int, float]:
        """Logarithm of each item's own probability, by variable, without the others."""
        likelihoods = self.evidence.likelihoods
        alone = {}
        for group, part in self.trees.parts(self.evidence.only(()), list(likelihoods)):
            prior, places = part.propagate({}), part.positions
            for variable in group:
                probability = prior.marginal(places[variable]) @ likelihoods[variable]
                alone[variable] = float(np.log(probability))
        return alone

    def information_on(self, variable: int) -> dict[int, float]:
        """I(variable; target | evidence) in nats by target, at least 0.

        One propagation for each possible state of the variable gives P(target | state)
        for all targets at once.
        """
        values: dict[int, float] = dict.fromkeys(self.targets, 0.0)
        likelihoods = self.evidence.likelihoods
        for group, part in self.trees.parts(self.evidence, self.targets, [variable]):
            places = part.positions
            overall = part.propagate(likelihoods)
            if overall.log_evidence == -math.inf:
                raise self.trees.impossible(self.evidence)
            marginals = {v: overall.marginal(places[v]) for v in group}
            probabilities = overall.marginal(places[variable])
            for state in np.flatnonzero(probabilities).tolist():
                one_hot = indicator(len(probabilities), state)
                given = part.propagate({**likelihoods, variable: one_hot})
                for v in group:
                    conditional = given.marginal(places[v])
                    seen = conditional > 0
                    ratios = conditional[seen] / marginals[v][seen]
                    divergence = float((conditional[seen] * np.log(ratios)).sum())
                    values[v] += probabilities[state] * divergence
        return {v: max(value, 0.0) for v, value in values.items()}


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

    @classmethod
    def of(cls, query: Query) -> RelevantPart:
        """Gather what bears on a query.

        Events get variables of their own: one of two states for each set of states,
        conjunction and disjunction, so that no table runs over all variables of a large
        event.
        """
        trees, known = query.trees, query.known
        network, cards = trees.network, trees.domain.cards
        hard = {v: 0 for v in range(len(cards)) if cards[v] == 1} | known.evidence.hard
        wanted = known.variables.union(query.targets)
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
        return cls(whole, places, hard)

    def open(self, variables: Iterable[int]) -> dict[int, int]:
        """Numbers in the product of those variables whose state is open, in order."""
        return {v: self.places[v] for v in sorted(variables) if v not in self.hard}


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
