"""Class scores of a scoring program, by the kinds of its terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bayleaf.inference.plain_rules import MAX_LOG_DENSITY, NETWORKS_WITHOUT_CHANGE
from bayleaf.io.exports.feature_cells import FeatureCells
from bayleaf.io.exports.sql.deciding import Decision, add_known_shares
from bayleaf.io.exports.sql.ensembles import Average
from bayleaf.io.exports.sql.look_ups import (
    Addend,
    Table,
    add_long,
    add_terms,
    add_up,
    batches,
    check_size,
)
from bayleaf.io.exports.sql.network_scores import ScoredNetwork, add_network
from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import (
    ZERO,
    both,
    case,
    chosen,
    lowest,
    nats,
    num,
    plain,
    plus,
    times,
)
from bayleaf.scoring.fusing import fused, tables_by_weight, tables_of
from bayleaf.scoring.terms import (
    PRIOR,
    Density,
    Floats,
    LogSum,
    Look,
    ScoringProgram,
    SumOut,
    Tree,
    Whole,
    program_of,
)

# Entries of all tables up to which each table is conditions or joined by itself.
_FEW_ENTRIES = 5_000
# Densities whose columns are in one stage.
_DENSITIES_PER_STAGE = 40
_NO_COMPILER = (
    "execute SET jit = off first, since the server would spend minutes on compiling "
    "this query"
)

# Features whose flags are one integer, and weights in a stage.
_FLAGS_PER_KEY, _WEIGHTS_PER_STAGE = 60, 1000


def add_scores(rows: Rows, decision: Decision, limit: int) -> str:
    """Add s_class of each class's score; what features add too if it is reported.

    Returns a remark for the reader of the query, empty if there is nothing to say;
    ValueError if queries cannot contain the model.
    """
    model = decision.predictor.model
    program = program_of(model)
    averages = [term for term in program.terms if isinstance(term, LogSum)]
    others = tuple(term for term in program.terms if not isinstance(term, LogSum))
    n_sums = sum(isinstance(term, SumOut) for term in others)
    if n_sums > 1 or len(averages) > 1:
        raise ValueError(
            f"a {type(model).__name__} is not written as SQL; fit another classifier"
        )
    if not averages:
        return _add_sums(rows, decision, program, limit)
    remark, added = "", dict[str, list[str]]()
    if others:
        remark = _add_sums(rows, decision, replace(program, terms=others), limit)
        added = _set_apart(rows, len(program.cards), len(program.base))
    elif program.base.any():
        base = list(map(nats, program.base.tolist()))
        added = {"s": base, "g": base}
    Average(rows, averages[0], added, decision).add()
    return remark


def _set_apart(rows: Rows, n_features: int, n_classes: int) -> dict[str, list[str]]:
    """Rename the columns of a sum; their new names by what they are a part of."""
    slots = {"s": "s", "b": "g"} | {f"f{v}": f"g{v}" for v in range(n_features)}
    old = {
        key: [f"{slot}_{c}" for c in range(n_classes)]
        for slot, key in slots.items()
        if f"{slot}_0" in rows.columns
    }
    all_names = [name for names in old.values() for name in names]
    rows.extend({f"u{name}": name for name in all_names}, without=all_names)
    return {key: [f"u{name}" for name in names] for key, names in old.items()}


def _add_sums(
    rows: Rows, decision: Decision, program: ScoringProgram, limit: int
) -> str:
    """Score rows by terms of which none is an average; see `add_scores`."""
    sums = [term for term in program.terms if isinstance(term, SumOut)]
    rest = [term for term in program.terms if not isinstance(term, SumOut)]
    base = program.base.tolist()
    factors: Mapping[tuple[int, int], str] = {}
    start = list(map(nats, base))
    if program.sharing is not None and any(
        own.may_be_unknown for own in decision.cells
    ):
        weights = CaseWeights(rows, program, decision.cells)
        factors, start = weights.factors, weights.base
    if not sums:
        return _add_tables(rows, program, factors, start)
    (term,), names = sums, decision.predictor.model.domain.names
    remark = add_network(rows, ScoredNetwork(term, names), limit)
    if term.weight != 1.0 or any(base):
        _weigh(rows, term.weight, base)
    if rest:
        _add_tables(rows, replace(program, terms=tuple(rest)), factors, [])
    return remark


def _weigh(rows: Rows, weight: float, base: Sequence[float]) -> None:
    """Multiply scores, and what features add to them, and add the base."""
    columns: Columns = {}
    for key in rows.columns:
        if key[-1].isdigit() and key[0] in "sbf":
            columns[key] = key if weight == 1.0 else f"({num(weight)} * {key})"
            if key[0] in "sb":
                start = nats(base[int(key.split("_")[1])])
                columns[key] = plus(start, columns[key])
    rows.extend(columns)


def _add_tables(
    rows: Rows,
    program: ScoringProgram,
    factors: Mapping[tuple[int, int], str],
    base: Sequence[str],
) -> str:
    """Score rows by tables, densities and trees; columns and base as in `add_terms`.

    Factors are columns by feature and number of parents, as in `tables_by_weight`, that
    multiply what terms add. Returns a remark for the reader of the query, empty if
    there is nothing to say.
    """
    remark, terms, n_classes = "", program.terms, len(program.base)
    if factors:
        groups = tables_by_weight(terms)
    else:
        groups = {(PRIOR, -1): fused(tables_of(terms), by_owner=rows.is_reported)}
    looks = [
        (factors.get(own, ""), _relative(look))
        for own, group in groups.items()
        for look in group
    ]
    coded, new = _coded(looks)
    tables = [(rows.slot(look.owner), table) for (_, look), table in zip(looks, coded)]
    n_entries = sum(len(table.values) for table in coded)
    if n_entries <= _FEW_ENTRIES:
        check_size(coded)
        if new:
            rows.extend(new)
        add_up(rows, tables, n_classes)
        if new:
            rows.extend({}, without=new)
    elif tables:
        remark = _NO_COMPILER if rows.dialect == "postgres" else ""
        add_long(rows, tables, program.cards, new, n_classes)
    densities = [term for term in terms if isinstance(term, Density)]
    if densities:
        _add_densities(rows, densities, factors, n_classes)
    trees: list[Addend] = []
    for term in terms:
        if isinstance(term, Tree):
            alike: dict[tuple[str, str], set[int]] = {}
            for feature in sorted({*term.features.tolist()} - {-1}):
                key = rows.slot(feature), factors.get((feature, -1), "")
                alike.setdefault(key, set()).add(feature)
            for (slot, factor), features in alike.items():
                values = [ZERO] * n_classes
                values[term.label] = times(factor, _changes(term, 0, features))
                trees.append((slot, values))
    add_terms(rows, trees, len(program.cards), n_classes, base)
    return remark


def _relative(look: Look) -> Look:
    """The same relative to the first class, which takes one column less."""
    first = look.rows[:, :1]
    if not first.any() or not np.isfinite(first).all():
        return look
    return replace(look, rows=look.rows - first)


def _coded(looks: Iterable[tuple[str, Look]]) -> tuple[list[Table], Columns]:
    """Tables by columns, with their factors, and the columns of states they need."""
    names: dict[tuple[int, bytes], str] = {}
    new: Columns = {}

    def column(feature: int, states: Whole) -> str:
        code, key = f"c{feature}", (feature, states.tobytes())
        if np.array_equal(states, np.arange(len(states))):
            return code
        if key not in names:
            # Runs of codes with one state are one condition.
            *ends, last = np.flatnonzero(np.diff(states, append=-1)).tolist()
            cases = [(f"{code} <= {end}", num(states[end])) for end in ends]
            names[key] = f"q{len(names)}"
            new[names[key]] = case(cases, num(states[last]))
        return names[key]

    tables = []
    for factor, look in looks:
        columns = tuple(map(column, look.features, look.maps))
        radices, states = look.radices, look.states
        if look.gate is not None:
            # A 1 is looked up in addition.
            columns += (column(look.owner, look.gate.astype(np.int64)),)
            radices = (*radices, 2)
            states = np.pad(states, ((0, 0), (0, 1)), constant_values=1)
        tables.append(Table(columns, radices, states, look.rows, factor))
    return tables, new


def _changes(tree: Tree, node: int, features: set[int]) -> str:
    """What splits on some features change from a node on."""
    feature, first = int(tree.features[node]), int(tree.children[node])
    if feature < 0:
        return ZERO
    sides = []
    for child in (first, first + 1):
        value = _changes(tree, child, features)
        if feature in features:
            change = num(tree.values[child] - tree.values[node])
            value = change if value == ZERO else plus(change, value)
        sides.append(value)
    if sides == [ZERO, ZERO]:
        return ZERO
    test = f"c{feature} {'<=' if tree.is_ordered[node] else '='} {tree.states[node]}"
    unknown = f"c{feature} = {tree.cards[feature]}"
    return case([(unknown, plain(ZERO)), (test, sides[0])], sides[1])


def _add_densities(
    rows: Rows,
    densities: Sequence[Density],
    factors: Mapping[tuple[int, int], str],
    n_classes: int,
) -> None:
    """Add log densities of numbers to the slots of their features."""
    # Numbers on the normal scale, NULL where missing; deviations from the means of the
    # classes, zero where missing.
    positions: Columns = {}
    deviations: Columns = {}
    known: dict[tuple[int, bytes, bytes], str] = {}
    members = []
    for density in densities:
        keys = []
        parts = zip(density.features, density.positions, density.means)
        for feature, by_code, means in parts:
            identity = feature, by_code.tobytes(), means.tobytes()
            key = known.setdefault(identity, f"w{len(known)}")
            keys.append(key)
            values = {code: num(value) for code, value in enumerate(by_code)}
            positions[key] = chosen(f"c{feature}", values)
            for c, mean in enumerate(means):
                value = f"({key} - {num(mean)})"
                deviations[f"d{key}_{c}"] = f"COALESCE({value}, {ZERO})"
        members.append(keys)
    rows.extend(positions)
    rows.extend(deviations)
    pairs = list(zip(densities, members, strict=True))
    for batch in batches(pairs, lambda own: len(own) <= _DENSITIES_PER_STAGE):
        parts_of: Columns = {}
        logs: Columns = {}
        terms: list[Addend] = []
        for k, (density, keys) in enumerate(batch):
            child, *parents = keys
            factor = factors.get((density.features[0], -1), "")
            nats = []
            for c in range(n_classes):
                row = ["1", *(f"d{parent}_{c}" for parent in parents)]
                slopes = map(num, density.slopes[:, c])
                expected = plus(*map("{} * {}".format, slopes, row))
                parts_of[f"r{k}_{c}"] = f"(d{child}_{c} - {expected})"
                parts_of[f"v{k}_{c}"] = _squared_scale(density, c, row, parents)
                logs[f"y{k}_{c}"] = _log_density(density, c, f"r{k}_{c}", f"v{k}_{c}")
                log = f"CASE WHEN {child} IS NULL THEN {ZERO} ELSE y{k}_{c} END"
                nats.append(times(factor, f"({num(density.weight)} * {log})"))
            terms.append((rows.slot(density.features[0]), nats))
        rows.extend(parts_of)
        rows.extend(logs)
        add_up(rows, terms, n_classes)
        rows.extend({}, without=[*parts_of, *logs])
    rows.extend({}, without=[*positions, *deviations])


def _squared_scale(
    density: Density, c: int, row: Sequence[str], parents: Sequence[str]
) -> str:
    """The squared scale of a density: wider far out, and for missing parents."""
    corners = map(num, density.triangle[:, c])
    squares = ["1"]
    for first in range(len(row)):
        own = plus(*(f"{next(corners)} * {name}" for name in row[first:]))
        squares.append(f"{own} * {own}")
    variances = density.slopes[1:, c] ** 2 * density.variances[1:, c]
    missing = (
        f"CASE WHEN {parent} IS NULL THEN {num(variance)} ELSE {ZERO} END"
        for parent, variance in zip(parents, variances, strict=True)
    )
    return plus(f"{num(density.scale[c])} * {plus(*squares)}", *missing)


def _log_density(density: Density, c: int, residual: str, scale: str) -> str:
    """The log density within its bounds."""
    freedom, constant = density.freedom[c], num(density.constants[c])
    tail = f"LN(1 + {residual} * {residual} / ({scale} * {num(freedom)}))"
    log = f"({constant} - (0.5e0 * LN({scale}) + {num((freedom + 1) / 2)} * {tail}))"
    bound = num(MAX_LOG_DENSITY)
    return f"\0LEAST(\0GREATEST({log}, -{bound}), {bound})"


class CaseWeights:
    """Weights by the set of features that a row knows, computed once for each set.

    Factors are columns that `Rows.factors` joins to the rows, by feature and number of
    parents for what these change, by feature and -1 for all other terms.
    """

    def __init__(
        self, rows: Rows, program: ScoringProgram, cells: Sequence[FeatureCells]
    ) -> None:
        assert program.sharing is not None
        self._sharing = program.sharing
        # Flags of the features that are not known in all rows.
        self._flags = {
            v: case([(f"c{v} < {cell.variable.n_states}", "1")], "0")
            for v, cell in enumerate(cells)
            if cell.may_be_unknown
        }
        flags = [*self._flags.values()]
        keys: Columns = {}
        for first in range(0, len(flags), _FLAGS_PER_KEY):
            bits = enumerate(flags[first : first + _FLAGS_PER_KEY])
            keys[f"u{len(keys)}"] = plus(*(f"{own} * {1 << bit}" for bit, own in bits))
        rows.extend(keys)
        sets = rows.branch()
        flags_of = {f"k{v}": flag for v, flag in self._flags.items()}
        sets.select({f"s{key}": key for key in keys} | flags_of)
        sets.group([*sets.columns], {})
        self._add_shares(sets)
        self.base = self._base(program.base)
        self.factors: dict[tuple[int, int], str] = {}
        n_features, n_depths = self._sharing.weights.shape
        weighed = [(v, n) for v in range(n_features) for n in range(-1, n_depths)]
        parts = batches(weighed, lambda own: len(own) <= _WEIGHTS_PER_STAGE)
        joins: list[str] = []
        for part in parts:
            columns = {"h": "h"} if not joins else {}
            columns |= {f"x{v}_{n + 1}": self._weight(v, n) for v, n in part}
            self.factors |= {(v, n): f"kw{len(joins)}.x{v}_{n + 1}" for v, n in part}
            joins.append(self._joined(sets, len(joins), columns, keys))
        rows.factors, rows.factor_keys = "".join(joins), keys

    def _joined(self, sets: Rows, number: int, columns: Columns, keys: Columns) -> str:
        """A join of some columns of the sets to the rows."""
        stage, name = sets.branch(), f"kw{number}"
        stage.select({**kept(f"s{key}" for key in keys), **columns})
        stage.keep_results()
        on = both(*(f"{name}.s{key} = {key}" for key in keys))
        return f" JOIN {stage.stage} AS {name} ON {on}"

    def _base(self, learned: Floats) -> list[str]:
        """The base of each class: the log prior, and as learned where all is known."""
        values = []
        for prior, own in zip(self._sharing.prior.tolist(), learned.tolist()):
            is_same = np.isinf(prior) or prior == own
            step = [] if is_same else [f"kw0.h * {num(own - prior)}"]
            values.append(plus(nats(own if is_same else prior), *step))
        return values

    def _add_shares(self, sets: Rows) -> None:
        """Add h of the base, and a{feature} of how far a feature is as if alone."""
        rule, known = self._sharing.rule, {v: f"k{v} = 1" for v in self._flags}
        others, beyond = add_known_shares(sets, rule.strengths, known)
        sets.extend({f"a{v}": own for v, own in enumerate(others)} | {"h": beyond})
        alone = {
            f"a{v}": f"(1 - {_bent(f'a{v}', rule.rate)})" for v in range(len(others))
        }
        sets.extend(alone | {"h": _bent("h", rule.base_rate)})

    def _weight(self, feature: int, n_parents: int) -> str:
        """Weight of what parents of a feature change, or of its other terms (-1)."""
        sharing = self._sharing
        alone = f"a{feature}"
        if n_parents < 0:
            rate = float(sharing.alone_scales[feature]) - 1.0
            return f"(1 + {num(rate)} * {alone})"
        whole = float(sharing.deeper_weights[feature, n_parents])
        single = float(sharing.alone_weights[feature, n_parents])
        mixed = f"({num(whole)} + {num(single - whole)} * {alone})"
        # Networks by the parents that need not be known.
        n_networks = len(sharing.parents)
        needed = Counter(
            frozenset(own).intersection(self._flags)
            for own in sharing.parents[:, feature, :n_parents].tolist()
        )
        n_certain = needed.pop(frozenset(), 0)
        if n_certain == n_networks:
            return f"({mixed} / {n_networks})"
        products = (
            " * ".join([str(count), *(f"k{v}" for v in sorted(own))])
            for own, count in needed.items()
        )
        counted = plus(num(n_certain + NETWORKS_WITHOUT_CHANGE), *products)
        # At least one network less than all, or all.
        return f"({mixed} / {lowest([counted, num(float(n_networks))])})"


def _bent(share: str, rate: float) -> str:
    """Zero at zero, one at one; above the share for rates above one."""
    part = f"{num(rate)} * {share}"
    return f"({part} / (1 - {share} + {part}))"
