"""What is explained: a model's predictor, and rows as codes of its features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts, rows_by_state
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import (
    Hierarchies,
    PartialCodes,
    PartialValues,
    Rows,
    States,
    is_unknown,
    states_of_group,
)
from bayleaf.data.partial_values import rows_of as rows_with_sets
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.array_columns import is_missing_cell
from bayleaf.data.tables.columns import PlainColumn
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.tables.named_rows import is_column
from bayleaf.inference.evidence import as_mapping
from bayleaf.inference.states import StateReader
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.models.page_model import REGRESSOR
from bayleaf.models.predictor import Predictor, predictor_inside
from bayleaf.models.wrappers import model_inside, rows_inside
from bayleaf.wording import near_names, quoted


class Subject(NamedTuple):
    """What questions about a case need of a model.

    A number is asked about through the intervals of its range, which are `predictor`'s
    classes; `number` is None for classifiers.
    """

    predictor: Predictor
    number: IntervalTargetModel | None


def subject_of(model: Any) -> Subject:
    """The parts of a classifier or regressor; TypeError for other models."""
    inside = model_inside(model)
    page = inside._page_model() if hasattr(inside, "_page_model") else None
    if page is None or page.task != REGRESSOR:
        return Subject(predictor_inside(model), None)
    number: IntervalTargetModel = page.scorer
    states = np.arange(number.intervals.domain.cards[-1])
    return Subject(Predictor(page.encoder, number.intervals, states), number)


def training_rows_by_state(model: Any) -> tuple[NDArray[np.float64], ...]:
    """Numbers of training rows with each state of each variable, the class last.

    Empty where the model, which must not be wrapped, does not know them.
    """
    codes = getattr(model, "_training_codes", None)
    if codes is not None:
        return rows_by_state(RowCounts(codes)) or ()
    page = model._page_model() if hasattr(model, "_page_model") else None
    support = page.support() if page is not None and page.support else None
    return () if support is None else support.state_rows or ()


def rows_of(model: Any, X: Any) -> Rows:
    """Codes of a table's features, with sets of states; codes are taken as they are.

    A mapping to single values is one case, as in `row_of`. ValueError if the table does
    not have the columns of training.
    """
    if isinstance(X, Codes | PartialCodes):
        return X
    if isinstance(X, Mapping) and not any(map(is_column, X.values())):
        return row_of(model, X)
    X, model = rows_inside(model, X), model_inside(model)
    if isinstance(model, Predictor):
        return model.encode(X)
    predictor_inside(model)
    rows: Rows = model._prepare(X)[1]
    return rows


def row_of(model: Any, row: Any) -> Rows:
    """Codes of a single row: a mapping, series, list, table of one row or codes.

    A mapping gives states, groups of the feature's hierarchy, texts or numbers by
    feature; None is a missing cell, and features that it leaves out are not known, even
    where a missing cell is a state. ValueError for several rows, or an unknown feature
    or state.
    """
    if isinstance(row, Codes | PartialCodes):
        return _checked_single(row)
    row = as_mapping(row)
    if isinstance(row, Mapping) and not any(map(is_column, row.values())):
        encoder = predictor_inside(model, same_columns=True).encoder
        return _row_by_name(encoder, row)
    is_flat = isinstance(row, list | tuple) and not (
        row and isinstance(row[0], list | tuple | np.ndarray | Mapping)
    )
    if is_flat or getattr(row, "ndim", 2) == 1:
        row = [list(row)]
    return _checked_single(rows_of(model, row))


def with_each_state(row: Codes, feature: int, n_states: int) -> Codes:
    """The row once with each state of a feature."""
    columns = [
        np.full(n_states, row.column(index)[0]) for index in range(row.n_variables)
    ]
    columns[feature] = np.arange(n_states)
    return Codes.from_columns(columns, row.cards)


def _checked_single(codes: Rows) -> Rows:
    """The codes, if they are of one row."""
    if codes.n_rows != 1:
        raise ValueError(
            f"one row is explained at a time, but {codes.n_rows} were given; choose one"
        )
    return codes


def _row_by_name(encoder: TableEncoder, row: Mapping[Any, Any]) -> Rows:
    """A mapping from feature, or column of the table, to value as codes."""
    domain = encoder.domain
    row = _with_parts(encoder, row)
    known = {str(name) for name in domain.names}
    for name in row:
        if str(name) not in known:
            raise ValueError(
                f"there is no feature {quoted(name)}; "
                f"{near_names(str(name), sorted(known))}"
            )
    given = {str(name): value for name, value in row.items()}
    columns, cells = [], []
    for index, variable in enumerate(domain):
        value = given.get(str(variable.name))
        is_given = str(variable.name) in given
        code = variable.n_known_states if is_given else variable.n_states
        states: States = ()
        if value is not None and not is_missing_cell(value):
            states = _states_of(variable, value, encoder.hierarchies)
        columns.append(np.array([states[0] if len(states) == 1 else code]))
        if 1 < len(states) < variable.n_states:
            cells.append((np.array([0]), index, states))
    codes = Codes.from_columns(columns, domain.cards)
    return rows_with_sets(codes, PartialValues.from_cells(cells), domain)


def _states_of(variable: Variable, value: Any, hierarchies: Hierarchies) -> States:
    """The states that a value means; none if it is a group without known states."""
    reader = StateReader(variable)
    code, tree = reader.code(value), hierarchies.get(variable.name)
    if code is not None:
        return (code,)
    if tree is None or value not in tree.inner_nodes:
        raise reader.unknown(value)
    return states_of_group(variable, tree, value)


def _with_parts(encoder: TableEncoder, row: Mapping[Any, Any]) -> dict[Any, Any]:
    """A mapping in which the features that dates became stand in the dates' place."""
    given = dict(row)
    for reading in encoder.readings:
        if reading.form == "left_out":
            given.pop(reading.name, None)
        elif reading.form in ("date", "duration") and reading.name in given:
            value = given.pop(reading.name)
            table = pa.table({str(reading.name): pa.array([value])})
            parsed = to_columns(table)
            assert isinstance(parsed, list)
            for part in reading.read(parsed[0])[0]:
                given[part.name] = _only_cell(part)
    return given


def _only_cell(column: PlainColumn) -> Any:
    """The cell of a column of one row; None if it is missing."""
    values = column.distinct()
    place = int(values.indices[0])
    return None if place < 0 else values.values[place]


def is_absent(rows: Rows, domain: Domain, feature: int) -> np.ndarray[Any, Any]:
    """Which rows miss a feature, be that a state of its own or not, (n_rows,).

    Cells of which a set of states is known are not missing.
    """
    return is_unknown(rows, feature, domain[feature].n_known_states)
