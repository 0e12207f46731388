"""Fitted estimators from model files."""

from __future__ import annotations

from pathlib import Path

from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import AUTO
from bayleaf.classifiers.shared.saving import (
    names_a_file,
    restore_columns,
    telling_wrong_parameters,
    unfitted,
)
from bayleaf.cpds.smoothing import resolve_smoothing
from bayleaf.data.fitted_hierarchies import resolve_hierarchies
from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.density import SavedDensity, is_density, read_density
from bayleaf.io.native.documents import MAX_BYTES
from bayleaf.io.native.model_file import SavedModel, read_model
from bayleaf.io.native.regression import is_regression, read_regression
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor


def load_estimator(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> BayesianClassifier | BayesianNetworkEstimator | AveragedKDBRegressor:
    """Read a fitted classifier, density model or regressor from its file.

    Parameters
    ----------
    path : str or Path
        A file written by the `save` of an estimator.
    max_bytes : int, default=2**30
        Larger files are refused; so are files that would take more memory than 128 MiB
        and four times their size, unless this is above its default.

    Returns
    -------
    BayesianClassifier, BayesianNetworkEstimator or AveragedKDBRegressor
        Answers exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is no model file, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    try:
        return load_classifier(path, max_bytes=max_bytes)
    except ModelFileError:
        if is_regression(path):
            return load_regressor(path, max_bytes=max_bytes)
        if not is_density(path):
            raise
    return load_density(path, max_bytes=max_bytes)


def load_classifier(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> BayesianClassifier:
    """Read a fitted classifier from a model file.

    Parameters
    ----------
    path : str or Path
        A file written by a classifier's `save`.
    max_bytes : int, default=2**30
        As for `load_estimator`.

    Returns
    -------
    BayesianClassifier
        Predicts exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is no model file, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    saved = read_model(path, max_bytes=max_bytes)
    kinds = {kind.__name__: kind for kind in CLASSIFIERS.values()}
    if saved.classifier not in kinds:
        raise ModelFileError(
            f"model file {Path(path).name} holds a {saved.classifier[:60]!r}; "
            f"known are {', '.join(kinds)}"
        )
    with telling_wrong_parameters(path):
        return _fitted_classifier(kinds[saved.classifier], saved)


def _fitted_classifier(
    kind: type[BayesianClassifier], saved: SavedModel
) -> BayesianClassifier:
    """A classifier as it was when it was saved."""
    classifier = unfitted(kind, saved.parameters)
    predictor = saved.predictor
    classifier.classes_ = predictor.classes
    classifier.encoder_ = predictor.encoder
    classifier.model_ = predictor.model
    classifier.log_likelihood_ = saved.log_likelihood
    classifier.temperature_ = predictor.temperature
    if classifier.smoothing != AUTO:
        classifier.smoothing_ = resolve_smoothing(classifier.smoothing)
    classifier.__dict__.update(
        _training_codes=None,
        _loo_score=None,
        _prior_shift=predictor.prior_shift,
        _support=predictor.support,
    )
    restore_columns(classifier, saved.named_features)
    # A loss must fit the classes.
    classifier._predictor()
    return classifier


def load_density(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> BayesianNetworkEstimator:
    """Read a fitted density model; its trace of moves is not kept in files.

    Raises
    ------
    ValueError
        If the file is none of a density model, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    saved = read_density(path, max_bytes=max_bytes)
    if saved.estimator != BayesianNetworkEstimator.__name__:
        raise ModelFileError(
            f"model file {Path(path).name} holds a {saved.estimator[:60]!r}; known is "
            f"{BayesianNetworkEstimator.__name__}"
        )
    with telling_wrong_parameters(path):
        return _fitted_density(saved)


def _fitted_density(saved: SavedDensity) -> BayesianNetworkEstimator:
    """The estimator as it was when it was saved."""
    hierarchies = saved.parameters.get("hierarchies")
    if hierarchies is not None and names_a_file(hierarchies):
        raise ModelFileError("the hierarchies of a model file should be trees")
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
    estimator._sample_note = saved.sample
    names = saved.encoder.domain.names
    estimator.hierarchies_ = resolve_hierarchies(hierarchies, names)
    restore_columns(estimator, saved.named_features)
    return estimator


def load_regressor(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> AveragedKDBRegressor:
    """Read a fitted regressor.

    Raises
    ------
    ValueError
        If the file is none of a regressor, or holds something that is no model.
    OSError
        If the file cannot be read.
    """
    saved = read_regression(path, max_bytes=max_bytes)
    if saved.estimator != AveragedKDBRegressor.__name__:
        raise ModelFileError(
            f"model file {Path(path).name} holds a {saved.estimator[:60]!r}; known is "
            f"{AveragedKDBRegressor.__name__}"
        )
    with telling_wrong_parameters(path):
        estimator = unfitted(AveragedKDBRegressor, saved.parameters)
    estimator.encoder_ = saved.encoder
    estimator.model_ = saved.model
    estimator.left_out_crps_ = saved.left_out_crps
    estimator.left_out_coverage_ = saved.left_out_coverage
    restore_columns(estimator, saved.named_features)
    return estimator
