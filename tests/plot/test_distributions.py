"""Probability tables drawn as heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf import AODEClassifier, BayesianNetwork, TANClassifier
from bayleaf.datasets import load_heart
from bayleaf.plot import cpt


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
