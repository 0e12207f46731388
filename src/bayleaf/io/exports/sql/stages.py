"""A query as stages, each a table that selects from the one before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy

from bayleaf.io.exports.sql.words import (
    exponential,
    folded,
    free_name,
    name,
    nats,
    plain,
    written,
)

# Columns of a stage; PostgreSQL allows 1664.
_MAX_COLUMNS = 1500
# Databases that otherwise write the expressions of one stage into the next, where each
# use of a column would be computed again.
_MATERIALIZED = ("postgres", "sqlite")
_KEPT = " MATERIALIZED"

Columns = dict[str, str]


class Rows:
    """The stages of a query, of which the last has the columns of all rows.

    No stage has one of the names of the user's tables. If reported, nats of each
    feature have columns.
    """

    def __init__(self, dialect: str, tables: Iterable[str], is_reported: bool) -> None:
        self.dialect, self.is_reported = dialect, is_reported
        self.stage = ""
        self.columns: list[str] = []
        # Joins of stages with factors of terms, and the columns that they need.
        self.factors, self.factor_keys = "", Columns()
        self._taken = {folded(table.casefold(), dialect) for table in tables}
        # Names and kinds of the stages by their queries.
        self._stages: dict[str, tuple[str, str]] = {}

    def slot(self, feature: int) -> str:
        """Where nats of a feature are added: to the score, or apart to be reported."""
        return f"f{feature}" if self.is_reported else "s"

    def branch(self) -> Rows:
        """Other rows that follow from the same stages."""
        return copy(self)

    def add(self, query: str, *, is_inlined: bool = False) -> str:
        """Add a stage, if there is none like it, and return its name."""
        if query not in self._stages:
            stage = free_name(f"s{len(self._stages) + 1}", self._taken)
            is_kept = self.dialect in _MATERIALIZED and not is_inlined
            self._stages[query] = stage, _KEPT if is_kept else ""
        return self._stages[query][0]

    def keep_results(self) -> None:
        """Compute the last stage once, where a database can be told so."""
        if self.dialect in (*_MATERIALIZED, "duckdb"):
            ((query, _),) = [
                own for own in self._stages.items() if own[1][0] == self.stage
            ]
            self._stages[query] = self.stage, _KEPT

    def select(self, columns: Columns, tail: str = "", source: str = "") -> None:
        """Go on with a stage of columns; tail: joins, a condition or groups.

        ValueError if there are more columns than databases allow.
        """
        if len(columns) > _MAX_COLUMNS:
            raise ValueError(
                f"the query would need {len(columns)} columns in a stage, more than "
                "databases allow; leave the explanation out or use fewer features"
            )
        self.stage = self.add(_select(columns, source or self.stage) + tail)
        self.columns = list(columns)

    def extend(
        self, new: Columns, tail: str = "", without: Collection[str] = ()
    ) -> None:
        """Add columns, and leave some out."""
        old = [key for key in self.columns if key not in new and key not in without]
        self.select({**kept(old), **new}, tail)

    def keep(self, columns: Iterable[str], condition: str) -> None:
        """Go on with some columns of the rows for which a condition holds."""
        self.select(kept(columns), f" WHERE {condition}")

    def group(self, keys: Sequence[str], totals: Columns) -> None:
        """Go on with one row for each value of some columns."""
        self.select({**kept(keys), **totals}, f" GROUP BY {', '.join(keys)}")

    def number(self) -> None:
        """Add r, a number of each row."""
        self.extend({"r": "ROW_NUMBER() OVER (ORDER BY NULL)"})

    def log_sums(
        self, slots: Sequence[str], within: Sequence[str], keys: Sequence[str]
    ) -> None:
        """One row for each value of keys: logs of sums of exponentials of columns.

        The columns `within` are those of the keys that others depend on.
        """
        over = f"OVER (PARTITION BY {', '.join(within)})"
        self.extend({f"h{slot}": f"MAX({slot}) {over}" for slot in slots})
        sums = {s: f"SUM({exponential(f'{s} - h{s}')})" for s in slots}
        self.group(keys, {s: f"(MAX(h{s}) + LN({own}))" for s, own in sums.items()})

    def union(self, other: Rows) -> None:
        """Go on with the rows of another branch as well, which has the same columns."""
        keys = ", ".join(self.columns)
        parts = [f"SELECT {keys} FROM {stage}" for stage in (self.stage, other.stage)]
        self.stage = self.add(" UNION ALL ".join(parts), is_inlined=True)

    def constants(self, columns: Mapping[str, Sequence[float]]) -> str:
        """A stage that contains a table of numbers."""
        keys, (first, *rest) = [*columns], [*zip(*columns.values(), strict=True)]
        # The first row gives the types.
        rows = [list(map(nats, first))]
        rows += ([plain(nats(value)) for value in row] for row in rest)
        cells = [", ".join(row) for row in rows]
        if self.dialect == "bigquery":
            rows = [list(map("{} AS {}".format, row, keys)) for row in rows]
            structs = ", ".join(f"STRUCT({', '.join(row)})" for row in rows)
            query = f"SELECT {', '.join(keys)} FROM UNNEST([{structs}])"
        elif self.dialect == "mysql":
            cells[0] = ", ".join(map("{} AS {}".format, rows[0], keys))
            query = " UNION ALL ".join(f"SELECT {row}" for row in cells)
        else:
            query = f"(VALUES {', '.join(f'({row})' for row in cells)})"
            if self.dialect == "sqlite":
                # It names the columns itself.
                names = {key: f"column{n}" for n, key in enumerate(keys, 1)}
                query = _select(names, query)
            else:
                query = f"SELECT * FROM {query} AS v({', '.join(keys)})"
        # Databases know the number of rows in a stage that they read in place.
        return self.add(query, is_inlined=True)

    def finish(self, columns: Columns) -> str:
        """The whole query, which selects some columns of the last stage."""
        stages = ", ".join(
            f"{stage} AS{kind} ({query})"
            for query, (stage, kind) in self._stages.items()
        )
        results = {name(key): value for key, value in columns.items()}
        query = f"WITH {stages} {_select(results, self.stage)}"
        return written(query, self.dialect)


def _select(columns: Columns, source: str) -> str:
    """Select columns from a stage."""
    parts = [k if value == k else f"{value} AS {k}" for k, value in columns.items()]
    return f"SELECT {', '.join(parts)} FROM {source}"


def kept(columns: Iterable[str]) -> Columns:
    """Columns that a stage hands on."""
    return {key: key for key in columns}
