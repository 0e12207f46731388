"""Stratified, shuffled cross-validation of several classifiers on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from bayleaf.data.labels import encode_labels
from bayleaf.evaluation.metrics import Scores, score_predictions


@dataclass(frozen=True)
class CrossValidation:
    """Scores of one classifier over all folds and repeats.

    Parameters
    ----------
    name : str
        What the classifier is called.
    folds : tuple of Scores
        One a fold, repeat after repeat.
    fit_seconds, predict_seconds : float
        Mean time a fold.
    n_parameters : float
        Mean number of free parameters.
    """

    name: str
    folds: tuple[Scores, ...]
    fit_seconds: float
    predict_seconds: float
    n_parameters: float

    def mean(self, score: str) -> float:
        """Mean of a score over the folds."""
        return float(np.mean([getattr(fold, score) for fold in self.folds]))

    def sd(self, score: str) -> float:
        """Standard deviation of a score over the folds."""
        return float(np.std([getattr(fold, score) for fold in self.folds], ddof=1))

    def to_dict(self) -> dict[str, Any]:
        """Means, standard deviations and folds as plain values."""
        names = ("accuracy", "balanced_accuracy", "log_loss", "brier")
        return {
            "model": self.name,
            **{name: {"mean": self.mean(name), "sd": self.sd(name)} for name in names},
            "n_clipped": sum(fold.n_clipped for fold in self.folds),
            "n_parameters": self.n_parameters,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "folds": [asdict(fold) for fold in self.folds],
        }


def cross_validate(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    tell: Callable[[str], None] | None = None,
) -> list[CrossValidation]:
    """Score classifiers on the same stratified, shuffled folds.

    Everything, cut points included, is learned inside the training folds.

    Parameters
    ----------
    estimators : mapping of str to classifier
        Each is cloned for every fold.
    X : data frame or ndarray of shape (n_rows, n_features)
        The features.
    y : array-like of shape (n_rows,)
        The class labels.
    n_folds : int, default=10
        Number of folds.
    n_repeats : int, default=1
        Number of shuffles; shuffle r uses the seed ``random_state + r``.
    random_state : int, default=0
        Seed of the first shuffle.
    tell : callable, optional
        Gets a line of text before each fit, for a progress display.

    Returns
    -------
    list of CrossValidation
        In the order of `estimators`.

    Raises
    ------
    ValueError
        If the target has one class only, or there are fewer rows than folds.
    """
    classes, truth = encode_labels(y)
    _check_folds(classes, truth, n_folds, n_repeats)
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for repeat in range(n_repeats):
        dealer = StratifiedKFold(
            n_folds, shuffle=True, random_state=random_state + repeat
        )
        with warnings.catch_warnings():
            # A class with fewer rows than folds is scored where it occurs.
            warnings.filterwarnings("ignore", message="The least populated class")
            splits += list(dealer.split(np.zeros(len(truth)), truth))
    return [
        _validate(name, estimator, X, classes, truth, splits, tell)
        for name, estimator in estimators.items()
    ]


def _check_folds(
    classes: NDArray[Any], truth: NDArray[np.intp], n_folds: int, n_repeats: int
) -> None:
    """Raise unless the rows can be dealt into the folds."""
    if len(classes) < 2:
        raise ValueError(
            f"the target has one value only ({classes[0]}); evaluating needs two"
        )
    if n_folds < 2 or n_repeats < 1:
        raise ValueError(
            f"folds must be at least 2 and repeats at least 1, got {n_folds} and "
            f"{n_repeats}"
        )
    largest = int(np.bincount(truth).max())
    if n_folds > largest:
        raise ValueError(
            f"folds must be at most {largest}, the number of rows of the most frequent "
            f"class, got {n_folds}"
        )


def _validate(
    name: str,
    estimator: Any,
    X: Any,
    classes: NDArray[Any],
    truth: NDArray[np.intp],
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    tell: Callable[[str], None] | None,
) -> CrossValidation:
    """Scores of one classifier on all splits."""
    index = {label: i for i, label in enumerate(classes.tolist())}
    folds: list[Scores] = []
    fit_seconds = predict_seconds = 0.0
    n_parameters = 0
    for place, (train, test) in enumerate(splits, 1):
        if tell is not None:
            tell(f"{name}: fold {place} of {len(splits)}")
        start = time.perf_counter()
        fitted = clone(estimator).fit(_take(X, train), classes[truth[train]])
        middle = time.perf_counter()
        # A class without a training row in this fold keeps probability zero.
        proba = np.zeros((len(test), len(classes)))
        held_out = _take(X, test)
        seen = [index[label] for label in fitted.classes_.tolist()]
        proba[:, seen] = fitted.predict_proba(held_out)
        fit_seconds += middle - start
        predict_seconds += time.perf_counter() - middle
        chosen = np.array([index[c] for c in fitted.predict(held_out).tolist()])
        n_parameters += fitted.model_.n_parameters if hasattr(fitted, "model_") else 0
        folds.append(score_predictions(truth[test], chosen, proba))
    count = len(splits)
    return CrossValidation(
        name,
        tuple(folds),
        fit_seconds / count,
        predict_seconds / count,
        n_parameters / count,
    )


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array or a data frame."""
    if isinstance(X, np.ndarray):
        return X[rows]
    frame = nw.from_native(X, eager_only=True)
    return frame[rows.tolist()].to_native()


def comparison_table(results: list[CrossValidation], title: str) -> Table:
    """The results as a table for the terminal."""
    table = Table(title=title, title_justify="left")
    table.add_column("model")
    for heading in (
        "accuracy",
        "log-loss",
        "Brier",
        "parameters",
        "fit s",
        "predict s",
    ):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(
            result.name,
            f"{100 * result.mean('accuracy'):.1f} ± {100 * result.sd('accuracy'):.1f}",
            f"{result.mean('log_loss'):.3f} ± {result.sd('log_loss'):.3f}",
            f"{result.mean('brier'):.3f}",
            f"{result.n_parameters:.0f}",
            f"{result.fit_seconds:.3f}",
            f"{result.predict_seconds:.3f}",
        )
    return table
