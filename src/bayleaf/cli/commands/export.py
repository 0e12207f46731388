"""``bayleaf export``: a model as a program of another system."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bayleaf.cli.display import progress
from bayleaf.cli.options import ModelFile, Output, Strings


def export(
    model: ModelFile,
    *,
    output: Output,
    dialect: str | None = None,
    table: str | None = None,
    table_expression: str | None = None,
    explain: int | None = None,
    id_columns: Annotated[Strings, Parameter(name=["--id"])] = (),
) -> int:
    """Write a classifier as a program that scores without this library.

    The suffix of the file says which: sql for a query of a database, onnx for a graph
    of operators, pmml for scoring engines, py for a Python file and js or mjs for an
    ES module that need nothing else and explain every row, so that they take no
    options.

    Example: `bayleaf export heart.json -o heart.sql --dialect postgres --explain 3`

    Parameters
    ----------
    output
        File to write; its suffix names the program.
    dialect
        Of a query: duckdb (the default), postgres, sqlite, spark, bigquery, snowflake
        or mysql.
    table
        Of a query: the table that it scores.
    table_expression
        Of a query: in the table's place and written as it is, such as
        "{{ ref('patients') }}" of dbt; the query then ends without a semicolon.
    explain
        Of a query: how many of the largest contributions it tells for each row.
    id_columns
        Of a query: a column of the table that it hands on; may be repeated.
    """
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.exports.writers import export_model

    check_writable(output)
    options = {
        "dialect": dialect,
        "table": table,
        "table_expression": table_expression,
        "explain": explain,
        "id_columns": id_columns or None,
    }
    try:
        with progress(f"reading {model.name}"):
            export_model(model, output, **options)
    except ImportError as error:
        raise ValueError(str(error)) from None
    return 0
