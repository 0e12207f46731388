"""A query as stages, each a table that selects from the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from bayleaf.io.exports.sql.naming import folded, free_name
from bayleaf.io.exports.sql.words import Expression, col, name, named, nats, text

# Databases that otherwise write the expressions of one stage into the next, where each
# use of a column would be computed anew.
_MATERIALIZED = ("postgres", "sqlite")
# MySQL keeps a stage as it is if its rows are limited.
_ALL_ROWS = 9_223_372_036_854_775_807
# Tables that one stage may join; SQLite allows 64.
MOST_JOINS = 40
# Columns of a stage; PostgreSQL allows 1664.
MOST_COLUMNS = 1500

# Rows of a table of numbers that DuckDB binds quickly.
_MOST_VALUES = 50

Columns = dict[str, Expression]
Join = tuple[str, str, Expression]


class Pipeline:
    """Stages of a query under names of their own.

    Parameters
    ----------
    dialect : str
        What sqlglot calls the database's language.
    table : str, default=""
        The table of the user, whose name no stage has.
    """

    def __init__(self, dialect: str, table: str = "") -> None:
        self.dialect = dialect
        self._taken = {folded(table.casefold(), dialect)}
        self._stages: list[tuple[str, Expression, bool]] = []
        self._constants: dict[Any, str] = {}
        self._columns: dict[str, set[str]] = {}

    def stage(
        self,
        source: Expression | str,
        columns: Columns,
        *,
        joins: Sequence[Join] = (),
        crossed: Sequence[tuple[str, Expression | None]] = (),
        where: Expression | None = None,
        group: Sequence[Expression] = (),
    ) -> str:
        """Add a stage and return its name.

        Parameters
        ----------
        source : str or expression
            The stage, or the table, that it selects from.
        columns : mapping of str to expression
            Its columns.
        joins : sequence of (str, str, expression)
            Stages of which at most one row fits, their names here, and conditions.
        crossed : sequence of (str, expression or None)
            Tables of which every row that fits makes a row.
        where, group : expressions, optional
            Which rows, and what they are grouped by.

        Raises
        ------
        ValueError
            If there are more columns than databases allow.
        """
        if len(columns) > MOST_COLUMNS:
            raise ValueError(
                f"the query would need {len(columns)} columns in a stage, more than "
                "databases allow; leave the explanation out or use fewer features"
            )
        table = exp.Table(this=name(source)) if isinstance(source, str) else source
        query = exp.Select().select(
            *(named(value, key) for key, value in columns.items()), copy=False
        )
        query = query.from_(table, copy=False)
        for other, alias, condition in joins:
            joined = exp.Table(this=name(other), alias=exp.TableAlias(this=name(alias)))
            query = query.join(joined, on=condition, join_type="left", copy=False)
        for other, fits in crossed:
            kind = {"join_type": "cross"} if fits is None else {"on": fits}
            query = query.join(_table(other), **kind, copy=False)
        if where is not None:
            query = query.where(where, copy=False)
        if group:
            query = query.group_by(*group, copy=False)
        elif self.dialect == "mysql":
            query = query.limit(_ALL_ROWS, copy=False)
        return self.add(query, list(columns))

    def add(self, query: Expression, columns: Sequence[str]) -> str:
        """Add a stage that is a query of its own, with some columns."""
        stage = self._add(query, materialized=self.dialect in _MATERIALIZED)
        self._columns[stage] = set(columns)
        return stage

    def has(self, stage: str, column: str) -> bool:
        """Whether a stage has a column."""
        return column in self._columns[stage]

    def union(self, stages: Sequence[str], columns: Sequence[str]) -> str:
        """A stage of all rows of some stages."""
        parts = [
            exp.Select().select(*(col(key) for key in columns)).from_(_table(stage))
            for stage in stages
        ]
        query = parts[0]
        for part in parts[1:]:
            query = exp.Union(this=query, expression=part, distinct=False)
        return self._add(query, materialized=False)

    def constants(self, columns: Mapping[str, Sequence[float]]) -> str:
        """A stage that holds a table of numbers; equal ones are held once."""
        keys = list(columns)
        rows = list(zip(*columns.values(), strict=True))
        content = (tuple(keys), tuple(rows))
        if content not in self._constants:
            query = self._values(keys, rows)
            self._constants[content] = self._add(query, materialized=False)
        return self._constants[content]

    def _values(self, keys: list[str], rows: list[tuple[float, ...]]) -> Any:
        """A select from rows of numbers."""
        if self.dialect == "duckdb" and len(rows) > _MOST_VALUES:
            return _split_texts(keys, rows)
        values = exp.Values(
            expressions=[exp.Tuple(expressions=list(map(nats, row))) for row in rows]
        )
        alias = exp.TableAlias(this=name("v"))
        names = keys
        if self.dialect == "sqlite":
            # It names the columns itself.
            names = [f"column{place}" for place in range(1, len(keys) + 1)]
        else:
            alias.set("columns", [name(key) for key in keys])
        values.set("alias", alias)
        chosen = [named(col(old), new) for old, new in zip(names, keys, strict=True)]
        return exp.Select().select(*chosen, copy=False).from_(values, copy=False)

    def _add(self, query: Expression, *, materialized: bool) -> str:
        """Keep a stage under a new name."""
        stage = free_name(f"s{len(self._stages) + 1}", self._taken)
        self._stages.append((stage, query, materialized))
        return stage

    def finish(self, source: str, columns: Columns) -> Expression:
        """The whole query, which selects some columns of a stage."""
        query = exp.Select().select(
            *(named(value, key) for key, value in columns.items()), copy=False
        )
        query = query.from_(_table(source), copy=False)
        tables = [
            exp.CTE(
                this=stage,
                alias=exp.TableAlias(this=name(key)),
                **({"materialized": True} if materialized else {}),
            )
            for key, stage, materialized in self._stages
        ]
        query.set("with_", exp.With(expressions=tables))
        return query


def _split_texts(keys: list[str], rows: list[tuple[float, ...]]) -> Any:
    """A select from numbers in one text a column, which DuckDB reads at once."""
    columns = []
    for key, values in zip(keys, zip(*rows, strict=True), strict=True):
        words = ",".join(nats(value).sql() for value in values)
        texts = exp.Anonymous(this="STRING_SPLIT", expressions=[text(words), text(",")])
        cells = exp.Anonymous(this="UNNEST", expressions=[texts])
        whole = all(isinstance(value, int) for value in values)
        columns.append(named(exp.cast(cells, "bigint" if whole else "double"), key))
    return exp.Select().select(*columns, copy=False)


def _table(stage: str) -> Expression:
    """A stage as a table."""
    return exp.Table(this=name(stage))


def kept(columns: Sequence[str], stage: str | None = None) -> Columns:
    """Columns that a stage hands on."""
    return {key: col(key, stage) for key in columns}
