"""Rows of heart, mushroom and adult, whole and with holes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayleaf.datasets import load_heart, load_mushroom

SAMPLE = Path(__file__).parents[2] / "examples" / "adult_sample.csv.gz"
# What stands in no training row.
STRANGE = 'never "seen"; it\'s é\\'


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
    """Some rows, a tenth of the cells missing and one in each column never seen.

    The last quarter of the rows is as it was.
    """
    rng = np.random.default_rng(1)
    rows = X.sample(n_rows, random_state=2).reset_index(drop=True)
    for place, name in enumerate(rows.columns):
        is_number = rows[name].dtype.kind in "fiu"
        rows[name] = rows[name].astype(float if is_number else object)
        rows.loc[place % n_rows, name] = 1e9 if is_number else STRANGE
        gone = (rng.random(n_rows) < 0.1) & (rows.index < n_rows * 3 // 4)
        rows.loc[gone, name] = np.nan if is_number else None
    return rows
