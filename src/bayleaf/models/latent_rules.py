"""What the states of latent variables mean: disjoint rules over features."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import LatentTree, LatentVariable
from bayleaf.data.domain import Domain, Variable
from bayleaf.results.document import Document, Items, Table
from bayleaf.results.result import Result, Shown
from bayleaf.results.result_lists import ResultList
from bayleaf.wording import brief, counted, format_number, shown_name, stated

States = frozenset[int]

# Sets of a nested latent's states that are expanded for one state: deep trees of
# latents with many states would ask for endlessly many.
_MAX_EXPANSIONS = 300
# Rules of one state above which nested latents are not expanded.
MAX_RULES = 64
# Classes above which their probabilities are not written.
_CLASSES_SHOWN = 5
_WIDTH = 80
_NO_LATENTS = "no latent variables: every feature stands directly below the class"


@dataclass(frozen=True)
class Box:
    """A conjunction of conditions on nodes of a latent tree.

    `conditions` are the codes of which a node has one; `equalities` pairs of features
    with the same states, and whether they are equal or differ.
    """

    conditions: Mapping[int, States] = field(default_factory=dict)  # by node
    equalities: frozenset[tuple[int, int, bool]] = frozenset()

    def joined(self, other: Box) -> Box:
        """Both boxes at once; they are about different nodes."""
        conditions = {**self.conditions, **other.conditions}
        return Box(dict(sorted(conditions.items())), self.equalities | other.equalities)

    def without(self, node: int) -> tuple[object, ...]:
        """What the box says of all nodes but one, as a key."""
        rest = ((n, s) for n, s in self.conditions.items() if n != node)
        return frozenset(rest), self.equalities

    @property
    def order(self) -> Any:
        """A key to sort boxes by."""
        conditions = [(n, sorted(s)) for n, s in self.conditions.items()]
        return len(conditions), conditions, sorted(self.equalities)


class Cover:
    """Covers states of tree nodes by boxes over features.

    Where features would need more than `max_boxes`, a nested latent stays in the
    conditions instead of being expanded.
    """

    def __init__(
        self, tree: LatentTree, variables: Iterable[Variable], max_boxes: int
    ) -> None:
        self.tree, self.max_boxes = tree, max_boxes
        self.variables = tuple(variables)
        self._found: dict[tuple[int, States], list[Box]] = {}
        self._expansions_left = 0

    def of_state(self, node: int, state: int) -> list[Box]:
        """Disjoint boxes that hold exactly where a latent has a state, in order."""
        states = frozenset([state])
        self._expansions_left = _MAX_EXPANSIONS
        found = self._boxes(node, states)
        if found is None or self._expansions_left < 0:
            mask = self._mask(node, states)
            found = min((self._unexpanded(node, r) for r in rectangles(mask)), key=len)
        return sorted(found, key=lambda box: box.order)

    def _mask(self, node: int, states: States) -> NDArray[np.bool_]:
        """Cells of a latent at which it has one of some states."""
        latent = self.tree.latents[node - self.tree.n_features]
        return np.isin(latent.states, list(states))

    def _of(self, node: int, states: States) -> list[Box]:
        """Disjoint boxes that hold exactly where a node has one of some states."""
        if len(states) == self.tree.cards[node]:
            return [Box()]
        if node < self.tree.n_features:
            return [Box({node: states})]
        if (node, states) in self._found:
            return self._found[node, states]
        whole = [Box({node: states})]
        self._expansions_left -= 1
        if self._expansions_left < 0:
            return whole
        boxes = self._boxes(node, states) or whole
        if self._expansions_left >= 0:
            self._found[node, states] = boxes
        return boxes

    def _boxes(self, node: int, states: States) -> list[Box] | None:
        """Boxes over the features below a latent; None if there are too many."""
        latent = self.tree.latents[node - self.tree.n_features]
        mask = self._mask(node, states)
        if mask.all():
            return [Box()]
        comparison = self._comparison(latent, mask)
        if comparison:
            return [comparison]
        found = [self._expanded(latent, part) for part in rectangles(mask)]
        few = [boxes for boxes in found if boxes is not None]
        return min(few, key=len) if few else None

    def _comparison(
        self, latent: LatentVariable, mask: NDArray[np.bool_]
    ) -> Box | None:
        """A box that says that two features are equal, or differ, if that is all."""
        if max(latent.left, latent.right) >= self.tree.n_features:
            return None
        left, right = self.variables[latent.left], self.variables[latent.right]
        if (left.states, left.cut_points) != (right.states, right.cut_points):
            return None
        for equal, wanted in ((True, mask), (False, ~mask)):
            if np.array_equal(wanted, np.eye(left.n_states, dtype=bool)):
                pair = sorted((latent.left, latent.right))
                return Box({}, frozenset([(pair[0], pair[1], equal)]))
        return None

    def _expanded(
        self, latent: LatentVariable, parts: list[tuple[States, States]]
    ) -> list[Box] | None:
        """Boxes over features for rectangles of cells; None if there are too many."""
        boxes: list[Box] = []
        for done, (rows, columns) in enumerate(parts):
            # Each part that is still to come needs one box at least.
            allowed = self.max_boxes - len(boxes) - (len(parts) - done - 1)
            if allowed <= 0:
                return None
            left, right = self._of(latent.left, rows), self._of(latent.right, columns)
            if len(left) * len(right) > allowed:
                return None
            boxes += [a.joined(b) for a in left for b in right]
        return merged(boxes, self.tree.cards)

    def _unexpanded(self, node: int, parts: list[tuple[States, States]]) -> list[Box]:
        """Boxes over a latent's own children for rectangles of cells."""
        latent = self.tree.latents[node - self.tree.n_features]
        cards = self.tree.cards
        return [
            Box(
                {
                    child: states
                    for child, states in zip(
                        (latent.left, latent.right), part, strict=True
                    )
                    if len(states) < cards[child]
                }
            )
            for part in parts
        ]


def rectangles(mask: NDArray[np.bool_]) -> list[list[tuple[States, States]]]:
    """Two ways to cut marked cells into disjoint rectangles: equal rows, equal columns.

    Each rectangle is a set of rows and a set of columns.
    """
    by_rows = _equal_rows(mask)
    by_columns = [(rows, columns) for columns, rows in _equal_rows(mask.T)]
    return [by_rows, by_columns]


def _equal_rows(mask: NDArray[np.bool_]) -> list[tuple[States, States]]:
    """Sets of rows that are marked alike, with the columns marked in them."""
    groups: dict[bytes, list[int]] = {}
    for row, marked in enumerate(mask):
        if marked.any():
            groups.setdefault(marked.tobytes(), []).append(row)
    return [
        (frozenset(rows), frozenset(np.flatnonzero(mask[rows[0]]).tolist()))
        for rows in groups.values()
    ]


def merged(boxes: list[Box], cards: Sequence[int]) -> list[Box]:
    """Disjoint boxes with those joined that differ in one node's states alone.

    A condition that has come to allow all states of its node is dropped.
    """
    nodes = sorted({node for box in boxes for node in box.conditions})
    count = len(boxes) + 1
    while len(boxes) < count:
        count = len(boxes)
        for node in nodes:
            boxes = _merged_along(boxes, node, cards[node])
    return boxes


def _merged_along(boxes: list[Box], node: int, card: int) -> list[Box]:
    """Disjoint boxes with those joined that differ in this node's states alone."""
    found = [box for box in boxes if node not in box.conditions]
    groups: dict[tuple[object, ...], list[Box]] = {}
    for box in boxes:
        if node in box.conditions:
            groups.setdefault(box.without(node), []).append(box)
    for members in groups.values():
        conditions = dict(members[0].conditions)
        states = frozenset(code for box in members for code in box.conditions[node])
        if len(states) == card:
            del conditions[node]
        else:
            conditions[node] = states
        found.append(Box(conditions, members[0].equalities))
    return found


@dataclass(frozen=True, eq=False)
class Rule(Shown):
    """A conjunction of conditions on features.

    Parameters
    ----------
    box : Box
        The conditions by node and code.
    variables : tuple of Variable
        Names and states of all nodes of the tree, latents after the features.
    """

    box: Box
    variables: tuple[Variable, ...]

    @property
    def conditions(self) -> dict[str | int, frozenset[Any]]:
        """The states allowed, by the name of the feature.

        A latent's name stands here where its features would need too many rules.
        """
        return {
            self.variables[node].name: frozenset(
                self.variables[node].states[code] for code in codes
            )
            for node, codes in self.box.conditions.items()
        }

    def holds(self, columns: Sequence[NDArray[np.integer[Any]]]) -> NDArray[np.bool_]:
        """Rows in which all conditions are known to hold.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_rows,)
            Codes of all nodes: `LatentTree.node_codes`.
        """
        found = np.ones(len(columns[0]), dtype=bool)
        for node, codes in self.box.conditions.items():
            found &= np.isin(columns[node], list(codes))
        for first, second, equal in self.box.equalities:
            found &= (columns[first] == columns[second]) == equal
            for node in (first, second):
                found &= columns[node] < self.variables[node].n_states
        return found

    def __repr__(self) -> str:
        return brief(self, self)

    def __str__(self) -> str:
        names = [shown_name(variable.name) for variable in self.variables]
        texts = [
            f"{names[first]} {'=' if equal else '!='} {names[second]}"
            for first, second, equal in sorted(self.box.equalities)
        ]
        texts += [
            condition_text(self.variables[node], codes)
            for node, codes in self.box.conditions.items()
        ]
        return " and ".join(texts) if texts else "always"

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values, ready for JSON."""
        return {
            "text": str(self),
            "conditions": {
                str(self.variables[node].name): [
                    self.variables[node].label(code) for code in sorted(codes)
                ]
                for node, codes in self.box.conditions.items()
            },
            "comparisons": [
                [
                    str(self.variables[first].name),
                    "=" if equal else "!=",
                    str(self.variables[second].name),
                ]
                for first, second, equal in sorted(self.box.equalities)
            ],
        }


@dataclass(frozen=True, eq=False)
class LatentState(Shown):
    """One state of a latent variable.

    Parameters
    ----------
    rules : tuple of Rule
        Disjoint; the latent has this state where one of them holds.
    n : float
        Training rows in the state.
    class_probabilities : ndarray of shape (n_classes,)
        P(class | state).
    lift : ndarray of shape (n_classes,)
        P(class | state) / P(class).
    class_shares : ndarray of shape (n_classes,), optional
        Share of each class among the training rows in the state, where known. The
        model's P(class | state) differs: it is smoothed, and a nested state's follows
        from that of the latent variable above it.
    """

    rules: tuple[Rule, ...]
    n: float
    class_probabilities: NDArray[np.float64]
    lift: NDArray[np.float64]
    class_shares: NDArray[np.float64] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The state as plain values, ready for JSON."""
        return {
            "rules": [rule.to_dict() for rule in self.rules],
            "n": float(self.n),
            "class_probabilities": self.class_probabilities.tolist(),
            "lift": self.lift.tolist(),
            "class_shares": (
                None if self.class_shares is None else self.class_shares.tolist()
            ),
        }

    def __repr__(self) -> str:
        first = f"{self.rules[0]}" if self.rules else "no row has it"
        rules = f"{counted(len(self.rules), 'rule')}, the first: {first}"
        return brief(self, f"{format_number(self.n)} training rows", rules)


@dataclass(frozen=True, eq=False)
class LatentReport(Result):
    """One latent variable in words.

    Parameters
    ----------
    name : str
        Its name in the network.
    node : int
        Its index in the tree.
    children : tuple of str or int
        Names of its two children.
    cells : ndarray of shape (left card, right card)
        State of the latent for each joint state of the two children.
    states : tuple of LatentState
        Its states, in order.
    """

    name: str
    node: int
    children: tuple[str | int, ...]
    cells: NDArray[np.intp]
    states: tuple[LatentState, ...]

    @property
    def n_cells(self) -> int:
        """Joint states of the two children, collapsed into the states."""
        return int(self.cells.size)

    @property
    def shares(self) -> list[float]:
        """Share of each state in the training rows in which the state is known."""
        n_rows = sum(state.n for state in self.states)
        return [state.n / n_rows if n_rows else 0.0 for state in self.states]

    @property
    def is_irrelevant(self) -> bool:
        """Whether one state is left: the features tell nothing given the class."""
        return len(self.states) == 1

    def document(self) -> Document:
        """The rules of each state, and its share of the training rows."""
        names = " and ".join(map(shown_name, self.children))
        title = f"{shown_name(self.name)} joins {names}"
        rows = [
            (str(number), f"{100 * share:.1f} %", meaning_of(state.rules))
            for number, (state, share) in enumerate(zip(self.states, self.shares), 1)
        ]
        table = Table(("state", "rows", "rule"), rows, title, n_words=3)
        lines = [
            f"state {state}, {share} of rows: {rule}" for state, share, rule in rows
        ]
        return Document("", [Items(lines, title, table=table)])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, ready for JSON."""
        return {
            "name": self.name,
            "children": [str(child) for child in self.children],
            "n_cells": self.n_cells,
            "irrelevant": self.is_irrelevant,
            "states": [state.to_dict() for state in self.states],
        }

    def __repr__(self) -> str:
        children = " and ".join(map(shown_name, self.children))
        states = counted(len(self.states), "state")
        return brief(self, f"{self.name} joins {children}", states)


class LatentList(ResultList[LatentReport]):
    """The latent variables of a model; a table with a row per state when printed."""

    def to_arrow(self) -> pa.Table:
        """A row per state of each latent variable.

        Returns
        -------
        pyarrow.Table
            The columns "latent", "children" (a list of names), "state" (from 1),
            "meaning" (the state's rules, with "or" between them) and "share" (of the
            training rows in which the state is known).
        """
        columns: dict[str, list[Any]] = {
            head: [] for head in ("latent", "children", "state", "meaning", "share")
        }
        for report in self:
            children = [str(child) for child in report.children]
            pairs = zip(report.states, report.shares, strict=True)
            for number, (state, share) in enumerate(pairs, start=1):
                cells = report.name, children, number, meaning_of(state.rules), share
                for column, cell in zip(columns.values(), cells, strict=True):
                    column.append(cell)
        types = (pa.string(), pa.list_(pa.string()), pa.int64(), pa.string())
        return pa.table(columns, pa.schema(zip(columns, (*types, pa.float64()))))

    def to_pandas(self) -> Any:
        """The same table as a data frame of pandas."""
        return self.to_arrow().to_pandas()

    def document(self) -> Document:
        """All latent variables, one below the other."""
        parts = [part for report in self for part in report.document().parts]
        return Document("", parts or [_NO_LATENTS])

    def __str__(self) -> str:
        # Laying out tables takes a library that reports do without.
        from bayleaf.results.text import text_of

        return text_of(self.document(), _WIDTH)


def latent_names(domain: Domain, tree: LatentTree) -> list[str]:
    """Names of the latent variables of a tree: `numbered_names`."""
    return numbered_names(domain, len(tree.latents))


def numbered_names(domain: Domain, n_latents: int) -> list[str]:
    """Names of latent variables: L1, L2, ... unless a variable is called so.

    Neither a name nor that of the latent's cells is one of the domain's.
    """
    taken = {str(name) for name in domain.names}
    names = []
    for number in range(1, n_latents + 1):
        name = f"L{number}"
        while name in taken or cells_name(name) in taken:
            name = f"latent {name}"
        names.append(name)
    return names


def cells_name(name: str) -> str:
    """Name of the variable for the cells of a latent variable."""
    return f"{name} cells"


def state_rules(
    domain: Domain, tree: LatentTree, max_rules: int = MAX_RULES
) -> list[tuple[tuple[Rule, ...], ...]]:
    """Rules of every state of every latent variable.

    The rules of one latent are disjoint and cover all rows. Where a state would need
    more than `max_rules`, nested latents stay in its rules by name.
    """
    features = domain.variables[: tree.n_features]
    numbered = [
        Variable(name, tuple(str(state + 1) for state in range(latent.n_states)))
        for name, latent in zip(latent_names(domain, tree), tree.latents, strict=True)
    ]
    variables = (*features, *numbered)
    cover = Cover(tree, features, max_rules)
    return [
        tuple(
            tuple(Rule(box, variables) for box in cover.of_state(node, state))
            for state in range(latent.n_states)
        )
        for node, latent in enumerate(tree.latents, start=tree.n_features)
    ]


def condition_text(variable: Variable, codes: frozenset[int]) -> str:
    """Say that a variable has one of some states; not all of them."""
    if variable.kind == "numeric":
        return _interval_text(variable, codes)
    name = shown_name(variable.name)
    others = [c for c in range(variable.n_states) if c not in codes]
    inside, outside = (
        [variable.label(code) for code in chosen] for chosen in (sorted(codes), others)
    )
    if len(inside) == 1:
        return stated(name, inside[0])
    if len(outside) == 1:
        return f"{name} != {outside[0]}"
    if len(outside) < len(inside):
        return f"{name} not in {{{', '.join(outside)}}}"
    return f"{name} in {{{', '.join(inside)}}}"


def _interval_text(variable: Variable, codes: frozenset[int]) -> str:
    """Say that a number lies in some intervals; adjacent ones are joined."""
    name = shown_name(variable.name)
    n_intervals = variable.n_known_states
    texts = []
    for _, run in itertools.groupby(
        enumerate(sorted(code for code in codes if code < n_intervals)),
        key=lambda item: item[1] - item[0],
    ):
        members = [code for _, code in run]
        texts.append(_joined_intervals(variable, name, members[0], members[-1]))
    if len(codes) > sum(code < n_intervals for code in codes):
        texts.append(stated(name, "missing"))
    return texts[0] if len(texts) == 1 else f"({' or '.join(texts)})"


def _joined_intervals(variable: Variable, name: str, first: int, last: int) -> str:
    """Say that a number lies between the ends of two intervals, both included."""
    bounds = variable.bounds
    is_first, is_last = first == 0, last == len(bounds)
    if is_first and is_last:
        return f"{name} is not missing"
    if is_first:
        return f"{name} <= {bounds[last]}"
    low = bounds[first - 1]
    return f"{name} > {low}" if is_last else f"{name} in ({low}, {bounds[last]}]"


def meaning_of(rules: tuple[Rule, ...]) -> str:
    """All rules of a state as one text."""
    return " or ".join(map(str, rules))


def name_of_state(rules: tuple[Rule, ...]) -> str | None:
    """A state's rule as its name, if it has one and that is short."""
    text = str(rules[0])
    return text if len(rules) == 1 and len(text) <= 30 else None


def rules_text(reports: Sequence[LatentReport], class_variable: Variable) -> str:
    """Write latent variables, their states and rules as aligned tables."""
    classes = [class_variable.label(code) for code in range(class_variable.n_states)]
    if not reports:
        return _NO_LATENTS
    return "\n\n".join(_report_text(report, classes) for report in reports)


def _report_text(report: LatentReport, classes: Sequence[str]) -> str:
    """One latent variable as a title and a table with one line a rule."""
    title = f"{report.name}: {' and '.join(shown_name(c) for c in report.children)}"
    if report.is_irrelevant:
        return "\n".join(_title(f"{title}: irrelevant given the class"))
    if len(report.states) < report.n_cells:
        title += f", {report.n_cells} cells collapsed into {len(report.states)} states"
    shown = range(len(classes) if len(classes) <= _CLASSES_SHOWN else 0)
    heads = ["state", "N", *(f"P({classes[c]})" for c in shown), "most raised class"]
    lines = [[*heads, "rules"]]
    for number, state in enumerate(report.states, start=1):
        best = int(np.argmax(state.lift))
        facts = [
            str(number),
            f"{state.n:.0f}" if state.n.is_integer() else f"{state.n:.1f}",
        ]
        facts += [_probability_text(state, c) for c in shown]
        facts.append(f"{classes[best]} x {state.lift[best]:.2f}")
        for rule in state.rules:
            lines.append([*facts, str(rule)])
            facts = [""] * len(facts)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    told = [_aligned(line, widths) for line in lines]
    if max(map(len, told)) > _WIDTH:
        told = [
            text
            for line in lines[1:]
            for text in _stacked([*heads[:-1], "raises"], line)
        ]
    return "\n".join([*_title(title), *told])


def _probability_text(state: LatentState, class_code: int) -> str:
    """P(class | state) of the model, and the class's share of the rows where known."""
    text = f"{state.class_probabilities[class_code]:.3f}"
    if state.class_shares is None:
        return text
    return f"{text} ({state.class_shares[class_code]:.3f} of N)"


def _title(text: str) -> list[str]:
    """A title, over several lines if it is long."""
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")


def _stacked(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    """One rule below the facts of its state, where they do not fit on one line."""
    *facts, rule = cells
    told = ", ".join(f"{head} {fact}" for head, fact in zip(heads, facts) if fact)
    lines = textwrap.wrap(told, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    rules = textwrap.wrap(
        rule, _WIDTH, initial_indent="    - ", subsequent_indent="      "
    )
    return [*lines, *rules]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line of a table; numbers to the right, the lift and the rule to the left."""
    *numbers, lift, rule = cells
    *number_widths, lift_width = widths
    right = [
        text.rjust(width) for text, width in zip(numbers, number_widths, strict=True)
    ]
    return "  ".join(["", *right, lift.ljust(lift_width), rule]).rstrip()
