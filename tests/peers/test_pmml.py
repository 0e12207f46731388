"""Naive Bayes written as PMML gives the same posteriors in PMML4S."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.io.formats.pmml import write_pmml
from bayleaf.io.native.model_file import read_model

pypmml = pytest.importorskip("pypmml")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_a_scoring_engine_finds_our_posteriors(tmp_path: Path, missing: str) -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(3, size=200)
    words = np.array(["<=2", 'été & "q"', "x y"], dtype=object)
    shown = np.where(rng.random(200) < 0.6, y, rng.integers(3, size=200))
    frame = pd.DataFrame(
        {
            "te xt": pd.Series(words[shown], dtype=object),
            "real": y * 2.0 + rng.normal(size=200),
            "whole": pd.array(rng.integers(4, size=200), dtype="Int64"),
            "flag": rng.random(200) < 0.2 + 0.2 * y,
            "noise": rng.normal(size=200),
        }
    )
    frame.loc[[3, 5], "te xt"] = None
    frame.loc[[4, 5], "real"] = np.nan
    frame.loc[6, "noise"] = np.nan
    labels = np.array(["a b", "b", "c"])
    classifier = NaiveBayesClassifier(missing=missing).fit(frame, labels[y])
    classifier.save(tmp_path / "model.json")
    write_pmml(read_model(tmp_path / "model.json"), tmp_path / "model.pmml")
    frame.loc[7, "te xt"] = "never seen"
    peer = pypmml.Model.load(str(tmp_path / "model.pmml"))
    cells = frame.astype(object).where(frame.notna(), None)
    results = [peer.predict(row) for row in cells.to_dict("records")]
    found = [[result[f"probability_{label}"] for label in labels] for result in results]
    np.testing.assert_allclose(found, classifier.predict_proba(frame), atol=1e-6)
    predicted = [result["predicted_class"] for result in results]
    assert predicted == classifier.predict(frame).tolist()
