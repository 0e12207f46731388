"""Networks fit together, or say which variable does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.cpds import DeterministicCPD, Leaf, Split, TableCPD, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
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


def test_a_variable_is_known_by_its_name_and_else_by_its_index() -> None:
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
    other = network.with_table("v0", np.array([0.25, 0.75]))
    assert other.cpd(0).probabilities.tolist() == [0.25, 0.75]
    assert network.markov_blanket(0) == ("v1",)
    numbered = BayesianNetwork.from_tables(
        states={1: ["a", "b"], 0: ["c", "d"]}, tables={1: [0.1, 0.9], 0: [0.5, 0.5]}
    )
    assert numbered.position(1) == 0
    assert numbered.position(0) == 1


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
        "  P(v2)           2 states: 0, 1",
        "  P(v0 | v2)      2 states: 0, 1",
        "  P(v1 | v0, v2)  3 states: 0, 1, 2",
    ]


SPRINKLER: dict[str, Any] = {
    "states": {"rain": ["no", "yes"], "on": [0, 1], "grass": ["dry", "damp", "wet"]},
    "parents": {"grass": ["rain", "on"]},
    "tables": {
        "rain": [0.8, 0.2],
        "on": [0.5, 0.5],
        "grass": [
            [[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]],
            [[0.125, 0.375, 0.5], [0.0, 0.00012, 0.99988]],
        ],
    },
}


def _changed(part: str, name: str, value: object) -> dict[str, Any]:
    return {**SPRINKLER, part: {**SPRINKLER[part], name: value}}


def test_a_network_is_built_from_tables_by_name() -> None:
    network = BayesianNetwork.from_tables(**SPRINKLER)
    assert network.edges == [("rain", "grass"), ("on", "grass")]
    assert network.cpd("grass").probabilities[1, 0, 1] == 0.375


def test_flat_tables_are_taken_with_the_child_fastest() -> None:
    flat = np.ravel(SPRINKLER["tables"]["grass"])
    network = BayesianNetwork.from_tables(**_changed("tables", "grass", flat))
    np.testing.assert_array_equal(
        network.cpd("grass").probabilities, SPRINKLER["tables"]["grass"]
    )


def test_tables_that_are_no_network_are_refused() -> None:
    def check(case: tuple[str, str, object, str]) -> None:
        part, name, value, message = case
        with pytest.raises(ValueError, match=message):
            BayesianNetwork.from_tables(**_changed(part, name, value))

    check_each(
        [
            (
                "tables",
                "rain",
                [0.8, 0.1],
                "'rain' sums to 0.9 at parent configuration",
            ),
            ("tables", "rain", [1.2, -0.2], "'rain' holds a negative number"),
            ("tables", "rain", [float("nan"), 1.0], "'rain' holds a negative number"),
            ("tables", "rain", [0.5, 0.25, 0.25], r"'rain' has shape \(3,\)"),
            ("tables", "rain", ["a", "b"], "'rain' holds something that is no number"),
            ("tables", "rian", [0.5, 0.5], "did you mean rain"),
            ("parents", "rain", ["gras"], "did you mean grass"),
            ("parents", "rain", ["on", "on"], "'rain' lists the parent 'on' twice"),
            ("states", "sun", ["no", "yes"], "'sun' has no table"),
        ],
        check,
    )


def test_arcs_that_close_a_cycle_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="cycle among rain, grass"):
        BayesianNetwork.from_tables(**_changed("parents", "rain", ["grass"]))


def test_names_and_states_that_cannot_be_found_again_are_refused() -> None:
    def check(case: tuple[Any, Any, str]) -> None:
        states, parents, message = case
        tables = {name: [0.5, 0.5] for name in states}
        with pytest.raises((TypeError, ValueError), match=message):
            BayesianNetwork.from_tables(states, tables, parents)

    check_each(
        [
            (["a"], {}, "states must be a mapping"),
            ({"a": 2}, {}, "the states of variable 'a' must be a list, got int"),
            ({"a": []}, {}, "variable 'a' has no states"),
            ({"a": [[1], [2]]}, {}, r"'a' cannot have the state \[1\]"),
            ({"a": [float("nan"), 1.0]}, {}, "'a' cannot have the state nan"),
            ({"a": [None, 1]}, {}, "'a' has None before its last state"),
            (
                {("a",): ["x", "y"]},
                {},
                r"name must be text or an integer, got \('a',\)",
            ),
            ({True: ["x", "y"]}, {}, "name must be text or an integer, got True"),
            (
                {"a": ["x", "y"]},
                {"a": None},
                "the parents of 'a' must be a list, got None",
            ),
        ],
        check,
    )


def test_names_and_states_of_numpy_become_plain() -> None:
    network = BayesianNetwork.from_tables(
        {np.int64(3): np.array([1, 2])},  # type: ignore[dict-item, arg-type]
        {np.int64(3): [0.5, 0.5]},  # type: ignore[dict-item]
    )
    (variable,) = network.domain
    assert [type(text) for text in (variable.name, *variable.states)] == [int] * 3


def test_a_single_parent_may_be_given_by_its_name() -> None:
    network = BayesianNetwork.from_tables(
        {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        {"rain": [0.5, 0.5], "wet": [[1, 0], [0, 1]]},
        {"wet": "rain"},
    )
    assert network.edges == [("rain", "wet")]


def test_wrong_experience_is_refused_with_the_variable() -> None:
    def check(counts: Any) -> None:
        network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
        with pytest.raises(ValueError, match="experience of variable 'v1' must be"):
            network.with_experience({"v1": counts})

    check_each(["x", None, -1, np.nan, [1, 2, 3], 1e308], check)


def test_a_table_that_is_no_distribution_is_not_exchanged() -> None:
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
    for table in ([np.nan, 1.0], [0.5, 0.6]):
        with pytest.raises(ValueError, match="the table of variable 'v0'"):
            network.with_table(0, np.array(table))
    with pytest.raises(ValueError, match="asked for 9, but there is no such variable"):
        network.with_table(9, np.array([0.5, 0.5]))


def test_the_blanket_and_separation_go_by_name() -> None:
    network = BayesianNetwork.from_tables(**SPRINKLER)
    assert network.markov_blanket("rain") == ("on", "grass")
    assert network.d_separated("rain", "on")
    assert not network.d_separated("rain", ["on"], given=["grass"])
    with pytest.raises(ValueError, match="did you mean grass"):
        network.markov_blanket("gras")


def test_experience_is_kept_by_the_named_tables_alone() -> None:
    network = BayesianNetwork.from_tables(**SPRINKLER)
    everywhere = network.with_experience(2.0)
    np.testing.assert_array_equal(
        everywhere.cpd("grass").experience,  # type: ignore[attr-defined]
        np.full((2, 2), 2.0),
    )
    one = everywhere.with_experience({"grass": [[1, 2], [3, 4]]})
    assert one.cpd("rain").experience is None  # type: ignore[attr-defined]
    assert one.cpd("grass").experience[1, 0] == 3  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="at least 0"):
        network.with_experience(-1.0)


def test_a_table_is_described_line_by_line() -> None:
    network = BayesianNetwork.from_tables(**SPRINKLER)
    assert network.describe("grass").splitlines() == [
        "P(grass | rain, on)",
        "  rain  on |    dry    damp     wet",
        "  no    0  |   1.00    0.00    0.00",
        "  no    1  |   0.25    0.25    0.50",
        "  yes   0  | 0.1250  0.3750    0.50",
        "  yes   1  |   0.00  0.0001  0.9999",
    ]


def test_a_tree_is_described_leaf_by_leaf_with_the_names_of_groups() -> None:
    colours = ValueHierarchy.from_nested(
        {"any": {"warm": ["red", "pink"], "c": ["blue"]}}
    )
    domain = Domain(
        (
            Variable("colour", ("red", "pink", "blue"), hierarchy=colours),
            Variable("size", ("s", "m", "l")),
            Variable("sold", ("no", "yes")),
        )
    )
    leaves = [Leaf(np.array(row)) for row in ([0.5, 0.5], [0.1, 0.9], [1.0, 0.0])]
    inner = Split(1, ((0, 2), (1,)), (leaves[0], leaves[1]))
    tree = TreeCPD((0, 1, 2), (3, 3, 2), Split(0, ((0, 1), (2,)), (inner, leaves[2])))
    roots = [TableCPD((i,), np.full(3, 1 / 3)) for i in range(2)]
    network = BayesianNetwork(domain, DAG(((), (), (0, 1))), (*roots, tree))
    assert network.describe("sold").splitlines() == [
        "P(sold | colour, size)",
        "                                   |   no   yes",
        "  colour = warm and size in {s, l} | 0.50  0.50",
        "  colour = warm and size = m       | 0.10  0.90",
        "  colour = blue                    | 1.00  0.00",
    ]
    assert (
        str(network).splitlines()[-1].endswith("2 states: no, yes (tree with 3 leaves)")
    )
    assert network.n_parameters == 2 + 2 + 3


def test_a_value_map_is_described_as_what_follows_from_what() -> None:
    cpd = DeterministicCPD((0, 1), 3, np.array([2, 0]))
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, cpd))
    assert network.describe("v1").splitlines() == [
        "P(v1 | v0)",
        "  v0 | v1",
        "  0  |  2",
        "  1  |  0",
    ]


def test_long_tables_and_networks_are_cut_and_say_so() -> None:
    wide = BayesianNetwork.from_tables(
        states={"a": range(50), "b": range(20)},
        parents={"b": ["a"]},
        tables={"a": np.full(50, 0.02), "b": np.full((50, 20), 0.05)},
    )
    lines = wide.describe("b").splitlines()
    assert lines[-1] == "  and 10 lines more"
    assert lines[1].endswith("...")
    assert max(map(len, lines)) < 100
    many = BayesianNetwork.from_tables(
        states={f"x{i}": "ab" for i in range(70)},
        tables={f"x{i}": [0.5, 0.5] for i in range(70)},
    )
    assert str(many).splitlines()[-1] == "  and 10 variables more"


def test_variables_and_states_are_found_by_name() -> None:
    network = BayesianNetwork(DOMAIN, CHAIN, (ROOT, CHILD))
    assert network.names == ("v0", "v1")
    assert network.variables == DOMAIN.variables
    assert network.states("v1") == DOMAIN[1].states
    assert (network.parents("v1"), network.children("v1")) == (("v0",), ())
    assert network.cpt("v1").to_arrow().num_rows == 2
    with pytest.raises(ValueError, match="the network is asked for 'v7'"):
        network.cpt("v7")
