"""A scoring program as operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.operators.graph import ML_DOMAIN, Graph
from bayleaf.io.exports.operators.sums_out import SumOutOperators, joint_indices
from bayleaf.scoring.fusing import fused, tables_of
from bayleaf.scoring.terms import (
    MAX_LOG_DENSITY,
    Bank,
    Density,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Tree,
    Whole,
)

# Bytes of an entry where joint states without an entry are left out.
_SPARSE_BYTES = 6


class TermOperators:
    """Operators that score the classes.

    Parameters
    ----------
    graph : Graph
        Takes the nodes.
    codes : sequence of str
        Codes of each feature; a missing cell has the number of states.
    names : sequence of str
        Names of the features, for messages.
    may_miss : sequence of bool
        For each feature whether its cells may be missing.
    """

    def __init__(
        self,
        graph: Graph,
        codes: Sequence[str],
        names: Sequence[str],
        may_miss: Sequence[bool],
    ) -> None:
        self._graph, self._codes = graph, codes
        self._names, self._may_miss = names, may_miss
        # A coding of a feature is looked up once.
        self._coded: dict[tuple[int, bytes], str] = {}

    def scores(self, program: ScoringProgram) -> str:
        """Scores of the classes, (n_rows, n_classes)."""
        graph, n_classes = self._graph, len(program.base)
        parts = [graph.constant(program.base[None])]
        parts += self._looks(tables_of(program.terms))
        trees = [term for term in program.terms if isinstance(term, Tree)]
        if trees:
            parts.append(self._trees(trees, n_classes))
        for term in program.terms:
            if isinstance(term, Density):
                parts.append(self._density(term))
            elif isinstance(term, SumOut):
                parts.append(self._sum_out(term))
            elif isinstance(term, LogSum):
                parts.append(self._log_sum(term))
        return graph.add("Add", graph.sum(parts), graph.row_zeros)

    # ---- tables

    def _states(self, feature: int, states: Whole) -> str:
        """The state of each code of a feature."""
        if np.array_equal(states, np.arange(len(states))):
            return self._codes[feature]
        key = feature, states.tobytes()
        if key not in self._coded:
            self._coded[key] = self._graph.look_up(states, self._codes[feature])
        return self._coded[key]

    def _looks(self, looks: Iterable[Look]) -> list[str]:
        """The entries of tables, those over the same features added up."""
        return [self._look(look) for look in fused(looks, by_owner=False)]

    def _look(self, look: Look) -> str:
        """The entries of a table, (n_rows, n_outputs)."""
        graph, n_cells = self._graph, prod(look.radices)
        if not look.features:
            return graph.constant(look.rows)
        digits = [self._states(*own) for own in zip(look.features, look.maps)]
        index = joint_indices(graph, digits, look.radices)
        if look.gate is None and len(look.features) == 1:
            table = np.zeros((n_cells, look.rows.shape[1]))
            table[look.keys] = look.rows
            return graph.look_up(table, index)
        if look.gate is not None:
            counts = graph.look_up(look.gate, self._codes[look.owner])
            index = graph.add("Where", counts, index, np.array(n_cells))
        distinct, rows = np.unique(look.rows, axis=0, return_inverse=True)
        # The first row is that of joint states without an entry.
        table = np.concatenate([np.zeros((1, distinct.shape[1])), distinct])
        entries = rows.ravel() + 1
        return graph.look_up(table, self._entries(look.keys, entries, index, n_cells))

    def _entries(self, keys: Whole, entries: Whole, index: str, n_cells: int) -> str:
        """The entry of a joint state, 0 for one without; n_cells itself has none."""
        graph, kind = self._graph, np.min_scalar_type(int(entries.max(initial=0)))
        if n_cells * kind.itemsize <= _SPARSE_BYTES * len(keys):
            table = np.zeros(n_cells + 1, dtype=kind)
            table[keys] = entries
            narrow = graph.add("Gather", graph.small_constant(table), index, axis=0)
            return graph.cast(narrow, "INT64")
        return graph.add(
            "LabelEncoder",
            index,
            domain=ML_DOMAIN,
            keys_int64s=keys.tolist(),
            values_int64s=entries.tolist(),
            default_int64=0,
        )

    # ---- numbers and trees

    def _density(self, term: Density) -> str:
        """The weighted log density, zero for a missing number, (n_rows, n_classes)."""
        graph = self._graph
        codes = [
            graph.add("Min", self._codes[feature], np.array(len(positions)))
            for feature, positions in zip(term.features, term.positions)
        ]
        # Missing numbers are at the mean of their class.
        child, *row = (
            graph.look_up(_extended(positions[:, None] - means), code)
            for positions, means, code in zip(term.positions, term.means, codes)
        )
        residual = graph.add("Sub", child, term.slopes[0])
        for value, slope in zip(row, term.slopes[1:]):
            residual = graph.add("Sub", residual, graph.add("Mul", value, slope))
        leverage = self._leverage(row, term.triangle)
        spread = graph.add("Mul", graph.add("Add", leverage, np.array(1.0)), term.scale)
        for k, code in enumerate(codes[1:], 1):
            table = np.zeros((len(term.positions[k]) + 1, len(term.scale)))
            table[-1] = term.slopes[k] ** 2 * term.variances[k]
            spread = graph.add("Add", spread, graph.look_up(table, code))
        square = graph.add("Mul", residual, residual)
        ratio = graph.add("Div", square, graph.add("Mul", spread, term.freedom))
        far = graph.add("Log", graph.add("Add", ratio, np.array(1.0)))
        tail = graph.add("Mul", far, (term.freedom + 1.0) / 2.0)
        width = graph.add("Mul", graph.add("Log", spread), np.array(0.5))
        logs = graph.add("Sub", graph.add("Sub", term.constants, width), tail)
        bounds = np.array(-MAX_LOG_DENSITY), np.array(MAX_LOG_DENSITY)
        weight = _extended(np.full((len(term.positions[0]), 1), term.weight))
        return graph.add(
            "Mul", graph.add("Clip", logs, *bounds), graph.look_up(weight, codes[0])
        )

    def _leverage(self, row: Sequence[str], triangle: Floats) -> str:
        """Squared length of the triangle's product with a row that begins with one."""
        graph, squares, corner = self._graph, [], 0
        for k in range(len(row) + 1):
            products = []
            for column in range(k, len(row) + 1):
                factor = graph.constant(triangle[corner])
                corner += 1
                products.append(
                    graph.add("Mul", row[column - 1], factor) if column else factor
                )
            product = graph.sum(products)
            squares.append(graph.add("Mul", product, product))
        return graph.sum(squares)

    def _trees(self, trees: Sequence[Tree], n_classes: int) -> str:
        """What all trees add: rows descend all of them together, a level at a time."""
        graph, cards = self._graph, trees[0].cards
        starts = np.cumsum([0, *(len(tree.features) for tree in trees)])[:-1]
        features = np.concatenate([tree.features for tree in trees])
        states = np.concatenate([tree.states for tree in trees])
        is_ordered = np.concatenate([tree.is_ordered for tree in trees])
        children = np.concatenate(
            [tree.children + start for tree, start in zip(trees, starts)]
        )
        # Leaves test a last column, which has no known state.
        tested = np.where(features < 0, len(cards), features)
        unknown = np.array([*cards, 0])[tested]
        columns = [graph.add("Unsqueeze", code, [1]) for code in self._codes]
        leaf = graph.cast(graph.add("Mul", columns[0], np.array(0)), "INT64")
        cells = graph.add("Concat", *columns, leaf, axis=1)
        node = graph.add("Add", leaf, starts[None].astype(np.int64))
        for _ in range(_depth(features, children, starts)):
            feature = graph.look_up(tested, node)
            code = graph.add("GatherElements", cells, feature, axis=1)
            state = graph.look_up(states, node)
            below = graph.add("LessOrEqual", code, state)
            same = graph.add("Equal", code, state)
            ordered = graph.look_up(is_ordered, node)
            left = graph.add("Or", same, graph.add("And", ordered, below))
            right = graph.cast(graph.add("Not", left), "INT64")
            following = graph.add("Add", graph.look_up(children, node), right)
            stops = graph.add("GreaterOrEqual", code, graph.look_up(unknown, node))
            node = graph.add("Where", stops, node, following)
        values = graph.look_up(np.concatenate([tree.values for tree in trees]), node)
        by_class = np.eye(n_classes)[[tree.label for tree in trees]]
        return graph.add("MatMul", values, by_class)

    # ---- networks, averages and mixtures

    def _sum_out(self, term: SumOut) -> str:
        """Weighted log joint probability, (n_rows, n_classes)."""
        operators = SumOutOperators(self._graph, term, self._names, self._may_miss)
        scores = operators.scores(self._codes)
        if term.weight == 1.0:
            return scores
        return self._graph.add("Mul", scores, np.array(term.weight))

    def _log_sum(self, term: LogSum) -> str:
        """Log of the sum over members, (n_rows, n_classes)."""
        graph = self._graph
        members = [
            graph.add("Unsqueeze", self._sum_out(network), [1])
            for network in term.networks
        ]
        for *gates, experts in term.paths:
            weights = ""
            for gate in gates:
                weights = self._weighted(gate, weights, term)
            members.append(self._weighted(experts, weights, term))
        together = (
            members[0] if len(members) == 1 else graph.add("Concat", *members, axis=1)
        )
        scores = graph.log_sum_exp(together, 1)
        if not term.fallback:
            return scores
        highest = graph.add("ReduceMax", scores, axes=[1], keepdims=1)
        counts = graph.add("Greater", highest, np.array(-np.inf))
        alone = graph.sum(self._looks(term.fallback))
        return graph.add("Where", counts, scores, alone)

    def _weighted(self, bank: Bank, weights: str, term: LogSum) -> str:
        """Outputs of a bank by row, node and output, its nodes weighted."""
        graph, shape = self._graph, bank.base.shape
        base = graph.constant(bank.base.reshape(1, -1))
        flat = graph.sum([base, *self._looks(bank.looks)])
        scores = graph.add("Reshape", flat, [0, *shape])
        if term.is_posterior:
            total = graph.add("Unsqueeze", graph.log_sum_exp(scores, 2), [2])
            scores = graph.add("Sub", scores, total)
        if not weights:
            return scores
        column = graph.add("Reshape", weights, [0, shape[0], 1])
        return graph.add("Add", scores, column)


def _extended(table: Floats) -> Floats:
    """A table with zeros for a missing cell."""
    return np.concatenate([table, np.zeros((1, table.shape[1]))])


def _depth(features: Whole, children: Whole, roots: NDArray[np.int64]) -> int:
    """Largest number of splits from a root to a leaf."""
    depth, level = 0, roots[features[roots] >= 0]
    while len(level):
        depth += 1
        below = np.concatenate([children[level], children[level] + 1])
        level = below[features[below] >= 0]
    return depth
