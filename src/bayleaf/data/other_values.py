"""The probability that a density gives to values not seen in training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import available_codes, rows_of, sets_in
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.unknown_cells import UnknownCells

Floats = NDArray[np.float64]
Name = str | int

# How a warning names what becomes of such cells.
OUTCOMES = {"other": "taken as other values", "impossible": "taken as impossible"}


def split_other_values(
    encoded: EncodedTable,
    encoder: TableEncoder,
    n_training_rows: float,
    *,
    impossible: bool,
) -> tuple[EncodedTable, Floats]:
    """Take cells with values not seen in training out of a table.

    Such cells are missing in the table returned, and with it is the log-probability
    (n_rows,), nats, by which rows with them differ: in every nominal column of K states
    a cell holds another value with probability 1 / (N + K + 1), Laplace's rule for one
    more state after N = `n_training_rows`, whatever the other cells; minus infinity
    if values are `impossible`. Missing cells leave out the factor.
    """
    domain = encoder.domain
    codes, partial = available_codes(encoded.rows), sets_in(encoded.rows)
    columns = [codes.column(v) for v in range(len(domain))]
    unknown: dict[Name, UnknownCells] = dict(encoded.unknown_cells)
    log_mass = np.zeros(codes.n_rows)
    for v, variable in enumerate(domain):
        is_open = variable.kind == "nominal" or variable.categories is not None
        is_open &= variable.other_state is None
        if not is_open or encoder.nearest_cuts(variable) is not None:
            continue
        cells = unknown.get(variable.name)
        others = np.empty(0, dtype=np.intp) if cells is None else cells.rows
        if cells is not None:
            outcome = OUTCOMES["impossible" if impossible else "other"]
            unknown[variable.name] = replace(cells, outcome=outcome)
            columns[v] = columns[v].copy()
            columns[v][others] = variable.n_states
        if impossible:
            log_mass[others] = -np.inf
            continue
        share = 1.0 / (n_training_rows + variable.n_known_states + 1.0)
        seen = columns[v] < variable.n_states
        seen[partial.rows[partial.variables == v]] = True
        log_mass[seen] += np.log1p(-share)
        log_mass[others] += np.log(share)
    codes = Codes.from_columns(columns, domain.cards, codes.weights)
    table = rows_of(codes, partial, domain)
    return replace(encoded, rows=table, unknown_cells=unknown), log_mass
