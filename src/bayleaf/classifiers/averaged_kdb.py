"""Averaged KDB: sampled networks, weighted by what they say of left-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.edge_parameters import (
    EdgeParameters,
    check_counted,
    check_most_required,
    rooted_constraints,
)
from bayleaf.classifiers.shared.monotone import monotone_features, pooled_average
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    check_choice,
    check_count,
    check_flag,
)
from bayleaf.classifiers.shared.partial_cases import learn_partial_cases
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import one_thread_of_linear_algebra, run_tasks
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.random_network import FamilyBank, PseudoCounts, RandomNetwork
from bayleaf.cpds.smoothing import Smoothing, resolve_smoothing
from bayleaf.data.discretizers import resolve_discretizer
from bayleaf.data.domain import Domain
from bayleaf.data.encoder_learning import Discretizer
from bayleaf.data.incomplete_rows import DROP
from bayleaf.data.random_cuts import RandomCuts, default_n_codings, value_maps
from bayleaf.data.random_state import RandomState
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.support.class_trees import ClassTrees, TreeRule, tree_rules
from bayleaf.models.support.number_terms import Curves, WeightedLinearFamilies
from bayleaf.progress import Work
from bayleaf.results.result_lists import ResultList
from bayleaf.search.constraints import Constraints
from bayleaf.search.left_out.component_weights import (
    ComponentWeights,
    LogProbabilities,
    correct_components,
    fit_component_weights,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows
from bayleaf.search.left_out.linear_families import linear_families
from bayleaf.search.left_out.ridge import ridge_curves
from bayleaf.search.left_out.sampled_networks import (
    SMOOTHING_GRID,
    NetworkSampler,
    even_weights,
    left_out_log_probabilities,
    scores_of,
    state_counts,
)
from bayleaf.search.left_out.selection import choose_rule
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.typing import ByName

# Left-out log-probabilities that are held at most: 160 MB.
_MAX_EVIDENCE = 40_000_000
# Of a limit of memory, the networks and the evidence of left-out rows get one share
# each; a number of the latter takes four bytes, and what is computed of it as many.
_SHARES, _BYTES_OF_EVIDENCE = 5, 8
# Bytes of all networks: file and predictions stay as small as those of other models.
_MODEL_SIZE = 1 << 27
# Above so many columns fewer networks are drawn, of features with fewer parents.
_MANY_COLUMNS, _MOST_FAMILIES, _FEWEST_OF_MANY, _PARENTS_OF_MANY = 300, 4800, 4, 2
# From so many columns on, and so many rows a column, all weights are one regression's.
_FEWEST_COLUMNS, _ROWS_A_COLUMN = 60, 2
# Bytes that a column of so many takes, and a cell of it: measured at 1 000 and 2 000.
_BYTES_A_COLUMN, _BYTES_A_CELL = 180_000, 20
# Classes that one left-out row may stand for while weights are learned.
_CLASSES_A_ROW = 10


class AveragedKDBClassifier(EdgeParameters, BayesianClassifier):
    """Weighted average of sampled KDB networks; the most accurate model here.

    Every network sees the numeric columns through random quantile bins of its own and
    draws a feature order and up to `max_parents` parents a feature around those of KDB.
    The score of a class is a sum over features and depths: the mean log-probability of
    the feature's value given the class and its first j parents, times a weight that is
    learned from exact leave-one-out predictions. What a numeric feature says as a
    number, alone and in linear regressions on others, are further pieces of the sum;
    from a thousand rows on a curve for each feature corrects it where left-out rows
    show that this pays. The sum stays additive, so that every prediction is explained
    by terms that add up. Required and forbidden edges and tiers hold in every network
    and in the regressions; curves and trees that correct the sum have no arcs. No tree
    branches at a monotone feature, whose part in the sum is put in order by a curve.

    Parameters
    ----------
    n_networks : int, optional
        Number of networks. By default 64 up to 10 000 rows, then fewer, at least 16;
        above 300 columns 4 800 by their number, at least 4.
    max_parents : int, default=4
        Most parents of a feature, and the class; at most 2 above 300 columns.
    weights : {"leave_one_out"} or None, default="leave_one_out"
        How terms are weighted: by the log-loss of left-out rows, or, with None,
        evenly. With even weights, `calibration` finds one temperature.
    linear_families : bool, default=True
        Whether numeric features also count as numbers, in linear-Gaussian families;
        only where weights are learned.
    correction : bool, default=True
        Whether curves may correct the sum; only where weights are learned.
    class_trees : bool, default=True
        Whether trees may correct the sum, where conjunctions say more than the networks
        know; only where weights are learned.
    max_rows : int, default=20000
        Most rows on which the weights are learned, drawn at random; the tables are
        counted from all rows.
    max_model_size : int, default=134_217_728
        Bytes that all networks may take in memory; the file is about a twelfth of it at
        most. Where they would take more, configurations of parents need more rows to be
        distinguished, and then, unless `n_networks` is given, fewer networks are drawn.
    n_bins : int, optional
        Largest number of quantiles at which a column is cut. By default the cube root
        of the number of rows, between 4 and 32.
    smoothing : str or Smoothing, default="dirichlet"
        "dirichlet" (a total pseudo-count of 1), "laplace", "m_estimate", a rule of
        these kinds, or "auto", which chooses among a few by left-out log-loss.
    discretizer : str or discretiser, optional
        One coding for all networks in place of random bins.
    missing : {"state", "error"}, default="state"
        Missing cells are a state of their own; this model cannot sum them out.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; with an integer a fit can be repeated.
    monotone : dict of name to {+1, -1, 0}, optional
        Features along which the probability of the second class never falls or never
        rises, see `HybridNetworkClassifier`.
    **shared
        The other parameters that the classifiers share, see `BayesianClassifier`.

    Attributes
    ----------
    n_networks_ : int
        Number of networks drawn.
    min_rows_ : int
        Rows that a configuration of parents needs; with less, the distribution with
        one parent fewer counts.
    prior_weight_ : float
        Weight of the log prior.
    biases_ : ndarray of shape (n_classes,)
        Added to the scores, nats.
    penalty_ : float
        Strength of the pull that counts most; NaN with even weights.
    corrected_ : bool
        Whether curves correct the sum.
    n_trees_ : int
        Number of trees that correct the sum.

    References
    ----------
    Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD-96,
    335-338.

    Zhang, H., Petitjean, F., Buntine, W., Webb, G. I. (2020). Bayesian network
    classifiers using ensembles and smoothing. Knowledge and Information Systems 62.

    Zaidi, N. A., Cerquides, J., Carman, M. J., Webb, G. I. (2013). Alleviating naive
    Bayes attribute independence assumption by attribute weighting. Journal of Machine
    Learning Research 14, 1947-1988.
    """

    n_networks: int | None = None
    max_parents: int = 4
    weights: str | None = "leave_one_out"
    linear_families: bool = True
    correction: bool = True
    class_trees: bool = True
    max_rows: int = 20000
    max_model_size: int = _MODEL_SIZE
    n_bins: int | None = None
    smoothing: str | Smoothing = "dirichlet"
    discretizer: str | Discretizer | None = None
    missing: str = "state"
    random_state: RandomState = None
    monotone: ByName[int] | None = None

    def _check(self) -> None:
        for name, least in (("max_parents", 0), ("max_rows", 1), ("max_model_size", 1)):
            check_count(name, getattr(self, name), least)
        for name, least in (("n_networks", 1), ("n_bins", 2)):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), least)
        if self.weights is not None:
            check_choice("weights", self.weights, ("leave_one_out",))
        for name in ("linear_families", "correction", "class_trees"):
            check_flag(name, getattr(self, name))
        if self.missing in ("marginalize", DROP):
            raise ValueError(
                f"missing={self.missing!r} is not possible for averaged KDB, which "
                "cannot sum a feature out; use missing='state' or 'error', or another "
                "model"
            )
        if self.smoothing != AUTO:
            PseudoCounts.from_rule(resolve_smoothing(self.smoothing), np.ones(1))

    def _chosen_discretizer(self, rng: np.random.Generator) -> Discretizer:
        self._random_cuts = None
        if self.discretizer is not None:
            return resolve_discretizer(self.discretizer)
        self._random_cuts = RandomCuts(rng, self.n_networks, self.n_bins)
        return self._random_cuts

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self._refuse_many_classes(domain)
        constraints, names = rooted_constraints(self, domain), domain.names[:-1]
        limit = f"max_parents={self.max_parents}"
        check_most_required(constraints, names, self.max_parents, limit)
        drawn = self.__dict__.pop("_random_cuts", None)
        features, n_rows = domain.variables[:-1], counts.class_counts().sum()
        is_wide = self._is_wide(len(features), n_rows, constraints)
        most = self.max_rows
        if is_wide:
            self._refuse_many_columns(len(features), n_rows)
        else:
            most = min(most, self._most_left_out(len(features)))
        with one_thread_of_linear_algebra():
            sampler = self._sampler(
                counts, value_maps(features, drawn), rng, constraints, is_wide=is_wide
            )
            self.n_networks_, self.min_rows_ = sampler.fitting_size(
                len(sampler.seeds), *self._model_limit, is_given=bool(self.n_networks)
            )
            tasks: list[Callable[[], Any]] = [
                *sampler.tasks(self.n_networks_, self.min_rows_),
                partial(LeftOutRows.drawn, counts.rows(), most, rng),
                partial(state_counts, counts),
            ]
            work = Work(len(tasks))
            told = [partial(_told, work, task) for task in tasks]
            *sampled, left_out, in_states = run_tasks(told, counts.n_jobs)
            work.say("learning the weights")
            networks = tuple(sampled)
            check_counted(constraints, networks, names)
            linear = None
            if is_wide:
                logs, learned = self._weigh_columns(counts, left_out, domain, in_states)
            else:
                linear = self._linear_families(
                    counts, domain, in_states, rng, constraints
                )
                logs, bank = self._chosen_log_probabilities(
                    networks, counts, left_out, linear
                )
                learned = self._weigh(logs, left_out, domain, linear)
        n_features = len(features)
        n_tables = 1 + n_features * (self.max_parents + 1)
        prior = self.smoothing_.estimate(counts.class_counts())
        model = AveragedKDBModel(
            domain,
            prior,
            networks,
            self.smoothing_,
            self.biases_ + self.prior_weight_ * np.log(prior),
            learned.weights[1:n_tables].reshape(n_features, -1),
            in_states,
            WeightedLinearFamilies.of(linear, learned.weights[n_tables:]),
            learned.curves and Curves(*learned.curves),
            learned.trees and ClassTrees.of(len(prior), *learned.trees[:3]),
            self.min_rows_,
        )
        scores = learned.scores
        monotone = monotone_features(self, domain) if len(prior) > 1 else []
        if monotone:
            model, scores = pooled_average(model, monotone, left_out, learned.scores)
            self._loo_score = scores_of(scores, logs)
        has_own_prior = self.class_prior is None and self.fit_prior
        self._left_out_answers = (left_out.codes, scores) if has_own_prior else None
        alone = (
            None if is_wide else logs.values[:, :, 1 : n_tables : self.max_parents + 1]
        )
        with one_thread_of_linear_algebra():
            partial_cases = learn_partial_cases(
                model,
                model._bank if is_wide else bank,
                left_out,
                alone,
                rng,
                tuple(order.feature for order in monotone),
            )
        model = replace(model, partial=partial_cases)
        if not is_wide:
            # The trees that left-out rows have walked serve predictions too.
            vars(model)["_bank"] = bank
        if not has_own_prior:
            # Weights are learned under the prior that the training rows follow.
            model = model.with_class_prior(self._class_prior(counts, self.smoothing_))
        log_loss = float(self._loo_score or 0.0)
        return Learned(model, -log_loss * float(logs.weights.sum()))

    def _sampler(
        self,
        counts: CountSource,
        codings: Any,
        rng: np.random.Generator,
        constraints: Constraints,
        *,
        is_wide: bool,
    ) -> NetworkSampler:
        """What draws networks, of which there are fewer the more rows or columns."""
        n_columns, n_rows = len(codings[0]), counts.class_counts().sum()
        n_networks, max_parents = default_n_codings(n_rows), self.max_parents
        if is_wide:
            n_networks, max_parents = 1, 0
        elif n_columns > _MANY_COLUMNS:
            least = max(_FEWEST_OF_MANY, _MOST_FAMILIES // n_columns)
            n_networks = min(n_networks, least)
            max_parents = min(max_parents, _PARENTS_OF_MANY)
        n_networks = self.n_networks or n_networks
        seeds = rng.integers(1 << 63, size=n_networks)
        return NetworkSampler(
            counts, codings, seeds, max_parents, self.max_table_cells, constraints
        )

    def _is_wide(self, n_columns: int, n_rows: float, constraints: Constraints) -> bool:
        """Whether rows are too few to weigh each feature by itself."""
        is_asked = self.weights is not None and self.correction
        is_asked = is_asked and not constraints.required_edges
        is_wide = n_columns >= max(_FEWEST_COLUMNS, n_rows / _ROWS_A_COLUMN)
        return is_wide and is_asked and len(self.classes_) > 1

    def _weigh_columns(
        self,
        counts: CountSource,
        left_out: LeftOutRows,
        domain: Domain,
        in_states: tuple[NDArray[np.float64], ...],
    ) -> tuple[LogProbabilities, ComponentWeights]:
        """Curves of all features by one regression, and no other weights."""
        if self.smoothing == AUTO:
            # No table has weight.
            self.smoothing_ = SMOOTHING_GRID[0]
        class_counts = counts.class_counts()
        found = ridge_curves(left_out, domain.variables[:-1], in_states, class_counts)
        n_classes, n_features = len(class_counts), len(domain) - 1
        weights = np.zeros(1 + n_features * (self.max_parents + 1))
        weights[0] = 1.0
        own = left_out.own.astype(np.int64)
        values = np.zeros((left_out.n_rows, n_classes, 1), dtype=np.float32)
        logs = LogProbabilities(values, own, left_out.codes.weights, counts.n_jobs)
        curves = (found.features, found.curves) if len(found.features) else None
        self.corrected_, self.n_trees_ = curves is not None, 0
        self.prior_weight_, self.biases_ = 1.0, np.zeros(n_classes)
        self.penalty_, self._learned_temperature = found.strength, 1.0
        self._loo_score = scores_of(found.scores, logs)
        learned = ComponentWeights(
            weights, self.biases_, self.penalty_, 1.0, found.scores, curves
        )
        return logs, learned

    @property
    def _model_limit(self) -> tuple[int, str, int]:
        """Bytes that all networks may take, and the limit that they are a share of."""
        if self._memory is None or self._memory > _SHARES * self.max_model_size:
            return self.max_model_size, "max_model_size", 1
        return self._memory // _SHARES, "memory", _SHARES

    def _refuse_many_classes(self, domain: Domain) -> None:
        """Raise if too few rows could be left out to weigh the terms of all classes."""
        n_features, n_classes = len(domain) - 1, domain.cards[-1]
        n_rows = self._most_left_out(n_features)
        if n_rows * _CLASSES_A_ROW < n_classes:
            remedy = "" if self._memory is None else "raise memory, "
            raise ValueError(
                f"{n_classes} classes and {n_features} features leave room for "
                f"{n_rows} rows to learn weights from; take fewer classes, lower "
                f"max_parents, {remedy}or use another classifier"
            )

    def _refuse_many_columns(self, n_features: int, n_rows: float) -> None:
        """Raise if one regression over all columns takes more than the memory."""
        needed = int(n_features * (_BYTES_A_COLUMN + _BYTES_A_CELL * n_rows))
        if self._memory is not None and self._memory < needed:
            raise ValueError(
                f"memory={self._memory} is too small for {n_features} features; "
                f"{needed} is enough, or drop features"
            )

    def _most_left_out(self, n_features: int) -> int:
        """Rows whose log-probabilities, by class and term, are held at a time."""
        n_pieces = n_features * (self.max_parents + 1)
        most = _MAX_EVIDENCE
        if self._memory is not None:
            most = min(most, self._memory // (_SHARES * _BYTES_OF_EVIDENCE))
        return max(1, most // (len(self.classes_) * (1 + n_pieces)))

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs as (parent, child) names, each with its `weight`, the class's too."""
        return list(self._averaged_model.weighted_arcs)

    @property
    def _averaged_model(self) -> AveragedKDBModel:
        """The fitted model."""
        check_is_fitted(self, "model_")
        return cast(AveragedKDBModel, self.model_)

    def rules(self, n: int | None = 10) -> ResultList[TreeRule]:
        """Conjunctions by which trees correct the sum, those that matter most first.

        Parameters
        ----------
        n : int, optional
            Most rules; all with None.

        Returns
        -------
        ResultList of TreeRule
            By nats times rows; empty where no trees paid.
        """
        model, labels = self._averaged_model, tuple(self.classes_.tolist())
        return ResultList(tree_rules(model.trees, model.domain, labels)[:n])

    def _chosen_log_probabilities(
        self,
        networks: tuple[RandomNetwork, ...],
        counts: CountSource,
        left_out: LeftOutRows,
        linear: LinearGaussianFamilies | None,
    ) -> tuple[LogProbabilities, FamilyBank]:
        """Log-probabilities of left-out rows under the rule, which "auto" chooses."""
        n_features, n_depths = len(self.encoder_.domain), self.max_parents + 1

        def under(rule: Smoothing) -> tuple[LogProbabilities, FamilyBank]:
            n_classes = len(self.classes_)
            bank = FamilyBank.from_networks(networks, n_classes, rule, self.min_rows_)
            logs = left_out_log_probabilities(
                bank, n_depths, counts, left_out, rule, linear
            )
            return logs, bank

        if self.smoothing == AUTO:
            scores = []
            for rule in SMOOTHING_GRID:
                logs, _ = under(rule)
                summed = logs.log_scores(even_weights(logs, n_features, n_depths))
                best = best_temperature(summed, logs.own, logs.weights)
                scores.append(scores_of(summed / best, logs))
            self._adopt(choose_rule(SMOOTHING_GRID, scores))
        return under(self.smoothing_)

    def _linear_families(
        self,
        counts: CountSource,
        domain: Domain,
        in_states: tuple[NDArray[np.float64], ...],
        rng: np.random.Generator,
        constraints: Constraints,
    ) -> LinearGaussianFamilies | None:
        """What numbers say as numbers, where that is asked for and weighed."""
        if not self.linear_families or self.weights is None or len(self.classes_) < 2:
            return None
        features = domain.variables[:-1]
        return linear_families(counts.rows(), features, in_states, rng, constraints)

    def _weigh(
        self,
        logs: LogProbabilities,
        left_out: LeftOutRows,
        domain: Domain,
        linear: LinearGaussianFamilies | None,
    ) -> ComponentWeights:
        """Weight of every piece, and curves where they pay; the rest is kept."""
        asked = self.weights is not None
        shape = len(domain) - 1, self.max_parents + 1
        learned = fit_component_weights(
            logs,
            even_weights(logs, *shape),
            learn=asked and len(self.classes_) > 1,
            scale=asked or self.calibration is not None,
            shape=shape,
        )
        learned = correct_components(
            learned,
            left_out,
            domain.variables[:-1],
            linear,
            by_curves=self.correction and asked,
            by_trees=self.class_trees and asked,
            n_jobs=logs.n_threads,
            unbranched={own.feature for own in monotone_features(self, domain)},
        )
        self.corrected_ = learned.curves is not None
        self.n_trees_ = 0 if learned.trees is None else len(learned.trees.classes)
        self.prior_weight_, self.biases_ = float(learned.weights[0]), learned.biases
        self.penalty_ = learned.penalty
        self._learned_temperature = learned.temperature
        self._loo_score = scores_of(learned.scores, logs)
        return learned


def _told(work: Work, task: Callable[[], Any]) -> Any:
    """Tell that a task begins, and carry it out."""
    work.step("counting networks")
    return task()
