"""The log of a sum over members."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import (
    log_sum_exp,
    logarithmic_mean_weights,
)
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
        self.n_outputs = len(self.base) // n_nodes
        self.possible = self._possible(self.base)
        # By feature and code: owner and entry, the entry, nodes that remain possible.
        self.tables: dict[int, list[list[Any]]] = {}
        for table in tables:
            self._add(reader, table)

    def _add(self, reader: Reader, table: Sequence[Any]) -> None:
        """Add a table, whose entries start at some output and may be shorter."""
        owner, feature, codes, rows, first = table
        values, places = reader.values(rows), reader.integers[codes]
        entries: list[Any] = []
        for k in range(max(places) + 1):
            row = [0.0] * first + values[k :: max(places) + 1]
            row += [0.0] * (len(self.base) - len(row))
            entries.append(((owner, row), row, self._possible(row)))
        by_code = self.tables.setdefault(feature, [[] for _ in places])
        for own, k in zip(by_code, places):
            own += entries[k : k + 1] if k >= 0 else []

    def _possible(self, row: Sequence[float]) -> int:
        """The nodes with a possible output, as bits."""
        if _NOTHING not in row:
            return (1 << self.n_nodes) - 1
        nodes = zip(*(row[k :: self.n_outputs] for k in range(self.n_outputs)))
        bits = ["1" if max(outputs) > _NOTHING else "0" for outputs in nodes]
        return int("".join(reversed(bits)), 2)

    def scores(self, codes: Sequence[int], is_posterior: bool) -> tuple[Any, Any]:
        """Owners and rows that are added up; nodes left and their log scores."""
        rows, values = [(-1, self.base)], [self.base]
        possible, n = self.possible, self.n_outputs
        for feature, by_code in self.tables.items():
            for owned, row, nodes in by_code[codes[feature]]:
                rows.append(owned)
                values.append(row)
                possible &= nodes
        left = [node for node in range(self.n_nodes) if possible >> node & 1]
        if len(left) < self.n_nodes:
            outputs = [k for node in left for k in range(node * n, node * n + n)]
            # Two more, so that each row becomes a sequence.
            values = list(map(itemgetter(*outputs, 0, 0), values))
        totals = [sum(own) for own in zip(*values)]
        scores = [totals[k : k + n] for k in range(0, len(totals), n)]
        if is_posterior:
            scores = [_log_posteriors(own) for own in scores]
        return rows, list(zip(left, scores))


def _log_posteriors(scores: list[float]) -> list[float]:
    """Scores less the logarithm of their sum."""
    total = log_sum_exp(scores)
    return [own - total for own in scores] if total > _NOTHING else scores


class LogSum:
    """The log of a sum; the posterior of a gate is the weight of its branches."""

    def __init__(
        self,
        reader: Reader,
        paths: list[list[Any]],
        networks: list[Any],
        is_posterior: bool,
        fallback: Sequence[Any] = (),
    ) -> None:
        self.n_classes, self.is_posterior = len(reader.base), is_posterior
        self.paths = [[Bank(reader, *bank) for bank in path] for path in paths]
        self.networks = [reader.term(network) for network in networks]
        # What scores a row for which no member is possible.
        self.fallback = [Bank(reader, *bank) for bank in fallback]

    def _members(self, codes: Sequence[int]) -> tuple[list[list[float]], list[Any]]:
        """Log scores of all members; of experts the rows, and their first outputs."""
        members = [network.scores(codes) for network in self.networks]
        experts: list[Any] = []
        for *gates, bank in self.paths:
            weights = {0: 0.0}
            for gate in gates:
                scores = gate.scores(codes, self.is_posterior)[1]
                weights = {
                    node * gate.n_outputs + k: weights.get(node, _NOTHING) + score
                    for node, own in scores
                    for k, score in enumerate(own)
                }
            rows, scores = bank.scores(codes, self.is_posterior)
            parts: dict[int, list[Any]] = {}
            for node, own in scores:
                if gates:
                    weight = weights.get(node, _NOTHING)
                    own = [weight + score for score in own]
                part = parts.setdefault(bank.members[node], [])
                part.append((own, node * bank.n_outputs))
            for part in parts.values():
                members.append(_sum_of([own for own, _ in part]))
                experts.append((rows, [first for _, first in part]))
        if max(map(max, members), default=_NOTHING) == _NOTHING:
            for bank in self.fallback:
                rows, scores = bank.scores(codes, False)
                members += [own for _, own in scores]
                experts += [(rows, [0]) for _ in scores]
        return members, experts

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Log of the sum, by class."""
        members = self._members(codes)[0]
        return _sum_of(members) if members else [_NOTHING] * self.n_classes

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """The members' log-odds by logarithmic-mean weights, by owner."""
        members, experts = self._members(codes)
        sides = [[own[label] for own in members] for label in (target, against)]
        weights = logarithmic_mean_weights(*sides)
        odds = [0.0] * (len(codes) + 1)
        for weight, network in zip(weights, self.networks):
            # Members without weight may have no finite terms.
            if weight:
                for owner, own in enumerate(network.odds(codes, target, against)):
                    odds[owner] += weight * own
        for weight, (rows, firsts) in zip(weights[len(self.networks) :], experts):
            if weight:
                for owner, own in _steps(rows, firsts, target, against):
                    odds[owner] += weight * own
        return odds


def _sum_of(members: Sequence[Sequence[float]]) -> list[float]:
    """Log of the sum of members by class."""
    return [log_sum_exp(own) for own in zip(*members)]


def _steps(
    rows: Sequence[Any], firsts: Sequence[int], target: int, against: int
) -> Iterator[tuple[int, float]]:
    """Change of a member's log-odds as its nodes get evidence, the prior's first."""
    sides = [[0.0] * len(firsts), [0.0] * len(firsts)]
    before = 0.0
    for owner, row in sorted(rows, key=lambda own: bool(own[0] >= 0)):
        sides = [
            [own + row[first + label] for own, first in zip(side, firsts)]
            for side, label in zip(sides, (target, against))
        ]
        after = log_sum_exp(sides[0]) - log_sum_exp(sides[1])
        yield owner, after - before
        before = after
