"""The joint distribution of a network, cell by cell, and sums over it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayleaf.inference.log_sums import logarithmic_mean_weights
from bayleaf.models.bayesian_network import BayesianNetwork


def joint_cells(network: BayesianNetwork) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every joint state with the product of the tables' entries."""
    for states in itertools.product(*(range(card) for card in network.domain.cards)):
        yield (
            states,
            math.prod(
                float(cpd.probabilities[tuple(states[member] for member in cpd.family)])
                for cpd in network.cpds
            ),
        )


def class_scores(network: BayesianNetwork, row: Sequence[int | None]) -> list[float]:
    """P(class, observed features of the row), by summing over all joint states.

    The class is the last variable; None marks a missing feature.
    """
    sums: list[list[float]] = [[] for _ in range(network.domain.cards[-1])]
    for states, probability in joint_cells(network):
        if all(code is None or code == states[i] for i, code in enumerate(row)):
            sums[states[-1]].append(probability)
    return [math.fsum(terms) for terms in sums]


def one_dependence_scores(model: Any, row: Sequence[int | None]) -> list[float]:
    """Mean of the joints of the one-dependence networks, missing cells summed out.

    A network whose super-parent has an unusable state is left out; naive Bayes takes
    over where none is left.
    """
    n_features = len(row)
    scores = []
    for c in range(len(model.prior)):
        members = [
            _member_score(model, c, parent, row)
            for parent in range(n_features)
            if row[parent] is None or model.usable[model.offsets[parent] + row[parent]]
        ]
        naive = float(model.prior[c]) * math.prod(
            float(model.parent_probabilities[c, model.offsets[i] + code])
            for i, code in enumerate(row)
            if code is not None
        )
        scores.append(math.fsum(members) / len(members) if members else naive)
    return scores


def _member_score(model: Any, c: int, parent: int, row: Sequence[int | None]) -> float:
    """P(class, observed features) under one network, by enumeration."""
    cards = model.domain.cards[:-1]
    choices = [
        range(card) if code is None else [code]
        for card, code in zip(cards, row, strict=True)
    ]
    total = []
    for states in itertools.product(*choices):
        positions = [model.offsets[i] + state for i, state in enumerate(states)]
        product = float(model.prior[c]) * float(
            model.parent_probabilities[c, positions[parent]]
        )
        for child, position in enumerate(positions):
            if child != parent:
                product *= float(
                    model.child_probabilities[c, positions[parent], position]
                )
        total.append(product)
    return math.fsum(total)


def one_dependence_contributions(
    model: Any, row: Sequence[int | None], target: int, against: int
) -> tuple[float, list[float]]:
    """Log-odds of the mean of one-dependence networks, split network by network.

    Each network counts by the logarithmic mean of its joints under the two classes, and
    its log-odds are split by the chain rule along the features, the super-parent first
    where it is known.
    """
    usable = [
        parent
        for parent in range(len(row))
        if row[parent] is None or model.usable[model.offsets[parent] + row[parent]]
    ]
    steps = [_revealed(model, parent, row) for parent in usable]
    if not usable:
        steps = [
            [
                (i, [float(model.parent_probabilities[c, model.offsets[i] + code])])
                for i, code in enumerate(row)
                if code is not None
            ]
            for c in (target, against)
        ]
        ratios = [math.log(a[1][0] / b[1][0]) for a, b in zip(*steps)]
        terms = dict(zip((i for i, _ in steps[0]), ratios))
        prior = math.log(model.prior[target] / model.prior[against])
        return prior, [terms.get(i, 0.0) for i in range(len(row))]
    members = [
        [_member_score(model, c, parent, row) for parent in usable]
        for c in (target, against)
    ]
    weights = logarithmic_mean_weights(*(np.log(own)[:, None] for own in members))
    prior, terms = 0.0, [0.0] * len(row)
    for weight, own in zip(weights[:, 0], steps, strict=True):
        odds = math.log(model.prior[target] / model.prior[against])
        prior += weight * odds
        for feature, joint in own:
            now = math.log(joint[target] / joint[against])
            terms[feature] += weight * (now - odds)
            odds = now
    return prior, terms


def _revealed(
    model: Any, parent: int, row: Sequence[int | None]
) -> list[tuple[int, list[float]]]:
    """Features of a row and the joint by class once they are known, in turn."""
    known = [i for i, code in enumerate(row) if code is not None]
    order = sorted(known, key=lambda i: (i != parent, i))
    found = []
    for n in range(1, len(order) + 1):
        part = [code if i in order[:n] else None for i, code in enumerate(row)]
        classes = range(len(model.prior))
        found.append(
            (order[n - 1], [_member_score(model, c, parent, part) for c in classes])
        )
    return found
