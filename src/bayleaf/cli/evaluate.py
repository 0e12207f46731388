"""``bayleaf evaluate``: cross-validated accuracy and log-loss."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from bayleaf.cli.options import MODELS, ModelOptions, Source, Strings, print_json


def evaluate(
    data: Source,
    *,
    target: str,
    model: Strings = MODELS,
    folds: int = 10,
    repeats: int = 1,
    drop: Strings = (),
    na: Strings = (),
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
        nb, tan, kdb, aode or auto; may be repeated. All of them by default.
    folds
        Number of folds.
    repeats
        How often rows are shuffled and dealt into folds anew.
    drop
        Column to leave out; may be repeated.
    na
        Cell that counts as empty, such as ?; may be repeated.
    json
        Print the figures as JSON.
    """
    from bayleaf.cli.progress import progress
    from bayleaf.cli.training import training_table
    from bayleaf.evaluation.cross_validation import comparison_table, cross_validate

    options = options or ModelOptions()
    estimators = {
        name: options.build(name, shared_only=len(model) > 1) for name in model
    }
    table = training_table(data, target, drop=drop, missing_values=na)
    with progress() as tell:
        results = cross_validate(
            estimators,
            table.features,
            table.target,
            n_folds=folds,
            n_repeats=repeats,
            random_state=options.seed,
            tell=tell,
        )
    if json:
        print_json([result.to_dict() for result in results])
    else:
        from rich.console import Console

        times = f"repeated {repeats} times, " if repeats > 1 else ""
        title = f"{folds}-fold cross-validation, {times}seed {options.seed}"
        Console().print(comparison_table(results, title))
    return 0
