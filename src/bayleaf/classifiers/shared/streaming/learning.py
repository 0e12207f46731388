"""Learning from tables of which only counts, and perhaps a sample, are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.classifiers.shared.incremental import remembered_counts
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
)
from bayleaf.counts.store_counts import BlockCounts
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.streamed import is_store


def learn_from_blocks(
    classifier: Any,
    counts: BlockCounts,
    table: TableReading,
    rng: np.random.Generator,
) -> None:
    """Learn from a table of which only counts, and perhaps a sample, are here.

    Learners that need rows get `counts.most_rows` of them.
    """
    adopt_table(classifier, table)
    domain = table.domain
    remembered = remembered_counts(classifier, counts)
    classifier._learn_from(remembered, domain[len(domain) - 1], rng)
    all_rows = counts.n_rows <= counts.most_rows
    if all_rows or classifier.calibration is not None:
        classifier._training_codes = counts.rows()
    with classifier._stage("calibrating the model"):
        classifier.temperature_ = fitted_temperature(classifier, None, None, None)
    note_little_support(classifier)
    classifier._support = support_of(classifier, counts)
    classifier._counts = kept_counts(classifier, counts, table)
    if not all_rows:
        classifier._training_codes = None
    if counts.gave_sample:
        notes = classifier.encoder_.notes
        name = domain.names[-1]
        sample = sample_note(counts.most_rows, counts.n_rows)
        said = f"what needs rows was learned from {sample}"
        notes[name] = "; ".join(filter(None, (notes.get(name), said)))


def check_fit(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
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
