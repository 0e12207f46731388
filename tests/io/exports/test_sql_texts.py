"""Queries score typed columns of models that were trained on texts."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd

from bayleaf import NaiveBayesClassifier, to_sql
from oracles.databases import run_duckdb

N = 120


def test_a_query_names_the_columns_whose_texts_are_to_be_cast() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    prices = np.round(1000 * (rng.random(N) + y), 2)
    days = [
        datetime.date(2019, 5, 1) + datetime.timedelta(days=int(k) + 200 * int(label))
        for k, label in zip(rng.integers(0, 400, N), y, strict=True)
    ]
    texts = pd.DataFrame(
        {
            "price": [f"{price:.2f} EUR".replace(".", ",") for price in prices],
            "day": [f"{day:%d.%m.%Y}" for day in days],
            "plain": [f"{price:.2f}" for price in prices],
        }
    )
    texts.loc[3, "plain"] = "unknown"
    model = NaiveBayesClassifier().fit(texts, y)
    typed = pd.DataFrame({"price": prices, "day": pd.to_datetime(days)})
    typed["plain"] = np.where(np.arange(N) == 3, np.nan, prices)
    query = to_sql(model, id_columns=["n"])
    assert (
        "-- Note: training read texts in column 'price' (decimal commas, in EUR), "
        "column 'day' (dates as d.m.y), column 'plain' ('unknown' as missing); the "
        "table must have numbers, booleans or dates there, so cast its texts.\n"
    ) in query
    scores = run_duckdb(query, typed.assign(n=range(N))).sort_values("n")
    proba = scores[["probability_0", "probability_1"]].to_numpy(float)
    np.testing.assert_allclose(proba, model.predict_proba(texts), atol=1e-12)
    del texts["price"], texts["day"]
    plain = NaiveBayesClassifier().fit(texts.drop(index=3), np.delete(y, 3))
    assert "-- Note" not in to_sql(plain)
