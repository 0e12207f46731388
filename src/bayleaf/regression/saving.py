"""Fitted regressors to files."""

from __future__ import annotations

from typing import Any

from bayleaf.classifiers.shared.saving import check_readable, parameter_to
from bayleaf.io.native.regression import SavedRegression


def saved_regression(estimator: Any) -> SavedRegression:
    """What a file keeps of a fitted regressor.

    TypeError names a parameter whose value cannot be written to a file; ModelFileError
    if a reader would refuse the parameters.
    """
    parameters = {
        name: parameter_to(name, value)
        for name, value in estimator.get_params(deep=False).items()
    }
    check_readable(type(estimator), parameters)
    return SavedRegression(
        estimator.encoder_,
        estimator.model_,
        type(estimator).__name__,
        parameters,
        estimator.left_out_crps_,
        estimator.left_out_coverage_,
        hasattr(estimator, "feature_names_in_"),
    )
