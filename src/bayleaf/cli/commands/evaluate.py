"""``bayleaf evaluate``: cross-validated scores, model by model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayleaf.cli.commands.compare import (
    FoldOptions,
    compare_models,
    points_of,
    positive_place,
    print_comparison,
    print_points,
)
from bayleaf.cli.display import print_json, progress
from bayleaf.cli.model_options import (
    EVALUATED,
    REGRESSOR,
    ModelOptions,
    Models,
    model_names,
)
from bayleaf.cli.options import (
    FileFormat,
    Flag,
    Table,
    refuse_options,
)


def evaluate(
    data: Table,
    *,
    target: str,
    model: Models = EVALUATED,
    loss: str | None = None,
    positive: str | None = None,
    split: FoldOptions | None = None,
    form: FileFormat | None = None,
    options: ModelOptions | None = None,
    json: Flag = False,
) -> int:
    """Estimate accuracy and log-loss by stratified, shuffled cross-validation.

    Example: `bayleaf evaluate heart.csv --target disease --model nb --model tan`

    Parameters
    ----------
    target
        Column to predict.
    model
        nb, tan, kdb, hnb, aode, a2de, auto, mixture, latent_class or network; may
        be repeated, or several with commas between them. All but a2de by default.
        regressor, alone, for a numeric target: RMSE, CRPS, pinball loss and coverage,
        folds not stratified.
    loss
        CSV file of costs, class names as header row and first column; rows are
        predicted, columns true classes. Adds the expected cost a row and, for two
        classes, a table of thresholds.
    positive
        Of two classes, the one that thresholds are for, by default the second; adds
        the table of thresholds.
    json
        Print the figures as JSON.
    """
    options, split = options or ModelOptions(), split or FoldOptions()
    names = model_names(model)
    if REGRESSOR in names:
        if len(names) > 1:
            raise ValueError(
                "--model regressor predicts numbers, which classifiers do not; "
                "evaluate it alone"
            )
        refuse_options({"--loss": loss, "--positive": positive, "--time": split.time})
        estimators, seed = options.build_all(names), options.seed
        _evaluate_regressors(
            estimators, data, target, split, seed=seed, form=form, as_json=json
        )
        return 0
    found, empty = compare_models(
        options.build_all(names),
        data,
        target,
        split,
        seed=options.seed,
        form=form,
        loss=loss,
        positive=positive,
    )
    # The class that thresholds are for; None where no thresholds are shown.
    place = 1 if found.loss is not None and len(found.classes) == 2 else None
    if positive is not None:
        place = positive_place(found.classes, positive)
    if not json:
        print_comparison(found, data, target)
        if place is not None:
            for result in found.results:
                print_points(found, result, place)
        return 0
    values = []
    for result in found.results:
        others = {"seed": found.random_state, "weight": split.weight}
        values.append(result.to_dict() | others | empty.to_dict())
        if place is not None:
            points = [point.to_dict() for point in points_of(found, result, place)]
            values[-1] |= {"positive": found.classes[place], "thresholds": points}
    print_json(values)
    return 0


def _evaluate_regressors(
    estimators: dict[str, Any],
    data: str,
    target: str,
    split: FoldOptions,
    *,
    seed: int,
    form: FileFormat | None,
    as_json: bool,
) -> None:
    """Cross-validate regressors on a file and print their scores."""
    from bayleaf.classifiers.shared.parameters import numbers_of
    from bayleaf.cli.console import ShownConsole
    from bayleaf.cli.table_reading import UnknownReport, has_csv, training_table
    from bayleaf.evaluation.regression import cross_validate_regressors
    from bayleaf.results.text import print_document

    form = form or FileFormat()
    reading = form.plan(split.plan, is_csv=has_csv(data))
    table = training_table(
        data,
        target,
        drop=split.drop,
        weight=split.weight,
        form=form.of_plan(reading),
        aside=split.groups,
        plan=reading,
    )
    table.empty.report()
    numbers = numbers_of(f"the target column {target}", table.target.to_numpy())
    unknown: list[Any] = []
    with progress():
        found = cross_validate_regressors(
            estimators,
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
    if as_json:
        others = {"seed": seed, "weight": split.weight, **table.empty.to_dict()}
        print_json([{"model": n, **s.to_dict(), **others} for n, s in found.items()])
        return
    for name, scores in found.items():
        weighted = "" if split.weight is None else ", by weight in fits and in scores"
        found_scores = scores.document()
        title = f"{name}, {found_scores.title}{weighted}"
        print_document(replace(found_scores, title=title), ShownConsole())
