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
from bayleaf.evaluation.description_length import DescriptionLength, description_length
from bayleaf.evaluation.groups import GroupedFigures, figures_by_group
from bayleaf.evaluation.left_out_gain import LeftOutGain, left_out_gain
from bayleaf.evaluation.operating_points import (
    LossMatrix,
    OperatingPoint,
    implied_threshold,
    operating_points,
    read_loss,
)
from bayleaf.evaluation.paper_statistics import (
    accuracy_sd,
    error_reduction,
    lambda_test,
    unpaired_t_test,
    wins_and_losses,
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
from bayleaf.evaluation.table_comparisons import TableComparisons, compare_tables

__all__ = [
    "Audit",
    "Comparison",
    "CrossValidation",
    "DensityScores",
    "DensityValidation",
    "DescriptionLength",
    "GroupedFigures",
    "HeldOut",
    "LeftOutGain",
    "LossMatrix",
    "OperatingPoint",
    "RankTest",
    "TableComparisons",
    "TestResult",
    "accuracy_sd",
    "audit",
    "compare",
    "compare_tables",
    "corrected_t_test",
    "cross_validate",
    "cross_validate_density",
    "description_length",
    "entropy_bound",
    "error_reduction",
    "figures_by_group",
    "friedman_test",
    "implied_threshold",
    "lambda_test",
    "left_out_gain",
    "mean_ranks",
    "nemenyi_critical_difference",
    "operating_points",
    "read_loss",
    "unpaired_t_test",
    "wilcoxon_signed_rank",
    "wins_and_losses",
]
