"""What a fitted density model says of its network."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.structure_parameters import SETTINGS
from bayleaf.describe.local_structure_text import describe_distribution
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.structured_network import n_distributions

Name = str | int


class FittedNetwork:
    """Facts on the network of an estimator that was fitted."""

    network_: BayesianNetwork
    local_structure: str
    abstraction: str | None

    @property
    def setting_(self) -> str:
        """Name of the setting in the paper, such as TABS-L."""
        return SETTINGS[self.local_structure, self.abstraction]

    @property
    def edges_(self) -> list[tuple[Name, Name]]:
        """All arcs as (parent, child) names."""
        check_is_fitted(self, "network_")
        return self.network_.edges

    @property
    def n_parameters_(self) -> int:
        """States times distributions, summed over variables."""
        check_is_fitted(self, "network_")
        return self.n_free_parameters_ + sum(map(n_distributions, self.network_.cpds))

    @property
    def n_free_parameters_(self) -> int:
        """Number of free parameters."""
        check_is_fitted(self, "network_")
        return self.network_.n_parameters

    def describe(self, name: Name) -> str:
        """One variable's distribution: a table, or an indented tree of conditions."""
        check_is_fitted(self, "network_")
        return describe_distribution(self.network_, name)
