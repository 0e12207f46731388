"""Evaluations: calibration and ROC curves of held-out rows, and rates by group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.audits import Audit
from bayleaf.evaluation.comparison import Comparison
from bayleaf.evaluation.cross_validation import CrossValidation, HeldOut
from bayleaf.evaluation.groups import GroupedFigures, GroupFigures
from bayleaf.evaluation.groups.group_rates import RATES
from bayleaf.evaluation.metrics import (
    CALIBRATION_BINS,
    binned_by_confidence,
    expected_calibration_error,
    roc_areas,
)
from bayleaf.plot import style
from bayleaf.typing import ColumnLike, MappingLike, MatrixLike, NumbersLike
from bayleaf.wording import name_list, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Results = Comparison | CrossValidation | HeldOut
# Of one model, or of several by their names.
ProbabilitiesLike = (
    MatrixLike | NumbersLike | MappingLike[str, MatrixLike | NumbersLike]
)
# 95 per cent of a normal distribution lie within this many standard deviations.
_NORMAL_95 = 1.959963984540054
_SHOWN = ("base_rate", "selection_rate", "true_positive_rate", "false_positive_rate")
# Inches of a group, and of what stands above and below the groups.
_GROUP, _AROUND = 0.5, 1.3


def calibration(
    truth: Results | ColumnLike,
    proba: ProbabilitiesLike | None = None,
    *,
    classes: ColumnLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often predictions are right against how sure they are.

    Rows are put into 15 bins by the probability of their most probable class, as
    `expected_calibration_error` does. One model has points with 95 per cent intervals
    (Wilson 1927), and the share and number of rows in each bin as bars; of several
    models only the points are drawn, joined by lines.

    Parameters
    ----------
    truth : array-like of shape (n_rows,), Comparison, CrossValidation or HeldOut
        True classes, as indices or labels; or results with held-out predictions.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,), or mapping, optional
        Predicted probabilities; one column is that of the second of two classes. A
        mapping has them by the name of the model. Not given with results.
    classes : sequence, optional
        Labels of the columns of `proba`. By default integers are indices of columns,
        and other labels stand in increasing order.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        The expected calibration error is in the title, that of several models in the
        legend.

    Raises
    ------
    ValueError
        If truth and probabilities do not fit.

    References
    ----------
    Naeini, M. P., Cooper, G. F., Hauskrecht, M. (2015). Obtaining well calibrated
    probabilities using Bayesian binning. AAAI.
    """
    results = held_out_results(truth, proba, classes)
    ax = style.axes_for(ax, 4.2 + style.legend_width(len(results)), 3.6)
    n_classes = max(found.proba.shape[1] for _, found in results)
    # No most probable class is less probable than all alike; one class leaves one bin.
    first_bin = min(CALIBRATION_BINS // n_classes, CALIBRATION_BINS - 1)
    lowest = first_bin / CALIBRATION_BINS
    ax.plot([lowest, 1], [lowest, 1], color=style.FAINT, linestyle=":", zorder=1)
    if len(results) == 1:
        name, found = results[0]
        _one_calibration(ax, found)
        error = expected_calibration_error(found.truth, found.proba)
        head = f"{style.shortened(name)}: " if name else ""
        style.title(ax, f"{head}expected calibration error {error:.3f}")
    else:
        _several_calibrations(ax, results)
        style.title(ax, "calibration, with expected calibration errors")
    told = "\ngrey: share and number of rows" if len(results) == 1 else ""
    style.label_axes(
        ax, f"probability of the predicted class{told}", "share predicted right"
    )
    ax.set_xlim(lowest, 1.01)
    ax.set_ylim(0 if len(results) == 1 else None, 1.03)
    style.plain_frame(ax)
    return ax


def _one_calibration(ax: Axes, found: HeldOut) -> None:
    """Points with intervals above bars of the bins' shares of the rows."""
    bins = calibration_bins(found.truth, found.proba)
    left, counts, mean, right = bins.T
    shares = counts / counts.sum()
    ax.bar(
        left,
        shares,
        1 / CALIBRATION_BINS,
        align="edge",
        color="#D9D9D9",
        edgecolor=style.PAPER,
        zorder=0,
    )
    for start, share, count in zip(left, shares, counts, strict=True):
        style.write(
            ax,
            start + 0.5 / CALIBRATION_BINS,
            share + 0.01,
            f"{count:.0f}",
            ha="center",
            va="bottom",
            fontsize=style.FONT_SIZE - 2,
            color="#555555",
            rotation=90 if len(f"{counts.max():.0f}") > 3 else 0,
        )
    low, high = wilson_interval(right * counts, counts)
    ax.vlines(mean, low, high, color=style.FOR, linewidth=1, zorder=2)
    ax.plot(mean, right, "o", color=style.FOR, markersize=4, zorder=3)


def _several_calibrations(ax: Axes, results: list[tuple[str, HeldOut]]) -> None:
    """A line a model."""
    lines: list[Any] = []
    names: list[str] = []
    for number, (name, found) in enumerate(results):
        _, _, mean, right = calibration_bins(found.truth, found.proba).T
        lines += ax.plot(mean, right, markersize=4, **style.line_look(number))
        error = expected_calibration_error(found.truth, found.proba)
        names.append(f"{style.shortened(name)} ({error:.3f})")
    style.legend(ax, lines, names, loc="lower right")


def calibration_bins(truth: NDArray[np.intp], proba: Floats) -> Floats:
    """The occupied bins behind the expected calibration error, (n_occupied_bins, 4).

    `truth` (n_rows,), `proba` (n_rows, n_classes) -> lower end, number of rows, mean
    probability of the predicted class, and share of rows predicted right, per bin.
    """
    confidence, right, bins = binned_by_confidence(truth, proba)
    counts = np.bincount(bins, minlength=CALIBRATION_BINS)
    sums = [np.bincount(bins, w, CALIBRATION_BINS) for w in (confidence, right)]
    used = np.flatnonzero(counts)
    mean, share = (total[used] / counts[used] for total in sums)
    return np.column_stack([used / CALIBRATION_BINS, counts[used], mean, share])


def wilson_interval(hits: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """95 per cent intervals of shares (Wilson 1927), each of shape (n,)."""
    z = _NORMAL_95
    share = hits / counts
    scale = 1 + z**2 / counts
    centre = (share + z**2 / (2 * counts)) / scale
    half = z * np.sqrt(share * (1 - share) / counts + z**2 / (4 * counts**2)) / scale
    return centre - half, centre + half


def roc(
    truth: Results | ColumnLike,
    proba: ProbabilitiesLike | None = None,
    *,
    classes: ColumnLike | None = None,
    positive: Hashable = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of a class that is found against that of false alarms.

    Parameters
    ----------
    truth : array-like of shape (n_rows,), Comparison, CrossValidation or HeldOut
        True classes, as indices or labels; or results with held-out predictions.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,), or mapping, optional
        Predicted probabilities; one column is that of the second of two classes. A
        mapping has them by the name of the model. Not given with results.
    classes : sequence, optional
        Labels of the columns of `proba`, see `calibration`.
    positive : object, optional
        Label of the class to be found. By default the second of two classes; of more
        than two every class against all others.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        A curve a model and class, with the area below it in the legend.

    Raises
    ------
    ValueError
        If truth and probabilities do not fit, there is no such class, or all rows or
        none are of the class.
    """
    results = held_out_results(truth, proba, classes)
    labels = _labels(truth, classes, results[0][1])
    chosen = _positives(labels, positive, len(results))
    n_lines = len(results) * len(chosen)
    ax = style.axes_for(ax, 4.2 + style.legend_width(n_lines), 3.6)
    ax.plot([0, 1], [0, 1], color=style.FAINT, linestyle=":", zorder=1)
    lines: list[Any] = []
    names: list[str] = []
    for name, found in results:
        areas = roc_areas(found.truth, found.proba)
        for label in chosen:
            if math.isnan(areas[label]):
                continue
            alarms, found_share = roc_points(found.truth, found.proba, label)
            look = style.line_look(len(lines)) | {"marker": ""}
            lines += ax.plot(alarms, found_share, **look)
            told = [name] if len(results) > 1 else []
            told += [str(labels[label])] if len(chosen) > 1 else []
            head = f"{style.shortened(', '.join(told))}, " if told else ""
            names.append(f"{head}area {areas[label]:.3f}")
    if not lines:
        raise ValueError(
            "a ROC curve needs rows of the class and rows of another, but all rows or "
            "none are of it"
        )
    style.legend(ax, lines, names, loc="lower right")
    what = [style.shortened(labels[label]) for label in chosen]
    rest = [style.shortened(labels[i]) for i in range(len(labels)) if i not in chosen]
    style.title(
        ax,
        f"ROC of {what[0] if len(what) == 1 else 'each class'} against "
        f"{rest[0] if len(rest) == 1 else 'the rest'}",
    )
    style.label_axes(ax, "false positive rate", "true positive rate")
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    style.plain_frame(ax)
    return ax


def roc_points(
    truth: NDArray[np.intp], proba: Floats, label: int
) -> tuple[Floats, Floats]:
    """False and true positive rates from the strictest threshold to the loosest.

    Rows of one probability are one step, so that the area below the straight lines
    between the points counts ties half.
    """
    order = np.argsort(-proba[:, label], kind="stable")
    own = truth[order] == label
    last = np.append(np.diff(proba[order, label]) != 0, True)
    found = np.cumsum(own)[last]
    alarms = np.cumsum(~own)[last]
    return (
        np.append(0.0, alarms / max(alarms[-1], 1)),
        np.append(0.0, found / max(found[-1], 1)),
    )


def held_out_results(truth: Any, proba: Any, classes: Any) -> list[tuple[str, HeldOut]]:
    """Held-out predictions by the name of their model; arrays have no name.

    ValueError if truth and probabilities do not fit.
    """
    if isinstance(truth, Comparison | CrossValidation | HeldOut):
        if proba is not None:
            raise ValueError(
                "results hold their own probabilities; give either results or truth "
                "and proba"
            )
        if isinstance(truth, HeldOut):
            return [("", truth)]
        found = truth.results if isinstance(truth, Comparison) else (truth,)
        return [(result.name, result.held_out) for result in found]
    if proba is None:
        raise ValueError("proba is missing: the predicted probabilities of the rows")
    by_name = proba if isinstance(proba, Mapping) else {"": proba}
    if not by_name:
        raise ValueError("proba names no model; give the probabilities of at least one")
    return [
        (str(name), _held_out(np.asarray(truth), table, classes))
        for name, table in by_name.items()
    ]


def _held_out(truth: NDArray[Any], proba: Any, classes: Any) -> HeldOut:
    """Predictions once they are probabilities of the rows' classes."""
    table = np.asarray(proba, dtype=np.float64)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    codes = _class_indices(truth, table, classes)
    wrong = ~((table >= 0) & (table <= 1)).all(axis=1)
    wrong |= ~(np.abs(table.sum(axis=1) - 1) < 1e-4)
    if wrong.any():
        raise ValueError(
            f"row {int(np.flatnonzero(wrong)[0])} of proba holds no probabilities that "
            "sum to 1"
        )
    return HeldOut(np.arange(len(codes)), codes, table)


def _class_indices(
    truth: NDArray[Any], table: Floats, classes: Any
) -> NDArray[np.intp]:
    """True classes as columns of the table of probabilities."""
    if table.ndim != 2 or truth.shape != (len(table),) or not len(truth):
        raise ValueError(
            f"truth and proba must hold one row each for the same rows, at least one, "
            f"but have the shapes {truth.shape} and {table.shape}"
        )
    n_classes = table.shape[1]
    if classes is None:
        classes = range(n_classes) if truth.dtype.kind in "iub" else np.unique(truth)
    labels = list(classes)
    if len(labels) != n_classes:
        raise ValueError(
            f"proba has {n_classes} columns, but there are {len(labels)} classes; name "
            "the class of every column in classes"
        )
    position = {label: code for code, label in enumerate(labels)}
    strange = [label for label in truth.tolist() if label not in position]
    if strange:
        raise ValueError(
            f"truth holds {quoted(strange[0])}, which is none of the classes of proba; "
            "name the class of every column in classes"
        )
    return np.array([position[label] for label in truth.tolist()], dtype=np.intp)


def _labels(truth: Any, classes: Any, found: HeldOut) -> list[Any]:
    """Labels of the classes; "class 0" and so on if they are not known."""
    if classes is not None:
        return list(classes)
    if isinstance(truth, Comparison):
        return list(truth.classes)
    if not isinstance(truth, CrossValidation | HeldOut):
        values = np.asarray(truth)
        if values.dtype.kind not in "iub":
            return list(np.unique(values).tolist())
    return [f"class {index}" for index in range(found.proba.shape[1])]


def _positives(labels: list[Any], positive: Any, n_models: int) -> list[int]:
    """Indices of the classes whose curves are drawn."""
    if positive is not None:
        if positive not in labels:
            raise ValueError(
                f"positive must be one of the classes {name_list(labels)}, got "
                f"{quoted(positive)}"
            )
        return [labels.index(positive)]
    if len(labels) == 2:
        return [1]
    if n_models > 1:
        raise ValueError(
            f"curves of {n_models} models and {len(labels)} classes are too many for "
            "one picture; choose a class by positive="
        )
    return list(range(len(labels)))


def group_rates(
    figures: GroupedFigures | Audit,
    *,
    rates: Sequence[str] = _SHOWN,
    positive: str | None = None,
    columns: Sequence[str] | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rates of a class by group, each with its credible interval.

    Parameters
    ----------
    figures : GroupedFigures or Audit
        Figures by group.
    rates : sequence of str, optional
        Any of ``base_rate``, ``selection_rate``, ``true_positive_rate``,
        ``false_positive_rate``, ``positive_predictive_value`` and
        ``negative_predictive_value``; the first four by default.
    positive : str, optional
        The class, by default the first whose rates are known.
    columns : str or sequence of str, optional
        Of an audit, the columns that make the groups; by default the first one.
    ax : Axes, optional
        Where to draw; by default on a new figure that pyplot does not manage.

    Returns
    -------
    Axes
        Groups from top to bottom; the number of rows stands behind a group's name.

    Raises
    ------
    ValueError
        If there is no such rate, class or grouping, or no group is shown.
    """
    grouping = _grouping(figures, columns)
    strange = [rate for rate in rates if rate not in RATES]
    if strange or not rates:
        raise ValueError(
            f"rates must be some of {name_list(list(RATES), limit=6)}, got "
            f"{quoted(strange[0] if strange else rates)}"
        )
    if not grouping.groups:
        raise ValueError("there is no group to draw: all have too few rows")
    place, label = _class(grouping.groups[0], positive)
    n_groups = len(grouping.groups)
    ax = style.axes_for(ax, 5.2, _AROUND + _GROUP * n_groups)
    lines = []
    for number, rate in enumerate(rates):
        offset = (number - (len(rates) - 1) / 2) * 0.7 / len(rates)
        lines.append(_draw(ax, grouping.groups, place, rate, number, offset))
    names = [
        f"{style.shortened(group.name)} ({group.n_rows})" for group in grouping.groups
    ]
    style.name_ticks(ax, "y", names)
    ax.set_ylim(n_groups - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    told = [rate.replace("_", " ") for rate in rates]
    # Below the axes, where it hides no interval.
    below = -0.42 / (_GROUP * n_groups)
    style.legend(
        ax, lines, told, loc="upper center", bbox_to_anchor=(0.5, below), ncols=2
    )
    style.label_axes(ax, "share of rows")
    style.title(ax, f"{label} by {', '.join(grouping.columns)}")
    style.plain_frame(ax)
    ax.grid(axis="x", color=style.FAINT, linewidth=0.4, alpha=0.5)
    return ax


def _draw(
    ax: Axes,
    groups: Sequence[GroupFigures],
    place: int,
    rate: str,
    number: int,
    offset: float,
) -> Any:
    """Points of one rate with their intervals; what the legend points at."""
    look = style.line_look(number)
    found = [getattr(group.classes[place], rate) for group in groups]
    known = [
        (at + offset, own) for at, own in enumerate(found) if own.value is not None
    ]
    for at, own in known:
        ax.hlines(at, own.low, own.high, color=look["color"], linewidth=1.2, zorder=2)
    (line,) = ax.plot(
        [own.value for _, own in known],
        [at for at, _ in known],
        **(look | {"linestyle": ""}),
        markersize=4.5,
        zorder=3,
    )
    return line


def _grouping(
    figures: GroupedFigures | Audit, columns: Sequence[str] | str | None
) -> GroupedFigures:
    """The groups that are drawn."""
    if isinstance(figures, GroupedFigures):
        return figures
    if columns is None:
        return figures.groupings[0]
    wanted = {columns} if isinstance(columns, str) else set(columns)
    for grouping in figures.groupings:
        if set(grouping.columns) == wanted:
            return grouping
    known = [" and ".join(one.columns) for one in figures.groupings]
    raise ValueError(
        f"the audit has no groups by {name_list(sorted(wanted))}; it has groups by "
        f"{name_list(known)}"
    )


def _class(group: GroupFigures, positive: str | None) -> tuple[int, str]:
    """Which class is drawn."""
    labels = [rates.label for rates in group.classes]
    if positive is None:
        return 0, labels[0]
    if str(positive) not in labels:
        raise ValueError(
            f"positive must be a class whose rates are known, {name_list(labels)}, got "
            f"{quoted(positive)}"
        )
    return labels.index(str(positive)), str(positive)
