"""Fit classifiers to tables whose partitions lie on the workers of Dask."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayleaf.classifiers.shared.parameters import encoder_rules
from bayleaf.classifiers.shared.streaming.learning import learn_from_blocks
from bayleaf.classifiers.shared.streaming.storing import Reading
from bayleaf.classifiers.shared.training import MEAN_ONE
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.dask_partitions import Tasks, open_partitions
from bayleaf.streams.partition_learning import (
    HowToLearn,
    PartitionCounts,
    learn_partitions,
)


def fit_partitions(
    classifier: Any, table: Any, reading: Reading, rng: np.random.Generator
) -> None:
    """Fit a classifier to a table whose partitions are read by workers.

    ValueError or TypeError if a parameter, a column or the target cannot be used;
    ImportError without Dask.
    """
    with partition_counts(
        classifier, table, reading, rng, classifier._chosen_discretizer
    ) as (found, counts):
        learn_from_blocks(classifier, counts, found, rng)


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
                estimator.weight_scale == MEAN_ONE,
                rng,
                reading.hierarchies,
            )
            learned, pieces = learn_partitions(partitions, roles, how, tasks)
        found = learned.table
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
