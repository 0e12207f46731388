"""Scorers and pages answer partial cases as calibrated classifiers do."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBClassifier
from contract.kinds import COSTLY
from contract.test_backends import EVERY_KIND, TOLERANCES, quick
from oracles import backends

# With weights that are learned, averages have no temperature.
KINDS = {**EVERY_KIND, "averaged": AveragedKDBClassifier}
# The others are opened by the longest tests.
ON_PAGES = ("auto", "averaged", "aode", "tan", "network")
N_FEATURES, N_ROWS, N_SCORED = 5, 200, 30


def whole_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Texts and numbers without missing cells, and three classes."""
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=N_ROWS)
    is_near = rng.random((N_FEATURES, N_ROWS)) < 0.5
    near = np.where(is_near, y, rng.integers(3, size=(N_FEATURES, N_ROWS)))
    columns = {
        f"x{k}": own + rng.normal(size=N_ROWS) if k % 2 else np.array(list("abc"))[own]
        for k, own in enumerate(near)
    }
    return pd.DataFrame(columns), np.array(["u", "v", "w"])[y]


@cache
def calibrated(name: str) -> tuple[Any, pd.DataFrame]:
    """A classifier of a kind, with a temperature and another prior, and its rows."""
    kind, (X, y) = KINDS[name], whole_table()
    own: dict[str, Any] = {"calibration": "leave_one_out"}
    if name == "four_networks":
        own, y = {"monotone": {"x1": 1}}, np.where(y == "w", "v", y)
    if name == "averaged":
        own |= {"weights": None, "n_networks": 3}
    rng = np.random.default_rng(6)
    rows = X.iloc[:N_SCORED].astype(dict.fromkeys(X.columns, object))
    known = rng.random(rows.shape) < rng.random((N_SCORED, 1))
    known[0], known[1] = False, True
    rows = rows.where(known, None)
    rows.iloc[2:6, 0] = "never seen"
    model = kind(random_state=0, **own).fit(X, y)
    prior = np.arange(len(model.classes_)) + 1.0
    return model.with_class_prior(prior / prior.sum()), rows


def check(found: backends.Answers, name: str, tolerance: float) -> None:
    """Compare labels, probabilities and terms of the log-odds."""
    model, rows = calibrated(name)
    assert found.labels == model.predict(rows).tolist()
    np.testing.assert_allclose(
        found.proba, model.predict_proba(rows), rtol=0, atol=tolerance
    )
    for reason, why in zip(found.reasons, model.explain(rows), strict=True):
        terms = [reason.terms[term.feature] for term in why.terms]
        expected = [term.contribution for term in why.terms]
        np.testing.assert_allclose(terms, expected, rtol=0, atol=10 * tolerance)
        assert reason.prior == pytest.approx(why.prior, abs=10 * tolerance)
        total = reason.prior + sum(terms)
        assert total == pytest.approx(reason.log_odds, abs=10 * tolerance)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [*quick(*COSTLY, "a2de"), "averaged"])
@pytest.mark.parametrize("backend", ["python", "javascript"])
def test_scorers_answer_any_set_of_features(
    backend: str, name: str, tmp_path: Path
) -> None:
    answers = getattr(backends, f"of_{backend}")
    check(answers(*calibrated(name), tmp_path), name, TOLERANCES[backend])


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ON_PAGES else pytest.mark.long)
        for name in KINDS
    ],
)
def test_pages_answer_any_set_of_features(
    name: str, open_page: Any, tmp_path: Path
) -> None:
    answers = backends.of_page(open_page)
    check(answers(*calibrated(name), tmp_path), name, TOLERANCES["page"])
