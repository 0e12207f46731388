"""Graphs answer as classifiers do on three tables of the field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import to_onnx
from bayleaf.datasets import load_heart, load_mushroom
from oracles.onnx_runs import run_onnx

SAMPLE = Path(__file__).parents[3] / "examples" / "adult_sample.csv.gz"
# What stands in no training row.
STRANGE = 'never "seen"; it\'s é\\'
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


def tables(name: str) -> tuple[pd.DataFrame, Any]:
    """A table's features and classes, at most 1,000 rows."""
    if name == "adult":
        table = pd.read_csv(SAMPLE, na_values=["?"])[:1000]
        return table.drop(columns="income"), table["income"].to_numpy()
    load = load_heart if name == "heart" else load_mushroom
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:1000]
    return X.to_pandas().iloc[order].reset_index(drop=True), np.asarray(y)[order]


def holed(X: pd.DataFrame, n_rows: int = 40) -> pd.DataFrame:
    """Some rows, a tenth of the cells missing and one in each column never seen."""
    rng = np.random.default_rng(1)
    rows = X.sample(n_rows, random_state=2).reset_index(drop=True)
    for place, name in enumerate(rows.columns):
        is_number = rows[name].dtype.kind in "fiu"
        rows[name] = rows[name].astype(float if is_number else object)
        rows.loc[place % n_rows, name] = 1e9 if is_number else STRANGE
        rows.loc[rng.random(n_rows) < 0.1, name] = np.nan if is_number else None
    return rows


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
