"""What an audit found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bayleaf.evaluation.audits.parity import ModelParity
from bayleaf.evaluation.audits.routes import Routes
from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.figures import GroupFigures
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures


@dataclass(frozen=True)
class ChangedCell:
    """What other values of a group variable's cell would change, all else as it is.

    Parameters
    ----------
    column : str
        The group variable.
    predictions : Estimate
        Share of rows that some other value gives another predicted class.
    probabilities : Estimate
        Mean over rows of the largest change of a class's probability.
    """

    column: str
    predictions: Estimate
    probabilities: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class AuditFigures:
    """A classifier's predictions by group, and how groups reach them.

    Parameters
    ----------
    model, target : str
        Kind of the classifier, and column of the classes.
    classes, positive : tuple of str
        The classes, and those whose rates are shown against all others.
    basis : str
        "rows" where the model itself was scored, or "cross_validation".
    basis_told : str
        The same in sentences.
    level : float
        Probability of the intervals.
    min_count : int
        Numbers of rows below this cannot be found out; 1 shows all.
    overall : GroupFigures
        Figures of all rows together.
    groupings : tuple of GroupedFigures
        By each column, then by all of them together where there are several.
    parity : tuple of ModelParity
        Probabilities of the classes by group under the model; empty where numbers are
        withheld. A model without a joint distribution has none by several columns.
    routes : tuple of Routes
        How each column reaches the predictions.
    changed : tuple of ChangedCell
        For each column that is a feature; empty where numbers are withheld.
    """

    model: str
    target: str
    classes: tuple[str, ...]
    positive: tuple[str, ...]
    basis: str
    basis_told: str
    level: float
    min_count: int
    overall: GroupFigures
    groupings: tuple[GroupedFigures, ...]
    parity: tuple[ModelParity, ...]
    routes: tuple[Routes, ...]
    changed: tuple[ChangedCell, ...]
