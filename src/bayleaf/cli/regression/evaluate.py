"""``bayleaf evaluate`` with a numeric target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayleaf.cli.file_format import FileFormat


def evaluate_regressors(
    estimators: dict[str, Any],
    data: str,
    target: str,
    dealing: tuple[int, int, int],
    *,
    drop: Sequence[str],
    form: FileFormat | None,
    groups: str | None,
    as_json: bool,
) -> None:
    """Cross-validate regressors on a file and print their scores.

    `dealing` is the numbers of folds and repeats, and the seed; rows of one value in
    the column `groups` share a fold.
    """
    from bayleaf.classifiers.shared.parameters import numbers_of
    from bayleaf.cli.showing.found import print_json
    from bayleaf.cli.showing.progress import progress
    from bayleaf.cli.training import training_table
    from bayleaf.evaluation.regression import cross_validate_regressors

    n_folds, n_repeats, seed = dealing
    table = training_table(data, target, drop=drop, form=form, aside=groups)
    numbers = numbers_of(f"the target column {target}", table.target.to_numpy())
    with progress():
        found = cross_validate_regressors(
            estimators,
            table.features,
            numbers,
            n_folds=n_folds,
            n_repeats=n_repeats,
            random_state=seed,
            groups=None if table.aside is None else table.aside.to_pylist(),
        )
    if as_json:
        print_json(
            [{"model": n, **s.to_dict(), "seed": seed} for n, s in found.items()]
        )
        return
    for name, scores in found.items():
        print(f"{name}, {scores.n_rows:,} held-out rows")
        for fact, value in (
            ("RMSE", f"{scores.rmse:.5g}"),
            ("MAE", f"{scores.mae:.5g}"),
            ("R2", f"{scores.r2:.4f}"),
            ("CRPS", f"{scores.crps:.5g}"),
            ("pinball loss", f"{scores.pinball:.5g}"),
            ("90 % interval", f"holds {scores.coverage:.1%}, {scores.width:.5g} wide"),
        ):
            print(f"  {fact:<14} {value}")
