"""Conditional probability distributions and how counts are smoothed into them."""

from bayleaf.cpds.smoothing import (
    Backoff,
    CellCounts,
    CellSmoothing,
    Dirichlet,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
    Smoothing,
    resolve_smoothing,
)
from bayleaf.cpds.table import TableCPD, learn_table_cpds

__all__ = [
    "Backoff",
    "CellCounts",
    "CellSmoothing",
    "Dirichlet",
    "Lidstone",
    "MEstimate",
    "MaximumLikelihood",
    "Smoothing",
    "TableCPD",
    "learn_table_cpds",
    "resolve_smoothing",
]
