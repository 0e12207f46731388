"""Graphs answer as classifiers do on three tables of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf import to_onnx
from oracles.onnx_runs import run_onnx
from oracles.three_tables import holed, tables

KINDS: dict[str, Callable[[], Any]] = {
    "naive Bayes": bayleaf.NaiveBayesClassifier,
    "TAN": bayleaf.TANClassifier,
    "KDB": lambda: bayleaf.KDBClassifier(k=2),
    "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(
        n_networks=8, max_parents=2, random_state=0
    ),
    "AODE": bayleaf.AODEClassifier,
    "A2DE": bayleaf.A2DEClassifier,
    "HNB": bayleaf.HNBClassifier,
    "latent classes": lambda: bayleaf.LatentClassNBClassifier(
        n_components=2, random_state=0
    ),
}


@pytest.mark.few(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "mushroom", "adult"])
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_answer_as_classifiers_do(kind: str, name: str) -> None:
    X, y = tables(name)
    if kind == "A2DE":
        # A network for every pair of features.
        X = X.iloc[:, :10]
    model = KINDS[kind]().fit(X, y)
    rows = holed(X)
    labels, proba = run_onnx(to_onnx(model), rows)
    np.testing.assert_allclose(proba, model.predict_proba(rows), atol=1e-9)
    assert labels.tolist() == model.predict(rows).tolist()
