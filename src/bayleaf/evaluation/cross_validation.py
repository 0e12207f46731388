"""Stratified, shuffled cross-validation of several classifiers on the same folds."""

from __future__ import annotations

import numbers
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.data.class_labels import encode_labels
from bayleaf.data.tables.frames import take_rows
from bayleaf.evaluation.folds import check_classes, check_folds, deal_folds
from bayleaf.evaluation.held_out import CrossValidation, HeldOut
from bayleaf.evaluation.metrics import Scores, score_predictions
from bayleaf.evaluation.statistics import Floats
from bayleaf.progress import Work, displayed
from bayleaf.wording import quoted

Rows = NDArray[np.intp]
# What NumPy's older generator, which deals the folds, takes.
_LARGEST_SEED = 2**32


def cross_validate(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    loss: Floats | None = None,
    groups: Any = None,
    cv: Any = None,
    verbose: int = 0,
) -> list[CrossValidation]:
    """Score classifiers on the same folds, stratified and shuffled by default.

    Everything, cut points included, is learned inside the training folds.

    Parameters
    ----------
    estimators : mapping of str to classifier
        Each is cloned for every fold; any classifier of scikit-learn that predicts
        probabilities may take part.
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
    loss : ndarray of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true, classes in
        increasing order; the folds then have a cost.
    groups, cv
        As for `bayleaf.evaluation.folds.deal_folds`.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.

    Returns
    -------
    list of CrossValidation
        In the order of `estimators`.

    Raises
    ------
    ValueError
        If the target has one class only or another number of rows than the features,
        there are fewer rows than folds, or a classifier cannot learn from the table
        or predicts no classes of the target (naming it).
    TypeError
        If the features are no table, a number is not whole, or a classifier predicts
        no probabilities.
    """
    _check_whole_numbers(
        n_folds=n_folds, n_repeats=n_repeats, random_state=random_state
    )
    classes, truth = encode_labels(y)
    check_classes(classes, truth)
    if cv is None:
        check_folds(truth, n_folds, n_repeats)
    table = _checked_table(X, len(truth))
    if not 0 <= random_state <= _LARGEST_SEED - n_repeats:
        raise ValueError(
            f"the seed must be at least 0 and below {_LARGEST_SEED - n_repeats}, got "
            f"{random_state}"
        )
    splits = deal_folds(truth, n_folds, n_repeats, random_state, groups=groups, cv=cv)
    task = _Task(table, classes, truth, splits, loss)
    with displayed(verbose), Work(len(estimators) * len(splits)) as work:
        return [_validate(name, one, task, work) for name, one in estimators.items()]


def held_out_probabilities(
    model: Any,
    X: Any,
    labels: Any,
    truth: Rows,
    *,
    n_folds: int,
    random_state: int,
) -> tuple[CrossValidation, Floats]:
    """Predict every row by a fresh estimator that was fitted without it.

    `truth` (n_rows,) are the positions of `labels` in the model's classes. Scores by
    fold, and probabilities (n_rows, n_classes) by the table's rows and the model's
    classes. ValueError if the rows do not suffice.
    """
    found = cross_validate(
        {type(model).__name__: model},
        X,
        labels,
        n_folds=n_folds,
        random_state=random_state,
    )[0]
    proba = np.zeros((len(truth), len(model.classes_)))
    proba[np.ix_(found.held_out.rows, np.unique(truth))] = found.held_out.proba
    return found, proba


class _Task(NamedTuple):
    """What every classifier is given: the same table and folds."""

    X: Any
    classes: NDArray[Any]
    truth: Rows
    splits: list[tuple[Rows, Rows]]
    loss: Floats | None


class _Fold(NamedTuple):
    """What one classifier did with one fold."""

    scores: Scores
    proba: Floats
    fit_seconds: float
    predict_seconds: float
    n_parameters: int | None
    n_arcs: int | None


def _check_whole_numbers(**values: Any) -> None:
    """Raise unless all values are integers."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{name} must be an integer, got {quoted(value)}")


def _checked_table(X: Any, n_rows: int) -> Any:
    """Features as something that `take_rows` takes, once they pair with the labels."""
    if isinstance(X, list | tuple):
        # As objects, so that numbers and texts of one row stay what they are.
        X = np.array(X, dtype=object)
    shape: tuple[int, ...]
    if isinstance(X, np.ndarray):
        shape = X.shape
    else:
        try:
            shape = nw.from_native(X, eager_only=True).shape
        except TypeError as error:
            raise TypeError(
                "the features must be a data frame or an array of rows and columns, "
                f"got {type(X).__name__}; make it one of these"
            ) from error
    if shape[:1] != (n_rows,):
        raise ValueError(
            f"every row needs features and a label, but the features have shape "
            f"{shape} and there are {n_rows} labels"
        )
    return X


def _validate(name: str, estimator: Any, task: _Task, work: Work) -> CrossValidation:
    """Scores of one classifier on all splits."""
    folds: list[_Fold] = []
    for place, (train, test) in enumerate(task.splits, 1):
        work.step(f"{name}: fold {place} of {len(task.splits)}")
        folds.append(_run_fold(name, estimator, task, train, test))
    rows = np.concatenate([test for _, test in task.splits])
    proba = np.concatenate([fold.proba for fold in folds])
    return CrossValidation(
        name,
        tuple(fold.scores for fold in folds),
        # The first fit pays for what is loaded and set aside once.
        float(np.mean([fold.fit_seconds for fold in folds[1:] or folds])),
        float(np.mean([fold.predict_seconds for fold in folds])),
        _mean([fold.n_parameters for fold in folds]),
        _mean([fold.n_arcs for fold in folds]),
        HeldOut(rows, task.truth[rows], proba),
    )


def _run_fold(name: str, estimator: Any, task: _Task, train: Rows, test: Rows) -> _Fold:
    """Fit a clone on the training rows, then predict and score the others."""
    labels = task.classes[task.truth[train]]
    training, held_out = take_rows(task.X, train), take_rows(task.X, test)
    model = clone(estimator)
    start = time.perf_counter()
    try:
        model.fit(training, labels)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} cannot learn from this table: {error}") from error
    middle = time.perf_counter()
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{name} has no predict_proba; wrap it in scikit-learn's "
            "CalibratedClassifierCV"
        )
    try:
        found = model.predict_proba(held_out)
        end = time.perf_counter()
        predicted = model.predict(held_out)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} cannot predict held-out rows: {error}") from error
    chosen = _places(name, predicted, task.classes)
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"{name} has no classes_ once it is fitted; set it to the labels in the "
            "order of the columns of predict_proba"
        )
    seen = _places(name, model.classes_, task.classes)
    proba = _spread(name, found, seen, (len(test), len(task.classes)))
    if len(chosen) != len(test):
        raise ValueError(
            f"{name} predicted {len(chosen)} classes for {len(test)} held-out rows"
        )
    return _Fold(
        score_predictions(task.truth[test], chosen, proba, task.loss),
        proba,
        middle - start,
        end - middle,
        getattr(getattr(model, "model_", None), "n_parameters", None),
        _n_arcs(model),
    )


def _places(name: str, labels: Any, classes: NDArray[Any]) -> Rows:
    """Where labels that a classifier gave are among the classes."""
    index = {label: i for i, label in enumerate(classes.tolist())}
    given = np.asarray(labels).tolist()
    strange = [label for label in given if label not in index]
    if strange:
        raise ValueError(
            f"{name} predicts {quoted(strange[0])}, which is no class of the target; "
            "let it predict the labels that it was fitted with"
        )
    return np.array([index[label] for label in given], dtype=np.intp)


def _spread(name: str, found: Any, seen: Rows, shape: tuple[int, int]) -> Floats:
    """Probabilities of all classes; one without a training row keeps zero."""
    given = np.shape(found)
    if given != (shape[0], len(seen)):
        raise ValueError(
            f"{name} gave probabilities of shape {given} for {shape[0]} held-out rows "
            f"and {len(seen)} classes"
        )
    proba = np.zeros(shape)
    try:
        proba[:, seen] = found
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} gave probabilities that are no numbers") from error
    _check_probabilities(name, proba)
    return proba


def _check_probabilities(name: str, proba: Floats) -> None:
    """Raise if a classifier gave no distribution over the classes."""
    sums = proba.sum(axis=1)
    # Written so that NaN is refused as well; single precision sums to 1 less closely.
    wrong = ~((proba >= 0).all(axis=1) & (np.abs(sums - 1) < 1e-4))
    if wrong.any():
        raise ValueError(
            f"{name} gave {int(wrong.sum())} held-out rows probabilities that are no "
            "distribution over the classes (negative, NaN, or not summing to 1)"
        )


def _n_arcs(model: Any) -> int | None:
    """Number of arcs of a fitted model; None where it has no arcs to show."""
    try:
        return len(model.edges_)
    except AttributeError:
        return None


def _mean(values: list[int | None]) -> float | None:
    """Mean over the folds; None if a fold has no value."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
