"""Learning from tables of which only counts, and perhaps a sample, are in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayleaf.classifiers.shared.leave_one_out import (
    fitted_temperature,
    note_little_support,
)
from bayleaf.classifiers.shared.parameters import AUTO, check_count
from bayleaf.classifiers.shared.saving import support_of
from bayleaf.classifiers.shared.streaming.from_counts import kept_counts
from bayleaf.classifiers.shared.streaming.reading import adopt_table
from bayleaf.counts.store_counts import BlockCounts
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.spooling import TableRoles
from bayleaf.streams.streamed import is_store
from bayleaf.wording import quoted


class Reading(NamedTuple):
    """How a table in batches is to be read.

    Parameters
    ----------
    target : str or None
        The column of class labels.
    store : path or None
        Where codes are kept.
    max_rows_in_memory : int
        How many rows those learners get that need rows.
    weight : str or None
        The column of row weights.
    drop : tuple of str
        Columns that are left out.
    client : distributed.Client or str, optional
        Whose workers read the table.
    """

    target: str | None
    store: str | Path | None
    max_rows_in_memory: int
    weight: Any = None
    drop: tuple[str, ...] = ()
    client: Any = None

    @property
    def roles(self) -> TableRoles:
        """What the columns of the table are for."""
        return TableRoles(self.target, self.weight, self.drop)


def learn_from_blocks(
    classifier: Any,
    counts: BlockCounts,
    table: TableReading,
    rng: np.random.Generator,
) -> None:
    """Learn from a table of which only counts, and perhaps a sample, are here.

    Parameters
    ----------
    classifier : BayesianClassifier
        What learns.
    counts : BlockCounts
        Of the table; its `most_rows` is how many rows those learners get that need
        rows.
    table : TableReading
        How the table was read.
    rng : Generator
        What learning draws from.
    """
    adopt_table(classifier, table)
    domain = table.domain
    classifier._learn_from(classifier._kept(counts), domain[len(domain) - 1], rng)
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
        said = (
            f"what needs rows was learned from {counts.most_rows:,} of "
            f"{counts.n_rows:,}, drawn at random"
        )
        notes[name] = "; ".join(filter(None, (notes.get(name), said)))


def check_fit(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Raise if parameters are out of range, before anything is read."""
    classifier._check_parameters()
    if classifier.smoothing != AUTO:
        resolve_smoothing(classifier.smoothing)
    check_count("max_rows_in_memory", reading.max_rows_in_memory, 1)
    if y is not None or (reading.target is None and not is_store(table)):
        raise ValueError(
            "a table that is read in batches holds its labels; name their column with "
            "target=, and pass no y"
        )
    if reading.weight is not None and not isinstance(reading.weight, str):
        raise TypeError(
            "a table that is read in batches holds its weights; name their column, "
            f"got {quoted(reading.weight)}"
        )
