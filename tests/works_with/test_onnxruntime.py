"""Graphs of classifiers in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier, to_onnx

WORKS_WITH = {
    "tool": "onnxruntime",
    "tried": "1.32.0",
    "use": "`to_onnx(model).SerializeToString()`",
    "refused": "",
}
pytestmark = pytest.mark.slow


def test_a_graph_predicts_as_the_model() -> None:
    pytest.importorskip("onnx", reason="needs onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    X = [["a"], ["b"], ["a"]]
    model = NaiveBayesClassifier().fit(X, ["x", "y", "x"])
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    name = session.get_inputs()[0].name
    label, proba = session.run(None, {name: np.array(X, dtype=object)})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(proba, model.predict_proba(X))
