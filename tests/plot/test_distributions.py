"""Probability tables drawn as heat maps, trees from the root to the leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import AODEClassifier, BayesianNetwork, TANClassifier, ValueHierarchy
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.datasets import load_heart
from bayleaf.graph.dag import DAG
from bayleaf.plot import cpt, tree_cpd
from bayleaf.plot.distributions import group_label


def rain(n_states: int = 2) -> BayesianNetwork:
    states = [f"w{i}" for i in range(n_states)]
    rng = np.random.default_rng(0)
    return BayesianNetwork.from_tables(
        states={
            "rain_$": ["no", "yes"],
            "wind": ["low", "high", "wild"],
            "wet": states,
        },
        parents={"wet": ["rain_$", "wind"]},
        tables={
            "rain_$": [0.8, 0.2],
            "wind": [0.2, 0.3, 0.5],
            "wet": rng.dirichlet(np.ones(n_states), (2, 3)),
        },
    )


def test_rows_are_parent_configurations_and_columns_states() -> None:
    network = rain()
    ax = cpt(network, "wet")
    expected = np.asarray(network.cpd("wet").probabilities).reshape(6, 2)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(expected)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert rows[:4] == ["no, low", "no, high", "no, wild", "yes, low"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["w0", "w1"]
    assert ax.get_ylabel() == "rain_$, wind"
    assert ax.get_title() == "P(wet | rain_$, wind)"
    numbers = [text.get_text() for text in ax.texts]
    assert numbers == [f"{value:.2f}" for value in expected.ravel()]


def test_one_scale_from_0_to_1_holds_for_every_table() -> None:
    assert cpt(rain(), "wind").images[0].get_clim() == (0.0, 1.0)


def test_numbers_are_light_on_dark_cells() -> None:
    network = BayesianNetwork.from_tables({"a": ["x", "y"]}, {"a": [0.9, 0.1]})
    dark, light = cpt(network, "a").texts
    assert dark.get_color() != light.get_color()


def test_parents_can_be_held_at_a_state() -> None:
    network = rain()
    ax = cpt(network, "wet", given={"rain_$": "yes"})
    expected = np.asarray(network.cpd("wet").probabilities)[1]
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(expected)
    assert ax.get_yticklabels()[0].get_text() == "yes, low"


def test_many_cells_have_no_numbers() -> None:
    assert len(cpt(rain(25), "wet").texts) == 150
    assert not cpt(rain(26), "wet").texts


def test_long_states_are_slanted_and_shortened() -> None:
    states = ["a state with a very long name" + str(i) for i in range(3)]
    network = BayesianNetwork.from_tables({"a": states}, {"a": [0.2, 0.3, 0.5]})
    labels = cpt(network, "a").get_xticklabels()
    assert all(len(label.get_text()) <= 16 for label in labels)
    assert all(label.get_text().endswith("\u2026") for label in labels)
    assert labels[0].get_rotation() == 40


def test_an_estimator_stands_for_its_network() -> None:
    X, y = load_heart(return_X_y=True)
    model = TANClassifier().fit(X, y)
    ax = cpt(model, "sex")
    expected = np.asarray(model.network_.cpd("sex").probabilities).reshape(-1, 2)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(expected)
    with pytest.raises(AttributeError, match="no network_"):
        cpt(AODEClassifier().fit(X, y), "sex")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"variable": "wett"}, "did you mean wet"),
        ({"variable": "wet", "given": {"snow": "no"}}, "'snow', which is no parent"),
        ({"variable": "wind", "given": {"snow": "no"}}, "'wind' has no parents"),
        ({"variable": "wet", "given": {"rain_$": "maybe"}}, "maybe"),
    ],
)
def test_unknown_names_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        cpt(rain(), **arguments)


def test_large_tables_are_refused_with_the_mend() -> None:
    with pytest.raises(ValueError, match="31 columns, but a picture shows up to 60 an"):
        cpt(rain(31), "wet")
    names = [f"p{i}" for i in range(7)]
    network = BayesianNetwork.from_tables(
        states={name: ["0", "1"] for name in [*names, "child"]},
        parents={"child": names},
        tables={name: [0.5, 0.5] for name in names} | {"child": [0.5] * 256},
    )
    with pytest.raises(ValueError, match=r"128 rows .* hold some of p0, p1, .* given="):
        cpt(network, "child")
    held = cpt(network, "child", given={"p0": "0", "p3": "1"})
    assert len(held.get_yticklabels()) == 32


@pytest.mark.parametrize("source", [None, [1], "wet"])
def test_what_is_no_network_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="must be a Bayesian network or a fitted"):
        cpt(source, "wet")


STATES = ("oak", "elm", "fir", "pine")


def with_tree(root: Leaf | Split, n_states: int = 2) -> BayesianNetwork:
    """A network tree_$ -> leaf <- wet in which leaf has a tree."""
    states: dict[str | int, Any] = {
        "tree_$": STATES,
        "wet": ["no", "yes"],
        "leaf": [f"s{i}" for i in range(n_states)],
    }
    flat = BayesianNetwork.from_tables(
        states=states,
        parents={"leaf": ["tree_$", "wet"]},
        tables={
            "tree_$": [0.25] * 4,
            "wet": [0.5, 0.5],
            "leaf": np.full((4, 2, n_states), 1 / n_states),
        },
    )
    cpd = TreeCPD((0, 1, 2), (4, 2, n_states), root)
    return replace(flat, cpds=(*flat.cpds[:2], cpd))


def small() -> BayesianNetwork:
    below = Split(1, ((0,), (1,)), (Leaf(np.array([0.5, 0.5])), Leaf(np.array([1, 0]))))
    return with_tree(Split(0, ((0, 1), (2, 3)), (Leaf(np.array([0.9, 0.1])), below)))


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_questions_groups_and_leaves_are_all_there() -> None:
    ax = tree_cpd(small(), "leaf")
    assert sorted(texts(ax)) == sorted(
        ["tree_$", "wet", "oak, elm", "fir, pine", "no", "yes"]
    )
    assert ax.get_title() == "P(leaf | tree_$, wet), 3 leaves"


def test_bars_are_the_leaves_distributions_end_to_end() -> None:
    bars = tree_cpd(small(), "leaf").patches
    assert [bar.get_width() for bar in bars] == pytest.approx(
        [0.9, 0.1, 0.5, 0.5, 1.0, 0.0]
    )
    assert {round(bar.get_x() + bar.get_width(), 9) for bar in bars[1::2]} == {3.0}
    heights = [bar.get_y() for bar in bars[::2]]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3


def test_a_branch_stands_at_the_height_of_what_is_below_it() -> None:
    ax = tree_cpd(small(), "leaf")
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert place["wet"][1] == pytest.approx(1.5)
    assert place["tree_$"][0] < place["wet"][0]
    assert place["no"][1] < place["wet"][1] < place["yes"][1] + 0.1


def test_no_two_texts_overlap() -> None:
    ax = tree_cpd(small(), "leaf")
    ax.figure.draw_without_rendering()
    extents = [text.get_window_extent() for text in ax.texts]
    assert not any(
        first.overlaps(second)
        for i, first in enumerate(extents)
        for second in extents[:i]
    )


def test_leaves_that_share_a_distribution_have_one_number() -> None:
    shared = Leaf(np.array([0.3, 0.7]))
    inner = Split(1, ((0,), (1,)), (shared, Leaf(np.array([0.5, 0.5]))))
    ax = tree_cpd(with_tree(Split(0, ((0, 1), (2, 3)), (shared, inner))), "leaf")
    numbers = [text.get_position()[1] for text in ax.texts if text.get_text() == "1"]
    assert numbers == [0.0, 1.0]


def test_states_beyond_the_fills_share_one() -> None:
    leaf = Leaf(np.full(12, 1 / 12))
    ax = tree_cpd(with_tree(leaf, 12), "leaf")
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([1 / 12] * 7 + [5 / 12])
    legend = ax.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()][-2:] == ["s6", "5 others"]


def test_a_group_is_called_by_its_node_of_the_hierarchy() -> None:
    hierarchy = ValueHierarchy.from_nested(
        {"tree": {"deciduous": ["oak", "elm"], "conifer": ["fir", "pine"]}}
    )
    variable = Variable("tree", STATES, hierarchy=hierarchy)
    assert group_label(variable, (2, 3)) == "conifer"
    assert group_label(variable, (1, 2)) == "elm, fir"
    assert group_label(variable, (3,)) == "pine"


def test_other_distributions_and_large_trees_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"has a TableCPD, no tree; bayleaf\.plot\.cpt"
    ):
        tree_cpd(small(), "wet")
    with pytest.raises(ValueError, match="did you mean leaf"):
        tree_cpd(small(), "leef")
    states = tuple(f"v{i}" for i in range(61))
    leaves = tuple(Leaf(np.array([0.5, 0.5])) for _ in states)
    root = Split(0, tuple((i,) for i in range(61)), leaves)
    domain = Domain((Variable("many", states), Variable("child", ("no", "yes"))))
    parent = BayesianNetwork.from_tables(
        {"many": states}, {"many": np.full(61, 1 / 61)}
    ).cpds[0]
    large = BayesianNetwork(
        domain, DAG(((), (0,))), (parent, TreeCPD((0, 1), (61, 2), root))
    )
    with pytest.raises(ValueError, match="61 leaves, but a picture shows up to 60"):
        tree_cpd(large, "child")
