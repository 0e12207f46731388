"""Factors of a posterior, eliminated in mini-buckets that exchange messages."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.graph.triangulation import bits
from bayleaf.inference.evidence import Evidence
from bayleaf.inference.factorisation import Factorisation, cut_network
from bayleaf.inference.family_decomposition import small_product
from bayleaf.inference.log_sums import log_of
from bayleaf.inference.table_algebra import aligned

Floats = NDArray[np.float64]
Scope = tuple[int, ...]
# Least share of the likeliest state that one mini-bucket may tell another of a state
# that is possible: loopy messages are too sure of themselves.
_CUT_OFF = 1e-3


@dataclass(frozen=True, eq=False)
class Potentials:
    """Tables over the variables that are open, whose product is P(all, evidence)."""

    cards: tuple[int, ...]  # the network's variables, then auxiliary ones
    open_variables: Scope
    scopes: tuple[Scope, ...]  # variables along the axes of each table
    tables: tuple[Floats, ...]
    log_constant: float  # factor without variables, minus infinity if 0


def potentials(
    network: Factorisation, evidence: Evidence, kept: Iterable[int], most_cells: int
) -> Potentials:
    """The factors of some variables of a network.

    `kept` includes the evidence and all unknown parents. ValueError if a distribution
    needs more than `most_cells`.
    """
    members = sorted(kept)
    part = cut_network(network, members, evidence.hard)
    product = small_product(part.domain.cards, part.cpds, most_cells)
    own_cards = network.domain.cards
    # Auxiliary variables come after all of the network's own.
    n_extra = len(product.cards) - len(members)
    numbers = [*members, *range(len(own_cards), len(own_cards) + n_extra)]
    place = {member: i for i, member in enumerate(members)}
    known = {place[v]: finding for v, finding in evidence.findings.items()}
    likelihoods = product.auxiliary_likelihoods(known)
    hard = {place[v]: state for v, state in evidence.hard.items()}
    cards = (*own_cards, *product.cards[len(members) :])
    scopes: list[Scope] = []
    tables: list[Floats] = []
    log_constant = 0.0
    for term in product.terms:
        cells = prod(product.cards[v] for v in term.family)
        if cells > most_cells:
            raise ValueError(
                f"a distribution has a table of {cells:.3g} cells, more than "
                f"max_table_cells={most_cells}; raise it, or give its variable fewer "
                "parents"
            )
        table = term.make()[tuple(hard.get(v, slice(None)) for v in term.family)]
        scope = tuple(numbers[v] for v in term.family if v not in hard)
        scopes.append(scope)
        tables.append(np.asarray(table, dtype=np.float64))
    for v, weights in {**known, **likelihoods}.items():
        if isinstance(weights, np.ndarray) and v not in hard:
            scopes.append((numbers[v],))
            tables.append(np.asarray(weights, dtype=np.float64))
        elif isinstance(weights, np.ndarray):
            # A likelihood that leaves one state still has a weight there.
            log_constant += float(np.log(weights[hard[v]]))
    constants = [float(t) for s, t in zip(scopes, tables, strict=True) if not s]
    log_constant += float(log_of(constants).sum())
    chosen = [i for i, scope in enumerate(scopes) if scope]
    everything = {v for scope in scopes for v in scope}
    return Potentials(
        cards,
        tuple(sorted(everything)),
        tuple(scopes[i] for i in chosen),
        tuple(tables[i] for i in chosen),
        log_constant,
    )


@dataclass(eq=False)
class MiniBucket:
    """Some of the factors that contain a variable when it is eliminated.

    `scope` has those that are eliminated last first, and `variable` at its end.
    """

    variable: int
    scope: Scope
    factors: list[int]  # potentials of the product
    children: list[int]  # mini-buckets whose messages it takes
    mates: list[int] = field(default_factory=list)  # others of the same variable


@dataclass(frozen=True, eq=False)
class MiniBuckets:
    """Mini-buckets in the order of elimination."""

    buckets: list[MiniBucket]  # those of one variable follow each other
    order: list[int]  # variables, the first eliminated first

    def cells(self, cards: Sequence[int]) -> int:
        """Cells of all tables."""
        return sum(prod(cards[v] for v in bucket.scope) for bucket in self.buckets)

    @property
    def is_exact(self) -> bool:
        """Whether no bucket is split."""
        return len(self.buckets) == len(self.order)


class MiniBucketElimination:
    """Eliminates all variables, the one with the smallest bucket first.

    The factors that contain a variable are put together as long as their table has no
    more cells than allowed, the largest first; each group becomes a mini-bucket that
    sends a message of its own (Dechter & Rish 2003, "Mini-buckets: a general scheme for
    bounded inference"). A single factor may exceed `most_cells`. Sets of variables are
    bits.
    """

    def __init__(
        self,
        scopes: Sequence[Scope],
        variables: Sequence[int],
        cards: Sequence[int],
        most_cells: int,
    ) -> None:
        self._n_factors = len(scopes)
        self._masks = {i: sum(1 << v for v in s) for i, s in enumerate(scopes)}
        self._weight = {v: log(cards[v]) for v in variables}
        self._most = log(most_cells) + 1e-9
        self._holding: dict[int, set[int]] = {v: set() for v in variables}
        for i, scope in enumerate(scopes):
            for v in scope:
                self._holding[v].add(i)
        self._groups: list[tuple[int, int, list[int]]] = []

    def run(self) -> MiniBuckets:
        """Mini-buckets of all variables."""
        current = {v: self._priority(v) for v in self._holding}
        heap = [(priority, v) for v, priority in current.items()]
        heapq.heapify(heap)
        order: list[int] = []
        while heap:
            priority, v = heapq.heappop(heap)
            if current.get(v) != priority:
                continue
            del current[v]
            order.append(v)
            for other in bits(self._eliminate(v) & ~(1 << v)):
                current[other] = self._priority(other)
                heapq.heappush(heap, (current[other], other))
        return self._laid_out(order)

    def _cells(self, mask: int) -> float:
        """Logarithm of a table's cells."""
        return sum(self._weight[v] for v in bits(mask))

    def _priority(self, v: int) -> float:
        """Logarithm of the cells of a variable's bucket, rounded against ties."""
        union = 0
        for i in self._holding[v]:
            union |= self._masks[i]
        return round(self._cells(union), 9)

    def _eliminate(self, v: int) -> int:
        """Split a variable's bucket; the variables that it touched, as bits."""
        held = sorted(
            self._holding.pop(v), key=lambda i: (-self._cells(self._masks[i]), i)
        )
        groups: list[tuple[int, list[int]]] = []
        for i in held:
            mask = self._masks.pop(i)
            for other in bits(mask & ~(1 << v)):
                self._holding[other].discard(i)
            place = self._best_group(groups, mask)
            if place is None:
                groups.append((mask, [i]))
            else:
                groups[place] = groups[place][0] | mask, [*groups[place][1], i]
        touched = 0
        for mask, members in groups:
            touched |= mask
            message = self._n_factors + len(self._groups)
            self._groups.append((v, mask, members))
            rest = mask & ~(1 << v)
            if rest:
                self._masks[message] = rest
                for other in bits(rest):
                    self._holding[other].add(message)
        return touched

    def _best_group(
        self, groups: Sequence[tuple[int, list[int]]], mask: int
    ) -> int | None:
        """The group that grows least by a factor and stays within the bound."""
        best, least = None, float("inf")
        for place, (union, _) in enumerate(groups):
            cells = self._cells(union | mask)
            growth = round(cells - self._cells(union), 9)
            if (cells <= self._most or union | mask == union) and growth < least:
                best, least = place, growth
        return best

    def _laid_out(self, order: list[int]) -> MiniBuckets:
        """Mini-buckets with ordered scopes and links."""
        rank = {v: i for i, v in enumerate(order)}
        buckets: list[MiniBucket] = []
        for v, mask, members in self._groups:
            scope = tuple(sorted(bits(mask), key=rank.__getitem__, reverse=True))
            factors = [i for i in members if i < self._n_factors]
            children = [i - self._n_factors for i in members if i >= self._n_factors]
            buckets.append(MiniBucket(v, scope, factors, children))
        together: dict[int, list[int]] = {}
        for place, bucket in enumerate(buckets):
            together.setdefault(bucket.variable, []).append(place)
        for places in together.values():
            for place in places:
                buckets[place].mates = [p for p in places if p != place]
        return MiniBuckets(buckets, order)


class JoinGraph:
    """Messages of mini-buckets given evidence.

    A mini-bucket sends up what remains of its table once its variable is summed out;
    the other mini-buckets of the variable report how probable they find each state, and
    its parent how probable it finds what they share. Where no bucket is split, one pass
    upwards is exact.

    Iterative join-graph propagation (Mateescu, Kask, Gogate & Dechter 2010, "Join-graph
    propagation algorithms"), whose zeros are sound: a state without belief is
    impossible. Messages are scaled to a largest cell of 1.
    """

    def __init__(self, factors: Potentials, mini: MiniBuckets) -> None:
        self._factors = factors
        self.buckets = mini.buckets
        self.tables: list[Floats] = []
        self.messages: list[Floats] = []
        self.log_scales: list[float] = []
        self.is_impossible = False
        n = len(self.buckets)
        self._below: list[Floats | None] = [None] * n
        self._beliefs: list[Floats] = [
            np.ones(factors.cards[bucket.variable]) for bucket in self.buckets
        ]
        self._own = [np.ones([factors.cards[v] for v in b.scope]) for b in self.buckets]
        for table, bucket in zip(self._own, self.buckets, strict=True):
            for i in bucket.factors:
                table *= aligned(factors.tables[i], factors.scopes[i], bucket.scope)

    def up(self) -> None:
        """Send messages in the order of elimination."""
        self.tables, self.messages, self.log_scales = [], [], []
        for place, bucket in enumerate(self.buckets):
            table = self._own[place]
            for child in bucket.children:
                part = self.messages[child]
                scope = self.buckets[child].scope[:-1]
                table = table * aligned(part, scope, bucket.scope)
            self.tables.append(np.ascontiguousarray(table))
            self.messages.append(np.empty(0))
            self.log_scales.append(0.0)
            if place == max([place, *bucket.mates]):
                self._send(place)

    def _send(self, last: int) -> None:
        """Messages of all mini-buckets of one variable."""
        group = sorted([last, *self.buckets[last].mates])
        for place in group:
            if len(group) > 1:
                self._beliefs[place] = self._told(place)
        for place in group:
            table = self.tables[place]
            if len(group) > 1:
                table = table * self._told_by_mates(place)
            message = table.sum(axis=-1)
            largest = message.max()
            self.messages[place] = self._scaled(message)
            self.log_scales[place] = float(np.log(largest)) if largest > 0 else -np.inf

    def log_shift(self, place: int) -> float:
        """What the scaling of a message takes from the weights of samples.

        Samples of split buckets look their messages up, scale and all.
        """
        return 0.0 if self.buckets[place].mates else self.log_scales[place]

    def down(self) -> None:
        """Send messages against the order of elimination."""
        for place in reversed(range(len(self.buckets))):
            bucket = self.buckets[place]
            if not bucket.children:
                continue
            belief = self.tables[place]
            below = self._below[place]
            if below is not None:
                belief = belief * below[..., None]
            if bucket.mates:
                belief = belief * self._told_by_mates(place)
            for child in bucket.children:
                self._send_down(belief, bucket, child)

    def _send_down(self, belief: Floats, bucket: MiniBucket, child: int) -> None:
        """What a mini-bucket believes of what it shares with a child."""
        scope = self.buckets[child].scope[:-1]
        if not scope:
            return
        gone = tuple(i for i, v in enumerate(bucket.scope) if v not in scope)
        shared = belief.sum(axis=gone)
        message = self.messages[child]
        shared = np.divide(
            shared, message, out=np.zeros_like(shared), where=message > 0
        )
        self._below[child] = self._scaled(shared)

    def _told(self, place: int) -> Floats:
        """How probable a mini-bucket finds each state of its variable."""
        table = self.tables[place]
        below = self._below[place]
        flat = table.reshape(-1, table.shape[-1])
        told = flat.sum(axis=0) if below is None else below.ravel() @ flat
        told = self._scaled(told)
        return np.where(told > 0, np.maximum(told, _CUT_OFF), 0.0)

    def _told_by_mates(self, place: int) -> Floats:
        """What the other mini-buckets of its variable tell one."""
        told = np.ones(self.tables[place].shape[-1])
        for mate in self.buckets[place].mates:
            told = told * self._beliefs[mate]
        return told

    def _scaled(self, message: Floats) -> Floats:
        """A message with a largest cell of 1, no possible cell lost to underflow."""
        largest = message.max()
        if not largest > 0:
            self.is_impossible = True
            return message
        return np.where(message > 0, np.maximum(message / largest, 1e-100), 0.0)
