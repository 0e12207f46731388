"""A sample of adult with missing and unknown values is scored alike by queries."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import to_sql
from bayleaf.classifiers.shared.base import BayesianClassifier
from oracles.databases import Postgres, postgres, run_duckdb, run_sqlite

SAMPLE = Path(__file__).parents[3] / "examples" / "adult_sample.csv.gz"
MODELS: dict[str, Callable[[], BayesianClassifier]] = {
    "naive Bayes": bayleaf.NaiveBayesClassifier,
    "KDB": lambda: bayleaf.KDBClassifier(k=2),
    "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(
        n_networks=2, max_parents=2, random_state=0
    ),
    "AODE": bayleaf.AODEClassifier,
    "HNB": bayleaf.HNBClassifier,
    "latent classes": lambda: bayleaf.LatentClassNBClassifier(
        n_components=2, random_state=0
    ),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres | str]:
    with postgres() as found:
        yield found


def adult() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Training rows, rows with holes and values that these lack, and labels."""
    table = pd.read_csv(SAMPLE, na_values=["?"], keep_default_na=True)
    X, y = table.drop(columns="income"), table["income"]
    rows = X.sample(80, random_state=3).reset_index(drop=True)
    rng = np.random.default_rng(4)
    for name in X:
        if X[name].dtype.kind in "if":
            X[name], rows[name] = X[name].astype(float), rows[name].astype(float)
        rows.loc[rng.random(80) < 0.1, name] = None
    rows.loc[0, "workclass"] = 'à l\'"essai"'
    return X, rows, y


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("kind", MODELS)
def test_adult_is_scored_alike(kind: str, dialect: str, server: Postgres | str) -> None:
    answer = {"duckdb": run_duckdb, "sqlite": run_sqlite, "postgres": server}[dialect]
    if isinstance(answer, str):
        pytest.skip(answer)
    X, rows, y = adult()
    if kind == "HNB":
        # Fewer latent variables, whose sums take SQLite minutes.
        X, y = X[:1000], y[:1000]
    model = MODELS[kind]().fit(X, y)
    query = to_sql(model, dialect=dialect, id_columns=["n"])
    found = answer(query, rows.assign(n=range(80))).sort_values("n")
    names = [f"probability_{label}" for label in model.classes_]
    found_proba = found[names].to_numpy(float)
    assert found_proba == pytest.approx(model.predict_proba(rows), abs=1e-9)
    assert found["prediction"].tolist() == model.predict(rows).tolist()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # Spark's own: pandas, sockets, processes
def test_spark_scores_and_explains_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark needs pyspark and the program java")
    from pyspark.sql import SparkSession

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    X, rows, y = adult()
    columns = ["age", "workclass", "sex", "hours_per_week"]
    rows.assign(n=range(80)).to_parquet(tmp_path / "t.parquet")
    builder = SparkSession.builder.master("local[1]").config(
        "spark.ui.enabled", "false"
    )
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    session = builder.getOrCreate()
    try:
        session.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("t")
        kinds = {bayleaf.NaiveBayesClassifier: 2, bayleaf.TANClassifier: 0}
        for kind, told in kinds.items():
            model = kind().fit(X[columns], y)
            query = to_sql(model, dialect="spark", explain=told, id_columns=["n"])
            # Spark takes a statement without its end.
            answer = session.sql(query.strip().removesuffix(";"))
            found = pd.DataFrame([row.asDict() for row in answer.collect()])
            found = found.sort_values("n")
            names = [f"probability_{label}" for label in model.classes_]
            proba = model.predict_proba(rows[columns])
            assert found[names].to_numpy() == pytest.approx(proba, abs=1e-9)
            if told:
                parts = ["prior", "contribution_1", "contribution_2", "other_features"]
                total = found[parts].sum(axis=1).to_numpy()
                assert total == pytest.approx(found["log_odds"].to_numpy())
    finally:
        session.stop()
