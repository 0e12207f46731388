"""What structures say alike: Markov equivalence classes and distances between them."""

from __future__ import annotations

from bayleaf.graph.dag import DAG

Edge = tuple[int, int]


def immoralities(dag: DAG) -> set[tuple[int, int, int]]:
    """All (parent, child, parent) whose parents are not adjacent, the lower first."""
    adjacent = {*dag.arcs, *((b, a) for a, b in dag.arcs)}
    return {
        (min(a, b), child, max(a, b))
        for child, parents in enumerate(dag.parents)
        for a in parents
        for b in parents
        if a < b and (a, b) not in adjacent
    }


def are_equivalent(first: DAG, second: DAG) -> bool:
    """Whether two graphs have the same independences.

    They have the same adjacent nodes and the same immoralities (Verma and Pearl 1990).
    """
    skeletons = [{frozenset(arc) for arc in dag.arcs} for dag in (first, second)]
    return (
        len(first) == len(second)
        and skeletons[0] == skeletons[1]
        and immoralities(first) == immoralities(second)
    )


def essential_graph(dag: DAG) -> tuple[frozenset[Edge], frozenset[Edge]]:
    """Arcs that all graphs of the equivalence class share, and edges left open.

    Arcs are (parent, child), edges have the lower node first. The completed partially
    directed graph: immoralities, and what three rules of Meek (1995) direct from there.
    The fourth is needed for background knowledge only.
    """
    adjacent = {*dag.arcs, *((b, a) for a, b in dag.arcs)}
    directed = {
        (parent, child) for a, child, b in immoralities(dag) for parent in (a, b)
    }
    undirected = {(min(arc), max(arc)) for arc in dag.arcs}
    undirected -= {(min(arc), max(arc)) for arc in directed}
    while True:
        forced = {
            arc
            for a, b in undirected
            for arc in ((a, b), (b, a))
            if _is_forced(arc, directed, undirected, adjacent)
        }
        if not forced:
            return frozenset(directed), frozenset(undirected)
        directed |= forced
        undirected -= {(min(arc), max(arc)) for arc in forced}


def _is_forced(
    arc: Edge, directed: set[Edge], undirected: set[Edge], adjacent: set[Edge]
) -> bool:
    """Whether the other direction would close a cycle or make an immorality."""
    tail, head = arc
    into_tail = {a for a, b in directed if b == tail}
    into_head = {a for a, b in directed if b == head}
    if any((a, head) not in adjacent for a in into_tail):
        return True
    if any((tail, middle) in directed for middle in into_head):
        return True
    open_to_tail = [a for a in into_head if (min(a, tail), max(a, tail)) in undirected]
    return any(
        a != b and (a, b) not in adjacent for a in open_to_tail for b in open_to_tail
    )


def structural_hamming_distance(first: DAG, second: DAG) -> int:
    """Number of pairs of nodes that two essential graphs join in different ways.

    Zero for equivalent graphs; ValueError if the numbers of nodes differ. Tsamardinos,
    Brown and Aliferis (2006), section 6.
    """
    if len(first) != len(second):
        raise ValueError(
            f"graphs of {len(first)} and {len(second)} nodes have no distance; compare "
            "graphs over the same nodes"
        )
    marks: list[dict[Edge, Edge | None]] = []
    for dag in (first, second):
        directed, undirected = essential_graph(dag)
        own: dict[Edge, Edge | None] = dict.fromkeys(undirected)
        own.update({(min(arc), max(arc)): arc for arc in directed})
        marks.append(own)
    pairs = marks[0].keys() | marks[1].keys()
    # An empty pair stands for nodes that are not joined.
    return sum(marks[0].get(pair, ()) != marks[1].get(pair, ()) for pair in pairs)
