"""What one model gains over another on training rows that are left out."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import single_states
from bayleaf.models.predictor import ModelLike
from bayleaf.results.document import Document
from bayleaf.results.result import Result
from bayleaf.typing import ColumnLike, TableLike
from bayleaf.wording import brief_fields, format_number, in_bits, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LeftOutGain(Result):
    """How much less log-loss a model has than another, rows left out.

    Parameters
    ----------
    gain : float
        Mean difference, nats per row; above zero where the second model is better.
    error : float
        Its standard error; a gain within two of them may be chance.
    """

    gain: float
    error: float

    __repr__ = brief_fields

    def document(self) -> Document:
        """The gain in a sentence, in bits."""
        gain, error = (format_number(in_bits(x)) for x in (self.gain, self.error))
        return Document("", [f"gain of {gain} bits per row, standard error {error}"])


def left_out_gain(
    before: ModelLike, after: ModelLike, X: TableLike, y: ColumnLike
) -> LeftOutGain:
    """Compare two models on their training rows, each left out of all counts.

    Parameters
    ----------
    before, after : classifier
        Models of the same rows, fitted or read from files, such as one that was learned
        and one that was edited on a page.
    X : data frame
        The rows that both were trained on.
    y : array-like of shape (n_rows,)
        Their classes.

    Returns
    -------
    LeftOutGain

    Raises
    ------
    ValueError
        If a model has no exact leave-one-out, or `y` has a label that it does not know.

    Notes
    -----
    Structure, cut points and temperature stay those of all rows. This is the gain that
    a page shows when its model is edited.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayleaf import NaiveBayesClassifier
    >>> X = pd.DataFrame({"cough": [*"nnyy"] * 9, "shoes": [*"abab"] * 9})
    >>> y = ["well", "well", "ill", "ill"] * 9
    >>> shoes, both = (NaiveBayesClassifier().fit(X[c], y) for c in (["shoes"], [*X]))
    >>> left_out_gain(shoes, both, X, y).gain > 0.5
    True
    """
    gains = _left_out_losses(before, X, y) - _left_out_losses(after, X, y)
    n = len(gains)
    error = math.sqrt(gains.var(ddof=1) / n) if n > 1 else math.inf
    return LeftOutGain(float(gains.mean()), error)


def _left_out_losses(model: Any, X: Any, y: Any) -> Floats:
    """-ln P(class) of each row without itself, shape (n_rows,)."""
    classes = known_class_codes(y, model.classes_)
    features = [str(name) for name in model.encoder_.column_names]
    rows = single_states(model._prepare(_columns_of(X, features))[1])
    columns = [rows.column(v) for v in range(rows.n_variables)]
    # A copy does not have what fit keeps of the training rows.
    with_rows = copy.copy(model)
    with_rows._left_out_answers = model._left_out_answers
    with_rows._training_codes = Codes.from_columns(
        [*columns, classes], model.model_.domain.cards
    )
    answers = with_rows._page_model().left_out(with_rows._training_codes)
    if answers is None or np.isnan(answers).any():
        raise ValueError(
            f"this {type(model).__name__} has no exact leave-one-out of these rows; "
            "use bayleaf.evaluation.compare"
        )
    return np.asarray(-np.log(answers[np.arange(len(classes)), classes]))


def known_class_codes(y: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Index of each label (n_rows,) among the classes; ValueError for any other."""
    index = {label: code for code, label in enumerate(classes.tolist())}
    labels = np.asarray(y).tolist()
    for label in labels:
        if label not in index:
            raise ValueError(f"y must hold classes of the model, got {quoted(label)}")
    return np.array([index[label] for label in labels], dtype=np.intp)


def _columns_of(X: Any, names: list[str]) -> Any:
    """The columns of a table that a model was trained on, in its order."""
    frame = nw.from_native(X, eager_only=True)
    columns = [c for name in names for c in frame.columns if str(c) == name]
    return frame.select(columns).to_native()
