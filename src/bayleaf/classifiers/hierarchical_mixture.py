"""Hierarchical mixtures of naive Bayes classifiers."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    check_choice,
    check_count,
    check_flag,
    check_threshold,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import run_tasks, thread_count
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.random_state import RandomState
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.latent.architecture_growth import deal_folds, grow_architecture
from bayleaf.latent.batch_mixture import BatchOptions, learn_batch
from bayleaf.latent.mixture_experts import (
    ExpertMixtureModel,
    check_expert,
    learn_with_experts,
)
from bayleaf.latent.online_mixture import (
    MixtureCounters,
    OnlineOptions,
    OnlineStream,
    learn_counters,
    level_shapes,
)
from bayleaf.models.class_model import log_normalize
from bayleaf.models.hierarchical_mixture_model import (
    HierarchicalMixtureModel,
    mixture_text,
)
from bayleaf.models.mixture_banks import Banks, mixture_log_posteriors
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.typing import Estimator, RowsLike
from bayleaf.wording import quoted

LEARNING = ONLINE, BATCH = ("online", "batch")
DENOMINATORS = ("rows_with_value", "all_rows")
# Beyond this an expert that is wrong would be worth nothing at all.
_MOST_SIGMA = 500.0
# Folds that calibration holds out in turn.
_N_FOLDS = 5


class HierarchicalMixtureNBClassifier(BayesianClassifier):
    """Tree of naive Bayes gates over naive Bayes experts.

    Every gate is a naive Bayes classifier that predicts which of its children does best
    in a row, every leaf an expert that predicts the class. The prediction is the mean
    of the experts' by the gates' weights, so that classes which no single naive Bayes
    classifier can part, as in exclusive or, are learned.

    Parameters
    ----------
    architecture : tuple of int or "auto", default=(2, 2)
        Number of children of the gates of each level, from the root on: ``(4,)`` is one
        gate over four experts, ``(2, 2)`` one over two over two each. "auto" grows it
        while the log-loss of five inner folds falls.
    learning : {"online", "batch"}, default="online"
        Row by row by online generalised EM, as published, or from all rows at once by
        steps that never lower the conditional likelihood of the classes.
    expert : classifier, optional
        A classifier that takes `sample_weight` and has `predict_proba`, for batch
        learning, instead of naive Bayes; the gates remain. Each leaf's clone gets all
        rows, weighted by row weight times the leaf's share: a matrix of codes
        0, 1, ... of the states in order, NaN in missing cells if the classifier's tags
        allow it and the code after the last if not. Classifiers of this library take
        the codes for nominal.
    n_mixtures : int, default=1
        Number of mixtures, from random starts, whose predictions are averaged. Ten
        have a much lower log-loss than one.
    n_passes : int, default=5
        Passes over the rows, in one random order (online).
    sigma : float, default=0.1
        An expert that gives the true class probability p is worth
        ``exp(-sigma * (1 - p))`` where experts compete for a row; up to 500 (online).
    gamma : float, default=0.1
        Where counters start, above zero (online).
    noise : float, default=0.01
        Each counter starts up to this much higher, which tells experts apart (online).
    missing_denominator : {"rows_with_value", "all_rows"}, default="rows_with_value"
        Whether P(value | output) is a share of the rows in which the feature is known
        or, as published, of all rows (online).
    deduplicate_rows : bool, default=True
        Learn equal rows as one of their total weight, so that weights are exact and the
        order of rows is of no importance; False is the published protocol.
    random_state : int, RandomState, Generator or None, default=None
        Source of starts and orders.
    **shared
        The other parameters that the classifiers share, see `BayesianClassifier`, but
        no `smoothing`: counters start at `gamma`.

    Attributes
    ----------
    architecture_ : tuple of int
        The architecture learned; empty for a single expert.
    growth_ : Growth
        Held-out log-loss of each architecture tried, where it is "auto".
    learning_curves_ : tuple of tuple of float
        For each start what rose or fell in learning: by pass the mean log-loss (nats)
        of the rows, each predicted just before it was learned, or by step of batch
        learning the objective.

    References
    ----------
    Wiering, M. A. (2003). Hierarchical mixtures of naive Bayes classifiers. Utrecht
    University, UU-CS-2003-003.
    """

    _is_incremental = True
    _learns_from_rows = True
    _lacks = MappingProxyType({"smoothing": "set gamma, where its counters start"})

    architecture: Sequence[int] | str = (2, 2)
    learning: str = ONLINE
    expert: Estimator | None = None
    n_mixtures: int = 1
    n_passes: int = 5
    sigma: float = 0.1
    gamma: float = 0.1
    noise: float = 0.01
    missing_denominator: str = "rows_with_value"
    deduplicate_rows: bool = True
    random_state: RandomState = None

    def _check(self) -> None:
        if not is_to_grow(self.architecture):
            checked_architecture(self.architecture)
        check_choice("learning", self.learning, LEARNING)
        if self.expert is not None:
            check_expert(self.expert)
            if self.learning != BATCH:
                raise ValueError(
                    f"learning={quoted(self.learning)} changes counters row by row, "
                    "which an expert of another kind has none of; take "
                    f"learning={quoted(BATCH)}"
                )
        check_count("n_mixtures", self.n_mixtures, 1)
        check_count("n_passes", self.n_passes, 1)
        for name in ("sigma", "gamma", "noise"):
            check_threshold(name, getattr(self, name), none_too=False)
        if self.sigma > _MOST_SIGMA:
            raise ValueError(
                f"sigma must be at most {_MOST_SIGMA:g}, got {quoted(self.sigma)}"
            )
        if self.gamma == 0:
            raise ValueError("gamma must be above 0, so that no probability is zero")
        check_choice("missing_denominator", self.missing_denominator, DENOMINATORS)
        check_flag("deduplicate_rows", self.deduplicate_rows)

    def _init_callback_context(
        self,
        task_name: str = "fit",
        task_id: int = 0,
        max_subtasks: int | None = None,
        sequential_subtasks: bool = False,
    ) -> Any:
        return super()._init_callback_context(
            task_name, task_id, max_subtasks, sequential_subtasks
        )

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        codes = counts.rows()
        if self.deduplicate_rows:
            codes, _ = merged_rows(codes)
        architecture = self._chosen_architecture(codes, domain, rng)
        # Drawn before any start runs, so that threads change nothing.
        seeds = rng.integers(1 << 63, size=self.n_mixtures).tolist()
        figure = "log_loss" if self.learning == ONLINE else "objective"
        reports = [Reports(self, start, figure) for start in range(self.n_mixtures)]
        learned = self._learn_starts(codes, architecture, seeds, reports)
        self.learning_curves_: tuple[tuple[float, ...], ...] = tuple(
            tuple(report.values) for report in reports
        )
        visited = self.n_passes * float(codes.weights.sum())
        self._streams = tuple(
            OnlineStream.of_fit(stream, domain.variables[:-1], visited, seed)
            for stream, seed in zip(learned, seeds, strict=True)
            if isinstance(stream, MixtureCounters)
        )
        kind = HierarchicalMixtureModel if self.expert is None else ExpertMixtureModel
        model = kind(domain, architecture, _banks(learned), self._given_prior)
        if self.calibration is not None:
            # Every row leaves its trace in all counters, so whole folds are held out.
            self._learned_temperature = self._held_out_temperature(codes, model, rng)
        return Learned(model, _log_likelihood(model, codes))

    def _refuse_leave_one_out(self) -> None:
        super()._refuse_leave_one_out()
        wrong = "architecture" if is_to_grow(self.architecture) else "learning"
        if wrong == "architecture" or self.learning == BATCH:
            raise ValueError(
                f"{wrong}={quoted(getattr(self, wrong))} needs all rows at once, which "
                f"partial_fit does not keep; use fit, learning={quoted(ONLINE)} and an "
                "architecture of numbers"
            )

    def _learn_batch(
        self, counts: IncrementalCounts, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        variables, options = domain.variables[:-1], self._online_options()
        codes = counts.latest_rows()
        if not counts.continues:
            architecture = checked_architecture(self.architecture)
            self.__dict__.pop("growth_", None)
            self._check_size(domain, architecture)
            seeds = rng.integers(1 << 63, size=self.n_mixtures).tolist()
            n_classes = domain[-1].n_states
            self._streams = tuple(
                OnlineStream.begun(architecture, variables, n_classes, options, seed)
                for seed in seeds
            )
            self.learning_curves_ = ((),) * len(seeds)
        else:
            self._check_size(domain, self._streams[0].counters.architecture)
        before = self._streams
        tasks = [partial(stream.after, codes, variables, options) for stream in before]
        self._streams = tuple(run_tasks(tasks, thread_count(self.n_jobs)))
        self.learning_curves_ = tuple(
            (*curve, (new.loss - old.loss) / (new.weight - old.weight))
            for curve, new, old in zip(
                self.learning_curves_, self._streams, before, strict=True
            )
        )
        starts = tuple(stream.banks(options) for stream in self._streams)
        architecture = self._streams[0].counters.architecture
        model = HierarchicalMixtureModel(
            domain, architecture, starts, self._given_prior
        )
        return Learned(
            model, -float(np.mean([stream.loss for stream in self._streams]))
        )

    def _chosen_architecture(
        self, codes: Codes, domain: Domain, rng: np.random.Generator
    ) -> tuple[int, ...]:
        """The architecture asked for, or the one that held-out rows ask for."""
        self.__dict__.pop("growth_", None)
        if is_to_grow(self.architecture):
            seed = int(rng.integers(1 << 63))

            def judge(rows: Codes, architecture: tuple[int, ...], others: Codes) -> Any:
                learned = self._learn_start(rows, architecture, seed, None)
                return mixture_log_posteriors(_banks([learned]), others)

            self.growth_ = grow_architecture(codes, judge, rng)
            architecture = self.growth_.architecture
        else:
            architecture = checked_architecture(self.architecture)
        self._check_size(domain, architecture)
        return architecture

    def _learn_starts(
        self,
        codes: Codes,
        architecture: tuple[int, ...],
        seeds: Sequence[int],
        reports: Sequence[Reports | None],
    ) -> list[MixtureCounters | Banks]:
        """Learn one mixture from each seed, side by side."""
        tasks = [
            partial(self._learn_start, codes, architecture, seed, report)
            for seed, report in zip(seeds, reports, strict=True)
        ]
        return run_tasks(tasks, thread_count(self.n_jobs))

    def _learn_start(
        self,
        codes: Codes,
        architecture: tuple[int, ...],
        seed: int,
        report: Reports | None,
    ) -> MixtureCounters | Banks:
        """Learn one mixture; online its counters, to which further rows may come."""
        rng = np.random.default_rng(seed)
        if self.expert is not None:
            expert = _told_of_codes(self.expert, codes.n_variables - 1)
            how = BatchOptions()
            return learn_with_experts(codes, architecture, expert, how, rng, report)
        if self.learning == BATCH:
            return learn_batch(codes, architecture, BatchOptions(), rng, report).banks
        options = self._online_options()
        order = rng.permutation(codes.n_rows)
        return learn_counters(codes, order, architecture, options, rng, report)

    def _online_options(self) -> OnlineOptions:
        """How counters start and what rows add to them."""
        return OnlineOptions(
            n_passes=int(self.n_passes),
            sigma=float(self.sigma),
            gamma=float(self.gamma),
            noise=float(self.noise),
            missing_denominator=cast(Any, self.missing_denominator),
        )

    def _held_out_temperature(
        self, codes: Codes, model: HierarchicalMixtureModel, rng: np.random.Generator
    ) -> float:
        """The temperature that suits rows which their mixture was not learned from."""
        folds = deal_folds(codes, _N_FOLDS, rng)
        scores = np.full((codes.n_rows, codes.cards[-1]), -np.inf)
        for fold in np.unique(folds):
            seeds = rng.integers(1 << 63, size=self.n_mixtures).tolist()
            kept, tested = codes.rows(folds != fold), folds == fold
            if not kept.n_rows:
                continue
            starts = self._learn_starts(
                kept, model.architecture, seeds, [None] * self.n_mixtures
            )
            other = replace(model, starts=_banks(starts))
            scores[tested] = other.class_log_scores(codes.rows(tested))
        class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
        return best_temperature(scores, class_codes, codes.weights)

    def _check_size(self, domain: Domain, architecture: tuple[int, ...]) -> None:
        """Raise before learning if the tables would be too large."""
        *cards, n_classes = domain.cards
        n_columns = sum(map(math.prod, level_shapes(architecture, n_classes)))
        cells = self.n_mixtures * n_columns * (1 + sum(cards))
        if cells > self.max_table_cells:
            raise ValueError(
                f"architecture={quoted(self.architecture)} with n_mixtures="
                f"{self.n_mixtures} needs tables of {cells:.3g} cells, more than "
                f"max_table_cells={self.max_table_cells}; take fewer or smaller "
                "levels, or raise it"
            )

    # ---- looking at the result

    def gate_weights(self, X: RowsLike) -> NDArray[np.float64]:
        """Weight that the gates of each mixture give each expert in each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_mixtures, n_rows, n_experts)
            The weights of a mixture sum to one in each row.
        """
        codes = self._codes_as_fitted(X)
        return self._mixture.gate_weights(codes)

    @property
    def architecture_(self) -> tuple[int, ...]:
        """Number of children of the gates of each level; empty for one expert."""
        return self._mixture.architecture

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file, see `BayesianClassifier.save`.

        Raises
        ------
        TypeError
            If the experts are no naive Bayes classifiers.
        """
        if self.expert is not None:
            raise TypeError(
                f"a model file has no place for experts such as "
                f"{quoted(self.expert)}, which "
                "are of any kind; pickle the classifier, or leave expert=None"
            )
        super().save(path)

    def __str__(self) -> str:
        if not hasattr(self, "model_"):
            return str(super().__str__())
        return mixture_text(self._mixture)

    @property
    def _mixture(self) -> HierarchicalMixtureModel:
        """The fitted model."""
        check_is_fitted(self, "model_")
        return cast(HierarchicalMixtureModel, self.model_)


def _banks(learned: Sequence[MixtureCounters | Banks]) -> tuple[Banks, ...]:
    """The gates and experts of each mixture."""
    return tuple(
        each.banks() if isinstance(each, MixtureCounters) else each for each in learned
    )


def _told_of_codes(expert: Any, n_features: int) -> Any:
    """The expert, told that codes are no numbers if it is one of ours and asks."""
    if isinstance(expert, BayesianClassifier) and expert.categorical_features is None:
        return clone(expert).set_params(categorical_features=list(range(n_features)))
    return expert


def _log_likelihood(model: HierarchicalMixtureModel, codes: Codes) -> float:
    """Sum of ln P(class | features) over the rows by weight, nats."""
    class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
    logs = log_normalize(model.class_log_scores(codes))
    return float(np.dot(codes.weights, logs[np.arange(codes.n_rows), class_codes]))


def is_to_grow(architecture: Any) -> bool:
    """Whether an architecture is to be found."""
    return isinstance(architecture, str) and architecture == AUTO


def checked_architecture(architecture: Any) -> tuple[int, ...]:
    """An architecture as a tuple of integers.

    TypeError if it is not a sequence of these; ValueError if a gate has no child.
    """
    refusal = (
        "architecture must be a tuple of integers >= 1, the number of children of the "
        f"gates of each level such as (2, 2), or 'auto', got {quoted(architecture)}"
    )
    if not isinstance(architecture, tuple | list):
        raise TypeError(refusal)
    for width in architecture:
        if not isinstance(width, numbers.Integral) or isinstance(width, bool):
            raise TypeError(refusal)
        if width < 1:
            raise ValueError(refusal)
    return tuple(int(width) for width in architecture)


class Reports:
    """What the passes or steps of one start report, kept and passed on.

    Each becomes a finished task below the fit, whose metadata are the start, from 0 on,
    the number, and the figure by its name. From ``verbose=2`` on it is printed as well.
    """

    def __init__(self, estimator: Any, start: int, figure: str) -> None:
        self.values: list[float] = []
        self._estimator, self._start, self._figure = estimator, start, figure

    def __call__(self, number: int, value: float) -> None:
        """Take the figure of one pass or step, numbered from 1 on."""
        self.values.append(value)
        facts = {"start": self._start, "number": number, self._figure: value}
        # Starts may run side by side, so their tasks have names of their own.
        self._estimator._on_iteration((self._start, number), facts)
        if self._estimator.verbose > 1:
            print(
                f"start {self._start + 1}, pass {number}: "
                f"{self._figure.replace('_', ' ')} {value:.6g}",
                file=sys.stderr,
            )
