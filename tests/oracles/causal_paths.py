"""Back doors and front doors by the paths of a graph, as the definitions name them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Set
from functools import cache

Parents = tuple[tuple[int, ...], ...]
Nodes = frozenset[int]


def all_dags(n_nodes: int) -> Iterator[Parents]:
    """Every acyclic graph over labelled nodes."""
    pairs = list(itertools.combinations(range(n_nodes), 2))
    for marks in itertools.product((0, 1, 2), repeat=len(pairs)):
        parents: list[list[int]] = [[] for _ in range(n_nodes)]
        for (a, b), mark in zip(pairs, marks, strict=True):
            if mark == 1:
                parents[b].append(a)
            elif mark == 2:
                parents[a].append(b)
        found = tuple(tuple(own) for own in parents)
        if is_acyclic(found):
            yield found


def is_acyclic(parents: Parents) -> bool:
    """Whether nodes can be taken away, each once it has no parent left."""
    left = set(range(len(parents)))
    while left:
        ready = {v for v in left if not left & set(parents[v])}
        if not ready:
            return False
        left -= ready
    return True


def renamed(parents: Parents, names: tuple[int, ...]) -> Parents:
    """The same graph with other numbers of its nodes."""
    changed: list[tuple[int, ...]] = [()] * len(parents)
    for node, own in enumerate(parents):
        changed[names[node]] = tuple(sorted(names[p] for p in own))
    return tuple(changed)


def all_dags_around(n_nodes: int) -> Iterator[Parents]:
    """Every graph once, however the nodes other than 0 and 1 are numbered."""
    others = [(0, 1, *rest) for rest in itertools.permutations(range(2, n_nodes))]
    for parents in all_dags(n_nodes):
        if parents == min(renamed(parents, names) for names in others):
            yield parents


@cache
def below(parents: Parents, node: int) -> Nodes:
    """The node and its descendants."""
    found = {node}
    for _ in parents:
        found |= {child for child, own in enumerate(parents) if found & set(own)}
    return frozenset(found)


@cache
def paths(parents: Parents, start: int, end: int) -> tuple[tuple[int, ...], ...]:
    """All sequences of different adjacent nodes from one to another."""
    found = []
    waiting = [(start,)]
    while waiting:
        path = waiting.pop()
        if path[-1] == end:
            found.append(path)
            continue
        waiting += [
            (*path, node)
            for node in range(len(parents))
            if node not in path
            and (node in parents[path[-1]] or path[-1] in parents[node])
        ]
    return tuple(found)


def is_open(parents: Parents, path: tuple[int, ...], given: Set[int]) -> bool:
    """Whether no node in between blocks a path."""
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        is_collider = before in parents[node] and after in parents[node]
        if is_collider and not below(parents, node) & given:
            return False
        if not is_collider and node in given:
            return False
    return True


def is_back_door_set(parents: Parents, x: int, y: int, given: Set[int]) -> bool:
    """Pearl's criterion: no descendant, and every path into the treatment blocked."""
    return not given & (below(parents, x) | {y}) and not any(
        path[1] in parents[x] and is_open(parents, path, given)
        for path in paths(parents, x, y)
    )


def is_adjustment_set(parents: Parents, x: int, y: int, given: Set[int]) -> bool:
    """The complete criterion: all paths blocked but directed ones, which are not hurt.

    Nodes below a directed path are not allowed.
    """
    directed = [
        path
        for path in paths(parents, x, y)
        if all(a in parents[b] for a, b in itertools.pairwise(path))
    ]
    harmful = {y}.union(*(below(parents, v) for path in directed for v in path[1:]))
    others = [path for path in paths(parents, x, y) if path not in directed]
    return not given & (harmful | {x}) and not any(
        is_open(parents, path, given) for path in others
    )


def is_front_door_set(parents: Parents, x: int, y: int, given: Set[int]) -> bool:
    """Pearl's three conditions on a set of mediators."""
    if given & {x, y}:
        return False
    intercepts = all(
        given & set(path)
        for path in paths(parents, x, y)
        if all(a in parents[b] for a, b in itertools.pairwise(path))
    )
    into_mediators = not any(
        path[1] in parents[x] and is_open(parents, path, frozenset())
        for node in given
        for path in paths(parents, x, node)
    )
    # Back doors that pass other mediators against their arrows count for the set.
    cut = tuple(tuple(p for p in own if p not in given) for own in parents)
    into_outcome = not any(
        is_open(cut, path, {x}) for node in given for path in paths(cut, node, y)
    )
    return intercepts and into_mediators and into_outcome


def minimal(sets: list[Nodes]) -> list[Nodes]:
    """Those that hold no other."""
    return [one for one in sets if not any(other < one for other in sets)]


def subsets(nodes: Set[int]) -> list[Nodes]:
    """All sets of some nodes, the smallest first, then by their nodes."""
    listed = sorted(nodes)
    return [
        frozenset(chosen)
        for size in range(len(listed) + 1)
        for chosen in itertools.combinations(listed, size)
    ]
