"""Classifiers written as PMML give the same posteriors in PMML4S."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.io.exports.scoring_sums import write_pmml
from bayleaf.io.native.model_file import read_model
from conftest import give_up
from oracles.backends import whole_rows
from oracles.pairs import PairsClassifier
from oracles.three_tables import holed, tables

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pypmml() -> Any:
    """The Python door to PMML4S, which runs on Java."""
    if importlib.util.find_spec("pypmml") is None:
        give_up("pypmml is not installed")
    if shutil.which("java") is None:
        give_up("PMML4S needs the program java")
    return importlib.import_module("pypmml")


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_a_scoring_engine_finds_our_posteriors(
    tmp_path: Path, pypmml: Any, missing: str
) -> None:
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


@pytest.mark.parametrize(
    "classifier",
    [NaiveBayesClassifier(calibration="leave_one_out"), PairsClassifier()],
    ids=lambda classifier: type(classifier).__name__,
)
def test_a_scoring_engine_adds_up_joint_states(
    tmp_path: Path, pypmml: Any, classifier: Any
) -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(3, size=200)
    words = np.array(["<=2", 'été & "q"', "x y"], dtype=object)
    shown = np.where(rng.random(200) < 0.6, y, rng.integers(3, size=200))
    near = words[(shown + rng.integers(2, size=200)) % 3]
    sizes = pd.CategoricalDtype(["small", "middle", "large"], ordered=True)
    frame = pd.DataFrame(
        {
            "te xt": pd.Series(words[shown], dtype=object),
            "real": y * 2.0 + rng.normal(size=200),
            "whole": pd.array(rng.integers(4, size=200), dtype="Int64"),
            "flag": pd.array(rng.random(200) < 0.2 + 0.2 * y, dtype="boolean"),
            "near": pd.Series(near, dtype=object),
            "size": pd.Categorical.from_codes(shown, dtype=sizes),
        }
    )
    labels = np.array(["a b", "b", "c"])
    classifier.fit(frame, labels[y])
    write_pmml(classifier, tmp_path / "model.pmml")
    peer = pypmml.Model.load(str(tmp_path / "model.pmml"))
    for place, name in enumerate(frame.columns):
        frame.loc[place, name] = None
    frame.loc[10, "near"] = "never seen"
    cells = frame.astype(object).where(frame.notna(), None)
    results = [peer.predict(row) for row in cells.to_dict("records")]
    rows = [[result[f"probability_{label}"] for label in labels] for result in results]
    found = np.array(rows, dtype=float)
    # Partial cases have no result under a temperature.
    scored = ~np.isnan(found).any(axis=1)
    assert scored[11:].all()
    if isinstance(classifier, NaiveBayesClassifier):
        assert (scored == whole_rows(classifier, frame)).all()
    expected = classifier.predict_proba(frame)
    np.testing.assert_allclose(found[scored], expected[scored], atol=1e-9)


ON_TABLES = {
    "naive Bayes": NaiveBayesClassifier(calibration="leave_one_out"),
    "naive Bayes, missing as a state": NaiveBayesClassifier(
        missing="state", calibration="leave_one_out"
    ),
    "pairs": PairsClassifier(),
}


@pytest.mark.parametrize("name", ["heart", "mushroom", "adult"])
@pytest.mark.parametrize("kind", ON_TABLES)
def test_a_scoring_engine_answers_as_classifiers_do_on_tables(
    tmp_path: Path, pypmml: Any, kind: str, name: str
) -> None:
    X, y = tables(name)
    rows = holed(X, 30)
    classifier = ON_TABLES[kind]
    if "state" in kind:
        X, y = pd.concat([X, rows]), np.concatenate([y, y[:30]])
    classifier.fit(X, y)
    write_pmml(classifier, tmp_path / "model.pmml")
    peer = pypmml.Model.load(str(tmp_path / "model.pmml"))
    cells = rows.astype(object).where(rows.notna(), None)
    results = [peer.predict(row) for row in cells.to_dict("records")]
    classes = classifier.classes_
    every = [
        [result[f"probability_{label}"] for label in classes] for result in results
    ]
    found = np.array(every, dtype=float)
    scored = ~np.isnan(found).any(axis=1)
    # Partial cases have no result under a temperature.
    if kind == "naive Bayes":
        assert (scored == whole_rows(classifier, rows)).all()
    assert scored.all() == (kind != "naive Bayes")
    assert scored.any()
    expected = classifier.predict_proba(rows)
    np.testing.assert_allclose(found[scored], expected[scored], atol=1e-9)
    labels = [result["predicted_class"] for result in results]
    own = classifier.predict(rows)[scored].tolist()
    assert [label for label, ok in zip(labels, scored) if ok] == own
