"""From a table to labels: posteriors, choices under a loss, explanations."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.describe.fitted_summary import summarize
from bayleaf.graph.dag import DAG
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.predictor import Predictor
from oracles.joint import class_scores
from property.networks import random_network

MODEL = NetworkModel(
    random_network(np.random.default_rng(3), [2, 3, 3], DAG(((2,), (2, 0), ())))
)
LABELS = np.array(["in", "out", "roof"])
TABLE = pd.DataFrame(
    {"v0": [0, 1, 1, 0, 1], "v1": pd.array([2, 1, None, 0, 9], "Int64")}
)
ROWS: list[list[int | None]] = [[0, 2], [1, 1], [1, None], [0, 0], [1, None]]


def _predictor(loss: Any = None) -> Predictor:
    encoder = TableEncoder(Domain(MODEL.domain.variables[:-1]))
    return Predictor(
        encoder, MODEL, LABELS, None if loss is None else np.array(loss, dtype=float)
    )


def test_probabilities_are_those_of_enumeration() -> None:
    predictor = _predictor()
    codes = predictor.encode(TABLE)
    joint = np.array([class_scores(MODEL.network, row) for row in ROWS])
    np.testing.assert_allclose(np.exp(predictor.joint_log_proba(codes)), joint)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predictor.proba(codes), posterior, rtol=1e-12)
    assert predictor.predict(codes).tolist() == LABELS[posterior.argmax(1)].tolist()


def test_the_summary_shows_the_unknown_values_that_it_is_given() -> None:
    predictor = _predictor()
    unknown = predictor.encoder.transform(to_columns(TABLE)).unknown
    assert summarize("x", predictor, 0.0, unknown).unknown == (("v1", 1),)


def test_a_loss_makes_the_cheapest_class_win() -> None:
    # Predicting "roof" costs nothing, anything else does.
    loss = [[1, 1, 1], [1, 1, 1], [0, 0, 0]]
    predictor = _predictor(loss)
    assert set(predictor.predict(predictor.encode(TABLE))) == {"roof"}


def test_rows_of_a_loss_are_predictions_and_columns_truths() -> None:
    predictor = _predictor([[0, 10, 0], [3, 0, 0], [5, 5, 5]])
    # Expected costs: 10 * 0.3 = 3, 3 * 0.5 = 1.5, and 5.
    assert predictor.choose(np.array([[0.5, 0.3, 0.2]])).tolist() == [1]


def test_equal_probabilities_give_the_first_class() -> None:
    assert _predictor().choose(np.array([[0.4, 0.4, 0.2]])).tolist() == [0]


def test_explanations_compare_with_the_class_asked_for() -> None:
    predictor = _predictor()
    codes = predictor.encode(TABLE)
    predicted = predictor.predict(codes)
    for label, explanation in zip(
        predicted, predictor.explain(codes, against="out"), strict=True
    ):
        assert explanation.target == label
        assert explanation.against == "out" or label == "out"
        assert explanation.against != label


def test_an_unknown_class_to_compare_with_is_refused() -> None:
    predictor = _predictor()
    with pytest.raises(ValueError, match="one of the classes in, out, roof, got 'up'"):
        predictor.explain(predictor.encode(TABLE), against="up")


def test_the_summary_counts_arcs_among_features() -> None:
    summary = summarize("KDBClassifier", _predictor(), -12.5, {})
    assert (summary.n_features, summary.n_arcs, summary.target) == (2, 1, "v2")
    assert summary.arcs == (("v0", "v1"),)
    assert summary.n_parameters == MODEL.n_parameters
    assert [label for label, _ in summary.classes] == ["in", "out", "roof"]
    assert "log-likelihood   -18.0337 bits" in str(summary)
    assert summary.to_dict()["classes"][0]["label"] == "in"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int8", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_predicting_small_integers_takes_little_more_than_their_codes(
    kind: str, order: Any
) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (100_000, 100), dtype=np.uint8)
    table = np.asarray(values, order=order).astype(kind)
    model = NaiveBayesClassifier().fit(table[:500], values[:500, 0])
    model.predict(table[:500])
    tracemalloc.start()
    found = model.predict(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.3 * values.size
    rows = [0, 8_191, 8_192, 50_000, 99_999]
    assert found[rows].tolist() == model.predict(table[rows]).tolist()
    proba = model.predict_proba(table)
    assert proba[rows].tolist() == model.predict_proba(table[rows]).tolist()
