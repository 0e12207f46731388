"""Leave training rows out: to choose rules, to calibrate, to score a classifier."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.classifiers.shared.monotone import directions_of
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts, rows_by_state
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import CellSmoothing, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.tables.frames import take_rows
from bayleaf.data.unknown_cells import reported_elsewhere
from bayleaf.inference.factors import Eliminator, Factor
from bayleaf.latent.architecture_growth import stratified_folds
from bayleaf.models.class_model import log_normalize
from bayleaf.models.left_out_answers import MOST_ROWS, LeftOutAnswers, class_cases
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.scoring.partial_cases import known_cells, known_shares
from bayleaf.search.left_out.left_out_scores import (
    AddMissing,
    LeaveOneOut,
    LeaveOneOutScores,
    cell_rule,
)
from bayleaf.search.left_out.selection import Selection, choose_rule
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.wording import name_list

# Fewer rows than this are worth a remark.
FEW_ROWS = 30
# Folds that are held out where rows cannot be left out by counts.
_N_FOLDS = 5

# Scores of the left-out rows for a structure, (n_rules, n_classes, n_rows).
LeftOutLogScores = Callable[[LeaveOneOut], NDArray[np.float64] | None]


def leave_one_out(
    counts: CountSource,
    domain: Domain,
    rules: Sequence[Smoothing],
    fixed_prior: NDArray[np.float64] | None,
    max_table_cells: int,
) -> LeaveOneOut:
    """What scores the rows of `counts` under each rule.

    TypeError if a rule cannot give single cells.
    """
    cell_rules = [cell_rule(rule) for rule in rules]
    missing = partial(summing_out, domain, max_table_cells)
    return LeaveOneOut(counts, cell_rules, fixed_prior, missing)


def summing_out(
    domain: Domain, max_table_cells: int, cpds: Sequence[TableCPD]
) -> AddMissing:
    """What adds to scores that which tables with missing features say of the class."""
    features = Domain(domain.variables[:-1])
    n_classes = domain[len(domain) - 1].n_states

    factors = [Factor.of(cpd, len(features), n_classes) for cpd in cpds]

    def add_missing(
        codes: Codes, scores: NDArray[np.float64], children: Collection[int]
    ) -> None:
        present = [factor for factor in factors if factor.child in children]
        if present:
            eliminator = Eliminator(present, features, max_table_cells)
            eliminator.add_missing(codes, scores)

    return add_missing


def choose_smoothing(left_out: LeaveOneOut, log_scores: LeftOutLogScores) -> Selection:
    """The choice among the rules of `left_out` for the structure that is scored."""
    scores = log_scores(left_out)
    assert scores is not None
    return choose_rule(left_out.rules, [left_out.scores(s) for s in scores])


def fitted_temperature(classifier: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The temperature that calibration gives a fitted classifier; 1 without.

    Where rows cannot be left out by counts, as under a rule that knows whole tables
    only, five folds of the training rows are held out in turn.
    """
    if classifier.calibration is None:
        return 1.0
    learned: float | None = classifier._learned_temperature
    if learned is not None:
        return learned
    codes = classifier._training_codes
    assert codes is not None
    tells_cells = isinstance(classifier.smoothing_, CellSmoothing)
    left_out = _left_out_rows(classifier) if tells_cells else None
    if left_out is None:
        return _held_out_temperature(classifier, X, y, sample_weight)
    rows, scores = left_out
    known = known_cells(codes, codes.n_variables - 1)
    shares: NDArray[np.float64] | float = 1.0
    if not known.all():
        shares = known_shares(classifier._predictor().strengths, known)[1]
    temperature = best_temperature(scores.T, rows.rows.own, codes.weights, shares)
    if known.all():
        classifier._loo_score = LeaveOneOutScores.of(
            scores / temperature, rows.rows.own, codes.weights
        )
    return temperature


def note_little_support(classifier: Any) -> None:
    """Note for the summary where a choice by leaving rows out rests on little.

    That is where a class has one row, without which nothing tells of it, and where
    there are few rows at all.
    """
    codes = classifier._training_codes
    # Averaged KDB has left rows out, and so has its score, once it is learned.
    chosen = (
        classifier.calibration is not None
        or hasattr(classifier, "selection_")
        or classifier._loo_score is not None
    )
    if codes is None or not chosen:
        return
    class_codes = codes.column(codes.n_variables - 1)
    n_rows = np.bincount(class_codes, minlength=len(classifier.classes_))
    weights = np.bincount(
        class_codes, codes.weights, minlength=len(classifier.classes_)
    )
    lone = classifier.classes_[(n_rows == 1) & (weights <= 1.0)].tolist()
    remarks = []
    if lone:
        remarks.append(
            f"only one row of class {name_list([*map(repr, lone)])}: leave-one-out "
            "predicts it from nothing"
        )
    if codes.n_rows < FEW_ROWS:
        remarks.append(
            f"only {codes.n_rows} training rows: what leaving them out chose is rough"
        )
    if remarks:
        notes = classifier.encoder_.notes
        notes[classifier.model_.domain.names[-1]] = "; ".join(remarks)


def left_out_score(classifier: Any) -> LeaveOneOutScores:
    """Leave-one-out scores of a fitted classifier, after calibration.

    AttributeError if the training rows are gone, or the model has no exact
    leave-one-out; TypeError if the smoothing rule cannot give single cells.
    """
    name = type(classifier).__name__
    if classifier._training_codes is None:
        raise AttributeError(
            f"loo_score_ needs the training rows, which this {name} does not hold: "
            "they go with partial_fit, pickling, saving and a change of the prior; "
            "call fit"
        )
    left_out = _left_out_rows(classifier)
    if left_out is None:
        name += " with monotone features" if directions_of(classifier) else ""
        raise AttributeError(
            f"{name} has no exact leave-one-out and so no loo_score_; use "
            "bayleaf.evaluation.cross_validate"
        )
    rows, scores = left_out
    features = classifier._training_codes.without_last()
    temperatures, _ = classifier._predictor().calibration(features)
    weights = classifier._training_codes.weights
    return LeaveOneOutScores.of(scores / temperatures.T, rows.rows.own, weights)


def known_score(classifier: Any) -> LeaveOneOutScores | None:
    """Leave-one-out scores, if they are known or take one pass over rows in memory."""
    known: LeaveOneOutScores | None = classifier._loo_score
    if known is None and hasattr(classifier, "network_"):
        with suppress(AttributeError, TypeError):
            known = classifier.loo_score_
    return known


def left_out_proba(classifier: Any, rows: Codes) -> NDArray[np.float64] | None:
    """Posteriors (n_rows, n_classes) of training rows, class last, without each.

    None unless `rows` are the first of training or, of a model from a file, have as
    many rows as training in each state and behind each distribution, and the same
    leave-one-out scores where the file has them; NaN where the model has no exact
    leave-one-out, for rows beyond those that averaged KDB learns its weights from and,
    where a file keeps its answers, for those that it keeps none of.
    """
    codes, known = classifier._training_codes, None
    if codes is None:
        stored: LeftOutAnswers | None = classifier._kept_answers
        if stored is not None and (answers := stored.to(rows)) is not None:
            return answers
        if not _are_counted(classifier, rows):
            return None
        known = classifier._loo_score
        codes, classifier = rows, copy.copy(classifier)
        classifier._training_codes = rows
    elif not are_first(rows, codes):
        return None
    proba = _left_out_proba(classifier, codes)
    if proba is None:
        return np.full((rows.n_rows, len(classifier.classes_)), np.nan)
    if known is not None:
        # Columns that were shuffled within each class have the same counts.
        labels = codes.column(codes.n_variables - 1).astype(np.intp)
        with np.errstate(divide="ignore"):
            log_proba = np.log(proba.T)
        scores = LeaveOneOutScores.of(log_proba, labels, codes.weights)
        if abs(scores.log_loss - known.log_loss) > 1e-9:
            return None
    return proba[: rows.n_rows]


def kept_answers(classifier: Any) -> LeftOutAnswers | None:
    """Left-out answers that files and pickles keep; None where they have none.

    Where they cannot be had again: weights, curves and trees depend on all rows.
    """
    codes: Codes | None = classifier._training_codes
    if codes is None or classifier._left_out_answers is None:
        stored: LeftOutAnswers | None = classifier._kept_answers
        return stored
    first = codes.rows(slice(MOST_ROWS))
    proba = _left_out_proba(classifier, first)
    assert proba is not None
    is_right = classifier._predictor().choose(proba) == first.column(-1)
    return LeftOutAnswers.of(class_cases(proba, is_right).values(), proba, first)


def _are_counted(classifier: Any, rows: Codes) -> bool:
    """Whether the counts of a model from a file are those of some rows."""
    support: SupportCounts | None = classifier._support
    if support is None or support.state_rows is None:
        return False
    counts = RowCounts(rows, max_table_cells=classifier.max_table_cells)
    states = rows_by_state(counts) or ()
    known = (*support.state_rows, *support.rows)
    counted = (*states, *classifier.model_.count_rows(counts))
    return len(known) == len(counted) and all(
        np.array_equal(np.ravel(table), np.ravel(again))
        for table, again in zip(known, counted, strict=True)
    )


def are_first(rows: Codes, codes: Codes) -> bool:
    """Whether the codes begin with some rows."""
    return rows.cards == codes.cards and all(
        np.array_equal(codes.column(v)[: rows.n_rows], rows.column(v))
        for v in range(rows.n_variables)
    )


def _left_out_proba(classifier: Any, codes: Codes) -> NDArray[np.float64] | None:
    """Posteriors of all training rows without each; None if they are not known."""
    if (answers := classifier._left_out_answers) is not None:
        distinct, scores = answers
        return answers_of_rows((codes,), (distinct,), np.exp(log_normalize(scores)))
    # A file does not name the rule that "auto" chose.
    rule = getattr(classifier, "smoothing_", None)
    if not isinstance(rule, CellSmoothing):
        return None
    left_out = _left_out_rows(classifier)
    if left_out is None:
        return None
    temperatures, _ = classifier._predictor().calibration(codes.without_last())
    return np.asarray(np.exp(log_normalize((left_out[1] / temperatures.T).T)))


def answers_of_rows(
    rows: Sequence[Any], distinct: Sequence[Any], answers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Answers (n_rows, n_figures) to rows, by those to distinct rows; NaN to others.

    Both kinds of rows are their codes and, of a number, also the target (n_rows,).
    """
    tables = [
        np.column_stack([*map(codes.column, range(codes.n_variables)), *target])
        for codes, *target in (distinct, rows)
    ]
    _, indices = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
    indices = indices.ravel()
    all_answers = np.full((indices.max() + 1, answers.shape[1]), np.nan)
    all_answers[indices[: len(answers)]] = answers
    return np.asarray(all_answers[indices[len(answers) :]])


def _left_out_rows(classifier: Any) -> tuple[LeaveOneOut, NDArray[np.float64]] | None:
    """The training rows and their scores, (n_classes, n_rows), if there are any."""
    if directions_of(classifier):
        # Pooled tables depend on all rows, so no row can be subtracted.
        return None
    codes = classifier._training_codes
    assert codes is not None
    domain, rules = classifier.model_.domain, [classifier.smoothing_]
    left_out = classifier._leave_one_out(codes, domain, rules)
    scores = classifier._left_out_log_scores(left_out)
    return None if scores is None else (left_out, scores[0])


def _held_out_temperature(classifier: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The temperature that suits rows held out in stratified folds."""
    codes = classifier._training_codes
    assert codes is not None
    if X is None:
        raise ValueError(
            "calibration by folds, as this rule or model needs it, takes a table in "
            "memory; fit it to a data frame, or leave calibration out"
        )
    class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
    n_classes = len(classifier.classes_)
    kept = np.arange(codes.n_rows)
    if sample_weight is not None:
        # Rows of weight zero are not among the codes.
        given = np.broadcast_to(np.asarray(sample_weight, dtype=float), len(y))
        kept = np.flatnonzero(given)
    folds = stratified_folds(class_codes, _N_FOLDS, 0)
    # The weights of the codes are those of rows and classes together.
    learner = clone(classifier).set_params(calibration=None, class_weight=None)
    scores = np.full((codes.n_rows, n_classes), -np.inf)
    for fold in range(_N_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not len(test) or len(np.unique(class_codes[train])) < n_classes:
            continue
        labels, weights = classifier.classes_[class_codes[train]], codes.weights[train]
        rows = take_rows(X, kept[train])
        learner.fit(rows, labels, weights, plan=classifier.encoder_.plan)
        held_out = take_rows(X, kept[test])
        with reported_elsewhere():
            scores[test] = learner.predict_joint_log_proba(held_out)
    return best_temperature(scores, class_codes, codes.weights)


def reprior_shift(
    predictor: Predictor, class_prior: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """What a calibrated model adds to its scores once its class prior is replaced.

    The model's own prior is divided by the temperature T, and so would be the change of
    it; ``(1 - 1/T) ln(new / old)`` makes up for that. A class whose old or new prior is
    zero gets no such amends.
    """
    if predictor.temperature == 1.0:
        return None
    old = predictor.model.class_prior
    known = (old > 0) & (class_prior > 0)
    shift = np.zeros(len(old))
    shift[known] = np.log(class_prior[known] / old[known])
    shift *= 1.0 - 1.0 / predictor.temperature
    return shift if predictor.prior_shift is None else shift + predictor.prior_shift
