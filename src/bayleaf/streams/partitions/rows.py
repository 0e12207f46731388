"""The rows of one partition as columns, labels and weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.tables.columns import Column, ValueColumn
from bayleaf.streams.spooling import (
    TableRoles,
    batch_column,
    checked_target,
    checked_weights,
)


@dataclass(frozen=True)
class PartitionRows:
    """The rows of weight above zero of a partition."""

    batch: pa.RecordBatch
    labels: ValueColumn  # one for all rows if there is no target
    weights: NDArray[np.float64] | None  # (n_rows,); None: each counts once
    roles: TableRoles

    @classmethod
    def of(cls, partition: Any, roles: TableRoles, place: int) -> PartitionRows:
        """Those of a data frame of pandas or a table of Arrow.

        ValueError or TypeError names the partition if labels or weights cannot be used.
        """
        try:
            batch, weights = _batch_of(partition), None
            if roles.weight is not None:
                weights = checked_weights(batch, roles.weight, 0)
                kept = weights > 0
                if not kept.all():
                    batch, weights = batch.filter(pa.array(kept)), weights[kept]
            labels = _labels(batch, roles.target)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"in partition {place}, {error}") from error
        return cls(batch, labels, weights, roles)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.batch.num_rows)

    def features(self) -> Iterator[Column]:
        """The columns to learn from."""
        for name in self.roles.features_of(self.batch.schema.names):
            yield batch_column(name, self.batch.column(name))


def _labels(batch: pa.RecordBatch, target: str | None) -> ValueColumn:
    """The classes of a batch."""
    if target is not None:
        return checked_target(batch, target, 0)
    return ValueColumn("", np.zeros(batch.num_rows, np.int32), ["all rows"])


def _batch_of(partition: Any) -> pa.RecordBatch:
    """A partition as one batch of Arrow."""
    table = partition
    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(partition, preserve_index=False)
    batches = table.unify_dictionaries().combine_chunks().to_batches()
    if batches:
        return batches[0]
    return pa.RecordBatch.from_pylist([], schema=table.schema)
