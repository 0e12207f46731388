"""Tables of many numbers in a query: keys listed by the values that they have.

Most values of large tables occur many times. Where databases can split texts, a value
is written once, with all its keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from bayleaf.io.exports.sql.pipeline import Pipeline
from bayleaf.io.exports.sql.words import Expression, col, name, named, nats, text

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Keys beside a value in SQLite, which reads the whole pair for each of them.
_MOST_KEYS = 32


def keyed_numbers(pipeline: Pipeline, keys: Whole, values: Floats) -> str:
    """A stage with the column k of keys, and v{class} of values that are not all zero.

    Parameters
    ----------
    pipeline : Pipeline
        Takes the stage.
    keys : ndarray of shape (n_entries,)
        Whole numbers, each once.
    values : ndarray of shape (n_entries, n_classes)
        Nats.
    """
    telling = np.flatnonzero((values != 0).any(axis=0)).tolist()
    names = [f"v{c}" for c in telling]
    values = values[:, telling]
    writers = {"duckdb": _duckdb, "postgres": _postgres, "sqlite": _sqlite}
    if pipeline.dialect not in writers:
        columns = {n: own.tolist() for n, own in zip(names, values.T, strict=True)}
        return pipeline.constants({"k": keys.tolist(), **columns})
    most = _MOST_KEYS if pipeline.dialect == "sqlite" else max(len(keys), 1)
    lists, distinct = _by_value(keys, values, most)
    query = writers[pipeline.dialect](lists, distinct, names)
    return pipeline.add(query, ["k", *names])


def _by_value(keys: Whole, values: Floats, most: int) -> tuple[list[str], Floats]:
    """Rows of values, each with some of the keys that have it, in order and as text."""
    distinct, places = np.unique(values, axis=0, return_inverse=True)
    order = np.lexsort((keys, places.ravel()))
    words = list(map(str, keys[order].tolist()))
    lists, rows, first = [], [], 0
    for row, n_keys in enumerate(np.bincount(places.ravel()).tolist()):
        for start in range(first, first + n_keys, most):
            end = min(start + most, first + n_keys)
            lists.append(",".join(words[start:end]))
            rows.append(row)
        first += n_keys
    return lists, distinct[rows]


def _word(value: float) -> str:
    """A number as all databases read it."""
    return str(nats(value).sql())


def _from_texts(
    lists: list[str], distinct: Floats, names: list[str], function: str
) -> Any:
    """A select of keys and values from texts that a function splits."""

    def parts(value: Expression, sign: str) -> Any:
        split = exp.Anonymous(this=function, expressions=[value, text(sign)])
        return exp.Anonymous(this="UNNEST", expressions=[split])

    columns = [named(parts(text(";".join(lists)), ";"), "k")]
    for key, own in zip(names, distinct.T, strict=True):
        words = ",".join(_word(value) for value in own.tolist())
        columns.append(named(exp.cast(parts(text(words), ","), "double"), key))
    inner = exp.Select().select(*columns, copy=False)
    source = exp.Subquery(this=inner, alias=exp.TableAlias(this=name("d")))
    keys = exp.cast(parts(col("k", "d"), ","), "bigint")
    outer = exp.Select().select(
        named(keys, "k"), *(named(col(key, "d"), key) for key in names), copy=False
    )
    return outer.from_(source, copy=False)


def _duckdb(lists: list[str], distinct: Floats, names: list[str]) -> Any:
    return _from_texts(lists, distinct, names, "STRING_SPLIT")


def _postgres(lists: list[str], distinct: Floats, names: list[str]) -> Any:
    return _from_texts(lists, distinct, names, "STRING_TO_ARRAY")


def _sqlite(lists: list[str], distinct: Floats, names: list[str]) -> Any:
    """A select from one text of JSON: pairs of a list of values and one of keys."""
    rows = zip(lists, distinct.tolist(), strict=True)
    pairs = ",".join(f"[[{','.join(map(_word, own))}],[{keys}]]" for keys, own in rows)

    def each(alias: str, *arguments: Expression) -> Any:
        call = exp.Anonymous(this="JSON_EACH", expressions=list(arguments))
        return exp.Table(this=call, alias=exp.TableAlias(this=name(alias)))

    def at(place: int) -> Any:
        path = [col("value", "d"), text(f"$[0][{place}]")]
        return exp.Anonymous(this="JSON_EXTRACT", expressions=path)

    chosen = [named(col("value", "e"), "k")]
    chosen += [named(at(place), key) for place, key in enumerate(names)]
    query = exp.Select().select(*chosen, copy=False)
    query = query.from_(each("d", text(f"[{pairs}]")), copy=False)
    keys = each("e", col("value", "d"), text("$[1]"))
    return query.join(keys, join_type="cross", copy=False)
