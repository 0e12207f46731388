"""The k-dependence Bayesian classifier."""

from __future__ import annotations

import math
import numbers
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.edge_parameters import (
    EdgeParameters,
    check_most_required,
    rooted_constraints,
)
from bayleaf.classifiers.shared.hybrid import HybridNetworkClassifier
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    GAUSSIAN,
    check_choice,
    check_count,
    check_threshold,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.source import CountSource
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.search.feature_orders import KDBRanking, kdb_parents, rank_parents
from bayleaf.search.left_out.linear_families import (
    GaussianParentRanking,
    Numbers,
    choose_families,
)
from bayleaf.search.left_out.selection import rules_without_zeros, select_kdb

THETA_UNITS = ("nats", "bits")


class KDBClassifier(EdgeParameters, HybridNetworkClassifier):
    """k-dependence Bayesian classifier (Sahami 1996).

    Features are ordered by ``I(X;C)``; beside the class each takes as parents the k
    earlier features with the largest ``I(X;X'|C)``. ``k=0`` is naive Bayes,
    ``k >= n - 1`` the full Bayesian classifier over the order. With
    ``numeric="gaussian"`` numbers have an order of their own and k numbers as parents,
    by correlations within classes. Required parents come before all others, a feature
    after its required parents and after those of earlier tiers in the order.

    Parameters
    ----------
    k : int or "auto", default=1
        Largest number of features among a feature's parents; "auto" takes the number
        up to `max_k` by which left-out training rows are predicted best.
    max_k : int, default=5
        Largest k that "auto" tries for tables. One whose tables have more than
        `max_table_cells` cells together is not tried. Regressions of numbers, which
        grow by one slope a parent, are tried with up to 34 parents.
    theta : float or "auto", optional
        Of the k best, only arcs with ``I(X;X'|C)`` above this are kept; with "auto"
        those whose G² exceeds ln N for each parameter that they add.
    theta_unit : {"nats", "bits"}, default="nats"
        Unit of `theta`.
    n_features : int or "auto", optional
        How many features of the order are used, by default all; "auto" chooses beside
        k. The others keep a variable without arcs and say nothing of the class. Not
        with ``numeric="gaussian"``, where there is no one order.
    **shared
        The parameters that the classifiers share, see `HybridNetworkClassifier`,
        `SingleNetworkClassifier` and `BayesianClassifier`.

    Attributes
    ----------
    k_ : int
        The number of parents used, in tables.
    n_number_parents_ : int
        The number of parents used in regressions of numbers; 0 without numbers.
    n_features_ : int
        The number of features used, in tables.
    theta_ : float, "auto" or None
        The threshold used, in nats.

    References
    ----------
    Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD-96,
    335-338.

    Martinez, A. M., Webb, G. I., Chen, S., Zaidi, N. A. (2016). Scalable learning of
    Bayesian network classifiers. Journal of Machine Learning Research 17.
    """

    _chooses_structure = True
    _bytes_a_pair = 60
    _monotone_parents = True

    k: int | str = 1
    max_k: int = 5
    theta: float | str | None = None
    theta_unit: str = "nats"
    n_features: int | str | None = None

    def _check(self) -> None:
        check_count("max_k", self.max_k, 0)
        if self.k != AUTO:
            check_count("k", self.k, 0, or_else=AUTO)
        if self.n_features not in (None, AUTO):
            check_count("n_features", self.n_features, 0, or_else=AUTO)
        if self.theta != AUTO:
            check_threshold("theta", self.theta, or_else=AUTO)
        check_choice("theta_unit", self.theta_unit, THETA_UNITS)
        if self.n_features is not None and len(self.required_edges):
            raise ValueError(
                "n_features leaves features without arcs, which required_edges may ask "
                "for; leave n_features None, or require no edges"
            )
        if self.numeric == GAUSSIAN and self.n_features is not None:
            raise ValueError(
                "n_features counts along one order of all features, which "
                "numeric='gaussian' does not have; leave it None, or use "
                "numeric='discretize'"
            )

    def _learn_batch(
        self, counts: IncrementalCounts, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        # Sums of pairs choose one parent again, and no more than one.
        pairs_suffice = AUTO not in (self.k, self.n_features) and int(self.k) <= 1
        if pairs_suffice or not counts.continues:
            return self._learn(counts, domain, rng)
        parents = self.network_.dag.parents[: len(domain) - 1]
        return self._network_model(
            counts, domain, [family[1:] if family else None for family in parents]
        )

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self.theta_, self.n_number_parents_ = self._theta_in_nats(), 0
        self._constraints = rooted_constraints(self, domain)
        setting = "max_k" if self.k == AUTO else "k"
        most = int(getattr(self, setting))
        names = domain.names[:-1]
        check_most_required(self._constraints, names, most, f"{setting}={most}")
        return super()._learn(counts, domain, rng)

    def _number_families(
        self, numbers: Numbers, codes: Codes, log_prior: NDArray[np.float64]
    ) -> LinearGaussianFamilies:
        constraints = self._constraints
        ranking = GaussianParentRanking.from_rows(numbers, self.theta_, constraints)
        if self.k == AUTO:
            least = constraints.among(numbers.features.tolist()).most_required
            k, families = choose_families(ranking, codes, log_prior, least)
        else:
            k = int(self.k)
            families = ranking.families(k)
        self.n_number_parents_ = k
        return families

    def _learn_network(self, counts: CountSource, domain: Domain) -> Learned:
        highest = self.max_k if self.k == AUTO else int(self.k)
        n_features = len(domain) - 1
        self.k_, self.n_features_ = highest, n_features
        if isinstance(self.n_features, numbers.Integral):
            self.n_features_ = min(int(self.n_features), n_features)
        constraints = self._constraints_among(domain)
        if AUTO not in (self.k, self.n_features) and self.smoothing != AUTO:
            if self.n_features_ == n_features:
                parents = kdb_parents(counts, self.k_, self.theta_, constraints)
                return self._network_model(counts, domain, parents)
            ranking = rank_parents(counts, self.k_, self.theta_, constraints)
        else:
            ranking = rank_parents(counts, highest, self.theta_, constraints)
            self._select(counts, domain, ranking, constraints.most_required)
        parents = ranking.parents(self.k_, self.n_features_)
        return self._network_model(counts, domain, parents)

    def _theta_in_nats(self) -> float | str | None:
        """The threshold in nats, "auto" or None."""
        if isinstance(self.theta, str) or self.theta is None:
            return self.theta
        return self.theta * (math.log(2) if self.theta_unit == "bits" else 1.0)

    def _select(
        self, counts: CountSource, domain: Domain, ranking: KDBRanking, least: int
    ) -> None:
        """Choose k from `least` on, the number of features and the rule."""
        rules: tuple[Smoothing, ...] = rules_without_zeros(counts.rows())
        if self.smoothing != AUTO:
            rules = (self.smoothing_,)
        n_features = len(domain) - 1
        depths = [self.k_]
        if self.k == AUTO:
            # More parents than features that stand before the last change nothing.
            depths = list(range(least, max(0, min(self.k_, n_features - 1)) + 1))
        prefixes = [self.n_features_]
        if self.n_features == AUTO:
            prefixes = list(range(n_features + 1))
        left_out = self._leave_one_out(counts.rows(), domain, rules)
        selection = select_kdb(
            left_out, ranking, depths, prefixes, self.max_table_cells
        )
        self._adopt(selection)
        self.k_ = cast(int, selection.best.k)
        self.n_features_ = cast(int, selection.best.n_features)
