"""Triangulate the moral graph of a network and link its cliques to a junction forest.

Sets of nodes are the bits of integers here, which makes the meeting of two
neighbourhoods one operation, however many nodes there are.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log, prod

# Trees with more cells than this take so long to propagate that a search pays.
_MANY_CELLS = 1_000_000
_MOST_DISTURBED = 60
# Disturbed eliminations times nodes: about a second's work.
_DISTURBED_NODES = 20_000
# Cubes of numbers of neighbours, summed over eliminations: some seconds' work.
_MOST_WORK = 20_000_000
_NOISE = (1.0, 2.0)
# Cells that are propagated in the time of one elimination of a few hundred nodes.
_TRIAL_CELLS = 2_000_000

Priority = Callable[[int, float], tuple[float, float]]
# Cliques that exceed the limit by this factor are not bettered enough by searching.
_HOPELESS = 1000
_MOST_TRIALS = 20


@dataclass(frozen=True)
class JunctionForest:
    """Maximal cliques of a triangulated graph, and the tree edges between them.

    Every clique on the path between two others contains what the two have in common.
    """

    cliques: tuple[tuple[int, ...], ...]  # nodes in increasing order
    edges: tuple[tuple[int, int], ...]  # pairs of positions in `cliques`
    order: tuple[int, ...]  # the elimination order

    def table_cells(self, cards: Sequence[int]) -> list[int]:
        """Size of the table over each clique."""
        return [prod(cards[node] for node in clique) for clique in self.cliques]


def small_forest(neighbours: Sequence[int], cards: Sequence[int]) -> JunctionForest:
    """Compile an undirected graph, bits of `married`, to a forest with small tables.

    It is triangulated by fewest fill edges (ties: smallest resulting table, then lowest
    index) and by smallest resulting table (ties: fewest fill edges, then lowest index).
    If the better of the two has more than a million cells in all, both are tried again
    with priorities that a fixed seed disturbs, the more often the smaller the graph.
    The order whose cliques have the fewest cells in all is kept, the first one among
    equals.

    Kjaerulff 1990, "Triangulation of graphs: algorithms giving small total state
    space", sections 3 and 5. Jensen & Jensen 1994 (maximum-weight separators).
    """

    def is_enough(trial: int, least: float, work: int) -> bool:
        is_small = least <= _MANY_CELLS or work > _MOST_WORK
        return trial >= len(_PLAIN) and is_small

    n_disturbed = _DISTURBED_NODES // max(len(cards), 1)
    return _best_forest(neighbours, cards, n_disturbed, is_enough)


def plain_forest(neighbours: Sequence[int], cards: Sequence[int]) -> JunctionForest:
    """Compile a graph by the two plain priorities alone, see `small_forest`."""
    return _best_forest(neighbours, cards, 0, lambda *_: False)


def forest_without(
    neighbours: Sequence[int], cards: Sequence[int], observed: Collection[int]
) -> JunctionForest:
    """Compile what remains of a moral graph once some nodes are observed.

    Each observed node is a clique by itself. Quick rather than thorough: fewest fill
    edges alone, and other orders only as far as their search takes less time than the
    tables that it may save.
    """
    gone = sum(1 << node for node in observed)
    left = [
        0 if gone >> node & 1 else around & ~gone
        for node, around in enumerate(neighbours)
    ]
    counts = [1 if gone >> node & 1 else card for node, card in enumerate(cards)]
    return _best_forest(
        left,
        counts,
        _MOST_DISTURBED,
        lambda trial, least, _: least <= trial * _TRIAL_CELLS,
    )


def _best_forest(
    neighbours: Sequence[int],
    cards: Sequence[int],
    n_disturbed: int,
    is_enough: Callable[[int, float, int], bool],
) -> JunctionForest:
    """The forest of fewest cells among those of some priorities, the first of equals.

    `is_enough` ends the search, given the number of trials, the fewest cells so far and
    the work done.
    """
    best: JunctionForest | None = None
    least = math.inf
    work = 0
    for trial, priority in enumerate(priorities(n_disturbed)):
        if best is not None and is_enough(trial, least, work):
            break
        order, later = eliminate(neighbours, cards, priority)
        # About what joining the neighbours of every node takes.
        work += sum(around.bit_count() ** 3 for around in later)
        forest = _forest(order, later)
        cells = sum(forest.table_cells(cards))
        if cells < least:
            best, least = forest, cells
    assert best is not None
    return best


def hopeless_clique(
    neighbours: Sequence[int], cards: Sequence[int], most_cells: float
) -> tuple[int, ...]:
    """A clique of more cells than allowed, if both plain priorities lead to one.

    The smaller of the two; empty if one priority stays within the limit. Each
    elimination ends with its first such clique, long before its last node.
    """
    found: list[tuple[int, ...]] = []
    for priority in reversed(_PLAIN):
        order, later = eliminate(neighbours, cards, priority, most_cells)
        last = order[-1] if order else 0
        clique = tuple(bits(later[last] | 1 << last)) if order else ()
        if prod(cards[node] for node in clique) <= most_cells:
            return ()
        found.append(clique)
    return min(found, key=lambda clique: prod(cards[node] for node in clique))


def _fill_first(fill: int, log_cells: float) -> tuple[float, float]:
    """Min-fill's priority."""
    return (fill, log_cells)


def _table_first(fill: int, log_cells: float) -> tuple[float, float]:
    """Min-weight's priority."""
    return (log_cells, fill)


_PLAIN: tuple[Priority, ...] = (_fill_first, _table_first)


def priorities(n_disturbed: int) -> Iterator[Priority]:
    """The plain priorities, then disturbed ones, drawn from a fixed seed."""
    yield from _PLAIN
    rng = random.Random(0)
    for trial in range(min(n_disturbed, _MOST_DISTURBED)):
        yield _disturbed(_PLAIN[trial % 2], rng, _NOISE[trial // 2 % 2])


def _disturbed(plain: Priority, rng: random.Random, noise: float) -> Priority:
    """A priority whose first number has noise added; fill edges and nats alike."""

    def priority(fill: int, log_cells: float) -> tuple[float, float]:
        first, second = plain(fill, log_cells)
        return first + rng.random() * noise, second

    return priority


def married(families: Iterable[Collection[int]], n_nodes: int) -> list[int]:
    """Neighbours once the members of every family are joined in pairs.

    Bit ``j`` of entry ``i`` is set if ``i`` and ``j`` are neighbours. Of the families
    of a directed graph, it is the moral graph.
    """
    neighbours = [0] * n_nodes
    for family in families:
        members = sum(1 << node for node in family)
        for node in family:
            neighbours[node] |= members & ~(1 << node)
    return neighbours


def eliminate(
    neighbours: Sequence[int],
    cards: Sequence[int],
    priority: Priority = _fill_first,
    most_cells: float = math.inf,
    kept: Collection[int] = (),
) -> tuple[list[int], list[int]]:
    """Eliminate all nodes greedily, or all but those kept.

    Ends with the first clique of more than `most_cells`. Returns the order and, by
    node, the bits of its neighbours when it was eliminated. `priority` maps the number
    of fill edges and the log of the resulting table's cells; the least goes first, ties
    to the lowest index.
    """
    graph = list(neighbours)
    fill = [_missing_edges(graph, node) for node in range(len(graph))]
    most = log(most_cells) + 1e-9
    # Neighbours are many and numbers of states few, so members are counted by these.
    by_card = [
        (log(card), sum(1 << node for node, own in enumerate(cards) if own == card))
        for card in sorted(set(cards))
    ]

    def log_cells(node: int) -> float:
        clique = graph[node] | 1 << node
        # Rounded, because how logarithms are added must not break ties.
        return round(
            sum(weight * (clique & mask).bit_count() for weight, mask in by_card), 9
        )

    def entry(node: int) -> tuple[tuple[float, float], int]:
        return priority(fill[node], log_cells(node)), node

    current = [entry(node) for node in range(len(graph))]
    heap = list(current)
    heapq.heapify(heap)
    order: list[int] = []
    later = [0] * len(graph)
    gone = [node in kept for node in range(len(graph))]
    while heap:
        item = heapq.heappop(heap)
        node = item[1]
        if gone[node] or item != current[node]:
            continue
        gone[node] = True
        order.append(node)
        later[node] = graph[node]
        if log_cells(node) > most:
            break
        for other in bits(_remove(graph, fill, node)):
            current[other] = entry(other)
            heapq.heappush(heap, current[other])
    return order, later


def _missing_edges(graph: Sequence[int], node: int) -> int:
    """How many pairs of a node's neighbours are not neighbours themselves."""
    around = graph[node]
    absent = sum((around & ~graph[other]).bit_count() - 1 for other in bits(around))
    return absent // 2


def _remove(graph: list[int], fill: list[int], node: int) -> int:
    """Join a node's neighbours and take it out; bits of nodes whose entry changed."""
    around = graph[node]
    changed = around
    for one in bits(around):
        for other in bits(around & ~graph[one] & ~((2 << one) - 1)):
            common = graph[one] & graph[other]
            for third in bits(common):
                fill[third] -= 1
            changed |= common
            fill[one] += (graph[one] & ~common).bit_count()
            fill[other] += (graph[other] & ~common).bit_count()
            graph[one] |= 1 << other
            graph[other] |= 1 << one
    itself = 1 << node
    for other in bits(around):
        fill[other] -= (graph[other] & ~around & ~itself).bit_count()
        graph[other] &= ~itself
    return changed & ~itself


def bits(number: int) -> Iterator[int]:
    """Positions of the bits that are set, in increasing order."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def _forest(order: Sequence[int], later: Sequence[int]) -> JunctionForest:
    """Maximal cliques of an elimination, linked by maximum-weight separators."""
    rank = {node: position for position, node in enumerate(order)}
    # The clique that holds a node together with its later neighbours.
    clique_of: dict[int, int] = {}
    absorber: dict[int, int] = {}
    members: list[int] = []
    tops: list[int] = []
    for node in order:
        clique = later[node] | 1 << node
        if node in absorber:
            home = absorber[node]
            tops[home] = node
        else:
            home = len(members)
            members.append(clique)
            tops.append(node)
        clique_of[node] = home
        if later[node]:
            parent = min(bits(later[node]), key=rank.__getitem__)
            if later[parent] | 1 << parent == later[node]:
                absorber.setdefault(parent, home)
    links: dict[int, list[tuple[int, int]]] = {}
    for home, top in enumerate(tops):
        if later[top]:
            parent = min(bits(later[top]), key=rank.__getitem__)
            links.setdefault(later[top], []).append((home, clique_of[parent]))
    edges = [edge for pairs in links.values() for edge in _paths(pairs)]
    cliques = tuple(tuple(bits(clique)) for clique in members)
    return JunctionForest(cliques, tuple(sorted(edges)), tuple(order))


def _paths(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Relink cliques that share one separator as paths instead of stars.

    Any tree over them is as good, and in a path no clique has to multiply hundreds of
    messages, whose product could underflow.
    """
    group: dict[int, set[int]] = {}
    for one, other in pairs:
        joint = group.get(one, {one}) | group.get(other, {other})
        for member in joint:
            group[member] = joint
    for home in sorted(group):
        joint = group[home]
        if home == min(joint):
            chain = sorted(joint)
            yield from itertools.pairwise(chain)


@dataclass(frozen=True)
class PartialElimination:
    """An order in which some nodes are eliminated."""

    order: tuple[int, ...]  # cut short where a clique is too large
    largest: tuple[int, ...]  # the clique of most cells on the way, sorted
    cells: int  # of the largest clique


def eliminate_all_but(
    neighbours: Sequence[int],
    cards: Sequence[int],
    kept: Collection[int],
    most_cells: int,
) -> PartialElimination:
    """Find a small order for all nodes that are not kept.

    The orders of fewest fill edges and of smallest tables are compared; others are
    tried only while a clique has more cells than allowed. The result's `cells` exceed
    `most_cells` if no order stays within. `neighbours` are bits as from `married`.
    """
    best: PartialElimination | None = None
    for trial, priority in enumerate(priorities(_MOST_TRIALS)):
        if best is not None and trial > 1:
            fits = best.cells <= most_cells
            if fits or log(best.cells) > log(most_cells) + log(_HOPELESS):
                break
        # What is a thousand times too large is known before the last node.
        order, later = eliminate(
            neighbours, cards, priority, most_cells * _HOPELESS, kept
        )
        cliques = [tuple(bits(later[node] | 1 << node)) for node in order]
        sizes = [prod(cards[v] for v in clique) for clique in cliques]
        cells = max(sizes, default=1)
        if best is None or cells < best.cells:
            largest = cliques[sizes.index(cells)] if cliques else ()
            best = PartialElimination(tuple(order), largest, cells)
    assert best is not None
    return best
