"""A classifier as one query that scores a table and tells why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from bayleaf.io.atomic import write_export
from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.sql.coding import Source, check_labels
from bayleaf.io.exports.sql.deciding import Decision, ranked
from bayleaf.io.exports.sql.naming import (
    check_columns,
    check_ids,
    id_names,
    probability_names,
    table_parts,
)
from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.term_scores import add_scores
from bayleaf.io.exports.sql.words import DIALECTS, both, case, chosen, literal
from bayleaf.models.predictor import Predictor
from bayleaf.wording import name_list, quoted

Form = Literal["auto", "case", "values"]

# Rows that one row may become while its missing cells are summed out.
_MOST_STATES = 100_000


def to_sql(
    model: Any,
    *,
    table: str | Sequence[str] = "t",
    dialect: str = "duckdb",
    explain: int = 0,
    id_columns: Sequence[str] = (),
    form: Form = "auto",
    max_states: int = _MOST_STATES,
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
    form : {"auto", "case", "values"}, default="auto"
        Whether the model's tables are conditions, or tables that are joined; by
        default small ones are the former and large ones the latter.
    max_states : int, default=100_000
        Into how many rows a row may turn while its missing cells are summed out; a row
        that would need more has neither class nor probabilities.

    Returns
    -------
    str
        The query, with columns "prediction", "probability_<class>" for every class
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
    _check_arguments(dialect, explain, form, max_states)
    parts, ids = table_parts(table), id_names(id_columns)
    predictor = predictor_of(model)
    cells, classes = feature_cells(predictor.encoder), predictor.classes.tolist()
    check_columns((str(own.column) for own in cells), dialect)
    check_labels(classes, dialect)
    rows = Rows(dialect, parts[-1], form, explain > 0)
    _add_codes(rows, parts, ids, cells)
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
    comments += [f"-- Note: {remark}."] if remark else []
    return "\n".join([*comments, f"{query};", ""])


def write_sql(
    predictor: Predictor,
    path: str | Path,
    *,
    table: str | Sequence[str] = "t",
    dialect: str = "duckdb",
    explain: int = 0,
    id_columns: Sequence[str] = (),
    form: Form = "auto",
) -> None:
    """Write what `to_sql` gives to a file.

    OSError if the file cannot be written; for other errors see `to_sql`.
    """
    query = to_sql(
        predictor,
        table=table,
        dialect=dialect,
        explain=explain,
        id_columns=id_columns,
        form=form,
    )
    write_export(path, query)


def _check_arguments(dialect: str, explain: int, form: str, max_states: int) -> None:
    """Raise ValueError unless arguments are among those allowed."""
    if dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be one of {name_list(DIALECTS)}, got {quoted(dialect)}"
        )
    if explain < 0:
        raise ValueError(f"explain must be at least 0, got {explain}")
    if form not in ("auto", "case", "values"):
        raise ValueError(f"form must be 'auto', 'case' or 'values', got {quoted(form)}")
    if max_states < 1:
        raise ValueError(f"max_states must be at least 1, got {max_states}")


def _add_codes(
    rows: Rows, table: Sequence[str], ids: Sequence[str], cells: Sequence[FeatureCells]
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
