"""Rows scored by a query in DuckDB and by Python: adult, naive Bayes and KDB(2).

    python benchmarks/speed/sql.py [--rows 1000000]

prints a Markdown table. The rows are those of the gallery's sample of adult, repeated;
some cells are missing. DuckDB scores a table of its own into another one, Python the
same rows as an Arrow table, both on all cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf import KDBClassifier, NaiveBayesClassifier, to_sql

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table

SAMPLE = Path(__file__).parents[2] / "examples" / "adult_sample.csv.gz"


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gave."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def figures(what: str, model: Any, rows: pa.Table) -> list[list[str]]:
    """Lines of the table for one classifier."""
    by_python, proba = seconds(lambda: model.predict_proba(rows))
    found = []
    for explain in (0, 3):
        query = to_sql(model, explain=explain, id_columns=["n"])
        with duckdb.connect() as connection:
            numbered = rows.append_column("n", pa.array(np.arange(rows.num_rows)))
            connection.register("given", numbered)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
            by_query, _ = seconds(
                lambda: connection.execute(f"CREATE TABLE scored AS {query}")  # noqa: B023
            )
            scored = connection.execute("SELECT * FROM scored ORDER BY n").fetchnumpy()
        columns = [scored[f"probability_{label}"] for label in model.classes_]
        worst = np.abs(np.stack(columns, axis=1) - proba).max()
        name = f"{what}, with 3 contributions" if explain else what
        line = [
            f"{by_query:.2f}",
            f"{by_python:.2f}",
            f"{len(query):,}",
            f"{worst:.1e}",
        ]
        found.append([name, *line])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    strings = pa_csv.ConvertOptions(strings_can_be_null=True, null_values=["", "?"])
    sample = pa_csv.read_csv(SAMPLE, convert_options=strings)
    X, y = sample.drop_columns(["income"]), sample.column("income")
    rows = X.take(pa.array(np.arange(n_rows) % X.num_rows))
    lines = []
    for what, model in (
        ("naive Bayes", NaiveBayesClassifier(n_jobs=-1)),
        ("KDB, k = 2", KDBClassifier(k=2, n_jobs=-1)),
    ):
        lines += figures(what, model.fit(X, y), rows)
    print(describe_processor())
    print()
    heading = ["", "query, s", "Python, s", "characters", "largest difference"]
    print(f"{n_rows} rows of {X.num_columns} columns")
    print()
    print(markdown_table(heading, lines))


if __name__ == "__main__":
    main()
