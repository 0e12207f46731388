"""Held-out scores of models, and whether they differ significantly."""

from bayleaf.evaluation.audits import Audit, audit
from bayleaf.evaluation.comparison import Comparison, compare
from bayleaf.evaluation.cross_validation import CrossValidation, HeldOut, cross_validate
from bayleaf.evaluation.density_scores import (
    DensityScores,
    DensityValidation,
    cross_validate_density,
    entropy_bound,
)
from bayleaf.evaluation.groups import GroupedFigures, figures_by_group
from bayleaf.evaluation.left_out_gain import LeftOutGain, left_out_gain
from bayleaf.evaluation.operating_points import (
    LossMatrix,
    OperatingPoint,
    implied_threshold,
    operating_points,
    read_loss,
)
from bayleaf.evaluation.statistics import (
    RankTest,
    TestResult,
    corrected_t_test,
    friedman_test,
    mean_ranks,
    nemenyi_critical_difference,
    wilcoxon_signed_rank,
)

__all__ = [
    "Audit",
    "Comparison",
    "CrossValidation",
    "DensityScores",
    "DensityValidation",
    "GroupedFigures",
    "HeldOut",
    "LeftOutGain",
    "LossMatrix",
    "OperatingPoint",
    "RankTest",
    "TestResult",
    "audit",
    "compare",
    "corrected_t_test",
    "cross_validate",
    "cross_validate_density",
    "entropy_bound",
    "figures_by_group",
    "friedman_test",
    "implied_threshold",
    "left_out_gain",
    "mean_ranks",
    "nemenyi_critical_difference",
    "operating_points",
    "read_loss",
    "wilcoxon_signed_rank",
]
