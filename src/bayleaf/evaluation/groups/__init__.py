"""Figures by group of rows, with credible intervals."""

from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.group_columns import Groups
from bayleaf.evaluation.groups.group_rates import ClassRates, Contrast, GroupFigures
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures, figures_by_group

__all__ = [
    "ClassRates",
    "Contrast",
    "Estimate",
    "GroupFigures",
    "GroupedFigures",
    "Groups",
    "figures_by_group",
]
