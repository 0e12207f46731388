"""scikit-learn's own checks of estimators; none is expected to fail."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from bayleaf.classifiers import CLASSIFIERS
from offenders import check_each

_NEEDS_ARRAY_API = "check_array_api_input"
# These call partial_fit, which refuses calibration since it keeps no rows.
_BY_BATCHES = (
    "check_estimators_partial_fit_n_features",
    "check_n_features_in_after_fitting",
    "check_dataframe_column_names_consistency",
    "check_fit_score_takes_y",
)
# Classifiers whose checks take no longer than those of every change may.
_QUICK = ("nb", "tan", "kdb", "aode", "mixture")
# The checks of an estimator are run in so many tests, so that each stays short.
_N_PARTS = 3


def _estimators() -> list[Any]:
    """List each classifier, and again calibrated where left-out rows are scored."""
    plain = [
        pytest.param(
            kind(random_state=0),
            id=name,
            marks=[] if name in _QUICK else [pytest.mark.slow],
        )
        for name, kind in CLASSIFIERS.items()
    ]
    calibrated = [
        pytest.param(
            kind(calibration="leave_one_out", random_state=0),
            id=f"{name}-calibrated",
            marks=[pytest.mark.slow] + [pytest.mark.long] * (name not in _QUICK),
        )
        for name, kind in CLASSIFIERS.items()
        if kind(random_state=0).missing == "marginalize"
    ]
    return plain + calibrated


def _applies(estimator: Any, check: Any) -> bool:
    """Return whether a check can run here, and concerns an estimator."""
    if _NEEDS_ARRAY_API in str(check) and "SCIPY_ARRAY_API" not in os.environ:
        return False
    by_batches = any(name in str(check) for name in _BY_BATCHES)
    is_incremental = hasattr(estimator, "partial_fit")
    return not (by_batches and estimator.calibration and is_incremental)


def _run(check: Any, estimator: Any) -> None:
    # Some checks warn on purpose, or on behalf of scikit-learn itself.
    with warnings.catch_warnings(), contextlib.suppress(SkipTest):
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.few(8)
@pytest.mark.parametrize("part", range(_N_PARTS))
@pytest.mark.parametrize("estimator", _estimators())
def test_every_check_of_scikit_learn_passes(estimator: Any, part: int) -> None:
    # Not by scikit-learn's own decorator, whose generator newer versions of pytest
    # refuse.
    checks = [*estimator_checks_generator(estimator, legacy=True)][part::_N_PARTS]
    check_each(
        [pair for pair in checks if _applies(*pair)],
        lambda pair: _run(pair[1], pair[0]),
        lambda pair: str(pair[1]),
    )
