"""Numbers and labels as Arrow's arrays, made over their buffers.

Arrow's own conversions load pandas wherever it is installed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


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
