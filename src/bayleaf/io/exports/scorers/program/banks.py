"""Naive Bayes models over the same features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import log_sum_exp
from bayleaf.io.exports.scorers.program.engine import Reader

_NOTHING = -math.inf


class Bank:
    """Naive Bayes models over the same features."""

    def __init__(
        self,
        reader: Reader,
        n_nodes: int,
        base: list[int],
        tables: list[Any],
        members: int = -1,
    ) -> None:
        self.base, self.n_nodes = reader.values(base), n_nodes
        self.members = reader.integers[members] if members >= 0 else range(n_nodes)
        self.n_outputs = n = len(self.base) // n_nodes
        self.spans = [slice(k, k + n) for k in range(0, len(self.base), n)]
        self.prior = -1, self.base, self._possible(self.base)
        # By feature and code: owner, entry, nodes left possible.
        self.tables: dict[int, list[list[Any]]] = {}
        for owner, feature, codes, rows, first in tables:
            values, places = reader.values(rows), reader.integers[codes]
            entries: list[Any] = []
            for k in range(max(places) + 1):
                # Entries start at some output and may be shorter.
                row = [0.0] * first + values[k :: max(places) + 1]
                row += [0.0] * (len(self.base) - len(row))
                entries.append((owner, row, self._possible(row)))
            by_code = self.tables.setdefault(feature, [[] for _ in places])
            for own, k in zip(by_code, places):
                own += entries[k : k + 1] if k >= 0 else []

    def _possible(self, row: Sequence[float]) -> set[int]:
        """The nodes with a possible output."""
        spans = enumerate(self.spans)
        return {node for node, span in spans if max(row[span]) > _NOTHING}

    def scores(self, codes: Sequence[int], is_posterior: bool) -> tuple[Any, Any]:
        """What is added up, by owner; the nodes left, and their log scores."""
        rows = [self.prior]
        for feature, by_code in self.tables.items():
            rows += by_code[codes[feature]]
        left = sorted(set.intersection(*[nodes for _, _, nodes in rows]))
        scores = []
        for node in left:
            parts = [row[self.spans[node]] for _, row, _ in rows]
            own = [sum(added) for added in zip(*parts)]
            total = log_sum_exp(own) if is_posterior else 0.0
            scores.append((node, [score - total for score in own]))
        return rows, scores

    def odds(
        self, codes: Any, rows: Any, nodes: Sequence[int], target: int, against: int
    ) -> list[float]:
        """Change of the log-odds of some nodes with each row, by owner."""
        odds, before = [0.0] * (len(codes) + 1), 0.0
        firsts = [node * self.n_outputs for node in nodes]
        sides = [[0.0] * len(nodes)] * 2
        for owner, row, _ in sorted(rows, key=lambda own: bool(own[0] >= 0)):
            sides = [
                [own + row[first + label] for own, first in zip(side, firsts)]
                for side, label in zip(sides, (target, against))
            ]
            after = log_sum_exp(sides[0]) - log_sum_exp(sides[1])
            odds[owner] += after - before
            before = after
        return odds
