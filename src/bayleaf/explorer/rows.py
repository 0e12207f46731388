"""Rows of a table that a page ships, to pick cases from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.tables.frames import take_apart
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.io.exports.runtime.packing import packed_codes
from bayleaf.wording import quoted

# Rows beyond these are left out.
MOST_ROWS = 1000
# What a missing cell is written as.
_MISSING = 0xFFFF


def rows_content(
    table: Any, encoder: TableEncoder | None, domain: Domain
) -> dict[str, Any]:
    """The first rows of a table as codes of the variables that it has, the class last.

    ``n`` rows, ``variables`` with codes, and packed ``codes``, 65535 for missing cells.
    Without an encoder, as for a network, states are the values. ValueError if a column
    of training is missing, or the table is not a data frame.
    """
    try:
        frame = nw.from_native(table, eager_only=True).head(MOST_ROWS)
    except TypeError:
        raise ValueError(
            f"rows must be a data frame, got a {type(table).__name__}"
        ) from None
    named = {str(name): name for name in frame.columns}
    if encoder is None:
        known = [v for v in range(len(domain)) if str(domain[v].name) in named]
        return _packed(known, [_states(frame, named, domain[v]) for v in known])
    wanted = [str(name) for name in encoder.column_names]
    missing = [name for name in wanted if name not in named]
    if missing:
        raise ValueError(
            f"the rows to show have no column {quoted(missing[0])}, which the model "
            "was trained on; add it"
        )
    features = frame.select([named[name] for name in wanted]).to_native()
    codes = encoder.transform(take_apart(features)).codes
    columns = [codes.column(feature) for feature in range(codes.n_variables)]
    places = list(range(codes.n_variables))
    target = domain[-1]
    if str(target.name) in named and target.kind == "nominal":
        columns.append(_states(frame, named, target))
        places.append(len(domain) - 1)
    cards = [domain[place].n_states for place in places]
    return _packed(
        places,
        [np.where(own >= k, -1, own) for own, k in zip(columns, cards, strict=True)],
    )


def _states(frame: Any, named: dict[str, Any], variable: Variable) -> Any:
    """Codes of a column's values, -1 for what is missing or no state."""
    column = {variable.name: frame[named[str(variable.name)]].to_list()}
    codes = read_rows(Domain((variable,)), column, unknown="missing").column(0)
    return np.where(codes >= variable.n_states, -1, codes.astype(np.int64))


def _packed(variables: Sequence[int], columns: Sequence[Any]) -> dict[str, Any]:
    """Codes as the page unpacks them."""
    codes = [np.where(own < 0, _MISSING, own).astype(np.uint16) for own in columns]
    return {
        "n": len(codes[0]) if codes else 0,
        "variables": list(variables),
        "codes": [packed_codes(own) for own in codes],
    }
