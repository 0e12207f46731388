"""Joint probabilities of the class and a few features, as a model holds them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.models.class_model import ClassModel

Floats = NDArray[np.float64]

# Larger tables of features are not asked for.
MOST_CELLS = 100_000


def class_table(model: ClassModel, features: Sequence[int]) -> Floats | None:
    """P(features, class) with all other features summed out, features as axes.

    A row in which all other cells are missing is scored for each combination of states;
    the calibration of probabilities is not applied. Shape (n_states, ..., n_classes);
    None if too large, or for several features of a model without a joint distribution.
    For one feature, such a model yields the feature's distribution and its predictions
    given it alone.
    """
    cards = model.domain.cards[:-1]
    shape = [cards[feature] for feature in features]
    marginals = model.feature_marginals
    if np.prod(shape) > MOST_CELLS or (marginals is not None and len(features) != 1):
        return None
    combinations = np.array(list(itertools.product(*map(range, shape))), dtype=np.intp)
    columns = [np.full(len(combinations), card) for card in cards]
    for place, feature in enumerate(features):
        columns[feature] = combinations[:, place]
    table = np.exp(model.class_log_scores(Codes.from_columns(columns, cards)))
    if marginals is not None:
        table *= (marginals[features[0]] / table.sum(axis=1))[:, None]
    return np.asarray((table / table.sum()).reshape(*shape, -1))
