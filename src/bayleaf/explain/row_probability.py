"""How probable a row is under a model, as far as the model tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.hierarchical_mixture import HierarchicalMixtureModel

Floats = NDArray[np.float64]

JOINT = "the model's joint distribution"
MARGINALS = "independent marginals, since the model has no distribution of the features"


def has_joint(model: ClassModel) -> bool:
    """Whether a model's scores are joint probabilities of class and features."""
    return not isinstance(model, AveragedKDBModel | HierarchicalMixtureModel)


def row_log_probabilities(model: ClassModel, codes: Codes) -> Floats:
    """Log probability (nats) of each row's observed features, shape (n_rows,).

    That of the model's joint distribution where it has one, otherwise the product of
    the features' own distributions; `has_joint` tells which.
    """
    if has_joint(model):
        return log_sum_exp(model.class_log_scores(codes), axis=1)
    total = np.zeros(codes.n_rows)
    for feature, marginal in enumerate(_marginals(model)):
        with np.errstate(divide="ignore"):
            padded = np.append(np.log(marginal), 0.0)
        total += padded[codes.column(feature)]
    return total


def _marginals(model: ClassModel) -> list[Floats]:
    """Distribution of each feature by itself, shape (n_states,)."""
    if isinstance(model, AveragedKDBModel):
        # One row more a state, so that none is impossible.
        smoothed = [counts + 1.0 for counts in model.state_counts]
        return [counts / counts.sum() for counts in smoothed]
    assert isinstance(model, HierarchicalMixtureModel)
    experts = [banks[-1] for banks in model.starts]
    found = []
    for feature in range(len(model.domain) - 1):
        first, last = experts[0].offsets[feature : feature + 2]
        joint = [
            np.exp(bank.log_prior[None] + bank.log_table[first:last])
            for bank in experts
        ]
        mean = sum(table.sum(axis=(1, 2)) for table in joint)
        found.append(np.asarray(mean / np.sum(mean)))
    return found
