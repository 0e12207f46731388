"""Batches with what a model predicts of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.models.predictor import Predictor
from bayleaf.wording import quoted


def number_array(values: NDArray[np.int64] | NDArray[np.float64]) -> pa.Array:
    """Numbers as an Arrow array of the same type, without nulls."""
    kind = pa.int64() if values.dtype == np.int64 else pa.float64()
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def text_array(texts: Sequence[str], codes: NDArray[np.integer]) -> pa.Array:
    """The text of each row, by code, as an Arrow array; ValueError from 2 GiB on."""
    encoded = [text.encode() for text in texts]
    sizes = np.array([len(text) for text in encoded], dtype=np.int64)
    ends = np.cumsum(sizes[codes])
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(
            "labels are too long to be written; shorten those of the model"
        )
    offsets = np.zeros(len(codes) + 1, dtype=np.int32)
    offsets[1:] = ends
    content = b"".join([encoded[code] for code in codes.tolist()])
    return pa.StringArray.from_buffers(
        len(codes), pa.py_buffer(offsets), pa.py_buffer(content)
    )


# Quantiles of a numeric target that are written.
_LEVELS = (0.05, 0.5, 0.95)


def with_classes(
    predictor: Predictor, codes: Any, batch: pa.RecordBatch, probabilities: bool
) -> pa.RecordBatch:
    """The batch with prediction and, if asked for, probabilities.

    ValueError if it has a column of such a name already.
    """
    proba = np.exp(predictor.log_proba(codes))
    added = {"prediction": _label_column(predictor.choose(proba), predictor.classes)}
    if probabilities:
        for label, column in zip(predictor.classes, proba.T, strict=True):
            added[f"probability_{label}"] = number_array(column)
    return _with_columns(batch, added)


def with_numbers(
    model: Any, absolute: bool, codes: Any, batch: pa.RecordBatch, quantiles: bool
) -> pa.RecordBatch:
    """The batch with a predicted number and, if asked for, quantiles.

    The number is the median under absolute loss, and else the mean. ValueError if the
    batch has a column of such a name already.
    """
    said = model.distributions(codes)
    added = {"prediction": number_array(said.median if absolute else said.mean)}
    if quantiles:
        for level, column in zip(_LEVELS, said.quantiles(_LEVELS).T, strict=True):
            added[f"quantile_{level:g}"] = number_array(column.copy())
    return _with_columns(batch, added)


def _with_columns(
    batch: pa.RecordBatch, added: Mapping[str, pa.Array]
) -> pa.RecordBatch:
    """The batch with other columns behind its own."""
    taken = [name for name in added if name in batch.schema.names]
    if taken:
        raise ValueError(
            f"the input has a column {quoted(taken[0])} already; rename it so that the "
            "prediction can be added"
        )
    return pa.RecordBatch.from_arrays(
        [*batch.columns, *added.values()], names=[*batch.schema.names, *added]
    )


def _label_column(chosen: Any, classes: Any) -> pa.Array:
    """Labels in a type that holds every class; as text if Arrow knows no other."""
    labels = classes.tolist()
    if classes.dtype.kind in "if":
        kind = np.int64 if classes.dtype.kind == "i" else np.float64
        return number_array(classes.astype(kind)[chosen])
    if all(isinstance(label, str) for label in labels):
        return text_array(labels, chosen)
    try:
        return pa.array(labels).take(pa.array(chosen))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return text_array([str(label) for label in labels], chosen)
