"""Arrow's arrays to NumPy's and back, over their buffers.

Arrow's own conversions load pandas wherever it is installed, which takes longer than
most commands do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def arrow_file(path: str | Path, mode: str = "rb") -> pa.OSFile:
    """A file opened by Arrow, whose own way with names refuses some bytes in them."""
    return pa.OSFile(os.fsencode(path), mode)


def dictionary_codes(array: pa.DictionaryArray) -> NDArray[np.int32]:
    """The indices of an array as `dictionary_encode` makes it, -1 for nulls."""
    indices = array.indices
    rows = slice(indices.offset, indices.offset + len(indices))
    validity, values = indices.buffers()
    if len(indices) == 0:
        return np.zeros(0, dtype=np.int32)
    codes = np.frombuffer(values, dtype=np.int32)[rows]
    if not indices.null_count:
        return codes
    bits = np.frombuffer(validity, dtype=np.uint8)
    present = np.unpackbits(bits, bitorder="little")[rows]
    return np.where(present, codes, np.int32(-1))


def changed_texts(column: pa.Array, change: Callable[[str], str]) -> pa.Array:
    """A column with another text in each cell of text; other columns as they are."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
    elif not pa.types.is_dictionary(kind):
        return column
    texts = column.dictionary.to_pylist()
    changed = [change(text) if isinstance(text, str) else text for text in texts]
    if changed == texts:
        return column.dictionary_decode()
    dictionary = pa.array(changed, column.dictionary.type)
    return pa.DictionaryArray.from_arrays(
        column.indices, dictionary
    ).dictionary_decode()


def as_number(text: str) -> float | None:
    """The number that a text spells, or None."""
    try:
        # Python takes 1_000 for a number; in a table it is none.
        return None if "_" in text else float(text)
    except ValueError:
        return None
