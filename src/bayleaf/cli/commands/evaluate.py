"""``bayleaf evaluate``: cross-validated scores, model by model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayleaf.cli.commands.compare import (
    compare_models,
    points_of,
    positive_place,
    print_comparison,
    print_points,
)
from bayleaf.cli.file_format import FileFormat
from bayleaf.cli.options import EVALUATED, REGRESSOR, ModelOptions, Source, Strings
from bayleaf.cli.showing.found import print_json
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.evaluation.comparison import Comparison
    from bayleaf.evaluation.held_out import CrossValidation


def evaluate(
    data: Source,
    *,
    target: str,
    model: Strings = EVALUATED,
    loss: str | None = None,
    positive: str | None = None,
    folds: int = 10,
    repeats: int = 1,
    groups: str | None = None,
    time: str | None = None,
    drop: Strings = (),
    form: FileFormat | None = None,
    options: ModelOptions | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Estimate accuracy and log-loss by stratified, shuffled cross-validation.

    Example: `bayleaf evaluate heart.csv --target disease --model nb --model tan`

    Parameters
    ----------
    data
        CSV or Parquet file; - for CSV on standard input.
    target
        Column to predict.
    model
        nb, tan, kdb, hnb, aode, a2de, auto, mixture, latent_class or network; may
        be repeated. All but a2de by default. regressor, alone, for a numeric target:
        RMSE, CRPS, pinball loss and coverage, folds not stratified.
    loss
        CSV file of costs, class names as header row and first column; rows are
        predicted, columns true classes. Adds the expected cost a row and, for two
        classes, a table of thresholds.
    positive
        Of two classes, the one that thresholds are for, by default the second; adds
        the table of thresholds.
    folds
        Number of folds.
    repeats
        How often rows are shuffled and dealt into folds anew.
    groups
        Column whose rows of one value, as those of one patient, share a fold; it is no
        feature then.
    time
        Column in whose order rows came: each fold is scored after all rows that were
        learned from; it is no feature then.
    drop
        Column to leave out; may be repeated.
    json
        Print the figures as JSON.
    """
    from bayleaf.cli.regression.evaluate import evaluate_regressors
    from bayleaf.cli.regression.fitted import refuse_options

    options = options or ModelOptions()
    for name in model:
        if model.count(name) > 1:
            raise ValueError(
                f"--model names {quoted(name)} twice; name each model once"
            )
    if REGRESSOR in model:
        if len(model) > 1:
            raise ValueError(
                "--model regressor predicts numbers, which classifiers do not; "
                "evaluate it alone"
            )
        refuse_options({"--loss": loss, "--positive": positive, "--time": time})
        evaluate_regressors(
            options.build_all(model),
            data,
            target,
            (folds, repeats, options.seed),
            drop=drop,
            form=form,
            groups=groups,
            as_json=json,
        )
        return 0
    found = compare_models(
        options.build_all(model),
        data,
        target,
        (folds, repeats, options.seed),
        loss=loss,
        drop=drop,
        form=form,
        groups=groups,
        time=time,
        positive=positive,
    )
    place = _positive_place(found, positive)
    if json:
        print_json([_as_dict(found, result, place) for result in found.results])
        return 0
    print_comparison(found, data, target)
    if place is not None:
        for result in found.results:
            print_points(found, result, place)
    return 0


def _positive_place(found: Comparison, positive: str | None) -> int | None:
    """Which class thresholds are for; None where no thresholds are shown."""
    if positive is None:
        return 1 if found.loss is not None and len(found.classes) == 2 else None
    return positive_place(found.classes, positive)


def _as_dict(
    found: Comparison, result: CrossValidation, positive: int | None
) -> dict[str, Any]:
    """One model's figures as plain values, with the thresholds if there are any."""
    figures = {**result.to_dict(), "seed": found.random_state}
    if positive is None:
        return figures
    points = points_of(found, result, positive)
    return figures | {
        "positive": found.classes[positive],
        "thresholds": [point.to_dict() for point in points],
    }
