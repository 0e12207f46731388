"""Cuts through a value hierarchy: ways to see a variable's states in groups."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.wording import name_list, quoted

# Names of nodes in preorder, of which every state has exactly one above it or is one.
Cut = tuple[Hashable, ...]
# Indices of states, increasing.
StateGroup = tuple[int, ...]


def flat_hierarchy(states: Sequence[Hashable], root: str = "any") -> ValueHierarchy:
    """The trivial hierarchy: a root right above all states.

    A missing state, ``None``, becomes a leaf as well; a single state is a root itself.
    Underscores lengthen `root` where a state has that name. The only cut below the root
    is the states, so searches over cuts become searches over whole variables.
    """
    if len(states) == 1:
        return ValueHierarchy((states[0],), (-1,))
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
    parents = dict.fromkeys(hierarchy.parent_of(name) for name in cut)
    above = [
        name
        for name in parents
        if name is not None
        and name != hierarchy.root
        and here.issuperset(hierarchy.children_of(name))
    ]
    return in_preorder(hierarchy, above)


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


def in_preorder(hierarchy: ValueHierarchy, names: Sequence[Hashable]) -> Cut:
    """Names of nodes in the hierarchy's order, the order in which cuts are kept."""
    wanted = set(names)
    return tuple(name for name in hierarchy.nodes if name in wanted)


def n_cuts(hierarchy: ValueHierarchy) -> int:
    """Number of cuts other than the root alone; 1 for a hierarchy of one state.

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
    return number[0]
