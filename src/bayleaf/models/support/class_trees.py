"""Trees that add to an average's scores what conjunctions of states say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.latent_rules import Box, Rule
from bayleaf.native.class_trees import Nodes, add_class_trees
from bayleaf.results.result import Shown
from bayleaf.scoring.terms import Tree
from bayleaf.wording import brief_fields, format_number, in_bits

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
States = frozenset[int]


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """Trees of which each adds nats to one class.

    A row starts at a tree's root and goes left where its state of the node's feature is
    the node's, or, for an ordered feature, at or below it. It ends in a leaf, or where
    the state is unknown, and the class gets the value found there. Nodes are stored
    tree after tree, each from its root on; right children follow left ones.
    """

    n_classes: int
    classes: Whole  # (n_trees,), the class that each tree adds to
    is_ordered: NDArray[np.bool_]  # (n_features,), whether states are intervals
    features: Whole  # (n_nodes,), -1 for a leaf
    states: Whole  # (n_nodes,)
    children: Whole  # (n_nodes,), the left child
    values: Floats  # (n_nodes,), nats of a row that ends there; 0 at roots
    rows: Floats  # (n_nodes,), training weight that the node was learned from

    __repr__ = brief_fields

    @classmethod
    def of(
        cls, n_classes: int, classes: Whole, is_ordered: NDArray[np.bool_], nodes: Nodes
    ) -> ClassTrees:
        """Trees of nodes; see the parameters."""
        return cls(n_classes, classes, is_ordered, *nodes)

    def __post_init__(self) -> None:
        sizes = {len(column) for column in self._nodes}
        if len(sizes) != 1 or len(self.roots) != len(self.classes):
            raise ValueError("the nodes of class trees do not fit their trees")

    def check_content(self) -> None:
        """Raise ValueError unless all nodes make sense."""
        if (
            not (np.abs(self.values) <= MOST_WEIGHT).all()
            or self.values[self.roots].any()
        ):
            raise ValueError("a class tree holds a value that is none or huge")
        if not (self.rows >= 0).all():
            raise ValueError("a node of a class tree has no number of rows")

    def check_fit(self, cards: tuple[int, ...]) -> None:
        """Raise ValueError unless they are over features and a class like these."""
        fits = len(self.is_ordered) == len(cards) - 1 and self.n_classes == cards[-1]
        if not fits:
            raise ValueError("class trees do not fit the features and classes")
        nobody = np.empty((0, cards[-1]))
        empty = Codes.from_columns(
            [np.empty(0, np.uint16)] * (len(cards) - 1), cards[:-1]
        )
        self.add(empty, nobody)

    @cached_property
    def _nodes(self) -> Nodes:
        return Nodes(self.features, self.states, self.children, self.values, self.rows)

    @cached_property
    def roots(self) -> Whole:
        """The trees' first nodes."""
        return self._nodes.roots

    @property
    def n_parameters(self) -> int:
        """Free numbers: the leaves' values."""
        return int(np.count_nonzero(self.features < 0))

    def changes(self, codes: Codes, n_features: int) -> Floats:
        """What each split on a row's way changes, by the split's feature.

        Shape (n_rows, n_classes, n_features, 2), nats: those of first splits, where a
        feature speaks alone, and those of later ones.
        """
        changes = np.zeros((codes.n_rows, self.n_classes, n_features, 2))
        self.add(codes, changes)
        return changes

    def alone(self, feature: int, codes: Codes) -> Floats:
        """What first splits on a feature add, by row and class."""
        return np.ascontiguousarray(
            self.changes(codes, len(self.is_ordered))[:, :, feature, 0]
        )

    def terms(self, cards: Sequence[int]) -> Iterator[Tree]:
        """A term each."""
        ends = [*self.roots[1:].tolist(), len(self.features)]
        for label, root, end in zip(self.classes, self.roots, ends, strict=True):
            nodes = slice(int(root), end)
            features = self.features[nodes]
            yield Tree(
                int(label),
                np.asarray(cards[:-1]),
                features,
                self.states[nodes],
                self.children[nodes] - root,
                self.is_ordered[features],
                self.values[nodes],
            )

    def add(self, codes: Codes, values: Floats) -> None:
        """Add all trees to values of shape (n_rows, n_classes), or see `changes`."""
        add_class_trees(
            codes.narrow,
            codes.wide,
            np.array(codes.slots[: len(self.is_ordered)], dtype=np.int64),
            codes.n_rows,
            np.array(codes.cards[: len(self.is_ordered)], dtype=np.int64),
            self.is_ordered,
            self.roots,
            self.classes,
            self._nodes,
            values,
        )


@dataclass(frozen=True, eq=False)
class TreeRule(Shown):
    """A conjunction of states, and what it adds to the score of a class."""

    rule: Rule
    label: Any  # class; with two classes, against the first
    nats: float  # added to the score
    rows: float  # training weight among those that the trees grew on

    def __str__(self) -> str:
        rows = format_number(self.rows)
        bits = f"{in_bits(self.nats):+.3f} bits"
        return f"{bits} for {self.label} where {self.rule} ({rows} rows)"

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values, ready for JSON."""
        return {
            **self.rule.to_dict(),
            "class": self.label,
            "nats": self.nats,
            "rows": self.rows,
        }


def tree_rules(
    trees: ClassTrees | None, domain: Domain, labels: tuple[Any, ...]
) -> list[TreeRule]:
    """All leaves as rules, those that move most scores by most first.

    Equal conjunctions of several trees are one rule, which adds what they add together.
    """
    found: dict[tuple[Any, ...], TreeRule] = {}
    if trees is None:
        return []
    variables = domain.variables
    for root, own_class in zip(trees.roots.tolist(), trees.classes.tolist()):
        ways: list[tuple[int, dict[int, States]]] = [(root, {})]
        while ways:
            node, conditions = ways.pop()
            if trees.features[node] >= 0:
                ways += _children(trees, variables, node, conditions)
                continue
            key = (own_class, frozenset(conditions.items()))
            before = found[key].nats if key in found else 0.0
            box = Box(dict(sorted(conditions.items())))
            found[key] = TreeRule(
                Rule(box, variables),
                labels[own_class],
                before + float(trees.values[node]),
                float(trees.rows[node]),
            )
    return sorted(found.values(), key=lambda rule: -abs(rule.nats) * rule.rows)


def _children(
    trees: ClassTrees,
    variables: tuple[Variable, ...],
    node: int,
    conditions: dict[int, States],
) -> list[tuple[int, dict[int, States]]]:
    """The two nodes below, each with the states that lead to it."""
    feature, state = int(trees.features[node]), int(trees.states[node])
    every = frozenset(range(variables[feature].n_states))
    known = conditions.get(feature, every)
    asked = frozenset(range(state + 1)) if trees.is_ordered[feature] else {state}
    left = int(trees.children[node])
    return [
        (left, {**conditions, feature: known & asked}),
        (left + 1, {**conditions, feature: known - asked}),
    ]
