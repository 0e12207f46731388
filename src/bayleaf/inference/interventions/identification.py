"""By which formula an effect follows from what can be observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Literal

from bayleaf.graph.adjustment import Adjustment
from bayleaf.graph.separation import Nodes, OpenTrails, descendants
from bayleaf.inference.interventions.adjustment_sets import (
    Name,
    blocking_path,
    find_adjustment_sets,
    front_door_of,
    named_path,
)
from bayleaf.wording import name_list, quoted

# Sets that are compared by the size of their tables.
_COMPARED = 50


@dataclass(frozen=True)
class Formula:
    """A way to an interventional distribution.

    "cut" is the network without arcs into the treatment, "backdoor" averages over
    covariates, "frontdoor" over mediators and treatments, "none" has no effect.
    """

    kind: Literal["cut", "backdoor", "frontdoor", "none"]
    covariates: tuple[int, ...] = ()  # of the averages, in increasing order

    def text(self, names: Sequence[Name], given: Sequence[Name] = ()) -> str:
        """The formula in words."""
        if self.kind == "cut":
            return "the network without the arcs into the treatment"
        if self.kind == "none":
            return "no directed path from the treatment to the outcome"
        others = [names[node] for node in self.covariates if names[node] not in given]
        what = name_list(others, limit=20) or "nothing"
        if self.kind == "backdoor":
            return f"back-door adjustment for {what}"
        return f"front-door adjustment by {what}"


def given_formula(
    names: Sequence[Name], task: Adjustment, covariates: Nodes
) -> Formula:
    """Adjustment for a set that a user chose, what is given included.

    `task.required` is what is given. ValueError, with the open path, if the set does
    not identify the effect.
    """
    hidden = covariates & task.excluded
    if hidden:
        listed = name_list([names[node] for node in sorted(hidden)])
        raise ValueError(f"{listed} cannot be adjusted for while marked as latent")
    harmful = covariates & task.harmful
    if harmful:
        listed = name_list([names[node] for node in sorted(harmful)])
        raise ValueError(
            f"adjusting for {listed} is no way to the effect, as it is the treatment, "
            "the outcome, or below the treatment; leave it out"
        )
    trail = OpenTrails(task.graph, task.treatments, task.outcomes, covariates)
    shortest = trail.shortest()
    if shortest is not None:
        listed = name_list([names[node] for node in sorted(covariates)]) or "nothing"
        path = named_path(names, task.dag, shortest)
        raise ValueError(f"adjusting for {listed} leaves the path {path} open")
    return Formula("backdoor", tuple(sorted(covariates)))


def identified(
    names: Sequence[Name], task: Adjustment, cards: Sequence[int]
) -> Formula:
    """The formula for an effect where some variables are latent.

    The task excludes latent variables and requires given ones. Among several sets, that
    of the smallest table. ValueError, with the open path, if neither criterion
    identifies the effect.
    """
    below = task.required & descendants(task.dag, task.treatments)
    if below:
        raise ValueError(
            f"{quoted(names[min(below)])} is given, but the treatment acts on it; with "
            "latent variables an effect can only be given what the treatment does not "
            "act on"
        )
    if not task.causal:
        return Formula("none")
    # The indices stand for names, so that sets come back as they are needed.
    everyone = range(len(task.dag))
    back = find_adjustment_sets(everyone, task, "backdoor", limit=_COMPARED)
    if back:
        chosen = min(back, key=lambda nodes: prod(cards[int(v)] for v in nodes))
        return Formula("backdoor", tuple(sorted(map(int, chosen))))
    front = list(islice(front_door_of(task).minimal_sets(), _COMPARED))
    if front and not task.required:
        mediators = min(front, key=lambda nodes: prod(cards[v] for v in nodes))
        return Formula("frontdoor", tuple(sorted(mediators)))
    treatment, outcome = (names[min(s)] for s in (task.treatments, task.outcomes))
    path = blocking_path(names, task) or blocking_path(
        names, replace(task, required=frozenset())
    )
    reason = f": open path {path}" if path else " given what is given"
    raise ValueError(
        f"the effect of {quoted(treatment)} on {quoted(outcome)} is not identified by "
        f"adjustment for observed variables, nor by mediators{reason}"
    )
