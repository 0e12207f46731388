"""A classifier and its scoring program as plain values that become JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.date_texts import ERAS, MONTHS, TIME, date_pattern
from bayleaf.data.text_forms import MISSING_MARKERS, NUMBER_PARTS, TextForm
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.family_decomposition import Form
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.io.exports.characters import equal_pair
from bayleaf.io.exports.feature_cells import FeatureCells, feature_cells
from bayleaf.io.exports.packing import digits_of, packed
from bayleaf.models.predictor import Predictor
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
    program_of,
)
from bayleaf.wording import quoted, stated

Content = dict[str, Any]

# Numbers of several arrays that are packed together: 16 bits distinguish them.
_MAX_PACKED = (1 << 16) - 1
# Joint states of a family and the classes that 64 bits can number, and a double.
_MAX_KEYS, _MAX_KEYS_OF_SCRIPTS = 1 << 63, 1 << 53
# Cells of all cliques together: a browser still answers within a second.
MOST_CELLS = 5_000_000


def scorer_content(
    predictor: Predictor, *, is_script: bool = False
) -> tuple[Content, list[str]]:
    """All that a scorer needs of a classifier, and the kinds of its terms.

    ValueError if labels or states are neither text nor numbers or, in a script, equal,
    or networks are too large.
    """
    model = predictor.model
    cells = feature_cells(predictor.encoder)
    content: Content = {
        "classes": [_plain(label, "class") for label in predictor.classes.tolist()],
        "variables": [
            {"states": [v.label(code) for code in range(v.n_states)]}
            for v in model.domain.variables
        ],
        "cells": [_cell(own) for own in cells],
        "texts": [_texts(own) for own in cells],
        **patterns_content(cells, is_script=is_script),
        "parents": [list(model.feature_parents(f)) for f in range(len(cells))],
        **calibration_content(predictor),
    }
    readings = predictor.encoder.readings
    left_out = [own.name for own in readings if own.form == "left_out"]
    if left_out:
        content["left_out"] = left_out
    plan = predictor.encoder.rules.plan
    if plan is not None and plan.missing is not None:
        content["empty"] = ["", *plan.missing]
    has_markers = any(cell.reading.form in ("numbers", "truths") for cell in cells)
    if has_markers and predictor.encoder.rules.unknown != "error":
        content["markers"] = sorted(MISSING_MARKERS)
    if is_script:
        _check_texts_differ(content)
    program, kinds = program_content(program_of(model), is_script=is_script)
    return {**content, "program": program}, sorted(kinds)


def calibration_content(predictor: Predictor) -> Content:
    """What turns scores into probabilities, and these into decisions."""
    arrays = {
        "shift": predictor.prior_shift,
        "strengths": None if predictor.temperature == 1.0 else predictor.strengths,
        "loss": predictor.loss,
    }
    return {
        "temperature": predictor.temperature,
        **{n: None if array is None else packed(array) for n, array in arrays.items()},
    }


def patterns_content(cells: Sequence[FeatureCells], *, is_script: bool) -> Content:
    """Patterns of the texts that spell numbers and times, by what they are of."""
    patterns = {}
    forms = {cell.reading.form for cell in cells}
    if any(map(_may_spell_numbers, cells)):
        patterns["number"] = number_pattern()
    if forms & {"date", "duration"}:
        orders = {cell.reading.text.order for cell in cells if cell.reading.text}
        patterns |= {order: date_pattern(order) for order in {"y-m-d", *orders} - {""}}
        patterns["time"] = TIME.pattern
    if is_script:
        patterns = {name: of_script(pattern) for name, pattern in patterns.items()}
    return {"patterns": dict(sorted(patterns.items()))} if patterns else {}


def _may_spell_numbers(cell: FeatureCells) -> bool:
    """Whether texts of a column may stand for numbers."""
    if cell.reading.form in ("truths", "date", "duration"):
        return False
    return "numbers" in (cell.reading.form, _sort(cell))


def readers_of(content: Content) -> list[str]:
    """The readers of cells that a scorer of such content needs."""
    patterns = content.get("patterns", {})
    needed = {"Numbers": "number" in patterns, "Times": "time" in patterns}
    return [name for name, is_needed in needed.items() if is_needed]


def of_script(pattern: str) -> str:
    """A pattern in the words of JavaScript."""
    return pattern.replace("?P<", "?<").replace(r"[^\W\d_]", r"\p{L}")


def number_pattern() -> str:
    """The pattern of texts that spell numbers, with a name for each part."""
    return re.sub(r"\\x\{(\w+)\}", _escaped, NUMBER_PARTS)


def _escaped(code: re.Match[str]) -> str:
    """A character that both languages write so."""
    return f"\\u{code.group(1):0>4}"


def text_of(own: FeatureCells) -> Content:
    """How texts of a column are read; what is usual is left out."""
    form, zone = own.reading.text, own.reading.zone
    if form is None and zone is not None:
        form = TextForm("date", order="y-m-d", zone=zone)
    if form is None or form.kind == "text":
        return {}
    form = replace(form, use=None, parts=None)
    usual = {"kind": form.kind, "decimal": ".", "order": "y-m-d"}
    parts = {
        name: value
        for name, value in asdict(form).items()
        if value not in ("", (), None, usual.get(name))
    }
    if "month" in form.order:
        parts["months"] = MONTHS
    if "era" in form.order:
        parts["eras"] = ERAS
    return {"text": parts} if parts else {}


def time_of(cells: FeatureCells) -> Content:
    """What part of a date a variable is, and of a duration its unit."""
    parts: Content = {}
    if cells.part is not None:
        parts |= {"part": cells.part, "origin": cells.reading.origin or 0}
    if cells.reading.unit is not None:
        parts["unit"] = cells.reading.unit
    return parts


def _cell(own: FeatureCells) -> Content:
    """How a column becomes the codes of a variable."""
    reading = own.reading
    found: Content = {
        "column": own.column,
        "feature": own.variable.name,
        "form": reading.form,
        "missing": own.missing,
        "unknown": own.unknown,
        **text_of(own),
    }
    found |= time_of(own)
    if own.kind == "intervals":
        if own.variable.kind == "nominal":
            # Cut halfway between integers, of which the nearest is taken.
            found["nearest"] = True
        return {**found, "cuts": list(own.cut_points), "sort": _sort(own)}
    where = f"column {quoted(own.column)}"
    values = [_plain(value, where) for value in own.codes]
    return {
        **found,
        "values": values,
        "codes": list(own.codes.values()),
        "sort": _sort(own),
    }


def _sort(own: FeatureCells) -> str:
    """Whether a column's values are text or numbers; empty if both or unknown."""
    if own.kind == "intervals":
        return "numbers"
    other = own.variable.other_state
    sorts = {
        "text" if isinstance(value, str) else "numbers"
        for value in own.codes
        if other is None or value != other
    }
    return sorts.pop() if len(sorts) == 1 else ""


def _texts(own: FeatureCells) -> list[str] | None:
    """That the feature has each of its codes; None where name = state says so."""
    variable = own.variable
    labels = [variable.label(code) for code in range(own.n_codes)]
    texts = [stated(variable.name, label) for label in labels]
    plain = [f"{variable.name} = {label}" for label in labels]
    return None if texts == plain else texts


def _plain(value: Any, where: str) -> Any:
    """A label or state as JSON holds it."""
    found = value.item() if isinstance(value, np.generic) else value
    if not isinstance(found, str | bool | int | float):
        raise ValueError(
            f"{where} holds {quoted(value)}, a {type(value).__name__}, but a scorer "
            "holds text, numbers and booleans alone; convert it before fitting"
        )
    return found


def _check_texts_differ(content: Mapping[str, Any]) -> None:
    """Raise ValueError where JavaScript could not tell labels or states apart."""
    where = "the classes have labels"
    _check_exact(content["classes"], where)
    pair = equal_pair(content["classes"], _script_text)
    if pair is not None:
        raise _inseparable(where, f"{quoted(pair[0])} and {quoted(pair[1])}")
    for own in content["cells"]:
        where = f"column {quoted(own['column'])} has states"
        _check_exact(own.get("values", ()), where)


def _check_exact(values: Sequence[Any], where: str) -> None:
    """Raise ValueError where a double does not hold an integer."""
    for value in values:
        if isinstance(value, int) and _as_double(value) != value:
            raise _inseparable(where, f"{value} and integers next to it")


def _as_double(value: float) -> float:
    """A number in JavaScript, infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _script_text(label: Any) -> str:
    """The text of a label in JavaScript, where it is a key of the probabilities."""
    if isinstance(label, str | bool):
        return label if isinstance(label, str) else str(label).lower()
    # Both languages write the fewest digits, with an exponent from 1e21 on there.
    digits = repr(float(label))
    return digits if abs(label) >= 1e21 else f"{Decimal(digits).to_integral_value():f}"


def _inseparable(where: str, which: str) -> ValueError:
    """The error for values that are one in JavaScript."""
    return ValueError(
        f"{where} that JavaScript cannot tell apart: {which}; rename them, or write "
        "the scorer in Python (.py)"
    )


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
        rule = sharing.rule
        return [
            "Sharing",
            self.numbers(rule.strengths),
            [float(rule.rate), float(rule.base_rate)],
            [self.numbers(row) for row in sharing.alone_weights],
            [self.numbers(row) for row in sharing.deeper_weights],
            self.numbers(sharing.prior),
            self.numbers(sharing.alone_scales),
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
        least, strength = term.smoothing
        yield self.numbers(deeper_weights(term.weights))
        yield self.numbers(least)
        yield float(strength)

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
        tables = [list(self._entries(look)) for look in bank.looks]
        found = [len(bank.base), self.numbers(bank.base), tables]
        if bank.members is not None:
            found.append(self.integers(bank.members))
        return found

    def _entries(self, look: Look) -> Iterator[Any]:
        """A table without the columns before and behind that are zero."""
        filled = np.flatnonzero((look.rows != 0).any(axis=0)).tolist() or [0]
        first, last = filled[0], filled[-1]
        yield from self._look(replace(look, rows=look.rows[:, first : last + 1]))
        if look.gate is None:
            yield -1
        yield first
        yield look.rows.shape[1]


def compiled_tree(network: Factorisation) -> JunctionTree:
    """The junction tree of a network that a page can hold.

    ValueError if the cliques are too large for a page.
    """
    advice = (
        "a page can hold networks whose cliques have at most "
        f"{MOST_CELLS} cells together; give variables fewer states or parents, or ask "
        "with `bayleaf query`"
    )
    try:
        tree = JunctionTree.compile(network, max_table_cells=MOST_CELLS)
    except ValueError as error:
        raise ValueError(f"{str(error).split(';')[0]}; {advice}") from None
    cards = tree.product.cards
    cells = sum(tree.forest.table_cells(cards))
    if cells > MOST_CELLS:
        raise ValueError(
            f"exact inference in this network needs {cells} cells in all its cliques; "
            f"{advice}"
        )
    return tree


def tree_content(
    tree: JunctionTree, form: Callable[[Floats], Any] = packed
) -> dict[str, Any]:
    """A junction tree as plain values.

    Wide trees and grouped tables keep the auxiliary variables that take them apart,
    numbered from the network's own on. A term that is the whole table of a variable
    names it as its child. Tables come in a form, packed if no other is given.
    """
    product = tree.product
    whole = [form is Form.WHOLE for form in product.forms]
    return {
        "cards": list(product.cards),
        "terms": [
            {
                "family": list(term.family),
                "table": form(term.make()),
                **({"child": place} if place < len(whole) and whole[place] else {}),
            }
            for place, term in enumerate(product.terms)
        ],
        "cliques": [list(clique) for clique in tree.cliques],
        "links": [list(edge) for edge in tree.forest.edges],
    }
