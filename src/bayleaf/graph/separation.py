"""What a directed acyclic graph says of dependence: blankets and d-separation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set

from bayleaf.graph.dag import DAG

Trail = tuple[int, ...]
# A node, and whether the trail comes to it against an arrow, from one of its children.
_Step = tuple[int, bool]


def ancestors(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all from which a directed path leads to one of them."""
    return _closure(nodes, dag.parents)


def descendants(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all to which a directed path leads from one of them."""
    return _closure(nodes, dag.children())


def _closure(nodes: Iterable[int], following: Sequence[Sequence[int]]) -> set[int]:
    """The nodes, those that follow them, and so on."""
    found: set[int] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += following[node]
    return found


def markov_blanket(dag: DAG, node: int) -> set[int]:
    """Parents, children and the children's other parents: all that a node depends on.

    Given these, the node is independent of all others (Pearl 1988, section 3.3).
    """
    blanket = set(dag.parents[node])
    for child in dag.children()[node]:
        blanket |= {child, *dag.parents[child]}
    return blanket - {node}


def reachable(dag: DAG, start: Iterable[int], given: Iterable[int]) -> set[int]:
    """Nodes that some active trail links with the start, those given left out.

    Start nodes count as reached unless given. Given nodes block chains and forks, and
    open the colliders at or above them. The breadth-first walk over (node, direction)
    of Koller and Friedman (2009), algorithm 3.1; linear in the number of arcs.
    """
    observed = set(given)
    opening = ancestors(dag, observed)
    children = dag.children()
    found: set[int] = set()
    visited: set[tuple[int, bool]] = set()
    # True: the trail comes to the node from one of its children.
    open_steps = [(node, True) for node in start]
    while open_steps:
        node, from_child = open_steps.pop()
        if (node, from_child) in visited:
            continue
        visited.add((node, from_child))
        if node not in observed:
            found.add(node)
            open_steps += [(child, False) for child in children[node]]
        passes_up = node not in observed if from_child else node in opening
        if passes_up:
            open_steps += [(parent, True) for parent in dag.parents[node]]
    return found


def d_separated(
    dag: DAG, first: Iterable[int], second: Iterable[int], given: Iterable[int]
) -> bool:
    """Whether every trail between two sets of nodes is blocked by those given."""
    observed = set(given)
    return not reachable(dag, set(first) - observed, observed) & set(second)


class OpenTrails:
    """Trails between two sets that are open given a third, inside no set but at ends.

    Given nodes block chains and forks, and open the colliders at or above them.
    """

    def __init__(
        self, dag: DAG, first: Set[int], second: Set[int], given: Set[int]
    ) -> None:
        self._parents = dag.parents
        self._children = dag.children()
        self._first = set(first) - given
        self._second = set(second) - given
        self._given = given
        self._opening = ancestors(dag, given)

    def shortest(self) -> Trail | None:
        """The first of the shortest trails; None if there is no trail."""
        starts: list[_Step] = [(node, True) for node in sorted(self._first)]
        return self._shortest(starts, set(self._first))

    def __iter__(self) -> Iterator[Trail]:
        """All trails, by their nodes.

        A step is taken only if some trail goes on from it, so that the next trail
        comes after a number of steps that is polynomial in the number of nodes.
        """
        for start in sorted(self._first):
            waiting: list[tuple[Trail, bool]] = [((start,), True)]
            while waiting:
                trail, from_child = waiting.pop()
                if trail[-1] in self._second:
                    yield trail
                    continue
                closed = self._first.union(trail)
                steps = self._steps((trail[-1], from_child))
                open_steps = [s for s in sorted(steps) if s[0] not in closed]
                waiting += [
                    ((*trail, step[0]), step[1])
                    for step in reversed(open_steps)
                    if self._shortest([step], closed | {step[0]}) is not None
                ]

    def _shortest(self, starts: list[_Step], closed: set[int]) -> Trail | None:
        """A shortest trail from given steps that enters no closed node.

        A shortest walk meets no node twice: what lies between could be left out, as
        a collider that this makes has an observed descendant like that in between.
        """
        before: dict[_Step, _Step | None] = dict.fromkeys(starts)
        waiting = deque(starts)
        while waiting:
            step = waiting.popleft()
            if step[0] in self._second:
                return _backwards(before, step)
            for following in sorted(self._steps(step)):
                if following not in before and following[0] not in closed:
                    before[following] = step
                    waiting.append(following)
        return None

    def _steps(self, step: _Step) -> Iterator[_Step]:
        """Where an open trail may go on."""
        node, from_child = step
        if node not in self._given:
            yield from ((child, False) for child in self._children[node])
        passes_up = node not in self._given if from_child else node in self._opening
        if passes_up:
            yield from ((parent, True) for parent in self._parents[node])


def _backwards(before: dict[_Step, _Step | None], last: _Step) -> Trail:
    """The nodes of the steps that lead to the last."""
    nodes = []
    step: _Step | None = last
    while step is not None:
        nodes.append(step[0])
        step = before[step]
    return tuple(reversed(nodes))
