"""``bayleaf fit``: learn a model from a table and write it to a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import ModelOptions, Source, Strings, print_json
from bayleaf.wording import visible


def fit(
    data: Source,
    *,
    target: str | None = None,
    density: Annotated[bool, Parameter(negative="")] = False,
    model: str | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    drop: Strings = (),
    weight: str | None = None,
    form: FileFormat | None = None,
    options: ModelOptions | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Learn a classifier, a regressor or a density model and write it to a file.

    Example: `bayleaf fit heart.csv --target disease --model tan -o heart.json`

    Parameters
    ----------
    data
        CSV or Parquet file; - for CSV on standard input.
    target
        Column to predict.
    density
        Learn how all columns depend on one another, in place of a classifier.
    model
        auto (by default), nb, tan, kdb, hnb, aode, a2de, mixture, latent_class or
        network; regressor for a numeric target.
    output
        Model file to write.
    drop
        Column to leave out; may be repeated.
    weight
        Column of row weights.
    json
        Print the summary as JSON.
    """
    from bayleaf.cli.progress import progress
    from bayleaf.cli.training import density_table, training_table
    from bayleaf.io.atomic import check_writable

    check_writable(output)
    options = options or ModelOptions()
    if density == (target is not None) or (density and model is not None):
        raise ValueError(
            "give --target for a classifier, or --density without --target and --model"
        )
    estimator = options.build_density() if density else options.build(model or "auto")
    columns: tuple[Any, ...]
    with progress() as work:
        work.say(f"reading {data}")
        if target is None:
            table, weights = density_table(data, drop=drop, weight=weight, form=form)
            columns = (table,)
        else:
            given = training_table(data, target, drop=drop, weight=weight, form=form)
            table, weights = given.features, given.weights
            columns = (table, given.target)
        work.say(f"learning from {table.num_rows:,} rows")
        estimator.fit(*columns, sample_weight=weights)
        estimator.save(output)
    summary = estimator.summary()
    if json:
        print_json(summary.to_dict())
    else:
        print(estimator.columns_)
        print(summary.model_text())
        print(f"written to {visible(str(output))}", file=sys.stderr)
    return 0
