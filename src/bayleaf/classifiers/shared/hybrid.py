"""Classifiers by one network in which numbers may stay numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.conditional import SingleNetworkClassifier
from bayleaf.classifiers.shared.edge_parameters import check_same_kind
from bayleaf.classifiers.shared.hierarchy_parameters import HierarchyParameters
from bayleaf.classifiers.shared.monotone import directions_of
from bayleaf.classifiers.shared.parameters import (
    CALIBRATIONS,
    DISCRETIZE,
    GAUSSIAN,
    GENERATIVE,
    NUMERIC_RULES,
    check_choice,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource, Family
from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.smoothing import Lidstone, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.discretizers import FineCuts
from bayleaf.data.domain import Domain
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.data.random_cuts import FEW_VALUES
from bayleaf.data.shuffled_rows import shuffled_distinct_rows
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.hybrid_network import HybridNetworkModel
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.support.number_terms import WeightedLinearFamilies
from bayleaf.search.constraints import Constraints
from bayleaf.search.left_out.component_weights import (
    LogProbabilities,
    fit_component_weights,
)
from bayleaf.search.left_out.left_out_scores import LeaveOneOut
from bayleaf.search.left_out.linear_families import (
    Numbers,
    last_pieces,
    number_rows,
    numeric_log_likelihoods,
    weighed_pieces,
)
from bayleaf.search.left_out.sampled_networks import scores_of, state_counts
from bayleaf.typing import ByName
from bayleaf.wording import quoted

# Rows, and numbers that they say of all classes, on which weights are learned at most.
_MOST_ROWS, _MOST_EVIDENCE = 12_000, 200_000_000

# Rule of the class prior beside which the number of regressors is chosen.
_PRIOR_RULE = Lidstone(1.0)
# What is left of a class when its only row is left out, under rules with zeros.
_LEAST_PRIOR = 1e-15

# Log densities whose sum is shown are integers of such parts.
_PARTS_A_NAT = 2.0**20

Floats = NDArray[np.float64]


class _Parts(NamedTuple):
    """The nominal part of a training table, and what the rest of it says."""

    counts: RowCounts
    domain: Domain
    nominal: list[int]
    families: LinearGaussianFamilies


class HybridNetworkClassifier(HierarchyParameters, SingleNetworkClassifier):
    """Base of classifiers by one network that can take numbers as numbers.

    A subclass defines `_learn_network` and `_number_families` in the place of `_learn`.

    Parameters
    ----------
    numeric : {"discretize", "gaussian"}, default="discretize"
        Whether numeric columns are cut into intervals, or those of more than ten values
        follow a linear regression in each class, on a normal scale. Such numbers have
        the class and numbers as parents, nominal features the class and nominal ones.
    numeric_weights : {"leave_one_out"}, optional
        Weigh the tables and each number's density by the log-loss of left-out rows,
        which calibrates too; only with ``numeric="gaussian"``. By default all count
        once.
    monotone : dict of name to {+1, -1, 0}, optional
        Features along which the probability of the second of two classes (in
        `classes_`) never falls (+1) or never rises (-1), all other features equal, be
        they given or missing. Such a feature depends on the class alone: it is parent
        and child of no feature, and its probabilities are pooled over adjacent states.
        Where no cell is summed out, with ``missing="error"`` and ``unknown="error"``,
        it may have parents in TAN and KDB.
    hierarchies : path, or mapping of column to ValueHierarchy or mapping, optional
        Trees over the values of columns. A cell that names a group of one may have any
        value of the group: predictions sum over these, and counts of training rows
        leave the cell out as they do a missing one.
    **shared
        The parameters that the classifiers share, see `SingleNetworkClassifier` and
        `BayesianClassifier`.
    """

    _is_incremental = True
    _leaves_groups_out = True
    # Arcs among all features that are required or forbidden.
    _constraints = Constraints()
    # What numbers say of the left-out training rows, (n_classes, n_rows); None without.
    _beside: Floats | None = None

    numeric: str = DISCRETIZE
    numeric_weights: str | None = None
    monotone: ByName[int] | None = None

    def _check(self) -> None:
        check_choice("numeric", self.numeric, NUMERIC_RULES)
        if self.numeric_weights is not None:
            check_choice("numeric_weights", self.numeric_weights, CALIBRATIONS)
        if self.numeric == DISCRETIZE:
            if self.numeric_weights is not None:
                raise ValueError(
                    "numeric_weights weighs numbers, which numeric='discretize' cuts "
                    "into intervals; use numeric='gaussian', or leave it None"
                )
        elif self.objective != GENERATIVE:
            raise ValueError(
                f"objective={quoted(self.objective)} fits tables alone; use "
                "numeric='discretize', or objective='generative'"
            )
        if directions_of(self):
            for name, only in (("numeric", DISCRETIZE), ("objective", GENERATIVE)):
                if getattr(self, name) != only:
                    raise ValueError(
                        f"monotone pools tables of counts, which "
                        f"{name}={quoted(getattr(self, name))} does not keep; use "
                        f"{name}={quoted(only)}, or leave monotone out"
                    )

    @abstractmethod
    def _learn_network(self, counts: CountSource, domain: Domain) -> Learned:
        """Learn the network of tables from counts over `domain`, the class last."""

    @abstractmethod
    def _number_families(
        self, numbers: Numbers, codes: Codes, log_prior: Floats
    ) -> LinearGaussianFamilies:
        """The numbers' regressions, each on its parents.

        `log_prior` is that of the left-out rows of `codes`, (n_classes, n_rows).
        """

    def _chosen_discretizer(self, rng: np.random.Generator) -> Discretizer:
        # A wrong name is refused whether or not it is used.
        discretizer = super()._chosen_discretizer(rng)
        return FineCuts() if self.numeric == GAUSSIAN else discretizer

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self._beside = None
        if self.numeric == DISCRETIZE:
            return self._learn_network(counts, domain)
        for variable in domain:
            if variable.kind == "numeric" and variable.hierarchy is not None:
                raise ValueError(
                    f"the hierarchy of column {quoted(variable.name)} cuts numbers, "
                    "which numeric='gaussian' does not; take the column out of "
                    "hierarchies, or use numeric='discretize'"
                )
        in_states = state_counts(counts)
        features, codes = domain.variables[:-1], counts.rows()
        numbers = number_rows(codes, features, in_states, FEW_VALUES + 1)
        if numbers is None:
            return self._learn_network(counts, domain)
        check_same_kind(self._constraints, numbers.features.tolist(), domain.names)
        parts = self._parts(numbers, codes, domain)
        self._beside = numeric_log_likelihoods(parts.families, codes, is_left_out=True)
        tables = self._learn_network(parts.counts, parts.domain)
        network = cast(NetworkModel, tables.model).network
        model = HybridNetworkModel(
            _widened(network, domain, parts.nominal, in_states),
            network.cpds[-1].log_probabilities(),
            1.0,
            # Each number counts once: given its parents, where it has any.
            WeightedLinearFamilies(parts.families, _spread(parts.families, 1.0)),
            in_states,
            self.max_table_cells,
        )
        if self.numeric_weights is not None and len(self.classes_) > 1:
            return self._weighed(model, parts, network.dag.families[:-1], codes)
        own = codes.column(counts.class_index), np.arange(codes.n_rows)
        said = numeric_log_likelihoods(parts.families, codes)[own]
        # Of few binary digits, so that sums depend on no order of the rows.
        said = np.round(said * _PARTS_A_NAT) / _PARTS_A_NAT
        total = float((codes.weights * said).sum())
        return Learned(model, tables.log_likelihood + total)

    def _parts(self, numbers: Numbers, codes: Codes, domain: Domain) -> _Parts:
        """The nominal features with their class, and regressions of the others."""
        aside = set(numbers.features.tolist())
        nominal = [v for v in range(len(domain)) if v not in aside]
        counts = RowCounts(
            _columns(codes, nominal), self.n_jobs, max_table_cells=self.max_table_cells
        )
        own_domain = Domain(tuple(domain.variables[v] for v in nominal))
        tables = self._leave_one_out(counts.rows(), own_domain, [_PRIOR_RULE])
        families = self._number_families(numbers, codes, tables.log_scores([])[0])
        return _Parts(counts, own_domain, nominal, families)

    def _weighed(
        self,
        model: HybridNetworkModel,
        parts: _Parts,
        structure: Sequence[Family],
        codes: Codes,
    ) -> Learned:
        """The model with weights that are learned on left-out rows."""
        families = parts.families
        n_classes, n_columns = families.means.shape
        # The order is drawn by the rows' contents; a fit that draws nothing else
        # should not need a seed.
        order, weights = shuffled_distinct_rows(codes, np.random.default_rng(0))
        columns = [codes.column(v)[order] for v in range(codes.n_variables)]
        merged = Codes.from_columns(columns, codes.cards, weights)
        nominal = _columns(merged, parts.nominal)
        tables = self._leave_one_out(nominal, parts.domain, [self.smoothing_])
        # Weights are learned under the prior that the training rows follow.
        tables = replace(tables, beside=None, fixed_prior=None)
        even = replace(tables, fixed_prior=np.full(n_classes, 1.0 / n_classes))
        n_values = n_classes * (2 + n_columns + families.n_columns_of_pieces)
        most = min(_MOST_ROWS, max(1, _MOST_EVIDENCE // n_values))
        values = weighed_pieces(
            families,
            merged.rows(slice(0, most)),
            np.maximum(tables.log_scores([])[0], np.log(_LEAST_PRIOR)),
            even.log_scores(structure)[0],
        )
        own = merged.column(codes.n_variables - 1)[:most].astype(np.int64)
        logs = LogProbabilities(values, own, weights[:most], thread_count(self.n_jobs))
        learned = fit_component_weights(
            logs, np.ones(2 + n_columns), learn=True, scale=True
        )
        self._loo_score = scores_of(learned.scores, logs)
        prior = self.smoothing_.estimate(parts.counts.class_counts())
        weighed = replace(
            model,
            tables=model.tables.with_table(model.domain[-1].name, prior),
            base=learned.biases + learned.weights[0] * np.log(prior),
            table_weight=float(learned.weights[1]),
            linear=WeightedLinearFamilies(
                families, _spread(families, learned.weights[2:])
            ),
        )
        # Learned weights are calibrated already.
        self._learned_temperature = 1.0 if weighed.is_weighted else None
        if (given := self._given_prior) is not None:
            weighed = weighed.with_class_prior(given)
        elif weighed.is_weighted:
            self._left_out_answers = merged.rows(slice(0, most)), learned.scores
        return Learned(weighed, -self._loo_score.log_loss * float(codes.weights.sum()))

    def _constraints_among(self, domain: Domain) -> Constraints:
        """The constraints on some of the features, which come before the class."""
        place = {name: i for i, name in enumerate(self.encoder_.domain.names)}
        return self._constraints.among([place[name] for name in domain.names[:-1]])

    def _leave_one_out(
        self, codes: Codes, domain: Domain, rules: Sequence[Smoothing]
    ) -> LeaveOneOut:
        left_out = super()._leave_one_out(codes, domain, rules)
        return replace(left_out, beside=self._beside)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> Floats | None:
        model = self.model_
        if not isinstance(model, HybridNetworkModel):
            return super()._left_out_log_scores(left_out)
        if model.is_weighted:
            # The weight of the prior, which is left out too, is not kept by itself.
            return None
        linear, codes = model.linear.families, left_out.counts.rows()
        # The rows may be others, or in another order, than those of training.
        evidence = numeric_log_likelihoods(linear, codes, is_left_out=True)
        numbers = set(linear.features.tolist())
        families = model.tables.dag.families[:-1]
        return replace(left_out, beside=evidence).log_scores(
            [f for f in families if f[-1] not in numbers]
        )


def _columns(codes: Codes, chosen: Sequence[int]) -> Codes:
    """Some variables of the same rows."""
    return Codes.from_columns(
        [codes.column(v) for v in chosen],
        [codes.cards[v] for v in chosen],
        codes.weights,
    )


def _widened(
    network: BayesianNetwork,
    domain: Domain,
    nominal: Sequence[int],
    in_states: Sequence[Floats],
) -> BayesianNetwork:
    """The network of the nominal features among all, numbers without arcs."""
    place = {variable: own for own, variable in enumerate(nominal)}
    cpds = []
    for variable in range(len(domain)):
        if variable in place:
            own = network.cpds[place[variable]]
            family = tuple(nominal[member] for member in own.family)
            cpds.append(TableCPD(family, own.probabilities))
        else:
            counts = in_states[variable]
            cpds.append(TableCPD((variable,), counts / counts.sum()))
    return BayesianNetwork(domain, DAG(tuple(cpd.parents for cpd in cpds)), tuple(cpds))


def _spread(families: LinearGaussianFamilies, weights: Floats | float) -> Floats:
    """Weights of numbers as those of their pieces."""
    found = np.zeros(families.n_columns_of_pieces)
    found[last_pieces(families)] = weights
    return found.reshape(-1, families.n_pieces)
