"""Fit density models to tables that are read batch by batch."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.batches import partition_counts
from bayleaf.classifiers.shared.parameters import check_pairs_size
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
from bayleaf.counts.store_counts import BlockCounts, DiskCounts
from bayleaf.counts.table_counts import RowFacts
from bayleaf.data.code_store import CodeStore
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
        rng = random_generator(estimator.random_state)
        cuts = resolve_discretizer(estimator.discretizer)
        counting = partition_counts(estimator, table, reading, rng, lambda _: cuts)
        with counting as (found, blocks):
            adopt_columns(estimator, found.encoder)
            _learn(estimator, blocks)
        return
    with estimator._stage("encoding the table"):
        stored = _stored(estimator, table, reading)
    n_columns = len(stored.store.cards)
    check_pairs_size(n_columns, estimator._bytes_a_pair, reading.memory)
    counts = DiskCounts(
        stored.store,
        estimator.n_jobs,
        has_class=False,
        max_table_cells=estimator.max_table_cells,
        most_rows=reading.row_limit(n_columns),
    )
    _learn(estimator, counts)


def _learn(estimator: Any, counts: BlockCounts) -> None:
    """Learn from counts, of codes in memory where these are few; note a sample."""
    fits = counts.n_rows <= counts.most_rows
    estimator._learn(
        estimator._count(counts.rows()) if fits else counts, PartialValues.none()
    )
    if counts.gave_sample:
        sample = sample_note(counts.most_rows, counts.n_rows)
        if RowFacts.of(counts).lacks_cells:
            note = f"network and score are of {sample}, since cells are missing"
        else:
            note = f"structure and score are of {sample}; all of them fill the "
            note += "distributions"
        estimator._sample_note = note


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
