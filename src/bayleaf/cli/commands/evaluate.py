"""``bayleaf evaluate``: cross-validated scores, model by model."""

from __future__ import annotations

from typing import Any

from bayleaf.cli.commands.compare import (
    FoldOptions,
    compare_models,
    is_regressor,
    points_of,
    positive_place,
    print_comparison,
    print_points,
    show_regressors,
)
from bayleaf.cli.display import print_json
from bayleaf.cli.model_options import EVALUATED, ModelOptions, Models, model_names
from bayleaf.cli.options import USUAL_FORMAT, Flag, FormatOptions, Table


def evaluate(
    data: Table,
    *,
    target: str,
    model: Models = EVALUATED,
    loss: str | None = None,
    positive: str | None = None,
    split: FoldOptions | None = None,
    form: FormatOptions = USUAL_FORMAT,
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
    if is_regressor(names, {"--loss": loss, "--positive": positive}, split):
        show_regressors([data], [target], split, options, form, as_json=json)
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
    values: list[dict[str, Any]] = []
    for result in found.results:
        others = {"seed": found.random_state, "weight": split.weight}
        values.append(result.to_dict() | others | empty.to_dict())
        if place is not None:
            points = [point.to_dict() for point in points_of(found, result, place)]
            values[-1] |= {"positive": found.classes[place], "thresholds": points}
    print_json(values)
    return 0
