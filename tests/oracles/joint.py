"""The joint distribution of a network, cell by cell, and sums over it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

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
