"""Graphs that a person draws: how they are written, asked, and refused."""

from __future__ import annotations

import itertools
import pickle
import time
from typing import Any

import networkx
import numpy as np
import pyarrow
import pytest
from scipy import sparse

from bayleaf import BayesianNetwork, NetworkStructure, Variable
from bayleaf.graph.dag import DAG
from bayleaf.models.network_structure import read_edges
from offenders import check_each

PAIRS = [("rain", "wet"), ("hose", "wet"), ("wet", "slips")]
STRUCTURE = BayesianNetwork.from_edges(PAIRS)
NETWORK = BayesianNetwork.from_tables(
    states={"a": ["n", "y"], "b": ["n", "y"]},
    parents={"b": ["a"]},
    tables={"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]},
)


def test_all_ways_to_write_arcs_draw_the_same_graph() -> None:
    def check(edges: Any) -> None:
        structure = BayesianNetwork.from_edges(edges, ["rain", "wet", "hose", "slips"])
        assert sorted(structure.edges) == sorted(PAIRS)
        assert structure.names == ("rain", "wet", "hose", "slips")

    check_each(
        [
            PAIRS,
            [list(pair) for pair in PAIRS],
            iter(PAIRS),
            "rain -> wet <- hose; wet -> slips",
            "rain→wet\nhose -> wet\n\nslips <- wet",
            networkx.DiGraph(PAIRS),
            STRUCTURE,
        ],
        check,
    )


def test_arrays_and_frames_of_edges_draw_the_same_graph() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["rain", "wet", "hose", "slips"]
    matrix = np.zeros((4, 4))
    for parent, child in PAIRS:
        matrix[names.index(parent), names.index(child)] = 0.5
    rows = dict(zip(("source", "target"), zip(*PAIRS, strict=True), strict=True))
    strengths = {"to": rows["target"], "strength": [1.0] * 3, "From": rows["source"]}

    def check(edges: Any) -> None:
        structure = BayesianNetwork.from_edges(edges, nodes=names)
        assert sorted(structure.edges) == sorted(PAIRS)
        assert structure.names == tuple(names)

    check_each(
        [
            np.array(PAIRS),
            np.array(PAIRS, dtype=object),
            matrix,
            matrix.astype(bool),
            sparse.csr_array(matrix),
            pandas.DataFrame(matrix, names, names).sample(frac=1, random_state=0),
            polars.DataFrame(matrix, schema=names),
            pandas.DataFrame(rows),
            pandas.DataFrame(strengths),
            polars.DataFrame(strengths),
            pyarrow.table(strengths),
            pandas.DataFrame(PAIRS, columns=["one", "other"]),
        ],
        check,
        lambda edges: type(edges).__module__,
    )


def test_an_array_of_integers_draws_indices() -> None:
    assert BayesianNetwork.from_edges(np.array([[3, 5]])).names == (3, 5)
    square = BayesianNetwork.from_edges(np.array([[0, 1], [0, 0]]))
    assert square.edges == [(0, 1)]


def test_a_common_cause_is_a_latent_variable() -> None:
    structure = BayesianNetwork.from_edges("X -> Y; X <-> Y")
    assert structure.latents == ("U_X_Y",)
    sets = structure.adjustment_sets("X", "Y")
    assert list(sets) == []
    assert str(sets.open_path) == "X <- U_X_Y -> Y"
    assert not structure.is_adjustment_set("X", "Y", "U_X_Y")
    assert not structure.d_separated("X", "Y")
    assert "  U_X_Y (latent)" in str(structure).splitlines()
    assert 'class="node latent"' in structure._repr_html_()
    named = BayesianNetwork.from_edges("X -> Y <- Z -> X", latents="Z")
    assert list(named.adjustment_sets("X", "Y")) == []
    assert BayesianNetwork.from_edges(named).latents == ("Z",)
    graph = networkx.DiGraph([("X", "Y"), ("V", "Y"), ("U", "Y")])
    graph.latents = {"U", "V"}
    assert BayesianNetwork.from_edges(graph).latents == ("V", "U")
    assert named.with_states({"X": ["n", "y"]}).latents == ("Z",)
    with pytest.raises(ValueError, match="latents names 'W'"):
        BayesianNetwork.from_edges("X -> Y", latents=["W"])
    with pytest.raises(ValueError, match="'Z' cannot be both latent and required"):
        named.adjustment_sets("X", "Y", required="Z")


def test_parents_by_child_draw_the_same_graph() -> None:
    by_child = {"wet": ["rain", "hose"], "slips": "wet"}
    structure = BayesianNetwork.from_edges(by_child, nodes=STRUCTURE.names)
    assert structure == STRUCTURE


def test_names_stand_in_the_order_in_which_arcs_mention_them() -> None:
    assert STRUCTURE.names == ("rain", "wet", "hose", "slips")


def test_nodes_come_first_and_may_have_no_arc() -> None:
    structure = BayesianNetwork.from_edges(PAIRS, nodes=["cat", "hose"])
    assert structure.names == ("cat", "hose", "rain", "wet", "slips")
    assert structure.markov_blanket("cat") == ()


def test_a_graph_over_indices_is_named_by_its_nodes() -> None:
    structure = BayesianNetwork.from_edges(DAG(((), (0,))), nodes=["x", "y"])
    assert structure.edges == [("x", "y")]
    with pytest.raises(ValueError, match="a DAG of 2 nodes needs as many names"):
        BayesianNetwork.from_edges(DAG(((), (0,))), nodes=["x"])


def test_a_network_gives_its_graph_and_its_states() -> None:
    structure = BayesianNetwork.from_edges(NETWORK)
    assert structure.edges == NETWORK.edges
    assert structure.variables == NETWORK.domain.variables


def test_parents_keep_the_order_of_the_arcs() -> None:
    assert STRUCTURE.dag.parents[1] == (0, 2)
    assert list(STRUCTURE.arcs) == [(0, 1), (2, 1), (1, 3)]


def test_the_graph_answers_by_name() -> None:
    assert STRUCTURE.parents("wet") == ("rain", "hose")
    assert STRUCTURE.children("wet") == ("slips",)
    with pytest.raises(ValueError, match="did you mean rain"):
        STRUCTURE.parents("rian")
    assert STRUCTURE.markov_blanket("rain") == ("wet", "hose")
    assert STRUCTURE.d_separated("rain", "hose")
    assert not STRUCTURE.d_separated("rain", "hose", given="slips")
    assert STRUCTURE.d_separated(["rain", "hose"], "slips", given=["wet"])


def test_networkx_gets_names_and_arcs_back() -> None:
    structure = BayesianNetwork.from_edges(PAIRS, nodes=["cat"])
    graph = structure.to_networkx()
    assert list(graph.nodes) == list(structure.names)
    assert sorted(graph.edges) == sorted(PAIRS)


def test_what_is_no_graph_is_refused_by_name() -> None:
    def check(case: tuple[Any, str]) -> None:
        edges, message = case
        with pytest.raises(ValueError, match=message):
            BayesianNetwork.from_edges(edges)

    check_each(
        [
            ([("a", "b"), ("b", "c"), ("c", "a")], "close a cycle among a, b, c"),
            ([("a", "a")], "close a cycle among a"),
            ([("a", "b"), ("a", "b")], "'b' lists the parent 'a' twice"),
            ("a -> -> b", "names no arc"),
            ("a", "names no arc"),
            ([], "at least one variable"),
            ("a -- b", "neither -> nor <-"),
            (np.array([[0, np.nan], [0, 0]]), "must have finite numbers"),
        ],
        check,
    )


def test_what_holds_no_arcs_is_refused() -> None:
    def check(case: tuple[Any, str]) -> None:
        edges, message = case
        with pytest.raises(TypeError, match=message):
            BayesianNetwork.from_edges(edges)

    check_each(
        [
            ([("a", "b", "c")], "one is"),
            ([("a", 1.5)], "text or an integer"),
            (7, "must be"),
            (networkx.Graph(PAIRS), "no directions"),
            (np.zeros((2, 3)), "must have two columns, the parent and the child"),
            (np.array([["a", "b", "c"]]), "must have two columns"),
            (pyarrow.table({"a": [1], "b": [2], "c": [3]}), "needs the columns 'from'"),
            (pyarrow.table({"from": ["a"], "to": [None]}), "text or an integer"),
            ({"a": 1.5}, "parents of 'a' must be a list"),
        ],
        check,
    )


def test_nodes_as_one_text_are_refused() -> None:
    with pytest.raises(TypeError, match="nodes must be a list"):
        read_edges([("a", "b")], "ab")


def test_near_names_are_offered_for_a_wrong_one() -> None:
    with pytest.raises(ValueError, match="did you mean rain"):
        STRUCTURE.markov_blanket("rian")
    with pytest.raises(ValueError, match=r"states are given for 'rian'.*rain"):
        STRUCTURE.with_states({"rian": ["no", "yes"]})


def test_states_are_given_by_name_or_as_variables() -> None:
    age = Variable.numeric("wet", cuts=[1])
    structure = STRUCTURE.with_states({"rain": ["no", "yes"], "wet": age})
    rain = Variable("rain", ("no", "yes"))
    assert structure.variables == (rain, age, None, None)
    with pytest.raises(ValueError, match="called 'wet'"):
        STRUCTURE.with_states({"rain": age})


def test_texts_show_every_variable_with_its_parents() -> None:
    assert str(STRUCTURE).splitlines() == [
        "Network structure of 4 variables and 3 arcs",
        "  rain",
        "  wet <- rain, hose",
        "  hose",
        "  slips <- wet",
    ]
    assert "3 arcs (rain -> wet" in repr(STRUCTURE)
    assert "<svg" in STRUCTURE._repr_html_()


def test_structures_are_equal_by_content_and_survive_pickling() -> None:
    again = pickle.loads(pickle.dumps(STRUCTURE))
    assert again == STRUCTURE
    assert hash(again) == hash(STRUCTURE)
    assert NetworkStructure(("a", "b"), DAG(((), ()))) != STRUCTURE


def test_two_variables_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two variables are called a"):
        NetworkStructure(("a", "a"), DAG(((), ())))


@pytest.mark.slow
def test_graphs_of_many_variables_take_seconds() -> None:
    names = [f"v{i}" for i in range(100_000)]
    chain = list(itertools.pairwise(names))
    states = {name: ["n", "y"] for name in names}
    started = time.process_time()
    assert BayesianNetwork.from_edges(chain, states=states).edges == chain
    star = [(name, "child") for name in names]
    assert len(BayesianNetwork.from_edges(star).edges) == len(names)
    with pytest.raises(ValueError, match=r"close a cycle among v0, v1, .* more"):
        BayesianNetwork.from_edges([*chain, (names[-1], names[0])])
    # Looking up each name in the list of all took minutes.
    assert time.process_time() - started < 30
