"""Counts of what a classifier was fitted to, and classifiers from counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.classifiers.shared.incremental import families_of, remembered_counts
from bayleaf.classifiers.shared.saving import support_of
from bayleaf.classifiers.shared.stored_tables import adopt_table
from bayleaf.counts.count_tables import MergeableCounts
from bayleaf.counts.source import CountSource, Family
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.class_labels import encode_labels, sorted_positions
from bayleaf.data.column_reading import CellError
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import available_codes
from bayleaf.data.random_state import random_generator
from bayleaf.data.tables.frames import value_column
from bayleaf.data.tables.named_rows import names_as_in
from bayleaf.data.text_forms import decide, evidence_of, read_texts
from bayleaf.data.unknown_cells import UnknownCells
from bayleaf.io.native.count_store import CountFile
from bayleaf.io.native.tables import TableReading, labels_of_type, wider_label_type
from bayleaf.streams.batch_sources import ArrowSource
from bayleaf.streams.spilling import TableRoles, checked_weights
from bayleaf.wording import quoted

# Takes unknown cells of a batch and the lines of its rows.
ReportUnknown = Callable[[Iterable[UnknownCells], Sequence[int]], None]
# Cells of the table of pairs up to which a fit to batches keeps its counts.
_MOST_KEPT = 4_000_000
# Under a limit of memory a cell of that table, of which several copies are made while
# it is added up, may take a small part.
_BYTES_A_KEPT_CELL = 256


def reading_of(classifier: Any) -> TableReading:
    """How a fitted classifier reads tables."""
    variables = classifier.encoder_.domain.variables
    names = classifier.model_.domain.names
    own = classifier.model_.domain[len(names) - 1]
    domain = Domain((*variables, own))
    return TableReading.of(classifier.encoder_, domain, classifier.classes_)


def counts_of(classifier: Any) -> CountFile:
    """Counts of the rows that a classifier was fitted to.

    AttributeError if it has neither rows nor counts.
    """
    kept: CountFile | None = getattr(classifier, "_counts", None)
    if kept is not None:
        return kept
    codes = classifier._training_codes
    stored = getattr(classifier, "_stored_counts", None)
    reading, families = reading_of(classifier), families_of(classifier.model_)
    names = reading.domain.names
    if codes is not None:
        counts: CountSource = RowCounts(
            codes, classifier.n_jobs, max_table_cells=classifier.max_table_cells
        )
        return CountFile(reading, MergeableCounts.of(counts, names, families))
    if stored is not None and stored.knows_pairs:
        return CountFile(reading, MergeableCounts.of(stored, names))
    raise AttributeError(
        f"counts_ needs the training rows, which this {type(classifier).__name__} does "
        "not hold: they go with pickling and saving; call fit"
    )


def kept_counts(
    classifier: Any, source: CountSource, reading: TableReading
) -> CountFile | None:
    """The counts of a table in batches, if they are not many."""
    width = sum(card + 1 for card in source.cards[:-1])
    most = _MOST_KEPT
    if classifier._memory is not None:
        most = min(most, classifier._memory // _BYTES_A_KEPT_CELL)
    if source.cards[-1] * width * width > most:
        return None
    families = families_of(classifier.model_)
    tables = MergeableCounts.of(source, reading.domain.names, families)
    return CountFile(reading_of(classifier), tables)


def fit_to_counts(classifier: Any, counts: CountFile) -> None:
    """Fit a classifier to counts; ValueError if they lack a table or it needs rows."""
    if not isinstance(counts, CountFile):
        raise TypeError(
            f"from_counts takes a CountFile, got {quoted(type(counts).__name__)}; "
            "take it from counts_ or read it with CountFile.open"
        )
    classifier._check_parameters()
    if classifier.class_weight is not None:
        raise ValueError(
            "class_weight weighs rows, which counts do not hold; leave it out, or set "
            "class_prior"
        )
    own = counts.without_empty_states()
    if not own.weight > 0:
        raise ValueError("the counts are of no rows; add some")
    adopt_table(classifier, own.reading)
    domain = own.reading.domain
    rng = random_generator(classifier.random_state)
    try:
        kept = remembered_counts(classifier, own.tables)
        classifier._learn_from(kept, domain[len(domain) - 1], rng)
        classifier._support = support_of(classifier, own.tables)
    except TypeError as error:
        if "counts hold no rows" not in str(error):
            raise
        raise ValueError(
            f"this {type(classifier).__name__} needs rows, which counts do not hold; "
            "naive Bayes, TAN, KDB, AODE and A2DE learn from counts, by a rule of "
            "smoothing that is named"
        ) from error
    classifier._counts = own


def count_batches(
    source: ArrowSource,
    reading: TableReading,
    families: list[Family],
    weight: str | None = None,
    report: ReportUnknown | None = None,
) -> CountFile:
    """Count the pairs and `families` of a table that is read as another one was.

    Other columns are left out. Unknown values become states, unless the reading's rules
    refuse them, and go to the `report`; cut points stay. Columns that were left out in
    training may be absent. ValueError if another one is, or there are no rows.
    """
    target = str(reading.domain.names[-1])
    readings = {str(known.name): known for known in reading.encoder.readings}
    given = source.schema.names
    present = {
        called: n
        for n, called in zip(given, names_as_in(given, [*readings]), strict=True)
    }
    total: CountFile | None = None
    TableRoles(target, weight).features_of(list(source.schema.names))
    absent = [
        n for n, o in readings.items() if n not in present and o.form != "left_out"
    ]
    if absent:
        raise ValueError(f"the table has no column {quoted(absent[0])}")
    names = [present[name] for name in readings if name in present]
    for table, label, weights, lines in _pieces(source, names, target, weight):
        try:
            part, unknown = _counted(table, label, weights, reading, families)
        except CellError as error:
            row = int(lines[error.row]) - 1
            raise CellError(error.name, error.text, row, error.kind) from error
        if report is not None:
            report(unknown, lines.tolist())
        total = part if total is None else total + part
    if total is None:
        raise ValueError("the table has no rows")
    return total


def _pieces(
    source: ArrowSource, names: list[str], target: str, weight: str | None
) -> Iterator[tuple[pa.Table, pa.Array, NDArray[np.float64] | None, NDArray[np.intp]]]:
    """Features, labels, weights and lines of the rows of weight above zero."""
    n_read = 0
    for batch in source.batches():
        weights = None
        lines = np.arange(n_read + 1, n_read + 1 + batch.num_rows)
        n_read += batch.num_rows
        if weight is not None:
            weights = checked_weights(batch, weight, int(lines[0]) - 1)
            kept = weights > 0
            batch, weights = batch.filter(pa.array(kept)), weights[kept]
            lines = lines[kept]
        if batch.num_rows:
            table = pa.Table.from_batches([batch.select(names)])
            yield table, batch.column(target), weights, lines


def _counted(
    table: pa.Table,
    label: pa.Array,
    weights: NDArray[np.float64] | None,
    reading: TableReading,
    families: list[Family],
) -> tuple[CountFile, list[UnknownCells]]:
    """Counts of some rows, and what is unknown in them."""
    parts, _ = reading.encoder.split(table)
    encoder = reading.encoder
    if encoder.rules.unknown != "error":
        encoder = encoder.extended(parts)
    own = reading.domain[len(reading.domain) - 1]
    variable, classes = _classes(own, label)
    encoded = encoder.transform(parts)
    unknown = [*encoded.unknown_cells.values()]
    if encoder is not reading.encoder:
        before = reading.encoder.transform(parts).unknown_cells
        unknown += [
            replace(cells, outcome="counted as new states", has_numbers=False)
            for name, cells in before.items()
            if name not in encoded.unknown_cells
        ]
    codes = available_codes(encoded.rows)
    codes = codes.with_column(classes, variable.n_states, weights)
    domain = Domain((*encoder.domain.variables, variable))
    counts = MergeableCounts.of(RowCounts(codes), domain.names, families)
    assert reading.label_type is not None
    kind = wider_label_type(reading.label_type, variable.states)
    labels = labels_of_type(kind, variable.states)
    found = TableReading.of(encoder, domain, labels)
    return CountFile(found, counts), unknown


def _classes(variable: Variable, label: pa.Array) -> tuple[Variable, NDArray[np.intp]]:
    """The class with the labels that some rows add, and the class of each row."""
    if pa.types.is_dictionary(label.type):
        label = label.cast(label.type.value_type)
    found, codes = encode_labels(_spelled_labels(variable, label))
    states = list(dict.fromkeys([*variable.states, *found.tolist()]))
    if len(states) > variable.n_states:
        states = [states[place] for place in sorted_positions(states)]
        variable = Variable(variable.name, tuple(states))
    places = np.array([variable.state_index[each] for each in found.tolist()], np.intp)
    return variable, places[codes]


def _spelled_labels(variable: Variable, label: pa.Array) -> pa.Array:
    """Labels that come as text as those that training had, where these are not text."""
    if not pa.types.is_string(label.type):
        return label
    if any(isinstance(state, str) for state in variable.states):
        return label
    column = value_column(label, variable.name)
    form = decide(evidence_of(column)).form
    if form.kind not in ("number", "boolean"):
        return label
    read = read_texts(form, label)
    return pa.array(read.values, mask=read.missing)
