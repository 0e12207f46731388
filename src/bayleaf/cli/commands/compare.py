"""``bayleaf compare``: several models on the same folds, and whether they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.display import (
    print_file,
    print_json,
    print_verdict,
    progress,
    recommend_regressor,
)
from bayleaf.cli.model_options import REGRESSOR, ModelOptions, Models, model_names
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Drop,
    Flag,
    FormatOptions,
    Loss,
    PlanFile,
    Table,
    refuse_options,
)
from bayleaf.wording import name_list, quoted, visible

if TYPE_CHECKING:
    from bayleaf.cli.table_reading import EmptyTargets, TrainingColumns
    from bayleaf.data.reading_plan import ReadingPlan
    from bayleaf.evaluation.comparison import Comparison
    from bayleaf.evaluation.cross_validation import CrossValidation
    from bayleaf.evaluation.operating_points import OperatingPoint
    from bayleaf.evaluation.regression import RegressionScores

_DEFAULT = ("nb", "tan", "kdb", "hnb", "auto")


@Parameter(name="*")
@dataclass(frozen=True)
class FoldOptions:
    """Folds of a table, and its columns that are not features.

    Parameters
    ----------
    folds
        Number of folds.
    repeats
        How often rows are shuffled and dealt into folds again.
    groups
        Column whose rows of one value, as those of one patient, share a fold; it is no
        feature then.
    time
        Column in whose order rows came: each fold is scored after all rows that were
        learned from; it is no feature then.
    weight
        Column of row weights, in fits and in scores, and not a feature.
    """

    folds: int = 10
    repeats: int = 1
    groups: str | None = None
    time: str | None = None
    drop: Drop = ()
    weight: str | None = None
    plan: PlanFile = None


def compare(
    data: Table,
    *further: Table,
    target: Annotated[tuple[str, ...], Parameter(negative="")],
    model: Models = _DEFAULT,
    baseline: str = "best",
    loss: Loss = None,
    split: FoldOptions | None = None,
    form: FormatOptions = USUAL_FORMAT,
    options: ModelOptions | None = None,
    description_length: Flag = False,
    csv: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    markdown: Flag = False,
    json: Flag = False,
) -> int:
    """Compare models on the same folds and mark differences that may be chance.

    Example: `bayleaf compare heart.csv --target disease --model nb,tan,kdb,hnb`

    Of several tables it shows mean ranks of the models and tests them.

    Parameters
    ----------
    further
        More tables.
    target
        Column to predict; of several tables one for all, or repeated for each.
    model
        nb, tan, kdb, hnb, aode, a2de, auto, mixture, latent_class or network; may be
        repeated, or several with commas between them. regressor, alone, for a numeric
        target: its scores on each table, as bayleaf evaluate shows them.
    baseline
        Model that the others are tested against; best: the best of each score.
    description_length
        Add the bits of each model and of the classes of its training rows (MDL); for
        nb, tan, kdb, hnb and network.
    csv
        Write one row per table and model to this file; - for standard output.
    markdown
        Print a Markdown table.
    json
        Print everything, single folds included, as JSON.
    """
    from bayleaf.cli.console import ShownConsole
    from bayleaf.evaluation.table_comparisons import TableComparisons
    from bayleaf.io.atomic import check_writable
    from bayleaf.results.markdown import markdown_of
    from bayleaf.results.text import print_document

    if sum((markdown, json, csv == "-")) > 1:
        raise ValueError("give only one of --markdown, --json and --csv -")
    if csv not in (None, "-"):
        check_writable(csv)
    options, split = options or ModelOptions(), split or FoldOptions()
    names = model_names(model)
    tables = [data, *further]
    if len(target) not in (1, len(tables)):
        raise ValueError(
            f"give one --target for all tables or one for each of the {len(tables)}, "
            f"got {len(target)}"
        )
    targets = target * len(tables) if len(target) == 1 else target
    of_classifiers = {
        "--loss": loss,
        "--baseline": baseline != "best",
        "--description-length": description_length,
        "--csv": csv,
        "--markdown": markdown,
    }
    if is_regressor(names, of_classifiers, split):
        show_regressors(tables, targets, split, options, form, as_json=json)
        return 0
    names_of_tables = _table_names(tables)
    comparisons: list[Comparison] = []
    others: list[dict[str, Any]] = []
    for table, name, column in zip(tables, names_of_tables, targets, strict=True):
        scores, empty = compare_models(
            options.build_all(names),
            table,
            column,
            split,
            seed=options.seed,
            baseline=baseline,
            loss=loss,
            form=form,
            description_length=description_length,
        )
        comparisons.append(replace(scores, table=name))
        read = {"data": table, "target": column, "weight": split.weight}
        others.append(read | empty.to_dict())
    result = (
        comparisons[0] if len(tables) == 1 else TableComparisons(tuple(comparisons))
    )
    text = result.to_csv(None if csv == "-" else csv)
    if csv == "-":
        print_file(text.removesuffix("\n"))
    elif json:
        values: dict[str, Any] = result.to_dict()
        if isinstance(result, TableComparisons):
            values["tables"] = [a | b for a, b in zip(values["tables"], others)]
        else:
            values |= others[0]
        print_json(values)
    elif markdown:
        print_file(markdown_of(result.document()).removesuffix("\n"))
    elif isinstance(result, TableComparisons):
        print_document(result.document(), ShownConsole())
    else:
        print_comparison(result, data, targets[0])
        if result.threshold is not None:
            print_points(result, result[result.best("cost")])
    return 0


def _table_names(tables: Sequence[str]) -> list[str]:
    """What tables are called: their files without suffix; ValueError for one twice."""
    names = ["-" if table == "-" else Path(table).stem for table in tables]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"two tables are called {quoted(twice[0])}; give their files distinct names"
        )
    return names


def compare_models(
    estimators: dict[str, Any],
    data: str,
    target: str,
    split: FoldOptions,
    *,
    seed: int,
    form: FormatOptions,
    baseline: str = "best",
    loss: str | None = None,
    positive: str | None = None,
    description_length: bool = False,
) -> tuple[Comparison, EmptyTargets]:
    """Compare estimators on a file, with progress on standard error.

    Reports the rows with an empty target, which are left out. OSError or ValueError if
    a file, a setting or the positive class, for thresholds, does not fit, before models
    learn.
    """
    from bayleaf.cli.table_reading import UnknownReport
    from bayleaf.data.class_labels import encode_labels
    from bayleaf.evaluation.comparison import compare as compare_classifiers
    from bayleaf.evaluation.folds import forward_folds
    from bayleaf.evaluation.operating_points import read_loss

    costs = None if loss is None else read_loss(loss)
    groups, time = split.groups, split.time
    if groups is not None and time is not None:
        raise ValueError("give --groups or --time, not both")
    aside = groups if groups is not None else time
    table, reading = _training_table(data, target, split, form, aside)
    classes = encode_labels(table.target)[0].tolist()
    recommend_regressor(classes, target)
    if positive is not None:
        positive_place(classes, positive)
    with progress():
        comparison = compare_classifiers(
            table.features,
            table.target,
            estimators,
            n_folds=split.folds,
            n_repeats=split.repeats,
            random_state=seed,
            loss=costs,
            baseline=baseline,
            groups=table.aside if groups is not None else None,
            cv=forward_folds(table.aside, split.folds) if time is not None else None,
            sample_weight=table.weights,
            plan=reading,
            description_length=description_length,
        )
    # Every model met the same held-out rows.
    report = UnknownReport(data)
    lines = range(1, table.features.num_rows + 1)
    report.add(comparison.results[0].held_out.unknown, lines)
    report.show()
    return comparison, table.empty


def is_regressor(
    names: Sequence[str], of_classifiers: dict[str, Any], split: FoldOptions
) -> bool:
    """Whether the model is the regressor, which is scored alone.

    ValueError if others are named next to it, or options that it does not have.
    """
    if REGRESSOR not in names:
        return False
    if len(names) > 1:
        raise ValueError(
            "--model regressor predicts numbers, which classifiers do not; name it "
            "alone"
        )
    refuse_options({**of_classifiers, "--time": split.time})
    return True


def show_regressors(
    tables: Sequence[str],
    targets: Sequence[str],
    split: FoldOptions,
    options: ModelOptions,
    form: FormatOptions,
    *,
    as_json: bool,
) -> None:
    """Cross-validate the regressor on files and print its scores on each."""
    from bayleaf.cli.console import ShownConsole
    from bayleaf.results.text import print_document

    weighted = "" if split.weight is None else ", by weight in fits and in scores"
    values = []
    for data, target in zip(tables, targets, strict=True):
        scores, empty = _regression_scores(
            options.build(REGRESSOR), data, target, split, options.seed, form
        )
        of_table = {"data": data, "target": target} if len(tables) > 1 else {}
        others = {"seed": options.seed, "weight": split.weight, **empty.to_dict()}
        values.append({"model": REGRESSOR, **of_table, **scores.to_dict(), **others})
        if not as_json:
            where = f" of {Path(data).name}" if of_table else ""
            print_verdict(visible(f"{target}{where}: {REGRESSOR} {scores.verdict}."))
            document = scores.document()
            title = visible(f"{REGRESSOR}, {document.title}{weighted}")
            print_document(replace(document, title=title), ShownConsole())
    if as_json:
        print_json(values)


def _training_table(
    data: str,
    target: str,
    split: FoldOptions,
    form: FormatOptions,
    aside: str | None,
) -> tuple[TrainingColumns, ReadingPlan]:
    """The columns of a file and how it is read; reports rows with an empty target."""
    from bayleaf.cli.table_reading import has_csv, training_table
    from bayleaf.data.reading_plan import ReadingPlan

    given = None if split.plan is None else ReadingPlan.load(split.plan)
    reading = form.plan(given, is_csv=has_csv(data))
    table = training_table(
        data,
        target,
        drop=split.drop,
        weight=split.weight,
        form=form.of_plan(reading),
        aside=aside,
        plan=reading,
    )
    table.empty.report()
    return table, reading


def _regression_scores(
    estimator: Any,
    data: str,
    target: str,
    split: FoldOptions,
    seed: int,
    form: FormatOptions,
) -> tuple[RegressionScores, EmptyTargets]:
    """Cross-validate a regressor on a file; and the rows with an empty target."""
    from bayleaf.classifiers.shared.parameters import numbers_of
    from bayleaf.cli.table_reading import UnknownReport
    from bayleaf.evaluation.regression import cross_validate_regressors

    table, reading = _training_table(data, target, split, form, split.groups)
    numbers = numbers_of(f"the target column {target}", table.target.to_numpy())
    unknown: list[Any] = []
    with progress():
        found = cross_validate_regressors(
            {REGRESSOR: estimator},
            table.features,
            numbers,
            n_folds=split.folds,
            n_repeats=split.repeats,
            random_state=seed,
            groups=None if table.aside is None else table.aside.to_pylist(),
            sample_weight=table.weights,
            unknown=unknown,
            plan=reading,
        )
    report = UnknownReport(data)
    report.add(unknown, range(1, len(numbers) + 1))
    report.show()
    return found[REGRESSOR], table.empty


def positive_place(classes: Sequence[Any], positive: str) -> int:
    """Which of two classes a name on the command line stands for.

    ValueError if there are not two classes, or neither has this name.
    """
    from bayleaf.evaluation.operating_points import class_names

    names = class_names(classes)
    # Booleans are found in any case, as in a file of losses.
    called = positive.lower() if isinstance(classes[0], bool) else positive
    if len(names) != 2 or called not in names:
        raise ValueError(
            f"--positive must be one of two classes, but the target has "
            f"{name_list(names)} and --positive is {quoted(positive)}"
        )
    return names.index(called)


def print_comparison(found: Comparison, data: str, target: str) -> None:
    """Print what a comparison comes to, its tables and what their marks mean."""
    from bayleaf.cli.console import ShownConsole
    from bayleaf.evaluation.comparison import title_of
    from bayleaf.results.text import print_document

    where = "standard input" if data == "-" else Path(data).name
    title = visible(f"{target} of {where}: {title_of(found)}")
    print_verdict(visible(f"{target}: {found.verdict}"))
    print()
    print_document(found.document(title), ShownConsole())


def points_of(
    found: Comparison, result: CrossValidation, positive: int = 1
) -> list[OperatingPoint]:
    """Thresholds between two classes on one model's held-out predictions."""
    from bayleaf.evaluation.operating_points import operating_points

    held_out = result.held_out
    return operating_points(
        held_out.truth,
        held_out.proba,
        loss=found.loss,
        positive=positive,
        weights=held_out.weights,
    )


def print_points(found: Comparison, result: CrossValidation, positive: int = 1) -> None:
    """Print what thresholds between two classes lead to for one model."""
    from bayleaf.cli.console import ShownConsole
    from bayleaf.evaluation.comparison import points_table
    from bayleaf.evaluation.operating_points import class_names, implied_threshold

    implied = None if found.loss is None else implied_threshold(found.loss, positive)
    points = points_of(found, result, positive)
    name = class_names(found.classes)[positive]
    title = f"{result.name}: predict {visible(name)} above the threshold"
    console = ShownConsole()
    console.print()
    console.print(points_table(points, title, implied))
