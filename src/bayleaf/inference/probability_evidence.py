"""Evidence that states the probabilities of a variable, by Jeffrey's rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayleaf.inference.events.events import Known
from bayleaf.inference.evidence import EvidenceItem, ImpossibleEvidenceError, Likelihood
from bayleaf.inference.exact_query import Query
from bayleaf.inference.network_trees import NetworkTrees

# Sweeps over several variables, and the largest difference that is left then.
_MAX_SWEEPS = 1000
_TOLERANCE = 1e-12


def with_likelihoods(trees: NetworkTrees, known: Known) -> Known:
    """What is known, with likelihoods that give variables their stated probabilities.

    One variable's are its probabilities divided by those given all else (Jeffrey 1965);
    those of several are fitted in turn until all hold (Csiszar 1975, I-projection). ln
    P of what is known is then that of all else. ImpossibleEvidenceError if a state is
    impossible, or the probabilities cannot hold together.
    """
    soft = [item for item in known.evidence.items if item.is_distribution]
    if not soft:
        return known
    weights = {item.variable: np.ones(item.about.n_states) for item in soft}
    for _ in range(_MAX_SWEEPS):
        largest = 0.0
        for item in soft:
            now = Query(trees, _weighted(known, weights), [item.variable]).posterior()
            wanted = item.weights
            if ((now <= 0) & (wanted > 0)).any():
                raise _impossible(soft)
            ratio = np.divide(wanted, now, out=np.zeros_like(now), where=wanted > 0)
            weights[item.variable] = weights[item.variable] * ratio
            largest = max(largest, float(np.abs(now - wanted).max()))
        if len(soft) == 1 or largest <= _TOLERANCE:
            return _weighted(known, weights)
    raise _impossible(soft)


def _impossible(soft: list[EvidenceItem]) -> ImpossibleEvidenceError:
    """The error for probabilities that no distribution of the network has."""
    names = tuple(item.about.name for item in soft)
    return ImpossibleEvidenceError(
        f"{' and '.join(item.text for item in soft)} cannot hold together with what "
        "else is given under this network",
        names,
    )


def _weighted(known: Known, weights: dict[int, Likelihood]) -> Known:
    """What is known with likelihoods where probabilities were stated."""
    items: list[EvidenceItem] = []
    for item in known.evidence.items:
        if item.is_distribution:
            weighed = weights[item.variable]
            item = EvidenceItem(item.variable, item.about, weighed, item.words)
        if item.is_informative:
            items.append(item)
    return replace(known, evidence=known.evidence.only(items))
