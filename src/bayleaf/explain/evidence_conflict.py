"""Whether the values of a row speak for each other or against each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import (
    Rows,
    available_codes,
    cell_label,
    is_unknown,
    sets_in,
)
from bayleaf.explain.row_probability import has_joint, row_log_probabilities
from bayleaf.explain.subject import rows_of
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import ModelLike, predictor_inside
from bayleaf.results.document import Document
from bayleaf.results.result import Result
from bayleaf.results.result_lists import ResultList
from bayleaf.typing import RowsLike
from bayleaf.wording import stated

Floats = NDArray[np.float64]

# Bits from which on a conflict is told: values half as probable together as alone.
WORTH_TELLING = 1.0


@dataclass(frozen=True)
class RowConflict(Result):
    """How much rarer a row's values are together than if they were independent.

    Parameters
    ----------
    bits : float
        log2 of the product of all P(x_i), over P(x). Above 0 the values contradict one
        another under the model; a wrong cell or a case that training did not cover.
    feature : str or int or None
        The value most at odds with all others together; None without any value.
    value : str
        Its state.
    feature_bits : float
        How many bits less surprising it would be without the others.
    """

    bits: float
    feature: str | int | None
    value: str
    feature_bits: float

    @property
    def worth_telling(self) -> bool:
        """Whether the conflict has at least one bit."""
        return self.bits >= WORTH_TELLING

    def document(self) -> Document:
        """The conflict as a sentence."""
        return Document("", [str(self)])

    def __str__(self) -> str:
        how, many = (
            ("fit together", "more probable")
            if self.bits <= 0
            else ("are in conflict", "rarer together")
            if self.worth_telling
            else ("hardly contradict one another", "rarer together")
        )
        text = f"the values {how}: {abs(self.bits):.1f} bits {many} than if they were"
        text += " independent"
        if self.feature is None or self.feature_bits <= 0:
            return text
        fact = stated(self.feature, self.value)
        return f"{text}; {fact} fits the others least ({self.feature_bits:.1f} bits)"


def conflicts(model: ModelLike, X: RowsLike | Rows) -> ResultList[RowConflict] | None:
    """Measure for each row whether its values contradict one another.

    Parameters
    ----------
    model : classifier or Predictor
        The fitted model.
    X : table of shape (n_rows, n_features)
        The rows; missing cells have no part in it.

    Returns
    -------
    ResultList of RowConflict, or None
        None for models that have no distribution of the features.

    References
    ----------
    Jensen, F. V., Chamberlain, B., Nordahl, T., Jensen, F. (1991). Analysis in HUGIN
    of data conflict. UAI-90, 519-528.
    """
    predictor, rows = predictor_inside(model), rows_of(model, X)
    class_model = predictor.model
    if not has_joint(class_model):
        return None
    alone = _log_alone(class_model, rows)
    together = row_log_probabilities(class_model, rows)
    without = np.empty_like(alone)
    for feature, card in enumerate(class_model.domain.cards[:-1]):
        others = rows.replaced(feature, np.full(rows.n_rows, card))
        without[:, feature] = row_log_probabilities(class_model, others)
    by_item = (alone + without - together[:, None]) / math.log(2)
    total = (alone.sum(axis=1) - together) / math.log(2)
    return ResultList(
        _row_conflict(class_model, rows, row, float(total[row]), by_item[row])
        for row in range(rows.n_rows)
    )


def _row_conflict(
    model: ClassModel, rows: Rows, row: int, bits: float, by_item: Floats
) -> RowConflict:
    """The conflict of one row and the value behind most of it."""
    case, domain = rows.rows(slice(row, row + 1)), model.domain
    present = [v for v in range(case.n_variables) if not is_unknown(case, v)[0]]
    if not present:
        return RowConflict(0.0, None, "", 0.0)
    worst = max(present, key=lambda feature: by_item[feature])
    label = cell_label(case, domain, 0, worst)
    return RowConflict(bits, domain[worst].name, label, float(by_item[worst]))


def _log_alone(model: ClassModel, rows: Rows) -> Floats:
    """Log probability of each value alone, (n_rows, n_features); 0 for missing ones."""
    codes, partial = available_codes(rows), sets_in(rows)
    found = np.zeros((codes.n_rows, codes.n_variables))
    for feature, card in enumerate(codes.cards):
        columns = [np.full(card + 1, own) for own in codes.cards]
        columns[feature] = np.arange(card + 1)
        each = row_log_probabilities(model, Codes.from_columns(columns, codes.cards))
        found[:, feature] = each[codes.column(feature)]
        for cells, _, states in partial.cells_of(feature, feature):
            found[cells, feature] = np.logaddexp.reduce(each[list(states)])
    return found
