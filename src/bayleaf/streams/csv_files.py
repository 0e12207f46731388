"""CSV files as batches whose types hold for every cell of all files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from bayleaf.data.dates import zone_name
from bayleaf.data.reading_plan import ReadingPlan
from bayleaf.data.tables.columns import Name
from bayleaf.data.text_forms import (
    WRITTEN,
    TextDecision,
    TextEvidence,
    decide,
    file_signs,
    read_texts,
)
from bayleaf.wording import quoted

ReadTexts = Callable[[str], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class CsvFiles:
    """Several CSV files of the same columns, read as one table.

    They are read once to find out what the texts of a column spell in all its cells,
    and then once more.
    """

    paths: tuple[str, ...]
    read_texts: ReadTexts  # the rows of a file as batches of text
    plan: ReadingPlan | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts of cells that are missing, whatever the column."""
        return () if self.plan is None else self.plan.missing or ()

    @cached_property
    def decisions(self) -> dict[Name, TextDecision]:
        """How the texts of each column are read, but for those that stay text."""
        evidence: dict[str, TextEvidence] = {}
        for batch in self.text_batches():
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if pa.types.is_dictionary(column.type):
                    self._categories.add(name)
                    column = column.cast(pa.string())
                cells = TextEvidence.of(column)
                before = evidence.get(name)
                evidence[name] = cells if before is None else before.plus(cells)
        self._evidence.update(evidence)
        plan = self.plan or ReadingPlan()
        signs = file_signs(evidence.values(), plan.signs)
        decided: dict[Name, TextDecision] = {
            name: decide(cells, signs)
            for name, cells in evidence.items()
            if name not in self._categories
        }
        decided |= plan.decisions(evidence)
        return {name: way for name, way in decided.items() if way.form.kind != "text"}

    @cached_property
    def _evidence(self) -> dict[str, TextEvidence]:
        """What the columns' cells may spell, once they are decided on."""
        return {}

    @cached_property
    def _categories(self) -> set[str]:
        """Columns that files declare to be of categories, once they are decided on."""
        return set()

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        decisions = self.decisions
        types = {
            name: _type_of(cells, decisions.get(name))
            for name, cells in self._evidence.items()
        }
        for name in self._categories - {*decisions}:
            types[name] = pa.dictionary(pa.int32(), pa.string())
        return pa.schema(types.items())

    @property
    def text_schema(self) -> pa.Schema:
        """Names of the columns, whose cells are text."""
        return next(self.text_batches()).schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, each column of its type."""
        schema = self.schema
        for batch in self.text_batches():
            columns = [
                _read(column, field.type, self.decisions.get(field.name))
                for column, field in zip(batch.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def text_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as text."""
        names: list[str] | None = None
        for path in self.paths:
            for batch in self.read_texts(path):
                if names is not None and batch.schema.names != names:
                    raise ValueError(
                        f"{path} has other columns than {self.paths[0]}; pass files of "
                        "the same columns in the same order"
                    )
                if names is None:
                    check_columns(batch.schema)
                names = batch.schema.names
                yield batch


def _type_of(evidence: TextEvidence, decision: TextDecision | None) -> pa.DataType:
    """The type of a column, integers where all its numbers are."""
    if decision is None:
        return pa.string()
    if decision.form.kind == "number":
        return pa.int64() if evidence.are_integers(decision.form) else pa.float64()
    given = decision.form.zone
    zone = None if given is None or given == WRITTEN else zone_name(given)
    times = {"boolean": pa.bool_(), "date": pa.timestamp("us", zone)}
    return times.get(decision.form.kind, pa.duration("us"))


def _read(
    column: pa.Array, kind: pa.DataType, decision: TextDecision | None
) -> pa.Array:
    """Texts as values of a column's type."""
    if decision is None:
        return column if column.type == kind else column.cast(kind)
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    form = decision.form
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        # Arrow's instants count by the clock of UTC.
        form = replace(form, zone=0)
    read = read_texts(form, column)
    values = read.values
    if pa.types.is_floating(kind):
        values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("a column of a file holds an infinite number; correct it")
    numbers = pa.array(values, mask=read.missing)
    return numbers if numbers.type == kind else numbers.cast(kind)


def check_columns(schema: pa.Schema) -> None:
    """Raise ValueError if two columns share a name."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise ValueError(
            f"several columns are called {quoted(twice[0])}; give every column a name "
            "of its own"
        )
