"""scikit-learn's own checks of estimators; none is expected to fail."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from bayleaf.classifiers import CLASSIFIERS

_NEEDS_ARRAY_API = "check_array_api_input"
# These call partial_fit, which refuses calibration since it keeps no rows.
_BY_BATCHES = (
    "check_estimators_partial_fit_n_features",
    "check_n_features_in_after_fitting",
    "check_dataframe_column_names_consistency",
    "check_fit_score_takes_y",
)


ESTIMATORS = [kind(random_state=0) for kind in CLASSIFIERS.values()] + [
    kind(calibration="leave_one_out", random_state=0)
    for kind in CLASSIFIERS.values()
    if kind(random_state=0).missing == "marginalize"
]
# Not by scikit-learn's own decorator, whose generator newer versions of pytest refuse.
CHECKS = [
    pytest.param(*pair, id=f"{pair[0]}-{number}")
    for estimator in ESTIMATORS
    for number, pair in enumerate(estimator_checks_generator(estimator, legacy=True))
]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_every_check_of_scikit_learn_passes(estimator: Any, check: Any) -> None:
    if _NEEDS_ARRAY_API in str(check) and "SCIPY_ARRAY_API" not in os.environ:
        pytest.skip("scikit-learn checks the array API only under SCIPY_ARRAY_API")
    by_batches = any(name in str(check) for name in _BY_BATCHES)
    if by_batches and estimator.calibration and hasattr(estimator, "partial_fit"):
        pytest.skip("calibration is no matter of learning by batches")
    with warnings.catch_warnings():
        # Some checks warn on purpose, or on behalf of scikit-learn itself.
        warnings.simplefilter("ignore")
        check(estimator)
