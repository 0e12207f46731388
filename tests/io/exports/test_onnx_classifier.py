"""Graphs of operators give the posteriors of the classifiers they are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
    to_onnx,
)
from oracles.hostile_tables import hostile_columns
from oracles.onnx_runs import run_onnx

CLASSES = np.array(["p q", "r", "s'"])
EVERY_KIND = [
    NaiveBayesClassifier(),
    TANClassifier(),
    KDBClassifier(),
    KDBClassifier(missing="state"),
    KDBClassifier(numeric="gaussian"),
    AveragedKDBClassifier(n_networks=3),
    AODEClassifier(),
    A2DEClassifier(),
    HNBClassifier(),
    LatentClassNBClassifier(),
    BayesianNetworkClassifier(),
    HierarchicalMixtureNBClassifier(),
]


def holed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a fifth of the cells missing, and a value never seen."""
    rng = np.random.default_rng(1)
    hidden = rng.random(frame.shape) < 0.2
    frame = frame.mask(pd.DataFrame(hidden, columns=frame.columns))
    frame.loc[7, "select"] = "never"
    return frame


@pytest.mark.parametrize("classifier", EVERY_KIND, ids=repr)
def test_posteriors_and_classes_are_those_of_the_classifier(classifier: Any) -> None:
    frame, y = hostile_columns(200, 4)
    classifier.fit(frame, CLASSES[y])
    graph = to_onnx(classifier)
    other = holed(hostile_columns(60, 9)[0])
    labels, proba = run_onnx(graph, other)
    np.testing.assert_allclose(proba, classifier.predict_proba(other), atol=1e-9)
    assert labels.tolist() == classifier.predict(other).tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 1000])
def test_batches_have_any_number_of_rows(n_rows: int) -> None:
    frame, y = hostile_columns(1000, 4)
    classifier = TANClassifier().fit(frame, y)
    labels, proba = run_onnx(to_onnx(classifier), frame[:n_rows])
    assert labels.dtype == np.int64
    assert proba.shape == (n_rows, 3)
    if n_rows:
        expected = classifier.predict_proba(frame[:n_rows])
        np.testing.assert_allclose(proba, expected, atol=1e-9)


def test_temperature_prior_shift_and_loss_are_heeded() -> None:
    frame, y = hostile_columns(200, 4)
    fitted = KDBClassifier().fit(frame, y)._predictor()
    loss = np.array([[0.0, 9.0, 1.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    shift = np.array([0.5, -0.25, 0.0])
    predictor = replace(fitted, temperature=3.0, prior_shift=shift, loss=loss)
    labels, proba = run_onnx(to_onnx(predictor), frame)
    codes = predictor.encode(frame)
    np.testing.assert_allclose(proba, predictor.proba(codes), atol=1e-12)
    assert labels.tolist() == predictor.predict(codes).tolist()
    assert labels.tolist() != fitted.predict(codes).tolist()


def test_rows_that_the_model_refuses_have_no_probability() -> None:
    frame, y = hostile_columns(200, 4)
    classifier = TANClassifier(missing="error", unknown="error")
    classifier.fit(frame, CLASSES[y])
    graph = to_onnx(classifier)
    other = frame[:3].copy()
    other.loc[0, "real"] = np.nan
    other.loc[1, "select"] = "never"
    labels, proba = run_onnx(graph, other)
    assert np.isnan(proba[:2]).all()
    assert labels[:2].tolist() == ["", ""]
    np.testing.assert_allclose(proba[2:], classifier.predict_proba(frame[2:3]))


def test_a_graph_tells_who_made_it_and_of_what() -> None:
    frame, y = hostile_columns(100, 4)
    graph = to_onnx(NaiveBayesClassifier().fit(frame, CLASSES[y]))
    assert graph.producer_name == "bayleaf"
    assert {(o.domain, o.version) for o in graph.opset_import} == {
        ("", 17),
        ("ai.onnx.ml", 3),
    }
    facts = {fact.key: fact.value for fact in graph.metadata_props}
    assert facts["classes"] == '["p q", "r", "s\'"]'
    assert facts["model"] == "NetworkModel"
    # A column has the name of a result, so that one has another.
    assert [one.name for one in graph.graph.output] == [
        "bayleaf_label",
        "probabilities",
    ]


def test_dates_come_as_their_parts() -> None:
    rng = np.random.default_rng(3)
    when = pd.Series(pd.date_range("2020-01-01", periods=300, freq="37h"))
    y = np.where(rng.random(300) < 0.8, when.dt.month > 6, rng.random(300) < 0.5)
    frame = pd.DataFrame({"when": when, "x": rng.normal(size=300)})
    classifier = NaiveBayesClassifier().fit(frame, y.astype(int))
    graph = to_onnx(classifier)
    names = [one.name for one in graph.graph.input]
    assert "when.month" in names
    origin = np.datetime64("1970-01-01") + np.timedelta64(
        classifier.encoder_.readings[0].origin, "us"
    )
    parts = {
        "x": frame["x"],
        "when.year": when.dt.year,
        "when.month": when.dt.month - 1,
        "when.weekday": when.dt.day_of_week,
        "when.hour": when.dt.hour,
        "when.days": (when - origin) / np.timedelta64(1, "D"),
    }
    _, proba = run_onnx(graph, pd.DataFrame({name: parts[name] for name in names}))
    np.testing.assert_allclose(proba, classifier.predict_proba(frame), atol=1e-9)


def test_inputs_of_the_same_name_are_refused() -> None:
    when = pd.Series(pd.date_range("2020-01-01", periods=300, freq="37h"))
    frame = pd.DataFrame({"when": when, "when.month": when.dt.month * 1.5})
    classifier = NaiveBayesClassifier().fit(frame, when.dt.month > 6)
    with pytest.raises(ValueError, match=r"same as text.*when\.month"):
        to_onnx(classifier)


def test_the_checker_finds_no_fault_in_a_graph_that_was_saved(tmp_path: Any) -> None:
    from bayleaf.io.exports.writers import export_model

    frame, y = hostile_columns(100, 4)
    classifier = AODEClassifier().fit(frame, y)
    classifier.save(tmp_path / "model.json")
    export_model(tmp_path / "model.json", tmp_path / "model.onnx")
    onnx.checker.check_model(str(tmp_path / "model.onnx"), full_check=True)
