"""Value hierarchies over codes: what a split on a node branches into."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from bayleaf.data.domain import Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, check_covers

ROOT = 0


@dataclass(frozen=True)
class ValueNodes:
    """Value hierarchy whose nodes, in preorder, and states are numbers."""

    children: tuple[tuple[int, ...], ...]  # of each node; none, or at least two
    states: tuple[tuple[int, ...], ...]  # codes under each node, increasing

    def groups(self, node: int) -> tuple[tuple[int, ...], ...]:
        """Codes of each branch of a split on a node."""
        return self._groups[node]

    @cached_property
    def _groups(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Codes of each branch of a split on each node."""
        return tuple(
            tuple(self.states[child] for child in children)
            for children in self.children
        )


def value_nodes(hierarchy: ValueHierarchy, variable: Variable) -> ValueNodes:
    """Translate a hierarchy over a variable's states into numbers.

    A missing state that the hierarchy lacks becomes a branch of the root. ValueError if
    the leaves are not the variable's states.
    """
    return _value_nodes(hierarchy, variable.name, variable.states)


@lru_cache(maxsize=4096)
def _value_nodes(
    hierarchy: ValueHierarchy, name: str | int, states: tuple[Hashable, ...]
) -> ValueNodes:
    """Translate a hierarchy; searches ask for the same ones over and over."""
    check_covers(hierarchy, name, states)
    index = {state: code for code, state in enumerate(states)}
    below: list[list[int]] = [[] for _ in hierarchy.nodes]
    for node, parent in enumerate(hierarchy.parents):
        if parent >= 0:
            below[parent].append(node)
    children: list[tuple[int, ...]] = []
    groups: list[tuple[int, ...]] = []

    def add(node: int, extra: Sequence[int] = ()) -> int:
        """Number a node and all below it, extra states as its last branches."""
        while len(below[node]) == 1 and not extra:
            node = below[node][0]
        own = len(children)
        children.append(())
        groups.append(())
        if below[node]:
            under = [add(child) for child in below[node]]
        elif extra:
            under = [add_state(index[hierarchy.nodes[node]])]
        else:
            groups[own] = (index[hierarchy.nodes[node]],)
            return own
        under += [add_state(code) for code in extra]
        children[own] = tuple(under)
        groups[own] = tuple(sorted(code for child in under for code in groups[child]))
        return own

    def add_state(code: int) -> int:
        children.append(())
        groups.append((code,))
        return len(children) - 1

    has_missing = bool(states) and states[-1] is None and None not in hierarchy
    add(ROOT, [len(states) - 1] if has_missing else [])
    return ValueNodes(tuple(children), tuple(groups))
