"""Random networks of trees, shared leaves and grouped tables, and forms for them."""

from __future__ import annotations

import numpy as np

from bayleaf.cpds.distribution import GroupedTableCPD, TableCPD
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.family_decomposition import Form, decomposable
from bayleaf.models.bayesian_network import BayesianNetwork

MOST_PARENTS = 4


def random_groups(rng, states) -> tuple[tuple[int, ...], ...]:
    """One to all groups of some states, in no order."""
    places = rng.integers(rng.integers(1, len(states) + 1), size=len(states))
    shuffled = rng.permutation(states).tolist()
    groups = [
        tuple(s for s, place in zip(shuffled, places) if place == group)
        for group in rng.permutation(np.unique(places)).tolist()
    ]
    return tuple(groups)


def random_row(rng, card, zeros) -> np.ndarray:
    """A distribution, in which a share of the states may be impossible."""
    row = rng.random(card)
    row[rng.random(card) < zeros] = 0.0
    row[0] += row.sum() == 0
    return row / row.sum()


def random_tree(rng, context, card, zeros, known, depth=3) -> Leaf | Split:
    """A tree below some states of the parents; a leaf may stand in many places."""
    open_parents = [p for p, states in context.items() if len(states) > 1]
    if not depth or not open_parents or rng.random() < 0.15:
        if known and rng.random() < 0.2:
            return known[int(rng.integers(len(known)))]
        known.append(Leaf(random_row(rng, card, zeros)))
        return known[-1]
    parent = int(rng.choice(open_parents))
    groups = random_groups(rng, context[parent])
    branches = tuple(
        random_tree(rng, {**context, parent: group}, card, zeros, known, depth - 1)
        for group in groups
    )
    return Split(parent, groups, branches)


def random_cpd(rng, family, cards, zeros):
    """A table, a tree or a grouped table."""
    own = tuple(cards[v] for v in family)
    kind = rng.integers(5)
    if kind == 0:
        rows = [random_row(rng, own[-1], zeros) for _ in range(int(np.prod(own[:-1])))]
        return TableCPD(family, np.array(rows).reshape(own))
    if kind == 1:
        groups = tuple(random_groups(rng, range(card)) for card in own[:-1])
        sizes = tuple(map(len, groups))
        rows = [random_row(rng, own[-1], zeros) for _ in range(int(np.prod(sizes)))]
        table = np.array(rows).reshape(*sizes, own[-1])
        return GroupedTableCPD(family, own, groups, table)
    context = {p: tuple(range(cards[p])) for p in family[:-1]}
    return TreeCPD(family, own, random_tree(rng, context, own[-1], zeros, []))


def random_context_network(rng, n_variables, *, zeros=0.2) -> BayesianNetwork:
    """Nodes in no topological order, parents in no sorted order."""
    cards = rng.choice([1, 2, 3, 4, 5], n_variables).tolist()
    place = rng.permutation(n_variables)
    parents = []
    for child in range(n_variables):
        earlier = [v for v in range(n_variables) if place[v] < place[child]]
        chosen = [v for v in earlier if rng.random() < 0.7][:MOST_PARENTS]
        parents.append(tuple(int(v) for v in rng.permutation(chosen)))
    dag = DAG(tuple(parents))
    cpds = tuple(random_cpd(rng, family, cards, zeros) for family in dag.families)
    domain = Domain(
        tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(cards))
    )
    return BayesianNetwork(domain, dag, cpds)


def random_forms(rng, network) -> dict[int, Form]:
    """A form of each family that has several, drawn at random."""
    return {
        node: forms[int(rng.integers(len(forms)))]
        for node, cpd in enumerate(network.cpds)
        if (forms := decomposable(cpd))
    }
