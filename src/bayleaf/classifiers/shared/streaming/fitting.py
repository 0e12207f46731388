"""Fit classifiers to tables that are read batch by batch."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.streaming.learning import check_fit, learn_from_blocks
from bayleaf.classifiers.shared.streaming.partitioned import fit_partitions
from bayleaf.classifiers.shared.streaming.storing import Reading, stored_table
from bayleaf.counts.store_counts import StoreCounts
from bayleaf.data.random_state import random_generator
from bayleaf.streams.streamed import is_partitioned


def fit_batches(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Fit a classifier to a table that is read batch by batch, or on workers.

    ValueError or TypeError if a parameter, a column or the target cannot be used;
    OSError if the table cannot be read, or its codes cannot be written.
    """
    check_fit(classifier, table, y, reading)
    rng = random_generator(classifier.random_state)
    if reading.client is not None or is_partitioned(table):
        fit_partitions(classifier, table, reading, rng)
        return
    with classifier._stage("encoding the table"):
        discretizer = classifier._chosen_discretizer(rng)
        stored = stored_table(classifier, table, reading, discretizer)
    counts = StoreCounts(
        stored.store,
        classifier.n_jobs,
        max_table_cells=classifier.max_table_cells,
        most_rows=reading.row_limit(len(stored.store.cards)),
    )
    learn_from_blocks(classifier, counts, stored.reading, rng)
