"""What features share within the classes, where several networks are averaged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.models.texts.picture import WeightedArc

Floats = NDArray[np.float64]

# Less information (nats) than this is rounding.
_LEAST = 1e-12
# Cells of a joint table beyond which its features are not measured.
_MOST_CELLS = 200_000


def pair_arcs(told: Floats, shared: Floats) -> list[WeightedArc]:
    """Pairs of features as arcs, from the more informative one about the class.

    `told` (n_features,) and `shared` (n_features, n_features) are information shared
    with the class, and by two features within classes, in nats; only above the diagonal
    is read, and pairs that share nothing are left out.
    """
    pairs = itertools.combinations(range(len(told)), 2)
    return [
        (*((i, j) if told[i] >= told[j] else (j, i)), float(shared[i, j]))
        for i, j in pairs
        if shared[i, j] > _LEAST
    ]


def turned(
    arcs: Sequence[WeightedArc], existing: Sequence[tuple[int, int]]
) -> list[WeightedArc]:
    """Pairs as arcs in a direction in which some network has them."""
    known = frozenset(existing)
    return [(a, b, w) if (a, b) in known else (b, a, w) for a, b, w in arcs]


def one_dependence_arcs(
    prior: Floats, parents: Floats, children: Floats, offsets: NDArray[np.int64]
) -> list[WeightedArc]:
    """Pairs of features of averaged one-dependence networks, weighted by information.

    Each pair is in two networks, either feature being the other's parent; its weight is
    the mean of both. Parameters are those of `AveragedOneDependenceModel`.
    """
    joint = prior[:, None] * parents
    mean = joint.sum(axis=0)
    gains = _times_log(joint, parents) - _times_log(joint, mean)
    # A missing cell, the last position of a feature, has probability 1 and tells 0.
    ends = np.append(offsets[1:], parents.shape[1])
    known = np.ones(parents.shape[1], dtype=bool)
    known[ends - 1] = False
    told = np.add.reduceat(np.where(known, gains.sum(axis=0), 0.0), offsets)
    shared = np.empty((len(offsets), len(offsets)))
    for parent, (start, end) in enumerate(zip(offsets, ends - 1, strict=True)):
        given = children[:, start:end]
        cells = parents[:, start:end, None] * given
        ratio = _times_log(cells, given) - _times_log(
            cells, cells.sum(axis=1, keepdims=True)
        )
        nats = (prior[:, None] * ratio.sum(axis=1)).sum(axis=0)
        shared[parent] = np.add.reduceat(nats, offsets)
    return pair_arcs(told, (shared + shared.T) / 2)


def averaged_arcs(networks: Sequence[Sequence[TableCPD]]) -> list[WeightedArc]:
    """Pairs of features that are joined in some networks, weighted by information.

    The weight is the mean over the networks that join the two; where a table would be
    too large nothing is measured. In each network, the class's table is last.
    """
    # It brings scipy along, which models do without.
    from bayleaf.counts.information import (
        conditional_mutual_information,
        mutual_information_of_table,
    )

    n_features = len(networks[0]) - 1
    total, uses = np.zeros((2, n_features, n_features))
    for tables in networks:
        for table in tables[:-1]:
            parents = [p for p in table.parents if p != n_features]
            joint = _joint(tables, [n_features, *parents, table.child])
            if joint is None:
                continue
            for axis, parent in enumerate(parents, start=1):
                own = np.moveaxis(joint, (axis, -1, 0), (0, 1, 2))
                sums = own.reshape(*own.shape[:3], -1).sum(axis=-1)
                pair = min(parent, table.child), max(parent, table.child)
                total[pair] += conditional_mutual_information(sums)
                uses[pair] += 1
    told = np.zeros(n_features)
    for feature in range(n_features):
        joint = _joint(networks[0], [n_features, feature])
        if joint is not None:
            told[feature] = mutual_information_of_table(joint)
    return pair_arcs(told, total / np.maximum(uses, 1.0))


def _times_log(values: Floats, probabilities: Floats) -> Floats:
    """Values times the logarithms of probabilities, 0 where a value is 0."""
    logs = np.log(np.where(values > 0.0, probabilities, 1.0))
    return np.asarray(values * logs)


def _joint(tables: Sequence[TableCPD], variables: Sequence[int]) -> Floats | None:
    """Joint probabilities of some variables; None if that takes too large a table."""
    closure = list(dict.fromkeys(variables))
    for variable in closure:
        closure += [p for p in tables[variable].parents if p not in closure]
    cards = [tables[variable].probabilities.shape[-1] for variable in closure]
    if math.prod(cards) > _MOST_CELLS:
        return None
    place = {variable: i for i, variable in enumerate(closure)}
    operands: list[Any] = [
        part
        for v in closure
        for part in (tables[v].probabilities, [place[p] for p in tables[v].family])
    ]
    found = np.einsum(*operands, [place[variable] for variable in variables])
    return np.asarray(found, dtype=np.float64)
