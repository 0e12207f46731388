"""Counts of a table in a file, with how the table was read: days, sites, persons."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.count_tables import MergeableCounts, shapes_of
from bayleaf.data.class_labels import sorted_positions
from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.columns import Name
from bayleaf.io.native.codec import encoded
from bayleaf.io.native.documents import (
    MAX_BYTES,
    content_of_bytes,
    document_bytes,
    read_document,
    write_document,
)
from bayleaf.io.native.tables import TableReading, wider_label_type
from bayleaf.results.result import Shown
from bayleaf.wording import brief, counted, quoted

FORMAT = "bayleaf-counts"
_LABEL_KINDS = {str: "text", bool: "booleans"}


@dataclass(frozen=True, eq=False)
class CountsDocument:
    """The fields of a file of counts; tables stand flat, one after the other."""

    domain: Domain
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]
    readings: tuple[ColumnReading, ...]
    label_type: str
    families: tuple[tuple[int, ...], ...]
    counts: NDArray[np.float64]
    checksum: str = ""

    def check_content(self) -> None:
        """Raise ValueError unless this was written, and can be counts of a table."""
        if len(self.domain) < 2:
            raise ValueError("counts need at least one feature and the class")
        if self.checksum != self.computed_checksum():
            raise ValueError(
                "its counts or columns are not those that were written; count the "
                "table again"
            )
        last = len(self.domain)
        if any(not 0 <= v < last for family in self.families for v in family):
            raise ValueError("a family names a variable that there is not")
        shape, sizes = shapes_of(self.domain.cards, self.families)
        n_counts = shape[0] + int(np.prod(shape)) + sum(sizes)
        if self.counts.shape != (n_counts,) or not np.isfinite(self.counts).all():
            raise ValueError(f"there should be {n_counts} finite counts")
        self.tables().check_margins()

    def tables(self) -> MergeableCounts:
        """The counts as tables."""
        cards = self.domain.cards
        shape, sizes = shapes_of(cards, self.families)
        ends = np.cumsum([shape[0], int(np.prod(shape)), *sizes])[:-1]
        by_class, pairs, *tables = np.split(self.counts, ends)
        families = {
            family: table.reshape([cards[v] for v in family])
            for family, table in zip(self.families, tables, strict=True)
        }
        return MergeableCounts(
            self.domain.names, cards, by_class, pairs.reshape(shape), families
        )

    def computed_checksum(self) -> str:
        """SHA-256 of all fields, so that no count or state is changed unnoticed."""
        arrays: list[Any] = [np.ascontiguousarray(self.counts, "<f8")]
        columns = (self.domain.variables, self.rules, self.notes, self.readings)
        values = encoded((*columns, self.label_type, self.families), arrays)
        text = json.dumps(values, default=lambda array: str(array.shape))
        digest = hashlib.sha256(text.encode())
        for array in arrays:
            digest.update(array.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class CountFile(Shown):
    """Counts of a table, which can be added, taken out and scaled; it holds no rows.

    ``a + b`` counts the rows of both, ``a - b`` forgets those of b exactly, and
    ``a * 0.99`` makes all rows weigh less. States that one of them lacks are added in
    the order of values; cut points must be the same.

    Parameters
    ----------
    reading : TableReading
        How the table was read, its variables, the class last.
    tables : MergeableCounts
        The counts.
    """

    reading: TableReading
    tables: MergeableCounts

    @classmethod
    def open(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> CountFile:
        """Read a file that `save` wrote.

        Raises
        ------
        ModelFileError
            If it is none, was changed, or its counts contradict each other.
        OSError
            If it cannot be read.
        """
        return cls._of(read_document(path, max_bytes, {FORMAT: CountsDocument}))

    @classmethod
    def from_bytes(cls, content: bytes, *, max_bytes: int = MAX_BYTES) -> CountFile:
        """Read what `to_bytes` gave, such as what another machine sent.

        Raises
        ------
        ModelFileError
            If it is something else, or its counts were changed.
        """
        kinds = {FORMAT: CountsDocument}
        return cls._of(content_of_bytes(content, "the sent counts", max_bytes, kinds))

    @classmethod
    def _of(cls, found: CountsDocument) -> CountFile:
        """The counts in a document."""
        reading = TableReading(
            found.domain, found.rules, found.notes, found.readings, found.label_type
        )
        return cls(reading, found.tables())

    def save(self, path: str | Path) -> None:
        """Write the counts to a file; `CountFile.open` reads it.

        Raises
        ------
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        write_document(FORMAT, self._document(), path)

    def to_bytes(self) -> bytes:
        """The content of such a file, to be sent; `CountFile.from_bytes` reads it."""
        return document_bytes(FORMAT, self._document())

    def _document(self) -> CountsDocument:
        """The fields of a file."""
        tables, reading = self.tables, self.reading
        flat = [tables.by_class, tables.pairs, *tables.families.values()]
        counts = np.concatenate([table.ravel() for table in flat])
        document = CountsDocument(
            reading.domain,
            reading.rules,
            reading.notes,
            reading.readings,
            str(reading.label_type),
            tuple(tables.families),
            counts,
        )
        return replace(document, checksum=document.computed_checksum())

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.tables.by_class.sum())

    def __add__(self, other: CountFile) -> CountFile:
        if not isinstance(other, CountFile):
            return NotImplemented
        one, two = _over_the_same_states(self, other)
        return replace(one, tables=one.tables.plus(two.tables))

    def __radd__(self, other: object) -> CountFile:
        # `sum` begins with 0.
        return self if type(other) is int and other == 0 else NotImplemented

    def __sub__(self, other: CountFile) -> CountFile:
        if not isinstance(other, CountFile):
            return NotImplemented
        one, two = _over_the_same_states(self, other)
        tables = one.tables.minus(two.tables)
        low, names = tables.lowest()
        if low < 0.0:
            raise ValueError(
                f"rows are taken out that were never counted: {names} would have a "
                f"count of {low:.6g}; take out rows that are among the others"
            )
        return replace(one, tables=tables)

    def __mul__(self, factor: float) -> CountFile:
        if not isinstance(factor, int | float) or isinstance(factor, bool):
            return NotImplemented
        if not 0.0 < factor < np.inf:
            raise ValueError(f"counts are scaled by a number above 0, got {factor}")
        return replace(self, tables=self.tables.times(float(factor)))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same counts of the same states, empty ones apart."""
        if not isinstance(other, CountFile):
            return NotImplemented
        one, two = self.without_empty_states(), other.without_empty_states()
        if one.reading.domain != two.reading.domain:
            return False
        tables = one.tables, two.tables
        return (
            np.array_equal(tables[0].by_class, tables[1].by_class)
            and np.array_equal(tables[0].pairs, tables[1].pairs)
            and set(tables[0].families) == set(tables[1].families)
            and all(
                np.array_equal(table, tables[1].families[family])
                for family, table in tables[0].families.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def without_empty_states(self) -> CountFile:
        """The same counts without values that no row has, as a fit would know none.

        Intervals of numbers stay.
        """
        variables, maps = [], []
        for place, variable in enumerate(self.reading.domain):
            # An interval stays though no row has it.
            is_interval = [
                variable.kind == "numeric" and state is not None
                for state in variable.states
            ]
            kept = (self.tables.states_seen(place) > 0) | np.array(is_interval)
            maps.append(np.where(kept, np.cumsum(kept) - 1, -1).astype(np.intp))
            states = [s for s, k in zip(variable.states, kept, strict=True) if k]
            variables.append(replace(variable, states=tuple(states)))
        return self._over(Domain(tuple(variables)), maps)

    def _over(self, domain: Domain, maps: list[NDArray[np.intp]]) -> CountFile:
        """The same counts over other states."""
        labels = self.reading.label_type
        if labels is not None and domain != self.reading.domain:
            labels = wider_label_type(labels, domain[-1].states)
        reading = replace(self.reading, domain=domain, label_type=labels)
        return CountFile(reading, self.tables.placed(maps, domain.cards))

    def __repr__(self) -> str:
        return brief(
            self,
            f"weight {self.weight:.6g}",
            counted(len(self.tables.cards) - 1, "feature"),
            f"{counted(len(self.tables.families), 'table')} in addition to pairs",
        )


def _over_the_same_states(
    one: CountFile, other: CountFile
) -> tuple[CountFile, CountFile]:
    """Both counts over the states of either."""
    names = one.reading.domain.names, other.reading.domain.names
    if names[0] != names[1]:
        differing = next(
            (n for n in (*names[0], *names[1]) if (n in names[0]) != (n in names[1])),
            names[0][0],
        )
        raise ValueError(
            "the counts are of tables with other columns, such as "
            f"{quoted(differing)}; count the same columns in the same order"
        )
    kinds = [
        {
            _LABEL_KINDS.get(type(label), "numbers")
            for label in counts.reading.domain[-1].states
        }
        for counts in (one, other)
    ]
    if kinds[0] and kinds[1] and not kinds[0] & kinds[1]:
        raise ValueError(
            f"the classes are {min(kinds[0])} in one of the counts and {min(kinds[1])} "
            "in the other; count both tables with labels of one type"
        )
    missing = [counts.reading.rules.missing for counts in (one, other)]
    if missing[0] != missing[1]:
        raise ValueError(
            f"missing cells were counted with missing={quoted(missing[0])} and with "
            f"missing={quoted(missing[1])}; count both tables like one model"
        )
    pairs = list(zip(one.reading.domain, other.reading.domain, strict=True))
    domain = Domain(tuple(_joined(*pair) for pair in pairs))
    return one._over(domain, _maps(one, domain)), other._over(
        domain, _maps(other, domain)
    )


def _joined(one: Variable, other: Variable) -> Variable:
    """A variable with the states of two."""
    if (
        one.kind != other.kind
        or one.cut_points != other.cut_points
        or (one.categories != other.categories)
    ):
        raise ValueError(
            f"column {quoted(one.name)} was cut at other points, or read in another "
            "way, in the two counts; count both like one model"
        )
    if one.states == other.states:
        return one
    known = list(dict.fromkeys([*one.known_states, *other.known_states]))
    last = [s for s in (one.other_state, other.other_state) if s is not None][:1]
    if one.kind == "nominal":
        rest = [state for state in known if state not in last]
        known = [rest[place] for place in sorted_positions(rest)] + list(last)
    has_missing = one.has_missing_state or other.has_missing_state
    states = (*known, None) if has_missing else tuple(known)
    return replace(one, states=states, other_state=last[0] if last else None)


def _maps(store: CountFile, domain: Domain) -> list[NDArray[np.intp]]:
    """The code in a domain of each state of a store's variables."""
    pairs = zip(store.reading.domain, domain, strict=True)
    return [
        np.array([new.state_index[state] for state in old.states], dtype=np.intp)
        for old, new in pairs
    ]
