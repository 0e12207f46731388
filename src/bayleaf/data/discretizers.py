"""Discretisers: transformers that cut numeric columns into intervals."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from bayleaf.data.class_labels import encode_labels
from bayleaf.data.codes import NARROW_STATES, Codes
from bayleaf.data.cut_points import (
    distinct_values,
    equal_frequency_cut_points,
    equal_width_cut_points,
    mdlp_cut_points,
    midpoints,
    standard_deviation_cut_points,
)
from bayleaf.data.domain import interval_labels
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.estimator_bases import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from bayleaf.typing import ColumnLike, NumbersLike, TableLike
from bayleaf.wording import quoted

# One state of a variable is kept for missing cells.
_MAX_BINS = Codes.MAX_STATES - 1
# As many fine intervals as one byte distinguishes, with a state for missing cells.
_MAX_FINE_BINS = NARROW_STATES - 1


class _CutPointTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of the discretisers: checks, one rule for every column, codes."""

    def fit(
        self,
        X: TableLike,
        y: ColumnLike | None = None,
        sample_weight: NumbersLike | None = None,
    ) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN where missing.
        y : array-like of shape (n_rows,), optional
            The class of each row; only MDLP looks at it, and needs it.
        sample_weight : array-like of shape (n_rows,), optional
            Row weights: zero makes a row absent, two makes it count twice.

        Returns
        -------
        self
            The fitted transformer.

        Raises
        ------
        TypeError, ValueError
            If a parameter is out of range, the table holds text or infinities, the
            classes are missing where they are needed, or no weight is positive.
        """
        self._check_parameters()
        values, class_codes, n_classes = self._training_table(X, y)
        weights = _check_sample_weight(
            sample_weight, values, dtype=np.float64, ensure_non_negative=True
        )
        self.cut_points_ = [
            self.cut_points(column, class_codes, n_classes, weights)
            for column in np.ascontiguousarray(values.T)
        ]
        return self

    def transform(self, X: TableLike) -> NDArray[np.float64]:
        """Number the interval of every cell.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers; NaN where missing.

        Returns
        -------
        ndarray of shape (n_rows, n_features), dtype float64
            Code ``i`` for ``cuts[i-1] < value <= cuts[i]``. Missing cells stay NaN,
            which is why integers come as floats.
        """
        check_is_fitted(self)
        values = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        codes = np.empty(values.shape)
        for j, cuts in enumerate(self.cut_points_):
            codes[:, j] = np.searchsorted(np.array(cuts), values[:, j])
        codes[np.isnan(values)] = np.nan
        return codes

    def interval_labels(self) -> list[tuple[str, ...]]:
        """Name the intervals of every column, in the order of their codes."""
        check_is_fitted(self)
        return [interval_labels(cuts) for cuts in self.cut_points_]

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.integer[Any]],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Find the cut points of one column.

        Parameters
        ----------
        values : ndarray of shape (n_rows,), dtype float64
            The column; NaN where missing, no infinities.
        class_codes : ndarray of shape (n_rows,), dtype integer
            Class of each row, in ``0 .. n_classes-1``.
        n_classes : int
            Number of classes.
        weights : ndarray of shape (n_rows,), dtype float64
            Row weights, not negative.

        Returns
        -------
        tuple of float
            Increasing thresholds.
        """
        self._check_parameters()
        return self._cuts(values, weights)

    def _cuts(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, ...]:
        """The rule, for discretisers that do not look at classes."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Raise if a parameter is out of range."""

    def _training_table(
        self, X: Any, y: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.intp], int]:
        """Checked values, and one class for all rows: cuts do not look at classes."""
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        return values, np.zeros(len(values), dtype=np.intp), 1

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _BinTransformer(_CutPointTransformer):
    """Base of the discretisers that are told how many intervals to make."""

    def __init__(self, *, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def _check_parameters(self) -> None:
        whole = isinstance(self.n_bins, numbers.Integral)
        message = (
            f"n_bins must be an integer from 2 to {_MAX_BINS}, got "
            f"{quoted(self.n_bins)}"
        )
        if not whole or isinstance(self.n_bins, bool):
            raise TypeError(message)
        if not 2 <= self.n_bins <= _MAX_BINS:
            raise ValueError(message)


class MDLPDiscretizer(_CutPointTransformer):
    """Cut where the classes change, while that shortens their description.

    The number of intervals comes from the data: a column that tells nothing about the
    class is not cut.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Increasing cut points of every column; interval ``i`` holds
        ``cuts[i-1] < value <= cuts[i]``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have any.

    Notes
    -----
    See `bayleaf.data.cut_points.mdlp_cut_points` for the rule. Weights are numbers
    of rows; weights that sum to one describe a single row, so scale them to sum to the
    number of rows.

    References
    ----------
    .. [1] U. M. Fayyad, K. B. Irani (1993). Multi-interval discretization of
       continuous-valued attributes for classification learning. IJCAI, 1022-1027.

    Examples
    --------
    >>> from bayleaf import MDLPDiscretizer
    >>> X = [[1.0], [2.0], [3.0], [4.0], [11.0], [12.0], [13.0], [14.0]]
    >>> y = ["low"] * 4 + ["high"] * 4
    >>> discretizer = MDLPDiscretizer().fit(X, y)
    >>> discretizer.cut_points_
    [(7.5,)]
    >>> discretizer.transform([[3.5], [9.0]])
    array([[0.],
           [1.]])
    >>> discretizer.interval_labels()
    [('<= 7.5', '> 7.5')]
    """

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.integer[Any]],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Find the cut points of one column, see `mdlp_cut_points`."""
        return mdlp_cut_points(values, class_codes, n_classes, weights)

    def _training_table(
        self, X: Any, y: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.intp], int]:
        """Checked values, and the classes as codes."""
        if y is None:
            raise ValueError(
                "MDLPDiscretizer requires y to be passed, but the target y is None; "
                "pass the class of every row"
            )
        values, labels = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        classes, class_codes = encode_labels(labels)
        return values, class_codes, len(classes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class StandardDeviationDiscretizer(_CutPointTransformer):
    """Cut at integers of standard deviations from the mean.

    The intervals are those of ``floor((value - mean) / sd)``, with the deviation of
    the population; a value beyond the range seen in `fit` belongs to the last interval
    on its side, and no interval is empty.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Increasing cut points of every column; interval ``i`` holds
        ``cuts[i-1] < value <= cuts[i]``. A value at ``mean + z * sd`` belongs above,
        so a cut that meets a value lies just below it.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have any.

    Examples
    --------
    >>> from bayleaf import StandardDeviationDiscretizer
    >>> X = [[0.0], [1.0], [2.0], [9.0]]
    >>> StandardDeviationDiscretizer().fit_transform(X).ravel()
    array([0., 0., 0., 1.])
    """

    def _cuts(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, ...]:
        return standard_deviation_cut_points(values, weights)


class EqualFrequencyDiscretizer(_BinTransformer):
    """Cut into intervals that hold nearly equally many rows.

    Parameters
    ----------
    n_bins : int, default=5
        Number of intervals. A column gets fewer where many rows share a value.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Increasing cut points of every column; interval ``i`` holds
        ``cuts[i-1] < value <= cuts[i]``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have any.

    Examples
    --------
    >>> from bayleaf import EqualFrequencyDiscretizer
    >>> X = [[1.0], [2.0], [3.0], [100.0]]
    >>> EqualFrequencyDiscretizer(n_bins=2).fit(X).cut_points_
    [(2.5,)]
    """

    def _cuts(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, ...]:
        return equal_frequency_cut_points(values, weights, self.n_bins)


class EqualWidthDiscretizer(_BinTransformer):
    """Cut the range of a column into intervals of equal width.

    Parameters
    ----------
    n_bins : int, default=5
        Number of intervals; some may hold no row.

    Attributes
    ----------
    cut_points_ : list of tuple of float
        Increasing cut points of every column; interval ``i`` holds
        ``cuts[i-1] < value <= cuts[i]``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have any.

    Examples
    --------
    >>> from bayleaf import EqualWidthDiscretizer
    >>> X = [[0.0], [1.0], [10.0]]
    >>> EqualWidthDiscretizer(n_bins=4).fit(X).cut_points_
    [(2.5, 5.0, 7.5)]
    """

    def _cuts(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, ...]:
        return equal_width_cut_points(values, weights, self.n_bins)


class FineCuts:
    """A discretiser that cuts between all values, or into as many parts as fit a byte.

    For models that take a number by its rank: the finer the intervals, the nearer.
    """

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        """Cut points of one column; NaN marks missing cells, the classes say nothing.

        Between all distinct values if there are at most 254, otherwise at quantiles.
        """
        distinct, _ = distinct_values(values, weights)
        if len(distinct) <= _MAX_FINE_BINS:
            return midpoints(distinct[:-1], distinct[1:])
        return equal_frequency_cut_points(values, weights, _MAX_FINE_BINS)


DISCRETIZERS: dict[str, type[_CutPointTransformer]] = {
    "mdlp": MDLPDiscretizer,
    "standard_deviation": StandardDeviationDiscretizer,
    "equal_frequency": EqualFrequencyDiscretizer,
    "equal_width": EqualWidthDiscretizer,
}


def resolve_discretizer(name_or_instance: Any) -> Discretizer:
    """The discretiser that an estimator was given by name or as an instance.

    ValueError for an unknown name, TypeError without a `cut_points` method.
    """
    if isinstance(name_or_instance, str):
        if name_or_instance not in DISCRETIZERS:
            choices = ", ".join(repr(name) for name in DISCRETIZERS)
            raise ValueError(
                f"discretizer must be one of {choices} or a discretiser object, "
                f"got {quoted(name_or_instance)}"
            )
        return DISCRETIZERS[name_or_instance]()
    is_class = isinstance(name_or_instance, type)
    if is_class or not callable(getattr(name_or_instance, "cut_points", None)):
        raise TypeError(
            "discretizer must be a name such as 'mdlp' or an object with a cut_points "
            f"method, such as MDLPDiscretizer(), got {quoted(name_or_instance)}"
        )
    discretizer: Discretizer = name_or_instance
    return discretizer
