"""Markov equivalence: arcs that all graphs of the same independences share."""

from __future__ import annotations

from bayleaf.graph.dag import DAG


def compelled_arcs(dag: DAG) -> frozenset[tuple[int, int]]:
    """Arcs (parent, child) that have this direction in every equivalent graph.

    Every other arc is reversed in some graph with the same skeleton and the same
    colliders of unlinked parents (Verma and Pearl 1990). Linear in the number of arcs:
    the last parent decides for a whole family (Chickering 1995, "A transformational
    characterization of equivalent Bayesian network structures", Label-Edges).
    """
    rank = {node: i for i, node in enumerate(dag.order)}
    compelled: list[set[int]] = [set() for _ in dag.parents]  # parents, by child
    for child in dag.order:
        parents = set(dag.parents[child])
        if not parents:
            continue
        last = max(parents, key=rank.__getitem__)
        # Reversed, the last arc would make a new collider at the last parent; another
        # parent that is not linked to it makes a collider at the child.
        is_chain = bool(compelled[last] - parents)
        is_collider = bool(parents - set(dag.parents[last]) - {last})
        whole = is_chain or is_collider
        compelled[child] = parents if whole else set(compelled[last])
    return frozenset((p, child) for child, held in enumerate(compelled) for p in held)
