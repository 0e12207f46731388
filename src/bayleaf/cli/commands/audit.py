"""``bayleaf audit``: predictions by group, and how groups reach them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayleaf.cli.display import draw, progress, report_written, show
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Loss,
    OptionalOutput,
    Strings,
    Table,
)
from bayleaf.wording import quoted, split_names


def audit(
    model: Path,
    data: Table,
    *,
    by: Strings,
    target: str | None = None,
    bins: Strings = (),
    positive: str | None = None,
    reference: Strings = (),
    loss: Loss = None,
    folds: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    min_count: int = 1,
    output: OptionalOutput = None,
    picture: Path | None = None,
    form: FormatOptions = USUAL_FORMAT,
    json: Flag = False,
) -> int:
    """Compare a classifier's predictions for groups of rows.

    Base rates, selection rates, error rates, predictive values, scores and calibration
    with credible intervals, differences to a reference group, what the model itself
    holds of each group, and the paths by which a group reaches the prediction.

    Example: `bayleaf audit adult.json adult.csv --by sex,race --folds 5`

    Parameters
    ----------
    model
        Model file of a classifier.
    by
        Columns that make groups, with commas between them; may be repeated. They need
        not be features.
    target
        Column with the classes; the one of training by default.
    bins
        Cut points of a column of numbers, as age=30,50, instead of the model's; may be
        repeated.
    positive
        The class whose rates are shown; by default the second of two, or each.
    reference
        The group that others are compared with, as sex=male; that of most rows by
        default. May be repeated.
    folds
        Score fresh models of the same settings on this many held-out folds; without
        it the model itself is scored, which flatters it on training rows.
    seed
        Seed that deals the folds.
    level
        Probability of the intervals.
    min_count
        Withhold smaller numbers of rows, what they would follow from, and smaller
        groups.
    output
        HTML file to write beside what is printed.
    picture
        PNG, SVG or PDF file to draw the rates of the first column's groups into.
    json
        Print all figures as JSON.
    """
    from bayleaf.cli.table_reading import known_table
    from bayleaf.evaluation.audits import audit as audited
    from bayleaf.evaluation.operating_points import read_loss
    from bayleaf.io.atomic import check_writable
    from bayleaf.loading import load_estimator

    for path in (output, picture):
        if path is not None:
            check_writable(path)
    costs = None if loss is None else read_loss(loss)
    fitted: Any = load_estimator(model, "classifier")
    domain = fitted.model_.domain
    labels = target or str(domain[-1].name)
    table = known_table(data, form, domain, fitted.encoder_, labels)
    names = table.schema.names
    with progress():
        found = audited(
            fitted,
            table,
            target,
            by=split_names(by, names),
            bins={name: _numbers(name, text) for name, text in _pairs("bins", bins)},
            positive=positive,
            reference=dict(_pairs("reference", reference)),
            loss=costs,
            n_folds=folds,
            random_state=seed,
            level=level,
            min_count=min_count,
        )
    if output is not None:
        found.to_html(output)
        report_written(output)
    if picture is not None:
        from bayleaf.plot import group_rates

        draw(group_rates(found), picture)
    show(found, as_json=json)
    return 0


def _pairs(option: str, given: Sequence[str]) -> list[tuple[str, str]]:
    """Columns and what is said of them."""
    for text in given:
        if "=" not in text:
            raise ValueError(
                f"--{option} takes a column, = and a value, as in sex=male, got "
                f"{quoted(text)}"
            )
    return [
        (name, value) for name, _, value in (text.rpartition("=") for text in given)
    ]


def _numbers(name: str, text: str) -> list[float]:
    """Cut points of a column."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"the bins of {quoted(name)} must be numbers with commas between them, got "
            f"{quoted(text)}"
        ) from None
