"""Networks fit together, or say which variable does not."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds.table import TableCPD
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from property.networks import domain_of, random_network

DOMAIN = domain_of([2, 3])
CHAIN = DAG(((), (0,)))
ROOT = TableCPD((0,), np.array([0.5, 0.5]))
CHILD = TableCPD((0, 1), np.full((2, 3), 1 / 3))


def test_parameters_are_those_of_all_tables() -> None:
    assert BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD)).n_parameters == 1 + 4


def test_every_variable_needs_a_table() -> None:
    with pytest.raises(ValueError, match="2 variables, 2 nodes and 1 tables do not"):
        BayesianNetwork(DOMAIN, CHAIN, (ROOT,))


def test_every_variable_needs_a_node() -> None:
    with pytest.raises(ValueError, match="2 variables, 1 nodes and 2 tables do not"):
        BayesianNetwork(DOMAIN, DAG(((),)), (ROOT, CHILD))


@pytest.mark.parametrize(
    "child",
    [
        TableCPD((1,), np.full(3, 1 / 3)),
        TableCPD((1, 0), np.full((3, 2), 0.5)),
        TableCPD((0, 1), np.full((2, 2), 0.5)),
    ],
    ids=["parents", "child", "states"],
)
def test_a_table_that_does_not_fit_is_named(child: TableCPD) -> None:
    with pytest.raises(ValueError, match="the table of variable 'v1' has shape"):
        BayesianNetwork(DOMAIN, CHAIN, (ROOT, child))


def test_one_table_is_exchanged_and_the_others_kept() -> None:
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
    other = network.with_table(0, np.array([0.25, 0.75]))
    assert other.cpds[0].probabilities.tolist() == [0.25, 0.75]
    assert other.cpds[1] is CHILD
    assert network.cpds[0] is ROOT


def test_a_table_of_another_shape_is_not_exchanged() -> None:
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
    with pytest.raises(ValueError, match="the table of variable 'v0' has shape"):
        network.with_table(0, np.full(3, 1 / 3))


def test_the_text_names_every_family_parents_first() -> None:
    network = random_network(
        np.random.default_rng(0), [2, 3, 2], DAG(((2,), (0, 2), ()))
    )
    assert str(network).splitlines() == [
        "Bayesian network: 3 variables, 3 arcs, 11 free parameters",
        "  P(v2)  2 states",
        "  P(v0 | v2)  2 states",
        "  P(v1 | v0, v2)  3 states",
    ]
