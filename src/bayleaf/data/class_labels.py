"""The target column: distinct class labels and a code for every row."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.tables.array_columns import is_missing_cell
from bayleaf.data.tables.columns import Matrix, ValueColumn
from bayleaf.data.tables.frames import value_column
from bayleaf.data.tables.matrix import learn_matrix
from bayleaf.wording import quoted

# From here on floats differ by more than one.
_EXACT_FLOATS = float(1 << 53)


def encode_labels(target: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct labels of a target (n_classes,), and each row's place in them (n_rows,).

    Labels increase; those of several types are ordered by the name of their type first.
    ValueError if a label is missing, or labels are fractions and so not classes.
    """
    short = _whole_number_labels(target)
    if short is not None:
        return short
    try:
        column = value_column(target, "target")
    except TypeError:
        column = _hashed_labels(list(target))
    if _may_be_rounded(column, target):
        column = _hashed_labels(list(target))
    if column.indices.ndim != 1:
        raise ValueError("y should be a 1d array: one label a row, not a list of them")
    absent = np.flatnonzero(column.indices < 0)
    if len(absent):
        raise ValueError(
            f"the target has {len(absent)} missing values (the first in row "
            f"{absent[0]}), such as NaN; remove those rows"
        )
    n_values = len(column.values)
    used = np.flatnonzero(np.bincount(column.indices, minlength=n_values))
    labels = [column.values[i] for i in used.tolist()]
    _refuse_fractions(labels)
    order = sorted_positions(labels)
    rank = np.zeros(n_values, dtype=np.intp)
    rank[used[order]] = np.arange(len(order))
    return _label_array([labels[i] for i in order], target), rank[column.indices]


def label_codes(target: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number the rows of a target by known labels; ValueError for any other label."""
    found, codes = encode_labels(target)
    index = {label: i for i, label in enumerate(classes.tolist())}
    strange = [label for label in found.tolist() if label not in index]
    if strange:
        raise ValueError(
            f"the target holds labels {strange} that are not among the classes "
            f"{classes.tolist()}; leave these rows out, or start again with all "
            "labels, in partial_fit as classes= of the first call"
        )
    return np.array([index[label] for label in found.tolist()], dtype=np.intp)[codes]


def sorted_positions(values: Iterable[Hashable]) -> list[int]:
    """Positions that put values in order; mixed types by type name, then value."""
    items = list(values)
    positions = range(len(items))
    try:
        return sorted(positions, key=lambda i: items[i])  # type: ignore[arg-type,return-value]
    except TypeError:
        return sorted(positions, key=lambda i: (type(items[i]).__name__, str(items[i])))


def _hashed_labels(labels: list[Any]) -> ValueColumn:
    """Labels that are neither text nor numbers, told apart by their hash."""
    index: dict[Hashable, int] = {}
    # Files hold Python's numbers and texts.
    labels = [
        label.item() if isinstance(label, np.number | np.bool_ | np.str_) else label
        for label in labels
    ]
    try:
        indices = [
            -1 if is_missing_cell(label) else index.setdefault(label, len(index))
            for label in labels
        ]
    except TypeError as error:
        raise TypeError(
            f"a class label must be a single value, got {reprlib.repr(labels[0])}; "
            "give text or integers as labels"
        ) from error
    return ValueColumn("target", np.array(indices, dtype=np.int32), list(index))


def _may_be_rounded(column: ValueColumn, target: Any) -> bool:
    """Whether labels became floats, of which several integers may have made one."""
    is_float = getattr(getattr(target, "dtype", None), "kind", "") == "f"
    return not is_float and any(
        isinstance(label, float) and abs(label) >= _EXACT_FLOATS
        for label in column.values
    )


def _whole_number_labels(target: Any) -> tuple[NDArray[Any], NDArray[np.intp]] | None:
    """Labels and codes of an array of integers, where their range is small."""
    signed = isinstance(target, np.ndarray) and target.dtype.kind == "i"
    if not signed or target.ndim != 1:
        return None
    matrix = Matrix(target[:, None], ("target",))
    learned = learn_matrix(matrix, frozenset(matrix.names), 0)[0][0]
    if learned is None:
        return None
    variable, codes = learned
    return np.array(variable.states, dtype=target.dtype), codes.astype(np.intp)


def _refuse_fractions(labels: list[Hashable]) -> None:
    """Raise if labels are fractions: a quantity was passed where classes belong."""
    for label in labels:
        if isinstance(label, np.timedelta64):
            # NumPy takes its spans of time for integers.
            continue
        if isinstance(label, numbers.Real) and label != int(label):
            raise ValueError(
                "Unknown label type: continuous. The target holds numbers such as "
                f"{quoted(label)}; learn an AveragedKDBRegressor (--model regressor), "
                "or cut it into classes first"
            )


def _label_array(labels: list[Hashable], target: Any) -> NDArray[Any]:
    """Labels as an array of the target's own type where it has one."""
    dtype = getattr(target, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbUM":
        return np.array(labels, dtype=dtype)
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, bool, int, float} and dtype is None:
        typed = np.array(labels)
        # Arrays of text drop zero bytes at the end, and floats round integers.
        made = typed.tolist()
        if made == labels and {type(label) for label in made} == kinds:
            return typed
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
