"""Structure and tables as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayleaf import AveragedKDBClassifier
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.datasets import load_heart
from bayleaf.describe.drawing import structure_dot, structure_text, table_rows
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.network_model import NetworkModel
from property.networks import random_one_dependence

DOMAIN = Domain(
    (
        Variable('the "odd"\\one', ("x", None)),
        numeric_variable("size", [1.5]),
        Variable("y", ("no", "yes")),
    )
)
MODEL = NetworkModel(
    BayesianNetwork(
        DOMAIN,
        DAG(((2,), (2, 0), ())),
        (
            TableCPD((2, 0), np.array([[0.5, 0.5], [0.25, 0.75]])),
            TableCPD(
                (2, 0, 1), np.arange(1, 9).reshape(2, 2, 2) / [[[3], [7]], [[11], [15]]]
            ),
            TableCPD((2,), np.array([0.125, 0.875])),
        ),
    )
)
AVERAGED = random_one_dependence(np.random.default_rng(0), [2, 3], 2)


def test_the_structure_has_a_line_a_variable() -> None:
    assert structure_text(MODEL).splitlines() == [
        "y",
        'y -> the "odd"\\one',
        'y, the "odd"\\one -> size',
    ]


def test_dot_quotes_every_name() -> None:
    lines = structure_dot(MODEL).splitlines()
    assert '  "the \\"odd\\"\\\\one" -> "size";' in lines
    assert '  "y" [shape=doublecircle];' in lines
    assert (lines[0], lines[-1]) == ("digraph bayleaf {", "}")


def test_a_table_has_a_row_for_each_state_of_the_parents() -> None:
    header, rows = table_rows(MODEL, "size")
    assert header == ["y", 'the "odd"\\one', "size <= 1.5", "size > 1.5"]
    assert [row[:2] for row in rows] == [
        ["no", "x"],
        ["no", "missing"],
        ["yes", "x"],
        ["yes", "missing"],
    ]
    assert rows[1][2:] == pytest.approx([3 / 7, 4 / 7])


def test_the_class_has_one_row() -> None:
    assert table_rows(MODEL, "y") == (["y = no", "y = yes"], [[0.125, 0.875]])


def test_an_averaged_model_shows_its_features_given_the_class() -> None:
    header, rows = table_rows(AVERAGED, "v1")
    assert header == ["v2", "v1 = 0", "v1 = 1", "v1 = 2"]
    for row in rows:
        assert math.fsum(float(p) for p in row[1:]) == pytest.approx(1.0)
    _, prior = table_rows(AVERAGED, "v2")
    assert prior == [AVERAGED.prior.tolist()]


def test_near_names_are_offered() -> None:
    with pytest.raises(ValueError, match="no variable 'sise'; did you mean size"):
        table_rows(MODEL, "sise")


@pytest.mark.parametrize(
    "drawn", [structure_text, structure_dot, lambda model: model.picture]
)
def test_weights_of_arcs_are_computed_once(
    drawn: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once for each arc, a page of 120 features took minutes.
    X, y = load_heart(return_X_y=True)
    model = AveragedKDBClassifier(random_state=0).fit(X, y).model_
    weights, calls = model.arc_weights, []
    monkeypatch.setattr(
        type(model), "arc_weights", property(lambda _: calls.append(1) or weights)
    )
    drawn(model)
    assert len(calls) == 1
