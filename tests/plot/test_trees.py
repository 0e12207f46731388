"""Trees of questions drawn from the root to the leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, ValueHierarchy
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.plot import tree_cpd
from bayleaf.plot.trees import group_label

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
