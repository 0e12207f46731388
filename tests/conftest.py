"""Tables and frames that many tests use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

BACKENDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the published tables; tests that need it skip without it."""
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        pytest.skip("set BAYLEAF_DATA to the folder with the published tables")
    return Path(folder)


@pytest.fixture(scope="session")
def load_table(data_folder: Path) -> Callable[[str], pa.Table]:
    """Read a published table by name; empty cells are missing."""

    def load(name: str) -> pa.Table:
        parquet = data_folder / "scale" / f"{name}.parquet"
        if parquet.exists():
            return pa_parquet.read_table(parquet)
        options = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
        return pa_csv.read_csv(
            data_folder / "small" / f"{name}.csv", convert_options=options
        )

    return load


@pytest.fixture(params=BACKENDS)
def make_frame(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    """Build a data frame of each kind from a dict of columns."""
    return BACKENDS[request.param]
