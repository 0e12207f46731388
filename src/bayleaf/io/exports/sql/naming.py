"""Names of a query's table, columns and stages, compared as databases compare them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from typing import Any

from bayleaf.io.exports.characters import check_characters, equal_pair
from bayleaf.wording import quoted

# Bytes of a name; PostgreSQL drops those that follow.
_MAX_BYTES = 63
# Columns that databases add to a table: a query would read them where it lacks its own.
_ADDED_COLUMNS = {
    "duckdb": {"rowid"},
    "sqlite": {"rowid", "oid", "_rowid_"},
    "postgres": {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"},
}


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
