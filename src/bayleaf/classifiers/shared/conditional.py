"""Classifiers by one network with the class at its root, and what fits its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.monotone import pooled_network
from bayleaf.classifiers.shared.parameters import (
    CONDITIONAL,
    GENERATIVE,
    check_choice,
    check_threshold,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.cpds.distribution import TableCPD, learn_table_cpds
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.search.left_out.left_out_scores import LeaveOneOut
from bayleaf.wording import quoted


class SingleNetworkClassifier(BayesianClassifier):
    """Base of classifiers whose tables are those of one network rooted at the class.

    Parameters
    ----------
    objective : {"generative", "conditional"}, default="generative"
        Tables that make the training rows probable, or tables that make their classes
        probable given the features.
    pull : float, default=1.0
        How strongly conditional tables are pulled to the generative ones.
    **shared
        The parameters that the classifiers share, see `BayesianClassifier`.

    Attributes
    ----------
    conditional_fit_ : ConditionalFit
        How conditional tables were found; only with ``objective="conditional"``.
    """

    objective: str = GENERATIVE
    pull: float = 1.0

    def _check(self) -> None:
        check_choice("objective", self.objective, (GENERATIVE, CONDITIONAL))
        check_threshold("pull", self.pull, none_too=False)

    def _network_model(
        self,
        counts: CountSource,
        domain: Domain,
        feature_parents: Sequence[tuple[int, ...] | None],
    ) -> Learned:
        """Estimate the tables of a network in which the class is everyone's parent.

        `feature_parents` are parents among the features, strongest first; None for a
        feature without even the class, which is the last variable of `domain`.
        """
        class_index = len(domain) - 1
        with_class = [
            () if parents is None else (class_index, *parents)
            for parents in feature_parents
        ]
        dag = DAG((*with_class, ()))
        self._check_family_sizes(domain, dag)
        smoothing = self._chosen_smoothing(
            counts, domain, lambda left_out: left_out.log_scores(dag.families[:-1])
        )
        cpds, log_likelihood = learn_table_cpds(counts, dag.families, smoothing)
        prior = TableCPD((class_index,), self._class_prior(counts, smoothing))
        log_likelihood += prior.log_likelihood(counts.class_counts())
        log_likelihood -= cpds[-1].log_likelihood(counts.class_counts())
        network = BayesianNetwork(domain, dag, (*cpds[:-1], prior))
        self.__dict__.pop("conditional_fit_", None)
        if self.objective == CONDITIONAL:
            network, log_likelihood = self._fitted_to_classes(network, counts)
        model = NetworkModel(network, self.max_table_cells)
        return pooled_network(self, Learned(model, log_likelihood), counts, domain)

    def _check_family_sizes(self, domain: Domain, dag: DAG) -> None:
        """Raise before counting if a feature's table would be too large."""
        for family in dag.families:
            cells = math.prod(domain[member].n_states for member in family)
            if cells > self.max_table_cells:
                raise ValueError(
                    f"the table of feature {quoted(domain[family[-1]].name)} with its "
                    f"{len(family) - 1} parents would have {cells:.3g} cells, more "
                    f"than max_table_cells={self.max_table_cells}; use fewer parents "
                    "or coarser columns"
                )

    def _fitted_to_classes(
        self, network: BayesianNetwork, counts: CountSource
    ) -> tuple[BayesianNetwork, float]:
        """The network with conditionally fitted tables, and the rows' log-likelihood.

        A class prior that is given or uniform stays as it is.
        """
        from bayleaf.latent.conditional_likelihood import fit_conditionally

        fit = fit_conditionally(
            network,
            counts.rows(),
            pull=self.pull,
            fixed=() if self._given_prior is None else (counts.class_index,),
            n_jobs=counts.n_jobs,
            max_table_cells=self.max_table_cells,
        )
        self.conditional_fit_ = fit
        tables = counts.family_counts(network.dag.families)
        log_likelihood = sum(
            cpd.log_likelihood(table)  # type: ignore[attr-defined]
            for cpd, table in zip(fit.network.cpds, tables, strict=True)
        )
        return fit.network, float(log_likelihood)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> NDArray[np.float64] | None:
        # Conditional tables depend on all rows, so no row can be subtracted.
        if self.objective == CONDITIONAL:
            return None
        network = cast(NetworkModel, self.model_).network
        return left_out.log_scores(network.dag.families[:-1])
