"""scikit-learn's own checks of the regressor; none is expected to fail."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from bayleaf import AveragedKDBRegressor

_NEEDS_ARRAY_API = "check_array_api_input"

CHECKS = [
    pytest.param(*pair, id=f"{pair[0]}-{number}")
    for number, pair in enumerate(
        estimator_checks_generator(
            AveragedKDBRegressor(n_networks=4, random_state=0), legacy=True
        )
    )
]


@pytest.mark.few(20)
@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_every_check_of_scikit_learn_passes(estimator: Any, check: Any) -> None:
    if _NEEDS_ARRAY_API in str(check) and "SCIPY_ARRAY_API" not in os.environ:
        pytest.skip("scikit-learn checks the array API only under SCIPY_ARRAY_API")
    with warnings.catch_warnings():
        # Some checks warn on purpose, or on behalf of scikit-learn itself.
        warnings.simplefilter("ignore")
        check(estimator)
