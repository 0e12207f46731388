"""Durations are scored as in Python by queries and graphs, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import NaiveBayesClassifier, to_onnx, to_sql
from oracles.databases import postgres, run_duckdb
from oracles.onnx_runs import run_onnx


def timed() -> tuple[Any, pd.DataFrame]:
    """A classifier of durations, and rows of which one misses its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    seconds = np.round(rng.exponential(50 + 200 * y) * 60, 3)
    frame = pd.DataFrame({"lasts": pd.to_timedelta(seconds, unit="s")})
    classifier = NaiveBayesClassifier().fit(frame, y)
    rows = frame[:50].copy()
    rows.loc[3, "lasts"] = pd.NaT
    return classifier, rows


def test_duckdb_reads_durations() -> None:
    classifier, rows = timed()
    query = to_sql(classifier, id_columns=["n"])
    found = run_duckdb(query, rows.assign(n=range(50))).sort_values("n")
    proba = found[["probability_0", "probability_1"]].to_numpy(float)
    np.testing.assert_allclose(proba, classifier.predict_proba(rows), atol=1e-12)


@pytest.mark.slow
def test_postgresql_reads_durations() -> None:
    classifier, rows = timed()
    query = to_sql(classifier, dialect="postgres", id_columns=["n"])
    texts = rows["lasts"].dt.total_seconds().map("{} seconds".format)
    frame = rows.assign(n=range(50), lasts=texts.where(rows["lasts"].notna(), None))
    with postgres() as server:
        if isinstance(server, str):
            pytest.skip(server)
        found = server(query, frame).sort_values("n")
    proba = found[["probability_0", "probability_1"]].to_numpy(float)
    np.testing.assert_allclose(proba, classifier.predict_proba(rows), atol=1e-12)


def test_graphs_take_durations_as_numbers_of_their_unit() -> None:
    classifier, rows = timed()
    assert classifier.encoder_.readings[0].unit == "seconds"
    seconds = rows.assign(lasts=rows["lasts"].dt.total_seconds())
    _, proba = run_onnx(to_onnx(classifier), seconds)
    np.testing.assert_allclose(proba, classifier.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("dialect", ["sqlite", "mysql"])
def test_databases_without_durations_are_refused(dialect: str) -> None:
    with pytest.raises(ValueError, match=f"'?lasts'? holds durations.*{dialect}"):
        to_sql(timed()[0], dialect=dialect)
