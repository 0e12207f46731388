"""Pieces of queries as texts, with marks where dialects differ, and their names.

A mark starts with a zero byte, which no name or value of a user contains. Names of
columns and stages are compared as databases compare them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from bayleaf.io.exports.characters import check_characters, equal_pair
from bayleaf.wording import quoted

DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "mysql")
# Stands for the logarithm of zero: sums of many stay finite.
NEVER = -1e300
# Those whose numbers may be NaN, which equals itself there.
_EQUAL_NAN = ("duckdb", "postgres", "spark", "snowflake")
# Those in which a backslash in a text starts an escape sequence.
_BACKSLASH = ("spark", "bigquery", "snowflake", "mysql")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r"})
# Follows a float: PostgreSQL would read a decimal number.
_FLOAT = "\0F"
# A quoted text, which ends with \0., or a word.
_MARK = re.compile("\0(?:(['\"])([^\0]*)\0\\.|([A-Z]+))")
# What dialects write instead of the word of a mark, where that is something else.
_WORDS: dict[str, dict[str, str]] = {
    "F": dict.fromkeys(DIALECTS, "") | {"postgres": "::FLOAT8"},
    "DOUBLE": {"postgres": "FLOAT8", "sqlite": "REAL", "bigquery": "FLOAT64"},
    "BIGINT": {"sqlite": "INTEGER", "bigquery": "INT64", "mysql": "SIGNED"},
    "TEXT": dict.fromkeys(("spark", "bigquery"), "STRING")
    | {"snowflake": "VARCHAR", "mysql": "CHAR"},
    "GREATEST": {"sqlite": "MAX"},
    "LEAST": {"sqlite": "MIN"},
}

# Bytes of a name; PostgreSQL drops those that follow.
_MAX_BYTES = 63
# Columns that databases add to a table: a query would read them where it lacks its own.
_ADDED_COLUMNS = {
    "duckdb": {"rowid"},
    "sqlite": {"rowid", "oid", "_rowid_"},
    "postgres": {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"},
}


def written(query: str, dialect: str) -> str:
    """A query without marks."""

    def of_dialect(mark: re.Match[str]) -> str:
        quote, content, word = mark.groups()
        if word:
            return _WORDS[word].get(dialect, word)
        if quote == "'" and dialect in _BACKSLASH:
            return f"'{content.translate(_ESCAPES)}'"
        if quote == '"' and dialect in ("spark", "mysql", "bigquery"):
            quote = "`"
        if dialect == "bigquery":
            content = content.replace("\\", r"\\").replace("`", r"\`")
            return f"`{content}`"
        return f"{quote}{content.replace(quote, 2 * quote)}{quote}"

    if dialect != "postgres":
        query = query.replace(_FLOAT, "")
    return _MARK.sub(of_dialect, query)


def name(value: str) -> str:
    """A quoted identifier."""
    check_characters([value], "a name holds", "SQL")
    return f'\0"{value}\0.'


def text(value: str) -> str:
    """A text literal."""
    check_characters([value], "a text holds", "SQL")
    return f"\0'{value}\0."


def num(value: float) -> str:
    """A number: integers as such, others with an exponent and all their digits.

    Without an exponent some databases would read a decimal number.
    """
    if isinstance(value, int | np.integer):
        return str(int(value))
    digits = repr(float(value))
    return f"{digits}{'' if 'e' in digits else 'e0'}{_FLOAT}"


def nats(value: float) -> str:
    """A logarithm; that of zero is a very small number."""
    return num(NEVER if value == -np.inf else value)


ZERO = num(0.0)


def plain(number: str) -> str:
    """A number without a mark, where others give the type."""
    return number.removesuffix(_FLOAT)


def literal(value: Any) -> str:
    """A text, a boolean or a number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return str(value).upper()
    return num(value) if isinstance(value, int | float) else text(str(value))


def _joined(pattern: str, parts: Sequence[str]) -> str:
    """Parts joined in pairs, as a balanced tree: databases limit its depth."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _joined(pattern, parts[:half]), _joined(pattern, parts[half:])
    return pattern.format(left, right)


def plus(*parts: str) -> str:
    """The sum of some numbers; zero for none."""
    return _joined("({} + {})", parts) if parts else ZERO


def times(factor: str, value: str) -> str:
    """A number multiplied by a factor, which is one if it is empty."""
    return f"({factor} * {value})" if factor and value != ZERO else value


def both(*parts: str) -> str:
    """A conjunction; true for no conditions."""
    return _joined("({} AND {})", parts) if parts else "1 = 1"


def either(*parts: str) -> str:
    """A disjunction; false for no conditions."""
    return _joined("({} OR {})", parts) if parts else "1 = 0"


def highest(values: Sequence[str]) -> str:
    """The largest of some numbers, none of them missing."""
    return _joined("\0GREATEST({}, {})", values)


def lowest(values: Sequence[str]) -> str:
    """The smallest of some numbers, none of them missing."""
    return _joined("\0LEAST({}, {})", values)


def case(cases: Iterable[tuple[str, str]], default: str = "NULL") -> str:
    """The value of the first condition that holds; its type is that of the default."""
    raw = str if default == "NULL" else plain
    whens = [f"WHEN {condition} THEN {raw(value)}" for condition, value in cases]
    return f"CASE {' '.join(whens)} ELSE {default} END" if whens else default


def chosen(key: str, values: Mapping[int, str], default: str = "NULL") -> str:
    """The value of an integer."""
    return case(((f"{key} = {k}", value) for k, value in values.items()), default)


def is_nan(value: str, dialect: str) -> str | None:
    """Whether a number is NaN; None where databases have no such numbers."""
    if dialect in _EQUAL_NAN:
        return f"{value} = {cast(text('NaN'), 'DOUBLE')}"
    return f"IS_NAN({value})" if dialect == "bigquery" else None


def cast(value: str, kind: str) -> str:
    """A value as DOUBLE or BIGINT, both of eight bytes, or TEXT."""
    return f"CAST({value} AS \0{kind})"


def exponential(value: str) -> str:
    """The exponential of a short expression, zero far below: some raise an error."""
    return f"CASE WHEN {value} < -700 THEN 0e0 ELSE EXP({value}) END"


def folded(name: str, dialect: str) -> str:
    """A name in the form that is equal for names which the database confuses."""
    if dialect == "snowflake":
        return name
    if dialect == "postgres":
        return name.encode()[:_MAX_BYTES].decode(errors="ignore")
    if dialect in ("duckdb", "sqlite"):
        return "".join(sign.lower() if sign.isascii() else sign for sign in name)
    if dialect == "mysql":
        parts = unicodedata.normalize("NFD", name)
        name = "".join(sign for sign in parts if not unicodedata.combining(sign))
    return name.casefold()


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or the first of name_2, name_3, ... which is not among folded names."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


def table_parts(table: str | Sequence[str]) -> list[str]:
    """Catalogue, schema and name of a table, as many as are given."""
    rule = "table must be a name or"
    parts = table.split(".") if isinstance(table, str) else _names(table, rule)
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise ValueError(
            f"table must be a name, with at most schema and catalogue before it, got "
            f"{quoted(table)}"
        )
    check_characters(parts, "the table's name holds", "SQL")
    return parts


def id_names(id_columns: Sequence[str]) -> list[str]:
    """Names of the columns that a query hands on."""
    names = _names(id_columns, "id_columns must be")
    check_characters(names, "a name in id_columns holds", "SQL")
    return names


def _names(names: Any, rule: str) -> list[str]:
    """A list of texts."""
    is_list = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    texts: list[Any] = list(names) if is_list else [None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(
            f"{rule} a list of names, got {quoted(names)}; give each name as text"
        )
    return texts


def check_columns(columns: Iterable[str], dialect: str) -> None:
    """Raise ValueError unless a table of the dialect can have all the columns."""
    names = sorted(set(columns))
    check_characters(names, "a column's name holds", "SQL")
    if "" in names and dialect != "sqlite":
        raise ValueError(
            f"{dialect} has no column with the name ''; rename it and fit again"
        )
    pair = equal_pair(names, lambda each: folded(each, dialect))
    if pair is not None:
        raise ValueError(
            f"columns {quoted(pair[0])} and {quoted(pair[1])} are one column in "
            f"{dialect}; rename one and fit again"
        )
    added = _ADDED_COLUMNS.get(dialect, set())
    for each in names:
        if folded(each, dialect).lower() in added:
            raise ValueError(
                f"column {quoted(each)} has the name of a column that {dialect} adds "
                "to tables by itself; rename it and fit again"
            )


def check_ids(ids: Sequence[str], outputs: Iterable[str], dialect: str) -> None:
    """Raise ValueError if columns handed on have a name of another result."""
    pair = equal_pair([*outputs, *ids], lambda each: folded(each, dialect))
    if pair is not None:
        raise ValueError(
            f"the query already has a column {quoted(pair[0])}; id_columns must have "
            f"other names, each once, got {quoted(pair[1])}"
        )


def probability_names(classes: Sequence[Any], dialect: str) -> list[str]:
    """Names of the columns of the classes' probabilities, distinct in the dialect."""
    names = [f"probability_{label}" for label in classes]
    keys = [folded(each.casefold(), dialect) for each in names]
    counts = Counter(keys)
    is_fit = [
        counts[key] == 1 and len(each.encode()) <= _MAX_BYTES
        for each, key in zip(names, keys, strict=True)
    ]
    taken = {key for key, fits in zip(keys, is_fit, strict=True) if fits}
    for index, fits in enumerate(is_fit):
        if not fits:
            names[index] = free_name(f"probability_{index + 1}", taken)
            taken.add(names[index])
    return names
