"""Fit density models to tables that are read batch by batch."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.streaming.reading import adopt_columns
from bayleaf.classifiers.shared.streaming.storing import (
    Reading,
    StoredTable,
    check_reading,
    reading_in,
    sample_note,
    stored_table,
)
from bayleaf.counts.row_sums import RowFacts
from bayleaf.counts.source import CountSource
from bayleaf.counts.store_counts import StoreCounts
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.code_store import CodeStore
from bayleaf.data.cuts.discretizers import resolve_discretizer
from bayleaf.data.hierarchies.files import resolve_hierarchies
from bayleaf.data.partial_values import PartialValues
from bayleaf.streams.sources import open_source


def fit_batches(estimator: Any, table: Any, reading: Reading) -> None:
    """Fit a density model to a table that is read batch by batch.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a column cannot be used.
    OSError
        If the table cannot be read, or its codes cannot be written.
    """
    estimator._check_parameters()
    check_reading(reading)
    with estimator._stage("encoding the table"):
        stored = _stored(estimator, table, reading)
    counts = _counts(estimator, stored.store, reading.max_rows_in_memory)
    estimator._learn(counts, PartialValues.none())
    if isinstance(counts, StoreCounts) and counts.gave_sample:
        sample = sample_note(counts.most_rows, stored.store.n_rows)
        estimator._sample_note = _said(sample, RowFacts.of(counts).lacks_cells)


def _stored(estimator: Any, table: Any, reading: Reading) -> StoredTable:
    """The codes of the table, by which the estimator then reads others."""
    if isinstance(table, CodeStore):
        found = reading_in(table)
        if found.label_type is not None:
            raise ValueError(
                "the codes are of a table with a class, which a density model has not; "
                "read it anew"
            )
        names = [str(name) for name in found.encoder.column_names]
    else:
        table = open_source(table)
        names = reading.roles.features_of(list(table.schema.names))
    hierarchies = resolve_hierarchies(estimator.hierarchies, names)
    reading = reading._replace(hierarchies=hierarchies)
    discretizer = resolve_discretizer(estimator.discretizer)
    stored = stored_table(estimator, table, reading, discretizer)
    adopt_columns(estimator, stored.reading.encoder)
    estimator.hierarchies_ = hierarchies
    return stored


def _counts(estimator: Any, store: CodeStore, most_rows: int) -> CountSource:
    """Counts of all rows: of codes in memory, or block by block where they are many."""
    if store.n_rows > most_rows:
        return StoreCounts(
            store,
            estimator.n_jobs,
            has_class=False,
            max_table_cells=estimator.max_table_cells,
            most_rows=most_rows,
        )
    return TableCounts(
        store.read(range(store.n_rows)),
        estimator.n_jobs,
        has_class=False,
        max_table_cells=estimator.max_table_cells,
    )


def _said(sample: str, lacks_cells: bool) -> str:
    """What to say of a sample."""
    if lacks_cells:
        return f"network and score are of {sample}, since cells are missing"
    return f"structure and score are of {sample}; all of them fill the distributions"
