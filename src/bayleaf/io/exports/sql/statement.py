"""A classifier as one query that scores a table and tells why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayleaf.io.atomic import write_text
from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.registry import predictor_of
from bayleaf.io.exports.sql.naming import (
    check_columns,
    check_ids,
    id_names,
    probability_names,
    table_parts,
)
from bayleaf.models.predictor import Predictor
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.io.exports.sql.looking_up import Rows

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
    ImportError
        If sqlglot, which the extra ``sql`` installs, is not there.
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
    _check_arguments(explain, form, max_states)
    from bayleaf.io.exports.sql.words import check_dialect, written

    check_dialect(dialect)
    parts, ids = table_parts(table), id_names(id_columns)
    query = _Query(predictor_of(model), dialect, explain, ids)
    built = query.build(parts, form, max_states)
    comments = ["-- Written by bayleaf: a classifier as a query.", *query.remarks]
    return "\n".join([*comments, f"{written(built, dialect)};", ""])


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

    Raises
    ------
    OSError
        If the file cannot be written; for other errors see `to_sql`.
    """
    query = to_sql(
        predictor,
        table=table,
        dialect=dialect,
        explain=explain,
        id_columns=id_columns,
        form=form,
    )
    write_text(path, query)


def _check_arguments(explain: int, form: str, max_states: int) -> None:
    """Raise ValueError unless arguments are among those allowed."""
    if explain < 0:
        raise ValueError(f"explain must be at least 0, got {explain}")
    if form not in ("auto", "case", "values"):
        raise ValueError(f"form must be 'auto', 'case' or 'values', got {quoted(form)}")
    if max_states < 1:
        raise ValueError(f"max_states must be at least 1, got {max_states}")


class _Query:
    """A query in the making."""

    def __init__(
        self, predictor: Predictor, dialect: str, explain: int, ids: tuple[str, ...]
    ) -> None:
        self.predictor = predictor
        self.dialect = dialect
        self.ids = ids
        self.cells = feature_cells(predictor.encoder)
        self.n_ranks = min(explain, len(self.cells))
        self.told = explain > 0
        self.remarks: list[str] = []

    def build(self, table: list[str], form: str, max_states: int) -> Any:
        """The query as an expression tree."""
        from bayleaf.io.exports.sql.coding import check_labels
        from bayleaf.io.exports.sql.deciding import (
            add_choice,
            add_contributions,
            add_ranking,
        )
        from bayleaf.io.exports.sql.models import add_scores

        check_columns((str(own.column) for own in self.cells), self.dialect)
        check_labels(self.predictor.classes.tolist(), self.dialect)
        rows = self._codes(table, form)
        remark = add_scores(rows, self.predictor, told=self.told, limit=max_states)
        if remark:
            self.remarks.append(f"-- Note: {remark}.")
        if "g" not in rows.columns:
            add_choice(rows, self.predictor, told=self.told)
            if self.told:
                add_contributions(rows, self.predictor, len(self.cells))
        if self.told:
            add_ranking(rows, len(self.cells), self.n_ranks)
        return self._outcome(rows)

    def _codes(self, table: list[str], form: str) -> Rows:
        """The first stages: identifiers, texts of cells, and codes."""
        from sqlglot import exp

        from bayleaf.io.exports.sql.coding import code_of
        from bayleaf.io.exports.sql.looking_up import Rows
        from bayleaf.io.exports.sql.pipeline import Columns, Pipeline
        from bayleaf.io.exports.sql.words import (
            as_text,
            both,
            case,
            col,
            is_null,
            num,
            table_of,
        )

        columns: Columns = {f"i{n}": col(one) for n, one in enumerate(self.ids)}
        for v, own in enumerate(self.cells):
            columns[f"c{v}"] = code_of(own, self.dialect)
            if self.told:
                columns[f"x{v}"] = as_text(col(str(own.column)))
        source = table_of(table, columns.values(), self.dialect)
        pipeline = Pipeline(self.dialect, table[-1])
        rows = Rows(pipeline, pipeline.stage(source, columns), list(columns), form)
        refusing = [v for v, own in enumerate(self.cells) if _refuses(own)]
        checked: Columns = {}
        if refusing:
            absent = [exp.Not(this=is_null(col(f"c{v}"))) for v in refusing]
            checked["ok"] = case([(both(*absent), num(1))], num(0))
            for v in refusing:
                last = num(self.cells[v].variable.n_states)
                checked[f"c{v}"] = exp.Coalesce(this=col(f"c{v}"), expressions=[last])
            rows.extend(checked)
        return rows

    def _outcome(self, rows: Rows) -> Any:
        """The last stage, under the names that the user sees."""
        from bayleaf.io.exports.sql.deciding import ranked
        from bayleaf.io.exports.sql.pipeline import Columns
        from bayleaf.io.exports.sql.words import (
            case,
            chosen,
            col,
            equal,
            literal,
            null,
            num,
        )

        classes = self.predictor.classes.tolist()
        labels = {c: literal(label) for c, label in enumerate(classes)}
        columns: Columns = {"prediction": chosen(col("t"), labels, null())}
        for c, key in enumerate(probability_names(classes, self.dialect)):
            columns[key] = col(f"p_{c}")
        if self.told:
            texts, told = ranked(self.cells, self.n_ranks)
            rows.extend(texts)
            others = {c: value.copy() for c, value in labels.items()}
            columns["against"] = chosen(col("a"), others, null())
            columns["log_odds"] = col("o")
            columns["prior"] = col("g")
            columns |= told
        if "ok" in rows.columns:
            fine = equal(col("ok"), num(1))
            columns = {
                key: case([(fine.copy(), value)], null())
                for key, value in columns.items()
            }
        check_ids(self.ids, columns, self.dialect)
        ids = {one: col(f"i{n}") for n, one in enumerate(self.ids)}
        return rows.pipeline.finish(rows.stage, {**ids, **columns})


def _refuses(cells: FeatureCells) -> bool:
    """Whether the model has no answer for some values."""
    return cells.missing is None or cells.unknown is None
