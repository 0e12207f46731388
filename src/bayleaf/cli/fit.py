"""``bayleaf fit``: learn a classifier from a table and write it to a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayleaf.cli.options import ModelOptions, Source, Strings, print_json


def fit(
    data: Source,
    *,
    target: str,
    model: str = "auto",
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    drop: Strings = (),
    weight: str | None = None,
    na: Strings = (),
    options: ModelOptions | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Learn a classifier and write it to a model file.

    Example: `bayleaf fit heart.csv --target disease --model tan -o heart.json`

    Parameters
    ----------
    data
        CSV or Parquet file; - for CSV on standard input.
    target
        Column to predict.
    model
        auto, nb, tan, kdb or aode.
    output
        Model file to write.
    drop
        Column to leave out; may be repeated.
    weight
        Column of row weights.
    na
        Cell that counts as empty, such as ?; may be repeated.
    json
        Print the summary as JSON.
    """
    from bayleaf.cli.progress import progress
    from bayleaf.cli.training import training_table
    from bayleaf.io.atomic import check_writable

    check_writable(output)
    options = options or ModelOptions()
    estimator = options.build(model)
    with progress() as tell:
        tell(f"reading {data}")
        table = training_table(
            data, target, drop=drop, weight=weight, missing_values=na
        )
        tell(f"learning from {table.features.num_rows:,} rows")
        estimator.fit(table.features, table.target, sample_weight=table.weights)
        estimator.save(output)
    summary = estimator.summary()
    if json:
        print_json(summary.to_dict())
    else:
        print(summary)
        print(f"written to {output}", file=sys.stderr)
    return 0
