"""What a directed acyclic graph says of dependence: blankets and d-separation."""

from __future__ import annotations

from collections.abc import Iterable

from bayleaf.graph.dag import DAG


def ancestors(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all from which a directed path leads to one of them."""
    found: set[int] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += dag.parents[node]
    return found


def descendants(dag: DAG, nodes: Iterable[int]) -> set[int]:
    """The nodes and all to which a directed path leads from one of them."""
    children = dag.children()
    found: set[int] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes += children[node]
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
