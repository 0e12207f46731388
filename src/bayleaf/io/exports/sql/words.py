"""Pieces of queries as expression trees, which sqlglot writes in each dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayleaf.io.exports.sql.naming import free_name
from bayleaf.wording import name_list, quoted

try:
    import sqlglot
    from sqlglot import exp
except ImportError as error:  # pragma: no cover - told where the extra is absent
    raise ImportError(
        "SQL is written by sqlglot, which is not installed; install it with "
        'pip install "bayleaf[sql]"'
    ) from error

Expression = Any

# What sqlglot calls the dialects that are written.
DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql")
# Those whose numbers may be NaN, which equals itself there.
_EQUAL_NAN = ("duckdb", "postgres", "spark", "snowflake")
# Stands for the logarithm of zero: sums of many stay finite.
NEVER = -1e300
# Exponentials of less are zero; some databases call that an error.
_LEAST_EXPONENT = -700
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
# Arguments of one call of the function for the largest.
_MOST_ARGUMENTS = 30


def check_dialect(dialect: str) -> None:
    """Raise ValueError unless queries are written in a dialect."""
    if dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be one of {name_list(DIALECTS)}, got {quoted(dialect)}"
        )


def written(query: Expression, dialect: str) -> str:
    """A query as text."""
    for node in query.find_all(exp.Greatest, exp.Least):
        # No argument is missing, so that no dialect needs conditions about that.
        node.set("ignore_nulls", dialect == "duckdb")
    if dialect == "postgres":
        _cast_numbers(query)
    text: str = query.sql(
        dialect=dialect, copy=False, unsupported_level=sqlglot.ErrorLevel.RAISE
    )
    return text


def _cast_numbers(query: Expression) -> None:
    """Make floats of the numbers that PostgreSQL reads as decimal ones.

    Where a number stands beside others, in conditions or rows, one of them is enough.
    """
    for literal in list(query.find_all(exp.Literal)):
        if literal.is_string or "e" not in literal.this:
            continue
        node = literal.parent if isinstance(literal.parent, exp.Neg) else literal
        above = node.parent
        if isinstance(above, exp.Cast):
            continue
        if isinstance(above, exp.Tuple) and above.index:
            continue
        if isinstance(above, exp.If) and not isinstance(
            above.parent.args.get("default"), exp.Null
        ):
            continue
        node.replace(double(node.copy()))


def name(text: str) -> Expression:
    """A quoted identifier."""
    return exp.to_identifier(text, quoted=True)


def col(text: str, table: str | None = None) -> Expression:
    """A column, of a table that is named or the only one."""
    return exp.Column(this=name(text), table=None if table is None else name(table))


def table_of(
    parts: Sequence[str], values: Iterable[Expression], dialect: str
) -> Expression:
    """The table of the user under an alias, which all columns of some values get.

    A column that the table lacks is then an error: SQLite would read its quoted name as
    a text, and others as an alias of the same select.
    """
    columns = [column for value in values for column in value.find_all(exp.Column)]
    names = {column.name for column in columns}
    alias = free_name("source", {each.casefold() for each in names})
    for column in columns:
        column.set("table", name(alias))
    keys = ("this", "db", "catalog")
    given = [name(part) for part in reversed(parts)]
    table = exp.Table(**dict(zip(keys, given, strict=False)))
    if dialect == "postgres" and names & _ROW_FUNCTIONS:
        inner = exp.Select().select(*map(col, sorted(names)), copy=False)
        table = exp.Subquery(this=inner.from_(table, copy=False))
    table.set("alias", exp.TableAlias(this=name(alias)))
    return table


def text(value: str) -> Expression:
    """A text literal."""
    return exp.Literal.string(value)


def num(value: float) -> Expression:
    """A number: whole ones as such, others with an exponent and all their digits.

    Without an exponent some databases would read a decimal number.
    """
    number = float(value)
    digits = (
        str(int(value))
        if isinstance(value, int | np.integer)
        else np.format_float_scientific(number, unique=True, trim="0")
    )
    if digits.startswith("-"):
        return exp.Neg(this=exp.Literal.number(digits[1:]))
    return exp.Literal.number(digits)


def nats(value: float) -> Expression:
    """A logarithm; that of zero is a very small number."""
    return num(NEVER if value == -np.inf else value)


def literal(value: Any) -> Expression:
    """A text, a truth value or a number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return num(value) if isinstance(value, int | float) else text(str(value))


def null() -> Expression:
    """The missing value."""
    return exp.Null()


def _paired(kind: Any, parts: Sequence[Expression]) -> Expression:
    """Parts joined by an operator, as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _paired(kind, parts[:half]), _paired(kind, parts[half:])
    return exp.Paren(this=kind(this=left, expression=right))


def plus(*parts: Expression) -> Expression:
    """The sum of some numbers; zero for none."""
    return _paired(exp.Add, parts) if parts else num(0.0)


def minus(left: Expression, right: Expression) -> Expression:
    """A difference."""
    return exp.Paren(this=exp.Sub(this=left, expression=right))


def times(*parts: Expression) -> Expression:
    """A product."""
    return _paired(exp.Mul, parts)


def over(left: Expression, right: Expression) -> Expression:
    """A quotient of numbers that are no whole ones."""
    return exp.Paren(this=exp.Div(this=left, expression=right, typed=True))


def both(*parts: Expression) -> Expression:
    """A conjunction."""
    return _paired(exp.And, parts)


def either(*parts: Expression) -> Expression:
    """A disjunction."""
    return _paired(exp.Or, parts)


def equal(left: Expression, right: Expression) -> Expression:
    """Whether two values are equal."""
    return exp.EQ(this=left, expression=right)


def at_most(left: Expression, right: Expression) -> Expression:
    """Whether a value is at most another."""
    return exp.LTE(this=left, expression=right)


def below(left: Expression, right: Expression) -> Expression:
    """Whether a value is below another."""
    return exp.LT(this=left, expression=right)


def differs(left: Expression, right: Expression) -> Expression:
    """Whether two values differ."""
    return exp.NEQ(this=left, expression=right)


def case(
    cases: Sequence[tuple[Expression, Expression]], default: Expression
) -> Expression:
    """The value of the first condition that holds."""
    if not cases:
        return default
    ifs = [exp.If(this=condition, true=value) for condition, value in cases]
    return exp.Case(ifs=ifs, default=default)


def chosen(
    key: Expression, values: Mapping[int, Expression], default: Expression
) -> Expression:
    """The value that belongs to a whole number."""
    return case(
        [(equal(key.copy(), num(place)), value) for place, value in values.items()],
        default,
    )


def is_null(value: Expression) -> Expression:
    """Whether a value is missing."""
    return exp.Is(this=value, expression=exp.Null())


def or_zero(value: Expression) -> Expression:
    """A number, zero where it is missing."""
    return exp.Coalesce(this=value, expressions=[num(0.0)])


def is_nan(value: Expression, dialect: str) -> Expression | None:
    """Whether a number is none; None where databases know no such numbers."""
    if dialect in _EQUAL_NAN:
        return equal(value, double(text("NaN")))
    return exp.IsNan(this=value) if dialect == "bigquery" else None


def double(value: Expression) -> Expression:
    """A value as a float of eight bytes."""
    return exp.cast(value, "double")


def as_text(value: Expression) -> Expression:
    """A value as text."""
    return exp.cast(value, "text")


def highest(values: Sequence[Expression]) -> Expression:
    """The largest of some numbers, none of them missing."""
    return _extreme(exp.Greatest, list(values))


def lowest(values: Sequence[Expression]) -> Expression:
    """The smallest of some numbers, none of them missing."""
    return _extreme(exp.Least, list(values))


def _extreme(kind: Any, values: list[Expression]) -> Expression:
    """The largest or smallest number, by calls of not too many arguments."""
    while len(values) > 1:
        parts = [
            values[first : first + _MOST_ARGUMENTS]
            for first in range(0, len(values), _MOST_ARGUMENTS)
        ]
        values = [
            part[0] if len(part) == 1 else kind(this=part[0], expressions=part[1:])
            for part in parts
        ]
    return values[0]


def exponential(value: Expression) -> Expression:
    """The exponential of a column or short expression, zero far below."""
    return case(
        [(below(value.copy(), num(_LEAST_EXPONENT)), num(0.0))],
        exp.Exp(this=value.copy()),
    )


def logarithm(value: Expression) -> Expression:
    """The natural logarithm of a positive number."""
    return exp.Ln(this=value)


def magnitude(value: Expression) -> Expression:
    """The absolute value."""
    return exp.Abs(this=value)


def named(value: Expression, alias: str) -> Expression:
    """A value under a name."""
    return exp.Alias(this=value, alias=name(alias))
