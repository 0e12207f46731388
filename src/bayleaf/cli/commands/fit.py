"""``bayleaf fit``: learn a model from a table and write it to a file."""

from __future__ import annotations

from pathlib import Path

from bayleaf.cli.display import (
    print_json,
    progress,
    recommend_regressor,
    report_written,
)
from bayleaf.cli.model_options import ModelOptions
from bayleaf.cli.options import (
    Drop,
    FileFormat,
    Flag,
    Output,
    PlanFile,
    Source,
    Weight,
)
from bayleaf.wording import size_text


def fit(
    data: Source,
    *,
    target: str | None = None,
    density: Flag = False,
    model: str | None = None,
    output: Output,
    drop: Drop = (),
    weight: Weight = None,
    memory: str | None = None,
    store: Path | None = None,
    form: FileFormat | None = None,
    plan: PlanFile = None,
    options: ModelOptions | None = None,
    json: Flag = False,
) -> int:
    """Learn a classifier, a regressor or a density model and write it to a file.

    Example: `bayleaf fit heart.csv --target disease --model tan -o heart.json`

    Parameters
    ----------
    data
        CSV, Parquet, .xlsx or ARFF file; - for CSV on standard input. Several files, as
        'data/*.parquet' or a folder, are one table, which is read in batches. A file
        of counts, .counts, needs no target.
    target
        Column to predict.
    density
        Learn how all columns depend on one another, in place of a classifier.
    model
        auto (by default), nb, tan, kdb, hnb, aode, a2de, mixture, latent_class or
        network; regressor for a numeric target.
    output
        Model file to write.
    memory
        Read the table in as many batches as it takes, and learn within so
        much memory, such as 2GB, and 200 MB for the program: what needs rows gets a
        sample that fits, and models that would be larger are refused or made smaller.
    store
        Read the table in batches, and keep its codes in this file for other fits; an
        interrupted fit goes on.
    json
        Print the summary as JSON.
    """
    from bayleaf.classifiers.shared.base import BayesianClassifier
    from bayleaf.cli.table_reading import (
        EmptyTargets,
        batches_format,
        batches_of,
        file_format,
        has_csv,
        is_many_files,
        training_table,
    )
    from bayleaf.data.memory import size_in_bytes
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.native.count_store import CountFile
    from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

    check_writable(output)
    options = options or ModelOptions()
    from_counts = data.lower().endswith(".counts")
    if from_counts:
        if density or any((target, drop, weight, memory, store)):
            raise ValueError(
                "counts know their target and columns; leave out --density, --target, "
                "--drop, --weight, --memory and --store"
            )
    elif density == (target is not None) or (density and model is not None):
        raise ValueError(
            "give --target for a classifier, or --density without --target and --model"
        )
    estimator = options.build_density() if density else options.build(model or "auto")
    in_batches = is_many_files(data) or memory is not None or store is not None
    if in_batches and isinstance(estimator, AveragedKDBRegressor):
        raise ValueError(
            f"{type(estimator).__name__} takes a table in memory; name one file, "
            "without --memory and --store"
        )
    form = form or FileFormat()
    reading = form.plan(plan, is_csv=has_csv(data))
    described = note = ""
    empty = EmptyTargets(target)
    with progress() as work:
        work.say(f"reading {data}")
        if from_counts:
            kind = type(estimator)
            if not isinstance(estimator, BayesianClassifier):
                raise ValueError(f"{kind.__name__} takes a table, not counts")
            parameters = estimator.get_params(deep=False)
            estimator = kind.from_counts(CountFile.open(data), **parameters)
        elif in_batches:
            source = batches_of(data, form, drop, plan=reading, empty=empty)
            described, note = batches_format(data, form)
            estimator.fit(
                source,
                **({} if target is None else {"target": target}),
                sample_weight=weight,
                store=store,
                memory=None if memory is None else size_in_bytes(memory, "--memory"),
                plan=reading,
            )
            empty.adopt(source.facts)
        else:
            of_plan = form.of_plan(reading)
            table = training_table(
                data, target, drop=drop, weight=weight, form=of_plan, plan=reading
            )
            described, note = file_format(table.features.schema)
            empty = table.empty
            work.say(f"learning from {table.features.num_rows:,} rows")
            labels = () if target is None else (table.target,)
            estimator.fit(
                table.features, *labels, sample_weight=table.weights, plan=reading
            )
        estimator.save(output)
    empty.report()
    recommend_regressor(getattr(estimator, "classes_", ()), target)
    summary = estimator.summary()
    if json:
        print_json(summary.to_dict() | empty.to_dict())
    else:
        for line in (described and f"read with {described}", note):
            if line:
                print(line)
        print(estimator.columns_)
        print(summary.model_text())
        report_written(output, f" ({size_text(output.stat().st_size)})")
    return 0
