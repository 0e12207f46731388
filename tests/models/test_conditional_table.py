"""Probability tables with labels: as frames, text and HTML."""

from __future__ import annotations

import numpy as np

from bayleaf import BayesianNetwork
from bayleaf.cpds import TreeCPD
from bayleaf.cpds.tree_cpd import Leaf, Split
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.conditional_table import ConditionalTable

YES_NO = ("no", "yes")
NETWORK = BayesianNetwork.from_tables(
    states={"rain": YES_NO, "hose": ["off", "on"], "wet": YES_NO},
    parents={"wet": ["rain", "hose"]},
    tables={
        "rain": [0.8, 0.2],
        "hose": [0.5, 0.5],
        "wet": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.0, 1.0]]],
    },
)


def test_a_frame_has_a_row_per_configuration_and_a_column_per_state() -> None:
    table = NETWORK.cpt("wet")
    frame = table.to_pandas()
    assert frame.index.names == ["rain", "hose"]
    assert frame.columns.name == "wet"
    assert frame.loc[("yes", "off"), "yes"] == 0.7
    assert np.array_equal(frame.to_numpy(), table.probabilities.reshape(4, 2))
    assert table.name == "wet"
    assert table.parents == ("rain", "hose")


def test_arrow_has_the_parents_before_the_states() -> None:
    row = {"rain": "no", "hose": "on", "no": 0.2, "yes": 0.8}
    assert NETWORK.cpt("wet").to_arrow().to_pylist()[1] == row
    assert NETWORK.cpt("hose").to_arrow().to_pylist() == [{"off": 0.5, "on": 0.5}]
    assert NETWORK.cpt("hose").to_pandas().to_dict("list") == {
        "off": [0.5],
        "on": [0.5],
    }


def test_a_state_called_like_a_parent_is_written_with_its_variable() -> None:
    network = BayesianNetwork.from_tables(
        states={"yes": YES_NO, "wet": YES_NO},
        parents={"wet": ["yes"]},
        tables={"yes": [0.5, 0.5], "wet": [[0.9, 0.1], [0.2, 0.8]]},
    )
    names = network.cpt("wet").to_arrow().column_names
    assert names == ["yes", "wet = no", "wet = yes"]


def test_text_is_that_of_describe_and_html_has_every_cell() -> None:
    table = NETWORK.cpt("wet")
    assert str(table) == repr(table) == NETWORK.describe("wet")
    html = table._repr_html_()
    assert "P(wet | rain, hose)" in html
    assert all(cell in html for cell in ("off", "0.70", "1.00"))


def test_long_tables_are_cut_in_html_and_say_so() -> None:
    many = [f"s{i}" for i in range(50)]
    network = BayesianNetwork.from_tables(
        states={"a": many, "b": YES_NO},
        parents={"b": ["a"]},
        tables={"a": [0.02] * 50, "b": [[0.5, 0.5]] * 50},
    )
    assert "and 10 lines more" in network.cpt("b")._repr_html_()


def test_a_tree_is_text_as_a_tree_and_a_frame_as_a_full_table() -> None:
    domain = Domain((Variable("a", YES_NO), Variable("b", YES_NO)))
    leaves = Leaf(np.array([0.5, 0.5])), Leaf(np.array([0.1, 0.9]))
    tree = TreeCPD((0, 1), (2, 2), Split(0, ((0,), (1,)), leaves))
    table = ConditionalTable(domain, tree)
    assert "a = yes" in str(table)
    assert table.to_pandas().loc["yes", "yes"] == 0.9
