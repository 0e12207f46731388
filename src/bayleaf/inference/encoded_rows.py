"""Tables read as rows of a network's variables, missing cells included."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import (
    Cells,
    PartialCodes,
    PartialValues,
    Rows,
    available_codes,
    rows_of,
)
from bayleaf.data.table_encoder import TableEncoder, unknown_cells
from bayleaf.data.tables.columns import NumberColumn, PlainColumn, ValueColumn
from bayleaf.data.tables.frames import column_names, plain_columns, value_column
from bayleaf.data.unknown_cells import UnknownCells
from bayleaf.inference.states import StateReader, find_variable
from bayleaf.wording import name_list, near_names, quoted

Unknown = Literal["error", "missing"]
Floats = NDArray[np.float64]
# Sums of weighted logarithms stay finite.
_MOST_WEIGHT = 1e300


def read_rows(
    domain: Domain,
    table: Any,
    *,
    unknown: Unknown = "error",
    ignore: Collection[Any] = (),
) -> Rows:
    """Encode a table; `n_states` where a cell is missing.

    A cell may name a group of the variable's hierarchy: then the result is
    `PartialCodes`.

    Columns are found by name, in any order, and a variable without a column is missing
    in every row; arrays and lists of rows have the variables in order. ValueError if a
    column is not a variable or none is one, a value is not a state and `unknown` is not
    "missing", or `unknown` is another word.
    """
    _check_unknown(unknown)
    if isinstance(table, Codes | PartialCodes):
        if available_codes(table).cards != domain.cards:
            raise ValueError("the codes are not those of this network's variables")
        return table
    names = [ignore] if isinstance(ignore, str | int) else ignore
    if not isinstance(names, Collection):
        raise TypeError(
            f"ignore must hold names of columns, got {type(ignore).__name__}"
        )
    ignored = {str(name) for name in names}
    return encoded_columns(
        domain, dict(matched_columns(domain, table, ignored)), unknown
    )


def unknown_in_table(domain: Domain, table: Any) -> list[UnknownCells]:
    """Cells of a table's columns that are not states of the variables of their names.

    Other columns are left out.
    """
    names = {str(name) for name in column_names(table) or ()}
    others = names - set(map(str, domain.names))
    unknown: list[UnknownCells] = []
    if others == names:
        return unknown
    for position, column in matched_columns(domain, table, others):
        variable = domain[position]
        groups: list[Cells] = []
        codes = column_codes(variable, column, "missing", (position, groups))
        for rows, _, states in groups:
            codes[rows] = states[0]
        cells = unknown_cells(variable, codes, column)
        unknown += [] if cells is None else [cells]
    return unknown


def encoded_columns(
    domain: Domain, columns: Mapping[int, PlainColumn], unknown: Unknown = "error"
) -> Rows:
    """Encode columns by position of their variables; all others are missing.

    ValueError if there are no columns or rows, or a value is not a state and `unknown`
    is "error".
    """
    _check_unknown(unknown)
    if not columns:
        raise ValueError(
            f"the table has no column for any variable; they are "
            f"{name_list(domain.names)}"
        )
    groups: list[Cells] = []
    found = {
        position: column_codes(domain[position], column, unknown, (position, groups))
        for position, column in columns.items()
    }
    n_rows = len(next(iter(found.values())))
    if not n_rows:
        raise ValueError("the table has no rows; give it at least one")
    own = [
        found.get(position, np.full(n_rows, card, dtype=np.intp))
        for position, card in enumerate(domain.cards)
    ]
    codes = Codes.from_columns(own, domain.cards)
    # The root of a hierarchy leaves all states open, as a missing cell does.
    groups = [cell for cell in groups if len(cell[2]) < domain.cards[cell[1]]]
    return rows_of(codes, PartialValues.from_cells(groups), domain)


def read_weights(weights: Any, n_rows: int, what: str) -> Floats:
    """Check weights, shape (n_rows,); `what` names them in messages.

    ValueError if they are not one number of at least 0 per row, or too large to be
    summed.
    """
    message = (
        f"{what} must be {n_rows} finite numbers of at least 0, one a row, that sum "
        f"to at most {_MOST_WEIGHT:.0e}"
    )
    try:
        checked = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(message) from None
    # Comparisons that NaN fails as well; none of them can overflow.
    usable = ((checked >= 0) & (checked <= _MOST_WEIGHT)).all()
    if checked.shape != (n_rows,) or not usable or checked.sum() > _MOST_WEIGHT:
        raise ValueError(message)
    return checked


def _check_unknown(unknown: str) -> None:
    """Raise unless it is a word that says what becomes of values that are no state."""
    if unknown not in ("error", "missing"):
        raise ValueError(f"unknown must be 'error' or 'missing', got {quoted(unknown)}")


def matched_columns(
    domain: Domain, table: Any, ignored: set[str]
) -> Iterator[tuple[int, PlainColumn]]:
    """Columns of a table, each with the position of its variable; see `read_rows`."""
    columns = _columns(domain, table, ignored)
    known = [str(name) for name in domain.names]
    seen: dict[int, Any] = {}
    for column in columns:
        if str(column.name) in ignored:
            continue
        if str(column.name) not in known:
            raise ValueError(
                f"the table has a column {quoted(column.name)}, which is no variable "
                f"of the network; {near_names(str(column.name), known)} (ignore= "
                "leaves columns out)"
            )
        position = find_variable(domain, column.name)
        if position in seen:
            raise ValueError(
                f"columns {quoted(seen[position])} and {quoted(column.name)} both mean "
                f"variable {quoted(domain[position].name)}; leave one out with ignore="
            )
        seen[position] = column.name
        yield position, column


def _columns(domain: Domain, table: Any, ignored: set[str]) -> Sequence[PlainColumn]:
    """The columns of a table, named after the variables where they have no names."""
    if isinstance(table, Mapping):
        columns = [
            value_column(_cells(values, name), name)
            for name, values in table.items()
            if str(name) not in ignored
        ]
        lengths = {len(column.indices) for column in columns}
        if len(lengths) > 1:
            raise ValueError(
                f"the columns of the table have different lengths "
                f"({name_list(sorted(lengths))}); give every column as many cells"
            )
        return columns
    _check_shape(table)
    parts = plain_columns(_without(table, ignored))
    if column_names(table) is not None:
        return parts
    if len(parts) != len(domain):
        raise ValueError(
            f"an array of {len(parts)} columns has no names to find the "
            f"{len(domain)} variables by; give one column each, or a data frame"
        )
    return [
        renamed_column(column, name)
        for column, name in zip(parts, domain.names, strict=True)
    ]


def _cells(values: Any, name: Any) -> Any:
    """The cells of a column, if it has some; else an error that names it."""
    if isinstance(values, str | bytes | Mapping) or np.ndim(values) == 0:
        raise TypeError(
            f"column {quoted(name)} must be a list, an array or a series of cells, got "
            f"{type(values).__name__}"
        )
    return values


def _check_shape(table: Any) -> None:
    """Raise unless a table has columns, and rows."""
    if column_names(table) is not None and not hasattr(table, "shape"):
        return
    shape = _array_shape(table)
    if len(shape) != 2:
        raise ValueError(
            "the table must be a data frame, a mapping from names to columns, or a "
            f"list or array of rows, got {type(table).__name__} of {len(shape)} axes"
        )
    for count, thing in zip(shape, ("rows", "columns"), strict=True):
        if not count:
            raise ValueError(f"the table has no {thing}; give it at least one")


def _array_shape(table: Any) -> tuple[int, ...]:
    """Shape of an array, a frame or a list of rows, measured by the first row."""
    if hasattr(table, "shape"):
        return tuple(table.shape)
    if not isinstance(table, list | tuple):
        return ()
    if not table:
        return (0, 0)
    is_row = isinstance(table[0], list | tuple | np.ndarray)
    return (len(table), len(table[0])) if is_row else (len(table),)


def _without(table: Any, ignored: set[str]) -> Any:
    """A data frame without some of its columns; anything else as it is."""
    names = column_names(table) or ()
    # Several columns of one name have an error of our own, which comes later.
    unfit = not ignored or len(set(names)) < len(names)
    frame = table if unfit else nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return table
    kept = [j for j, name in enumerate(frame.columns) if str(name) not in ignored]
    return frame[:, kept].to_native()


def renamed_column(column: PlainColumn, name: Any) -> PlainColumn:
    """The same column under another name."""
    if isinstance(column, NumberColumn):
        return NumberColumn(name, column.values, column.missing)
    return replace(column, name=name)


def column_codes(
    variable: Variable,
    column: PlainColumn,
    unknown: Unknown,
    groups: tuple[int, list[Cells]] | None = None,
) -> NDArray[np.integer[Any]]:
    """Codes of one column over a variable's states; errors as in `read_rows`.

    Cells that name groups are missing and added to `groups`, the variable's position
    and a list; without it they are not states.
    """
    if variable.kind == "numeric" and not has_text(column):
        encoder = TableEncoder(Domain((variable,)), EncoderRules())
        return encoder.transform([renamed_column(column, variable.name)]).codes.column(
            0
        )
    values = column.distinct()
    reader = StateReader(variable)
    missing = variable.n_known_states
    used = np.bincount(values.indices[values.indices >= 0], minlength=1) > 0
    found = np.full(len(values.values) + 1, missing, dtype=np.intp)
    for place in np.flatnonzero(used[: len(values.values)]).tolist():
        code = reader.code(values.values[place])
        states = reader.codes(values.values[place]) if groups and code is None else None
        if code is not None:
            found[place] = code
        elif groups and states is not None:
            rows = np.flatnonzero(values.indices == place)
            groups[1].append((rows, groups[0], tuple(sorted(states))))
            # Not the state of missing cells, where the variable has one.
            found[place] = variable.n_states
        elif unknown == "error":
            raise ValueError(
                f"column {quoted(column.name)}: {reader.unknown(values.values[place])} "
                "(unknown='missing' takes such values as missing)"
            )
    # The last entry is that of a missing cell, whose index is -1.
    return found[values.indices]


def has_text(column: PlainColumn) -> bool:
    """Whether a column holds text."""
    return isinstance(column, ValueColumn) and any(
        isinstance(value, str) for value in column.values
    )
