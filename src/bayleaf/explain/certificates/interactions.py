"""What changes of an average's row do alone, in pairs, and at most beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.explain.certificates.linear_charges import add_linear_charges
from bayleaf.explain.certificates.margins import Margins, dearer
from bayleaf.explain.certificates.table_charges import add_table_charges
from bayleaf.explain.change_sets import ChangeSets, with_changes
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.predictor import Predictor

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Pairs of changes, and features, beyond which no bound is sought.
_MAX_PAIRS = 200_000
_MAX_FEATURES = 40
# Features of a tree, beyond which no bound is sought.
_MAX_TREE_FEATURES = 2


@dataclass(frozen=True, eq=False)
class Interactions:
    """Bounds on falls of the log-odds of the chosen class.

    A set of changes takes no more than the sum over its changes, over its pairs and
    over its triples of features.

    Parameters
    ----------
    margins : Margins
        What single changes take, exactly.
    pairs : ndarray of shape (n_changes, n_changes, n_classes)
        What two changes take beyond that, exactly; zero for changes of one feature.
    triples : ndarray of shape (n_features, n_features, n_features, n_classes)
        At least what all sets take beyond that for each three features, in any order.
    """

    margins: Margins
    pairs: Floats
    triples: Floats


def interactions_of(
    predictor: Predictor, codes: Codes, changes: ChangeSets
) -> Interactions | None:
    """Bounds for the changes of a row; None for other models, and large ones."""
    model, n = predictor.model, codes.n_variables
    if not isinstance(model, AveragedKDBModel) or n > _MAX_FEATURES:
        return None
    if not _has_small_trees(model) or changes.count(2) > _MAX_PAIRS:
        return None
    chosen = int(predictor.choose(predictor.proba(codes))[0])
    axes = [
        np.append(codes.column(v)[:1], changes.states[changes.features == v])
        for v in range(n)
    ]
    triples = np.zeros((n, n, n, len(predictor.classes)))
    if not add_table_charges(triples, model, chosen, axes):
        return None
    linear = model.linear
    if linear is not None and not add_linear_charges(triples, linear, chosen, axes):
        return None
    triples = _in_any_order(triples) / predictor.temperature
    margins, pairs = _exact(predictor, codes, changes, chosen)
    if not all(np.isfinite(own).all() for own in (margins.start, pairs, triples)):
        return None
    return Interactions(margins, pairs, triples)


def _has_small_trees(model: AveragedKDBModel) -> bool:
    """Whether no tree looks at three features or more."""
    trees = model.trees
    if trees is None:
        return True
    parts = np.split(trees.features, trees.roots[1:])
    return all(len(np.unique(own[own >= 0])) <= _MAX_TREE_FEATURES for own in parts)


def _in_any_order(triples: Floats) -> Floats:
    """Numbers at increasing features, at all orders of them."""
    total = np.zeros_like(triples)
    for order in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
        total += np.transpose(triples, (*order, 3))
    return total


def _exact(
    predictor: Predictor, codes: Codes, changes: ChangeSets, chosen: int
) -> tuple[Margins, Floats]:
    """What single changes take of the log-odds, and what pairs take beyond."""

    def odds(sets: Indices) -> Floats:
        scores = predictor.joint_log_proba(with_changes(codes, changes, sets))
        scores = scores / predictor.temperature
        if predictor.prior_shift is not None:
            scores = scores + predictor.prior_shift
        return np.asarray(scores[:, [chosen]] - scores)

    n = len(changes.features)
    start = odds(np.empty((1, 0), dtype=np.intp))[0]
    gains = start - odds(np.arange(n)[:, None])
    pairs = np.zeros((n, n, len(start)))
    for block in changes.of_size(2):
        first, second = block.T
        beyond = start - odds(block) - gains[first] - gains[second]
        pairs[first, second] = pairs[second, first] = beyond
    return Margins(chosen, dearer(predictor, chosen), start, gains), pairs
