"""Dependence in a directed acyclic graph: blankets, open trails and separators.

Separators hold some nodes and no others than are allowed. Whatever separates within
these bounds also does among the ancestors of both sets and what is required, where
d-separation is separation in the moral graph (van der Zander, Liskiewicz and Textor
2019, "Separators and adjustment sets in causal graphs: Complete criteria and an
algorithmic framework", Artificial Intelligence 270, section 3).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from bayleaf.graph.dag import DAG
from bayleaf.graph.triangulation import bits, married

T = TypeVar("T")
Trail = tuple[int, ...]
# A node, and whether the trail comes to it against an arrow, from one of its children.
_Step = tuple[int, bool]
Nodes = frozenset[int]
# A node where ways come in or go out; inside it they are an arc of capacity one.
_Side = tuple[int, bool]
_IN, _OUT = False, True


def ancestors(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all from which a directed path leads to one of them."""
    return _closure(nodes, dag.parents.__getitem__)


def descendants(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all to which a directed path leads from one of them."""
    return _closure(nodes, dag.children().__getitem__)


def _closure(nodes: Iterable[T], following: Callable[[T], Iterable[T]]) -> set[T]:
    """The nodes, those that follow them, and so on."""
    found: set[T] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += following(node)
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
    trails = OpenTrails(dag, set(), set(), observed)
    # True: the trail comes to the node from one of its children.
    steps = _closure(((node, True) for node in start), trails.steps)
    return {node for node, _ in steps if node not in observed}


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
                steps = self.steps((trail[-1], from_child))
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
            for following in sorted(self.steps(step)):
                if following not in before and following[0] not in closed:
                    before[following] = step
                    waiting.append(following)
        return None

    def steps(self, step: _Step) -> Iterator[_Step]:
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


@dataclass(frozen=True)
class Separation:
    """The task to separate two sets of nodes."""

    dag: DAG
    first: Nodes
    second: Nodes
    allowed: Nodes  # in a separator; none is in `first` or `second`
    required: Nodes = frozenset()  # in every separator; all are allowed

    @property
    def ancestral(self) -> Nodes:
        """Nodes asked about or required, and their ancestors."""
        asked = self.first | self.second | self.required
        return frozenset(ancestors(self.dag, asked))

    def is_solved_by(self, nodes: Nodes) -> bool:
        """Whether a set separates and keeps to the bounds."""
        return self.required <= nodes <= self.allowed and d_separated(
            self.dag, self.first, self.second, nodes
        )


def ancestral_separator(task: Separation) -> Nodes | None:
    """The largest separator among the ancestors; None if nothing separates at all."""
    nodes = task.ancestral & task.allowed
    return nodes if task.is_solved_by(nodes) else None


def minimal_separators(task: Separation) -> Iterator[Nodes]:
    """All separators of which no member that is not required can be left out.

    They are the minimal cuts of a moral graph. Takata (2010, "Space-optimal,
    backtracking algorithms to list the minimal vertex separators of a graph") lists
    them with polynomial delay: each is known by the part of the graph it leaves around
    `first`, which is grown node by node.
    """
    neighbours, first, second = _cut_graph(task)
    start = _grown(neighbours, first, second)
    if start is None:
        return
    waiting = [(*start, 0)]
    while waiting:
        near, cut, outside = waiting.pop()
        open_nodes = cut & ~outside
        if not open_nodes:
            yield task.required | frozenset(bits(cut))
            continue
        node = open_nodes & -open_nodes
        grown = _grown(neighbours, near | node, second)
        if grown is not None and not grown[0] & outside:
            waiting.append((*grown, outside))
        waiting.append((near, cut, outside | node))


def smallest_separator(task: Separation) -> Nodes | None:
    """A separator of fewest nodes, by a largest flow; None if nothing separates."""
    neighbours, first, second = _cut_graph(task)
    if _around(neighbours, first) & second:
        return None
    return task.required | frozenset(bits(_smallest_cut(neighbours, first, second)))


def separators_by_size(task: Separation) -> Iterator[Nodes]:
    """All separators within the bounds, the smallest first, then by their nodes."""
    smallest = smallest_separator(task)
    if smallest is None:
        return
    for size in range(len(smallest), len(task.allowed) + 1):
        yield from _separators_of_size(task, size)


def _separators_of_size(task: Separation, size: int) -> Iterator[Nodes]:
    """All separators of so many nodes, by including and leaving out one at a time."""
    waiting = [task]
    while waiting:
        task = waiting.pop()
        open_nodes = task.allowed - task.required
        if len(task.required) == size or not open_nodes:
            if len(task.required) == size and task.is_solved_by(task.required):
                yield task.required
            continue
        if len(task.allowed) < size:
            continue
        smallest = smallest_separator(task)
        if smallest is None or len(smallest) > size:
            continue
        node = frozenset({min(open_nodes)})
        waiting.append(replace(task, allowed=task.allowed - node))
        waiting.append(replace(task, required=task.required | node))


def _cut_graph(task: Separation) -> tuple[list[int], int, int]:
    """The moral graph in which cuts are separators, and the nodes to be cut apart.

    Required nodes are taken out. Nodes that are not allowed are taken out as well once
    their neighbours are joined, as no cut can hold them.
    """
    kept = task.ancestral
    families = [(*task.dag.parents[node], node) for node in sorted(kept)]
    neighbours = married(families, len(task.dag))
    first, second = _mask(task.first), _mask(task.second)
    required = _mask(task.required)
    for node in task.required:
        neighbours[node] = 0
    neighbours = [around & ~required for around in neighbours]
    passed = kept - task.allowed - task.first - task.second
    for node in sorted(passed):
        around = neighbours[node]
        for other in bits(around):
            neighbours[other] = (neighbours[other] | around) & ~(1 << node | 1 << other)
        neighbours[node] = 0
    return neighbours, first, second


def _grown(neighbours: list[int], near: int, second: int) -> tuple[int, int] | None:
    """What the closest cut leaves around some nodes, and that cut; None without one."""
    around = _around(neighbours, near)
    if around & second:
        return None
    far = _reached(neighbours, second, around)
    cut = _around(neighbours, far)
    return _reached(neighbours, near, cut), cut


def _around(neighbours: list[int], nodes: int) -> int:
    """Neighbours of a set outside of it."""
    around = 0
    for node in bits(nodes):
        around |= neighbours[node]
    return around & ~nodes


def _reached(neighbours: list[int], start: int, closed: int) -> int:
    """Nodes that a way leads to which avoids the closed ones."""
    found = latest = start
    while latest:
        latest = _around(neighbours, latest) & ~closed & ~found
        found |= latest
    return found


def _smallest_cut(neighbours: list[int], first: int, second: int) -> int:
    """Fewest nodes on all ways between two sets that are not adjacent.

    As many ways that share no node are found, each by rerouting those before it
    (Menger 1927; Ford and Fulkerson 1956).
    """
    before: dict[int, int] = {}
    while True:
        steps, last = _rerouted(neighbours, first, second, before)
        if last is None:
            return sum(
                1 << v for v in before if (v, _IN) in steps and (v, _OUT) not in steps
            )
        added, removed = {}, set()
        step: _Side | None = last
        while step is not None and (previous := steps[step]) is not None:
            if (previous[1], step[1]) == (_OUT, _IN) and previous[0] != step[0]:
                added[step[0]] = previous[0]
            elif (previous[1], step[1]) == (_IN, _OUT) and previous[0] != step[0]:
                removed.add(previous[0])
            step = previous
        kept = {v: u for v, u in before.items() if v not in removed}
        before = kept | added


def _rerouted(
    neighbours: list[int], first: int, second: int, before: dict[int, int]
) -> tuple[dict[_Side, _Side | None], _Side | None]:
    """Sides of nodes that one more way could reach, by the side before; its last.

    `neighbours`, `first` and `second` are bits of nodes; `before` is the node before
    each on a way.
    """
    steps: dict[_Side, _Side | None] = {(v, _OUT): None for v in bits(first)}
    waiting = deque(steps)
    while waiting:
        step = waiting.popleft()
        node, side = step
        if side == _OUT:
            if neighbours[node] & second:
                return steps, step
            following = [(v, _IN) for v in bits(neighbours[node] & ~first)]
            following += [(node, _IN)] * (node in before)
        else:
            following = [(before.get(node, node), _OUT)]
        for one in following:
            if one not in steps:
                steps[one] = step
                waiting.append(one)
    return steps, None


def _mask(nodes: Nodes) -> int:
    """The bits of a set of nodes."""
    return sum(1 << node for node in nodes)
