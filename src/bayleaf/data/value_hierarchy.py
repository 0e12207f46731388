"""Trees over the states of a variable: groups of states with names of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayleaf.results.result import Shown
from bayleaf.typing import JSON, ByLabel
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    name_list,
    near_names,
    quoted,
    shown_name,
)

# Deeper trees than this are refused, so that no walk runs out of stack.
MAX_DEPTH = 100


@dataclass(frozen=True)
class ValueHierarchy(Shown):
    """An attribute-value hierarchy: inner nodes stand for groups of states.

    Built by `from_nested`; the nodes stand in preorder, the root first.

    Parameters
    ----------
    nodes : tuple of hashable
        Names of all nodes, inner nodes and states alike, all different.
    parents : tuple of int
        Position of each node's parent; -1 for the root, else below the node's own.

    Raises
    ------
    ValueError
        If a name occurs twice, or the positions are no tree in preorder.

    Notes
    -----
    desJardins, Rathod and Getoor (2008), section 2.2, call these trees AVHs; a *cut* is
    a set of nodes of which every state has exactly one above it or is one.
    """

    nodes: tuple[Hashable, ...]
    parents: tuple[int, ...]
    _index: dict[Hashable, int] = field(init=False, repr=False, compare=False)
    _ends: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _children: tuple[tuple[Hashable, ...], ...] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not self.nodes or len(self.parents) != len(self.nodes):
            raise ValueError(
                "a value hierarchy needs a root, and a parent for the rest"
            )
        path: list[int] = []
        ends = [0] * len(self.nodes)
        for node, parent in enumerate(self.parents):
            while path and path[-1] != parent:
                ends[path.pop()] = node
            if (node == 0) != (parent == -1) or (node > 0 and not path):
                raise ValueError("the value hierarchy is no tree in preorder")
            path.append(node)
            if len(path) > MAX_DEPTH:
                raise ValueError(f"the value hierarchy is deeper than {MAX_DEPTH}")
        for node in path:
            ends[node] = len(self.nodes)
        index = {name: i for i, name in enumerate(self.nodes)}
        if len(index) != len(self.nodes):
            raise ValueError(_used_twice(self.nodes, self.parents))
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_ends", tuple(ends))
        children: list[list[Hashable]] = [[] for _ in self.nodes]
        for name, parent in zip(self.nodes[1:], self.parents[1:], strict=True):
            children[parent].append(name)
        object.__setattr__(self, "_children", tuple(map(tuple, children)))

    @classmethod
    def from_nested(cls, nested: ByLabel[object]) -> ValueHierarchy:
        """Build the tree from nested mappings and lists.

        Parameters
        ----------
        nested : mapping
            The root's name and what is below it: a mapping from names of inner nodes
            to what is below them, or a list of states, or of both.

        Raises
        ------
        ValueError
            If there is not one root, an inner node has nothing below it, or a name
            occurs twice.

        Examples
        --------
        >>> tree = ValueHierarchy.from_nested(
        ...     {"any": {"warm": ["red", "orange"], "cold": ["blue", "green"]}}
        ... )
        >>> tree.states_under("warm")
        ('red', 'orange')
        """
        if not isinstance(nested, Mapping) or len(nested) != 1:
            raise ValueError("a value hierarchy starts at one root; give {root: ...}")
        nodes: list[Hashable] = []
        parents: list[int] = []
        open_items: list[tuple[Hashable, Any, int, int]] = [
            (*next(iter(nested.items())), -1, 1)
        ]
        while open_items:
            name, below, parent, depth = open_items.pop()
            if depth > MAX_DEPTH:
                raise ValueError(f"the value hierarchy is deeper than {MAX_DEPTH}")
            nodes.append(name)
            parents.append(parent)
            if below is None:
                continue
            items = list(_items(name, below))
            position = len(nodes) - 1
            open_items += [(*item, position, depth + 1) for item in reversed(items)]
        return cls(tuple(nodes), tuple(parents))

    @property
    def root(self) -> Hashable:
        """Name of the node above all others."""
        return self.nodes[0]

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The leaves in order."""
        return self.states_under(self.root)

    @property
    def inner_nodes(self) -> tuple[Hashable, ...]:
        """Names of the nodes that are no states, the root first."""
        return tuple(name for i, name in enumerate(self.nodes) if self._ends[i] > i + 1)

    def __repr__(self) -> str:
        states = f"{counted(len(self.states), 'state')} ({brief_names(self.states)})"
        groups = f"{counted(len(self.inner_nodes), 'group')}"
        return brief(self, states, f"{groups} ({brief_names(self.inner_nodes)})")

    def __str__(self) -> str:
        """One line a node, indented below its parent."""
        depths = [0]
        for parent in self.parents[1:]:
            depths.append(depths[parent] + 1)
        return "\n".join(
            f"{'  ' * depth}{'missing' if name is None else shown_name(name)}"
            for depth, name in zip(depths, self.nodes, strict=True)
        )

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def states_under(self, name: Hashable) -> tuple[Hashable, ...]:
        """States in the group that a node stands for; a state stands for itself.

        Raises
        ------
        KeyError
            If there is no such node.
        """
        start = self._position(name)
        return tuple(
            self.nodes[i]
            for i in range(start, self._ends[start])
            if self._ends[i] == i + 1
        )

    def children_of(self, name: Hashable) -> tuple[Hashable, ...]:
        """Names of the nodes just below a node."""
        return self._children[self._position(name)]

    def parent_of(self, name: Hashable) -> Hashable | None:
        """Name of the node just above a node; None above the root."""
        parent = self.parents[self._position(name)]
        return None if parent < 0 else self.nodes[parent]

    def is_cut(self, names: Sequence[Hashable]) -> bool:
        """Whether every state is under exactly one of the named nodes."""
        covered = [state for name in names for state in self.states_under(name)]
        return len(covered) == len(self.states) and set(covered) == set(self.states)

    def to_nested(self) -> dict[Hashable, JSON]:
        """The tree as nested mappings and lists, as `from_nested` reads it."""
        below: list[Any] = [None] * len(self.nodes)
        for node in reversed(range(len(self.nodes))):
            under = range(node + 1, self._ends[node])
            children = [i for i in under if self.parents[i] == node]
            if not children:
                continue
            if all(below[i] is None for i in children):
                below[node] = [self.nodes[i] for i in children]
            else:
                below[node] = {self.nodes[i]: below[i] for i in children}
        return {self.root: below[0]}

    def _position(self, name: Hashable) -> int:
        """Position of a node; KeyError names near ones."""
        if name not in self._index:
            known = [str(node) for node in self.nodes]
            raise KeyError(
                f"the value hierarchy has no node {quoted(name)}; "
                f"{near_names(str(name), known)}"
            )
        return self._index[name]


def _items(name: Hashable, below: Any) -> Iterator[tuple[Hashable, Any]]:
    """Names and contents of what stands below an inner node; states contain None."""
    if isinstance(below, str) or not isinstance(below, Mapping | Sequence) or not below:
        raise ValueError(
            f"node {quoted(name)} of the value hierarchy needs a list of states or a "
            f"mapping of nodes below it, got {below!r:.40}"
        )
    if isinstance(below, Mapping):
        yield from below.items()
        return
    for item in below:
        if isinstance(item, Mapping):
            yield from item.items()
        elif isinstance(item, Hashable):
            yield item, None
        else:
            raise ValueError(
                f"a list below node {quoted(name)} of the value hierarchy holds "
                f"{item!r:.40}; name states or give a mapping"
            )


def _used_twice(nodes: Sequence[Hashable], parents: Sequence[int]) -> str:
    """What to say of a name that stands for two nodes."""
    first: dict[Hashable, int] = {}
    second = next(i for i, name in enumerate(nodes) if first.setdefault(name, i) != i)
    places = [
        f"below {quoted(nodes[parents[i]])}" if i else "as the root"
        for i in (first[nodes[second]], second)
    ]
    return (
        f"the value hierarchy uses the name {quoted(nodes[second])} twice, {places[0]} "
        f"and {places[1]}; give every node a name of its own"
    )


def check_covers(
    hierarchy: ValueHierarchy, name: str | int, states: Sequence[Hashable]
) -> None:
    """Raise unless the leaves of a hierarchy are a variable's states."""
    leaves = set(hierarchy.states)
    absent = [state for state in states if state is not None and state not in leaves]
    extra = [leaf for leaf in hierarchy.states if leaf not in set(states)]
    if absent or extra:
        problem = "lacks" if absent else "has no such state as"
        raise ValueError(
            f"the value hierarchy of variable {quoted(name)} does not fit: the "
            f"{'hierarchy' if absent else 'variable'} {problem} "
            f"{name_list(absent or extra)}"
        )


# Names of nodes in preorder, of which every state has exactly one above it or is one.
Cut = tuple[Hashable, ...]
# Indices of states, increasing.
StateGroup = tuple[int, ...]


def flat_hierarchy(states: Sequence[Hashable]) -> ValueHierarchy:
    """The trivial hierarchy: a root right above all states.

    A missing state, ``None``, becomes a leaf as well; a single state is a root itself.
    The root is called "any", with underscores where a state is. The only cut below it
    is the states, so searches over cuts become searches over whole variables.
    """
    if len(states) == 1:
        return ValueHierarchy((states[0],), (-1,))
    root = "any"
    while root in states:
        root += "_"
    return ValueHierarchy((root, *states), (-1, *[0] * len(states)))


def top_cut(hierarchy: ValueHierarchy) -> Cut:
    """The coarsest cut that tells anything: the children of the root."""
    return hierarchy.children_of(hierarchy.root) or (hierarchy.root,)


def cut_groups(
    hierarchy: ValueHierarchy, cut: Cut, states: Sequence[Hashable]
) -> tuple[StateGroup, ...]:
    """Increasing indices into `states` that each node of a cut stands for.

    ValueError if the nodes leave out a state or cover one twice; KeyError for other
    nodes.
    """
    index = {state: i for i, state in enumerate(states)}
    under = [hierarchy.states_under(name) for name in cut]
    covered = [state for group in under for state in group]
    if len(covered) != len(index) or set(covered) != set(index):
        absent = [state for state in states if state not in set(covered)]
        problem = f"leave out {name_list(absent)}" if absent else "overlap"
        raise ValueError(
            f"the nodes {name_list(cut)} are no cut of the value hierarchy, as they "
            f"{problem}; name nodes with every state under exactly one"
        )
    return tuple(tuple(sorted(index[state] for state in group)) for group in under)


def refinable(hierarchy: ValueHierarchy, cut: Cut) -> Cut:
    """The nodes of a cut that stand for groups, so that `refine` can replace them."""
    return tuple(name for name in cut if hierarchy.children_of(name))


def abstractable(hierarchy: ValueHierarchy, cut: Cut) -> Cut:
    """The nodes, in preorder, whose children all stand in a cut; never the root."""
    here = set(cut)
    return tuple(
        name
        for name in hierarchy.nodes[1:]
        if (below := hierarchy.children_of(name)) and here.issuperset(below)
    )


def refine(hierarchy: ValueHierarchy, cut: Cut, name: Hashable) -> Cut:
    """Replace one node of a cut by its children.

    ValueError if the node is not in the cut or is a state.
    """
    children = hierarchy.children_of(name)
    if name not in cut or not children:
        problem = "is a state" if name in cut else "is not in the cut"
        raise ValueError(f"node {quoted(name)} {problem}, so it cannot be refined")
    at = cut.index(name)
    return (*cut[:at], *children, *cut[at + 1 :])


def abstract(hierarchy: ValueHierarchy, cut: Cut, name: Hashable) -> Cut:
    """Replace all children of one node by it; ValueError if any is not in the cut."""
    children = hierarchy.children_of(name)
    absent = [child for child in children if child not in cut]
    if absent or not children:
        problem = f"lacks {name_list(absent)}" if children else "holds a state only"
        raise ValueError(
            f"node {quoted(name)} cannot replace its children, since the cut {problem}"
        )
    at = cut.index(children[0])
    return (*cut[:at], name, *cut[at + len(children) :])


def n_cuts(hierarchy: ValueHierarchy) -> int:
    """Number of cuts, the root alone among them.

    A leaf has one cut; an inner node has those that combine cuts of its children, and
    itself (desJardins, Rathod and Getoor 2008, section 3.1.3). Python integers never
    overflow: 64 binary levels have about 2 ** (2 ** 63) cuts.
    """
    number = [1] * len(hierarchy.nodes)
    is_inner = [False] * len(hierarchy.nodes)
    # In preorder children stand behind their parents.
    for node in range(len(hierarchy.nodes) - 1, 0, -1):
        parent = hierarchy.parents[node]
        number[parent] *= number[node] + is_inner[node]
        is_inner[parent] = True
    return number[0] + is_inner[0]


def n_cuts_below_root(hierarchy: ValueHierarchy) -> int:
    """Number of cuts that group the states of a parent: all but the root.

    1 for a hierarchy of one state, as for a flat one: their cut costs no bits.
    """
    return max(n_cuts(hierarchy) - 1, 1)
