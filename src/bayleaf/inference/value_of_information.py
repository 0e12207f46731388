"""What observing a variable is expected to tell of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.evidence import Evidence
from bayleaf.inference.parts import NetworkTrees, Part


def value_of_information(
    trees: NetworkTrees, target: int, evidence: Evidence, candidates: Sequence[int]
) -> NDArray[np.float64]:
    """I(target; candidate | evidence) in nats, shape (n_candidates,), at least 0.

    The expected entropy reduction by each candidate. One propagation for each possible
    state of the target gives P(candidate | state) for all candidates at once.
    ImpossibleEvidenceError if P(evidence) is zero.
    """
    values: dict[int, float] = {}
    for group, part in trees.parts(evidence, candidates, [target]):
        values.update(_values(trees, part, target, evidence, group))
    return np.array([values[candidate] for candidate in candidates])


def _values(
    trees: NetworkTrees,
    part: Part,
    target: int,
    evidence: Evidence,
    candidates: Sequence[int],
) -> dict[int, float]:
    """Values of the candidates that a part can answer for."""
    places = part.positions
    likelihoods = evidence.likelihoods
    overall = part.propagate(likelihoods)
    if np.isneginf(overall.log_evidence):
        raise trees.impossible(evidence)
    marginals = {v: overall.marginal(places[v]) for v in candidates}
    probabilities = overall.marginal(places[target])
    values = dict.fromkeys(candidates, 0.0)
    for state in np.flatnonzero(probabilities):
        one_hot = np.zeros(len(probabilities))
        one_hot[state] = 1.0
        given = part.propagate({**likelihoods, target: one_hot})
        for v in candidates:
            told = _divergence(given.marginal(places[v]), marginals[v])
            values[v] += probabilities[state] * told
    return {v: max(value, 0.0) for v, value in values.items()}


def _divergence(
    conditional: NDArray[np.float64], marginal: NDArray[np.float64]
) -> float:
    """Kullback-Leibler divergence in nats of a conditional from its marginal."""
    seen = conditional > 0
    ratios = conditional[seen] / marginal[seen]
    return float((conditional[seen] * np.log(ratios)).sum())
