"""Which feature to ask for next: how much its value is expected to reveal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.subject import predictor_of, row_of
from bayleaf.results.result_lists import RankedNumbers

Floats = NDArray[np.float64]


def value_of_information(model: Any, row: Any) -> dict[str | int, float]:
    """Rank the features of a row that are missing by what they reveal of the class.

    Parameters
    ----------
    model : classifier
        A fitted model, or one read from its file.
    row : mapping, series, list or table of one row
        What is known; a mapping may leave features out.

    Returns
    -------
    dict from name to float
        Expected reduction of the entropy of the class in nats once the feature is
        known, the largest first.

    Raises
    ------
    ValueError
        If there are several rows, or a feature or state is unknown.

    Notes
    -----
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

    predictor, codes = predictor_of(model), row_of(model, row)
    *features, _ = predictor.model.domain.variables
    log_proba = predictor.log_proba(codes)[0]
    gains = {}
    for index, feature in enumerate(features):
        if codes.column(index)[0] < feature.n_states:
            continue
        rows = _with_each_state(codes, index, feature.n_states)
        weights = predictor.model.state_proba(rows, index, log_proba)
        possible = np.flatnonzero(weights)
        shares = weights[possible] / weights[possible].sum()
        proba = predictor.proba(rows.rows(possible))
        before, after = entr(shares @ proba).sum(), entr(proba).sum(axis=1)
        gains[feature.name] = float(before - shares @ after)
    ranked = dict(sorted(gains.items(), key=lambda pair: -pair[1]))
    return RankedNumbers(ranked, "bits that knowing it is expected to give")


def _with_each_state(codes: Codes, feature: int, n_states: int) -> Codes:
    """The row once with each state of a feature."""
    columns: list[NDArray[np.integer[Any]]] = [
        np.full(n_states, codes.column(index)[0]) for index in range(codes.n_variables)
    ]
    columns[feature] = np.arange(n_states)
    return Codes.from_columns(columns, codes.cards)
