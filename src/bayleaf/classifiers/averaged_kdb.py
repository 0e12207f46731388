"""Averaged KDB: sampled networks, weighted by what they say of left-out rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from bayleaf.classifiers.shared.base import BayesianClassifier, Learned
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    check_choice,
    check_count,
)
from bayleaf.counts.information import (
    conditional_mutual_information_matrix,
    mutual_information,
)
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.nested import PseudoCounts
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.cpds.smoothing import (
    Smoothing,
    resolve_smoothing,
)
from bayleaf.data.codes import Codes
from bayleaf.data.cuts.discretizers import resolve_discretizer
from bayleaf.data.cuts.random_cuts import RandomCuts, interval_map
from bayleaf.data.domain import Domain
from bayleaf.data.encoder.learning import Discretizer
from bayleaf.data.shuffled_rows import shuffled_distinct_rows
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.texts.feature_shape import FeatureShape
from bayleaf.progress import Work
from bayleaf.search.left_out.averaged_kdb import (
    SMOOTHING_GRID,
    Maps,
    count_network,
    left_out_log_probabilities,
    recoded,
    scores_of,
    state_counts,
)
from bayleaf.search.left_out.cells import (
    LeftOutRows,
)
from bayleaf.search.left_out.selection import choose_rule
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.search.left_out.weights import LogProbabilities, learn_weights
from bayleaf.search.orders.noisy_kdb import log_information, noisy_parents
from bayleaf.wording import name_list, quoted

# Left-out log-probabilities that are held at most: 0.8 GB.
_MAX_EVIDENCE = 200_000_000

# Classes that one left-out row may stand for while weights are learned.
_CLASSES_A_ROW = 10


class AveragedKDBClassifier(BayesianClassifier):
    """Weighted average of sampled KDB networks; the most accurate model here.

    Every network sees the numeric columns through random quantile bins of its own and
    draws a feature order and up to `max_parents` parents a feature around those of KDB.
    The score of a class is a sum over features and depths: the mean log-probability of
    the feature's value given the class and its first j parents, times a weight that is
    learned from exact leave-one-out predictions. The sum stays additive, so that every
    prediction is explained by terms that add up.

    Parameters
    ----------
    n_networks : int, default=16
        Number of networks.
    max_parents : int, default=4
        Most parents of a feature beside the class.
    weights : {"leave_one_out"} or None, default="leave_one_out"
        How terms are weighted: by the log-loss of left-out rows, or, with None,
        evenly. With even weights, `calibration` finds one temperature.
    max_rows : int, default=8000
        Most rows on which the weights are learned, drawn at random; the tables are
        counted from all rows.
    n_bins : int, optional
        Largest number of quantiles at which a column is cut. By default the cube root
        of the number of rows, between 4 and 16.
    smoothing : str or Smoothing, default="dirichlet"
        "dirichlet" (a total pseudo-count of 1), "laplace", "m_estimate", a rule of
        these kinds, or "auto", which chooses among a few by left-out log-loss.
    discretizer : str or discretiser, optional
        One coding for all networks in place of random bins.
    missing : {"state", "error"}, default="state"
        Missing cells are a state of their own; this model cannot sum them out.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; with a whole number a fit can be repeated.
    **shared
        The other parameters that the classifiers share, see `BayesianClassifier`.

    Attributes
    ----------
    prior_weight_ : float
        Weight of the log prior.
    biases_ : ndarray of shape (n_classes,)
        Added to the scores, nats.
    penalty_ : float
        Strength of the pull towards equal weights that was chosen; NaN with even
        weights.

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

    def __init__(
        self,
        *,
        n_networks: int = 16,
        max_parents: int = 4,
        weights: str | None = "leave_one_out",
        max_rows: int = 8000,
        n_bins: int | None = None,
        smoothing: str | Smoothing = "dirichlet",
        discretizer: Any = None,
        missing: str = "state",
        random_state: Any = None,
        **shared: Any,
    ) -> None:
        super().__init__(
            smoothing=smoothing,
            discretizer=discretizer,
            missing=missing,
            random_state=random_state,
            **shared,
        )
        self.n_networks = n_networks
        self.max_parents = max_parents
        self.weights = weights
        self.max_rows = max_rows
        self.n_bins = n_bins

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_networks", self.n_networks, 1)
        check_count("max_parents", self.max_parents, 0)
        check_count("max_rows", self.max_rows, 1)
        if self.weights is not None:
            check_choice("weights", self.weights, ("leave_one_out",))
        if self.n_bins is not None:
            check_count("n_bins", self.n_bins, 2)
        if self.missing == "marginalize":
            raise ValueError(
                "missing='marginalize' is not possible for averaged KDB, which cannot "
                "sum a feature out; use missing='state' or 'error', or another model"
            )
        if self.smoothing != AUTO:
            PseudoCounts.from_rule(resolve_smoothing(self.smoothing), np.ones(1))

    def _chosen_discretizer(self, rng: np.random.Generator) -> Discretizer:
        if self.discretizer is not None:
            return resolve_discretizer(self.discretizer)
        self._random_cuts = RandomCuts(rng, self.n_networks, self.n_bins)
        return self._random_cuts

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self._refuse_many_classes(domain)
        # Threads of the linear algebra would stand in the way of those of `n_jobs`.
        with _linear_algebra().limit(limits=1, user_api="blas"):
            tasks: list[Callable[[], Any]] = [
                *self._sampling(counts, domain, rng),
                partial(self._left_out_rows, counts.rows(), rng),
                partial(state_counts, counts),
            ]
            work = Work(len(tasks))
            tasks = [partial(_told, work, task) for task in tasks]
            *sampled, left_out, in_states = run_tasks(tasks, counts.n_jobs)
            work.say("learning the weights")
            networks = tuple(sampled)
            logs = self._chosen_log_probabilities(networks, counts, left_out)
            weights = self._weigh(logs)
        prior = self.smoothing_.estimate(counts.class_counts())
        model = AveragedKDBModel(
            domain,
            prior,
            networks,
            self.smoothing_,
            self.biases_ + self.prior_weight_ * np.log(prior),
            weights.reshape(len(domain) - 1, -1),
            in_states,
        )
        if self.class_prior is not None or not self.fit_prior:
            # Weights are learned under the prior that the training rows follow.
            model = model.with_class_prior(self._class_prior(counts, self.smoothing_))
        log_loss = float(self._loo_score or 0.0)
        return Learned(model, -log_loss * float(logs.weights.sum()))

    def _refuse_many_classes(self, domain: Domain) -> None:
        """Raise if too few rows could be left out to weigh the terms of all classes."""
        n_features, n_classes = len(domain) - 1, domain.cards[-1]
        n_rows = self._most_left_out(n_features)
        if n_rows * _CLASSES_A_ROW < n_classes:
            raise ValueError(
                f"{n_classes} classes and {n_features} features leave room for "
                f"{n_rows} rows to learn weights from; take fewer classes, lower "
                "max_parents, or use another classifier"
            )

    def _most_left_out(self, n_features: int) -> int:
        """Rows whose log-probabilities, by class and term, are held at a time."""
        n_pieces = n_features * (self.max_parents + 1)
        return max(1, _MAX_EVIDENCE // (len(self.classes_) * (1 + n_pieces)))

    def _left_out_temperature(self) -> float | None:
        # Learned weights are calibrated already.
        return self._learned_temperature

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs as (parent, child) names, each with its `weight`, the class's too."""
        return list(self._averaged_model.weighted_arcs)

    @property
    def _averaged_model(self) -> AveragedKDBModel:
        """The fitted model."""
        check_is_fitted(self, "model_")
        return cast(AveragedKDBModel, self.model_)

    def shape(self, feature: str | int) -> FeatureShape:
        """What one feature says of the classes alone, state by state.

        Parameters
        ----------
        feature : str or int
            Name of the feature.

        Returns
        -------
        FeatureShape
            A step curve for a numeric feature, bars for a nominal one, with the number
            of training rows behind each step.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        model = self._averaged_model
        names = model.domain.names[:-1]
        if feature not in names:
            raise ValueError(
                f"there is no feature {quoted(feature)}; the features are "
                f"{name_list(names)}"
            )
        labels = tuple(self.classes_.tolist())
        return model.feature_shape(names.index(feature), labels)

    def _value_maps(self, domain: Domain) -> list[Maps]:
        """For each network, the state that each code of each feature stands for."""
        features = domain.variables[:-1]
        as_is = [np.arange(v.n_states + 1, dtype=np.uint16) for v in features]
        if self.discretizer is not None:
            return [tuple(as_is)] * self.n_networks
        drawn = iter(self.__dict__.pop("_random_cuts").drawn)
        codings = [next(drawn) if v.kind == "numeric" else None for v in features]
        return [
            tuple(
                as_is[i] if coding is None else interval_map(features[i], coding[m])
                for i, coding in enumerate(codings)
            )
            for m in range(self.n_networks)
        ]

    def _sampling(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> list[Callable[[], RandomNetwork]]:
        """For each network, what draws it and counts every feature and its parents."""
        codes = counts.rows()
        maps = self._value_maps(domain)
        seeds = rng.integers(1 << 63, size=self.n_networks)
        alike = all(
            one is other
            for others in maps[1:]
            for one, other in zip(maps[0], others, strict=True)
        )

        def sample(network: int) -> RandomNetwork:
            generator = np.random.default_rng(seeds[network])
            measured = shared or self._measured(counts, maps[network], 1)
            parents = noisy_parents(*measured, self.max_parents, generator)
            return count_network(codes, parents, maps[network])

        # Several codings are counted side by side, each on one thread.
        shared = self._measured(counts, maps[0], counts.n_jobs) if alike else None
        return [partial(sample, m) for m in range(self.n_networks)]

    def _measured(
        self, counts: CountSource, maps: Maps, n_jobs: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of I(X;C) and I(X;X'|C), nats, in one coding."""
        codes = counts.rows()
        coded = counts
        if any((states != np.arange(len(states))).any() for states in maps):
            coded = TableCounts(
                recoded(codes, maps),
                n_jobs=n_jobs,
                max_table_cells=self.max_table_cells,
            )
        return (
            log_information(mutual_information(coded)),
            log_information(conditional_mutual_information_matrix(coded)),
        )

    def _left_out_rows(self, codes: Codes, rng: np.random.Generator) -> LeftOutRows:
        """Distinct training rows in random order, as many as weights are learned on."""
        rows, weights = shuffled_distinct_rows(codes, rng)
        most = self._most_left_out(codes.n_variables - 1)
        rows, weights = rows[: self.max_rows][:most], weights[: self.max_rows][:most]
        chosen = codes.rows(rows)
        columns = [chosen.column(i) for i in range(chosen.n_variables)]
        return LeftOutRows(Codes.from_columns(columns, codes.cards, weights))

    def _chosen_log_probabilities(
        self,
        networks: tuple[RandomNetwork, ...],
        counts: CountSource,
        left_out: LeftOutRows,
    ) -> LogProbabilities:
        """Log-probabilities of left-out rows under the rule, which "auto" chooses."""
        log_probabilities_under = partial(
            left_out_log_probabilities,
            networks,
            self.max_parents + 1,
            counts,
            left_out,
        )
        if self.smoothing == AUTO:
            scores = []
            for rule in SMOOTHING_GRID:
                logs = log_probabilities_under(rule)
                summed = logs.log_scores(self._even_weights())
                best = best_temperature(summed, logs.own, logs.weights)
                scores.append(scores_of(summed / best, logs))
            self._adopt(choose_rule(SMOOTHING_GRID, scores))
        return log_probabilities_under(self.smoothing_)

    def _even_weights(self) -> NDArray[np.float64]:
        """Weights under which each feature counts once, the prior's first."""
        n_depths = self.max_parents + 1
        pieces = np.full((len(self.encoder_.domain), n_depths), 1.0 / n_depths)
        return np.append(1.0, pieces)

    def _weigh(self, logs: LogProbabilities) -> NDArray[np.float64]:
        """Weight of each feature at each depth; prior weight and biases are kept."""
        weights, temperature = self._even_weights(), 1.0
        self.prior_weight_, self.penalty_ = 1.0, float("nan")
        self.biases_ = np.zeros(len(self.classes_))
        if self.weights is not None or self.calibration is not None:
            summed = logs.log_scores(weights)
            temperature = best_temperature(summed, logs.own, logs.weights)
        if self.weights is not None and len(self.classes_) > 1:
            found = learn_weights(logs, weights[-1] / temperature)
            self.prior_weight_, self.biases_ = found.prior, found.biases
            self.penalty_ = found.penalty
            weights, temperature = np.append(found.prior, found.pieces), 1.0
        summed = (logs.log_scores(weights) + self.biases_) / temperature
        self._learned_temperature = temperature
        self._loo_score = scores_of(summed, logs)
        return weights[1:]


def _told(work: Work, task: Callable[[], Any]) -> Any:
    """Tell that a task begins, and carry it out."""
    work.step("counting networks")
    return task()


@cache
def _linear_algebra() -> ThreadpoolController:
    """What sets the threads of the linear algebra; finding it takes a while."""
    return ThreadpoolController()
