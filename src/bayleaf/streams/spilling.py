"""A table written down batch by batch, so that an interrupted reading can go on."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.counts.threads import run_tasks
from bayleaf.data.tables.array_columns import arrow_column, unsupported
from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.data.text_forms import TextDecision, without_texts
from bayleaf.files import replace_file
from bayleaf.progress import Work, in_words
from bayleaf.streams.batch_sources import BATCH_ROWS, ArrowSource
from bayleaf.streams.spool import (
    NumberSpool,
    ValueSpool,
    as_numbers,
    restored,
    spool_for,
)
from bayleaf.wording import name_list, near_names, quoted

# Rows after which it is noted how far reading has come.
_NOTED_ROWS = 1 << 22
_STATE = "state.json"


@dataclass(frozen=True)
class TableRoles:
    """What the columns of a table are for."""

    target: str | None = None  # to predict
    weight: str | None = None  # of rows
    drop: Sequence[str] = ()  # left out
    missing: Sequence[str] = ()  # texts that are missing cells of features

    def features_of(self, names: Sequence[str]) -> list[str]:
        """The columns that are features.

        ValueError if a named column is absent or named twice over, or none is left.
        """
        special = [*filter(None, (self.target, self.weight)), *self.drop]
        for name in special:
            if name not in names:
                raise ValueError(
                    f"the table has no column {quoted(name)}; "
                    f"{near_names(name, list(names))}"
                )
        if self.target is not None and self.target in (self.weight, *self.drop):
            raise ValueError(
                f"the target column {quoted(self.target)} is named for something else "
                "too; name another one"
            )
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"several columns are called {name_list(twice)}; "
                "give every column a name of its own"
            )
        features = [name for name in names if name not in special]
        if not features:
            raise ValueError("the table has no column left to learn from; add features")
        return features

    def feature(
        self, name: str, cells: pa.Array, *, is_ordered: bool = False
    ) -> Column:
        """Cells of a feature as a column; integers stay as narrow as they are."""
        kind = cells.type
        if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            missing = np.asarray(cells.is_null()) if cells.null_count else None
            values = np.asarray(cells.fill_null(0) if cells.null_count else cells)
            return NumberColumn(name, values, missing)
        column = arrow_column(name, cells, ordered=is_ordered)
        return without_texts(column, self.missing)


@dataclass
class SpilledTable:
    """A table that was read once; its `features` are spools in the table's order."""

    folder: Path  # of its files
    roles: TableRoles
    features: dict[str, Any] = field(default_factory=dict)
    target: ValueSpool | None = None  # the classes
    weights: NumberSpool | None = None  # of rows, all above zero
    n_read: int = 0  # rows, those of weight zero included
    n_jobs: int = 1
    decisions: Mapping[Name, TextDecision] = field(default_factory=dict)  # of texts

    @property
    def n_rows(self) -> int:
        """Number of rows that are kept."""
        return int(next(iter(self.features.values())).n_rows)

    def append(self, batch: pa.RecordBatch, source: ArrowSource) -> None:
        """Write down the rows of a batch."""
        kept = self._keep_weighty(batch)
        names = self.roles.features_of(batch.schema.names)
        run_tasks(
            [
                partial(self._append_column, place, name, kept.column(name), source)
                for place, name in enumerate(names)
            ],
            self.n_jobs,
        )
        if self.roles.target is not None:
            values = checked_target(kept, self.roles.target, self.n_read)
            if self.target is None:
                self.target = ValueSpool(self.roles.target, self.folder / "target")
            self.target.append(values)
        self.n_read += batch.num_rows

    def _append_column(
        self, place: int, name: str, cells: pa.Array, source: ArrowSource
    ) -> None:
        """Write down some rows of one column."""
        is_ordered = name in source.ordered
        column = self.roles.feature(name, cells, is_ordered=is_ordered)
        if isinstance(column, ValueColumn) and name in source.texts:
            column = replace(column, declared=False)
        path = self.folder / f"{place:05d}"
        spool = self.features[name]
        if spool is None:
            spool = spool_for(column, path)
        if isinstance(spool, NumberSpool):
            spool.append(column)
        elif not spool.append(column):
            spool = as_numbers(spool, path, BATCH_ROWS)
            spool.append(column)
        self.features[name] = spool

    def _keep_weighty(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of weight above zero; the weights are written down."""
        if self.roles.weight is None:
            return batch
        weights = checked_weights(batch, self.roles.weight, self.n_read)
        kept = weights > 0
        if self.weights is None:
            self.weights = NumberSpool("weights", self.folder / "weights", "<f8")
        self.weights.append(NumberColumn("weights", weights[kept], None))
        return batch if kept.all() else batch.filter(pa.array(kept))

    def note(self, what: str) -> None:
        """Note how far reading has come."""
        spools: dict[str, Any] = {n: s.state() for n, s in self.features.items()}
        others = {"target": self.target, "weights": self.weights}
        state = {
            "what": what,
            "n_read": self.n_read,
            "features": spools,
            **{n: None if s is None else s.state() for n, s in others.items()},
        }
        part = self.folder / (_STATE + ".part")
        part.write_text(json.dumps(state), "utf-8", newline="\n")
        replace_file(part, self.folder / _STATE)

    def close(self) -> None:
        """Let go of the files."""
        for spool in (*self.features.values(), self.target, self.weights):
            if spool is not None:
                spool.close()


def spill_table(
    source: ArrowSource,
    roles: TableRoles,
    folder: Path,
    what: str | None,
    n_jobs: int = 1,
) -> SpilledTable:
    """Read a table into a folder, from where an interrupted reading ended.

    The folder exists; `what` distinguishes this reading from others, None if it cannot
    go on. ValueError or TypeError if a column cannot be used, or there are no rows;
    OSError if files cannot be written.
    """
    names = list(source.schema.names)
    nothing = dict.fromkeys(roles.features_of(names))
    table = _restored(folder, roles, what) or SpilledTable(folder, roles, nothing)
    table.n_jobs, table.decisions = n_jobs, source.decisions
    noted = table.n_read
    start, first = time.perf_counter(), table.n_read
    work = Work()
    with contextlib.closing(table):
        for batch in source.batches(table.n_read):
            table.append(batch, source)
            if what is not None and table.n_read - noted >= _NOTED_ROWS:
                table.note(what)
                noted = table.n_read
            work.say(_progress(table.n_read, first, source.n_rows, start))
    if not table.n_read or not table.n_rows:
        raise ValueError(
            "the table has no rows" + (" of weight above zero" if table.n_read else "")
        )
    return table


def _progress(n_read: int, first: int, n_rows: int | None, start: float) -> str:
    """How many rows are read, how fast, and the time left."""
    passed = max(time.perf_counter() - start, 1e-9)
    rate = (n_read - first) / passed
    told = f"{n_read:,} rows read, {rate:,.0f} a second"
    if n_rows and rate:
        told += f", {in_words((n_rows - n_read) / rate)} left"
    return told


def _restored(folder: Path, roles: TableRoles, what: str | None) -> SpilledTable | None:
    """What an interrupted reading of the same table left; None if nothing."""
    path = folder / _STATE
    if what is not None and path.exists():
        with contextlib.suppress(ValueError, KeyError, TypeError, OSError):
            state = json.loads(path.read_text("utf-8"))
            if state["what"] == what:
                return _from_state(folder, roles, state)
    # What others left would be taken for parts of this table.
    for left in folder.iterdir():
        left.unlink()
    return None


def _from_state(folder: Path, roles: TableRoles, state: dict[str, Any]) -> SpilledTable:
    """A table as it was when it was noted how far reading had come."""
    table = SpilledTable(folder, roles, n_read=state["n_read"])
    for place, (name, own) in enumerate(state["features"].items()):
        table.features[name] = restored(name, folder / f"{place:05d}", own)
    if state["target"]:
        target = restored(str(roles.target), folder / "target", state["target"])
        assert isinstance(target, ValueSpool)
        table.target = target
    if state["weights"]:
        weights = restored("weights", folder / "weights", state["weights"])
        assert isinstance(weights, NumberSpool)
        table.weights = weights
    return table


def checked_target(batch: pa.RecordBatch, name: str, n_before: int) -> ValueColumn:
    """The labels of a batch."""
    column = arrow_column(name, batch.column(name))
    if isinstance(column, TimeColumn):
        raise unsupported(name, "dates or times")
    values: ValueColumn = column.distinct()
    missing = np.flatnonzero(values.indices < 0)
    if len(missing):
        raise ValueError(
            f"the target {quoted(name)} has missing values (the first in row "
            f"{n_before + int(missing[0])}), such as NaN; remove those rows"
        )
    # Categories that no row has are no classes.
    return replace(values, ordered=False)


def checked_weights(
    batch: pa.RecordBatch, name: str, n_before: int
) -> NDArray[np.float64]:
    """The weights of a batch."""
    column = batch.column(name)
    try:
        weights = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"the weight column {quoted(name)} must hold numbers"
        ) from error
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        row = n_before + int(np.argmax(wrong))
        raise ValueError(
            f"the weight column {quoted(name)} holds {weights[wrong][0]} in row {row}; "
            "give every row a finite weight >= 0"
        )
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MOST_WEIGHT:
        raise ValueError(
            f"the weight column {quoted(name)} sums to {total:.3g}, too much to count "
            "with; divide all weights by one number"
        )
    return np.asarray(weights, dtype=np.float64)
