"""Elimination in which no table exceeds a bound, because buckets are split."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, prod

from bayleaf.graph.triangulation import bits
from bayleaf.inference.approximate.potentials import Scope


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


def mini_buckets(
    scopes: Sequence[Scope],
    variables: Sequence[int],
    cards: Sequence[int],
    most_cells: int,
) -> MiniBuckets:
    """Eliminate all variables, the one with the smallest bucket first.

    The factors that contain a variable are put together as long as their table has no
    more cells than allowed, the largest first; each group becomes a mini-bucket that
    sends a message of its own (Dechter & Rish 2003, "Mini-buckets: a general scheme for
    bounded inference"). A single factor may exceed `most_cells`.
    """
    return _Elimination(scopes, variables, cards, most_cells).run()


class _Elimination:
    """Sets of variables, as bits, while variables are eliminated."""

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
