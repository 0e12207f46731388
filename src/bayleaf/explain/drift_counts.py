"""The counts of a table that a model is compared with; no row of it is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.class_labels import encode_labels
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import available_codes, sets_in
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.streams.batch_sources import ArrowSource, open_source
from bayleaf.streams.spilling import TableRoles, checked_weights
from bayleaf.streams.streamed import is_streamed
from bayleaf.wording import counted, name_list, quoted

# Encodes the features of a batch of Arrow; the number is that of rows before it.
Encode = Callable[[Any, int], EncodedTable]


@dataclass(frozen=True)
class ObservedCounts:
    """Counts of a table over a network's variables."""

    rows: float  # weight of all rows
    variables: tuple[int, ...]  # those of the network that the table has
    families: tuple[Family, ...]  # those of which it has all variables
    counts: dict[Family, NDArray[np.float64]]  # of each variable, each family
    unknown: Counter[str | int]  # by column, cells new since training
    remark: str  # what could not be counted


class _Reader(NamedTuple):
    """How batches become codes over the variables of a network."""

    encode: Encode
    places: list[int]  # the network's variable of each feature
    target: int | None  # the network's variable of the class, if present
    target_name: str
    labels: dict[Any, int]  # code of each label
    weight: str | None  # column of row weights


def count_observed(
    model: Any,
    network: BayesianNetwork,
    table: Any,
    weight: str | None,
    encode: Encode | None = None,
) -> ObservedCounts:
    """Count the variables and families of a network that a table of rows has.

    `weight` is the column of row weights; `encode` replaces the model's encoder.
    ValueError if a column is missing, or there are no rows.
    """
    encoder: TableEncoder = getattr(model, "encoder_", None) or model.encoder
    source = _opened(table, encoder)
    names = source.schema.names
    TableRoles(None, weight).features_of(list(names))
    if encode is None:
        used = [str(name) for name in encoder.column_names]
        absent = [name for name in used if name not in names]
        if absent:
            raise ValueError(f"the table lacks {name_list(absent)}; pass its columns")

        def encode(batch: pa.RecordBatch, n_before: int) -> EncodedTable:
            del n_before
            own = pa.Table.from_batches([batch.select(used)])
            return encoder.transform(to_columns(_with_numbers(own, encoder)))

    places = [network.domain.index(name) for name in encoder.domain.names]
    target, remark = _target_of(model, network, names)
    domain = network.domain
    labels: dict[Any, int] = {} if target is None else dict(domain[target].state_index)
    name = "" if target is None else str(domain[target].name)
    reader = _Reader(encode, places, target, name, labels, weight)
    known = set(places) | ({target} if target is not None else set())
    families = tuple(f for f in network.dag.families if set(f) <= known)
    return _summed(reader, source, domain.cards, sorted(known), families, remark)


def _with_numbers(table: pa.Table, encoder: TableEncoder) -> pa.Table:
    """A table in which intervals by their names, as samples have them, are numbers."""
    for place, field in enumerate(table.schema):
        variables = [v for v in encoder.domain if v.name == field.name]
        if not variables or not _is_text(field.type):
            continue
        variable = variables[0]
        if variable.kind != "numeric" or variable.categories is not None:
            continue
        values = table.column(place).unique().drop_null().to_pylist()
        if not set(values) <= set(variable.known_states):
            continue
        inside = [
            *variable.cut_points,
            np.nextafter([0.0, *variable.cut_points][-1], np.inf),
        ]
        number = dict(zip(variable.known_states, inside, strict=True))
        cells = [number.get(cell) for cell in table.column(place).to_pylist()]
        table = table.set_column(place, field.name, pa.array(cells, pa.float64()))
    return table


def _is_text(kind: pa.DataType) -> bool:
    """Whether cells are text, as they are or by their places in a list."""
    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own))


def _opened(table: Any, encoder: TableEncoder) -> ArrowSource:
    """A table in batches; cells of CSV files are texts, which the encoder reads."""
    if is_streamed(table):
        return open_source(table, as_texts=True, plan=encoder.rules.plan)
    if not isinstance(table, pa.Table) and hasattr(table, "__arrow_c_stream__"):
        table = pa.table(table)
    if not isinstance(table, pa.Table):
        raise TypeError(
            "drift takes a data frame, or a table in batches, got "
            f"{quoted(type(table).__name__)}; give columns their names"
        )
    return open_source(table.to_reader())


def _target_of(
    model: Any, network: BayesianNetwork, names: list[str]
) -> tuple[int | None, str]:
    """The class among the network's variables, and what is said without one."""
    classes = getattr(model, "classes_", getattr(model, "classes", None))
    if classes is None:
        return None, ""
    own: Any = getattr(model, "model_", getattr(model, "model", None))
    name = own.domain.names[-1]
    if name in names:
        return network.domain.index(name), ""
    return None, (
        f"the table has no column {quoted(name)}, so that only features are compared, "
        "and not how they depend on the class"
    )


def _summed(
    reader: _Reader,
    source: ArrowSource,
    cards: tuple[int, ...],
    variables: list[int],
    families: tuple[Family, ...],
    remark: str,
) -> ObservedCounts:
    """The counts of all batches."""
    asked: list[Family] = list(dict.fromkeys([*((v,) for v in variables), *families]))
    totals = {family: np.zeros([cards[v] for v in family]) for family in asked}
    unknown: Counter[str | int] = Counter()
    rows, n_read, n_groups = 0.0, 0, 0
    for codes, encoded in _batches(reader, source, cards):
        counts = RowCounts(codes, has_class=False).family_counts(asked)
        for family, own in zip(asked, counts, strict=True):
            totals[family] += own
        unknown.update(encoded.unknown)
        n_groups += len(sets_in(encoded.rows))
        rows += float(codes.weights.sum())
        n_read += codes.n_rows
    if not rows:
        raise ValueError("the table has no rows")
    if n_groups:
        cells = counted(n_groups, "cell")
        note = f"{cells} with the name of a group left out of counts, as in training"
        remark = f"{remark}; {note}" if remark else note
    return ObservedCounts(rows, tuple(variables), families, totals, unknown, remark)


def _batches(
    reader: _Reader, source: ArrowSource, cards: tuple[int, ...]
) -> Iterator[tuple[Codes, EncodedTable]]:
    """Batches as codes over all variables of the network, and how they were read."""
    n_read = 0
    for batch in source.batches():
        weights = None
        if reader.weight is not None:
            weights = checked_weights(batch, reader.weight, n_read)
        encoded = reader.encode(batch, n_read)
        n_read += batch.num_rows
        # Variables that the table lacks, such as latent ones, are missing throughout.
        columns: list[Any] = [
            np.full(batch.num_rows, card, dtype=np.uint16) for card in cards
        ]
        for place, variable in enumerate(reader.places):
            columns[variable] = available_codes(encoded.rows).column(place)
        if reader.target is not None:
            label = batch.column(reader.target_name)
            columns[reader.target] = _class_codes(reader, label, cards[reader.target])
        yield Codes.from_columns(columns, cards, weights), encoded


def _class_codes(reader: _Reader, label: pa.Array, n_classes: int) -> NDArray[np.intp]:
    """The class of each row; labels that are missing or unknown are missing."""
    if pa.types.is_dictionary(label.type):
        label = label.cast(label.type.value_type)
    found_codes = np.full(len(label), n_classes, dtype=np.intp)
    present = np.asarray(label.is_valid())
    if not present.any():
        return found_codes
    found, codes = encode_labels(label.drop_null())
    table = [reader.labels.get(label, n_classes) for label in found.tolist()]
    found_codes[present] = np.array(table, dtype=np.intp)[codes]
    return found_codes
