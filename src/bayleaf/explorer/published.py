"""A classifier of which a page may tell: from rounded counts, rare values unnamed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import LEAST_BASE, RoundedCounts, SeenCounts
from bayleaf.data.domain import Domain, Variable, masked_domain
from bayleaf.explorer.content import predictor_content, variable_content
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts

Content = dict[str, Any]
Mask = NDArray[np.bool_]
Rows = NDArray[np.float64]
# Tables that count the same rows whose average tells hardly more than one of them.
_SAFE_LOOKS = 12


def published_content(predictor: Predictor, min_count: int) -> Content:
    """Page content of a classifier that does not reveal counts below `min_count`.

    1 hides nothing; errors are those of `published_predictor` and `predictor_content`.

    Numbers can be entered: a cut point lies midway between two training numbers, or was
    given, and a single one betrays neither. Many close cut points would, as all of them
    that lie between single rows give the numbers themselves away. So a cut point is
    shown if it is an end of a named interval, or if at least `min_count` rows lie
    between it and the next one; a number between two such cut points that has several
    states gets the middle one. Numbers that are states themselves stay if they have
    names.
    """
    if min_count == 1:
        return predictor_content(predictor)
    published, base = published_predictor(predictor, min_count)
    content = predictor_content(published)
    # They tell of single values.
    for variable in content["variables"]:
        for part in ("rules", "distribution", "shape"):
            variable.pop(part, None)
    domain = predictor.model.domain
    unnamed, rows = _states(predictor, min_count)
    for v, variable in enumerate(domain):
        shown = content["variables"][v if v + 1 < len(domain) else content["class"]]
        shown |= _entered(variable, unnamed[v], rows[v], min_count)
    content["remarks"] = [
        "This page differs from the model: its probabilities come from counts of "
        f"training rows rounded to multiples of {base}, and are less exact where there "
        f"are few rows. Values that fewer than {min_count} training rows have, or may "
        "have, are numbered, not named."
    ]
    return content


def _entered(variable: Variable, unnamed: Mask, rows: Rows, min_count: int) -> Content:
    """How numbers are entered for a variable, and which of its states are unnamed."""
    entries: Content = {"unnamed": np.flatnonzero(unnamed).tolist()}
    plain = variable_content(variable, "")
    if "numbers" in plain:
        pairs = zip(plain["numbers"], unnamed, strict=False)
        entries["numbers"] = [None if rare else number for number, rare in pairs]
    if "cuts" in plain:
        spans = _spans(unnamed[: len(plain["cuts"]) + 1], rows, min_count)
        entries["cuts"] = [plain["cuts"][last] for _, _, last in spans[:-1]]
        if len(spans) < variable.n_known_states:
            entries["spans"] = spans
    return entries


def _spans(unnamed: Mask, rows: Rows, min_count: int) -> list[tuple[int, int, int]]:
    """First, middle and last state of intervals that may be told apart.

    Unnamed neighbours are joined until they have enough rows; what is left over at the
    next named one is joined to those before.
    """
    spans: list[list[int]] = []
    for state, rare in enumerate(unnamed.tolist()):
        follows = rare and state > 0 and unnamed[state - 1]
        if follows and rows[spans[-1]].sum() < min_count:
            spans[-1].append(state)
        else:
            spans.append([state])
        ends = state + 1 == len(unnamed) or not unnamed[state + 1]
        few = rare and ends and rows[spans[-1]].sum() < min_count
        if few and len(spans) > 1 and unnamed[spans[-2][0]]:
            spans[-2:] = [spans[-2] + spans[-1]]
    return [(span[0], _middle(span, rows), span[-1]) for span in spans]


def _middle(states: list[int], rows: Rows) -> int:
    """The state with the middle row of several."""
    totals = np.cumsum(rows[states])
    return states[int(np.searchsorted(totals, totals[-1] / 2.0))]


def published_predictor(predictor: Predictor, min_count: int) -> tuple[Predictor, int]:
    """The same classifier from rounded counts, states of few rows without names.

    Also returns the base: counts are rounded to multiples of it, at least 5. The result
    has no support, its temperature one decimal; rounding is deterministic. ValueError
    if `min_count` is below 2, or the model has no support.
    """
    if min_count < 2:
        raise ValueError(f"min_count must be at least 1, got {min_count}")
    support = predictor.support
    if support is None:
        raise ValueError(
            "min_count needs the numbers of training rows behind a model, which this "
            "one does not keep; explore a classifier that was fitted and saved here"
        )
    unnamed, _ = _states(predictor, min_count)
    base, rounding = _rounding(predictor.model, support, min_count)
    rounded = predictor.model.drawn(_unsmoothed(support), rounding)
    published = replace(
        predictor,
        model=_with_domain(rounded, masked_domain(rounded.domain, unnamed)),
        temperature=max(0.1, round(predictor.temperature, 1)),
        support=None,
    )
    return published, base


def _states(predictor: Predictor, min_count: int) -> tuple[list[Mask], Sequence[Rows]]:
    """Which states of each variable are unnamed, and training rows with each state.

    Fewer rows than a least count have them, or may have. "Missing" names no value.
    """
    support = predictor.support
    if support is None or support.state_rows is None:
        raise ValueError(
            "min_count needs the number of training rows with each value, which this "
            "model does not keep: its file was written by an earlier version, or the "
            "weights of its rows, added up in batches, are not integers; fit the "
            "classifier and save it again"
        )
    pairs = zip(predictor.model.domain, support.state_rows, strict=True)
    unnamed = [_few_rows(variable, rows < min_count) for variable, rows in pairs]
    return unnamed, support.state_rows


def _few_rows(variable: Variable, few: Mask) -> Mask:
    """States to leave unnamed where those in `few` have too few rows.

    Intervals of ordered categories are named by the last category of each, the rows of
    which are known only where it is alone in its interval.
    """
    unnamed = few & (np.arange(len(few)) < variable.n_known_states)
    if variable.categories is not None:
        ends = [-0.5, *variable.cut_points, len(variable.categories) - 0.5]
        doubtful = few[: variable.n_known_states] | (np.diff(ends) > 1)
        # Each bound is the last category of the interval below it.
        unnamed[: len(doubtful) - 1] |= doubtful[:-1]
        unnamed[1 : len(doubtful)] |= doubtful[:-1]
    return unnamed


def _rounding(
    model: ClassModel, support: SupportCounts, min_count: int
) -> tuple[int, RoundedCounts]:
    """What counts of a model are rounded to multiples of, and their rounding.

    The average over several tables that count the same rows is nearer to the truth
    than one of them is; from a dozen on, larger steps make up for it.
    """
    seen = SeenCounts()
    model.drawn(_unsmoothed(support), seen)
    rows = max(model.n_training_rows(support), 1.0)
    looks = seen.total / (rows * len(model.domain))
    least = max(min_count, LEAST_BASE)
    base = math.ceil(least * max(1.0, math.sqrt(looks / _SAFE_LOOKS)))
    return base, RoundedCounts(base, seen.key())


def _unsmoothed(support: SupportCounts) -> SupportCounts:
    """Rows alone, so that tables of the same rows have the same sums."""
    return replace(support, pseudo_rows=(0.0,) * len(support.pseudo_rows))


def _with_domain(model: Any, domain: Domain) -> Any:
    """The model over variables with other names of states."""
    if any(field.name == "domain" for field in fields(model)):
        return replace(model, domain=domain)
    return replace(model, network=replace(model.network, domain=domain))
