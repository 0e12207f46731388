"""The contents of a report, as one dictionary; the page only lays it out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypedDict

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.training import row_weights
from bayleaf.data.tables.frames import whole_table
from bayleaf.evaluation.operating_points import LossMatrix
from bayleaf.evaluation.privacy import Privacy
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.fit_stamp import current_time
from bayleaf.models.page_model import CLASSIFIER, DENSITY, REGRESSOR, page_model
from bayleaf.models.predictor import ModelLike
from bayleaf.progress import displayed
from bayleaf.report.case import Case, Options
from bayleaf.report.class_report import ClassReport
from bayleaf.report.density_report import DensityReport
from bayleaf.report.model_card import About
from bayleaf.report.number_report import NumberReport
from bayleaf.report.summary_form import SCHEMA
from bayleaf.typing import FrameLike, LossLike
from bayleaf.version import __version__
from bayleaf.wording import near_names, plain, quoted

Values = dict[str, Any]

_REPORTS: dict[str, type[Case]] = {
    CLASSIFIER: ClassReport,
    REGRESSOR: NumberReport,
    DENSITY: DensityReport,
}
_REFUSAL = (
    "a report needs a fitted classifier, a BayesianNetworkEstimator or a "
    "BayesianNetwork, got"
)
# Settings that no answer of a model depends on.
_WITHOUT_EFFECT = {"n_jobs", "verbose", "cache_size", "max_table_cells"}
_MAX_SETTING = 120


class ReportOptions(TypedDict, total=False):
    """The parameters of `summarize` that `write_report` passes on."""

    by: str | Sequence[str]
    held_out: bool
    rows: bool
    min_count: int
    loss: LossMatrix | LossLike | None
    positive: Hashable
    n_folds: int
    random_state: int
    verbose: int
    weight: str | None
    source: str | None


def summarize(
    model: ModelLike | BayesianNetwork,
    table: FrameLike,
    target: str | int | None = None,
    *,
    by: str | Sequence[str] = (),
    held_out: bool = False,
    rows: bool = True,
    min_count: int = 1,
    loss: LossMatrix | LossLike | None = None,
    positive: Hashable = None,
    n_folds: int = 10,
    random_state: int = 0,
    verbose: int = 0,
    weight: str | None = None,
    source: str | None = None,
) -> Values:
    """Gather what a report shows of a model and a table.

    Parameters
    ----------
    model : classifier, regressor, BayesianNetworkEstimator or BayesianNetwork
        The fitted model.
    table : data frame
        Rows with the model's columns, in any order, and others.
    target : str, optional
        The column with the classes or numbers, by default the one of training. Not for
        models without a target.
    by : str or sequence of str, default=()
        Columns whose values make groups of rows that are scored apart, whether the
        model reads them or not. Only for classifiers.
    held_out : bool, default=False
        Whether the model has not learned from these rows. It is then scored on them;
        otherwise fresh estimators with its parameters are cross-validated.
    rows : bool, default=True
        Whether ten rows are shown with their values and explained.
    min_count : int, default=1
        Numbers of rows below this cannot be found out: all are rounded to multiples of
        it, or of 5 where it is less, and all else is computed from the rounded numbers.
        Names of rare states and all single rows are withheld. Not for regressors.
    loss : LossMatrix or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true.
    positive : label, optional
        Of two classes the one that thresholds are for, by default the second.
    n_folds : int, default=10
        Folds of the cross-validation.
    random_state : int, default=0
        Seed that deals the folds.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.
    weight : str, optional
        Column of row weights, not for density models; rows of weight zero are left out.
    source : str, optional
        The file of the rows, whose name the page shows; folders are left out.

    Returns
    -------
    dict
        Plain values, ready for JSON; see the page on reports for its keys.

    Raises
    ------
    TypeError
        If the model is of another kind.
    ValueError
        If it is not fitted, the table lacks a column, has fewer rows than `min_count`,
        or does not suit the model, or `SOURCE_DATE_EPOCH` is not a number.
    """
    privacy = Privacy(rows, min_count)
    by = [by] if isinstance(by, str) else list(by)
    page = page_model(model, _REFUSAL)
    if page.read is None:
        raise TypeError(f"{_REFUSAL} a {type(model).__name__}")
    if by and page.task != CLASSIFIER:
        raise ValueError("by belongs to classifiers; this model has no classes")
    frame = nw.from_native(whole_table(table), eager_only=True)
    if len(frame) < privacy.least_rows:
        rounded = f"; min_count={min_count} needs {privacy.least_rows}"
        raise ValueError(
            f"the table has {len(frame)} rows{rounded * privacy.withholds}; give more "
            "rows"
        )
    weights = None
    if weight is not None:
        if page.task == DENSITY or privacy.withholds:
            raise ValueError(
                "weight belongs to classifiers and regressors, without min_count"
            )
        frame, weights = _weighted(frame, weight)
    options = Options(by, held_out, loss, positive, n_folds, random_state, weights)
    with displayed(verbose):
        case = _REPORTS[page.task](model, page, frame, target, privacy, options)
        values = case.values()
    encoder = page.encoder
    return {
        "schema": SCHEMA,
        **values,
        "source": About(source=source).source_name,
        "date": current_time().date().isoformat(),
        "version": __version__,
        "settings": _settings(model, privacy),
        "rules": encoder
        and {
            "missing_cells": getattr(model, "missing", encoder.rules.missing),
            "unknown_values": encoder.rules.unknown,
        },
        "privacy": _privacy_values(privacy),
    }


def _weighted(frame: Any, name: str) -> tuple[Any, NDArray[np.float64]]:
    """The rows of weight above zero without the column of weights, and these."""
    if name not in frame.columns:
        hint = near_names(name, frame.columns)
        raise ValueError(f"the table has no weight column {quoted(name)}; {hint}")
    weights = row_weights(frame.get_column(name).to_numpy(), len(frame))
    is_weighted = weights > 0
    return frame.drop(name).filter(is_weighted.tolist()), weights[is_weighted]


def _settings(model: Any, privacy: Privacy) -> list[Values] | None:
    """Parameters other than the defaults; None for models without parameters.

    Where counts are rounded, texts and mappings could contain values of few rows, so
    that only numbers and single words of the defaults' kind are reported.
    """
    if not hasattr(model, "get_params"):
        return None
    given = model.get_params(deep=False)
    try:
        usual = type(model)().get_params(deep=False)
    except TypeError:
        # It needs some parameters.
        usual = {}
    settings: list[Values] = []
    for name, value in sorted(given.items()):
        default = usual.get(name, ...)
        is_default = type(value) is type(default) and repr(value) == repr(default)
        if name in _WITHOUT_EFFECT or is_default:
            continue
        is_plain = value is None or isinstance(value, bool | int | float | str)
        text = plain(str(value) if is_plain else repr(value), _MAX_SETTING)
        is_shown = is_plain or not privacy.withholds
        settings.append({"name": name, "value": text if is_shown else None})
    return settings


def _privacy_values(privacy: Privacy) -> dict[str, Any]:
    """What was asked to be withheld, and what that means."""
    told = []
    if not privacy.shows_rows:
        told.append("No values of single rows are shown.")
    if privacy.withholds:
        told.append(
            f"Numbers of rows are rounded to multiples of {privacy.base} and "
            "probabilities put into intervals; other figures are computed from these "
            "alone. Values that few rows have are numbered, not named; what cannot be "
            "computed so is left out."
        )
    return {"rows": privacy.shows_rows, "min_count": privacy.min_count, "told": told}
