"""Effects and adjustment sets that textbooks and papers print."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from bayleaf import BayesianNetwork

YES_NO = ["no", "yes"]


def drawn_graph(arcs: Iterable[str]) -> BayesianNetwork:
    """A network over arcs such as ``"a b"``, all of its tables even."""
    pairs = [arc.split() for arc in arcs]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    parents = {name: [a for a, b in pairs if b == name] for name in names}
    tables = {
        name: np.full((2,) * (len(parents[name]) + 1), 0.5).tolist() for name in names
    }
    return BayesianNetwork.from_tables(dict.fromkeys(names, YES_NO), tables, parents)


def test_kidney_stones_favour_surgery_once_their_size_is_adjusted_for() -> None:
    # Charig et al. (1986), as in Julious and Mullee (1994): cures by size of the stone.
    network = BayesianNetwork.from_tables(
        states={
            "size": ["small", "large"],
            "treatment": ["surgery", "nephrolithotomy"],
            "cured": YES_NO,
        },
        parents={"treatment": ["size"], "cured": ["size", "treatment"]},
        tables={
            "size": [357 / 700, 343 / 700],
            "treatment": [[87 / 357, 270 / 357], [263 / 343, 80 / 343]],
            "cured": [
                [[6 / 87, 81 / 87], [36 / 270, 234 / 270]],
                [[71 / 263, 192 / 263], [25 / 80, 55 / 80]],
            ],
        },
    )
    seen = [
        network.query({"treatment": way}, "cured")["cured"]["yes"]
        for way in ("surgery", "nephrolithotomy")
    ]
    assert seen == pytest.approx([273 / 350, 289 / 350])
    effect = network.causal_effect("treatment", "cured")
    # Pearl, Glymour and Jewell (2016) call the sum below the adjustment formula.
    small, large = 357 / 700, 343 / 700
    done = [
        81 / 87 * small + 192 / 263 * large,
        234 / 270 * small + 55 / 80 * large,
    ]
    assert effect.probabilities[:, 1].tolist() == pytest.approx(done, abs=1e-12)
    assert seen[0] < seen[1]
    assert done[0] > done[1]


def smoking_and_tar() -> BayesianNetwork:
    """Pearl (2009), "Causality", table 3.1, with a genotype that explains it."""
    return BayesianNetwork.from_tables(
        states=dict.fromkeys(["genotype", "smoking", "tar", "cancer"], YES_NO),
        parents={
            "smoking": ["genotype"],
            "tar": ["smoking"],
            "cancer": ["genotype", "tar"],
        },
        tables={
            "genotype": [0.5, 0.5],
            "smoking": [[1.0, 0.0], [0.0, 1.0]],
            "tar": [[0.95, 0.05], [0.05, 0.95]],
            "cancer": [[[0.90, 0.10], [0.95, 0.05]], [[0.10, 0.90], [0.15, 0.85]]],
        },
    )


def test_tar_is_the_front_door_of_smoking() -> None:
    network = smoking_and_tar()
    found = network.adjustment_sets(
        "smoking", "cancer", latent="genotype", kind="frontdoor"
    )
    assert list(found) == [{"tar"}]
    assert not network.adjustment_sets("smoking", "cancer", latent="genotype")


def test_smoking_lowers_cancer_by_the_front_door_as_printed() -> None:
    # Pearl (2009), section 3.3.3: 0.4525 and 0.4975.
    effect = smoking_and_tar().causal_effect("smoking", "cancer", latent="genotype")
    assert effect.formula == "front-door adjustment by tar"
    assert effect.probability("yes", "yes").value == pytest.approx(0.4525, abs=1e-12)
    assert effect.probability("no", "yes").value == pytest.approx(0.4975, abs=1e-12)


def test_the_back_door_sets_of_pearls_six_variables() -> None:
    # Pearl (2009), figure 3.4: {X3, X4} and {X4, X5} are admissible, {X4} and {X6} not.
    network = drawn_graph(
        [
            "X1 X3", "X1 X4", "X2 X4", "X2 X5", "X3 Xi", "X4 Xi", "X4 Xj", "X5 Xj",
            "Xi X6", "X6 Xj",
        ]
    )  # fmt: skip
    found = network.adjustment_sets("Xi", "Xj")
    assert set(found) == {
        frozenset(pair)
        for pair in (("X1", "X4"), ("X2", "X4"), ("X3", "X4"), ("X4", "X5"))
    }
    assert not network.is_adjustment_set("Xi", "Xj", ["X4"])
    assert not network.is_adjustment_set("Xi", "Xj", ["X6"])
    assert [str(p) for p in network.open_paths("Xi", "Xj", ["X4"])] == [
        "Xi <- X3 <- X1 -> X4 <- X2 -> X5 -> Xj"
    ]
    assert list(network.adjustment_sets("Xi", "Xj", kind="frontdoor")) == [{"X6"}]


def test_in_the_m_graph_adjusting_for_the_collider_makes_the_bias() -> None:
    # Greenland, Pearl and Robins (1999), "Causal diagrams for epidemiologic research".
    network = drawn_graph(["a x", "a m", "b m", "b y", "x y"])
    assert list(network.adjustment_sets("x", "y")) == [frozenset()]
    assert not network.is_adjustment_set("x", "y", "m")
    (path,) = network.open_paths("x", "y", "m")
    assert str(path) == "x <- a -> m <- b -> y"
    with pytest.raises(ValueError, match="leaves the path x <- a -> m <- b -> y open"):
        network.causal_effect("x", "y", adjust_for="m")


def test_in_the_butterfly_the_middle_needs_one_wing() -> None:
    # Ding and Miratrix (2015): the middle both confounds and collides.
    network = drawn_graph(["a x", "a m", "b m", "b y", "m x", "m y", "x y"])
    assert list(network.adjustment_sets("x", "y")) == [{"a", "m"}, {"b", "m"}]
    assert not network.adjustment_sets("x", "y", latent=["a", "b"])


def test_a_bow_is_identified_by_neither_criterion() -> None:
    network = drawn_graph(["u x", "u y", "x y"])
    with pytest.raises(ValueError, match="open path x <- u -> y"):
        network.causal_effect("x", "y", latent="u")
