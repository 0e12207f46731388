"""Class trees as rules: conjunctions, what they add, and the rows behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.models.rules.cover import Box
from bayleaf.models.rules.latent_rules import Rule
from bayleaf.models.support.class_trees import ClassTrees
from bayleaf.wording import format_number

States = frozenset[int]


@dataclass(frozen=True, eq=False)
class TreeRule:
    """A conjunction of states, and what it adds to the score of a class."""

    rule: Rule
    label: Any  # class; with two classes, against the first
    nats: float  # added to the score
    rows: float  # training weight among those that the trees grew on

    def __str__(self) -> str:
        rows = format_number(self.rows)
        return f"{self.nats:+.3f} nats for {self.label} where {self.rule} ({rows} rows)"

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
