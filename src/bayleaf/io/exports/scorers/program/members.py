"""The log of a sum over members."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Program, log_sum_exp

_NOTHING = -math.inf


class Bank:
    """Naive Bayes models over the same features."""

    def __init__(
        self,
        program: Program,
        n_nodes: int,
        base: list[int],
        tables: list[Any],
        members: int = -1,
    ) -> None:
        base_row = program.values(base)
        self.members = program.integers[members] if members >= 0 else range(n_nodes)
        self.n_outputs = n = len(base_row) // n_nodes
        self.spans = [slice(k, k + n) for k in range(0, len(base_row), n)]
        # Owner, entry, nodes left possible.
        self.prior = -1, base_row, self._possible(base_row)
        # By feature and code.
        self.tables: dict[int, list[list[Any]]] = {}
        for owner, feature, codes, rows, first in tables:
            values, places = program.values(rows), program.integers[codes]
            entries: list[Any] = []
            for k in range(max(places) + 1):
                # Entries start at some output and may be shorter.
                row = [0.0] * first + values[k :: max(places) + 1]
                row += [0.0] * (len(base_row) - len(row))
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
        scores = []
        for node in sorted(set.intersection(*[nodes for _, _, nodes in rows])):
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


class LogSum:
    """The log of a sum; the posterior of a gate is the weight of its branches."""

    def __init__(
        self,
        program: Program,
        paths: list[list[Any]],
        networks: list[Any],
        is_posterior: bool,
        fallback: Sequence[Any] = (),
    ) -> None:
        self.n_classes, self.is_posterior = len(program.base), is_posterior
        self.paths = [[Bank(program, *bank) for bank in path] for path in paths]
        self.networks = [program.term(network) for network in networks]
        # What scores a row for which no member is possible.
        self.fallback = [[Bank(program, *bank)] for bank in fallback]

    def _members(self, codes: Sequence[int]) -> list[tuple[list[float], Any]]:
        """Log scores of members by class, and what splits their odds by owner."""
        members = [
            (own.scores(codes), partial(own.odds, codes)) for own in self.networks
        ]
        for path in self.paths:
            members += self._experts(path, codes, self.is_posterior)
        if not any(max(own) > _NOTHING for own, _ in members):
            for path in self.fallback:
                members += self._experts(path, codes, False)
        return members

    def _experts(
        self, path: Sequence[Bank], codes: Sequence[int], is_posterior: bool
    ) -> Iterator[tuple[list[float], Any]]:
        """The members at the end of a path."""
        weights = {0: 0.0}
        for gate in path[:-1]:
            weights = {
                node * gate.n_outputs + k: weights.get(node, _NOTHING) + score
                for node, own in gate.scores(codes, is_posterior)[1]
                for k, score in enumerate(own)
            }
        rows, scores = path[-1].scores(codes, is_posterior)
        parts: dict[int, Any] = {}
        for node, own in scores:
            weight = weights.get(node, _NOTHING) if len(path) > 1 else 0.0
            shared, nodes = parts.setdefault(path[-1].members[node], ([], []))
            shared.append([weight + score for score in own])
            nodes.append(node)
        for shared, nodes in parts.values():
            yield _sum_of(shared), partial(path[-1].odds, codes, rows, nodes)

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Log of the sum, by class."""
        members = [own for own, _ in self._members(codes)]
        return _sum_of(members) if members else [_NOTHING] * self.n_classes

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """The members' log-odds by logarithmic-mean weights, by owner."""
        members = self._members(codes)
        sides = [[own[label] for own, _ in members] for label in (target, against)]
        odds = [0.0] * (len(codes) + 1)
        total = _log_logarithmic_mean(*map(log_sum_exp, sides))
        # Weights w with ln(sum a / sum b) = sum of w ln(a / b), exactly.
        for a, b, (_, split) in zip(*sides, members):
            weight = math.exp(_log_logarithmic_mean(a, b) - total)
            # Members without weight may have no finite terms.
            if weight:
                for owner, own in enumerate(split(target, against)):
                    odds[owner] += weight * own
        return odds


def _sum_of(members: Sequence[Sequence[float]]) -> list[float]:
    """Log of the sum of members by class."""
    return [log_sum_exp(own) for own in zip(*members)]


def _log_logarithmic_mean(a: float, b: float) -> float:
    """Logarithm of the logarithmic mean of exp(a) and exp(b)."""
    high, low = max(a, b), min(a, b)
    if high == low or low == _NOTHING:
        return low
    gap = high - low
    return high + math.log(-math.expm1(-gap)) - math.log(gap)
