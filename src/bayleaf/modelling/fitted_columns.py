"""A table as the codes of a network's variables, whose states may be given or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.discretizers import resolve_discretizer
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder_learning import learn_rows
from bayleaf.data.fitted_hierarchies import fit_hierarchy
from bayleaf.data.incomplete_rows import (
    DROP,
    note_on_dropped_rows,
    without_incomplete_rows,
)
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.partial_values import Cells, Hierarchies, PartialValues, Rows, rows_of
from bayleaf.data.table_encoder import missing_error
from bayleaf.data.tables.array_columns import unsupported
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    NumberColumn,
    TimeColumn,
    ValueColumn,
    select_rows,
)
from bayleaf.data.tables.frames import column_names, single_column, to_columns
from bayleaf.inference.encoded_rows import (
    Unknown,
    column_codes,
    has_text,
    read_weights,
    renamed_column,
)
from bayleaf.latent.network_parameters import weighted_codes
from bayleaf.models.network_structure import Name
from bayleaf.wording import counted, name_list, near_names, quoted

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """How columns become variables."""

    missing: str  # "marginalize", "em", "state", "drop" or "error"
    unknown: Unknown  # of values other than the given states
    discretizer: Any = "equal_frequency"  # where no cut points are given
    categorical_features: Collection[Name] | None = None  # nominal numbers
    hierarchies: Hierarchies = field(default_factory=dict)  # other than the variables'

    def rules(self, names: Collection[Name]) -> EncoderRules:
        """How the columns of some variables without given states are read."""
        declared = self.categorical_features
        nominal = None
        if declared is not None:
            nominal = tuple(name for name in declared if name in names)
        is_open = self.missing in ("em", DROP)
        missing: Any = "marginalize" if is_open else self.missing
        return EncoderRules(nominal, missing=missing, identifiers="keep", dates="error")


@dataclass(frozen=True, eq=False)
class FittedColumns:
    """What the columns of a table mean, and their rows."""

    domain: Domain
    rows: Rows  # of positive weight; latent variables are missing
    notes: tuple[str, ...]  # on columns, for a reader


def fit_columns(
    names: Sequence[Name],
    given: Sequence[Variable | None],
    latent: Collection[Name],
    table: Any,
    sample_weight: Any,
    reading: Reading,
    needed: Sequence[int] | None = None,
) -> FittedColumns:
    """Read a table over variables by name.

    Variables that are not `given` are learned from their columns; `latent` ones are
    given and have none. `sample_weight` is (n_rows,) or None. With missing="drop" the
    rows stay that have all `needed` variables, by default all. ValueError or TypeError
    if another variable has no column, a column or a value cannot be used, or weights do
    not fit.
    """
    if reading.missing == DROP:
        # Once with all rows, to find those that are complete.
        open_reading = replace(reading, missing="marginalize")
        source = (names, given, latent, table)
        whole = fit_columns(*source, sample_weight, open_reading)
        is_coded = isinstance(table, Codes)
        weights = table.weights if is_coded else np.ones(whole.rows.n_rows)
        if sample_weight is not None:
            weights = np.array(sample_weight, dtype=np.float64)
        remaining = without_incomplete_rows(whole.rows, whole.domain, weights, needed)
        note = note_on_dropped_rows(weights, remaining)
        if not note:
            return whole
        complete = fit_columns(*source, remaining, open_reading)
        return replace(complete, notes=(*complete.notes, note))
    if isinstance(table, Codes):
        return _of_codes(given, table, sample_weight)
    observed = [name for name in names if name not in latent]
    columns, notes = _columns(observed, latent, table)
    columns, weights = _weighted(columns, sample_weight)
    trees = reading.hierarchies
    variables = {
        name: replace(variable, hierarchy=fit_hierarchy(trees[name], variable))
        if variable is not None and name in trees
        else variable
        for name, variable in zip(names, given, strict=True)
    }
    unread = [c for c in columns if variables[c.name] is None]
    codes: dict[Name, NDArray[Any]] = {}
    cells: list[Cells] = []
    if unread:
        rules = reading.rules([column.name for column in unread])
        found = resolve_discretizer(reading.discretizer)
        own_trees = {c.name: trees[c.name] for c in unread if c.name in trees}
        encoder, read, sets = learn_rows(unread, None, weights, found, rules, own_trees)
        for place, variable in enumerate(encoder.domain):
            variables[variable.name] = variable
            codes[variable.name] = read.column(place)
            cells += sets.cells_of(place, names.index(variable.name))
        notes += [f"column {quoted(n)}: {text}" for n, text in encoder.notes.items()]
    for column in columns:
        known = variables[column.name]
        if column.name not in codes and known is not None:
            groups = (names.index(column.name), cells)
            codes[column.name] = _given_codes(known, column, reading, groups)
            variables[column.name] = _with_numbers(known, column, weights)
    domain = Domain(tuple(v for v in variables.values() if v is not None))
    n_rows = len(weights)
    stacked = [
        codes.get(variable.name, np.full(n_rows, variable.n_states, dtype=np.intp))
        for variable in domain
    ]
    own_weights = None if sample_weight is None else weights
    encoded = Codes.from_columns(stacked, domain.cards, own_weights)
    # The root of a hierarchy leaves all states open, as a missing cell does.
    cells = [cell for cell in cells if len(cell[2]) < domain.cards[cell[1]]]
    rows = rows_of(encoded, PartialValues.from_cells(cells), domain)
    return FittedColumns(domain, rows, tuple(notes))


def _of_codes(
    given: Sequence[Variable | None], codes: Codes, sample_weight: Any
) -> FittedColumns:
    """Rows that are codes already."""
    known = [variable for variable in given if variable is not None]
    if len(known) < len(given) or codes.cards != tuple(v.n_states for v in known):
        raise ValueError(
            "codes need variables whose states are given, as many each as the codes "
            "have; pass a data frame, or states="
        )
    return FittedColumns(Domain(tuple(known)), weighted_codes(codes, sample_weight), ())


def _columns(
    observed: Sequence[Name], latent: Collection[Name], table: Any
) -> tuple[list[Column], list[str]]:
    """The column of each observed variable, called like it, and what is ignored."""
    found = _all_columns(observed, table)
    texts = {str(name): name for name in observed}
    own: dict[Name, Column] = {}
    ignored = []
    for column in found:
        name = texts.get(str(column.name))
        if str(column.name) in set(map(str, latent)):
            raise ValueError(
                f"variable {quoted(column.name)} has a column, so it is not latent; "
                "take it out of latent=, or drop the column"
            )
        if name is None:
            ignored.append(column.name)
        elif name in own:
            raise ValueError(
                f"two columns are called {quoted(str(name))}; drop one of them"
            )
        else:
            own[name] = _called(column, name)
    absent = [name for name in observed if name not in own]
    if absent:
        near = near_names(str(absent[0]), map(str, ignored)) + "; " if ignored else ""
        raise ValueError(
            f"variable {quoted(absent[0])} has no column in the table; "
            f"{near}if it is never observed, name it in latent= with missing='em'"
        )
    notes = []
    if ignored:
        what = counted(len(ignored), "column")
        notes.append(f"ignored {what} of the table: {name_list(ignored)}")
    return [own[name] for name in observed], notes


def _all_columns(observed: Sequence[Name], table: Any) -> list[Column]:
    """All columns of a table; those of an array are called like the variables."""
    if isinstance(table, Mapping):
        columns = [single_column(cells, name) for name, cells in table.items()]
        lengths = {column.n_rows for column in columns}
        if len(lengths) > 1:
            raise ValueError(
                "the columns of the table have different lengths "
                f"({name_list(sorted(lengths))}); give every column as many cells"
            )
        return columns
    parts = to_columns(table)
    whole = parts.columns() if isinstance(parts, Matrix) else parts
    if column_names(table) is not None:
        return list(whole)
    if len(whole) != len(observed):
        raise ValueError(
            f"a table of {len(whole)} columns without names cannot be matched with "
            f"{counted(len(observed), 'variable')}; give one column each, in order, or "
            "a data frame"
        )
    return [_called(c, name) for c, name in zip(whole, observed, strict=True)]


def _called(column: Column, name: Name) -> Column:
    """A column under a variable's name; a column of dates is refused."""
    if isinstance(column, TimeColumn):
        raise unsupported(column.name, "dates or times")
    return column if column.name == name else renamed_column(column, name)


def _weighted(
    columns: list[Column], sample_weight: Any
) -> tuple[list[Column], Weights]:
    """The rows that count, and their weights."""
    n_rows = columns[0].n_rows if columns else 0
    if not n_rows:
        raise _no_rows()
    if sample_weight is None:
        return columns, np.broadcast_to(np.float64(1.0), (n_rows,))
    weights = read_weights(sample_weight, n_rows, "sample_weight")
    kept = weights > 0
    if not kept.any():
        raise _no_rows()
    if not kept.all():
        selected = select_rows(columns, kept)
        assert not isinstance(selected, Matrix)
        columns, weights = selected, weights[kept]
    return columns, weights


def _no_rows() -> ValueError:
    """The error for a table from which nothing can be learned."""
    return ValueError("there are no rows with a positive weight to learn from")


def _given_codes(
    variable: Variable,
    column: Column,
    reading: Reading,
    groups: tuple[int, list[Cells]],
) -> NDArray[Any]:
    """Codes of a column over states that are given; see `column_codes`."""
    assert not isinstance(column, TimeColumn)
    n_before = len(groups[1])
    codes = column_codes(variable, column, reading.unknown, groups)
    missing = codes == variable.n_known_states
    for rows, _, _ in groups[1][n_before:]:
        missing[rows] = False
    if reading.missing == "error" and missing.any():
        raise missing_error(variable.name, missing)
    has_state = variable.has_missing_state
    if reading.missing == "state" and not has_state and missing.any():
        raise ValueError(
            f"column {quoted(variable.name)} has missing cells, but the states of the "
            "variable are given without one for them; put None last among its states"
        )
    return codes


def _with_numbers(variable: Variable, column: Column, weights: Weights) -> Variable:
    """A variable with the numbers in its intervals, where these were not known."""
    is_cut = variable.kind == "numeric" and variable.categories is None
    assert not isinstance(column, TimeColumn)
    if not is_cut or variable.numbers is not None or has_text(column):
        return variable
    if isinstance(column, NumberColumn):
        values = column.floats()
    else:
        assert isinstance(column, ValueColumn)
        every: list[Any] = [
            v if isinstance(v, int | float) else np.nan for v in column.values
        ]
        values = np.array([*every, np.nan], dtype=np.float64)[column.indices]
    numbers = IntervalNumbers.of_column(values, weights, variable.cut_points)
    return replace(variable, numbers=numbers)
