"""Columns of every kind, whose names and values act on careless programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

HOSTILE = "a\"b'; DROP TABLE x; -- <&>\n" + "é" * 300


def hostile_columns(n_rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Columns of every kind, and classes 0 to 2 that all of them tell something of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    words = np.array(["<=2", 'été & "q"', "x\ny"], dtype=object)
    shown = np.where(rng.random(n_rows) < 0.6, y, rng.integers(3, size=n_rows))
    near = words[(shown + rng.integers(2, size=n_rows)) % 3]
    sizes = pd.CategoricalDtype(["small", "middle", "large"], ordered=True)
    frame = pd.DataFrame(
        {
            HOSTILE: pd.Series(words[shown], dtype=object),
            "real": y * 2.0 + rng.normal(size=n_rows),
            "label": pd.array(rng.integers(3, size=n_rows) + y, dtype="Int64"),
            "flag": pd.array(rng.random(n_rows) < 0.3 + 0.2 * y, dtype="boolean"),
            "select": pd.Series(near, dtype=object),
            "SELECT": rng.normal(size=n_rows) + (near == words[0]),
            "size": pd.Categorical.from_codes(shown, dtype=sizes),
        }
    )
    return frame, y
