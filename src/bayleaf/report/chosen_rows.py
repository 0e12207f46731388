"""Ten example cases: confident and correct, confident and wrong, undecided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Rows, available_codes, sets_in, single_states
from bayleaf.data.tables.frames import take_rows
from bayleaf.explain import RowConflict, conflicts, contexts, counterfactuals
from bayleaf.explain.credible import CredibleInterval, credible_intervals
from bayleaf.models.explanation import noted
from bayleaf.models.predictor import Predictor
from bayleaf.report.quality import Predictions

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Values = dict[str, Any]

RIGHT, WRONG, UNDECIDED = "confident, correct", "confident, wrong", "undecided"
N_ROWS = 10
_TERMS = 8
_COUNTERFACTUALS = 3
# Changed rows that are tried for a single explained row.
_EFFORT = 200_000
_DRAWS = 1000


def choose_rows(found: Predictions, table_rows: Rows) -> list[tuple[int, str]]:
    """Rows to explain with why each was chosen, no two of them alike.

    Four rows with the most probable right predictions, class by class in turn; three
    with the most probable wrong ones; three whose two likeliest classes are closest.
    Where there are too few of a kind, others take their place. The first four are two
    right ones, a wrong one and an undecided one, as far as there are such. Rows with
    cells that name groups are left out, since they have no counterfactuals.
    """
    rows = np.arange(len(found.truth))
    certainty = found.proba[rows, found.chosen]
    right = found.chosen == found.truth
    ranked = np.sort(found.proba, axis=1)
    margin = ranked[:, -1] - ranked[:, -2] if ranked.shape[1] > 1 else certainty
    wrong = np.argsort(-certainty, kind="stable")
    orders = {
        RIGHT: _in_turn(np.flatnonzero(right), certainty, found.truth),
        WRONG: [row for row in wrong.tolist() if not right[row]],
        UNDECIDED: np.argsort(margin, kind="stable").tolist(),
    }
    seen: set[bytes] = set()
    chosen: list[tuple[int, str]] = []
    codes, with_groups = available_codes(table_rows), sets_in(table_rows).rows
    table = np.stack([codes.column(i) for i in range(codes.n_variables)], axis=1)
    for kind, most in ((WRONG, 3), (UNDECIDED, 6), (RIGHT, N_ROWS)):
        for row in orders[kind]:
            key = table[row].tobytes()
            if len(chosen) == most:
                break
            if key not in seen and row not in with_groups:
                seen.add(key)
                chosen.append((int(row), kind))
    order = (RIGHT, WRONG, UNDECIDED)
    by_kind = [[item for item in chosen if item[1] == kind] for kind in order]
    first = [*by_kind[0][:2], *by_kind[1][:1], *by_kind[2][:1]]
    return first + [item for rows in by_kind for item in rows if item not in first]


def _in_turn(rows: Indices, certainty: Floats, truth: Indices) -> list[int]:
    """Rows by falling certainty, one of each class in turn."""
    by_class = [
        sorted(rows[truth[rows] == label].tolist(), key=lambda row: -certainty[row])
        for label in np.unique(truth[rows])
    ]
    depth = max(map(len, by_class), default=0)
    return [own[i] for i in range(depth) for own in by_class if i < len(own)]


def row_values(
    model: Any,
    predictor: Predictor,
    table_rows: Rows,
    found: Predictions,
    names: Sequence[str],
    X: Any,
) -> list[Values]:
    """Explain the rows of X that `choose_rows` picks, by the `predictor` of `model`."""
    chosen = choose_rows(found, table_rows)
    if not chosen:
        return []
    rows = np.array([row for row, _ in chosen])
    own = single_states(table_rows.rows(rows))
    proba = predictor.proba(own)
    cells = model._encode(take_rows(X, rows), return_notes=True)
    explanations = noted(predictor.explain(own), cells)
    told, clashes = contexts(predictor, own), _clashes(predictor, own)
    intervals = _intervals(model, own, names)
    labels = predictor.classes.tolist()
    values = []
    for place, (row, kind) in enumerate(chosen):
        explanation: dict[str, Any] = explanations[place].to_dict()
        terms = sorted(explanation["terms"], key=lambda term: -abs(term["bits"]))
        clash = None if clashes is None else clashes[place]
        values.append(
            {
                "row": row + 1,
                "kind": kind,
                "truth": names[found.truth[row]],
                "held_out": {
                    "class": names[found.chosen[row]],
                    "probabilities": _named(names, found.proba[row]),
                },
                "class": names[labels.index(explanation["class"])],
                "against": names[labels.index(explanation["against"])],
                "probabilities": _named(names, proba[place]),
                "interval": intervals[place],
                "log_odds": explanation["log_odds"],
                "prior": explanation["prior"],
                "terms": terms[:_TERMS],
                "rest": sum(term["contribution"] for term in terms[_TERMS:]),
                "n_rest": len(terms[_TERMS:]),
                "contexts": told[place],
                "conflict": str(clash) if clash and clash.worth_telling else None,
                "counterfactuals": _changes(
                    predictor, own.rows(np.array([place])), names
                ),
            }
        )
    return values


def _named(names: Sequence[str], proba: Floats) -> dict[str, float]:
    """Probabilities by class."""
    return dict(zip(names, proba.tolist(), strict=True))


def _clashes(predictor: Predictor, codes: Codes) -> list[RowConflict] | None:
    """Whether the rows' values contradict one another; None where that is too large."""
    try:
        return conflicts(predictor, codes)
    except ValueError:
        return None


def _changes(predictor: Predictor, row: Codes, names: Sequence[str]) -> Values | None:
    """The smallest changes that lead to another class; None with a single class."""
    if len(predictor.classes) < 2:
        return None
    n_moves = sum(max(card - 1, 0) for card in row.cards)
    affordable = [size for size in (1, 2, 3) if n_moves**size <= _EFFORT * size]
    found = counterfactuals(
        predictor, row, n=_COUNTERFACTUALS, max_changes=max(affordable, default=1)
    )
    labels = predictor.classes.tolist()
    return {
        "max_changes": found.max_changes,
        "basis": found.basis,
        "counterfactuals": [
            {
                "changes": item.to_dict()["changes"],
                "class": names[labels.index(item.prediction)],
                "probability": item.probabilities[str(item.prediction)],
            }
            for item in found
        ],
    }


def _intervals(model: Any, codes: Codes, names: Sequence[str]) -> list[Values | None]:
    """How sure the counts behind a model are of each row's chosen class.

    None for models that keep no counts.
    """
    try:
        found = credible_intervals(model, codes, n_draws=_DRAWS, random_state=0)
    except (ValueError, TypeError):
        return [None] * codes.n_rows
    return [_interval(one, names) for one in found]


def _interval(found: CredibleInterval, names: Sequence[str]) -> Values:
    """The interval of each class, and how many distributions rest on few rows."""
    return {
        "level": found.level,
        "classes": {
            name: [one.low, one.high]
            for name, one in zip(names, found.classes, strict=True)
        },
        "n_rare_cells": len(found.rare_cells),
        "n_cells": len(found.cells),
    }
