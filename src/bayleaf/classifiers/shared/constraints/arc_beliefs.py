"""Prior probabilities of arcs as a parameter of estimators."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from bayleaf.classifiers.shared.constraints.edge_parameters import (
    Name,
    check_edges,
    named_places,
)
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import Unit
from bayleaf.search.constraints import Edge
from bayleaf.wording import quoted


def check_arc_prior(arc_prior: Any) -> None:
    """Raise unless a parameter maps pairs of names to probabilities.

    TypeError for other types; ValueError if a number is not above 0 and below 1, or
    those of both directions of a pair leave nothing for the absence of both.
    """
    if arc_prior is None:
        return
    if not isinstance(arc_prior, Mapping):
        raise TypeError(
            "arc_prior must map (parent, child) pairs of names to probabilities, got "
            f"{quoted(arc_prior)}"
        )
    check_edges("arc_prior", list(arc_prior))
    for (parent, child), belief in arc_prior.items():
        what = f"arc_prior of the arc from {quoted(parent)} to {quoted(child)}"
        refusal = f"{what} must be a number above 0 and below 1, got {quoted(belief)}"
        if not isinstance(belief, numbers.Real) or isinstance(belief, bool):
            raise TypeError(refusal)
        if not 0.0 < float(belief) < 1.0:
            raise ValueError(
                f"{refusal}; for certainty use required_edges or forbidden_edges"
            )
        if parent == child:
            raise ValueError(f"{what} joins a column with itself; name two columns")
        if float(belief) + float(arc_prior.get((child, parent), 0.0)) >= 1.0:
            raise ValueError(
                f"{what} and of the arc the other way sum to 1 or more, which leaves "
                "nothing for neither arc; lower them"
            )


def named_arc_prior(
    arc_prior: Mapping[tuple[Name, Name], float] | None,
    names: Sequence[Name],
    unit: Unit,
) -> ArcPrior | None:
    """The terms of beliefs in arcs between names, in a score's unit; None without.

    ValueError if a belief contains a name that is not a variable's.
    """
    if not arc_prior:
        return None
    beliefs: dict[Edge, float] = {}
    for arc, belief in arc_prior.items():
        parent, child = named_places("arc_prior", arc, names)
        beliefs[parent, child] = float(belief)
    return ArcPrior.from_probabilities(beliefs, len(names), unit)
