"""The cells of one column as codes of a variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.data.domain import Variable
from bayleaf.data.labels import sorted_positions
from bayleaf.data.tables.columns import Name, PlainColumn, ValueColumn
from bayleaf.data.tables.matrix import ColumnCodes
from bayleaf.wording import quoted

# One state is left for missing cells.
MOST_STATES = Codes.MAX_STATES - 1


def used_values(column: ValueColumn) -> list[Hashable]:
    """The values that occur in at least one row, in the column's order."""
    used = np.flatnonzero(_cell_counts(column))
    # A table may list one value twice; a dict keeps the first.
    return list(dict.fromkeys(column.values[i] for i in used))


def _cell_counts(column: ValueColumn) -> NDArray[np.intp]:
    """Number of cells with each value."""
    # The first place counts the missing cells, whose index is -1.
    return np.bincount(column.indices + 1, minlength=len(column.values) + 1)[1:]


def ordered_values(values: list[Hashable]) -> list[Hashable]:
    """Values in the order of states."""
    return [values[i] for i in sorted_positions(values)]


def check_max_states(name: Name, n_states: int, limit: int) -> None:
    """Raise if a nominal column has more states than are allowed or possible."""
    if n_states > limit:
        raise ValueError(
            f"column {quoted(name)} has {n_states} distinct values, more than "
            f"max_states={limit}; drop it, group its values, or let rare='group' do so"
        )
    if n_states > MOST_STATES:
        raise ValueError(
            f"column {quoted(name)} has {n_states} distinct values, but at most "
            f"{MOST_STATES} are possible; drop it or group its values"
        )


def most_frequent(
    column: ValueColumn, weights: NDArray[np.float64], number: int
) -> list[Hashable]:
    """The values that most rows have, in the column's order.

    Of equally frequent ones those that come first among sorted values stay.
    """
    totals: dict[Hashable, float] = dict.fromkeys(
        ordered_values(used_values(column)), 0.0
    )
    counts = np.bincount(column.indices + 1, weights, len(column.values) + 1)[1:]
    for value, count in zip(column.values, counts.tolist(), strict=True):
        if count:
            totals[value] += count
    kept = set(sorted(totals, key=lambda value: -totals[value])[:number])
    return [value for value in totals if value in kept]


def check_same_sort(variable: Variable, column: ValueColumn) -> None:
    """Raise if a nominal column turned from text into numbers or back."""
    known = variable.categories or variable.known_states
    was = _sort(state for state in known if state != variable.other_state)
    now = _sort(used_values(column))
    if was and now and was != now:
        raise ValueError(
            f"column {quoted(variable.name)} held {was} in training but holds {now} "
            f"now; convert it to {was}"
        )


def _sort(values: Iterable[Hashable]) -> str:
    """Whether values are text or numbers; empty if they are both or none."""
    sorts = {"text" if isinstance(value, str) else "numbers" for value in values}
    return sorts.pop() if len(sorts) == 1 else ""


def state_codes(
    variable: Variable, column: ValueColumn
) -> tuple[ColumnCodes, int, list[Hashable]]:
    """Codes of a nominal column, number of unknown cells, and the unknown values."""
    index, missing = variable.state_index, variable.n_known_states
    if variable.categories is not None:
        places = range(len(variable.categories))
        codes_of = np.searchsorted(variable.cut_points, places).tolist()
        index = dict(zip(variable.categories, codes_of, strict=True))
    other = -1 if variable.other_state is None else index[variable.other_state]
    found = [
        -1 if value is None else index.get(value, other) for value in column.values
    ]
    # One entry more for the index -1 of a missing cell.
    table = np.array([*found, missing], dtype=np.int64)
    strange = np.flatnonzero(table < 0)
    unknown, strangers = 0, []
    if len(strange):
        counts = _cell_counts(column)
        strangers = [column.values[i] for i in strange if counts[i]]
        unknown = int(counts[strange].sum())
        table[strange] = missing
    codes = table.astype(_code_type(variable)).take(column.indices)
    return codes, unknown, strangers


def _code_type(variable: Variable) -> np.dtype[np.unsignedinteger[Any]]:
    """The type that holds all codes of a variable."""
    return np.dtype(np.uint8 if variable.n_states <= NARROW_STATES else np.uint16)


def interval_codes(
    variable: Variable, column: PlainColumn
) -> tuple[ColumnCodes, NDArray[np.bool_]]:
    """Codes of a numeric column, and which cells are missing."""
    cuts, code_type = variable.cut_array, _code_type(variable)
    places = None
    if isinstance(column, ValueColumn):
        text = [value for value in used_values(column) if isinstance(value, str)]
        if text:
            raise ValueError(
                f"column {quoted(variable.name)} held numbers in training but holds "
                f"text now, such as {quoted(text[0])}; convert it to numbers"
            )
        numbers = [v if isinstance(v, int | float) else np.nan for v in column.values]
        values = np.array([*numbers, np.nan], dtype=np.float64)[column.indices]
    else:
        values, places = column.floats(), column.places_in_range()
    is_missing = np.isnan(values)
    if places is not None:
        every, offsets = places
        intervals = np.searchsorted(cuts, every.astype(np.float64))
        codes = intervals.astype(code_type).take(offsets)
    else:
        codes = np.searchsorted(cuts, values).astype(code_type)
    codes[is_missing] = variable.n_known_states
    return codes, is_missing


def missing_error(name: Name, is_missing: NDArray[np.bool_]) -> ValueError:
    """The error for missing cells where the rules refuse them."""
    first = int(np.argmax(is_missing))
    return missing_cells_error(name, int(np.count_nonzero(is_missing)), first)


def missing_cells_error(name: Name, number: int, first: int) -> ValueError:
    """The error for so many missing cells, the first of them in some row."""
    return ValueError(
        f"column {quoted(name)} has {number} missing cells (the first in row {first}), "
        "such as NaN; fill them or allow them with missing='marginalize'"
    )
