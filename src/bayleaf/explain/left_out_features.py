"""Leave-one-out log-loss of a model without one of its features, from counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.data.codes import Codes
from bayleaf.search.left_out.left_out_scores import LeaveOneOut

Floats = NDArray[np.float64]

_INSTEAD = "give X and y, rows that training did not see"


def left_out_losses(model: Any) -> tuple[Codes, Floats, Floats]:
    """Log-loss of left-out training rows with all features, then without each.

    A feature is left out of the structure: its own table goes, and its children's
    tables are counted again without it. Structure and temperature stay otherwise. The
    class must be a parent of all; AttributeError for other models, or without training
    rows.

    Returns the training codes, the class last; losses (1 + n_features,), nats per row;
    and gains (n_features, n_rows) of each feature alone in the log-probability of the
    row's class, nats.
    """
    kind = type(model).__name__
    codes = getattr(model, "_training_codes", None)
    if codes is None:
        raise AttributeError(
            f"this {kind} does not hold its training rows, which go with saving, "
            f"pickling and partial_fit; {_INSTEAD}"
        )
    generative = getattr(model, "objective", "generative") == "generative"
    families = model.model_.left_out_families
    if families is None or not generative:
        raise AttributeError(
            f"{kind} has no exact leave-one-out without a single feature; {_INSTEAD}"
        )
    left_out = model._leave_one_out(codes, model.model_.domain, [model.smoothing_])
    losses = [
        left_out.scores(scores / model.temperature_).log_loss
        for scores in _scores(left_out, families)
    ]
    return codes, np.array(losses), _gains(left_out, len(families))


def _gains(left_out: LeaveOneOut, n_features: int) -> Floats:
    """What each feature alone gains, (n_features, n_rows)."""
    labels, class_index = left_out.rows.own, left_out.counts.class_index

    def logs(families: list[Family]) -> Floats:
        scores = left_out.log_scores(families)[0]
        posterior = scores - np.logaddexp.reduce(scores, axis=0)
        return np.asarray(posterior[labels, np.arange(len(labels))])

    prior = logs([])
    return np.array([logs([(class_index, i)]) - prior for i in range(n_features)])


def _scores(left_out: LeaveOneOut, families: tuple[Family, ...]) -> list[Floats]:
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
