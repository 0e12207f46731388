"""A classifier as one query that scores a table and tells why."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.data.tables.date_parts import UNITS
from bayleaf.io.atomic import write_export
from bayleaf.io.exports.characters import check_characters, check_integers
from bayleaf.io.exports.feature_cells import FeatureCells, feature_cells
from bayleaf.io.exports.sql.deciding import Decision, ranked
from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.term_scores import add_scores
from bayleaf.io.exports.sql.words import (
    DIALECTS,
    both,
    case,
    cast,
    check_columns,
    check_ids,
    chosen,
    either,
    free_name,
    id_names,
    is_nan,
    literal,
    name,
    num,
    probability_names,
    table_parts,
    text,
)
from bayleaf.io.exports.writers import predictor_of
from bayleaf.io.native.model_file import SavedModel
from bayleaf.models.predictor import ModelLike, Predictor
from bayleaf.wording import name_list, quoted

# Rows that one row may become while its missing cells are summed out.
_MOST_STATES = 100_000

# Dialects in which parts of dates and durations are written.
_DATED = ("duckdb", "postgres", "sqlite")
# Functions of a row, which PostgreSQL calls where such a column of a table is missing.
_ROW_FUNCTIONS = {
    "concat",
    "count",
    "hash_record",
    "num_nonnulls",
    "num_nulls",
    "pg_column_compression",
    "pg_column_size",
    "pg_typeof",
    "quote_literal",
    "quote_nullable",
    "record_send",
}


def to_sql(
    model: ModelLike | SavedModel | str | Path,
    *,
    table: str | Sequence[str] = "t",
    dialect: str = "duckdb",
    explain: int = 0,
    id_columns: Sequence[str] = (),
    max_states: int = _MOST_STATES,
    table_expression: str | None = None,
) -> str:
    """Write a classifier as one query over a table of its features.

    The query gives each row the class that `predict` gives it, and the probability of
    every class. It treats missing cells, values that training did not contain, a
    temperature, a class prior and a loss matrix as the classifier does.

    Parameters
    ----------
    model : fitted classifier, Predictor, str or Path
        The classifier, or its model file.
    table : str or sequence of str, default="t"
        The table; schema and name as one text with a dot between, or as a sequence of
        names, which may hold dots themselves.
    dialect : str, default="duckdb"
        The database: "duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"
        or "mysql".
    explain : int, default=0
        How many of the features with the largest contributions to tell for each row.
        What these, the other features together and the class prior contribute adds up
        to the log-odds of the class chosen against the runner-up, as in `explain`.
    id_columns : sequence of str, default=()
        Columns of the table that the query hands on, with names that no other column
        of the result has in the database's comparison. Rows come in no given order.
    max_states : int, default=100_000
        Into how many rows a row may turn while its missing cells are summed out; a row
        that would need more has neither class nor probabilities.
    table_expression : str, optional
        In the place of `table` and written as it is: a subquery in
        parentheses, or ``{{ ref('patients') }}`` of dbt. It is not checked.

    Returns
    -------
    str
        The query, without a semicolon, so that it may be a subquery or a model of dbt,
        with columns "prediction", "probability_<class>" for every class
        (its number, from 1, where a name would be too long or occur twice in any case;
        with _2, _3, ... behind it where a class has that name) and, with `explain`,
        "against", "log_odds", "prior", "feature_1", "value_1", "state_1",
        "contribution_1" and so on, and "other_features".

    Raises
    ------
    TypeError
        If `model` is no classifier, or names are not texts.
    ValueError
        If an argument is none of those above, the dialect or any database cannot hold
        a name, a label, a value or the model, or the query would be too large.

    Notes
    -----
    Where the classifier refuses a missing or unknown value, or finds every class
    impossible, the query gives no class and no probabilities. The logarithm of zero is
    written as -1e300.
    """
    _check_arguments(dialect, explain, max_states)
    ids = id_names(id_columns)
    parts = table_parts(table)
    source, names = ".".join(map(name, parts)), parts[-1:]
    if table_expression is not None:
        source, names = _expression(table, table_expression)
    predictor = predictor_of(model)
    cells, classes = feature_cells(predictor.encoder), predictor.classes.tolist()
    check_columns((str(own.column) for own in cells), dialect)
    check_labels(classes, dialect)
    rows = Rows(dialect, names, explain > 0)
    _add_codes(rows, source, ids, cells)
    decision = Decision(predictor, cells)
    remark = add_scores(rows, decision, max_states)
    if "g" not in rows.columns:
        decision.add_choice(rows)
        if rows.is_reported:
            decision.add_contributions(rows, len(cells))
    labels = {c: literal(label) for c, label in enumerate(classes)}
    columns = {"prediction": chosen("t", labels)}
    for c, key in enumerate(probability_names(classes, dialect)):
        columns[key] = f"p_{c}"
    if rows.is_reported:
        columns |= {"against": chosen("a", labels), "log_odds": "o", "prior": "g"}
        columns |= ranked(rows, cells, min(explain, len(cells)))
    if "ok" in rows.columns:
        columns = {key: case([("ok = 1", value)]) for key, value in columns.items()}
    check_ids(ids, columns, dialect)
    query = rows.finish({id_: f"i{n}" for n, id_ in enumerate(ids)} | columns)
    comments = ["-- Written by bayleaf: a classifier as a query."]
    remarks = [remark, _remark_on_texts(cells)]
    comments += [f"-- Note: {remark}." for remark in remarks if remark]
    return "\n".join([*comments, query, ""])


def write_sql(
    predictor: Predictor,
    path: str | Path,
    *,
    table: str | Sequence[str] = "t",
    dialect: str = "duckdb",
    explain: int = 0,
    id_columns: Sequence[str] = (),
    table_expression: str | None = None,
) -> None:
    """Write what `to_sql` gives to a file.

    A query of a named table ends in a semicolon, as scripts of databases need.
    OSError if the file cannot be written; for other errors see `to_sql`.
    """
    query = to_sql(
        predictor,
        table=table,
        dialect=dialect,
        explain=explain,
        id_columns=id_columns,
        table_expression=table_expression,
    )
    if table_expression is None:
        query = f"{query.rstrip()};\n"
    write_export(path, query)


def _expression(table: str | Sequence[str], expression: Any) -> tuple[str, list[str]]:
    """An expression in the table's place, and its words, which may be names of tables.

    TypeError or ValueError if it is not a text, or a table is given too.
    """
    if not isinstance(expression, str):
        raise TypeError(f"table_expression must be a text, got {quoted(expression)}")
    check_characters([expression], "table_expression holds", "SQL")
    if table != "t" or not expression.strip().rstrip(";"):
        raise ValueError(
            "give table, a name, or table_expression, a text such as "
            "'(SELECT * FROM patients)', and not both"
        )
    return expression.strip(), re.findall(r"\w+", expression)


def _remark_on_texts(cells: Sequence[FeatureCells]) -> str:
    """Which columns had texts that a database cannot cast by itself, if any did."""
    columns = {}
    for cell in cells:
        form = cell.reading.text
        if form is None or form.kind == "text":
            continue
        parts = [form.described()]
        if form.missing:
            parts.append(f"{', '.join(map(quoted, form.missing))} as missing")
        spelling = ", ".join(filter(None, parts))
        if spelling:
            columns[cell.column] = f"column {quoted(cell.column)} ({spelling})"
    if not columns:
        return ""
    return (
        f"training read texts in {', '.join(columns.values())}; the table must have "
        "numbers, booleans or dates there, so cast its texts"
    )


def _check_arguments(dialect: str, explain: int, max_states: int) -> None:
    """Raise ValueError unless arguments are among those allowed."""
    if dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be one of {name_list(DIALECTS)}, got {quoted(dialect)}"
        )
    if explain < 0:
        raise ValueError(f"explain must be at least 0, got {explain}")
    if max_states < 1:
        raise ValueError(f"max_states must be at least 1, got {max_states}")


def _add_codes(
    rows: Rows, table: str, ids: Sequence[str], cells: Sequence[FeatureCells]
) -> None:
    """The first stages: identifiers, codes, and texts of cells if they are reported."""
    names = [*ids, *(str(own.column) for own in cells)]
    source = Source(table, names, rows.dialect)
    columns: Columns = {f"i{n}": source.column(one) for n, one in enumerate(ids)}
    for v, own in enumerate(cells):
        columns[f"c{v}"] = source.code(own)
        if rows.is_reported:
            columns[f"x{v}"] = source.as_text(own)
    rows.select(columns, source=source.table)
    refused = [v for v, own in enumerate(cells) if None in (own.missing, own.unknown)]
    if refused:
        known = both(*(f"c{v} IS NOT NULL" for v in refused))
        checked = {
            f"c{v}": f"COALESCE(c{v}, {cells[v].variable.n_states})" for v in refused
        }
        rows.extend({"ok": case([(known, "1")], "0"), **checked})


class Source:
    """The user's table under an alias, which all of its columns get.

    A column that the table lacks is then an error: SQLite would read its quoted name as
    a text, and others as an alias of the same select.
    """

    def __init__(self, source: str, columns: Iterable[str], dialect: str) -> None:
        names = sorted({*columns})
        self._alias = name(free_name("source", {each.casefold() for each in names}))
        self._dialect = dialect
        if dialect == "postgres" and _ROW_FUNCTIONS & {*names}:
            source = f"(SELECT {', '.join(map(name, names))} FROM {source})"
        self.table = f"{source} AS {self._alias}"

    def column(self, column: str) -> str:
        """A column of the table."""
        return f"{self._alias}.{name(column)}"

    def as_text(self, cells: FeatureCells) -> str:
        """The text of a cell."""
        return cast(self.column(str(cells.column)), "TEXT")

    def code(self, cells: FeatureCells) -> str:
        """The code of a cell; missing where the model refuses it."""
        missing, unknown = (
            "NULL" if code is None else num(code)
            for code in (cells.missing, cells.unknown)
        )
        cell = self.column(str(cells.column))
        absent, value = [f"{cell} IS NULL"], cell
        if cells.reading.form in ("date", "duration"):
            value = _part(cells, cell, self._dialect)
        elif cells.kind == "intervals" or {*map(_type_name, cells.codes)} == {
            "numbers"
        }:
            number = cast(cell, "DOUBLE")
            nan = is_nan(number, self._dialect)
            absent += [nan] if nan else []
            value = number if cells.kind == "intervals" else cell
        cases = [(either(*absent), missing)]
        if cells.kind == "intervals":
            for code, cut in enumerate(cells.cut_points):
                cases.append((f"{value} <= {num(cut)}", num(code)))
            return case(cases, num(len(cells.cut_points)))
        _check_states(cells, self._dialect)
        groups: dict[int, list[Hashable]] = {}
        for state, code in cells.codes.items():
            groups.setdefault(code, []).append(state)
        for code, states in groups.items():
            cases.append((_is_one_of(value, states, self._dialect), num(code)))
        return case(cases, unknown)


def check_labels(labels: Sequence[Any], dialect: str) -> None:
    """Raise ValueError unless a column of a database can hold all class labels."""
    check_characters(labels, "a class label holds", "SQL")
    check_integers(labels, "the class labels hold", "SQL")
    # Columns of SQLite have no type, so that 1 and '1' differ there.
    if dialect != "sqlite":
        _check_types(labels, f"the class labels ({name_list(labels)}) are")


def _check_states(cells: FeatureCells, dialect: str) -> None:
    """Raise ValueError unless the values have one type that SQL has."""
    where = f"column {quoted(cells.column)} holds"
    _check_types(cells.codes, where)
    check_characters(cells.codes, f"{where} a text with", "SQL")
    if dialect == "sqlite":
        check_integers(cells.codes, where, "SQLite")


def _check_types(values: Iterable[Any], where: str) -> None:
    """Raise ValueError where values are of several types."""
    types = set(map(_type_name, values))
    if len(types) > 1:
        raise ValueError(
            f"{where} {name_list(sorted(types))}, but a column of a database has one "
            "type; convert all to text and fit again"
        )


def _type_name(value: Any) -> str:
    if isinstance(value, str | bool | np.bool_):
        return "text" if isinstance(value, str) else "booleans"
    return "numbers"


def _is_one_of(value: str, states: Sequence[Any], dialect: str) -> str:
    """Whether a value is one of some states: texts only if all their bytes are."""
    forms = {"mysql": "CAST({} AS BINARY)", "sqlite": "{} COLLATE BINARY"}
    form = forms.get(dialect, "{}") if isinstance(states[0], str) else "{}"
    value, *others = (form.format(each) for each in (value, *map(literal, states)))
    return f"{value} IN ({', '.join(others)})"


def _part(cells: FeatureCells, cell: str, dialect: str) -> str:
    """A part of a date, or a duration in its unit."""
    form, part = cells.reading.form, cells.part
    if dialect not in _DATED or (form == "duration" and dialect == "sqlite"):
        raise ValueError(
            f"column {quoted(cells.column)} holds {form}s, whose parts are not written "
            f"for {dialect}; make columns of numbers of them and fit again"
        )
    if part in ("year", "month"):
        field = f"EXTRACT({part.upper()} FROM CAST({cell} AS TIMESTAMP))"
        value = cast(field, "DOUBLE")
        if dialect == "sqlite":
            sign = "%Y" if part == "year" else "%m"
            value = f"CAST(STRFTIME({text(sign)}, {cell}) AS INTEGER)"
        return f"({value} - 1)" if part == "month" else value
    # Seconds since 1970.
    kind = "INTERVAL" if form == "duration" else "TIMESTAMP"
    seconds = cast(f"EXTRACT(EPOCH FROM CAST({cell} AS {kind}))", "DOUBLE")
    if dialect == "sqlite":
        # Julian days, of which 1970 began at 2440587.5.
        days = f"(JULIANDAY({cell}) - 2440587.5e0)"
        seconds = f"(ROUND({days} * 86400000e0, 0) / 1000e0)"
    if form == "duration":
        return f"({seconds} / {num(UNITS[str(cells.reading.unit)] / 1e6)})"
    if part == "days":
        origin = num((cells.reading.origin or 0) / 1e6)
        return f"(({seconds} - {origin}) / 86400e0)"
    unit, shift, size = (3600, 0, 24) if part == "hour" else (86400, 3, 7)
    whole = f"(FLOOR({seconds} / {unit}e0) + {shift})"
    return f"({whole} - FLOOR({whole} / {size}e0) * {size})"
