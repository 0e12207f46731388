"""Which tables are read batch by batch; nothing is loaded to tell."""

from __future__ import annotations

import os
from typing import Any

# Where classes are defined whose objects yield batches but look like no stream.
_MODULES = ("pyarrow._dataset", "pyarrow.dataset", "bayleaf.streams.batch_sources")
_STORES = "bayleaf.data.code_store"


def is_streamed(table: Any) -> bool:
    """Whether a table is read batch by batch, and not taken as a frame in memory."""
    kind = type(table)
    if is_partitioned(table):
        return True
    if isinstance(table, str | os.PathLike) or kind.__module__ in (*_MODULES, _STORES):
        return True
    if isinstance(table, list | tuple):
        return bool(table) and all(isinstance(part, os.PathLike) for part in table)
    if is_lazy_polars(table) or kind.__name__ == "DuckDBPyRelation":
        return True
    # Frames and tables in memory hand themselves over in this way too.
    in_memory = hasattr(kind, "__len__") or hasattr(kind, "shape")
    return hasattr(table, "__arrow_c_stream__") and not in_memory


def is_partitioned(table: Any) -> bool:
    """Whether a table is a data frame of Dask."""
    kind = type(table)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("dask.")


def is_store(table: Any) -> bool:
    """Whether a table is an opened file of codes."""
    return type(table).__module__ == _STORES


def is_lazy_polars(table: Any) -> bool:
    """Whether a table is a lazy frame of polars."""
    kind = type(table)
    return kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars")
