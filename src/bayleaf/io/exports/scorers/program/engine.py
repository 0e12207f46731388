"""A scoring program in a scorer: its numbers, unpacked, and its kinds of terms.

A scorer contains what its model needs of this, one name after another, so it stays with
what the standard library of Python 3.8 offers.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from operator import sub
from types import SimpleNamespace
from typing import Any

from bayleaf.inference.plain_rules import (
    MAX_LOG_DENSITY,
    NETWORKS_WITHOUT_CHANGE,
    bent,
    elimination,
)

_NOTHING = -math.inf


def read_document(text: str) -> Any:
    """What the model's JSON holds, inflated if it was compressed."""
    document = json.loads(text)
    if "deflate" in document:
        plain = zlib.decompress(base64.b64decode(document["deflate"]))
        document = json.loads(plain.decode("utf-8", "surrogatepass"))
    return document


def unpacked(packed: Any) -> list[float]:
    """The numbers of an array in one row; its shape is known to the caller."""
    if "list" in packed:
        return [float(value) for value in packed["list"]]
    if "f8" in packed:
        return _numbers_of(packed["f8"], "d")
    values = unpacked(packed["values"])
    return [values[place] for place in _numbers_of(packed["at"], "H")]


def _numbers_of(text: str, form: str) -> list[Any]:
    """The numbers of a form of struct that a base64 text stands for."""
    raw = base64.b64decode(text)
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(form)}{form}", raw))


def log_sum_exp(values: Sequence[float]) -> float:
    """Logarithm of the sum of exponentials; minus infinity for none."""
    highest = max(values, default=_NOTHING)
    if highest == _NOTHING:
        return highest
    return highest + math.log(sum([math.exp(value - highest) for value in values]))


def known_shares(
    strengths: Sequence[float], known: Sequence[bool]
) -> tuple[list[float], float]:
    """Share of all features' strength that is known, of rows that do not know all.

    Without each feature, and without the strongest.
    """
    counted = [strength * is_known for strength, is_known in zip(strengths, known)]
    total, summed = sum(strengths), sum(counted)

    def share(part: float, whole: float) -> float:
        return min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.0

    others = [share(summed - strength, total - strength) for strength in strengths]
    return others, share(summed - max(counted), total - max(strengths))


class Program:
    """A base and terms, which add nats by owner or have scores; the prior is last."""

    def __init__(self, program: Any, kinds: Sequence[Any]) -> None:
        self.cards: list[int] = program["cards"]
        self.numbers = [x for part in program["numbers"] for x in unpacked(part)]
        self.integers: list[list[int]] = program["integers"]
        self.base = self.values(program["base"])
        self._kinds = {kind.__name__: kind for kind in kinds}
        terms = [self.term(term) for term in program["terms"]]
        self.additive = [term for term in terms if hasattr(term, "add_to")]
        self.others = [term for term in terms if not hasattr(term, "add_to")]
        sharing = program.get("sharing")
        self.sharing = self.term(sharing) if sharing else None

    def values(self, span: Sequence[int]) -> list[float]:
        """Some numbers by position and size."""
        first, size = span
        return self.numbers[first : first + size]

    def term(self, term: Sequence[Any]) -> Any:
        """A term by its kind and parameters."""
        kind, *parameters = term
        return self._kinds[kind](self, *parameters)

    def known(self, codes: Sequence[int]) -> tuple[bool, ...]:
        """Whether the state of each feature is known."""
        return tuple([code < card for code, card in zip(codes, self.cards)])

    def _nats(self, codes: Sequence[int]) -> list[list[float]]:
        """Nats by owner and class."""
        known = self.known(codes)
        given = self.sharing.given(known) if self.sharing and not all(known) else None
        base = given.base if given else self.base
        nats = [*([0.0] * len(self.base) for _ in codes), list(base)]
        for term in self.additive:
            term.add_to(nats, codes, given)
        return nats

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Score of each class, nats."""
        total = self.base
        if self.additive:
            # Sums of features round less than one of all terms.
            total = [sum(own) for own in zip(*self._nats(codes))]
        for term in self.others:
            total = [a + b for a, b in zip(total, term.scores(codes))]
        return total

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        odds = [own[target] - own[against] for own in self._nats(codes)]
        for term in self.others:
            for owner, own in enumerate(term.odds(codes, target, against)):
                odds[owner] += own
        return odds[-1], odds[:-1]


class Look:
    """A table that adds an entry to the classes; joint states without one add zero."""

    def __init__(
        self,
        program: Program,
        owner: int,
        features: list[int],
        maps: list[int],
        keys: int,
        rows: list[int],
        gate: int = -1,
        first: int = 0,
        size: int = 0,
    ) -> None:
        self.owner = owner
        pairs = zip(features, [program.integers[k] for k in maps])
        # Each feature, the state of each code of it, and their number.
        self.digits = [(feature, own, max(own) + 1) for feature, own in pairs]
        self.gate = program.integers[gate] if gate >= 0 else None
        states, values = program.integers[keys], program.values(rows)
        # Entries of a size, whose numbers begin at some position.
        self.rows: dict[int, Any] = {}
        for k, key in enumerate(states):
            row = [0.0] * first + values[k :: len(states)]
            self.rows[key] = row + [0.0] * (size - len(row))

    def entry(self, codes: Sequence[int]) -> Any:
        """The entry of a row, empty if there is none."""
        if self.gate and not self.gate[codes[self.owner]]:
            return ()
        key = 0
        for feature, states, radix in self.digits:
            key = key * radix + states[codes[feature]]
        return self.rows.get(key, ())

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the entry to the nats of its owner, by class."""
        own, factor = nats[self.owner], given.scales[self.owner] if given else 1.0
        for label, value in enumerate(self.entry(codes)):
            own[label] += factor * value


class Tree:
    """Trees: every split adds to its feature what it changes for the tree's class."""

    def __init__(self, program: Program, lists: list[int], values: list[int]) -> None:
        self.roots, self.labels, *nodes = [program.integers[k] for k in lists]
        self.features, self.states, self.children = nodes
        self.values, self.cards = program.values(values), program.cards

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add each change to the nats of the feature that is tested."""
        for node, label in zip(self.roots, self.labels):
            while self.features[node] >= 0:
                feature = self.features[node]
                code, state = codes[feature], self.states[node]
                if code >= self.cards[feature]:
                    break
                # Where lower states lead left as well, the complement is stored.
                is_left = code == state if state >= 0 else code <= ~state
                child = self.children[node] + (0 if is_left else 1)
                factor = given.scales[feature] if given else 1.0
                change = self.values[child] - self.values[node]
                nats[feature][label] += factor * change
                node = child


class Density:
    """A number's Student t density given others, linear in each class."""

    def __init__(
        self,
        program: Program,
        weight: float,
        features: list[int],
        positions: list[list[int]],
        columns: list[list[list[int]]],
    ) -> None:
        self.weight, self.features = weight, features
        # The position of a missing cell is None.
        self.positions = [[*program.values(span), None] for span in positions]
        # By class: means and variances of the features, slopes, the triangle, and
        # squared scale, freedom and constant.
        self.classes: list[Any] = [
            [[program.values(span)[label] for span in column] for column in columns]
            for label in range(len(program.base))
        ]

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the weighted log density to the nats of the child, by class."""
        pairs = zip(self.features, self.positions)
        numbers = [positions[codes[feature]] for feature, positions in pairs]
        if numbers[0] is None:
            return
        own, weight = nats[self.features[0]], self.weight
        if given:
            weight *= given.scales[self.features[0]]
        for label, members in enumerate(self.classes):
            own[label] += weight * _log_density(numbers, *members)


def _log_density(
    numbers: Any, means: Any, variances: Any, slopes: Any, triangle: Any, scales: Any
) -> float:
    """Logarithm of the child's density in a class; missing parents are at the mean."""
    scale, freedom, constant = scales
    row = [0.0 if x is None else x - mean for x, mean in zip(numbers, means)]
    residual, row[0] = row[0], 1.0
    missing = 0.0
    for x, value, slope, variance in zip(numbers, row, slopes, variances):
        residual -= slope * value
        missing += slope**2 * variance if x is None else 0.0
    leverage, corner = 0.0, 0
    for k in range(len(row)):
        product = 0.0
        for value in row[k:]:
            product += triangle[corner] * value
            corner += 1
        leverage += product * product
    spread = scale * (1 + leverage) + missing
    # As in the library: the freedom magnifies how this sum is rounded.
    far = math.log(1.0 + residual**2 / (spread * freedom))
    logs: float = constant - math.log(spread) / 2 - (freedom + 1) * far / 2
    return min(max(logs, -MAX_LOG_DENSITY), MAX_LOG_DENSITY)


# Sums of cells that are kept.
_MAX_KNOWN_COUNTS = 20_000
# The last digit of a number has one of the first 32 characters, others one of the rest.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_DIGITS = {character: place for place, character in enumerate(_ALPHABET)}


class Counts:
    """Counts of a feature and its parents by class, at each number of parents.

    Cells are numbers whose digits are the states of the parents and of the feature and
    the class, in increasing order, so that those of some parents' states stand side by
    side. They are added up when a row asks for them.
    """

    def __init__(
        self,
        program: Program,
        features: int,
        maps: list[int],
        steps: str,
        totals: Any,
        weights: list[int],
        least: list[int],
        strength: float,
    ) -> None:
        self.features = program.integers[features]
        self.maps = [program.integers[k] for k in maps]
        self.n_classes = len(program.base)
        self.radices = [max(states) + 1 for states in self.maps]
        self.cells = list(itertools.accumulate(_numbers(steps)))
        self.totals = _numbers(totals)
        # Of each depth and all that follow.
        self.weights = program.values(weights)
        # Prior weight of each state, and of all.
        self.least, self.strength = program.values(least), strength
        # By number of parents: how many cells share the states of so many parents.
        self.n_own = self.radices[0] * self.n_classes
        self.sizes = [
            self.n_own * math.prod(self.radices[depth + 1 :])
            for depth in range(len(self.features))
        ]
        self.counts = lru_cache(_MAX_KNOWN_COUNTS)(self._counts)

    def _counts(
        self, depth: int, parents: int
    ) -> tuple[dict[int, list[float]], list[float]]:
        """Counts by class of states that occur with some parents', and sums."""
        size = self.sizes[depth]
        first = bisect_left(self.cells, parents * size)
        last = bisect_left(self.cells, (parents + 1) * size, first)
        counts: dict[int, list[float]] = {}
        sums = [0.0] * self.n_classes
        for place in range(first, last):
            state, label = divmod(self.cells[place] % self.n_own, self.n_classes)
            own = counts.setdefault(state, [0.0] * self.n_classes)
            own[label] += self.totals[place]
            sums[label] += self.totals[place]
        return counts, sums

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the log share of the feature's state in each class, by depth.

        Where no cell has the parents' states, the depth before is repeated.
        """
        states = [own[codes[feature]] for own, feature in zip(self.maps, self.features)]
        # The last state is that of missing cells, which add nothing.
        least = self.least[states[0]]
        deeper = given.depths[self.features[0]] if given else self.weights
        deeper = [*deeper[: len(states)], 0.0]
        weights = list(map(sub, deeper, deeper[1:]))
        if not least > 0 or not any(weights):
            return
        own = nats[self.features[0]]
        none, logs = [0.0] * self.n_classes, [0.0] * self.n_classes
        parents, exists = 0, True
        for depth, weight in enumerate(weights):
            if depth and exists:
                parents = parents * self.radices[depth] + states[depth]
                # The last state is that of parents whose rows are too few.
                exists = states[depth] < self.radices[depth] - 1
            if exists:
                counts, totals = self.counts(depth, parents)
                exists = any(totals)
            if exists:
                logs = [
                    math.log((count + least) / (total + self.strength))
                    for count, total in zip(counts.get(states[0], none), totals)
                ]
            for label, log in enumerate(logs):
                own[label] += weight * log


def _numbers(short: Any) -> list[Any]:
    """Integers whose digits of base 32 are characters, else the list itself."""
    if not isinstance(short, str):
        return list(short)
    found, number, place = [], 0, 0
    for character in short:
        digit = _DIGITS[character]
        number += (digit & 31) << place
        place += 5
        if digit < 32:
            found.append(number)
            number = place = 0
    return found


# Sets of known features whose weights are kept.
_MAX_SETS = 200


class Sharing:
    """A feature known alone counts as the only one, and as learned if all are known."""

    def __init__(
        self,
        program: Program,
        strengths: list[int],
        rates: list[float],
        alone: list[list[int]],
        learned: list[list[int]],
        prior: list[int],
        factors: list[int],
    ) -> None:
        self.base, self.prior = program.base, program.values(prior)
        self.strengths, self.rates = program.values(strengths), rates
        self.factors = program.values(factors)
        pairs = zip(map(program.values, alone), map(program.values, learned))
        self.weights = [list(zip(*pair)) for pair in pairs]
        # By feature, its parents in each network.
        self.parents: list[list[list[int]]] = [[] for _ in alone]
        for term in program.additive:
            if isinstance(term, Counts):
                self.parents[term.features[0]].append(term.features[1:])
        self.given = lru_cache(_MAX_SETS)(self._given)

    def _given(self, known: tuple[bool, ...]) -> SimpleNamespace:
        """The base and, by feature, weights of each depth and of other terms."""
        others, beyond = known_shares(self.strengths, known)
        rate, base_rate = self.rates
        share = bent(beyond, base_rate)
        alone = [1 - bent(u, rate) if k else 0.0 for u, k in zip(others, known)]
        base = [
            learned if share == 1 or math.isinf(log) else log + share * (learned - log)
            for learned, log in zip(self.base, self.prior)
        ]
        depths = [
            [
                (m * single + (1 - m) * learned) / n
                for (single, learned), n in zip(weights, self._networks(parents, known))
            ]
            for m, weights, parents in zip(alone, self.weights, self.parents)
        ]
        scales = [1 - m + m * factor for m, factor in zip(alone, self.factors)]
        return SimpleNamespace(base=base, depths=depths, scales=scales)

    def _networks(
        self, networks: list[list[int]], known: Sequence[bool]
    ) -> list[float]:
        """What sums over networks are divided by, by the number of parents."""
        counted = [0.0] * len(self.weights[0])
        for parents in networks:
            missing = (k + 1 for k, parent in enumerate(parents) if not known[parent])
            for depth in range(next(missing, len(counted))):
                counted[depth] += 1
        whole = len(networks)
        return [n if n == whole else n + NETWORKS_WITHOUT_CHANGE for n in counted]


# Largest table that summing out may build: a list of some hundred megabytes.
_MOST_CELLS = 5_000_000
# Cells of sums that are kept.
_MAX_KNOWN_CELLS = 200_000
# Orders of variables that are kept.
_MOST_ORDERS = 20_000

# Variables, the first cell, and the table that they are a part of.
_View = Any


class Table:
    """Logarithms over some variables, from some place of a list on."""

    def __init__(
        self, logs: list[float], family: Any, cards: list[int], start: int = 0
    ) -> None:
        self.logs, self.family, self.start = logs, tuple(family), start
        self.cards, self.strides = cards, {}
        stride = 1
        for variable in reversed(self.family):
            self.strides[variable] = stride
            stride *= cards[variable]
        # Of the class.
        self.step = self.strides.get(len(cards) - 1, 0)

    def view(self, known: Sequence[int]) -> _View:
        """The part with the known states, over the variables that are not known."""
        first, others = self.start, []
        for variable in self.family:
            if known[variable] >= 0:
                first += known[variable] * self.strides[variable]
            else:
                others.append(variable)
        return tuple(others), first, self

    def spread(self, scope: Sequence[int], first: int) -> list[float]:
        """The cells from one on, over the variables of a scope."""
        cells = [first]
        for variable in scope:
            step, states = self.strides.get(variable, 0), range(self.cards[variable])
            cells = [cell + step * state for cell in cells for state in states]
        return [self.logs[cell] for cell in cells]


def _cell_sum(views: Sequence[_View], label: int) -> Any:
    """Sum of the cells of a class in parts of tables over the class alone."""
    return sum([t.logs[first + label * t.step] for _, first, t in views])


class SumOut:
    """The joint probability of the class and the known features of a row."""

    def __init__(
        self,
        program: Program,
        cards: int,
        order: int,
        tables: list[list[int]],
        weight: float = 1.0,
    ) -> None:
        self.cards, self.order = program.integers[cards], program.integers[order]
        self.weight = weight
        self.label = len(self.cards) - 1
        # A family ends with its child; tables of children come before their parents'.
        self.tables = [
            Table(program.numbers, program.integers[family], self.cards, start)
            for start, family in tables
        ]
        # Whether the odds of a row without missing cells are those of its tables.
        self.is_simple = all(
            table.family[-1] != self.label or len(table.family) == 1
            for table in self.tables
        )
        self.order_of = lru_cache(_MOST_ORDERS)(self._order_of)
        self.sums: dict[Any, Table] = {}
        self.n_kept = 0
        self.prior = self.scores([])

    def _views(self, codes: Sequence[int]) -> list[_View]:
        """Parts of tables by what is unknown; those that sum to one are left out."""
        known = [-1] * len(self.cards)
        for variable, code in enumerate(codes):
            if code < self.cards[variable]:
                known[variable] = code
        views, needed = [], {self.label}
        for table in self.tables:
            child = table.family[-1]
            # An unknown child of no known variable sums to one.
            if known[child] >= 0 or child in needed:
                view = table.view(known)
                needed.update(view[0])
                views.append(view)
        return views

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Weighted log of the joint probability with each class."""
        views = self._views(codes)
        looked_up = [view for view in views if self._is_of_class(view)]
        left = [view for view in views if not self._is_of_class(view)]
        summed: list[_View] = []
        for variable in self.order_of(tuple([others for others, _, _ in left])):
            ours = tuple([view for view in left if variable in view[0]])
            left = [view for view in left if variable not in view[0]]
            # Sums are kept for the next row, or this one with more features revealed.
            table = self.sums.get(ours) or self._summed(variable, ours)
            view = table.family, 0, table
            (summed if self._is_of_class(view) else left).append(view)
        return [
            self.weight * (_cell_sum(looked_up, k) + _cell_sum(summed, k))
            for k in range(self.cards[self.label])
        ]

    def _is_of_class(self, view: _View) -> bool:
        """Whether a part of a table is over the class, or nothing, alone."""
        return view[0] in ((), (self.label,))

    def _order_of(self, scopes: tuple[tuple[int, ...], ...]) -> list[int]:
        """The variables of tables, that with the smallest product of tables first."""
        order, parts = [], [{*scope} - {self.label} for scope in scopes]
        for variable, others in elimination(parts, self.cards, set()):
            size = math.prod([self.cards[v] for v in (variable, *others)])
            if size > _MOST_CELLS:
                raise ValueError(
                    "too many values are missing: summing them out needs a table of "
                    f"{size} cells, more than {_MOST_CELLS}; give some of them"
                )
            order.append(variable)
        return order

    def _summed(self, variable: int, views: Sequence[_View]) -> Table:
        """The product of tables, summed over a variable that all of them hold."""
        rest = sorted({v for others, _, _ in views for v in others} - {variable})
        columns = [table.spread((*rest, variable), first) for _, first, table in views]
        product, card = [sum(own) for own in zip(*columns)], self.cards[variable]
        starts = range(0, len(product), card)
        logs = [log_sum_exp(product[k : k + card]) for k in starts]
        if self.n_kept > _MAX_KNOWN_CELLS:
            self.sums.clear()
            self.n_kept = 0
        self.n_kept += len(logs)
        found = self.sums[tuple(views)] = Table(logs, rest, self.cards)
        return found

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """Log-odds by feature, and of the prior, which is last."""
        odds = [*[0.0] * len(codes), self.prior[target] - self.prior[against]]
        views = self._views(codes)
        if self.is_simple and all(map(self._is_of_class, views)):
            # What the distribution of each feature adds.
            for _, first, table in views:
                if table.step and len(table.family) > 1:
                    ours, theirs = (
                        table.logs[first + k * table.step] for k in (target, against)
                    )
                    odds[table.family[-1]] = self.weight * (ours - theirs)
            return odds
        # How much the log-odds change as features are revealed in their order.
        revealed, before = self.cards[: len(codes)], odds[-1]
        for variable in self.order:
            if variable >= len(codes) or codes[variable] >= self.cards[variable]:
                continue
            revealed[variable] = codes[variable]
            scores = self.scores(revealed)
            after = scores[target] - scores[against]
            # Where a state has become impossible, no later feature adds anything.
            if math.isfinite(before) and not math.isnan(after):
                odds[variable] = after - before
                before = after
        return odds


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
        self.looks = [Look(program, *table) for table in tables]
        for look in self.looks:
            look.rows = {
                key: (look.owner, row, self._possible(row))
                for key, row in look.rows.items()
            }

    def _possible(self, row: Sequence[float]) -> set[int]:
        """The nodes with a possible output."""
        spans = enumerate(self.spans)
        return {node for node, span in spans if max(row[span]) > _NOTHING}

    def scores(self, codes: Sequence[int], is_posterior: bool) -> tuple[Any, Any]:
        """What is added up, by owner; the nodes left, and their log scores."""
        entries = [look.entry(codes) for look in self.looks]
        rows, scores = [self.prior, *filter(None, entries)], []
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
