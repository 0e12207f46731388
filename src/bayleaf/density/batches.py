"""Fit density models to tables that are read batch by batch."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.batches import partition_counts
from bayleaf.classifiers.shared.stored_tables import (
    Reading,
    StoredTable,
    adopt_columns,
    check_reading,
    reading_in,
    sample_note,
    stored_table,
    with_given_hierarchies,
)
from bayleaf.counts.source import CountSource
from bayleaf.counts.store_counts import BlockCounts, DiskCounts
from bayleaf.counts.table_counts import RowCounts, RowFacts
from bayleaf.data.code_store import CodeStore
from bayleaf.data.codes import Codes
from bayleaf.data.discretizers import resolve_discretizer
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.random_state import random_generator
from bayleaf.streams.streamed import is_partitioned


def fit_batches(estimator: Any, table: Any, reading: Reading) -> None:
    """Fit a density model to a table that is read batch by batch.

    ValueError or TypeError if a parameter or a column cannot be used; OSError if the
    table cannot be read, or its codes cannot be written.
    """
    estimator._check_parameters()
    check_reading(estimator, reading)
    table, reading = with_given_hierarchies(estimator, table, reading)
    if reading.client is not None or is_partitioned(table):
        _fit_partitions(estimator, table, reading)
        return
    with estimator._stage("encoding the table"):
        stored = _stored(estimator, table, reading)
    row_limit = reading.row_limit(len(stored.store.cards))
    _learn(estimator, _counts(estimator, stored.store, row_limit))


def _fit_partitions(estimator: Any, table: Any, reading: Reading) -> None:
    """Fit to a table whose partitions are read by workers."""
    rng = random_generator(estimator.random_state)
    with partition_counts(
        estimator,
        table,
        reading,
        rng,
        lambda _: resolve_discretizer(estimator.discretizer),
    ) as (found, counts):
        adopt_columns(estimator, found.encoder)
        if counts.n_rows <= counts.most_rows:
            _learn(estimator, _in_memory(estimator, counts.rows()))
        else:
            _learn(estimator, counts)


def _learn(estimator: Any, counts: CountSource) -> None:
    """Learn from counts, and say where a sample stood in."""
    estimator._learn(counts, PartialValues.none())
    if isinstance(counts, BlockCounts) and counts.gave_sample:
        sample = sample_note(counts.most_rows, counts.n_rows)
        estimator._sample_note = _said(sample, RowFacts.of(counts).lacks_cells)


def _stored(estimator: Any, table: Any, reading: Reading) -> StoredTable:
    """The codes of the table, by which the estimator then reads others."""
    if isinstance(table, CodeStore):
        found = reading_in(table)
        if found.label_type is not None:
            raise ValueError(
                "the codes are of a table with a class, which a density model has not; "
                "read it again"
            )
    discretizer = resolve_discretizer(estimator.discretizer)
    stored = stored_table(estimator, table, reading, discretizer)
    adopt_columns(estimator, stored.reading.encoder)
    return stored


def _counts(estimator: Any, store: CodeStore, most_rows: int) -> CountSource:
    """Counts of all rows: of codes in memory, or block by block where they are many."""
    if store.n_rows > most_rows:
        return DiskCounts(
            store,
            estimator.n_jobs,
            has_class=False,
            max_table_cells=estimator.max_table_cells,
            most_rows=most_rows,
        )
    return _in_memory(estimator, store.read(range(store.n_rows)))


def _in_memory(estimator: Any, codes: Codes) -> RowCounts:
    """Counts of codes in memory."""
    return RowCounts(
        codes,
        estimator.n_jobs,
        has_class=False,
        max_table_cells=estimator.max_table_cells,
    )


def _said(sample: str, lacks_cells: bool) -> str:
    """What to say of a sample."""
    if lacks_cells:
        return f"network and score are of {sample}, since cells are missing"
    return f"structure and score are of {sample}; all of them fill the distributions"
