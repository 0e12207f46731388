"""The part of a model card on how good the model is."""

from __future__ import annotations

from typing import Any

from bayleaf.report.wording import NUMBER_TITLES, SCORE_TITLES, number, percent
from bayleaf.results.document import (
    Document,
    Name,
    Table,
    Text,
)

Values = dict[str, Any]

_OF_DENSITIES = {"nats_per_row": "log-likelihood (nats a row)"}
_SHARES = ("accuracy", "balanced_accuracy", "coverage", "r2")


def figures_part(summary: Values) -> Document:
    """Held-out figures with their intervals, and how they were measured."""
    quality = summary["quality"]
    if quality["basis"] == "none":
        # The reason may name values of the table.
        return Document("Figures", [Name(quality["basis_told"], 300)])
    scores, titles = _scores(summary)
    intervals, without = quality["intervals"], quality.get("baseline") or {}
    rows: list[tuple[Text, ...]] = []
    for name, title in titles.items():
        if scores.get(name) is None:
            continue
        cells = [_figure(name, scores[name]), _interval(name, intervals.get(name))]
        cells.append(_figure(name, without[name]) if name in without else "")
        rows.append((title, *cells))
    heads = ("figure", "value", "95 % interval", "without any feature")
    about = "about " * _rounded(summary)
    caption = f"Figures on {about}{quality['n_rows']} held-out rows"
    told = [quality["basis_told"], *_told(intervals, quality.get("folds"))]
    return Document("Figures", [Table(heads, rows, caption), *told])


def _rounded(summary: Values) -> bool:
    """Whether numbers of rows are rounded."""
    return bool(summary["privacy"]["min_count"] > 1)


def _scores(summary: Values) -> tuple[Values, dict[str, str]]:
    """Scores by name, and what they are called."""
    quality = summary["quality"]
    if summary["kind"] == "density":
        return quality, _OF_DENSITIES
    titles = SCORE_TITLES if summary["kind"] == "classifier" else NUMBER_TITLES
    return quality["scores"], titles


def _told(intervals: Values, folds: Values | None) -> list[Text]:
    """How intervals were computed, and how figures vary over folds."""
    told: list[Text] = []
    if intervals:
        told.append(
            "Intervals are of 95 %: of shares by Jeffreys' prior, of means over "
            "rows by Student's distribution. They are for the choice of held-out "
            "rows, not for that of training rows."
        )
    if folds:
        accuracy, loss = folds["accuracy"], folds["log_loss"]
        told.append(
            f"Over {folds['n_folds']} folds, the accuracy has a standard deviation "
            f"of {percent(accuracy['sd'])}, the log-loss of {number(loss['sd'])}."
        )
    return told


def _figure(name: str, value: float) -> str:
    """A figure as it is written."""
    if name in _SHARES:
        return percent(value)
    return f"{value:.5g}" if name in NUMBER_TITLES else number(value)


def _interval(name: str, ends: list[float] | None) -> str:
    """An interval as it is written; nothing where there is none."""
    if ends is None:
        return ""
    low, high = (_figure(name, end) for end in ends)
    return f"{low} to {high}"
