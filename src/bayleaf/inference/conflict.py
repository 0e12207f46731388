"""Whether items of evidence speak for each other or against each other."""

from __future__ import annotations

import numpy as np

from bayleaf.inference.evidence import Evidence
from bayleaf.inference.parts import NetworkTrees


def conflict(trees: NetworkTrees, evidence: Evidence) -> float:
    """Conflict in evidence, in nats: ln of the product of all P(e_i), over P(e).

    Above 0, the items are rarer together than if they were independent, which may mean
    a wrong item or a case that the network does not cover. ImpossibleEvidenceError if
    P(e) is zero. Jensen, Chamberlain, Nordahl and Jensen (1991), Analysis in HUGIN of
    data conflict, UAI-90, 519-528.
    """
    together = _checked_log_probability(trees, evidence)
    return sum(_log_alone(trees, evidence).values()) - together


def conflict_by_item(trees: NetworkTrees, evidence: Evidence) -> dict[int, float]:
    """Conflict of each item with the others: ln P(e_i) P(all others) / P(e) in nats.

    Above 0, the item would be less surprising without the others.
    ImpossibleEvidenceError if P(e) is zero.
    """
    together = _checked_log_probability(trees, evidence)
    alone = _log_alone(trees, evidence)
    by_item = {}
    for item in evidence.items:
        others = evidence.only(other for other in evidence.items if other is not item)
        log_others = trees.log_probability(others)
        by_item[item.variable] = alone[item.variable] + log_others - together
    return by_item


def _checked_log_probability(trees: NetworkTrees, evidence: Evidence) -> float:
    """Natural logarithm of P(evidence); raises if that is impossible."""
    log_probability = trees.log_probability(evidence)
    if np.isneginf(log_probability):
        raise trees.impossible(evidence)
    return log_probability


def _log_alone(trees: NetworkTrees, evidence: Evidence) -> dict[int, float]:
    """Natural logarithm of each item's own probability without any of the others."""
    likelihoods = evidence.likelihoods
    alone = {}
    for group, part in trees.parts(evidence.only(()), list(likelihoods)):
        prior, places = part.propagate({}), part.positions
        for variable in group:
            probability = prior.marginal(places[variable]) @ likelihoods[variable]
            alone[variable] = float(np.log(probability))
    return alone
