"""Stratified, shuffled cross-validation of several classifiers on the same folds."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.classifiers.shared.training import row_weights
from bayleaf.data.class_labels import encode_labels
from bayleaf.data.reading_plan import PlanLike
from bayleaf.data.tables.frames import take_rows
from bayleaf.data.tables.named_rows import named_table
from bayleaf.data.unknown_cells import UnknownCells, reported_elsewhere
from bayleaf.data.weight_scale import one_warning
from bayleaf.evaluation.description_length import description_length as measured_length
from bayleaf.evaluation.folds import (
    Rows,
    check_classes,
    check_folds,
    deal_folds,
    fitted_plan,
    fold_plans,
    validate_each,
)
from bayleaf.evaluation.metrics import (
    SCORES,
    Scores,
    expected_calibration_error,
    score_predictions,
)
from bayleaf.evaluation.statistics import Floats
from bayleaf.results.document import Document, Facts, Name
from bayleaf.results.result import Result, Shown
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import (
    ColumnLike,
    Estimator,
    JSONObject,
    NumbersLike,
    Splitter,
    TableLike,
)
from bayleaf.wording import brief, brief_fields, counted, in_bits, near_names, quoted

# What NumPy's older generator, which deals the folds, takes.
_LARGEST_SEED = 2**32
_FIGURES = tuple(Scores.__dataclass_fields__)


@one_warning()
def cross_validate(
    estimators: Mapping[str, Estimator],
    X: TableLike,
    y: ColumnLike,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    loss: Floats | None = None,
    groups: ColumnLike | None = None,
    cv: Splitter | Iterable[tuple[NumbersLike, NumbersLike]] | None = None,
    verbose: int = 0,
    sample_weight: NumbersLike | None = None,
    plan: PlanLike = None,
    description_length: bool = False,
) -> ResultList[CrossValidation]:
    """Score classifiers on the same folds, stratified and shuffled by default.

    Everything, cut points included, is learned inside the training folds, but for the
    kinds of columns, which all rows decide.

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
    sample_weight : array-like of shape (n_rows,), optional
        Weights of rows, in fits and in scores; rows of weight zero are left out.
    plan : ReadingPlan, dict or path, optional
        As for `fit`.
    description_length : bool, default=False
        Whether folds have the bits of the model and of the classes of its training
        rows, see `bayleaf.evaluation.description_length`.

    Returns
    -------
    ResultList of CrossValidation
        In the order of `estimators`.

    Raises
    ------
    ValueError
        If the target has one class only or another number of rows than the features,
        weights cannot be used, there are fewer rows than folds, or a classifier cannot
        learn from the table or predicts no classes of the target (naming it).
    TypeError
        If the features are no table, a number is not whole, or a classifier predicts
        no probabilities.
    """
    return _validated(
        estimators,
        X,
        y,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        loss=loss,
        groups=groups,
        cv=cv,
        verbose=verbose,
        sample_weight=sample_weight,
        plan=plan,
        measures_length=description_length,
    )


def _validated(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int,
    n_repeats: int,
    random_state: int,
    loss: Floats | None = None,
    groups: Any = None,
    cv: Any = None,
    verbose: int = 0,
    sample_weight: Any = None,
    plan: Any = None,
    look: Callable[[Any, Rows], None] | None = None,
    measures_length: bool = False,
) -> ResultList[CrossValidation]:
    """Scores of each estimator on all folds; see `cross_validate`."""
    for name, value in (
        ("n_folds", n_folds),
        ("n_repeats", n_repeats),
        ("random_state", random_state),
    ):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{name} must be an integer, got {quoted(value)}")
    classes, truth, weights = weighted_labels(y, sample_weight)
    check_classes(classes, truth[truth >= 0])
    if cv is None:
        check_folds(truth[truth >= 0], n_folds, n_repeats)
    table = _checked_table(X, len(truth))
    if not 0 <= random_state <= _LARGEST_SEED - n_repeats:
        raise ValueError(
            f"the seed must be at least 0 and below {_LARGEST_SEED - n_repeats}, got "
            f"{random_state}"
        )
    splits = deal_folds(truth, n_folds, n_repeats, random_state, groups=groups, cv=cv)
    plans = fold_plans(estimators, table, plan, weights)
    task = _Task(
        table, classes, truth, splits, loss, weights, plans, look, measures_length
    )
    validate = partial(_run_fold, task)
    validated = validate_each(estimators, splits, validate, verbose)
    return ResultList(_validation(name, folds, task) for name, folds in validated)


def weighted_labels(
    y: Any, sample_weight: Any
) -> tuple[NDArray[Any], Rows, Floats | None]:
    """Classes, the class index of each row, and weights, None where there are none.

    Rows of weight zero have the index -1, and classes of only such rows do not count.
    """
    classes, truth = encode_labels(y)
    if sample_weight is None:
        return classes, truth, None
    weights = row_weights(sample_weight, len(truth))
    used = np.unique(truth[weights > 0])
    index = np.full(len(classes), -1, dtype=np.intp)
    index[used] = np.arange(len(used))
    return classes[used], np.where(weights > 0, index[truth], -1), weights


@one_warning()
def held_out_probabilities(
    model: Any,
    X: Any,
    labels: Any,
    truth: Rows,
    *,
    n_folds: int,
    random_state: int,
    sample_weight: Floats | None = None,
    look: Callable[[Any, Rows], None] | None = None,
) -> tuple[CrossValidation, Floats]:
    """Predict every row by a fresh estimator that was fitted without it.

    `truth` (n_rows,) are the positions of `labels` in the model's classes, and
    `sample_weight` (n_rows,) weights above zero, of fits and scores. Scores by
    fold, and probabilities (n_rows, n_classes) by the table's rows and the model's
    classes. `look` is called with each fitted model and the rows that it did not see.
    ValueError if the rows do not suffice.
    """
    (found,) = _validated(
        {type(model).__name__: model},
        X,
        labels,
        n_folds=n_folds,
        n_repeats=1,
        random_state=random_state,
        sample_weight=sample_weight,
        plan=fitted_plan(model, X),
        look=look,
    )
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
    weights: Floats | None
    plans: Mapping[str, Mapping[str, Any]]  # what fits of each are passed
    look: Callable[[Any, Rows], None] | None  # at each fitted model
    measures_length: bool  # of descriptions

    def weights_of(self, rows: Rows) -> Floats | None:
        """The weights of some rows, if there are any."""
        return None if self.weights is None else self.weights[rows]


class _Fold(NamedTuple):
    """What one classifier did with one fold."""

    scores: Scores
    proba: Floats
    fit_seconds: float
    predict_seconds: float
    n_parameters: int | None
    n_arcs: int | None
    unknown: tuple[UnknownCells, ...]


def _checked_table(X: Any, n_rows: int) -> Any:
    """Features as something that `take_rows` takes, once they pair with the labels."""
    X = named_table(X)
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


def _validation(name: str, folds: Sequence[_Fold], task: _Task) -> CrossValidation:
    """Scores of one classifier on all splits."""
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
        HeldOut(
            rows,
            task.truth[rows],
            proba,
            task.weights_of(rows),
            tuple(cells for fold in folds for cells in fold.unknown),
        ),
    )


def _run_fold(task: _Task, name: str, estimator: Any, train: Rows, test: Rows) -> _Fold:
    """Fit a clone on the training rows, then predict and score the others."""
    labels = task.classes[task.truth[train]]
    training, held_out = take_rows(task.X, train), take_rows(task.X, test)
    model = clone(estimator)
    weights = task.weights_of(train)
    # Any classifier may take part, and not all take weights.
    weighted = {} if weights is None else {"sample_weight": weights}
    start = time.perf_counter()
    try:
        model.fit(training, labels, **weighted, **task.plans[name])
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} cannot learn from this table: {error}") from error
    middle = time.perf_counter()
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{name} has no predict_proba; wrap it in scikit-learn's "
            "CalibratedClassifierCV"
        )
    try:
        with reported_elsewhere():
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
    if task.look is not None:
        task.look(model, test)
    scores = score_predictions(
        task.truth[test], chosen, proba, task.loss, task.weights_of(test)
    )
    if task.measures_length:
        try:
            length = measured_length(model, training, labels, weights).total
        except ValueError as error:
            raise ValueError(
                f"{name}: {error}; compare it without its description length"
            ) from error
        scores = replace(scores, description_length=length)
    # Not every model has arcs to show.
    edges = getattr(model, "edges_", None)
    return _Fold(
        scores,
        proba,
        middle - start,
        end - middle,
        getattr(getattr(model, "model_", None), "n_parameters", None),
        None if edges is None else len(edges),
        unknown_in_fold(model, test),
    )


def unknown_in_fold(model: Any, test: Rows) -> tuple[UnknownCells, ...]:
    """Cells that a model met in the held-out rows only, by rows of the whole table."""
    if not isinstance(model, TableEstimator):
        return ()
    return tuple(
        replace(cells, row=int(test[cells.row])) for cells in model.unknown_.values()
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
    sums = proba.sum(axis=1)
    # Written so that NaN is refused as well; single precision sums to 1 less closely.
    wrong = ~((proba >= 0).all(axis=1) & (np.abs(sums - 1) < 1e-4))
    if wrong.any():
        raise ValueError(
            f"{name} gave {int(wrong.sum())} held-out rows probabilities that are no "
            "distribution over the classes (negative, NaN, or not summing to 1)"
        )
    return proba


def _mean(values: list[int | None]) -> float | None:
    """Mean over the folds; None if a fold has no value."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


@dataclass(frozen=True)
class HeldOut(Shown):
    """Predictions for held-out rows, fold after fold.

    Parameters
    ----------
    rows : ndarray of shape (n_predictions,)
        Positions of the rows in the table; each occurs once a repeat.
    truth : ndarray of shape (n_predictions,)
        True class indices.
    proba : ndarray of shape (n_predictions, n_classes)
        Predicted probabilities.
    weights : ndarray of shape (n_predictions,), optional
        Weights of the rows, all above zero; None if they count alike.
    unknown : tuple of UnknownCells
        Of each fold and column, values that its training rows did not contain.
    """

    rows: NDArray[np.intp]
    truth: NDArray[np.intp]
    proba: Floats
    weights: Floats | None = None
    unknown: tuple[UnknownCells, ...] = ()

    __repr__ = brief_fields


@dataclass(frozen=True)
class CrossValidation(
    Result,
    keys={"name": "model", "held_out": None},
    computed=("pooled_calibration_error", "n_folds_without_auc", "n_clipped"),
):
    """Scores of one classifier over all folds and repeats.

    Parameters
    ----------
    name : str
        What the classifier is called.
    folds : tuple of Scores
        One a fold, repeat after repeat.
    fit_seconds, predict_seconds : float
        Mean time a fold.
    n_parameters, n_arcs : float or None
        Mean number of free parameters and of arcs, those of the class included; None
        for models that count none.
    held_out : HeldOut
        The predictions that were scored.
    """

    name: str
    folds: tuple[Scores, ...]
    fit_seconds: float
    predict_seconds: float
    n_parameters: float | None
    n_arcs: float | None
    held_out: HeldOut

    def values(self, score: str) -> Floats:
        """A score of every fold that has it, shape (n_folds,) or less.

        Raises
        ------
        ValueError
            If there is no such score.
        """
        if score not in _FIGURES:
            raise ValueError(
                f"there is no score {quoted(score)}; {near_names(score, _FIGURES)}"
            )
        found = [getattr(fold, score) for fold in self.folds]
        return np.array([value for value in found if value is not None], dtype=float)

    def mean(self, score: str) -> float:
        """Mean of a score over the folds that have it.

        Raises
        ------
        ValueError
            If no fold has it.
        """
        values = self.values(score)
        if not len(values):
            raise ValueError(
                f"no fold has a {score}: it needs a loss or rows of two classes"
            )
        return float(values.mean())

    def sd(self, score: str) -> float:
        """Standard deviation of a score over the folds; 0 if only one has it."""
        values = self.values(score)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    @property
    def n_folds_without_auc(self) -> int:
        """Folds in which some class has no area under its ROC curve."""
        return sum(fold.n_classes_without_auc > 0 for fold in self.folds)

    @property
    def n_clipped(self) -> int:
        """Rows whose true class had a probability below 1e-15, over all folds."""
        return sum(fold.n_clipped for fold in self.folds)

    @property
    def pooled_calibration_error(self) -> float:
        """Expected calibration error over all held-out rows together.

        A fold of few rows has bins of few rows, whose chance differences add up; this
        is the steadier figure, and the one that tables show.
        """
        rows = self.held_out
        return expected_calibration_error(rows.truth, rows.proba, rows.weights)

    def to_dict(self) -> JSONObject:
        """Means, standard deviations and folds as plain values."""
        means = {
            name: {"mean": self.mean(name), "sd": self.sd(name)}
            for name in SCORES
            if len(self.values(name))
        }
        return {**super().to_dict(), **means}

    def document(self) -> Document:
        """Mean and standard deviation of each score over the folds."""
        rows = [
            (column.heading, column.written(self.mean(name), self.sd(name)))
            for name, column in SCORES.items()
            if column.heading and len(self.values(name))
        ]
        rows.append(("calib.", f"{self.pooled_calibration_error:.3f}"))
        folds = counted(len(self.folds), "fold")
        return Document((Name(self.name), f": {folds}"), [Facts(rows)])

    def __repr__(self) -> str:
        n_folds = counted(len(self.folds), "fold")
        accuracy = f"accuracy {100 * self.mean('accuracy'):.1f} %"
        loss = f"log-loss {in_bits(self.mean('log_loss')):.4f} bits"
        return brief(self, self.name, n_folds, accuracy, loss)
