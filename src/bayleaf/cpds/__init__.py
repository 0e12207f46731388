"""Conditional probability distributions and how counts are smoothed into them."""

from bayleaf.cpds.distribution import CPD, DeterministicCPD, TableCPD, learn_table_cpds
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
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD

__all__ = [
    "CPD",
    "Backoff",
    "CellCounts",
    "CellSmoothing",
    "DeterministicCPD",
    "Dirichlet",
    "Leaf",
    "Lidstone",
    "MEstimate",
    "MaximumLikelihood",
    "Smoothing",
    "Split",
    "TableCPD",
    "TreeCPD",
    "learn_table_cpds",
    "resolve_smoothing",
]
