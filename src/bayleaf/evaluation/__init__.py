"""How well a model does on rows that it has not seen, and whether models differ."""

from bayleaf.evaluation.cross_validation import CrossValidation, cross_validate
from bayleaf.evaluation.statistics import (
    TestResult,
    accuracy_sd,
    corrected_t_test,
    unpaired_t_test,
)
from bayleaf.evaluation.statistics_datasets import (
    RankTest,
    error_reduction,
    friedman_test,
    lambda_test,
    mean_ranks,
    nemenyi_critical_difference,
    wilcoxon_signed_rank,
    wins_and_losses,
)

__all__ = [
    "CrossValidation",
    "RankTest",
    "TestResult",
    "accuracy_sd",
    "corrected_t_test",
    "cross_validate",
    "error_reduction",
    "friedman_test",
    "lambda_test",
    "mean_ranks",
    "nemenyi_critical_difference",
    "unpaired_t_test",
    "wilcoxon_signed_rank",
    "wins_and_losses",
]
