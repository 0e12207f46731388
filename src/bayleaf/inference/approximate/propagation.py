"""Messages between mini-buckets, up and down, as on a join graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayleaf.inference.approximate.mini_buckets import MiniBucket, MiniBuckets
from bayleaf.inference.approximate.potentials import Floats, Potentials, Scope

# Least share of the likeliest state that one mini-bucket may tell another of a state
# that is possible: loopy messages are too sure of themselves.
_CUT_OFF = 1e-3


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
        self._rank = {v: i for i, v in enumerate(reversed(mini.order))}
        self._below: list[Floats | None] = [None] * n
        self._beliefs: list[Floats] = [
            np.ones(factors.cards[bucket.variable]) for bucket in self.buckets
        ]
        self._own = [self._product_of_factors(bucket) for bucket in self.buckets]

    def up(self) -> None:
        """Send messages in the order of elimination."""
        self.tables, self.messages, self.log_scales = [], [], []
        for place, bucket in enumerate(self.buckets):
            table = self._own[place]
            for child in bucket.children:
                part = self.messages[child]
                table = table * _spread(
                    part, self.buckets[child].scope[:-1], bucket.scope
                )
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

    def _product_of_factors(self, bucket: MiniBucket) -> Floats:
        """Product of a mini-bucket's factors of the network."""
        table = np.ones([self._factors.cards[v] for v in bucket.scope])
        for i in bucket.factors:
            scope = self._factors.scopes[i]
            axes = sorted(range(len(scope)), key=lambda a: self._rank[scope[a]])
            part = np.transpose(self._factors.tables[i], axes)
            table *= _spread(part, [scope[a] for a in axes], bucket.scope)
        return table


def _spread(part: Floats, scope: Sequence[int], union: Scope) -> Floats:
    """A table with ones in the place of variables that it lacks."""
    held = set(scope)
    sizes = iter(part.shape)
    return part.reshape([next(sizes) if v in held else 1 for v in union])
