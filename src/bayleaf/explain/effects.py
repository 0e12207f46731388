"""What the values of one feature do to a prediction, and features by themselves."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows, single_states
from bayleaf.explain.subject import row_of, with_each_state
from bayleaf.inference.states import find_feature
from bayleaf.models.predictor import ModelLike, Predictor, predictor_inside
from bayleaf.results.document import Document
from bayleaf.results.drawings import states_part
from bayleaf.results.result import Result
from bayleaf.results.result_lists import RankedNumbers
from bayleaf.typing import RowLike
from bayleaf.wording import brief_fields, in_bits

Floats = NDArray[np.float64]

# Quantile of 97.5 % of the standard normal distribution.
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class FeatureEffects(Result):
    """Effects of a feature's states on the log-odds of a class, others as in a row.

    Parameters
    ----------
    feature : str or int
        Name of the feature.
    of, against : object
        The class in question, and the one that it is compared with.
    states : tuple of str
        Intervals in increasing order, or values.
    effects : ndarray of shape (n_states,)
        Terms of the log-odds, nats: positive speaks for the class.
    half_widths : ndarray of shape (n_states,)
        Half the widths of their 95 % intervals; empty for models without variances of
        scores.
    """

    feature: str | int
    of: Hashable
    against: Hashable
    states: tuple[str, ...]
    effects: Floats
    half_widths: Floats

    __repr__ = brief_fields

    def document(self) -> Document:
        """The effects as bars or steps."""
        title = f"{self.feature}: bits for {self.of} against {self.against}"
        bits = in_bits(self.effects).tolist()
        return Document("", [states_part(title, self.states, bits, [])])


def feature_effects(
    model: ModelLike, row: RowLike | Rows, feature: str | int, *, of: Hashable = None
) -> FeatureEffects:
    """Change one feature of a row to each of its states, and explain the prediction.

    Parameters
    ----------
    model : classifier
        A fitted model, or one read from its file.
    row : mapping, series, list or table of one row
        What is known; a mapping may leave features out.
    feature : str or int
        The feature that changes.
    of : object, optional
        The class in question; by default the one predicted for the row. It is compared
        with the most probable other one.

    Returns
    -------
    FeatureEffects
        The terms of the feature, as `explain` gives them, with their 95 % intervals
        where the model has a variance of scores (averaged KDB): scores are taken as
        normal, with the variance of the counts behind them.

    Raises
    ------
    ValueError
        If there are several rows, the feature or class is unknown, or there is only one
        class.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"], "shoes": [*"abab"]})
    >>> model = NaiveBayesClassifier().fit(X, ["well", "well", "ill", "ill"])
    >>> feature_effects(model, {}, "cough", of="ill").effects.round(3).tolist()
    [-1.099, 1.099]
    """
    predictor, codes = predictor_inside(model), single_states(row_of(model, row))
    domain = predictor.model.domain
    if len(predictor.classes) < 2:
        raise ValueError("effects compare two classes, but the model has only one")
    index = find_feature(domain, feature)
    (now,) = predictor.explain(codes, of=of)
    rows = with_each_state(codes, index, domain[index].n_states)
    changed = predictor.explain(rows, now.against, of=now.target)
    effects = [explanation.terms[index].contribution for explanation in changed]
    return FeatureEffects(
        domain[index].name,
        now.target,
        now.against,
        tuple(domain[index].label(state) for state in range(domain[index].n_states)),
        np.array(effects),
        _half_widths(predictor, rows, index, [now.target, now.against]),
    )


def _half_widths(
    predictor: Predictor, rows: Codes, feature: int, labels: list[Any]
) -> Floats:
    """Half the widths of 95 % intervals of a feature's terms, (n_rows,) or empty."""
    deviations = predictor.model.term_deviation(rows, feature)
    if deviations is None:
        return np.array([])
    classes = [predictor.classes.tolist().index(label) for label in labels]
    temperatures, _ = predictor.calibration(rows)
    spread = np.hypot(*deviations[:, classes].T) / np.ravel(temperatures)
    return np.asarray(_NORMAL_95 * spread)


def information_alone(model: ModelLike) -> dict[str | int, float]:
    """Rank features by what each by itself reveals of the class.

    Parameters
    ----------
    model : classifier
        A fitted model, or one read from its file.

    Returns
    -------
    dict from name to float
        Mean reduction of the entropy of the class in nats once the feature alone is
        known, over the training rows with each of its states (or, of networks, over
        its distribution), the largest first.

    Notes
    -----
    This orders the findings of a page. `value_of_information` takes what else is known
    into account.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"], "shoes": [*"abab"]})
    >>> model = NaiveBayesClassifier().fit(X, ["well", "well", "ill", "ill"])
    >>> list(information_alone(model))
    ['cough', 'shoes']
    """
    from scipy.special import entr

    predictor = predictor_inside(model)
    *features, _ = predictor.model.domain.variables
    cards = predictor.model.domain.cards[:-1]
    nothing = Codes.from_columns([np.array([card]) for card in cards], cards)
    log_proba = predictor.log_proba(nothing)[0]
    before = entr(np.exp(log_proba)).sum()
    gains = {}
    for index, feature in enumerate(features):
        rows = with_each_state(nothing, index, feature.n_states)
        shape = predictor.model.feature_shape(index, tuple(predictor.classes.tolist()))
        weights = np.asarray(shape.row_counts)
        if not weights.size:
            weights = predictor.model.state_proba(rows, index, log_proba)
        after = entr(predictor.proba(rows)).sum(axis=1)
        gains[feature.name] = float(before - np.average(after, weights=weights))
    ranked = dict(sorted(gains.items(), key=lambda pair: -pair[1]))
    return RankedNumbers(ranked, "What each reveals by itself, in bits")
