"""Codes of tables that are read batch by batch, for estimators of every kind."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from sklearn.utils.validation import validate_data

from bayleaf.classifiers.shared.parameters import (
    check_count,
    checked_class_prior,
    checked_loss,
    encoder_rules,
)
from bayleaf.counts.threads import thread_count
from bayleaf.data.code_store import CodeStore
from bayleaf.data.encoder_learning import Discretizer, with_value_hierarchies
from bayleaf.data.fitted_hierarchies import hierarchies_text
from bayleaf.data.incomplete_rows import DROP
from bayleaf.data.random_cuts import RandomCuts
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.files import locked
from bayleaf.io.atomic import check_writable
from bayleaf.io.native.tables import TableReading
from bayleaf.streams.batch_sources import ArrowSource, open_source
from bayleaf.streams.spilling import TableRoles, spill_table
from bayleaf.streams.streamed import is_partitioned, is_store
from bayleaf.streams.table_learning import learn_spooled
from bayleaf.wording import quoted, shown_name

# What stands in a file of codes beside them.
_READING, _TABLE, _FACTS, _GROUPS = "reading", "table", "facts", "groups"
# Where an interrupted reading keeps what it has.
_PART = ".part"
# What learning takes in all for each row that it gets, numbers counted thrice, and for
# each of its cells; rows get half of the memory.
_BYTES_A_ROW, _BYTES_A_CELL = 64, 48
_FEWEST_ROWS = 10_000
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class Reading(NamedTuple):
    """How a table in batches is to be read."""

    target: str | None  # column of class labels
    store: str | Path | None  # where codes are kept
    max_rows_in_memory: int  # for learners that need rows
    weight: Any = None  # column of row weights
    drop: tuple[str, ...] = ()  # columns that are left out
    hierarchies: Mapping[Name, ValueHierarchy] = {}
    client: Any = None  # Dask's, whose workers read the table
    memory: int | None = None  # bytes that bound the rows, too

    def row_limit(self, n_columns: int) -> int:
        """How many rows of so many columns those learners get that need rows."""
        if self.memory is None:
            return self.max_rows_in_memory
        rows = self.memory // (_BYTES_A_CELL * n_columns + _BYTES_A_ROW)
        return max(_FEWEST_ROWS, min(rows, 1 << 31))

    @property
    def roles(self) -> TableRoles:
        """What the columns of the table are for."""
        return TableRoles(self.target, self.weight, self.drop)


class StoredTable(NamedTuple):
    """The codes of a table, and how they were read."""

    store: CodeStore
    reading: TableReading


def check_reading(estimator: Any, reading: Reading) -> None:
    """Raise if a table in batches is to be read as it cannot be."""
    if estimator.missing == DROP:
        raise ValueError(
            "missing='drop' needs the whole table in memory; leave rows with missing "
            "cells out before, or use missing='marginalize'"
        )
    check_count("max_rows_in_memory", reading.max_rows_in_memory, 1)
    if reading.weight is not None and not isinstance(reading.weight, str):
        raise TypeError(
            "a table that is read in batches holds its weights; name their column, "
            f"got {quoted(reading.weight)}"
        )


def sample_note(n_sampled: int, n_rows: int) -> str:
    """What to say of a sample of rows."""
    return f"{n_sampled:,} of {n_rows:,}, drawn at random"


def with_given_hierarchies(
    estimator: Any, table: Any, reading: Reading
) -> tuple[Any, Reading]:
    """A table, opened unless workers read it, and its reading with hierarchies.

    Those that the estimator was given; ValueError if the table lacks their columns, or
    others that parameters name.
    """
    if is_store(table):
        names = [str(name) for name in reading_in(table).encoder.column_names]
    elif is_partitioned(table):
        names = reading.roles.features_of([str(name) for name in table.columns])
    else:
        source = open_source(table, plan=estimator._plan)
        names = reading.roles.features_of(list(source.schema.names))
        table = table if reading.client is not None else source
    estimator._check_columns(names)
    given = estimator._given_hierarchies(names)
    return table, reading._replace(hierarchies=given)


def stored_table(
    estimator: Any, table: Any, reading: Reading, discretizer: Discretizer
) -> StoredTable:
    """The codes of a table, read from a file of them where they are there already.

    ValueError if that file is of another table, or of the same read in another way.
    """
    if is_store(table):
        if isinstance(discretizer, RandomCuts):
            raise ValueError(
                "averaged KDB draws cut points of its own; fit it to the table, or "
                "name a discretizer"
            )
        check_no_groups(estimator, table.about.get(_GROUPS, {}))
        found = with_hierarchies(reading_in(table), reading.hierarchies)
        return StoredTable(table, found)
    rules = encoder_rules(estimator)
    source = open_source(table, plan=rules.plan)
    if source.missing:
        plan = replace(rules.plan or ReadingPlan(), missing=source.missing)
        rules = replace(rules, plan=plan)
    what = _what(estimator, source, reading, discretizer)
    path = None if reading.store is None else Path(reading.store)
    known = _known(path, what)
    if known is not None:
        about: Any = known.store.about
        check_no_groups(estimator, about.get(_GROUPS, {}))
        source.facts.update(about.get(_FACTS, {}))
        return known
    keeps = None
    if path is None:
        keeps = _TemporaryFolder()
        folder, path = keeps.path, keeps.path / "codes"
    else:
        check_writable(path)
        folder = path.with_name(path.name + _PART)
    alone = _alone(folder) if keeps is None else contextlib.nullcontext()
    with alone, _cleared(folder):
        # Another process may have come first.
        known = _known(path, what) if keeps is None else None
        if known is not None:
            about = known.store.about
            check_no_groups(estimator, about.get(_GROUPS, {}))
            shutil.rmtree(folder, ignore_errors=True)
            return known
        spooled = spill_table(
            source,
            replace(reading.roles, missing=rules.missing_texts),
            folder,
            what if keeps is None else None,
            thread_count(estimator.n_jobs),
        )
        learned, write = learn_spooled(
            spooled,
            discretizer,
            rules,
            weight_scale=estimator.weight_scale,
            n_jobs=thread_count(estimator.n_jobs),
            schema=source.schema,
            hierarchies=reading.hierarchies,
        )
        check_no_groups(estimator, learned.groups)
        found = TableReading.of(learned.encoder, learned.domain, learned.classes)
        about = {
            _READING: what,
            _TABLE: found.to_text(),
            _FACTS: source.facts,
            _GROUPS: learned.groups,
        }
        store = write(path, about, lasting=keeps is None)
    return StoredTable(replace(store, keeps=keeps), found)


def _known(path: Path | None, what: str | None) -> StoredTable | None:
    """The codes in a file of this table; None without one, ValueError for another's."""
    if path is None or not path.is_file():
        return None
    store = CodeStore.open(path)
    if what is None or store.about.get(_READING) != what:
        raise ValueError(
            f"the file {shown_name(str(path))} holds the codes of another table, "
            "or of this one read in another way; name another file or delete it"
        )
    return StoredTable(store, reading_in(store))


def check_no_groups(estimator: Any, groups: Mapping[str, str]) -> None:
    """Raise ValueError if an estimator needs the rows of cells that name groups.

    `groups` are some that cells name, by column.
    """
    if estimator._leaves_groups_out or not groups:
        return
    name, group = next(iter(groups.items()))
    raise ValueError(
        f"column {quoted(name)} has cells that name {quoted(group)}, a group of its "
        f"hierarchy, which {type(estimator).__name__} learns from in memory alone; fit "
        "the table in memory, or name states in these cells"
    )


class _TemporaryFolder:
    """A folder that goes when nobody needs it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="bayleaf-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Make a folder for this process; ValueError while another one writes to it."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder.with_name(folder.name + ".lock")))
            folder.mkdir(exist_ok=True)
        except BlockingIOError as error:
            target = folder.with_name(folder.name.removesuffix(_PART))
            raise ValueError(
                f"another process is writing the codes of {shown_name(str(target))}; "
                "wait until it has ended, or name another file"
            ) from error
        except OSError as error:
            raise type(error)(f"cannot write {folder}: {error.strerror}") from error
        yield


@contextlib.contextmanager
def _cleared(folder: Path) -> Iterator[None]:
    """Remove a folder where what is written into it cannot be used.

    It stays if the block is interrupted, so that the next reading can go on.
    """
    try:
        yield
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if error.errno in _FULL:
            raise OSError(
                f"the disk of {folder.parent} has no room for the table's codes; make "
                "room, or name a file on another disk with store="
            ) from error
        raise
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def reading_in(store: CodeStore) -> TableReading:
    """How the table of a file of codes was read."""
    text = store.about.get(_TABLE)
    found = TableReading.from_text(str(text), store.path.name)
    if found.domain.cards != store.cards:
        raise ValueError(
            f"the file of codes {shown_name(store.path.name)} is damaged: its columns "
            "are not those of its table; delete it and read the table again"
        )
    return found


def with_hierarchies(
    reading: TableReading, hierarchies: Mapping[Name, ValueHierarchy]
) -> TableReading:
    """A reading whose variables have hierarchies, for codes that stay as they are.

    ValueError if a hierarchy does not fit, or a column would have other codes with it.
    """
    if not hierarchies:
        return reading
    before = reading.encoder
    encoder = with_value_hierarchies(before, hierarchies)
    for old, new in zip(before.domain, encoder.domain, strict=True):
        if old.states != new.states:
            raise ValueError(
                f"the hierarchy of column {quoted(new.name)} cuts it elsewhere than "
                "its codes; fit the table itself"
            )
    return TableReading.of(encoder, encoder.domain, None)


def _what(
    estimator: Any, source: ArrowSource, reading: Reading, discretizer: Discretizer
) -> str | None:
    """What tells this reading of a table from others; None if it cannot be repeated."""
    if source.identity is None or isinstance(discretizer, RandomCuts):
        return None
    facts = (
        source.identity,
        str(source.schema.remove_metadata()),
        reading.roles,
        repr(discretizer),
        encoder_rules(estimator),
        estimator.weight_scale,
        hierarchies_text(reading.hierarchies),
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def adopt_columns(estimator: Any, encoder: TableEncoder) -> None:
    """Take over how the columns of a table were read."""
    names = [str(name) for name in encoder.column_names]
    frame = pa.table({name: pa.array([0]) for name in names})
    validate_data(estimator, frame, reset=True, skip_check_array=True)
    hierarchies = estimator._given_hierarchies(encoder.column_names)
    reading = TableReading.of(encoder, encoder.domain, None)
    encoder = with_hierarchies(reading, hierarchies).encoder
    estimator.encoder_ = replace(encoder, hierarchies=hierarchies)


def adopt_table(classifier: Any, table: TableReading) -> None:
    """Take over how a table was read."""
    encoder, classes = table.encoder, table.classes
    if classes is None:
        raise ValueError("the codes are of a table without a class; read it again")
    adopt_columns(classifier, encoder)
    classifier.classes_ = classes
    checked_loss(classifier.loss, classes)
    if classifier.class_prior is not None:
        checked_class_prior(classifier.class_prior, classes)
