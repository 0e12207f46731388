"""Rows of a table that are like a case, counted as pages count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import available_codes, single_states
from bayleaf.data.tables.named_rows import named_table
from bayleaf.explain.subject import row_of, rows_of, subject_of, with_each_state
from bayleaf.models.predictor import ModelLike, Predictor
from bayleaf.models.texts.feature_shape import finite_edges
from bayleaf.results.document import Document
from bayleaf.results.result import Record, Result
from bayleaf.typing import ByName, FrameLike
from bayleaf.wording import brief_fields, counted, name_list

Floats = NDArray[np.float64]

# Matching rows from which on no weaker findings are left out, as on pages.
ENOUGH_ROWS = 8
# Share of the axis of a picture within which numbers are alike.
_ALIKE = 0.1
# Share of the rows in a tail that is cut off an axis, and the least gain of that.
_TAIL, _TAIL_WIDTH = 0.015, 0.3


@dataclass(frozen=True)
class Match(Record):
    """Rows that match some features of a case.

    Parameters
    ----------
    features : tuple
        The features that match, the strongest first.
    n : int or None
        Number of rows; None if it is below the least count, and not reported.
    recorded : dict from label to int
        Rows by recorded class; empty where the table has no class, or any class has
        fewer rows than the least count, and for regressors.
    mean : float or None
        Mean of the recorded numbers, for regressors; None where the table has none, or
        fewer rows than the least count match.
    """

    features: tuple[str | int, ...]
    n: int | None
    recorded: dict[Hashable, int]
    mean: float | None = None


@dataclass(frozen=True)
class MatchingRows(Result):
    """Rows like a case: in all that is known of it, and in its strongest findings.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    min_count : int
        Counts below it are not reported.
    known : Match
        Rows that match all known features.
    strongest : Match
        Rows that match the largest set of the strongest features that at least 8 match;
        the same where `known` has as many, a single feature where none has.
    """

    n_rows: int
    min_count: int
    known: Match
    strongest: Match

    __repr__ = brief_fields

    def document(self) -> Document:
        """Two sentences, or one where they are the same."""
        matches = {match.features: match for match in (self.known, self.strongest)}
        return Document("", [self._text(match) for match in matches.values()])

    def _text(self, match: Match) -> str:
        n = f"fewer than {self.min_count}" if match.n is None else f"{match.n}"
        recorded = ", ".join(f"{c}: {rows}" for c, rows in match.recorded.items())
        if match.mean is not None:
            recorded = f"mean {match.mean:.6g}"
        return (
            f"{n} of {counted(self.n_rows, 'row')} match {name_list(match.features)}"
            f"{f' ({recorded})' if recorded else ''}"
        )


def matching_rows(
    model: ModelLike,
    row: ByName[object],
    X: FrameLike,
    *,
    tolerances: ByName[float] | None = None,
    min_count: int = 1,
) -> MatchingRows:
    """Count the rows of a table that are like a case.

    Parameters
    ----------
    model : classifier or regressor
        A fitted model, or one read from its file.
    row : mapping
        The case: values by feature. At least one must be known.
    X : data frame
        The rows, with the columns of training and, if it should be counted, the target.
    tolerances : mapping from name to float, optional
        How far numbers may be apart; by default a twentieth of the axis of pictures.
    min_count : int, default=1
        Counts below it are None, and "fewer than" it in words.

    Returns
    -------
    MatchingRows

    Raises
    ------
    ValueError
        If nothing is known, a feature or state is unknown, the table lacks a column of
        training, or `min_count` is below 1.

    Notes
    -----
    The strength of a feature is its term in the explanation of the case. An interval
    matches if its middle is near enough to the number, or is that of the number. A page
    with rows counts so.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"], "shoes": [*"abab"]})
    >>> model = NaiveBayesClassifier().fit(X, ["well", "well", "ill", "ill"])
    >>> matching_rows(model, {"cough": "y"}, X).known.n
    2
    """
    if min_count < 1:
        raise ValueError(f"min_count must be at least 1, got {min_count}")
    predictor, number = subject_of(model)
    case = single_states(row_of(predictor if number else model, row))
    cards = case.cards
    known = [v for v, card in enumerate(cards) if case.column(v)[0] < card]
    if not known:
        raise ValueError("row has no known feature; give a value of at least one")
    (explanation,) = (number or predictor).explain(case)
    known.sort(key=lambda v: (-abs(explanation.terms[v].contribution), v))
    names = predictor.model.domain.names
    frame = nw.from_native(named_table(X), eager_only=True)
    columns = {str(name): name for name in frame.columns}
    required = [columns.get(str(c), c) for c in predictor.encoder.column_names]
    is_whole = all(name in frame.columns for name in required)
    table = available_codes(
        rows_of(
            predictor if number else model,
            frame.select(required).to_native() if is_whole else X,
        )
    )
    target = columns.get(str(names[-1]))
    labels = None if target is None else np.asarray(frame[target].to_list(), object)
    classes = predictor.classes.tolist()
    alike = {
        v: _alike(
            predictor, case, v, row.get(names[v]), (tolerances or {}).get(names[v])
        )
        for v in known
    }

    def match(features: Sequence[int]) -> tuple[int, Match]:
        is_like = np.ones(table.n_rows, dtype=bool)
        for v in features:
            # What is missing, a group or not seen in training matches nothing.
            is_like &= np.append(alike[v], False)[np.minimum(table.column(v), cards[v])]
        n = int(is_like.sum())
        names_of_match = tuple(names[v] for v in features)
        if number is not None:
            numbers = np.array([] if labels is None else labels[is_like], float)
            numbers = numbers[np.isfinite(numbers)]
            mean = float(numbers.mean()) if numbers.size and n >= min_count else None
            return n, Match(names_of_match, n if n >= min_count else None, {}, mean)
        recorded = Counter([] if labels is None else labels[is_like].tolist())
        # A class with few rows, or none, would follow from the others and the whole.
        if min(recorded[c] for c in classes) < min_count > 1:
            recorded = Counter()
        return n, Match(names_of_match, n if n >= min_count else None, dict(recorded))

    n, of_all = match(known)
    strongest = of_all
    for k in range(len(known) - 1, 0, -1):
        if n >= ENOUGH_ROWS:
            break
        n, strongest = match(known[:k])
    return MatchingRows(table.n_rows, min_count, of_all, strongest)


def _alike(
    predictor: Predictor, case: Codes, feature: int, value: Any, tolerance: float | None
) -> NDArray[np.bool_]:
    """Which states of a feature are like that of the case, (n_states,)."""
    variable = predictor.model.domain[feature]
    state = int(case.column(feature)[0])
    is_alike: NDArray[np.bool_] = np.arange(variable.n_states) == state
    edges = finite_edges(variable)
    n_intervals = len(edges) - 1
    if state >= n_intervals:
        return is_alike
    low, high = _axis(edges, _weights(predictor, case, feature)[:n_intervals])
    if tolerance is None:
        tolerance = _ALIKE * (high - low) / 2
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = (edges[state] + edges[state + 1]) / 2
    middles = (np.maximum(edges[:-1], low) + np.minimum(edges[1:], high)) / 2
    is_alike[:n_intervals] |= np.abs(middles - number) <= tolerance
    return is_alike


def _weights(predictor: Predictor, case: Codes, feature: int) -> Floats:
    """Training rows with each state of a feature, or their shares."""
    shape = predictor.model.feature_shape(feature, tuple(predictor.classes.tolist()))
    if shape.row_counts.size:
        return np.asarray(shape.row_counts)
    nothing = Codes.from_columns([np.array([card]) for card in case.cards], case.cards)
    rows = with_each_state(nothing, feature, case.cards[feature])
    log_proba = predictor.log_proba(nothing)[0]
    return predictor.model.state_proba(rows, feature, log_proba)


def _axis(edges: Floats, weights: Floats) -> tuple[float, float]:
    """Ends of the axis of intervals: a long tail of few rows is cut off."""
    low, high = float(edges[0]), float(edges[-1])
    total = weights.sum()
    if not total:
        return low, high
    below = np.cumsum(weights) / total
    last = float(edges[1:][below >= 1 - _TAIL][0])
    first = float(edges[:-1][below - weights / total <= _TAIL][-1])
    if high - last > _TAIL_WIDTH * (high - low):
        high = last
    if first - low > _TAIL_WIDTH * (high - low):
        low = first
    return low, high
