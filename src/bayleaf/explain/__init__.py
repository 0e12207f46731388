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
from bayleaf.explain.effects import FeatureEffects, feature_effects, information_alone
from bayleaf.explain.evidence_conflict import RowConflict, conflicts
from bayleaf.explain.importance import FeatureImportance, Importance, importance
from bayleaf.explain.matching import Match, MatchingRows, matching_rows
from bayleaf.explain.questions import decision_changes, value_of_information

__all__ = [
    "CellSupport",
    "ClassInterval",
    "Counterfactual",
    "Counterfactuals",
    "CredibleInterval",
    "Deviation",
    "Drift",
    "FamilyDrift",
    "FeatureEffects",
    "FeatureImportance",
    "FewestCells",
    "Importance",
    "Match",
    "MatchingRows",
    "Robustness",
    "RobustnessOfRows",
    "RowConflict",
    "VariableDrift",
    "conflicts",
    "contexts",
    "counterfactuals",
    "credible_intervals",
    "decision_changes",
    "drift",
    "feature_effects",
    "importance",
    "information_alone",
    "matching_rows",
    "robustness",
    "robustness_of_rows",
    "value_of_information",
]
