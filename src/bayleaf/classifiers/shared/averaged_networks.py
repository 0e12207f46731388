"""Classifiers by the mean of several networks' joint distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.monotone import pooled_tables
from bayleaf.classifiers.shared.parameters import check_model_size
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource, Family, shared_family_counts
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain
from bayleaf.models.averaged_networks_model import AveragedNetworksModel
from bayleaf.search.left_out.left_out_scores import LeaveOneOut

# Of a cell: counts, probabilities and their logarithms; of a table, its objects.
_BYTES_A_CELL, _BYTES_A_TABLE = 24, 9000


class AveragedNetworksClassifier(BayesianClassifier):
    """Base of classifiers that average networks whose structures they name."""

    def _check_cells(self, cells: int, n_tables: int) -> None:
        """Raise before counting if the tables of all networks would be too large."""
        if cells > self.max_table_cells:
            raise ValueError(
                f"averaging networks over these features needs tables of {cells:.3g} "
                f"cells, more than max_table_cells={self.max_table_cells}; drop "
                "features, coarsen columns, or raise it"
            )
        n_bytes = _BYTES_A_CELL * cells + _BYTES_A_TABLE * n_tables
        check_model_size(n_bytes, self._memory)

    def _averaged_model(
        self, counts: CountSource, domain: Domain, networks: Sequence[Sequence[Family]]
    ) -> Learned:
        """Estimate the tables of all networks, each family once.

        `networks` contain families of features, ancestors first, the class first among
        the parents; it is the last variable of `domain`.
        """
        smoothing = self._chosen_smoothing(
            counts, domain, lambda left_out: left_out.mean_log_scores(networks)
        )
        prior = TableCPD((len(domain) - 1,), self._class_prior(counts, smoothing))
        log_likelihood = prior.log_likelihood(counts.class_counts())
        families = list(dict.fromkeys(f for network in networks for f in network))
        found, shares = {}, {}
        tables = shared_family_counts(counts, families)
        for family, table in zip(families, tables, strict=True):
            cpd = found[family] = TableCPD(family, smoothing.estimate(table))
            shares[family] = cpd.log_likelihood(table) / len(networks)
        for family, (cpd, gained) in pooled_tables(self, found, counts, domain).items():
            found[family] = cpd
            shares[family] += gained / len(networks)
        log_likelihood += sum(shares[f] for network in networks for f in network)
        members = [
            [*(found[f] for f in sorted(network, key=lambda f: f[-1])), prior]
            for network in networks
        ]
        make = AveragedNetworksModel.from_networks
        return Learned(make(domain, members, self.max_table_cells), log_likelihood)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> NDArray[np.float64] | None:
        networks = cast(AveragedNetworksModel, self.model_).networks
        dags = [model.network.dag for model in networks]
        return left_out.mean_log_scores(
            [[dag.families[v] for v in dag.order if dag.parents[v]] for dag in dags]
        )
