"""Which features a model's predictions rest on, over a whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.smoothing import CellSmoothing, Lidstone
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows, alone, available_codes
from bayleaf.explain.subject import is_absent, rows_of, training_rows_by_state
from bayleaf.models.predictor import ModelLike, Predictor, predictor_inside
from bayleaf.models.wrappers import model_inside
from bayleaf.results.document import Document, Table
from bayleaf.results.result import Record, Result
from bayleaf.search.left_out.left_out_scores import LeaveOneOut, loss_sums
from bayleaf.typing import ColumnLike, NumbersLike, RowsLike
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    in_bits,
    name_list,
    quoted,
    shown_name,
)

Floats = NDArray[np.float64]

LEAVE_ONE_OUT = "leave_one_out"
HELD_OUT = "held_out"
TRAINING = "training"
_INSTEAD = "give X and y, rows that training did not see"
_METHODS = {
    LEAVE_ONE_OUT: "rise of leave-one-out log-loss once the feature is left out of the "
    "model",
    HELD_OUT: "rise of log-loss on the rows given once the feature is unknown",
    TRAINING: "rise of log-loss on the training rows once the feature is unknown, "
    "which is too large: give held-out rows",
}


@dataclass(frozen=True)
class FeatureImportance(
    Record,
    keys={
        "information": "information_bits",
        "information_error": "information_error_bits",
    },
    nats=("loss_increase", "loss_error"),
):
    """What one feature tells on the class.

    Parameters
    ----------
    feature : str or int
        Its name.
    information : float
        Information of the feature alone, in bits: how much it raises the mean
        log-probability of the class of rows that are left out or held out; at least 0.
    information_error : float
        Its standard error.
    loss_increase : float
        How much the log-loss (nats a row) rises without the feature. Below 0 the model
        does better without.
    missing : float
        Weight of the rows in which it is missing.
    loss_error : float, default=0.0
        Standard error of `loss_increase` over the rows.
    """

    feature: str | int
    information: float
    information_error: float
    loss_increase: float
    missing: float
    loss_error: float = 0.0


@dataclass(frozen=True)
class Importance(Result):
    """The features of a model by what they are worth.

    Parameters
    ----------
    features : tuple of FeatureImportance
        In column order.
    log_loss : float
        Log-loss with all features, nats a row.
    method : {"leave_one_out", "held_out", "training"}
        Training rows left out one by one and the feature left out of the model, or
        other rows in which the feature is taken as unknown, or the training rows
        themselves in which it is, on which figures are too large.
    n_rows : float
        Weight of all rows.
    """

    features: tuple[FeatureImportance, ...]
    log_loss: float
    method: str
    n_rows: float

    def ranked(self) -> tuple[FeatureImportance, ...]:
        """The features by falling increase of loss; ties in column order."""
        return tuple(sorted(self.features, key=lambda one: -one.loss_increase))

    def document(self) -> Document:
        """The features as a table, most important first."""
        ranked = self.ranked()
        rows = [
            (
                shown_name(one.feature),
                f"{in_bits(one.loss_increase):+.4f} ±{in_bits(one.loss_error):.4f}",
                f"{one.information:.4f} ±{one.information_error:.4f}",
                f"{one.missing:g}",
            )
            for one in ranked
        ]
        heads = ("feature", "loss bits", "I(X;C) bits", "missing")
        bars = [(0.0, one.loss_increase) for one in ranked]
        bits = in_bits(self.log_loss)
        return Document(
            f"log-loss {bits:.4f} bits per row over {self.n_rows:g} rows",
            [f"loss: {_METHODS[self.method]}", Table(heads, rows, bars=bars)],
        )

    def __repr__(self) -> str:
        worth = [
            f"{one.feature} {in_bits(one.loss_increase):+.4f}" for one in self.ranked()
        ]
        features = f"{counted(len(worth), 'feature')} ({brief_names(worth)})"
        return brief(self, f"log-loss {in_bits(self.log_loss):.4f} bits", features)


class _Figures(NamedTuple):
    """Losses of rows, nats."""

    losses: Floats  # (1 + n_features,), per row, with all features, then without each
    gains: Floats  # (n_features, n_rows), in ln P(class | row) by a feature alone
    rises: Floats  # (n_features, n_rows), of the loss without a feature


def importance(
    model: ModelLike,
    X: RowsLike | Rows | None = None,
    y: ColumnLike | None = None,
    *,
    sample_weight: NumbersLike | None = None,
) -> Importance:
    """Measure what each feature tells on the class, and what its loss would cost.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model.
    X : table of shape (n_rows, n_features), optional
        Rows that training did not see. Without them the training rows are left out one
        by one, exactly and from counts alone, which naive Bayes, TAN and KDB can.
    y : array-like of shape (n_rows,), optional
        Their classes.
    sample_weight : array-like of shape (n_rows,), optional
        Their weights.

    Returns
    -------
    Importance

    Raises
    ------
    ValueError
        If only one of X and y is given, or y holds a label that is no class.
    AttributeError
        If neither is and the model has no exact leave-one-out of single features, or
        no training rows any more.
    """
    predictor = predictor_inside(model)
    if (X is None) != (y is None):
        raise ValueError("give X and y together, or neither for the training rows")
    if X is None:
        codes, figures = _left_out_losses(model_inside(model))
        return _importance(predictor, codes, codes.weights, figures, LEAVE_ONE_OUT)
    features = rows_of(model, X)
    own = _class_codes(predictor, y, features.n_rows)
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != own.shape or not (weights >= 0).all() or not weights.any():
            raise ValueError(
                "sample_weight must hold one number of at least 0 a row, not all 0"
            )
    weights = np.ones(features.n_rows) if weights is None else weights
    figures = _held_out_losses(predictor, features, own, weights)
    is_training = _are_training_rows(model, available_codes(features), own, weights)
    method = TRAINING if is_training else HELD_OUT
    return _importance(predictor, features, weights, figures, method)


def _are_training_rows(
    model: Any, codes: Codes, class_codes: NDArray[np.intp], weights: Floats
) -> bool:
    """Whether rows have each state and class as often as those of training."""
    known = training_rows_by_state(model_inside(model))
    columns = [*map(codes.column, range(codes.n_variables)), class_codes]
    return len(known) == len(columns) and all(
        np.allclose(np.bincount(states, weights, len(rows) + 1)[: len(rows)], rows)
        for states, rows in zip(columns, known, strict=True)
    )


def _class_codes(predictor: Predictor, y: Any, n_rows: int) -> NDArray[np.intp]:
    """Codes of the labels."""
    place = {label: code for code, label in enumerate(predictor.classes.tolist())}
    labels = np.asarray(y, dtype=object).ravel().tolist()
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {len(labels)} labels")
    for label in labels:
        if label not in place:
            raise ValueError(
                f"y holds {quoted(label)}, which is none of the classes "
                f"{name_list(list(place))}"
            )
    return np.array([place[label] for label in labels], dtype=np.intp)


def _left_out_losses(model: Any) -> tuple[Codes, _Figures]:
    """Log-loss of left-out training rows with all features, then without each.

    A feature is left out of the structure: its own table goes, and its children's
    tables are counted again without it. Structure and temperature stay otherwise. The
    class must be a parent of all; AttributeError for other models, or without training
    rows. The training codes, the class last, are returned as well.
    """
    kind, codes = type(model).__name__, _training_codes(model)
    generative = getattr(model, "objective", "generative") == "generative"
    families = model.model_.left_out_families
    if families is None or not generative:
        raise AttributeError(
            f"{kind} has no exact leave-one-out without a single feature; {_INSTEAD}"
        )
    left_out = model._leave_one_out(codes, model.model_.domain, [model.smoothing_])
    losses, logs = [], []
    rows = left_out.rows.own, np.arange(codes.n_rows)
    for log_scores in _left_out_scores(left_out, families):
        calibrated = log_scores / model.temperature_
        losses.append(left_out.scores(calibrated).log_loss)
        logs.append((calibrated - np.logaddexp.reduce(calibrated, axis=0))[rows])
    gains = _left_out_gains(left_out, len(families))
    return codes, _Figures(np.array(losses), gains, logs[0] - np.array(logs[1:]))


def feature_importances(model: Any) -> Floats:
    """What left-out training rows gain by each column alone, in shares, (n_columns,).

    Information on the class, or less squared error of a regressor's target. Parts of a
    date count together, columns that were left out as 0; all are 0 where none has any.
    AttributeError without training rows.
    """
    # Other measures of this module are taken of files, without what fits load.
    from bayleaf.models.averaged_kdb_model import AveragedKDBModel
    from bayleaf.models.interval_target import IntervalTargetModel
    from bayleaf.search.left_out.sampled_networks import coarse_coding, recoded

    codes = _training_codes(model)
    learned = model.model_
    is_number = isinstance(learned, IntervalTargetModel)
    if is_number:
        learned = learned.intervals
    if isinstance(learned, AveragedKDBModel):
        # Its own states are single numbers, each with too few rows.
        maps = [network.maps for network in learned.networks]
        codes = recoded(codes, coarse_coding(maps))
    measured = _variance_explained if is_number else _information_alone
    worth = np.maximum(measured(model, codes), 0.0)
    by_name = dict(zip(model.encoder_.domain.names, worth, strict=True))
    parts = [r.part_names or (r.name,) for r in model.encoder_.readings]
    sums = np.array([sum(by_name.get(name, 0.0) for name in names) for names in parts])
    return sums / (sums.sum() or 1.0)


def _information_alone(model: Any, codes: Codes) -> Floats:
    """Nats of each feature, (n_features,)."""
    from bayleaf.classifiers.shared.base import BayesianClassifier
    from bayleaf.counts.information import mean_gain

    rule, domain = model.smoothing_, model.model_.domain
    rules = [rule if isinstance(rule, CellSmoothing) else Lidstone()]
    # Some classifiers leave rows of latent variables out, in the place of features.
    left_out = BayesianClassifier._leave_one_out(model, codes, domain, rules)
    gains = _left_out_gains(left_out, codes.n_variables - 1)
    return np.array([mean_gain(of_feature, codes.weights)[0] for of_feature in gains])


def _variance_explained(model: Any, codes: Codes) -> Floats:
    """Squared error that means of a feature's states save, (n_features,)."""
    weights, target = codes.weights, model._training_target
    # Differences from the mean, so that large numbers lose no digits.
    target = target - np.average(target, weights=weights)
    # Of a row of weight 2 one of two equal rows is left out.
    left, totals = np.minimum(weights, 1.0), weights.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.nan_to_num((weights @ target - left * target) / (totals - left))
    saved = []
    for feature in range(codes.n_variables - 1):
        states = codes.column(feature)
        sums = np.bincount(states, weights * target)[states] - left * target
        means = (sums + others) / (np.bincount(states, weights)[states] - left + 1.0)
        saved.append(weights @ ((target - others) ** 2 - (target - means) ** 2))
    return np.array(saved)


def _training_codes(model: Any) -> Codes:
    """The training rows of a fitted classifier; AttributeError if they are gone."""
    codes: Codes | None = getattr(model, "_training_codes", None)
    if codes is None:
        raise AttributeError(
            f"this {type(model).__name__} does not hold its training rows, which go "
            f"with saving, pickling and partial_fit; {_INSTEAD}"
        )
    return codes


def _left_out_gains(left_out: LeaveOneOut, n_features: int) -> Floats:
    """What each feature alone gains, (n_features, n_rows)."""
    labels, class_index = left_out.rows.own, left_out.counts.class_index

    def logs(families: list[Family]) -> Floats:
        scores = left_out.log_scores(families)[0]
        posterior = scores - np.logaddexp.reduce(scores, axis=0)
        return np.asarray(posterior[labels, np.arange(len(labels))])

    prior = logs([])
    return np.array([logs([(class_index, i)]) - prior for i in range(n_features)])


def _left_out_scores(
    left_out: LeaveOneOut, families: tuple[Family, ...]
) -> list[Floats]:
    """Scores with all features, then without each, (n_classes, n_rows)."""
    whole = left_out.log_scores(families)[0]
    features = range(len(families))
    if any(left_out.has_missing):
        # What summing out gives is no sum over families.
        reduced = [_without(families, feature) for feature in features]
        return [whole, *(left_out.log_scores(own)[0] for own in reduced)]
    prior = left_out.log_scores([])[0]

    def terms(own: list[Family]) -> Floats:
        return np.asarray(left_out.log_scores(own)[0] - prior) if own else 0.0 * prior

    found = [whole]
    for feature in features:
        concerned = [family for family in families if feature in family]
        found.append(
            whole - terms(concerned) + terms(_without(tuple(concerned), feature))
        )
    return found


def _without(families: tuple[Family, ...], feature: int) -> list[Family]:
    """The families of a network once a feature is left out."""
    return [
        tuple(member for member in family if member != feature)
        for family in families
        if family[-1] != feature
    ]


def _held_out_losses(
    predictor: Predictor, features: Rows, class_codes: NDArray[np.intp], weights: Floats
) -> _Figures:
    """Losses of rows with all features, then with each of them unknown."""
    codes = available_codes(features)

    def loss(log_scores: Floats) -> float:
        total = loss_sums(log_scores.T, class_codes, weights)[0]
        return float(total / weights.sum())

    log_proba = predictor.log_proba(features)
    losses, rises = [loss(log_proba)], []
    columns = [np.full(codes.n_rows, card) for card in codes.cards]
    nothing = Codes.from_columns(columns, codes.cards)
    rows, gains = np.arange(codes.n_rows), []
    prior = predictor.log_proba(nothing)[rows, class_codes]
    for feature, column in enumerate(columns):
        without = predictor.log_proba(features.replaced(feature, column))
        losses.append(loss(without))
        rises.append((log_proba - without)[rows, class_codes])
        only = alone(features, feature, predictor.encoder.domain)
        gains.append(predictor.log_proba(only)[rows, class_codes] - prior)
    return _Figures(np.array(losses), np.array(gains), np.array(rises))


def _importance(
    predictor: Predictor,
    features: Rows,
    weights: Floats,
    figures: _Figures,
    method: str,
) -> Importance:
    """Put the measures of all features together."""
    # It loads SciPy, which those who explain single rows can do without.
    from bayleaf.counts.information import mean_gain

    domain = predictor.encoder.domain
    found = []
    for feature, variable in enumerate(domain):
        nats, error = mean_gain(figures.gains[feature], weights)
        bits = nats / math.log(2), error / math.log(2)
        absent = float(weights[is_absent(features, domain, feature)].sum())
        rise = float(figures.losses[feature + 1] - figures.losses[0])
        _, spread = mean_gain(figures.rises[feature], weights)
        found.append(FeatureImportance(variable.name, *bits, rise, absent, spread))
    total = float(weights.sum())
    return Importance(tuple(found), float(figures.losses[0]), method, total)
