"""``bayleaf fit``: learn a model from a table and write it to a file."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from bayleaf.cli.display import (
    print_json,
    print_verdict,
    progress,
    recommend_regressor,
    report_written,
    text_width,
)
from bayleaf.cli.model_options import ModelOptions
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Drop,
    Flag,
    FormatOptions,
    Output,
    PlanFile,
    Source,
    Weight,
)
from bayleaf.cli.run_record import is_verbose
from bayleaf.wording import counted, in_bits, plain, rough, shown_name, size_text

# Folds of models whose rows cannot be left out by counts, and seconds to wait for them.
_N_FOLDS, _PATIENCE = 5, 20.0


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
    form: FormatOptions = USUAL_FORMAT,
    plan: PlanFile = None,
    options: ModelOptions | None = None,
    arcs: Flag = False,
    json: Flag = False,
) -> int:
    """Learn a classifier, a regressor or a density model and write it to a file.

    The first sentence is how well left-out rows are predicted: each by itself where the
    model gives that in one pass over its tables, else in five folds where they take
    less than 20 seconds.

    Example: `bayleaf fit heart.csv --target disease --model tan -o heart.json`

    Parameters
    ----------
    data
        CSV, Parquet, .xlsx, .dta or ARFF file; - for CSV on standard input. Several
        files, as 'data/*.parquet' or a folder, are one table, which is read in batches.
        A file of counts, .counts, needs no target.
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
    arcs
        List the arcs, as --verbose does.
    json
        Print the summary as JSON.
    """
    from bayleaf.classifiers.shared.base import BayesianClassifier
    from bayleaf.classifiers.shared.parameters import numbers_of
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
    from bayleaf.data.reading_plan import ReadingPlan
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
    given = None if plan is None else ReadingPlan.load(plan)
    reading = form.plan(given, is_csv=has_csv(data))
    described = note = ""
    empty, is_quick = EmptyTargets(target), False
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
            if isinstance(estimator, AveragedKDBRegressor):
                numbers_of(f"the target column {target}", table.target.to_numpy())
            begun = time.monotonic()
            estimator.fit(
                table.features, *labels, sample_weight=table.weights, plan=reading
            )
            seconds = time.monotonic() - begun
            is_quick = _N_FOLDS * seconds < _PATIENCE
        scores = _left_out_scores(estimator)
        estimator.save(output)
        in_folds = is_quick and scores is None and hasattr(estimator, "classes_")
        if in_folds and not json:
            work.say(f"scoring {_N_FOLDS} folds")
            scores = _scores_in_folds(estimator, table, reading)
    empty.report()
    recommend_regressor(getattr(estimator, "classes_", ()), target)
    summary = estimator.summary()
    if json:
        print_json(summary.to_dict() | empty.to_dict())
    else:
        print_verdict(_verdict(estimator, summary, scores, in_folds))
        for line in (described and f"read with {described}", note):
            if line:
                print(line)
        print()
        names = ("arcs", "edges") if not (arcs or is_verbose()) else ()
        hidden = {name: () for name in names if hasattr(summary, name)}
        width = text_width()
        print(replace(summary, **hidden).model_text(width))
        print()
        print("\n".join(estimator.columns_.lines(width=width)))
        report_written(output, f" ({size_text(output.stat().st_size)})")
    return 0


def _verdict(
    estimator: Any, summary: Any, scores: tuple[float, float] | None, in_folds: bool
) -> str:
    """How well left-out rows are predicted, or which command measures that.

    `scores` are the error and the log-loss of rows left out, one by one or in folds.
    """
    if not hasattr(summary, "target"):
        return (
            f"{counted(summary.n_variables, 'variable')} and "
            f"{counted(summary.n_edges, 'arc')}. bayleaf report scores such a model on "
            "held-out folds."
        )
    target = shown_name(summary.target)
    if not hasattr(summary, "classes"):
        return (
            f"{target}: the 90 % interval contains the value in "
            f"{_of_100(summary.left_out_coverage)} of 100 left-out rows, and "
            f"predictions are off by {rough(summary.left_out_crps)} (mean CRPS)."
        )
    if scores is None:
        return (
            f"{target}: bayleaf evaluate measures on held-out folds how well "
            f"{summary.model} predicts it."
        )
    usual, share = max(summary.classes, key=itemgetter(1))
    error, log_loss = scores
    when, further = "when left out", "also leaves rows out of cut points and structure"
    if in_folds:
        when, further = (
            f"in {_N_FOLDS} held-out folds",
            "repeats them and compares models",
        )
    right = f"{_of_100(1.0 - error)} of 100 rows are predicted right {when}"
    loss = f"log-loss {in_bits(log_loss):.3f} bits per row"
    if estimator.class_prior is None and estimator.fit_prior:
        open_bits = -sum(p * math.log2(p) for _, p in summary.classes if p > 0)
        right += f", {_of_100(share)} by always predicting {plain(usual)}"
        loss += f", {open_bits:.3f} without features"
    return f"{target}: {right}; {loss}. bayleaf evaluate {further}."


def _left_out_scores(estimator: Any) -> tuple[float, float] | None:
    """Error and log-loss of rows left out by counts, which files contain, if cheap."""
    from bayleaf.classifiers.shared.leave_one_out import known_score

    score = known_score(estimator) if hasattr(estimator, "classes_") else None
    return None if score is None else (score.error, score.log_loss)


def _scores_in_folds(
    estimator: Any, table: Any, plan: Any
) -> tuple[float, float] | None:
    """Mean error and log-loss of held-out folds; None where rows make no folds."""
    from bayleaf.evaluation import cross_validate

    with suppress(ValueError):
        (score,) = cross_validate(
            {"": estimator},
            table.features,
            table.target,
            n_folds=_N_FOLDS,
            sample_weight=table.weights,
            plan=plan,
        )
        return 1.0 - score.mean("accuracy"), score.mean("log_loss")
    return None


def _of_100(share: float) -> str:
    """A share as a number of 100 rows, not rounded to none or all of them."""
    is_near_whole = 0.0 < min(share, 1.0 - share) < 0.005
    return f"{100 * share:.{2 if is_near_whole else 0}f}"
