"""A regressor reads tables as classifiers do, whatever they come in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import AveragedKDBRegressor
from bayleaf.cli.table_reading import read_table

SOURCES = ["polars", "arrow", "csv", "parquet"]


def awkward(n_rows: int = 60) -> pd.DataFrame:
    """A date, an identifier, numbers with holes, names with rare ones, few numbers."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame(
        {
            "id": [f"P{i:04}" for i in range(n_rows)],
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 700, n_rows), unit="D"),
            "age": rng.integers(1, 80, n_rows).astype(float),
            "place": rng.choice(["town", "shore", "hill"], n_rows),
            "rooms": rng.integers(1, 5, n_rows),
        }
    )
    table.loc[::9, "age"] = np.nan
    table.loc[::7, "place"] = None
    table["price"] = (table["rooms"] * 3 + rng.normal(size=n_rows)).round(3)
    return table


def read_from(source: str, folder: Path) -> object:
    """The table as another library holds it, or from a file."""
    table = awkward()
    if source == "polars":
        return pl.from_pandas(table)
    if source == "arrow":
        return pa.Table.from_pandas(table, preserve_index=False)
    path = folder / f"table.{source}"
    if source == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return read_table(str(path))


@pytest.fixture(scope="module")
def fitted() -> AveragedKDBRegressor:
    """A regressor of the pandas table."""
    table = awkward()
    model = AveragedKDBRegressor(n_networks=2, random_state=0)
    return model.fit(table.drop(columns="price"), table["price"])


def columns_read(model: AveragedKDBRegressor) -> dict[str, str]:
    """How each column was read."""
    return {one["name"]: one["read_as"] for one in model.columns_.to_dict()}


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_table_from_elsewhere_gives_the_same_model(
    source: str, fitted: AveragedKDBRegressor, tmp_path: Path
) -> None:
    table, other = awkward().drop(columns="price"), read_from(source, tmp_path)
    expected = fitted.predict_quantiles(table)
    X = other.select(list(table))  # type: ignore[attr-defined]
    again = AveragedKDBRegressor(n_networks=2, random_state=0)
    again.fit(X, np.asarray(other["price"]))  # type: ignore[index]
    assert columns_read(again) == columns_read(fitted)
    assert np.array_equal(again.predict_quantiles(X), expected)
    # Rows from either are read alike.
    assert np.array_equal(fitted.predict_quantiles(X), expected)


def test_an_identifier_explains_nothing(fitted: AveragedKDBRegressor) -> None:
    X = awkward().drop(columns="price")
    named = {term.feature for term in fitted.explain(X.head(1))[0].terms}
    assert "id" not in named
    assert {"age", "place", "rooms"} < named
    assert any(str(name).startswith("day: ") for name in named)
