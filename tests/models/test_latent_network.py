"""The network view answers as the flat view does, with readable names."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.cpds.distribution import DeterministicCPD, TableCPD
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.models.class_model import log_normalize
from bayleaf.models.hierarchical_naive_bayes import (
    HierarchicalNaiveBayesModel,
    latent_network,
)
from oracles.random_latent_models import random_model, random_tree
from property.networks import codes_of

CARDS = (2, 3, 2)
COLLAPSED = np.array([[0, 0, 1], [1, 0, 1]])


def model_of(
    tree: LatentTree, domain: Domain | None = None
) -> HierarchicalNaiveBayesModel:
    """A random model with two classes over a tree."""
    return random_model(np.random.default_rng(0), tree, 2, domain)


@pytest.mark.parametrize("seed", range(4))
def test_propagation_in_the_network_gives_the_posterior_of_the_flat_view(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, random_tree(rng, CARDS, 1 + seed % 2), 2)
    rows = [list(r) for r in itertools.product(*([*range(n), None] for n in CARDS))]
    flat = np.exp(log_normalize(model.class_log_scores(codes_of(rows, CARDS))))
    table = {f"v{i}": [row[i] for row in rows] for i in range(3)}
    class_name = model.domain[-1].name
    found = model.network.posterior_table(table, class_name)
    np.testing.assert_allclose(found, flat, atol=1e-9)
    evidence = {f"v{i}": code for i, code in enumerate(rows[7]) if code is not None}
    posterior = model.network.query(evidence, class_name)[class_name]
    np.testing.assert_allclose(posterior.probabilities, flat[7], atol=1e-9)


def test_a_collapsed_latent_has_its_cells_below_it() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    network = model_of(tree).network
    assert network.domain.names == ("v0", "v1", "v2", "L1", "L1 cells", "v3")
    assert network.edges == [
        ("L1 cells", "v0"),
        ("L1 cells", "v1"),
        ("v3", "v2"),
        ("v3", "L1"),
        ("L1", "L1 cells"),
    ]
    assert isinstance(network.cpd("v0"), DeterministicCPD)
    assert network.cpd("v1").probabilities[:, 1].tolist() == [0, 1, 0, 0, 1, 0]
    assert network.domain[4].states[3] == "1 & 0"


def test_cells_share_the_probability_of_their_state_by_their_counts() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    model = model_of(tree)
    counts = model.cell_counts[0].ravel()
    table = model.network.cpd("L1 cells").probabilities
    assert isinstance(model.network.cpd("L1 cells"), TableCPD)
    for state in range(2):
        inside = COLLAPSED.ravel() == state
        expected = (counts[inside] + 0.01) / (counts[inside] + 0.01).sum()
        np.testing.assert_allclose(table[state, inside], expected, rtol=1e-12)
        assert not table[state, ~inside].any()


def test_without_collapsing_the_children_hang_below_the_latent_itself() -> None:
    tree = LatentTree(CARDS).join(1, 0, np.arange(6).reshape(3, 2))
    network = model_of(tree).network
    assert network.domain.names == ("v0", "v1", "v2", "L1", "v3")
    assert network.domain[3].states[:3] == ("0 & 0", "0 & 1", "1 & 0")
    assert ("L1", "v0") in network.edges
    assert network.cpd("v0").probabilities[:, 0].tolist() == [1, 0, 1, 0, 1, 0]


def test_a_nested_latent_continues_below_the_cells_of_the_one_above() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    tree = tree.join(2, 3, np.array([[0, 1], [1, 1]]))
    network = model_of(tree).network
    assert ("L2 cells", "L1") in network.edges
    assert ("L1", "L1 cells") in network.edges
    assert ("L2 cells", "v2") in network.edges
    assert (
        network.domain[-2].states[1] == "0 & 2" or len(network.domain[-2].states) == 4
    )


def test_a_latent_with_one_state_leaves_its_cells_without_a_parent() -> None:
    tree = LatentTree(CARDS).join(0, 1, np.zeros((2, 3), dtype=np.intp))
    network = model_of(tree).network
    assert "L1" not in network.domain.names
    assert network.cpd("L1 cells").parents == ()
    assert network.cpd("L1 cells").probabilities.sum() == pytest.approx(1)


def test_only_tables_below_the_class_have_experience() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    network = latent_network(model_of(tree), np.array([7.0, 3.0]))
    with_experience = [
        network.domain.names[cpd.child]
        for cpd in network.cpds
        if isinstance(cpd, TableCPD) and cpd.experience is not None
    ]
    assert with_experience == ["v2", "L1"]
    learned = network.cpd("L1")
    assert isinstance(learned, TableCPD)
    assert learned.experience is not None
    assert learned.experience.tolist() == [7.0, 3.0]


def test_a_node_that_is_not_used_has_no_class_above() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    full = model_of(tree)
    model = HierarchicalNaiveBayesModel(
        full.domain, tree, full.prior, full.tables, full.cell_counts, used=(2,)
    )
    assert model.network.cpd("L1").parents == ()
    assert model.network.cpd("v2").parents == (5,)


def test_names_that_are_taken_are_avoided() -> None:
    domain = Domain(
        (
            Variable("L1 cells", ("a & b", "a")),
            numeric_variable("size", [1.5, 2.5]),
            Variable("c", ("b & c", "c")),
            Variable("L2", ("x", "y")),
        )
    )
    tree = LatentTree(CARDS).join(0, 2, np.array([[0, 1], [1, 1]]))
    network = model_of(tree.join(1, 3, COLLAPSED.T), domain).network
    assert network.domain.names[3:-1] == (
        "latent L1",
        "latent L1 cells",
        "latent L2",
        "latent L2 cells",
    )
    # "a & b" with "c" would read as "a" with "b & c".
    assert network.domain[4].states == ("1", "2", "3", "4")
    assert network.domain[6].states[0].startswith("<= 1.5 & ")


def test_a_table_of_cells_above_the_limit_is_refused() -> None:
    tree = LatentTree(CARDS).join(0, 1, COLLAPSED)
    full = model_of(tree)
    model = HierarchicalNaiveBayesModel(
        full.domain, tree, full.prior, full.tables, full.cell_counts, None, 11
    )
    with pytest.raises(ValueError, match="'L1 cells' needs 12 numbers"):
        _ = model.network
