"""Why a model says what it says, how sure that is, and what would change it."""

from bayleaf.explain.certificates.robustness import (
    FewestCells,
    Robustness,
    RobustnessOfRows,
    robustness,
    robustness_of_rows,
)
from bayleaf.explain.contexts import contexts
from bayleaf.explain.counterfactuals import (
    Counterfactual,
    Counterfactuals,
    counterfactuals,
)
from bayleaf.explain.credible import (
    CellSupport,
    ClassInterval,
    CredibleInterval,
    credible_intervals,
)
from bayleaf.explain.deviation import Deviation
from bayleaf.explain.drift import Drift, FamilyDrift, VariableDrift, drift
from bayleaf.explain.evidence_conflict import RowConflict, conflicts
from bayleaf.explain.importance import FeatureImportance, Importance, importance
from bayleaf.explain.questions import value_of_information

__all__ = [
    "CellSupport",
    "ClassInterval",
    "Counterfactual",
    "Counterfactuals",
    "CredibleInterval",
    "Deviation",
    "Drift",
    "FamilyDrift",
    "FeatureImportance",
    "FewestCells",
    "Importance",
    "Robustness",
    "RobustnessOfRows",
    "RowConflict",
    "VariableDrift",
    "conflicts",
    "contexts",
    "counterfactuals",
    "credible_intervals",
    "drift",
    "importance",
    "robustness",
    "robustness_of_rows",
    "value_of_information",
]
