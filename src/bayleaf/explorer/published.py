"""A classifier of which a page may tell: from rounded counts, rare values unnamed."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import LEAST_BASE, PlainCounts, RoundedCounts, SeenCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.masked_states import masked_domain
from bayleaf.explain.row_probability import row_log_probabilities
from bayleaf.explorer.content import predictor_content
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts

Content = dict[str, Any]
# Tables that count the same rows whose average tells hardly more than one of them.
_SAFE_LOOKS = 12


def published_content(predictor: Predictor, min_count: int) -> Content:
    """What a page holds of a classifier, counts below a number not to be found out.

    Parameters
    ----------
    predictor : Predictor
        The classifier.
    min_count : int
        At least 1, which hides nothing.

    Raises
    ------
    ValueError
        As `published_predictor` and `predictor_content` do.
    """
    if min_count == 1:
        return predictor_content(predictor)
    published, base = published_predictor(predictor, min_count)
    content = predictor_content(published)
    # They tell of single values.
    for variable in content["variables"]:
        for told in ("rules", "distribution", "shape"):
            variable.pop(told, None)
    content["remarks"] = [
        f"Numbers are those of counts rounded to multiples of {base}; "
        "values that few training rows have are numbered, not named."
    ]
    return content


def published_predictor(predictor: Predictor, min_count: int) -> tuple[Predictor, int]:
    """The same classifier from rounded counts, states of few rows without names.

    Parameters
    ----------
    predictor : Predictor
        The classifier, with the numbers of training rows behind its distributions.
    min_count : int
        At least 2; below 5, counts are rounded to multiples of 5 all the same.

    Returns
    -------
    predictor : Predictor
        Without those numbers; its temperature has one decimal. The same classifier is
        always rounded alike.
    base : int
        What counts were rounded to multiples of.

    Raises
    ------
    ValueError
        If `min_count` is below 2, or the model does not know the rows behind it.
    """
    if min_count < 2:
        raise ValueError(f"min_count must be at least 1, got {min_count}")
    support = predictor.support
    if support is None:
        raise ValueError(
            "min_count needs the numbers of training rows behind a model, which this "
            "one does not keep; explore a classifier that was fitted and saved here"
        )
    base, rounding = _rounding(predictor.model, support, min_count)
    rounded = predictor.model.drawn(_unsmoothed(support), rounding)
    # Smoothing and rounding of many tables give a rare state more than it has.
    added = [
        pseudo / size.n_states
        for pseudo, size in zip(support.pseudo_rows, rounded.table_sizes, strict=True)
    ]
    plain = predictor.model.drawn(support, PlainCounts(min(added, default=0.0)))
    rare_share = 2 * base / max(plain.n_training_rows(support), 1.0)
    rare = [own < rare_share for own in _state_probabilities(plain)]
    published = replace(
        predictor,
        model=_with_domain(rounded, masked_domain(rounded.domain, rare)),
        temperature=max(0.1, round(predictor.temperature, 1)),
        support=None,
    )
    return published, base


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


def _state_probabilities(model: ClassModel) -> list[NDArray[np.float64]]:
    """Probability of each state of each variable by itself, the class last."""
    cards = model.domain.cards[:-1]
    found = []
    for feature, card in enumerate(cards):
        columns = [np.full(card, other) for other in cards]
        columns[feature] = np.arange(card)
        rows = Codes.from_columns(columns, cards)
        found.append(np.exp(row_log_probabilities(model, rows)))
    return [*found, model.class_prior]
