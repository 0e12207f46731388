"""Fit classifiers to tables that are read batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayleaf.classifiers.shared.from_counts import kept_counts
from bayleaf.classifiers.shared.incremental import remembered_counts
from bayleaf.classifiers.shared.leave_one_out import (
    fitted_temperature,
    note_little_support,
)
from bayleaf.classifiers.shared.parameters import encoder_rules
from bayleaf.classifiers.shared.saving import support_of
from bayleaf.classifiers.shared.stored_tables import (
    Reading,
    adopt_table,
    check_no_groups,
    check_reading,
    sample_note,
    stored_table,
    with_given_hierarchies,
)
from bayleaf.counts.store_counts import BlockCounts, DiskCounts
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.data.random_state import random_generator
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.dask_partitions import Tasks, open_partitions
from bayleaf.streams.partition_learning import (
    HowToLearn,
    PartitionCounts,
    learn_partitions,
)
from bayleaf.streams.streamed import is_partitioned, is_store


def fit_batches(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Fit a classifier to a table that is read batch by batch, or on workers.

    ValueError or TypeError if a parameter, a column or the target cannot be used;
    OSError if the table cannot be read, or its codes cannot be written; ImportError
    if workers are to read it and Dask is not installed.
    """
    check_fit(classifier, table, y, reading)
    has_hierarchies = getattr(classifier, "hierarchies", None) is not None
    if has_hierarchies or any(classifier._named_columns()):
        table, reading = with_given_hierarchies(classifier, table, reading)
    rng = random_generator(classifier.random_state)
    if reading.client is not None or is_partitioned(table):
        make = classifier._chosen_discretizer
        with partition_counts(classifier, table, reading, rng, make) as (found, blocks):
            learn_from_blocks(classifier, blocks, found, rng)
        return
    with classifier._stage("encoding the table"):
        discretizer = classifier._chosen_discretizer(rng)
        stored = stored_table(classifier, table, reading, discretizer)
    counts = DiskCounts(
        stored.store,
        classifier.n_jobs,
        max_table_cells=classifier.max_table_cells,
        most_rows=reading.row_limit(len(stored.store.cards)),
    )
    learn_from_blocks(classifier, counts, stored.reading, rng)


def learn_from_blocks(
    classifier: Any, counts: BlockCounts, table: TableReading, rng: np.random.Generator
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
    check_reading(classifier, reading)
    if classifier.class_weight is not None:
        raise ValueError(
            "class_weight takes a table in memory; for a table in batches, multiply "
            "the weights of rows in a column and name it as sample_weight"
        )
    if y is not None or (reading.target is None and not is_store(table)):
        raise ValueError(
            "a table that is read in batches holds its labels; name their column with "
            "target=, and pass no y"
        )


@contextlib.contextmanager
def partition_counts(
    estimator: Any,
    table: Any,
    reading: Reading,
    rng: np.random.Generator,
    discretizer_of: Callable[[np.random.Generator], Discretizer],
) -> Iterator[tuple[TableReading, PartitionCounts]]:
    """How a table is read whose partitions lie on workers, and counts of it.

    Without a target, counts have no class. `discretizer_of` makes the discretiser of
    `rng`, which it may draw from.
    """
    if reading.store is not None:
        raise ValueError(
            "the codes of a table in partitions stay on the workers; leave out store="
        )
    with _opened(reading.client) as client:
        tasks = Tasks(client)
        with estimator._stage("encoding the table"):
            partitions = open_partitions(table, tasks)
            roles = reading.roles
            roles.features_of(partitions.names)
            how = HowToLearn(
                discretizer_of(rng),
                encoder_rules(estimator),
                estimator.weight_scale,
                rng,
                reading.hierarchies,
            )
            learned, pieces = learn_partitions(partitions, roles, how, tasks)
        found = learned.table
        check_no_groups(estimator, found.groups)
        counts = PartitionCounts(
            pieces,
            estimator.n_jobs,
            has_class=reading.target is not None,
            max_table_cells=estimator.max_table_cells,
            most_rows=reading.row_limit(len(found.domain)),
        )
        yield TableReading.of(found.encoder, found.domain, found.classes), counts


@contextlib.contextmanager
def _opened(client: Any) -> Iterator[Any]:
    """A client; one that is given by its address is closed again."""
    try:
        import dask  # noqa: F401
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            'fits on workers need Dask; install it with pip install "bayleaf[dask]"'
        ) from error
    if not isinstance(client, str):
        if client is not None and not isinstance(client, Client):
            raise TypeError(
                "client must be a Client of distributed or its address, got "
                f"{type(client).__name__}"
            )
        yield client
        return
    with Client(client) as own:
        yield own
