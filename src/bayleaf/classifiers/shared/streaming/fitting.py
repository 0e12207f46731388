"""Fit classifiers to tables that are read batch by batch."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bayleaf.classifiers.shared.parameters import encoder_rules
from bayleaf.classifiers.shared.streaming.learning import (
    Reading,
    check_fit,
    learn_from_blocks,
)
from bayleaf.classifiers.shared.streaming.partitioned import fit_partitions
from bayleaf.classifiers.shared.training import MEAN_ONE
from bayleaf.counts.store_counts import StoreCounts
from bayleaf.counts.threads import thread_count
from bayleaf.data.code_store import CodeStore
from bayleaf.data.cuts.random_cuts import RandomCuts
from bayleaf.data.domain import Domain
from bayleaf.data.encoder.learning import Discretizer
from bayleaf.data.random_state import random_generator
from bayleaf.io.atomic import check_writable
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.learning import learn_spooled
from bayleaf.streams.sources import ArrowSource, open_source
from bayleaf.streams.spooling import spool_table
from bayleaf.streams.streamed import is_partitioned, is_store
from bayleaf.wording import shown_name

# What stands in a file of codes beside them.
_READING, _TABLE = "reading", "table"
# Where an interrupted reading keeps what it has.
_PART = ".part"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class StoredTable(NamedTuple):
    """The codes of a table, and how they were read."""

    store: CodeStore
    reading: TableReading


def fit_batches(classifier: Any, table: Any, y: Any, reading: Reading) -> None:
    """Fit a classifier to a table that is read batch by batch, or on workers.

    Raises
    ------
    ValueError, TypeError
        If a parameter, a column or the target cannot be used.
    OSError
        If the table cannot be read, or its codes cannot be written.
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
        most_rows=reading.max_rows_in_memory,
    )
    learn_from_blocks(classifier, counts, stored.reading, rng)


def stored_table(
    classifier: Any,
    table: Any,
    reading: Reading,
    discretizer: Discretizer,
) -> StoredTable:
    """The codes of a table, read from a file of them where they are there already.

    Raises
    ------
    ValueError
        If the file holds another table, or the same read in another way.
    """
    if is_store(table):
        if isinstance(discretizer, RandomCuts):
            raise ValueError(
                "averaged KDB draws cut points of its own; fit it to the table, or "
                "name a discretizer"
            )
        return StoredTable(table, _reading_in(table))
    source = open_source(table)
    what = _what(classifier, source, reading, discretizer)
    path = None if reading.store is None else Path(reading.store)
    if path is not None and path.exists():
        store = CodeStore.open(path)
        if what is None or store.about.get(_READING) != what:
            raise ValueError(
                f"the file {shown_name(str(path))} holds the codes of another table, "
                "or of this one read in another way; name another file or delete it"
            )
        return StoredTable(store, _reading_in(store))
    keeps = None
    if path is None:
        keeps = _TemporaryFolder()
        folder, path = keeps.path / _PART, keeps.path / "codes"
    else:
        check_writable(path)
        folder = path.with_name(path.name + _PART)
    with _cleared(folder):
        spooled = spool_table(
            source,
            reading.roles,
            folder,
            what if keeps is None else None,
            thread_count(classifier.n_jobs),
        )
        learned, write = learn_spooled(
            spooled,
            discretizer,
            encoder_rules(classifier),
            mean_one=classifier.weight_scale == MEAN_ONE,
            n_jobs=thread_count(classifier.n_jobs),
            schema=source.schema,
        )
        variables = learned.encoder.domain.variables
        if learned.target is not None:
            variables = (*variables, learned.target)
        found = TableReading.of(learned.encoder, Domain(variables), learned.classes)
        store = write(path, {_READING: what, _TABLE: found.to_text()})
    return StoredTable(replace(store, keeps=keeps), found)


class _TemporaryFolder:
    """A folder that goes when nobody needs it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="bayleaf-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@contextlib.contextmanager
def _cleared(folder: Path) -> Iterator[None]:
    """Make a folder for what is written, and remove it where that cannot be used.

    It stays if the block is interrupted, so that the next reading can go on.
    """
    try:
        folder.mkdir(exist_ok=True)
        yield
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if error.errno in _FULL:
            raise OSError(
                f"the disk of {folder.parent} has no room for the table's codes; make "
                "room, or name a file on another disk with store=",
            ) from error
        raise
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _reading_in(store: CodeStore) -> TableReading:
    """How the table of a file of codes was read."""
    text = store.about.get(_TABLE)
    found = TableReading.from_text(str(text), store.path.name)
    if found.domain.cards != store.cards:
        raise ValueError(
            f"the file of codes {shown_name(store.path.name)} is damaged: its columns "
            "are not those of its table; delete it and read the table again"
        )
    return found


def _what(
    classifier: Any,
    source: ArrowSource,
    reading: Reading,
    discretizer: Discretizer,
) -> str | None:
    """What tells this reading of a table from others; None if it cannot be repeated."""
    if source.identity is None or isinstance(discretizer, RandomCuts):
        return None
    facts = (
        source.identity,
        str(source.schema.remove_metadata()),
        reading.roles,
        repr(discretizer),
        encoder_rules(classifier),
        classifier.weight_scale,
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()
