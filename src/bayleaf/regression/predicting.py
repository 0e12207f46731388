"""What a fitted regressor says of rows: distributions, and why they are so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.table_estimator import TableEstimator
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.frames import row_labels
from bayleaf.models.interval_target import (
    IntervalTargetModel,
    TargetDistributions,
    checked_coverage,
    checked_levels,
)
from bayleaf.models.texts.expectation import ExpectationExplanation, ExpectationShape
from bayleaf.wording import name_list, quoted

Floats = NDArray[np.float64]
SQUARED, ABSOLUTE = "squared", "absolute"
# Most rows that a shape is averaged over.
_SHAPE_ROWS = 200


class PredictsDistributions(TableEstimator):
    """Predictions of a regressor with an encoder and a model of the target."""

    encoder_: TableEncoder
    model_: IntervalTargetModel
    loss: str

    def _encode(self, X: Any) -> EncodedTable:
        """Encode a table, once it has the columns of training."""
        check_is_fitted(self, "model_")
        encoded = self.encoder_.transform(self._parts_as_fitted(X))
        self._last_unknown = encoded.unknown
        return encoded

    def predict(self, X: Any) -> Floats:
        """Mean of each row's distribution or, with ``loss="absolute"``, its median.

        Returns
        -------
        ndarray of shape (n_rows,)
            In the target's unit, within the range of training.
        """
        found = self.predict_distribution(X)
        return found.mean if self.loss == SQUARED else found.median

    def predict_distribution(self, X: Any) -> TargetDistributions:
        """The predictive distribution of each row.

        Returns
        -------
        TargetDistributions
            Its `mean`, `variance`, `quantiles`, `interval`, `cdf` and `crps`.
        """
        codes = self._encode(X).codes
        return self.model_.distributions(codes)

    def predict_quantiles(self, X: Any, levels: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of each row's distribution.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows.
        levels : array-like of shape (n_levels,), default=(0.05, 0.5, 0.95)
            From 0 to 1.

        Returns
        -------
        ndarray of shape (n_rows, n_levels)
            In the target's unit.
        """
        wanted = checked_levels(levels)
        return self.predict_distribution(X).quantiles(wanted)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """The interval that holds the number with some probability.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows.
        coverage : float, default=0.9
            Its probability; the rest lies on both sides alike.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            In the target's unit.
        """
        share = checked_coverage(coverage)
        return self.predict_distribution(X).interval(share)

    def explain(self, X: Any) -> list[ExpectationExplanation]:
        """Split each row's expectation into what its features add.

        Whatever `loss` is, the mean is explained. All features are turned up together,
        from nothing to what they say, and the expectation's changes on the way are
        added up by feature (Aumann and Shapley 1974).

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            One or more rows.

        Returns
        -------
        list of ExpectationExplanation
            Baseline and terms of each add up to its expectation.
        """
        codes = self._encode(X).codes
        found = self.model_.explain(codes)
        labels = row_labels(X)
        if labels is None:
            return found
        return [replace(one, row=label) for one, label in zip(found, labels)]

    def shape(self, feature: str | int, X: Any) -> ExpectationShape:
        """The mean expectation of rows where one feature is set, state by state.

        The partial dependence of Friedman (2001, section 8.2).

        Parameters
        ----------
        feature : str or int
            Name of the feature.
        X : table of shape (n_rows, n_features)
            Rows that stand for those to come; of more than 200, as many are taken at
            even distances.

        Returns
        -------
        ExpectationShape
            A step curve for a numeric feature, bars for a nominal one, with the number
            of training rows behind each step.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        codes = self._encode(X).codes
        names = self.model_.intervals.domain.names[:-1]
        if feature not in names:
            raise ValueError(
                f"there is no feature {quoted(feature)}; the features are "
                f"{name_list(names)}"
            )
        n_taken = min(codes.n_rows, _SHAPE_ROWS)
        rows = np.linspace(0, codes.n_rows - 1, n_taken).round().astype(np.intp)
        return self.model_.feature_shape(names.index(feature), codes.rows(rows))
