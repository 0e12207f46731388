"""Discretisers as scikit-learn transformers, and their names."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayleaf.data.cut_points import (
    equal_frequency_cut_points,
    equal_width_cut_points,
    mdlp_cut_points,
    standard_deviation_cut_points,
)
from bayleaf.data.labels import encode_labels

Floats = NDArray[np.float64]


class _CutPointDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the discretisers: cut points column by column, then look-up."""

    _needs_target = False

    @abstractmethod
    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Increasing cut points of one column.

        Parameters
        ----------
        values : ndarray of shape (n_rows,), dtype float64
            The column, NaN where missing.
        class_codes : ndarray of shape (n_rows,), dtype intp
            Class of each row.
        n_classes : int
            Number of classes.
        weights : ndarray of shape (n_rows,), dtype float64
            Row weights.

        Returns
        -------
        tuple of float
            Interval i holds the values with ``cuts[i-1] < value <= cuts[i]``.
        """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN marks a missing cell.
        y : array-like of shape (n_rows,), optional
            Class labels, needed by methods that look at the class.
        sample_weight : array-like of shape (n_rows,), optional
            Row weights >= 0.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the target is needed and missing.
        """
        self._check_parameters()
        if self._needs_target and y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None; pass the class labels"
            )
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if y is None or not self._needs_target:
            n_classes, codes = 1, np.zeros(len(X), dtype=np.intp)
        else:
            classes, codes = encode_labels(np.asarray(y))
            n_classes = len(classes)
        if len(codes) != len(X):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {len(X)} "
                f"rows and {len(codes)} labels"
            )
        self.cut_points_ = [
            self.cut_points(np.ascontiguousarray(column), codes, n_classes, weights)
            for column in X.T
        ]
        return self

    def transform(self, X: Any) -> Floats:
        """Number of each value's interval.

        Returns
        -------
        ndarray of shape (n_rows, n_features), dtype float64
            Whole numbers from 0; NaN stays NaN.
        """
        check_is_fitted(self, "cut_points_")
        X = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        bins = np.empty_like(X)
        for j, cuts in enumerate(self.cut_points_):
            bins[:, j] = np.searchsorted(np.asarray(cuts, dtype=np.float64), X[:, j])
        bins[np.isnan(X)] = np.nan
        return bins

    def _check_parameters(self) -> None:
        """Raise if a parameter is out of range."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._needs_target
        return tags


class MDLPDiscretizer(_CutPointDiscretizer):
    """Cut where the class entropy falls by more than the cut costs to describe.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Cut points of each column.

    References
    ----------
    Fayyad, U. M., Irani, K. B. (1993). Multi-interval discretization of
    continuous-valued attributes for classification learning. IJCAI-93, 1022-1027.

    Examples
    --------
    >>> from bayleaf import MDLPDiscretizer
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]
    >>> MDLPDiscretizer().fit(X, list("aaaabbbb")).cut_points_
    [(4.5,)]
    """

    _needs_target = True

    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Cut points of one column by the MDL criterion; see `mdlp_cut_points`."""
        return mdlp_cut_points(values, class_codes, n_classes, weights)


class StandardDeviationDiscretizer(_CutPointDiscretizer):
    """Cut at whole standard deviations from the mean.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Cut points of each column.
    """

    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Cut points of one column; see `standard_deviation_cut_points`."""
        return standard_deviation_cut_points(values, weights)


class _BinnedDiscretizer(_CutPointDiscretizer):
    """Base of the discretisers with a given number of bins."""

    def __init__(self, *, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _check_parameters(self) -> None:
        whole = isinstance(self.n_bins, numbers.Integral)
        if not whole or isinstance(self.n_bins, bool) or self.n_bins < 1:
            raise ValueError(f"n_bins must be an integer >= 1, got {self.n_bins!r}")


class EqualFrequencyDiscretizer(_BinnedDiscretizer):
    """Cut so that bins hold about equal weight; a value is never split between bins.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins; fewer come out where values repeat.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Cut points of each column.
    """

    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Cut points of one column; see `equal_frequency_cut_points`."""
        self._check_parameters()
        return equal_frequency_cut_points(values, weights, int(self.n_bins))


class EqualWidthDiscretizer(_BinnedDiscretizer):
    """Cut the range of the values into bins of equal width.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Cut points of each column.
    """

    def cut_points(
        self,
        values: Floats,
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: Floats,
    ) -> tuple[float, ...]:
        """Cut points of one column; see `equal_width_cut_points`."""
        self._check_parameters()
        return equal_width_cut_points(values, weights, int(self.n_bins))


_BY_NAME: dict[str, type[_CutPointDiscretizer]] = {
    "mdlp": MDLPDiscretizer,
    "standard_deviation": StandardDeviationDiscretizer,
    "equal_frequency": EqualFrequencyDiscretizer,
    "equal_width": EqualWidthDiscretizer,
}


def resolve_discretizer(discretizer: Any) -> Any:
    """Return the discretiser with this name, or the instance itself.

    Raises
    ------
    ValueError
        If there is no discretiser of that name.
    TypeError
        If the value is neither a name nor has a `cut_points` method.
    """
    names = ", ".join(_BY_NAME)
    if isinstance(discretizer, str):
        if discretizer not in _BY_NAME:
            raise ValueError(f"discretizer must be one of {names}, got {discretizer!r}")
        return _BY_NAME[discretizer]()
    if isinstance(discretizer, type) or not hasattr(discretizer, "cut_points"):
        raise TypeError(
            f"discretizer must be a name ({names}) or a discretizer such as "
            f"MDLPDiscretizer(), got {discretizer!r}"
        )
    return discretizer
