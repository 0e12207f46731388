"""scikit-learn's own checks of estimators; none is expected to fail."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayleaf import BayesianNetworkEstimator


@pytest.mark.few(47)
@pytest.mark.slow
@parametrize_with_checks(
    [
        BayesianNetworkEstimator(random_state=0),
        BayesianNetworkEstimator(
            local_structure="tree", abstraction="global", random_state=0
        ),
        BayesianNetworkEstimator(local_structure="tree", n_restarts=2, random_state=0),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator: Any, check: Any) -> None:
    if "check_array_api_input" in str(check) and "SCIPY_ARRAY_API" not in os.environ:
        pytest.skip("scikit-learn checks the array API only under SCIPY_ARRAY_API")
    with warnings.catch_warnings():
        # Some checks warn on purpose, or on behalf of scikit-learn itself.
        warnings.simplefilter("ignore")
        check(estimator)
