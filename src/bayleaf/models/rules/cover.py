"""States of a latent variable as disjoint boxes of feature states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import LatentTree, LatentVariable
from bayleaf.data.domain import Variable

States = frozenset[int]

# Sets of a nested latent's states that are expanded for one state: deep trees of
# latents with many states would ask for endlessly many.
_MAX_EXPANSIONS = 300


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
