"""What classifiers by one Bayesian network have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from bayleaf.data.domain import Domain
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.html_summary import NotebookModel


@dataclass(frozen=True, eq=False, repr=False)
class ClassNetwork(NotebookModel):
    """Base of class models that are one network, whose last variable is the class.

    Parameters
    ----------
    network : BayesianNetwork
        Features in the order of the codes, then the class.
    max_table_cells : int, default=20_000_000
        Largest table that summing out missing features may build.
    """

    network: BayesianNetwork
    max_table_cells: int = 20_000_000

    @property
    def domain(self) -> Domain:
        """Features, then the class."""
        return self.network.domain

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.network.n_parameters

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """All (parent, child) pairs of indices, by child."""
        return list(self.network.dag.arcs)

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features among the parents of a feature."""
        class_index = len(self.domain) - 1
        return [p for p in self.network.dag.parents[feature] if p != class_index]

    def __getstate__(self) -> dict[str, Any]:
        # Derived tables are made anew, so that a pickled model stays small.
        return {field.name: getattr(self, field.name) for field in fields(self)}
