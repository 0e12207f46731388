"""Graphs of operators run over a data frame by onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def run_onnx(graph: Any, frame: pd.DataFrame) -> tuple[Any, Any]:
    """Labels and probabilities that onnxruntime finds."""
    import onnxruntime

    session = onnxruntime.InferenceSession(graph.SerializeToString())
    cells: dict[str, Any] = {}
    for one in session.get_inputs():
        column = frame[one.name]
        if "string" in one.type:
            values = column.astype(object).where(column.notna(), "").to_numpy(object)
        else:
            numbers = column.astype("Float64")
            values = numbers.to_numpy(dtype=float, na_value=np.nan)
        cells[one.name] = values.reshape(-1, 1)
    labels, proba = session.run(None, cells)
    return labels, proba
