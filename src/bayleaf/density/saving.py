"""Fitted density models to files."""

from __future__ import annotations

import json
from typing import Any, Protocol

from bayleaf.classifiers.shared.saving import check_readable, parameter_to
from bayleaf.data.fitted_hierarchies import hierarchies_text
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.io.native.density import SavedDensity
from bayleaf.models.bayesian_network import BayesianNetwork


class FittedDensity(Protocol):
    """What a file keeps of a density model, beside its parameters."""

    encoder_: TableEncoder
    network_: BayesianNetwork
    hierarchies: Any
    hierarchies_: dict[str | int, ValueHierarchy]
    score_: float
    log_likelihood_: float

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""


def saved_density(estimator: Any) -> SavedDensity:
    """What a file keeps of a fitted density model.

    TypeError names a parameter whose value cannot be written to a file; ModelFileError
    if a reader would refuse the parameters.
    """
    parameters = {
        name: parameter_to(name, value)
        for name, value in estimator.get_params(deep=False).items()
        if name != "hierarchies"
    }
    trees = _hierarchies_to(estimator)
    check_readable(type(estimator), parameters, hierarchies=trees)
    parameters["hierarchies"] = trees
    return SavedDensity(
        estimator.encoder_,
        estimator.network_,
        type(estimator).__name__,
        parameters,
        estimator.score_,
        estimator.log_likelihood_,
        hasattr(estimator, "feature_names_in_"),
        estimator._sample_note,
    )


def _hierarchies_to(estimator: FittedDensity) -> Any:
    """The hierarchies that were given, as plain values."""
    if estimator.hierarchies is None:
        return None
    return json.loads(hierarchies_text(estimator.hierarchies_))
