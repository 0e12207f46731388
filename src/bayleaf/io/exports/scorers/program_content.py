"""A scoring program as plain values that become JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.runtime.networks import compiled_tree, tree_content
from bayleaf.io.exports.runtime.packing import digits_of, packed
from bayleaf.scoring.partial_cases import Sharing, deeper_weights
from bayleaf.scoring.terms import (
    Bank,
    Counts,
    Density,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Term,
    Tree,
)

Content = dict[str, Any]

# Numbers of several arrays that are packed together: 16 bits distinguish them.
_MAX_PACKED = (1 << 16) - 1
# Joint states of a family and the classes that 64 bits can number, and a double.
_MAX_KEYS, _MAX_KEYS_OF_SCRIPTS = 1 << 63, 1 << 53


def program_content(
    program: ScoringProgram, *, is_script: bool = False
) -> tuple[Content, set[str]]:
    """The program, and the kinds of its terms.

    A term is a list: its kind, and the parameters of what computes it. Networks come
    as tables or, for scripts, as junction trees. ValueError if a family has too many
    joint states, or a network is too large.
    """
    pool = _Pool(is_script)
    trees = [term for term in program.terms if isinstance(term, Tree)]
    terms = [pool.term(term) for term in program.terms if not isinstance(term, Tree)]
    if trees:
        terms.append(pool.trees(trees))
    base = pool.numbers(program.base)
    sharing = program.sharing and pool.sharing(program.sharing)
    content = {
        "cards": list(program.cards),
        "base": base,
        "terms": terms,
        **({"sharing": sharing} if sharing else {}),
        "numbers": list(pool.packed_numbers()),
        "integers": pool.lists,
    }
    return content, pool.kinds


class _Pool:
    """Numbers of terms: equal arrays are stored once."""

    def __init__(self, is_script: bool) -> None:
        self._is_script = is_script
        self.kinds: set[str] = set()
        self.lists: list[list[int]] = []
        self._places: dict[bytes, int] = {}
        self._arrays: list[Floats] = []
        self._spans: dict[bytes, list[int]] = {}
        self._size = 0

    def numbers(self, values: NDArray[np.float64]) -> list[int]:
        """First position of an array, and its size."""
        flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
        span = self._spans.setdefault(flat.tobytes(), [self._size, flat.size])
        if span[0] == self._size:
            self._arrays.append(flat)
            self._size += flat.size
        return span

    def packed_numbers(self) -> Iterator[Content]:
        """All arrays, one behind another."""
        group, size = self._arrays[:1], self._arrays[0].size
        for array in self._arrays[1:]:
            if size + array.size > _MAX_PACKED:
                yield packed(np.concatenate(group))
                group, size = [], 0
            group.append(array)
            size += array.size
        yield packed(np.concatenate(group))

    def integers(self, values: Sequence[int] | NDArray[Any]) -> int:
        """Position of a list of integers."""
        array = np.asarray(values, dtype=np.int64)
        place = self._places.setdefault(array.tobytes(), len(self.lists))
        if place == len(self.lists):
            self.lists.append(array.tolist())
        return place

    def term(self, term: Term) -> list[Any]:
        """A term, its kind first."""
        kind = type(term).__name__
        self.kinds.add(kind)
        return [kind, *getattr(self, f"_{kind.lower()}")(term)]

    def trees(self, trees: Sequence[Tree]) -> list[Any]:
        """Trees as one term, one behind another."""
        self.kinds.add("Tree")
        roots = np.cumsum([0, *(len(tree.features) for tree in trees)])[:-1]
        children = [tree.children + root for tree, root in zip(trees, roots)]
        # Complements are states from which lower ones lead left as well.
        states = [np.where(t.is_ordered, ~t.states, t.states) for t in trees]
        features = np.concatenate([tree.features for tree in trees])
        nodes = features, np.concatenate(states), np.concatenate(children)
        lists = roots, np.array([tree.label for tree in trees]), *nodes
        values = np.concatenate([tree.values for tree in trees])
        return ["Tree", [self.integers(own) for own in lists], self.numbers(values)]

    def sharing(self, sharing: Sharing) -> list[Any]:
        """What terms count where features are unknown."""
        self.kinds.add("Sharing")
        rule, weights = sharing.rule, sharing.weights
        factors = np.zeros(len(weights))
        for feature in rule.monotone:
            factors[feature] = 1.0 / (weights[feature].sum() or np.inf)
        by_depth = rule.alone_weights(weights), deeper_weights(weights)
        return [
            "Sharing",
            self.numbers(rule.strengths),
            [float(rule.rate), float(rule.base_rate)],
            *([self.numbers(row) for row in weights] for weights in by_depth),
            self.numbers(sharing.prior),
            self.numbers(factors),
        ]

    def _look(self, look: Look) -> Iterator[Any]:
        yield look.owner
        yield look.features
        yield [self.integers(states) for states in look.maps]
        yield self.integers(look.keys)
        yield self.numbers(look.rows.T)
        if look.gate is not None:
            yield self.integers(look.gate)

    def _counts(self, term: Counts) -> Iterator[Any]:
        # The parents' states, then the feature's own and the class.
        digits = [*term.states.T[1:], term.states.T[0], term.classes]
        maps = [*term.maps[1:], term.maps[0]]
        radices = [*(int(states.max()) + 1 for states in maps), term.n_classes]
        if prod(radices) > (_MAX_KEYS_OF_SCRIPTS if self._is_script else _MAX_KEYS):
            raise ValueError(
                f"feature number {term.features[0] + 1} and its parents have too many "
                "joint states to be numbered; train with a smaller max_parents"
            )
        keys = np.ravel_multi_index(digits, radices)
        distinct, indices = np.unique(keys, return_inverse=True)
        totals = np.bincount(indices, term.totals)
        yield self.integers(term.features)
        yield [self.integers(states) for states in term.maps]
        yield digits_of(np.diff(distinct, prepend=0).tolist())
        # A row's weight is mostly an integer, which takes fewer digits.
        whole = bool((totals == np.floor(totals)).all())
        yield digits_of(totals.astype(int).tolist()) if whole else totals.tolist()
        yield self.numbers(term.weights)
        yield self.numbers(np.array(term.pseudo))

    def _density(self, term: Density) -> Iterator[Any]:
        yield term.weight
        yield term.features
        yield [self.numbers(positions) for positions in term.positions]
        scales = np.stack([term.scale, term.freedom, term.constants])
        columns = term.means, term.variances, term.slopes, term.triangle, scales
        yield [[self.numbers(row) for row in column] for column in columns]

    def _sumout(self, term: SumOut) -> Iterator[Any]:
        if self._is_script:
            yield term.order
            yield len(term.cards) - 1
            yield tree_content(compiled_tree(term.network), self.numbers)
        else:
            yield self.integers(term.cards)
            yield self.integers(term.order)
            factors = [term.factors[v] for v in reversed(term.network.dag.order)]
            yield [
                [self.numbers(f.logs)[0], self.integers(f.variables)] for f in factors
            ]
        if term.weight != 1.0:
            yield term.weight

    def _logsum(self, term: LogSum) -> Iterator[Any]:
        yield [[self._bank(bank) for bank in path] for path in term.paths]
        yield [self.term(network) for network in term.networks]
        yield term.is_posterior
        if term.fallback:
            constant = [look.rows for look in term.fallback if not look.features]
            looks = tuple(look for look in term.fallback if look.features)
            yield [self._bank(Bank(np.sum(constant, axis=0), looks))]

    def _bank(self, bank: Bank) -> list[Any]:
        tables = [self._table(look) for look in bank.looks]
        found = [len(bank.base), self.numbers(bank.base), tables]
        if bank.members is not None:
            found.append(self.integers(bank.members))
        return found

    def _table(self, look: Look) -> list[Any]:
        """A table of one feature, by code; columns before and behind are zero."""
        if len(look.features) != 1 or look.gate is not None:
            raise ValueError("tables of a bank must be of one feature, without a gate")
        indices = np.full(look.radices[0], -1)
        indices[look.keys] = np.arange(len(look.keys))
        filled = np.flatnonzero((look.rows != 0).any(axis=0)).tolist() or [0]
        rows = self.numbers(look.rows[:, filled[0] : filled[-1] + 1].T)
        codes = self.integers(indices[look.maps[0]])
        return [look.owner, look.features[0], codes, rows, filled[0]]
