"""How probable a row is under a model, as far as the model tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.partial_values import Rows, single_states
from bayleaf.inference.log_sums import log_of, log_sum_exp
from bayleaf.models.class_model import ClassModel

Floats = NDArray[np.float64]

JOINT = "the model's joint distribution"
MARGINALS = "independent marginals, since the model has no distribution of the features"


def has_joint(model: ClassModel) -> bool:
    """Whether a model's scores are joint probabilities of class and features."""
    return model.feature_marginals is None


def row_log_probabilities(model: ClassModel, rows: Rows) -> Floats:
    """Log probability (nats) of each row's observed features, shape (n_rows,).

    That of the model's joint distribution where it has one, otherwise the product of
    the features' own distributions; `has_joint` tells which.
    """
    marginals = model.feature_marginals
    if marginals is None:
        return log_sum_exp(model.log_scores_of_rows(rows), axis=1)
    codes = single_states(rows, "this model has no joint distribution to sum over")
    total = np.zeros(codes.n_rows)
    for feature, marginal in enumerate(marginals):
        # Missing cells have no part in it.
        total += log_of(np.append(marginal, 1.0))[codes.column(feature)]
    return total
