"""Networks go to pgmpy and pyAgrum in memory and come back the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork
from bayleaf.data.domain import Variable
from bayleaf.datasets import load_network
from oracles.hard_networks import assert_same_network, mixed_network
from oracles.odd_networks import network_of, odd_network

# Peers warn about their own inner workings.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def gum() -> Any:
    """The package pyAgrum."""
    return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def pgmpy() -> Any:
    """pgmpy's models, tables and inference."""
    pytest.importorskip("pgmpy")
    from pgmpy import inference, models
    from pgmpy.factors import discrete

    return {
        "model": models.DiscreteBayesianNetwork,
        "table": discrete.TabularCPD,
        "inference": inference.VariableElimination,
    }


def as_tables(network: BayesianNetwork) -> BayesianNetwork:
    """The same network of tables without experience, numbers or hierarchies."""
    domain = network.domain
    return BayesianNetwork.from_tables(
        states={v.name: v.states for v in domain},
        parents={
            domain.names[cpd.child]: [domain.names[p] for p in cpd.parents]
            for cpd in network.cpds
        },
        tables={domain.names[cpd.child]: cpd.probabilities for cpd in network.cpds},
    )


@pytest.mark.parametrize("make", [odd_network, mixed_network])
def test_every_name_and_table_comes_back_from_pgmpy(pgmpy: Any, make: Any) -> None:
    network = as_tables(make())
    model = network.to_pgmpy()
    assert model.check_model()
    assert_same_network(network, BayesianNetwork.from_pgmpy(model))


@pytest.mark.parametrize("name", ["asia", "alarm", "survey"])
def test_a_published_network_comes_back_from_both(
    gum: Any, pgmpy: Any, name: str
) -> None:
    network = load_network(name)
    assert_same_network(network, BayesianNetwork.from_pgmpy(network.to_pgmpy()))
    assert_same_network(network, BayesianNetwork.from_pyagrum(network.to_pyagrum()))


def test_both_find_our_posteriors(gum: Any, pgmpy: Any) -> None:
    network = load_network("survey")
    evidence = {"T": "train", "R": "small"}
    ours = network.query(evidence)
    pgmpys = pgmpy["inference"](network.to_pgmpy())
    agrums = gum.LazyPropagation(network.to_pyagrum())
    agrums.setEvidence(evidence)
    for name in ("A", "S", "E", "O"):
        expected = ours[name].probabilities
        theirs = pgmpys.query([name], evidence, show_progress=False).values
        np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-12)
        theirs = agrums.posterior(name).toarray()
        np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-12)


def test_one_state_goes_to_pyagrum_and_back(gum: Any) -> None:
    variables = [
        Variable("a", ("n", "y")),
        Variable("c", ("x",)),
        Variable("b", ("p", "q")),
    ]
    network = network_of(variables, [(), (0,), (1, 0)])
    assert_same_network(network, BayesianNetwork.from_pyagrum(network.to_pyagrum()))


def test_states_and_names_become_text_in_pyagrum(gum: Any) -> None:
    network = network_of([Variable(7, (1, 2.5, None))], [()])
    model = network.to_pyagrum()
    assert model.variable("7").labels() == tuple(
        network.domain[0].label(i) for i in range(3)
    )


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        (
            [Variable(7, ("a", "b")), Variable("7", ("a", "b"))],
            "two variables that are both writ",
        ),
        ([Variable("x", (1, "1"))], "variable 'x' has two states that are both writ"),
    ],
)
def test_what_pyagrum_cannot_tell_apart_is_refused(
    gum: Any, variables: list[Variable], problem: str
) -> None:
    network = network_of(variables, [()] * len(variables))
    with pytest.raises(ValueError, match=problem):
        network.to_pyagrum()


def test_variables_of_every_kind_come_from_pyagrum(gum: Any) -> None:
    model = gum.BayesNet()
    model.add(gum.RangeVariable("r", "", 1, 3))
    model.add(gum.DiscretizedVariable("d", "", [1, 2, 3]))
    model.addArc("r", "d")
    model.generateCPTs()
    network = BayesianNetwork.from_pyagrum(model)
    assert network.domain[0].states == ("1", "2", "3")
    assert network.domain[1].states == model.variable("d").labels()
    np.testing.assert_array_equal(
        network.cpd("d").probabilities, model.cpt("d").toarray()
    )


def test_a_parent_whose_states_stand_in_another_order_is_put_right(pgmpy: Any) -> None:
    model = pgmpy["model"]([("a", "b")])
    table = pgmpy["table"]
    model.add_cpds(
        table("a", 2, [[0.25], [0.75]], state_names={"a": ["n", "y"]}),
        table(
            "b",
            2,
            [[0.125, 0.5], [0.875, 0.5]],
            evidence=["a"],
            evidence_card=[2],
            state_names={"b": ["n", "y"], "a": ["y", "n"]},
        ),
    )
    rows = BayesianNetwork.from_pgmpy(model).cpd("b").probabilities
    np.testing.assert_array_equal(rows, [[0.5, 0.5], [0.125, 0.875]])


def test_a_model_without_tables_is_refused(pgmpy: Any) -> None:
    with pytest.raises(ValueError, match="node 'a' has no table; fit the model"):
        BayesianNetwork.from_pgmpy(pgmpy["model"]([("a", "b")]))


def test_other_objects_are_refused(gum: Any, pgmpy: Any) -> None:
    with pytest.raises(TypeError, match=r"pyagrum\.BayesNet, but a str was given"):
        BayesianNetwork.from_pyagrum("asia")
    with pytest.raises(TypeError, match="DiscreteBayesianNetwork, but a str was given"):
        BayesianNetwork.from_pgmpy("asia")


def test_latent_variables_come_from_pgmpy_and_go_back(pgmpy: Any) -> None:
    table = pgmpy["table"]
    model = pgmpy["model"]([("X", "Y"), ("U", "X"), ("U", "Y")], latents={"U"})
    rows = [[0.1, 0.3, 0.4, 0.8], [0.9, 0.7, 0.6, 0.2]]
    model.add_cpds(
        table("U", 2, [[0.3], [0.7]]),
        table("X", 2, [[0.2, 0.6], [0.8, 0.4]], evidence=["U"], evidence_card=[2]),
        table("Y", 2, rows, evidence=["X", "U"], evidence_card=[2, 2]),
    )
    network = BayesianNetwork.from_pgmpy(model)
    assert network.latents == ("U",)
    assert list(network.adjustment_sets("X", "Y")) == []
    assert network.to_pgmpy().latents == {"U"}
