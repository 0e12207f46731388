"""What predictions cost, and where to put the threshold between two classes."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.statistics import Floats
from bayleaf.results.document import Document, Name, Table
from bayleaf.results.result import Record, Shown
from bayleaf.results.result_lists import ResultList
from bayleaf.wording import brief_fields, format_number, name_list, quoted

# Thresholds that a table shows beside the one that the costs imply.
USUAL_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class LossMatrix(Shown):
    """What each prediction costs where each class is true.

    Parameters
    ----------
    classes : tuple of str
        Names of the classes, in the order of rows and columns.
    costs : ndarray of shape (n_classes, n_classes)
        Rows are predicted, columns true classes; 0 on the diagonal.
    """

    classes: tuple[str, ...]
    costs: Floats

    __repr__ = brief_fields

    def document(self) -> Document:
        """The costs as a table."""
        rows: list[list[str | Name]] = [
            [Name(predicted), *map(format_number, row)]
            for predicted, row in zip(self.classes, self.costs.tolist(), strict=True)
        ]
        title = "Cost of each prediction where a class is true"
        return Document("", [Table(("predicted", *self.classes), rows, title)])

    def for_classes(self, classes: NDArray[Any]) -> Floats:
        """The costs in the order of a target's classes.

        Raises
        ------
        ValueError
            If the matrix lacks one of the classes or has another.
        """
        names = class_names(classes.tolist())
        own = self.classes
        if classes.dtype == np.bool_:
            own = tuple(name.lower() for name in own)
        if sorted(names) != sorted(own):
            raise ValueError(
                f"the loss matrix has the classes {name_list(self.classes)}, but the "
                f"target has {name_list(names)}; give it one row and one column for "
                "each class of the target"
            )
        order = [own.index(name) for name in names]
        return self.costs[np.ix_(order, order)]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Cost by predicted, then true class."""
        return {
            predicted: dict(zip(self.classes, row, strict=True))
            for predicted, row in zip(self.classes, self.costs.tolist(), strict=True)
        }


def class_names(classes: Sequence[Any]) -> list[str]:
    """Class labels as a person writes them in a file; booleans as true and false."""
    return [
        str(label).lower() if isinstance(label, bool) else str(label)
        for label in classes
    ]


def read_loss(path: str | Path) -> LossMatrix:
    """Read a loss matrix from a small CSV file.

    The header row holds an empty (or any) cell and the true classes; every other row
    a predicted class and its costs.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no square matrix of costs: one sentence with the cell.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            rows = [[cell.strip() for cell in row] for row in csv.reader(stream)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no CSV file of UTF-8 text: {error}") from error
    rows = [row for row in rows if any(row)]
    columns = _checked_names(path, rows)
    named = {row[0]: row[1:] for row in rows[1:]}
    costs = np.array(
        [
            [
                _cost(path, predicted, true, cell)
                for true, cell in zip(columns, named[predicted], strict=True)
            ]
            for predicted in columns
        ]
    )
    if not costs.any():
        raise ValueError(f"{path} has only zeros; give wrong predictions a cost")
    return LossMatrix(columns, costs)


def _checked_names(path: str | Path, rows: list[list[str]]) -> tuple[str, ...]:
    """Classes of a loss file, once rows and columns are the same ones."""
    if len(rows) < 3 or len(rows[0]) < 3:
        raise ValueError(
            f"{path} holds no loss matrix; give it a header row and a first column "
            "with the names of two or more classes, and commas between its cells"
        )
    columns = tuple(rows[0][1:])
    predicted = [row[0] for row in rows[1:]]
    for names, where in ((columns, "header row"), (predicted, "first column")):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"the {where} of {path} repeats {name_list(twice)}; name each class "
                "once"
            )
    if sorted(columns) != sorted(predicted):
        raise ValueError(
            f"the header row of {path} names {name_list(columns)}, but its first "
            f"column names {name_list(predicted)}; both must name every class"
        )
    ragged = [row for row in rows if len(row) != len(rows[0])]
    if ragged:
        raise ValueError(
            f"the row of {quoted(ragged[0][0])} in {path} has {len(ragged[0]) - 1} "
            f"costs, but there are {len(columns)} classes"
        )
    return columns


def _cost(path: str | Path, predicted: str, true: str, cell: str) -> float:
    """One cell of a loss file as a number."""
    where = (
        f"the cost of predicting {quoted(predicted)} where {quoted(true)} is true in "
        f"{path}"
    )
    try:
        # Python's own notation 1_0 is no number in a table.
        cost = float(cell.replace("_", "?"))
    except ValueError:
        raise ValueError(f"{where} must be a number, got {quoted(cell)}") from None
    if not (math.isfinite(cost) and cost >= 0):
        raise ValueError(f"{where} must be finite and at least 0, got {quoted(cell)}")
    if predicted == true and cost:
        raise ValueError(
            f"{where} must be 0, as the prediction is right, got {quoted(cell)}; "
            "subtract that from its column"
        )
    return cost


@dataclass(frozen=True)
class OperatingPoint(Record):
    """What a threshold between two classes leads to on held-out rows.

    Parameters
    ----------
    threshold : float
        The positive class is predicted where its probability is above this.
    sensitivity : float
        Share of positive rows that are predicted positive.
    specificity : float
        Share of negative rows that are predicted negative.
    precision : float or None
        Share of rows predicted positive that are; None where there are none.
    n_positive : int
        Rows predicted positive.
    cost : float or None
        Mean cost a row; None without a loss.
    """

    threshold: float
    sensitivity: float
    specificity: float
    precision: float | None
    n_positive: int
    cost: float | None


def implied_threshold(loss: Floats, positive: int = 1) -> float:
    """Probability of the positive class above which predicting it costs less.

    ``c(false positive) / (c(false positive) + c(false negative))`` (Elkan 2001, The
    foundations of cost-sensitive learning, section 1).

    Parameters
    ----------
    loss : ndarray of shape (2, 2)
        Rows are predicted, columns true classes; 0 on the diagonal.
    positive : int, default=1
        Which class is the positive one.

    Raises
    ------
    ValueError
        If there are not two classes, or no error costs anything.

    Examples
    --------
    >>> import numpy as np
    >>> implied_threshold(np.array([[0.0, 4.0], [1.0, 0.0]]))
    0.2
    """
    if loss.shape != (2, 2):
        raise ValueError(f"a threshold parts two classes, but the loss has {len(loss)}")
    false_positive = float(loss[positive, 1 - positive])
    false_negative = float(loss[1 - positive, positive])
    if false_positive + false_negative <= 0:
        raise ValueError("the loss must charge for at least one of the two errors")
    return false_positive / (false_positive + false_negative)


def operating_points(
    truth: NDArray[np.intp],
    proba: Floats,
    *,
    loss: Floats | None = None,
    positive: int = 1,
    thresholds: Sequence[float] | None = None,
    weights: Floats | None = None,
) -> ResultList[OperatingPoint]:
    """Sensitivity, specificity, precision and cost at several thresholds.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        True class indices, 0 or 1; both must occur.
    proba : ndarray of shape (n_rows, 2)
        Held-out probabilities.
    loss : ndarray of shape (2, 2), optional
        Cost of each prediction (rows) where a class (columns) is true.
    positive : int, default=1
        Which class is the positive one.
    thresholds : sequence of float, optional
        By default 0.1, 0.2 .. 0.9 and the one that the loss implies.
    weights : ndarray of shape (n_rows,), optional
        Positive weights of the rows, in shares and costs.

    Returns
    -------
    ResultList of OperatingPoint
        By increasing threshold.

    Raises
    ------
    ValueError
        If there are not two classes, or only one of them occurs.
    """
    if proba.shape[1] != 2:
        raise ValueError(
            f"thresholds part two classes, but the target has {proba.shape[1]}"
        )
    if positive not in (0, 1):
        raise ValueError(f"positive must be 0 or 1, got {quoted(positive)}")
    if len(np.unique(truth)) < 2:
        raise ValueError("thresholds need held-out rows of both classes")
    chosen = set(USUAL_THRESHOLDS if thresholds is None else thresholds)
    if loss is not None and thresholds is None:
        implied = implied_threshold(loss, positive)
        # A usual threshold that differs by rounding alone is the same line.
        chosen = {t for t in chosen if not math.isclose(t, implied)} | {implied}
    actual = truth == positive
    row_weights = np.ones(len(truth)) if weights is None else weights
    return ResultList(
        _point(threshold, actual, proba[:, positive], loss, positive, row_weights)
        for threshold in sorted(chosen)
    )


def _point(
    threshold: float,
    actual: NDArray[np.bool_],
    proba: Floats,
    loss: Floats | None,
    positive: int,
    weights: Floats,
) -> OperatingPoint:
    """The rows on either side of one threshold, counted by weight."""
    predicted = proba > threshold
    n_positive = int(predicted.sum())
    hits, alarms, n_actual, n_negative = (
        float(weights[rows].sum())
        for rows in (predicted & actual, predicted & ~actual, actual, ~actual)
    )
    misses = float(weights[~predicted & actual].sum())
    cost = None
    if loss is not None:
        charged = (
            alarms * loss[positive, 1 - positive]
            + misses * loss[1 - positive, positive]
        )
        cost = float(charged / weights.sum())
    return OperatingPoint(
        threshold=threshold,
        sensitivity=hits / n_actual,
        specificity=(n_negative - alarms) / n_negative,
        precision=hits / (hits + alarms) if n_positive else None,
        n_positive=n_positive,
        cost=cost,
    )
