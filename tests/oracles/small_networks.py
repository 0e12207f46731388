"""Random networks, and the tables of their whole joint distribution."""

from __future__ import annotations

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork


def make_network(cards, parents, tables) -> BayesianNetwork:
    domain = Domain(
        tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(cards))
    )
    dag = DAG(tuple(tuple(p) for p in parents))
    cpds = [TableCPD(f, t) for f, t in zip(dag.families, tables, strict=True)]
    return BayesianNetwork(domain, dag, tuple(cpds))


def random_network(rng, n_variables, *, density=0.4, zeros=0.3) -> BayesianNetwork:
    """Mixed cards, nodes in no topological order, parents in no sorted order."""
    cards = rng.choice([1, 2, 2, 3, 4], n_variables)
    place = rng.permutation(n_variables)
    parents = []
    for child in range(n_variables):
        earlier = [v for v in range(n_variables) if place[v] < place[child]]
        chosen = [v for v in earlier if rng.random() < density][:3]
        parents.append([int(v) for v in rng.permutation(chosen)])
    tables = []
    for child in range(n_variables):
        table = rng.random([*(cards[p] for p in parents[child]), cards[child]])
        table[rng.random(table.shape) < zeros] = 0.0
        table[..., 0] += table.sum(axis=-1) == 0
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return make_network(cards.tolist(), parents, tables)


def joint_table(network, likelihoods) -> np.ndarray:
    """The product of all tables and likelihoods over the whole joint."""
    cards = network.domain.cards
    joint = np.ones(cards)
    for cpd in network.cpds:
        axes = sorted(range(len(cpd.family)), key=lambda j: cpd.family[j])
        shape = [cards[v] if v in cpd.family else 1 for v in range(len(cards))]
        joint = joint * np.transpose(cpd.probabilities, axes).reshape(shape)
    for variable, vector in likelihoods.items():
        shape = [-1 if v == variable else 1 for v in range(len(cards))]
        joint = joint * vector.reshape(shape)
    return joint


def onto(joint, variables) -> np.ndarray:
    """Sum a joint table to some variables, axes in their order."""
    rest = tuple(v for v in range(joint.ndim) if v not in variables)
    order = np.argsort(np.argsort(variables))
    return np.transpose(joint.sum(axis=rest), order)


def random_likelihoods(rng, cards) -> dict[int, np.ndarray]:
    """Hard, negative, soft and uninformative evidence on some of the variables."""
    found = {}
    for variable, card in enumerate(cards):
        kind = rng.integers(8)
        if kind == 0:
            found[variable] = np.eye(card)[rng.integers(card)]
        elif kind == 1:
            found[variable] = np.ones(card)
            found[variable][rng.integers(card)] = 0.0 if card > 1 else 1.0
        elif kind == 2:
            found[variable] = rng.random(card) * 5
        elif kind == 3:
            found[variable] = np.ones(card)
    return found


def random_codes(rng, cards, n_rows, holes, weights=None) -> Codes:
    """Rows of random states, a share of them missing."""
    columns = []
    for card in cards:
        column = rng.integers(card, size=n_rows)
        column[rng.random(n_rows) < holes] = card
        columns.append(column)
    return Codes.from_columns(columns, cards, weights)


def row_likelihoods(codes, row, skipped=None) -> dict[int, np.ndarray]:
    """What a row holds, as evidence; one variable may be skipped."""
    cells = {v: int(codes.column(v)[row]) for v in range(codes.n_variables)}
    return {
        v: np.eye(codes.cards[v])[code]
        for v, code in cells.items()
        if code < codes.cards[v] and v != skipped
    }


def smoking() -> BayesianNetwork:
    """Smoking makes cancer likelier; only the ill cough, and nobody is ill alone."""
    return BayesianNetwork.from_tables(
        states={
            "smoker": ["no", "yes"],
            "cancer": ["no", "yes"],
            "cough": ["no", "yes"],
        },
        parents={"cancer": ["smoker"], "cough": ["cancer"]},
        tables={
            "smoker": [0.75, 0.25],
            "cancer": [[1.0, 0.0], [0.5, 0.5]],
            "cough": [[1.0, 0.0], [0.25, 0.75]],
        },
    )
