"""A comparison as text: tables for the terminal, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayleaf.evaluation.held_out import CrossValidation
from bayleaf.evaluation.operating_points import class_names
from bayleaf.io.atomic import write_text
from bayleaf.results.html import picture_html, table_html
from bayleaf.wording import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bayleaf.evaluation.compared_scores import ComparedScores
    from bayleaf.evaluation.operating_points import OperatingPoint

TERMINAL_WIDTH = 80
# Box-drawing characters would make a program's print fail where the encoding lacks
# them, as that of files and pipes on Windows does.
HEAD_RULE = box.Box("    \n    \n -- \n" + 5 * "    \n", ascii=True)


class _Column(NamedTuple):
    """How a score is shown."""

    score: str
    heading: str
    factor: float = 1.0
    digits: int = 3


_ACCURACY = _Column("accuracy", "accuracy %", 100.0, 1)
_BALANCED = _Column("balanced_accuracy", "balanced", 100.0, 1)
_LOG_LOSS = _Column("log_loss", "log-loss")
_BRIER = _Column("brier", "Brier")
_AUC = _Column("roc_auc", "AUC")
_COST = _Column("cost", "cost/row")
# Figures that have no spread, in the order of `_figures`.
_FIGURES = ("calib.", "clipped", "params", "arcs", "fit s", "pred. s")


def _columns(comparison: ComparedScores) -> tuple[list[_Column], list[_Column]]:
    """Scores of the first table and those of the second, the spread left out there."""
    first = [_ACCURACY, _LOG_LOSS, _BRIER, _AUC]
    second = [_BALANCED]
    if comparison.loss is not None:
        first, second = [_ACCURACY, _LOG_LOSS, _BRIER, _COST], [*second, _AUC]
    present = comparison.scores
    return (
        [column for column in first if column.score in present],
        [column for column in second if column.score in present],
    )


def title_of(comparison: ComparedScores) -> str:
    """How rows were dealt, with the seed."""
    times = f"{comparison.n_repeats} x " if comparison.n_repeats > 1 else ""
    return (
        f"{comparison.n_rows} rows, {times}{comparison.n_folds}-fold cross-validation, "
        f"seed {comparison.random_state}"
    )


def terminal_tables(
    comparison: ComparedScores, title: str | None = None
) -> list[Table]:
    """The scores with their spread and marks, then further figures.

    By default, the title is how rows were dealt.
    """
    spread, plain = _columns(comparison)
    scores = _table(title or title_of(comparison))
    for column in spread:
        scores.add_column(column.heading, justify="right", no_wrap=True)
    further = _table(None)
    for heading in (*(column.heading for column in plain), *_FIGURES):
        further.add_column(heading, justify="right", no_wrap=True)
    for result in comparison.results:
        # As text, since brackets in a plain string would be taken for markup.
        name = Text(result.name)
        scores.add_row(
            name, *(_marked(comparison, result, column) for column in spread)
        )
        further.add_row(
            name,
            *(_number(result.mean(column.score), column) for column in plain),
            *_figures(result),
        )
    return [scores, further]


def _table(title: str | None) -> Table:
    """An empty table whose first column holds the models' names."""
    table = _bare_table(title)
    table.add_column("model", overflow="fold", min_width=12)
    return table


def _bare_table(title: str | None) -> Table:
    """A table without columns and with a line below its head only."""
    return Table(
        title=None if title is None else Text(title, style="table.title"),
        title_justify="left",
        box=HEAD_RULE,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )


def _marked(
    comparison: ComparedScores, result: CrossValidation, column: _Column
) -> str:
    """Mean, spread and mark of a score; one model alone needs no mark."""
    text = _with_spread(result, column)
    if len(comparison.results) == 1:
        return text
    return f"{text} {comparison.mark(column.score, result.name)}"


def _with_spread(result: CrossValidation, column: _Column) -> str:
    """Mean and standard deviation over the folds."""
    mean, sd = result.mean(column.score), result.sd(column.score)
    return f"{_number(mean, column)} ± {_number(sd, column)}"


def _number(value: float, column: _Column) -> str:
    """A score in the unit of its column; large ones with fewer digits, as wide."""
    shown = column.factor * value
    wider = sum(abs(shown) >= limit for limit in (10, 100, 1000))
    digits = column.digits if column.factor != 1 else max(0, column.digits - wider)
    return f"{shown:.{digits}f}"


def _figures(result: CrossValidation) -> list[str]:
    """What a model has no spread of; a hyphen for what it does not count."""
    counts = (result.n_parameters, result.n_arcs)
    return [
        f"{result.pooled_calibration_error:.3f}",
        str(result.n_clipped),
        *("-" if count is None else f"{count:.0f}" for count in counts),
        _seconds(result.fit_seconds),
        _seconds(result.predict_seconds),
    ]


def _seconds(value: float) -> str:
    """A time with as many digits as it can be relied on."""
    return f"{value:.3f}" if value < 10 else f"{value:.0f}"


def legend(comparison: ComparedScores) -> list[str]:
    """What the marks mean, and what the means leave out."""
    lines = []
    if len(comparison.results) > 1:
        best = comparison.baseline == "best"
        reference = "the best of the column" if best else comparison.baseline
        other = "- worse" if best else "+ better, - worse"
        lines = [
            f"* {reference}; = not significantly different from it; {other} "
            "(paired t-test over folds, Nadeau & Bengio's correction, p < .05)",
        ]
    n_folds = len(comparison.results[0].folds)
    without = comparison.results[0].n_folds_without_auc
    if without:
        lines.append(
            f"AUC: {without} of {n_folds} folds hold all or none of the rows of some "
            "class; their mean leaves that class out"
        )
    if comparison.loss is not None:
        lines.append("cost/row: mean cost of predicting for least expected cost")
    if comparison.threshold is not None:
        second = visible(class_names(comparison.classes)[1])
        lines.append(
            f"the loss says: predict {second} where its probability is above "
            f"{comparison.threshold:.3f}"
        )
    return lines


def plain_text(comparison: ComparedScores, width: int = TERMINAL_WIDTH) -> str:
    """Tables and legend as lines of plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_tables(comparison, console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def print_tables(
    comparison: ComparedScores, console: Console, title: str | None = None
) -> None:
    """Print tables and legend."""
    for table in terminal_tables(comparison, title):
        console.print(table)
        console.print()
    for line in legend(comparison):
        console.print(line, markup=False, highlight=False)


def points_table(
    points: Sequence[OperatingPoint], title: str, implied: float | None = None
) -> Table:
    """What thresholds between two classes lead to, with a mark at `implied`.

    That is the threshold of the loss.
    """
    table = _bare_table(title)
    headings = ["threshold", "sensitivity", "specificity", "precision", "predicted"]
    for heading in [*headings, *([] if implied is None else ["cost/row"])]:
        table.add_column(heading, justify="right", no_wrap=True)
    for point in points:
        mark = " <" if point.threshold == implied else "  "
        table.add_row(
            f"{point.threshold:.3f}{mark}",
            f"{point.sensitivity:.3f}",
            f"{point.specificity:.3f}",
            "-" if point.precision is None else f"{point.precision:.3f}",
            str(point.n_positive),
            *([] if point.cost is None else [f"{point.cost:.3f}"]),
        )
    if implied is not None:
        table.caption = "< the threshold that the loss implies"
        table.caption_justify = "left"
    return table


def html(comparison: ComparedScores) -> str:
    """All scores with their spread and marks as a table for notebooks."""
    columns = [column for group in _columns(comparison) for column in group]
    rows = [
        (
            result.name,
            *(_marked(comparison, result, column) for column in columns),
            *_figures(result),
        )
        for result in comparison.results
    ]
    heads = ["model", *(column.heading for column in columns), *_FIGURES]
    notes = "".join(f"<p>{escape(line)}</p>" for line in legend(comparison))
    return picture_html(table_html(title_of(comparison), heads, rows), notes)


def markdown(comparison: ComparedScores) -> str:
    """All scores with their spread and marks as a Markdown table, and the legend."""
    spread, further = _columns(comparison)
    columns = [*spread, *further]
    headings = [
        "model",
        *(column.heading for column in columns),
        *_FIGURES,
    ]
    lines = [
        f"{title_of(comparison)}\n",
        f"| {' | '.join(headings)} |",
        f"| --- |{' ---: |' * (len(headings) - 1)}",
    ]
    for result in comparison.results:
        cells = [
            result.name.replace("|", "\\|"),
            *(
                _marked(comparison, result, column).replace("*", "\\*")
                for column in columns
            ),
            *_figures(result),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    notes = [line.replace("*", "\\*") for line in legend(comparison)]
    return "\n".join([*lines, *(f"\n{note}" for note in notes)]) + "\n"


def flat_rows(comparison: ComparedScores) -> list[dict[str, Any]]:
    """One row a model: mean, sd and p-value against the reference of every score."""
    rows = []
    for result in comparison.results:
        row: dict[str, Any] = {"model": result.name}
        for score in comparison.scores:
            reference = comparison.reference(score)
            row[score] = result.mean(score)
            row[f"{score}_sd"] = result.sd(score)
            test = comparison.test(score, result.name, reference)
            row[f"{score}_p"] = test.p_value
        row["pooled_calibration_error"] = result.pooled_calibration_error
        row |= {
            "n_folds": len(result.folds),
            "n_folds_without_auc": result.n_folds_without_auc,
            "n_clipped": result.n_clipped,
            "n_parameters": result.n_parameters,
            "n_arcs": result.n_arcs,
            "fit_seconds": result.fit_seconds,
            "predict_seconds": result.predict_seconds,
            "seed": comparison.random_state,
        }
        rows.append(row)
    return rows


def csv_text(comparison: ComparedScores, path: str | Path | None = None) -> str:
    """The flat rows as CSV, written to a file if one is named."""
    rows = flat_rows(comparison)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    text = stream.getvalue()
    if path is not None:
        write_text(path, text)
    return text
