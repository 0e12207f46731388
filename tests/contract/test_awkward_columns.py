"""Columns that training knows nothing of, and rules that "auto" may choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.cpds.smoothing import MEstimate
from contract.kinds import each_kind
from offenders import check_each

EMPTY = {
    "none": [None] * 60,
    "float": [np.nan] * 60,
    "category": pd.Categorical([None] * 60, categories=["x", "y"]),
    "integer": pd.array([None] * 60, dtype="Int64"),
}


@pytest.mark.parametrize("empty", EMPTY)
@each_kind()
def test_a_column_without_a_value_says_nothing(kind: Any, empty: str) -> None:
    X = pd.DataFrame({"a": np.linspace(-1, 1, 60), "b": EMPTY[empty]})
    model = kind(missing="state", random_state=0).fit(X, X.a > 0)
    plain = pd.DataFrame({"a": [0.5, -0.5], "b": pd.Series([None, None], dtype=object)})
    expected = model.predict_proba(plain)
    assert expected[0, 1] > 0.5 > expected[1, 1]
    for values in (["x", None], [3.0, np.nan], [True, False]):
        found = model.predict_proba(plain.assign(b=pd.Series(values, dtype=object)))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def _check_no_zero(model: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, y = 60, rng.integers(2, size=60)
    noise = rng.integers(6, size=(n_rows, 4))
    texts = np.where(rng.random((n_rows, 4)) < 0.6, y[:, None], noise).astype(str)
    X = pd.DataFrame(texts, columns=list("abcd")).where(rng.random((n_rows, 4)) < 0.4)
    rows = pd.DataFrame(
        rng.integers(6, size=(100, 4)).astype(str), columns=list("abcd")
    )
    assert (model.fit(X, y).predict_proba(rows) > 0).all()
    assert not isinstance(model.smoothing_, MEstimate)


@pytest.mark.few("nb-seeds1")
@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(range(5, 30), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "model",
    [
        KDBClassifier(k="auto", smoothing="auto", calibration="leave_one_out"),
        TANClassifier(smoothing="auto", calibration="leave_one_out"),
        NaiveBayesClassifier(smoothing="auto"),
    ],
    ids=["kdb", "tan", "nb"],
)
def test_auto_chooses_no_rule_that_leaves_a_zero(model: Any, seeds: range) -> None:
    check_each(seeds, lambda seed: _check_no_zero(model, seed))
