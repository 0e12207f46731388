"""What classifiers by one Bayesian network have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.model_kind import ModelKind
from bayleaf.models.support.cells import RowFacts, UsedCells
from bayleaf.models.support.drawn_networks import (
    drawn_cpds,
    network_scores,
    touched,
    without_sums,
)
from bayleaf.models.support.family_rows import cpd_shape, family_rows
from bayleaf.models.support.support_counts import SupportCounts, TableSize

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ClassNetwork(ModelKind):
    """Base of class models that are one network, whose last variable is the class.

    Features are in the order of the codes.
    """

    network: BayesianNetwork
    max_table_cells: int = 20_000_000  # when summing out, at least 1

    def __post_init__(self) -> None:
        if self.max_table_cells < 1:
            raise ValueError(
                f"max_table_cells must be at least 1, got {self.max_table_cells}"
            )

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

    @property
    def table_sizes(self) -> list[TableSize]:
        """One a variable: over the parents' states, a tree's leaves, table's groups."""
        return [TableSize(cpd_shape(cpd), cpd.cards[-1]) for cpd in self.network.cpds]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """Training rows behind each distribution of each variable."""
        return family_rows(self.network.cpds, source)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the same model with drawn distributions."""
        cpds = drawn_cpds(self.network.cpds, support, rng)
        return replace(self, network=replace(self.network, cpds=cpds))

    def drawn_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores under draws; rows without sums under all draws at once."""
        scores = np.empty((n_draws, codes.n_rows, self.domain.cards[-1]))
        simple = without_sums(self.network.dag, codes)
        rows = codes.rows(simple)
        scores[:, simple] = network_scores(
            self.network.cpds, support, rows, n_draws, rng
        )
        if not simple.all():
            rows = codes.rows(~simple)
            drawn = super().drawn_log_scores(rows, support, n_draws, rng)
            scores[:, ~simple] = drawn
        return scores

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Families that know of the class."""
        class_index = len(self.domain) - 1
        facts = RowFacts(self.domain, codes)
        for position, cpd in enumerate(self.network.cpds):
            if cpd.family == (class_index,) or class_index not in cpd.family:
                continue
            places, states = touched(cpd, codes, self.domain.cards[-1])
            used = (places >= 0) & (states < cpd.cards[-1])
            counted = support.rows[position].ravel()[places]
            yield facts.used(cpd.child, cpd.parents, np.where(used, counted, np.inf))
