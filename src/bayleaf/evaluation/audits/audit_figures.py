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
    """What an `Audit` holds, for what shows it; `Audit` says what each field is."""

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
