"""Fitted density models to files and back, and loading a model of either kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.classifiers.saving import load as load_classifier
from bayleaf.classifiers.saving import (
    parameter_to,
    restore_columns,
    telling_wrong_parameters,
    unfitted,
)
from bayleaf.data.hierarchies.files import hierarchies_text, resolve_hierarchies
from bayleaf.io.fields import ModelFileError
from bayleaf.io.native.density import (
    SavedDensity,
    is_density,
    read_density,
    write_density,
)

if TYPE_CHECKING:
    from bayleaf.classifiers.base import BayesianClassifier
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator


def load(path: str | Path) -> BayesianClassifier | BayesianNetworkEstimator:
    """Read a fitted classifier or density model from its file.

    Parameters
    ----------
    path : str or Path
        A file written by the `save` of an estimator.

    Returns
    -------
    BayesianClassifier or BayesianNetworkEstimator
        Answers exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is no model file, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    try:
        return load_classifier(path)
    except ModelFileError:
        if not is_density(path):
            raise
    return load_density(path)


def save_density(estimator: BayesianNetworkEstimator, path: str | Path) -> None:
    """Write a fitted density model to a file; see `BayesianNetworkEstimator.save`."""
    parameters = {
        name: parameter_to(name, value)
        for name, value in estimator.get_params(deep=False).items()
        if name != "hierarchies"
    }
    parameters["hierarchies"] = _hierarchies_to(estimator)
    saved = SavedDensity(
        estimator.encoder_,
        estimator.network_,
        type(estimator).__name__,
        parameters,
        estimator.score_,
        estimator.log_likelihood_,
        hasattr(estimator, "feature_names_in_"),
    )
    write_density(saved, path)


def load_density(path: str | Path) -> BayesianNetworkEstimator:
    """Read a fitted density model; its trace of moves is not kept in files.

    Raises
    ------
    ValueError
        If the file is none of a density model, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator

    saved = read_density(path)
    if saved.estimator != BayesianNetworkEstimator.__name__:
        raise ModelFileError(
            f"model file {Path(path).name} holds a {saved.estimator[:60]!r}; known is "
            f"{BayesianNetworkEstimator.__name__}"
        )
    with telling_wrong_parameters(path):
        return _fitted(saved)


def _fitted(saved: SavedDensity) -> BayesianNetworkEstimator:
    """The estimator as it was when it was saved."""
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator

    hierarchies = saved.parameters.get("hierarchies")
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        raise ModelFileError("the hierarchies of a model file should be an object")
    # Hierarchies are written as in files of their own, unlike other parameters.
    others = {k: v for k, v in saved.parameters.items() if k != "hierarchies"}
    estimator = unfitted(BayesianNetworkEstimator, others, hierarchies=hierarchies)
    estimator.encoder_ = saved.encoder
    estimator.network_ = saved.network
    estimator.score_ = saved.score
    if estimator.local_score == "mdl":
        estimator.mdl_ = -saved.score
    estimator.log_likelihood_ = saved.log_likelihood
    estimator.trace_ = ()
    names = saved.encoder.domain.names
    estimator.hierarchies_ = resolve_hierarchies(hierarchies, names)
    restore_columns(estimator, saved.named_features)
    return estimator


def _hierarchies_to(estimator: BayesianNetworkEstimator) -> Any:
    """The hierarchies that were given, as plain values."""
    if estimator.hierarchies is None:
        return None
    return json.loads(hierarchies_text(estimator.hierarchies_))
