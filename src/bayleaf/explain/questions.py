"""Which feature to ask for next, and whether answers would change the decision."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows, single_states
from bayleaf.explain.subject import row_of, subject_of, with_each_state
from bayleaf.models.class_model import ClassModel, log_normalize
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.models.predictor import ModelLike, Predictor
from bayleaf.results.result_lists import RankedNumbers
from bayleaf.typing import RowLike

Floats = NDArray[np.float64]

# Draws before which decisions are not compared with a limit.
_FEWEST_DRAWS = 30


def value_of_information(
    model: ModelLike, row: RowLike | Rows
) -> dict[str | int, float]:
    """Rank the features of a row that are missing by what they reveal of the target.

    Parameters
    ----------
    model : classifier or regressor
        A fitted model, or one read from its file.
    row : mapping, series, list or table of one row
        What is known; a mapping may leave features out.

    Returns
    -------
    dict from name to float
        Expected reduction of the entropy of the class in nats once the feature is
        known, the largest first. Of a number the share of its variance, from 0 to 1.

    Raises
    ------
    ValueError
        If there are several rows, or a feature or state is unknown.

    Notes
    -----
    The entropy of the class, zero once it is certain, is what is still open; a
    reduction divided by it is the share that the feature answers, which pages
    show.

    The states of a feature are as probable as the model finds them where the row is
    known. Of averaged KDB, which is not one joint distribution, answers do not average
    to what was known before: theirs is the entropy that the state reduces, so that no
    reduction is negative.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"], "shoes": [*"abab"]})
    >>> model = NaiveBayesClassifier().fit(X, ["well", "well", "ill", "ill"])
    >>> list(value_of_information(model, {}))
    ['cough', 'shoes']
    """
    from scipy.special import entr

    predictor, number = subject_of(model)
    codes = single_states(row_of(predictor if number else model, row))
    *features, _ = predictor.model.domain.variables
    log_proba = _log_proba(predictor, number, codes)
    gains = {}
    for index, feature in enumerate(features):
        if codes.column(index)[0] < feature.n_states:
            continue
        rows = with_each_state(codes, index, feature.n_states)
        weights = predictor.model.state_proba(rows, index, log_proba)
        possible = np.flatnonzero(weights)
        shares = weights[possible] / weights[possible].sum()
        if number is not None:
            answers = number.distributions(rows.rows(possible))
            between = shares @ (answers.mean - shares @ answers.mean) ** 2
            whole = between + shares @ answers.variance
            # Of a number that never varies, rounding alone is left.
            rounding = 8 * np.finfo(float).eps * np.abs(answers.mean).max()
            gains[feature.name] = float(between / whole) if whole > rounding**2 else 0.0
            continue
        proba = predictor.proba(rows.rows(possible))
        before, after = entr(shares @ proba).sum(), entr(proba).sum(axis=1)
        gains[feature.name] = float(before - shares @ after)
    ranked = dict(sorted(gains.items(), key=lambda pair: -pair[1]))
    if number is not None:
        title = "Share of the variance that knowing each takes away on average"
        return RankedNumbers(ranked, title, float)
    return RankedNumbers(ranked, "What knowing each reveals on average, in bits")


def decision_changes(
    model: ModelLike,
    row: RowLike | Rows,
    *,
    threshold: float | None = None,
    n_draws: int = 200,
    limit: float | None = None,
) -> float:
    """Estimate how often the decision would change if all missing features were known.

    Parameters
    ----------
    model : classifier or regressor
        A fitted model, or one read from its file. Of a number the decision is whether
        its expectation lies in the middle half of its present distribution.
    row : mapping, series, list or table of one row
        What is known; a mapping may leave features out.
    threshold : float, optional
        Of two classes, decide for the second from this probability on; by default the
        most probable class, or the cheapest under a loss.
    n_draws : int, default=200
        Cases drawn.
    limit : float, optional
        End early, from 30 draws on, where the share is larger than this by more than
        two standard errors.

    Returns
    -------
    float
        Share of the cases drawn whose decision differs from that of the row.

    Raises
    ------
    ValueError
        If there are several rows, a feature or state is unknown, `threshold` is given
        for a number or more than two classes, or `n_draws` is below 1.

    Notes
    -----
    Each case draws the class from its posterior, then each missing feature in order,
    given the class and all before. Draws are the same each time, and those of the
    questionnaire on pages, which ends below 5 in 100.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"], "shoes": [*"abab"]})
    >>> model = NaiveBayesClassifier().fit(X, ["well", "well", "ill", "ill"])
    >>> decision_changes(model, {"cough": "y"})
    0.0
    """
    predictor, number = subject_of(model)
    codes = single_states(row_of(predictor if number else model, row))
    if number is not None and threshold is not None:
        raise ValueError("threshold needs two classes, but the model predicts a number")
    if threshold is not None and len(predictor.classes) != 2:
        raise ValueError(
            f"threshold needs two classes, but the model has {len(predictor.classes)}"
        )
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")

    if number is not None:
        middle = number.distributions(codes).quantiles([0.25, 0.75])[0]

    def decision(case: Codes) -> int:
        if number is not None:
            mean = number.distributions(case).mean[0]
            return int(mean > middle[1]) - int(mean < middle[0])
        proba = predictor.proba(case)
        if threshold is not None:
            return int(proba[0, 1] >= threshold)
        return int(predictor.choose(proba)[0])

    cards = codes.cards
    # The only state of a feature needs no answer; pages do not ask for it.
    missing = [v for v, card in enumerate(cards) if codes.column(v)[0] >= card > 1]
    now, uniform = decision(codes), uniform_numbers(7)
    posterior = np.exp(_log_proba(predictor, number, codes))
    n_changed = n_drawn = 0
    while n_drawn < n_draws:
        label, case = _drawn(posterior, uniform), codes
        for feature in missing:
            rows = with_each_state(case, feature, cards[feature])
            state = _drawn(_shares(predictor.model, rows, feature, label), uniform)
            case = rows.rows(slice(state, state + 1))
        n_changed += decision(case) != now
        n_drawn += 1
        share = n_changed / n_drawn
        error = math.sqrt(share * (1.0 - share) / n_drawn)
        if limit is not None and n_drawn >= _FEWEST_DRAWS and share - 2 * error > limit:
            break
    return n_changed / n_drawn


def _log_proba(
    predictor: Predictor, number: IntervalTargetModel | None, codes: Codes
) -> Floats:
    """Log posterior of the classes, or of the intervals of a number, of one row."""
    if number is None:
        return np.asarray(predictor.log_proba(codes)[0])
    (cells,) = number.distributions(codes).probabilities
    return np.log(np.bincount(number.cell_intervals, cells))


def _shares(model: ClassModel, rows: Codes, feature: int, label: int) -> Floats:
    """P(state | class, what else is known) of a feature; `rows` have one state each."""
    if model.feature_marginals is None:
        scores = model.class_log_scores(rows)[:, label]
        return np.asarray(np.exp(log_normalize(scores[None])[0]))
    certain = np.full(model.domain.cards[-1], -np.inf)
    certain[label] = 0.0
    return model.state_proba(rows, feature, certain)


def uniform_numbers(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1 by mulberry32, as pages draw them."""
    mask, state = 0xFFFFFFFF, seed
    while True:
        state = (state + 0x6D2B79F5) & mask
        mixed = ((state ^ state >> 15) * (1 | state)) & mask
        product = ((mixed ^ mixed >> 7) * (61 | mixed)) & mask
        mixed = (mixed + product & mask) ^ mixed
        yield (mixed ^ mixed >> 14) / 2**32


def _drawn(weights: Floats, uniform: Iterator[float]) -> int:
    """An index drawn by weights."""
    totals = np.cumsum(weights)
    index = np.searchsorted(totals, next(uniform) * totals[-1], side="right")
    return int(min(index, np.flatnonzero(weights)[-1]))
