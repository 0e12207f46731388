"""Rows looked up, listed and summed out, against the joint table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.cpds.distribution import GroupedTableCPD, TableCPD
from bayleaf.cpds.local_structure import log_probabilities_of_rows
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import PartialValues
from bayleaf.graph.dag import DAG
from bayleaf.inference import row_propagation
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.models.bayesian_network import BayesianNetwork

CARDS = (3, 2, 4)


def mixed_network(seed: int) -> BayesianNetwork:
    """A table, a tree and a grouped table."""
    rng = np.random.default_rng(seed)

    def rows(*shape: int) -> np.ndarray:
        return rng.dirichlet(np.ones(shape[-1]), shape[:-1])

    tree = Split(
        0,
        ((0, 2), (1,)),
        (Leaf(rows(2)), Leaf(rows(2))),
    )
    grouped = GroupedTableCPD(
        (0, 1, 2), CARDS, (((0,), (1, 2)), ((1,), (0,))), rows(2, 2, 4)
    )
    cpds = (
        TableCPD((0,), rows(3)),
        TreeCPD((0, 1), (3, 2), tree),
        grouped,
    )
    domain = Domain(
        tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(CARDS))
    )
    return BayesianNetwork(domain, DAG(((), (0,), (0, 1))), cpds)


def joint_table(network: BayesianNetwork) -> np.ndarray:
    """The product of all full tables."""
    first, second, third = (cpd.probabilities for cpd in network.cpds)
    return first[:, None, None] * second[:, :, None] * third


def holed_rows() -> Codes:
    """Every row with every pattern of holes."""
    cells = [range(card + 1) for card in CARDS]
    return Codes.from_columns(list(np.array(list(itertools.product(*cells))).T), CARDS)


def expected_logs(network: BayesianNetwork, codes: Codes) -> np.ndarray:
    """Logarithms by summing up the joint table."""
    joint = joint_table(network)
    columns = [codes.column(v) for v in range(3)]
    found = []
    for row in zip(*columns, strict=True):
        where = tuple(
            slice(None) if code == card else int(code)
            for code, card in zip(row, CARDS, strict=True)
        )
        found.append(np.log(joint[where].sum()))
    return np.array(found)


@pytest.mark.parametrize("most_listed", [0, 3, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_holes_are_summed_out_exactly_in_either_way(
    monkeypatch: pytest.MonkeyPatch, most_listed: int, n_jobs: int
) -> None:
    monkeypatch.setattr(row_propagation, "_MOST_LISTED", most_listed)
    monkeypatch.setattr(row_propagation, "_BLOCK_ROWS", 10)
    network, codes = mixed_network(1), holed_rows()
    np.testing.assert_allclose(
        log_densities(NetworkTrees(network), codes, n_jobs),
        expected_logs(network, codes),
        atol=1e-12,
    )


def test_single_distributions_are_looked_up_and_nan_where_cells_lack() -> None:
    network, codes = mixed_network(2), holed_rows()
    for cpd in network.cpds:
        found = log_probabilities_of_rows(cpd, codes)
        for row in range(codes.n_rows):
            where = tuple(int(codes.column(v)[row]) for v in cpd.family)
            lacks = any(c == card for c, card in zip(where, cpd.cards, strict=True))
            if lacks:
                assert np.isnan(found[row])
            else:
                assert found[row] == np.log(cpd.probabilities[where])


def test_sets_of_states_are_summed_up() -> None:
    network = mixed_network(3)
    codes = Codes.from_columns([np.array([3, 0]), np.array([1, 2]), [4, 3]], CARDS)
    partial = PartialValues.from_cells([(np.array([0]), 2, (1, 3))])
    joint = joint_table(network)
    expected = [joint[:, 1][:, [1, 3]].sum(), joint[0, :, 3].sum()]
    np.testing.assert_allclose(
        log_densities(NetworkTrees(network), codes, None, partial),
        np.log(expected),
        atol=1e-12,
    )


def test_rows_are_drawn_by_their_probabilities() -> None:
    network = mixed_network(4)
    drawn = network.sample_codes(40_000, None, np.random.default_rng(0))
    counts = np.zeros(CARDS)
    np.add.at(counts, tuple(drawn.column(v) for v in range(3)), 1.0)
    expected = joint_table(network) * 40_000
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    # 23 degrees of freedom; the 0.1 % point.
    assert chi_squared < 49.7
