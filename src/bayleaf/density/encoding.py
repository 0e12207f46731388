"""Tables without a class as codes, sets of states in their cells included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayleaf.classifiers.shared.training import COUNTS, WeightedRows
from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.encoder_learning import Discretizer, learn_encoder
from bayleaf.data.fitted_hierarchies import with_value_hierarchies
from bayleaf.data.partial_values import PartialValues, put_groups_back, take_groups_out
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.columns import Column, Matrix
from bayleaf.data.value_hierarchy import ValueHierarchy

Name = str | int


def learn_table(
    parts: Matrix | list[Column],
    sample_weight: Any,
    hierarchies: Mapping[Name, ValueHierarchy],
    discretizer: Discretizer,
    rules: EncoderRules,
    scale: str = COUNTS,
) -> tuple[TableEncoder, Codes, PartialValues]:
    """Learn how the columns of a table are read, and read its rows with a weight.

    Cells that name a node of `hierarchies` are partial: any of the states below it.
    `sample_weight` (n_rows,) is >= 0; `scale` is that of `WeightedRows.of_table`.
    ValueError or TypeError if a column or the weights cannot be used.
    """
    rows = WeightedRows.of_table(parts, sample_weight, scale)
    plain, cells = take_groups_out(rows.parts, hierarchies)
    encoder, codes = learn_encoder(
        plain, None, rows.weights, discretizer, rules, as_is=hierarchies
    )
    if hierarchies:
        encoder = with_value_hierarchies(encoder, hierarchies)
        codes = replace(
            encoder.transform(plain).codes,
            weights=codes.weights,
            unit_weights=codes.unit_weights,
        )
    return encoder, *put_groups_back(codes, encoder.domain, hierarchies, cells)


def read_table(
    parts: Matrix | list[Column],
    encoder: TableEncoder,
    hierarchies: Mapping[Name, ValueHierarchy],
) -> tuple[EncodedTable, PartialValues]:
    """Read a table, and its partial cells, as an encoder from `learn_table` does."""
    plain, cells = take_groups_out(parts, hierarchies, encoder.domain)
    encoded = encoder.transform(plain)
    codes, partial = put_groups_back(encoded.codes, encoder.domain, hierarchies, cells)
    return replace(encoded, codes=codes), partial
