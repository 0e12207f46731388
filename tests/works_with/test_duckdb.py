"""Queries as subqueries of DuckDB."""

from __future__ import annotations

from collections import Counter

import pytest

from bayleaf import NaiveBayesClassifier, to_sql
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "DuckDB",
    "tried": "2.0.1",
    "use": "`to_sql(model, table='patients')`, also as a subquery",
    "refused": "",
}
pytestmark = pytest.mark.slow


def test_a_subquery_predicts_as_the_model() -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    table = load_heart()
    model = NaiveBayesClassifier().fit(table.X, table.y)
    with duckdb.connect() as connection:
        connection.register("patients", table.X)
        query = to_sql(model, table="patients")
        counting = f"SELECT prediction, COUNT(*) FROM ({query}) AS q GROUP BY 1"
        counts = dict(connection.execute(counting).fetchall())
    assert counts == dict(Counter(model.predict(table.X).tolist()))
