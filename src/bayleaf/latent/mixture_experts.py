"""Mixtures whose gates are naive Bayes and whose experts are any classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.latent.batch_mixture import BatchOptions, MixtureLikelihood, learn_batch
from bayleaf.latent.expectation_maximisation import Progress
from bayleaf.models.explanation import Explanation
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from bayleaf.models.mixture_banks import Banks, log_gate_weights
from bayleaf.progress import Work
from bayleaf.wording import quoted

Floats = NDArray[np.float64]

# Each takes every expert to be fitted again.
_MOST_ROUNDS = 20
# No row is kept from an expert entirely, so that each expert knows all classes.
_LEAST_SHARE = 1e-6


def check_expert(expert: Any, name: str = "expert") -> None:
    """Raise TypeError unless it is a classifier with row weights and probabilities.

    `name` is that of the parameter.
    """
    from sklearn.utils.validation import has_fit_parameter

    what = f"{name} must be a classifier such as KDBClassifier(), got {quoted(expert)}"
    if isinstance(expert, type) or not hasattr(expert, "fit"):
        raise TypeError(what)
    if not hasattr(expert, "predict_proba"):
        raise TypeError(f"{what}, which has no predict_proba; take one that has")
    if not has_fit_parameter(expert, "sample_weight"):
        raise TypeError(f"{what}, whose fit takes no sample_weight; take one that does")


class FittedExperts:
    """Experts of one mixture, which see a row as a row of codes.

    Codes are floats 0, 1, ... in the order of the variable's states; a missing cell is
    NaN for a classifier whose tags allow it, and the code after the last for others.
    There is one expert per leaf of the tree of gates; `class_weights`
    (n_experts, n_classes) is the weight of the rows that each has learned from.
    """

    # Experts of other kinds do not report parameters, or the effect of a feature.
    n_parameters = 0
    n_features = 0

    def __init__(
        self, experts: list[Any], class_weights: Floats, n_columns: int
    ) -> None:
        self.experts = experts
        self.class_weights = class_weights
        self.n_columns = n_columns

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return int(self.class_weights.shape[1])

    @property
    def log_prior(self) -> Floats:
        """Log share of each class in each expert's rows, (n_experts, n_classes)."""
        return self._mixed(self.class_weights / self._weights)

    @property
    def _weights(self) -> Floats:
        """Weight of each expert's rows, shape (n_experts, 1)."""
        return np.asarray(self.class_weights.sum(axis=1, keepdims=True))

    def _mixed(self, probabilities: Floats) -> Floats:
        """Log probabilities after one more row, of equal probabilities."""
        total = self._weights * probabilities + 1.0 / self.n_outputs
        return np.asarray(np.log(total / (self._weights + 1.0)))

    def log_posteriors(self, codes: Codes) -> Floats:
        """Log probability (nats) of each class, (n_rows, n_experts, n_classes).

        An expert's probabilities are mixed with one row of equal probabilities, so that
        none is zero. A class after the features is ignored.
        """
        found = np.zeros((codes.n_rows, len(self.experts), self.n_outputs))
        for place, expert in enumerate(self.experts):
            proba = expert.predict_proba(coded_table(expert, codes, self.n_columns))
            found[:, place, np.asarray(expert.classes_, dtype=np.intp)] = proba
        return self._mixed(found)


def coded_table(expert: Any, codes: Codes, n_features: int) -> Floats:
    """The features as an expert gets them, shape (n_rows, n_features)."""
    from sklearn.utils import get_tags

    table = np.empty((codes.n_rows, n_features))
    takes_holes = get_tags(expert).input_tags.allow_nan
    for feature in range(n_features):
        table[:, feature] = codes.column(feature)
        if takes_holes:
            table[codes.missing(feature), feature] = np.nan
    return table


@dataclass(frozen=True, eq=False, repr=False)
class ExpertMixtureModel(HierarchicalMixtureModel):
    """A mixture whose experts are no naive Bayes classifiers.

    The last of each start's banks is a `FittedExperts`; parameters are counted without
    those of the experts.
    """

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """None: experts of other kinds are not described."""
        return []

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds by making the features known one after another.

        Each term is the change of the log-odds when the feature becomes known, those
        before it in the table being known and those after it missing. Returns the prior
        (n_rows,) and terms (n_rows, n_features), in nats, zero for a missing feature.
        """
        return self._revealed(codes, target, against, range(codes.n_variables))

    def detailed(
        self,
        codes: Codes,
        explanations: Sequence[Explanation],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Sequence[Explanation]:
        """Nothing more: experts of any kind keep their reasons to themselves."""
        return explanations


def learn_with_experts(
    codes: Codes,
    architecture: tuple[int, ...],
    expert: Any,
    options: BatchOptions,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Banks:
    """Learn gates and experts in turn, so that the objective never falls.

    Maximises the conditional log-likelihood of the classes plus the logarithm of the
    gates' prior. The first shares of the rows are those of a mixture of naive Bayes
    classifiers. Then, round after round, each expert, a clone of `expert`, is fitted to
    all rows, weighted by row weight times its share, and taken if the objective rises;
    the gates climb as in `learn_batch`. The banks end with a `FittedExperts`;
    `progress` is called with the round's number and the objective after each round.
    """
    naive = learn_batch(codes, architecture, options, rng).banks
    team = _Team(codes, architecture, expert, options, rng)
    team.fit_all(naive)
    if architecture:
        team.climb()
        _rounds(team, progress)
    return cast(Banks, (*team.gates(), team.fitted()))


def _rounds(team: _Team, progress: Progress | None) -> None:
    """Improve experts and gates in turn until a round gains too little."""
    work = Work()
    for number in range(_MOST_ROUNDS):
        work.say(f"round {number + 1} of at most {_MOST_ROUNDS}")
        before = team.value
        team.improve_experts()
        team.climb()
        if progress is not None:
            progress(number + 1, team.value)
        if team.value - before <= team.options.tol * team.total_weight:
            return


class _Team:
    """The experts and gates of one mixture while they learn."""

    def __init__(
        self,
        codes: Codes,
        architecture: tuple[int, ...],
        expert: Any,
        options: BatchOptions,
        rng: np.random.Generator,
    ) -> None:
        self.options = options
        self.value = -np.inf
        self._likelihood = MixtureLikelihood(
            codes, architecture, options.pseudo_count, naive_experts=False
        )
        self._codes = self._likelihood.codes
        self.total_weight = float(self._codes.weights.sum())
        self._classes = self._codes.column(codes.n_variables - 1).astype(np.intp)
        self._n_experts = self._likelihood.log_own.shape[1]
        self._prototype = _seeded(expert, rng)
        table = coded_table(self._prototype, self._codes, codes.n_variables - 1)
        self._table = table
        self._class_weights = np.zeros((self._n_experts, self._codes.cards[-1]))
        self._experts: list[Any] = [None] * self._n_experts
        self._point = np.empty(0)

    def fit_all(self, naive: Banks) -> None:
        """Start with the gates of a naive mixture and experts for its shares."""
        rows = np.arange(self._codes.n_rows)
        own = naive[-1].log_posteriors(self._codes)[rows, :, self._classes]
        joint = log_gate_weights(naive, self._codes) + own
        shares = np.exp(joint - log_sum_exp(joint, axis=1)[:, None])
        for place in range(self._n_experts):
            self._take(place, *self._fit(shares[:, place]))
        tables = [
            np.vstack(
                [
                    gate.log_table.reshape(-1, gate.log_prior.size),
                    [gate.log_prior.ravel()],
                ]
            )
            for gate in naive[:-1]
        ]
        if tables:
            self._point = np.concatenate(tables, axis=1).ravel()
            self.value = self._likelihood.objective(self._point)[0]

    def improve_experts(self) -> None:
        """Fit each expert to its present share of the rows; keep what helps."""
        logs = self._likelihood.normalized(self._point)
        shares = self._likelihood.responsibilities(logs)
        for place in range(self._n_experts):
            before = (
                self._experts[place],
                self._class_weights[place].copy(),
                self._likelihood.log_own[:, place].copy(),
            )
            self._take(place, *self._fit(shares[:, place]))
            value = self._likelihood.objective(self._point)[0]
            if value > self.value:
                self.value = value
            else:
                self._take(place, *before)

    def climb(self) -> None:
        """Let the gates learn, the experts being as they are."""
        found = self._likelihood.maximize(
            self._point, self.options.max_iter, self.options.tol
        )
        self._point, self.value = found.point, found.objectives[-1]

    def gates(self) -> Banks:
        """The gates, level by level."""
        if not len(self._point):
            return ()
        layout = self._likelihood.layout
        return layout.banks(self._likelihood.normalized(self._point))

    def fitted(self) -> FittedExperts:
        """The experts."""
        n_columns = self._table.shape[1]
        return FittedExperts(self._experts, self._class_weights, n_columns)

    def _fit(self, shares: Floats) -> tuple[Any, Floats, Floats]:
        """An expert for a share of each row, its rows by class, what it makes of all.

        The last is the log probability of each row's class.
        """
        from sklearn.base import clone

        weights = self._codes.weights * np.maximum(shares, _LEAST_SHARE)
        expert = clone(self._prototype)
        with warnings.catch_warnings():
            # Shares of rows are small where an expert has few of them.
            warnings.filterwarnings("ignore", "sample_weight sums to")
            expert.fit(self._table, self._classes, sample_weight=weights)
        n_classes = self._codes.cards[-1]
        by_class = np.bincount(self._classes, weights, n_classes).astype(np.float64)
        one = FittedExperts([expert], by_class[None], self._table.shape[1])
        rows = np.arange(self._codes.n_rows)
        own = one.log_posteriors(self._codes)[rows, 0, self._classes]
        return expert, by_class, own

    def _take(self, place: int, expert: Any, by_class: Floats, own: Floats) -> None:
        """Put an expert in its place."""
        self._experts[place] = expert
        self._class_weights[place] = by_class
        self._likelihood.log_own[:, place] = own


def _seeded(expert: Any, rng: np.random.Generator) -> Any:
    """A copy of the expert whose every source of randomness has a seed."""
    from sklearn.base import clone

    seeded = clone(expert)
    for name, value in sorted(seeded.get_params(deep=True).items()):
        if value is None and name.split("__")[-1] == "random_state":
            seeded.set_params(**{name: int(rng.integers(1 << 31))})
    return seeded
