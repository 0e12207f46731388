"""What the parts of a classifier, a file each, find in the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.models.class_model import ClassModel
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.predictor import Predictor
from bayleaf.search.left_out.leave_one_out import LeaveOneOutScores
from bayleaf.search.left_out.selection import Selection


class ClassifierParts:
    """Parameters, fitted values and inner functions; see `BayesianClassifier`."""

    smoothing: Any
    calibration: str | None
    class_prior: Any
    fit_prior: bool
    n_jobs: int | None
    max_table_cells: int
    classes_: NDArray[Any]
    encoder_: TableEncoder
    model_: ClassModel
    smoothing_: Smoothing
    selection_: Selection
    temperature_: float
    log_likelihood_: float
    _training_codes: Codes | None
    _loo_score: LeaveOneOutScores | None
    _prior_shift: NDArray[np.float64] | None
    _last_unknown: Mapping[str | int, int]
    _fit_stamp: FitStamp

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Parameters by name."""

        def _class_prior(
            self, counts: CountSource, smoothing: Smoothing
        ) -> NDArray[np.float64]: ...

        def _predictor(self) -> Predictor: ...
