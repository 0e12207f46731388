"""A scoring program as a graph of operators, which grows node by node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import count
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayleaf.inference.log_sums import log_of
from bayleaf.inference.plain_rules import (
    MAX_LOG_DENSITY,
    NETWORKS_WITHOUT_CHANGE,
    elimination,
)
from bayleaf.scoring.fusing import fused, tables_by_weight, tables_of
from bayleaf.scoring.partial_cases import Sharing
from bayleaf.scoring.terms import (
    Bank,
    Density,
    Factor,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Tree,
    Whole,
    distinct_rows,
)
from bayleaf.wording import quoted

# Widely supported: runtimes of 2022 and later.
OPSET = 17
ML_OPSET = 3
ML_DOMAIN = "ai.onnx.ml"

# Bytes of an entry where joint states without an entry are left out.
_SPARSE_BYTES = 6
# Cells of the largest table that a row may need while missing cells are summed out.
_MAX_ROW_CELLS = 4_000_000
# Variables in increasing order, and logarithms of shape (n_rows or 1, *cards).
Table = tuple[tuple[int, ...], str]


def onnx_library() -> Any:
    """The library onnx, or one sentence that names it."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "graphs of operators need the library onnx; install it with "
            'pip install "bayleaf[onnx]"'
        ) from None
    return onnx


class Graph:
    """Nodes and constants by the names of their results, which differ from those taken.

    Operators take names; other inputs become constants.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self._onnx = onnx_library()
        names = map("bayleaf_{}".format, count())
        self._names = (name for name in names if name not in taken)
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: ArrayLike) -> str:
        """A tensor of numbers, booleans or texts; equal ones occur once."""
        array = np.asarray(value)
        if array.dtype.kind == "i":
            array = array.astype(np.int64)
        is_text = array.dtype.kind == "O"
        content = repr(array.tolist()).encode() if is_text else array.tobytes()
        key = array.dtype.str, array.shape, content
        if key not in self._known:
            self._known[key] = next(self._names)
            make = self._onnx.numpy_helper.from_array
            self.constants.append(make(array, self._known[key]))
        return self._known[key]

    def add(
        self,
        operator: str,
        *inputs: str | ArrayLike,
        output: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node and return the name of its result."""
        name = output or next(self._names)
        names = [
            each if isinstance(each, str) else self.constant(each) for each in inputs
        ]
        make = self._onnx.helper.make_node
        self.nodes.append(make(operator, names, [name], **attributes))
        return name

    def cast(self, value: str, kind: str) -> str:
        """A tensor as "DOUBLE" or "INT64"."""
        return self.add("Cast", value, to=getattr(self._onnx.TensorProto, kind))

    def joined(self, operator: str, values: Sequence[str]) -> str:
        """The sum ("Add") or disjunction ("Or") of tensors, of at least one."""
        total, *rest = values
        for value in rest:
            total = self.add(operator, total, value)
        return total

    def log_sum_exp(self, values: str, axis: int) -> str:
        """Logarithm of the sum of exponentials along an axis, which is kept."""
        highest = self.add("ReduceMax", values, axes=[axis], keepdims=1)
        # Without it minus infinity less itself is no number.
        finite = self.add("Max", highest, -1e300)
        powers = self.add("Exp", self.add("Sub", values, finite))
        total = self.add("ReduceSum", powers, [axis], keepdims=1)
        return self.add("Add", self.add("Log", total), finite)


class TermOperators:
    """Operators that score the classes.

    Codes, names and whether cells may be missing are those of each feature; the code
    of a missing cell is the number of states.
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
        graph, sharing, weights = self._graph, program.sharing, None
        if sharing is not None and any(self._may_miss):
            weights = CaseWeights(graph, sharing, self.known(program.cards))
        if weights is None:
            parts = [graph.constant(program.base[None])]
            tables = fused(tables_of(program.terms), by_owner=False)
            parts += map(self._look, tables)
        else:
            parts = [weights.base(program.base)]
            for key, group in tables_by_weight(program.terms).items():
                total = graph.joined("Add", list(map(self._look, group)))
                parts.append(graph.add("Mul", total, weights.of(*key)))
        trees = [term for term in program.terms if isinstance(term, Tree)]
        if trees:
            parts.append(self._trees(trees, len(program.base), weights))
        for term in program.terms:
            if isinstance(term, Density):
                logs = self._density(term)
                if weights is not None:
                    logs = graph.add("Mul", logs, weights.of(term.features[0]))
                parts.append(logs)
            elif isinstance(term, SumOut):
                parts.append(self._sum_out(term))
            elif isinstance(term, LogSum):
                parts.append(self._log_sum(term))
        # A zero for each row: all parts may be constants.
        column = graph.add("Unsqueeze", self._codes[0], [1])
        zeros = graph.cast(graph.add("Mul", column, 0), "DOUBLE")
        return graph.add("Add", graph.joined("Add", parts), zeros)

    def known(self, cards: Sequence[int]) -> str:
        """Whether each feature of a row has a state, (n_rows, n_features)."""
        graph = self._graph
        codes = [graph.add("Unsqueeze", code, [1]) for code in self._codes]
        cells = graph.add("Concat", *codes, axis=1)
        return graph.add("Less", cells, np.array([cards]))

    # ---- tables

    def _states(self, feature: int, states: Whole) -> str:
        """The state of each code of a feature."""
        if np.array_equal(states, np.arange(len(states))):
            return self._codes[feature]
        key = feature, states.tobytes()
        if key not in self._coded:
            self._coded[key] = self._graph.add("Gather", states, self._codes[feature])
        return self._coded[key]

    def _joint(self, digits: Sequence[str], radices: Sequence[int]) -> str:
        """Numbers of joint states, the first digit varying slowest, (n_rows,)."""
        index, *rest = digits
        for digit, radix in zip(rest, radices[1:], strict=True):
            larger = self._graph.add("Mul", index, radix)
            index = self._graph.add("Add", larger, digit)
        return index

    def _look(self, look: Look) -> str:
        """The entries of a table, (n_rows, n_outputs)."""
        graph, n_cells = self._graph, prod(look.radices)
        if not look.features:
            return graph.constant(look.rows)
        digits = [self._states(*own) for own in zip(look.features, look.maps)]
        index = self._joint(digits, look.radices)
        if look.gate is None and len(look.features) == 1:
            table = np.zeros((n_cells, look.rows.shape[1]))
            table[look.keys] = look.rows
            return graph.add("Gather", table, index)
        if look.gate is not None:
            counts = graph.add("Gather", look.gate, self._codes[look.owner])
            index = graph.add("Where", counts, index, n_cells)
        # Zeros lose their signs, so that equal tables are written once.
        distinct, rows = distinct_rows(look.rows + 0.0)
        # The first row is that of joint states without an entry.
        table = np.concatenate([np.zeros((1, distinct.shape[1])), distinct])
        entries = self._entries(look.keys, rows + 1, index, n_cells)
        return graph.add("Gather", table, entries)

    def _entries(self, keys: Whole, entries: Whole, index: str, n_cells: int) -> str:
        """The entry of a joint state, 0 for one without; n_cells itself has none."""
        graph, kind = self._graph, np.min_scalar_type(int(entries.max(initial=0)))
        if n_cells * kind.itemsize <= _SPARSE_BYTES * len(keys):
            table = np.zeros(n_cells + 1, dtype=kind)
            table[keys] = entries
            return graph.cast(graph.add("Gather", table, index), "INT64")
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
        add = self._graph.add
        codes = [
            add("Min", self._codes[feature], len(positions))
            for feature, positions in zip(term.features, term.positions)
        ]
        # Missing numbers are at the mean of their class.
        child, *row = (
            add("Gather", _extended(positions[:, None] - means), code)
            for positions, means, code in zip(term.positions, term.means, codes)
        )
        residual = add("Sub", child, term.slopes[0])
        for value, slope in zip(row, term.slopes[1:]):
            residual = add("Sub", residual, add("Mul", value, slope))
        # Squared length of the triangle's product with a row that begins with one.
        squares, corners = [], iter(term.triangle)
        for k in range(len(row) + 1):
            products = [] if k else [self._graph.constant(next(corners))]
            products += [add("Mul", v, next(corners)) for v in row[max(k - 1, 0) :]]
            product = self._graph.joined("Add", products)
            squares.append(add("Mul", product, product))
        leverage = self._graph.joined("Add", squares)
        spread = add("Mul", add("Add", leverage, 1.0), term.scale)
        for k, code in enumerate(codes[1:], 1):
            table = np.zeros((len(term.positions[k]) + 1, len(term.scale)))
            table[-1] = term.slopes[k] ** 2 * term.variances[k]
            spread = add("Add", spread, add("Gather", table, code))
        square = add("Mul", residual, residual)
        ratio = add("Div", square, add("Mul", spread, term.freedom))
        far = add("Log", add("Add", ratio, 1.0))
        tail = add("Mul", far, (term.freedom + 1.0) / 2.0)
        width = add("Mul", add("Log", spread), 0.5)
        logs = add("Sub", add("Sub", term.constants, width), tail)
        bounded = add("Clip", logs, -MAX_LOG_DENSITY, MAX_LOG_DENSITY)
        weight = _extended(np.full((len(term.positions[0]), 1), term.weight))
        return add("Mul", bounded, add("Gather", weight, codes[0]))

    def _trees(
        self, trees: Sequence[Tree], n_classes: int, weights: CaseWeights | None
    ) -> str:
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
        leaf = graph.add("Mul", columns[0], 0)
        cells = graph.add("Concat", *columns, leaf, axis=1)
        node = graph.add("Add", leaf, starts[None])
        # Where splits have weights, each adds its change; else the last node all.
        values = np.concatenate([tree.values - tree.values[0] for tree in trees])
        changes = np.zeros(len(values))
        inner = np.flatnonzero(features >= 0)
        both = children[inner, None] + np.arange(2)
        changes[both] = values[both] - values[inner, None]
        parts, level = [], starts[features[starts] >= 0]
        while len(level):
            following = np.concatenate([children[level], children[level] + 1])
            level = following[features[following] >= 0]
            feature = graph.add("Gather", tested, node)
            code = graph.add("GatherElements", cells, feature, axis=1)
            state = graph.add("Gather", states, node)
            below = graph.add("LessOrEqual", code, state)
            same = graph.add("Equal", code, state)
            ordered = graph.add("Gather", is_ordered, node)
            left = graph.add("Or", same, graph.add("And", ordered, below))
            right = graph.cast(graph.add("Not", left), "INT64")
            child = graph.add("Add", graph.add("Gather", children, node), right)
            stops = graph.add(
                "GreaterOrEqual", code, graph.add("Gather", unknown, node)
            )
            if weights is not None:
                share = graph.add("GatherElements", weights.others, feature, axis=1)
                step = graph.add("Mul", graph.add("Gather", changes, child), share)
                parts.append(graph.add("Where", stops, 0.0, step))
            node = graph.add("Where", stops, node, child)
        by_class = np.eye(n_classes)[[tree.label for tree in trees]]
        total = graph.joined("Add", parts or [graph.add("Gather", values, node)])
        return graph.add("MatMul", total, by_class)

    # ---- networks

    def _sum_out(self, term: SumOut) -> str:
        """Weighted log joint probability, (n_rows, n_classes)."""
        graph, cards, codes = self._graph, term.cards, self._codes
        n_features = len(codes)
        parents = {v for factor in term.factors for v in factor.variables[:-1]}
        missing = sorted(v for v in parents if v < n_features and self._may_miss[v])
        known = list(codes)
        for v in missing:
            known[v] = graph.add("Min", codes[v], cards[v] - 1)
        scores = self._summed_out(term, known, [])
        if missing:
            # Rows that lack a parent are scored again, over all of its states.
            tests = [graph.add("Equal", codes[v], cards[v]) for v in missing]
            is_open = graph.joined("Or", tests)
            rows = graph.add("Squeeze", graph.add("NonZero", is_open), [0])
            chosen = [graph.add("Gather", code, rows) for code in codes]
            indices = graph.add("Unsqueeze", rows, [1])
            summed = self._summed_out(term, chosen, missing)
            scores = graph.add("ScatterND", scores, indices, summed)
        if term.weight == 1.0:
            return scores
        return graph.add("Mul", scores, term.weight)

    def _summed_out(
        self, term: SumOut, codes: Sequence[str], missing: Sequence[int]
    ) -> str:
        """Scores where some features may be missing, whichever row it is."""
        graph, cards, label = self._graph, term.cards, len(term.cards) - 1
        dense = {*range(len(codes), label), *missing}
        parents = {v for factor in term.factors for v in factor.variables[:-1]}
        # A feature without children leaves nothing when it is summed out.
        leaves = {*range(len(codes))} - parents
        tables = [
            self._selected(factor, codes, {*dense, label}, factor.child in leaves)
            for factor in term.factors
        ]
        for v in missing:
            table = np.concatenate([log_of(np.eye(cards[v])), np.zeros((1, cards[v]))])
            tables.append(((v,), graph.add("Gather", table, codes[v])))
        for v, rest in elimination([own for own, _ in tables], cards, {label}):
            scope = sorted((v, *rest))
            if (size := prod(cards[u] for u in scope)) > _MAX_ROW_CELLS:
                name = f"latent variable {v - len(codes) + 1}"
                if v < len(codes):
                    name = quoted(self._names[v])
                raise ValueError(
                    f"summing out {name} needs a table of {size:,} cells "
                    f"for each row, more than {_MAX_ROW_CELLS:,}; fit with fewer "
                    "parents or missing='state'"
                )
            touching = [table for table in tables if v in table[0]]
            product, axis = self._product(touching, scope, cards), scope.index(v) + 1
            total = graph.add("Squeeze", graph.log_sum_exp(product, axis), [axis])
            tables = [table for table in tables if v not in table[0]]
            tables.append((rest, total))
        return self._product(tables, [label], cards)

    def _product(
        self, tables: Sequence[Table], scope: Sequence[int], cards: Sequence[int]
    ) -> str:
        """The sum of logarithms over variables that contain those of all tables."""
        terms = []
        for variables, name in tables:
            shape = [cards[v] if v in variables else 1 for v in scope]
            terms.append(self._graph.add("Reshape", name, [0, *shape]))
        return self._graph.joined("Add", terms)

    def _selected(
        self, factor: Factor, codes: Sequence[str], dense: set[int], is_leaf: bool
    ) -> Table:
        """One distribution, the states of known features selected."""
        family, values = factor.variables, factor.logs
        if is_leaf:
            nothing = np.zeros((*values.shape[:-1], 1))
            values = np.concatenate([values, nothing], axis=-1)
        kept = sorted(v for v in family if v in dense)
        known = [v for v in family if v not in dense]
        values = values.transpose([family.index(v) for v in (*known, *kept)])
        widths = values.shape[: len(known)]
        cells = values.reshape(-1, *values.shape[len(known) :])
        if not known:
            return tuple(kept), self._graph.constant(cells)
        index = self._joint([codes[v] for v in known], widths)
        return tuple(kept), self._graph.add("Gather", cells, index)

    # ---- averages and mixtures

    def _log_sum(self, term: LogSum) -> str:
        """Log of the sum over members, (n_rows, n_classes)."""
        graph = self._graph
        members = [
            graph.add("Unsqueeze", self._sum_out(network), [1])
            for network in term.networks
        ]
        for path in term.paths:
            weights = ""
            for bank in path:
                weights = self._weighted(bank, weights, term.is_posterior)
            members.append(weights)
        together = (
            members[0] if len(members) == 1 else graph.add("Concat", *members, axis=1)
        )
        scores = graph.add("Squeeze", graph.log_sum_exp(together, 1), [1])
        if not term.fallback:
            return scores
        highest = graph.add("ReduceMax", scores, axes=[1], keepdims=1)
        counts = graph.add("Greater", highest, -np.inf)
        tables = fused(term.fallback, by_owner=False)
        alone = graph.joined("Add", list(map(self._look, tables)))
        return graph.add("Where", counts, scores, alone)

    def _weighted(self, bank: Bank, weights: str, is_posterior: bool) -> str:
        """Outputs of a bank by row, node and output, its nodes weighted."""
        graph, shape = self._graph, bank.base.shape
        base = graph.constant(bank.base.reshape(1, -1))
        tables = fused(bank.looks, by_owner=False)
        flat = graph.joined("Add", [base, *map(self._look, tables)])
        scores = graph.add("Reshape", flat, [0, *shape])
        if is_posterior:
            scores = graph.add("Sub", scores, graph.log_sum_exp(scores, 2))
        if not weights:
            return scores
        column = graph.add("Reshape", weights, [0, shape[0], 1])
        return graph.add("Add", scores, column)


def _extended(table: Floats) -> Floats:
    """A table with zeros for a missing cell."""
    return np.concatenate([table, np.zeros((1, table.shape[1]))])


def known_shares(graph: Graph, strengths: Floats, known: str) -> tuple[str, str]:
    """Shares of strength as `partial_cases.known_shares`, exactly one for whole rows.

    Of flags `known` (n_rows, n_features): (n_rows, n_features) and (n_rows, 1).
    """
    number = graph.add("ReduceSum", graph.cast(known, "INT64"), [1], keepdims=1)
    is_whole = graph.add("Equal", number, len(strengths))
    if len(strengths) < 2:
        return graph.constant(np.ones((1, 1))), graph.cast(is_whole, "DOUBLE")
    counted = graph.add("Where", known, strengths[None], 0.0)
    summed = graph.add("ReduceSum", counted, [1], keepdims=1)
    top = graph.add("ReduceMax", counted, axes=[1], keepdims=1)

    def share(without: str | Floats, largest: Floats) -> str:
        part = graph.add("Sub", summed, without)
        part = graph.add("Div", part, strengths.sum() - largest)
        clipped = graph.add("Clip", part, 0.0, 1.0)
        return graph.add("Where", is_whole, 1.0, clipped)

    largest = strengths.max(keepdims=True)[None]
    return share(strengths[None], strengths[None]), share(top, largest)


class CaseWeights:
    """Weights of the terms of each row; `known` has shape (n_rows, n_features)."""

    def __init__(self, graph: Graph, sharing: Sharing, known: str) -> None:
        self._graph, self._sharing, self._known = graph, sharing, known
        # Networks in which all parents of a feature up to a depth are known.
        self._depths: list[str] = []
        self._mixed: dict[int, str] = {}

    @cached_property
    def _shares(self) -> tuple[str, str]:
        """How far features are as if alone, and the base as learned, by row."""
        rule = self._sharing.rule
        others, beyond = known_shares(self._graph, rule.strengths, self._known)
        alone = self._graph.add("Sub", 1.0, self._bent(others, rule.rate))
        return alone, self._bent(beyond, rule.base_rate)

    def _bent(self, share: str, rate: float) -> str:
        """Zero at zero, one at one; above the share for rates above one."""
        graph = self._graph
        part = graph.add("Mul", share, rate)
        rest = graph.add("Sub", 1.0, share)
        return graph.add("Div", part, graph.add("Add", rest, part))

    def base(self, learned: Floats) -> str:
        """The log prior, and as learned where all is known, (n_rows, n_classes)."""
        prior = self._sharing.prior
        is_same = np.isinf(prior)
        with np.errstate(invalid="ignore"):
            step = np.where(is_same, 0.0, learned - prior)
        moved = self._graph.add("Mul", self._shares[1], step[None])
        return self._graph.add("Add", moved, np.where(is_same, learned, prior)[None])

    @cached_property
    def others(self) -> str:
        """Weights of all terms but tables of counts; zero for a feature more."""
        graph, sharing = self._graph, self._sharing
        rates = np.append(sharing.alone_scales, 0.0) - 1.0
        alone = graph.add("Pad", self._shares[0], np.array([0, 0, 0, 1]), 1.0)
        return graph.add("Add", graph.add("Mul", alone, rates[None]), 1.0)

    def of(self, feature: int, n_parents: int = -1) -> str:
        """Weight of what parents of a feature change, or of its other terms (-1)."""
        weights = self.others if n_parents < 0 else self._depth(n_parents)
        return self._graph.add("Gather", weights, np.array([feature]), axis=1)

    def _depth(self, n_parents: int) -> str:
        """Weights of what the last of so many parents changes, of all features."""
        if n_parents not in self._mixed:
            graph, sharing = self._graph, self._sharing
            whole = sharing.deeper_weights[:, n_parents]
            single = sharing.alone_weights[:, n_parents]
            alone = graph.add("Mul", self._shares[0], (single - whole)[None])
            mixed = graph.add("Add", alone, whole[None])
            divisor = self._divisor(n_parents)
            self._mixed[n_parents] = graph.add("Div", mixed, divisor)
        return self._mixed[n_parents]

    def _divisor(self, n_parents: int) -> str:
        """Networks that a mean is over; those without a parent change nothing."""
        graph, parents = self._graph, self._sharing.parents
        n_networks, n_features, _ = parents.shape
        if not n_parents:
            return graph.constant(float(n_networks))
        while len(self._depths) < n_parents:
            # A feature more is known where there is no parent.
            depth = parents[:, :, len(self._depths)]
            indices = np.where(depth < 0, n_features, depth).ravel()
            flags = graph.add("Pad", graph.cast(self._known, "INT64"), [0, 0, 0, 1], 1)
            own = graph.add("Gather", flags, indices, axis=1)
            before = self._depths[-1:]
            self._depths.append(graph.add("Mul", *before, own) if before else own)
        shaped = graph.add(
            "Reshape", self._depths[n_parents - 1], [0, *parents.shape[:2]]
        )
        counted = graph.add("ReduceSum", shaped, [1], keepdims=0)
        some = graph.add("Add", graph.cast(counted, "DOUBLE"), NETWORKS_WITHOUT_CHANGE)
        return graph.add("Min", some, float(n_networks))
