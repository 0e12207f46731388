"""Fit classifiers to tables that are read batch by batch."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.leave_one_out import (
    fitted_temperature,
    note_little_support,
)
from bayleaf.classifiers.shared.parameters import AUTO
from bayleaf.classifiers.shared.saving import support_of
from bayleaf.classifiers.shared.streaming.from_counts import kept_counts
from bayleaf.classifiers.shared.streaming.reading import adopt_table
from bayleaf.classifiers.shared.streaming.storing import (
    Reading,
    check_reading,
    sample_note,
    stored_table,
)
from bayleaf.counts.store_counts import StoreCounts
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.data.random_state import random_generator
from bayleaf.streams.streamed import is_store


def fit_batches(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Fit a classifier to a table that is read batch by batch.

    Raises
    ------
    ValueError, TypeError
        If a parameter, a column or the target cannot be used.
    OSError
        If the table cannot be read, or its codes cannot be written.
    """
    _check(classifier, table, y, reading)
    rng = random_generator(classifier.random_state)
    with classifier._stage("encoding the table"):
        discretizer = classifier._chosen_discretizer(rng)
        stored = stored_table(classifier, table, reading, discretizer)
    adopt_table(classifier, stored.reading)
    domain = stored.reading.domain
    counts = StoreCounts(
        stored.store,
        classifier.n_jobs,
        max_table_cells=classifier.max_table_cells,
        most_rows=reading.max_rows_in_memory,
    )
    classifier._learn_from(classifier._kept(counts), domain[len(domain) - 1], rng)
    n_rows = stored.store.n_rows
    all_rows = n_rows <= reading.max_rows_in_memory
    if all_rows or classifier.calibration is not None:
        classifier._training_codes = counts.rows()
    with classifier._stage("calibrating the model"):
        classifier.temperature_ = fitted_temperature(classifier, None, None, None)
    note_little_support(classifier)
    classifier._support = support_of(classifier, counts)
    classifier._counts = kept_counts(classifier, counts, stored.reading)
    if not all_rows:
        classifier._training_codes = None
    if counts.gave_sample:
        notes = classifier.encoder_.notes
        name = domain.names[-1]
        sample = sample_note(reading.max_rows_in_memory, n_rows)
        said = f"what needs rows was learned from {sample}"
        notes[name] = "; ".join(filter(None, (notes.get(name), said)))


def _check(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Raise if parameters are out of range, before anything is read."""
    classifier._check_parameters()
    if classifier.smoothing != AUTO:
        resolve_smoothing(classifier.smoothing)
    check_reading(reading)
    if y is not None or (reading.target is None and not is_store(table)):
        raise ValueError(
            "a table that is read in batches holds its labels; name their column with "
            "target=, and pass no y"
        )
