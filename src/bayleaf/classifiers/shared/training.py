"""What an estimator is fitted to: table, target and weights, checked."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from bayleaf.classifiers.shared.parameters import BALANCED, numbers_of
from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.data.class_labels import encode_labels, label_codes
from bayleaf.data.domain import Variable
from bayleaf.data.tables.columns import Column, Matrix, select_rows
from bayleaf.data.tables.frames import column_names
from bayleaf.data.tables.named_rows import named_table
from bayleaf.data.weight_scale import COUNTS, weight_factor
from bayleaf.models.class_model import ClassModel
from bayleaf.progress import caller_level
from bayleaf.wording import name_list, near_names, quoted


class WeightedRows(NamedTuple):
    """Rows of positive weight, their weights, and their places in the whole table."""

    parts: Matrix | list[Column]
    weights: NDArray[np.float64]
    places: slice | NDArray[np.bool_]

    @classmethod
    def of_table(
        cls,
        parts: Matrix | list[Column],
        sample_weight: Any,
        scale: str = COUNTS,
        *,
        allow_empty: bool = False,
    ) -> WeightedRows:
        """Check weights, which may be None, and drop the rows of weight zero.

        With the scale "mean_one" those that are left have a mean of one. ValueError if
        the weights do not fit the table or cannot be used; unless `allow_empty`, if all
        are zero.
        """
        weights = row_weights(sample_weight, n_rows(parts), allow_zero=allow_empty)
        if n_positive := int(np.count_nonzero(weights)):
            factor = weight_factor(weights.sum(), n_positive, scale)
            weights = weights if factor == 1.0 else weights * factor
        if weights.all():
            return cls(parts, weights, slice(None))
        kept = weights > 0
        return cls(select_rows(parts, kept), weights[kept], kept)


class TrainingTable(NamedTuple):
    """A training table taken apart: features, positive row weights, and classes."""

    parts: Matrix | list[Column]
    weights: NDArray[np.float64]
    classes: NDArray[Any]
    class_codes: NDArray[np.intp]

    @classmethod
    def from_arrays(
        cls,
        parts: Matrix | list[Column],
        y: Any,
        sample_weight: Any,
        known_classes: NDArray[Any] | None = None,
        scale: str = COUNTS,
        class_weight: Any = None,
        *,
        allow_empty: bool = False,
    ) -> TrainingTable:
        """Check target and weights, both (n_rows,), and drop the rows of weight zero.

        Rows are numbered by the `known_classes`, by default the labels that occur. The
        scale "counts" keeps weights as they are, "mean_one" gives them a mean of one,
        both after each row was multiplied by the weight of its class. ValueError if
        target or weights do not fit the table or cannot be used; see `WeightedRows` for
        `allow_empty`.
        """
        labels = one_dimensional(y)
        length = n_rows(parts)
        if len(labels) != length:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: the table "
                f"has {length} rows, the target {len(labels)}; give one label a row"
            )
        if class_weight is not None:
            weights = row_weights(sample_weight, length, allow_zero=allow_empty)
            factors = class_factors(class_weight, labels, weights, known_classes)
            sample_weight = weights * factors
        rows = WeightedRows.of_table(
            parts, sample_weight, scale, allow_empty=allow_empty
        )
        if not isinstance(rows.places, slice):
            labels = _select(labels, rows.places)
        if known_classes is None:
            classes, codes = encode_labels(labels)
        else:
            classes, codes = known_classes, label_codes(labels, known_classes)
        return cls(rows.parts, rows.weights, classes, codes)


def class_factors(
    class_weight: Any,
    labels: Any,
    weights: NDArray[np.float64],
    known_classes: NDArray[Any] | None = None,
) -> NDArray[np.float64]:
    """The weight of each row's class, (n_rows,), as scikit-learn defines it.

    "balanced" is n / (k n_c) for the weight n of all rows, n_c of those of a class, and
    the k classes that have any; so their sum stays. ValueError if a mapping lacks a
    class and has another instead.
    """
    classes, codes = encode_labels(labels)
    if class_weight == BALANCED:
        totals = np.bincount(codes, weights, len(classes))
        used = totals > 0
        factors = np.ones(len(classes))
        factors[used] = totals.sum() / (np.count_nonzero(used) * totals[used])
        return np.asarray(factors[codes])
    names = classes.tolist()
    known = names if known_classes is None else known_classes.tolist()
    absent = [label for label in known if label not in class_weight]
    strange = [label for label in class_weight if label not in known]
    if absent and strange:
        raise ValueError(
            f"class_weight names {quoted(strange[0])}, which is none of the classes "
            f"{name_list(known)}, and lacks {name_list(absent)}"
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in names])[codes]


def split_target_and_weights(
    X: Any, y: Any, sample_weight: Any, target: str | None, mixed: Collection[str] = ()
) -> tuple[Any, Any, Any]:
    """Features, labels and weights, where columns of the table are named for them.

    ValueError or TypeError if there is no such column, or labels are given twice. See
    `named_table` for `mixed`.
    """
    X = named_table(X, mixed)
    weight = sample_weight if isinstance(sample_weight, str) else None
    if target is None and weight is None:
        return X, y, sample_weight
    if target is not None and y is not None:
        raise ValueError("the labels were given as y and as target=; give one of them")
    if column_names(X) is None:
        raise TypeError(
            f"target= and sample_weight= name columns, which a table of the type "
            f"{type(X).__name__} does not have; pass a frame, or labels and weights"
        )
    frame = nw.from_native(X, eager_only=True)
    absent = [n for n in (target, weight) if n is not None and n not in frame.columns]
    if absent:
        raise ValueError(
            f"the table has no column {quoted(absent[0])}; "
            f"{near_names(absent[0], frame.columns)}"
        )
    rest = frame.drop([name for name in (target, weight) if name is not None])
    labels = y if target is None else frame.get_column(target).to_native()
    weights = sample_weight if weight is None else frame.get_column(weight).to_numpy()
    if target is not None and not hasattr(labels, "name"):
        # A column of Arrow's own does not know what it is called.
        labels = frame.get_column(target)
    return rest.to_native(), labels, weights


def n_rows(parts: Matrix | list[Column]) -> int:
    """Number of rows of a table that was taken apart."""
    return len(parts.values) if isinstance(parts, Matrix) else parts[0].n_rows


def class_variable(X: Any, y: Any, classes: NDArray[Any]) -> Variable:
    """The class as a variable, named after the target and unlike any feature."""
    return Variable(target_name(X, y, "class"), tuple(classes.tolist()))


def target_name(X: Any, y: Any, default: str) -> str:
    """The name of the target if it has one, unlike any feature's."""
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else default
    taken = set(column_names(X) or ())
    while name in taken:
        name += "_"
    return name


def one_dimensional(y: Any) -> Any:
    """The target as a column; a matrix of one column is taken with a warning."""
    if hasattr(y, "__array__") and not hasattr(y, "shape"):
        y = np.asarray(y)
    shape = getattr(y, "shape", None)
    if shape is None or not isinstance(shape, tuple):
        if not hasattr(y, "__len__"):
            raise ValueError(
                f"y should be a 1d array, got {quoted(y)}; pass one label a row"
            )
        return y
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_rows,), for example by y.ravel().",
            DataConversionWarning,
            stacklevel=caller_level(),
        )
        return np.asarray(y).ravel()
    if len(shape) != 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} instead."
        )
    return y


def _select(labels: Any, keep: NDArray[np.bool_]) -> Any:
    """Labels of the rows kept, in a container that keeps their type."""
    if isinstance(labels, np.ndarray):
        return labels[keep]
    if hasattr(labels, "filter") and not hasattr(labels, "iloc"):
        # narwhals takes no array of NumPy for a condition.
        return labels.filter(keep.tolist())
    if hasattr(labels, "iloc"):
        return labels[keep]
    return [label for label, kept in zip(labels, keep, strict=True) if kept]


def row_weights(
    sample_weight: Any, n_rows: int, *, allow_zero: bool = False
) -> NDArray[np.float64]:
    """Row weights as float64; ones that take no memory where none are given.

    ValueError if they do not fit the rows or cannot be used; unless `allow_zero`, if
    all are zero.
    """
    if sample_weight is None:
        return np.broadcast_to(np.float64(1.0), (n_rows,))
    weights = numbers_of("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), got {weights.shape}: "
            "one weight a row"
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight holds NaN or infinity; give finite weights")
    if (weights < 0).any():
        raise ValueError("sample_weight holds negative values; give weights >= 0")
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MOST_WEIGHT:
        raise ValueError(
            f"sample_weight sums to {total:.3g}, too much to count with; divide all "
            "weights by one number"
        )
    if not allow_zero and not weights.any():
        raise ValueError(
            "sample_weight is zero for every row; give at least one row a weight > 0"
        )
    return weights


class Learned(NamedTuple):
    """What `_learn` returns: the model and its training log-likelihood in nats."""

    model: ClassModel
    log_likelihood: float
