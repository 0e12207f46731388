"""A network of tables and linear-Gaussian families, used as a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.given_tables import check_shape
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import Rows, available_codes
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores, sum_out
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.support.number_terms import WeightedLinearFamilies, odds_between
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.models.texts.feature_shape import FeatureShape, feature_shape
from bayleaf.scoring.terms import Look, Term
from bayleaf.wording import counted, shown_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class HybridNetworkModel(ClassModel):
    """Class scores from a conditional linear-Gaussian network.

    Nominal features have the class and nominal parents, and tables; numbers have the
    class and numbers as parents, and a linear regression in each class. The score of
    class c is ``base[c]`` plus `table_weight` times ``ln P(nominal features | c)`` plus
    each number's log density given c and its parents, times its weight.

    Lauritzen and Wermuth (1989), Graphical models for associations between variables,
    some of which are qualitative and some quantitative, Annals of Statistics 17, 31-57.
    """

    tables: BayesianNetwork  # features without arcs of numbers, then the class
    base: Floats  # (n_classes,), nats, before any feature is seen
    table_weight: float  # at least 0
    linear: WeightedLinearFamilies
    state_counts: tuple[Floats, ...]  # (n_states,), training weights
    max_table_cells: int = 20_000_000  # when summing out

    _TABLES_ARE = (
        "is a number, with a regression in each class and no table; look at its shape"
    )
    why_no_network: ClassVar[str | None] = (
        "has linear-Gaussian families, for which network formats have no place, and so "
        "no network_; fit with numeric='discretize' for a network of tables"
    )

    def __post_init__(self) -> None:
        check_shape(self.base, self.domain.cards[-1:], "the base scores")
        found = [np.shape(counts) for counts in self.state_counts]
        if found != [(card,) for card in self.domain.cards[:-1]]:
            raise ValueError("there should be counts of all states of all features")
        if not 0 <= self.table_weight <= MOST_WEIGHT:
            raise ValueError("the weight of the tables is negative or huge")
        # It raises unless the class is without parents.
        NetworkModel(self.tables, self.max_table_cells)

    def check_content(self) -> None:
        """Raise ValueError unless numbers fit the domain and have no tables."""
        if any((counts < 0).any() for counts in self.state_counts):
            raise ValueError("a state has a negative count")
        self.linear.families.check_fit(self.domain.cards)
        for number in self._numbers:
            if self.tables.dag.parents[number] or any(
                number in parents for parents in self.tables.dag.parents
            ):
                raise ValueError("a number has arcs among the tables")

    @property
    def domain(self) -> Domain:
        """Features, then the class."""
        return self.tables.domain

    @cached_property
    def _numbers(self) -> list[int]:
        """The features that are numbers."""
        return [int(feature) for feature in self.linear.families.features]

    @property
    def is_weighted(self) -> bool:
        """Whether weights were learned."""
        return (
            self.table_weight != 1.0 or not np.isin(self.linear.weights, (0, 1)).all()
        )

    @property
    def n_parameters(self) -> int:
        """Those of tables and regressions, and the weights."""
        tables = sum(
            cpd.n_parameters
            for cpd in self.tables.cpds
            if cpd.child not in self._numbers
        )
        weights = 1 + len(self._numbers) + len(self.base) if self.is_weighted else 0
        return tables + self.linear.families.n_parameters + weights

    @property
    def class_prior(self) -> Floats:
        """Shape (n_classes,)."""
        return self.tables.cpds[-1].probabilities

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        if self.is_weighted:
            return "class given the features, each training row left out"
        return "observed families of the training rows, numbers on the normal scale"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """All (parent, child) pairs of indices, by child."""
        class_index, found = len(self.domain) - 1, list(self.tables.dag.arcs)
        for number in self._numbers:
            parents = (class_index, *self._number_parents[number])
            found += [(parent, number) for parent in parents]
        return sorted(found, key=lambda arc: (arc[1], arc[0]))

    @cached_property
    def _number_parents(self) -> dict[int, tuple[int, ...]]:
        """For each number, its parents among the numbers, strongest first."""
        families = self.linear.families
        return {
            number: next((own for _, own in families.parents_of(number)), ())
            for number in self._numbers
        }

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features among the parents of a feature."""
        if feature in self._numbers:
            return self._number_parents[feature]
        return self._evidence.feature_parents(feature)

    @property
    def remarks(self) -> tuple[str, ...]:
        """How many numbers are linear-Gaussian, and what each counts if learned."""
        names, n = self.domain.names, len(self._numbers)
        found = [f"{counted(n, 'number')} with a linear regression in each class"]
        if self.is_weighted:
            each = zip(self._numbers, self.linear.weights.max(axis=1), strict=True)
            texts = [f"{shown_name(names[i])} {weight:.2f}" for i, weight in each]
            if n < len(names) - 1:
                texts.insert(0, f"tables {self.table_weight:.2f}")
            found.append(f"weights: {', '.join(texts)}")
        return tuple(found)

    @cached_property
    def feature_marginals(self) -> list[Floats]:
        """Shares of the states in training, one row more a state."""
        smoothed = [counts + 1.0 for counts in self.state_counts]
        return [counts / counts.sum() for counts in smoothed]

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """Parents and table of a nominal feature or the class."""
        if variable in self._numbers:
            return super().table(variable)
        cpd: CPD = self.tables.cpds[variable]
        return cpd.parents, cpd.probabilities

    def feature_shape(self, feature: int, classes: tuple[Any, ...]) -> FeatureShape:
        """What a number says without its parents, or a state where nothing is known."""
        if feature not in self._numbers:
            found = super().feature_shape(feature, classes)
            return replace(found, row_counts=self.state_counts[feature])
        variable = self.domain[feature]
        columns = [np.zeros(variable.n_states, np.uint16)] * (len(self.domain) - 1)
        columns[feature] = np.arange(variable.n_states, dtype=np.uint16)
        codes = Codes.from_columns(columns, self.domain.cards[:-1])
        alone = self.linear.alone(feature, codes)
        return feature_shape(variable, alone, self.state_counts[feature], classes)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The base, the tables under a uniform class prior, and the numbers."""
        terms: list[Term] = [Look.constant(self.base)]
        if self.table_weight:
            network = self._evidence.network
            terms.append(sum_out(network, network.dag.order, self.table_weight))
        return (*terms, *self.linear.terms(self.domain.cards))

    @cached_property
    def _evidence(self) -> NetworkModel:
        """The tables under a uniform class prior."""
        n_classes = len(self.base)
        uniform = np.full(n_classes, 1.0 / n_classes)
        network = self.tables.with_table(self.domain[-1].name, uniform)
        return NetworkModel(network, self.max_table_cells)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log score (nats) of each class, shape (n_rows, n_classes).

        Up to a number that all classes of a row share. Missing nominal features are
        summed out exactly. A missing number says nothing, and as a parent it counts as
        the mean of the class, with the variance that this adds.
        """
        return self.log_scores_of_rows(codes)

    def log_scores_of_rows(self, rows: Rows) -> LogScores:
        """The same for rows in which nominal features may be sets of states."""
        scores = self._evidence.log_scores_of_rows(rows) * self.table_weight
        scores += self.base
        self.linear.add(available_codes(rows), scores)
        return scores

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` by families."""
        _, terms = self._evidence.contributions(codes, target, against)
        changes = self.linear.changes(codes, terms.shape[1])
        found = odds_between(target, against, changes.sum(axis=3))
        prior = self.base[target] - self.base[against]
        return prior, terms * self.table_weight + found

    def with_class_prior(self, class_prior: Floats) -> HybridNetworkModel:
        """Return the same model under another class prior, shape (n_classes,).

        The change of the log prior counts in full, whatever weights were learned.
        """
        new, old = np.asarray(class_prior, dtype=np.float64), self.class_prior
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(new) - np.log(old)
            base = np.where(old > 0, self.base + change, np.log(new))
        tables = self.tables.with_table(self.domain[-1].name, new)
        return replace(self, tables=tables, base=base)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Raise ValueError: regressions rest on sums, not on counts of cells."""
        raise ValueError(
            "a network with linear-Gaussian families has neither credible intervals "
            "nor rounded counts, since its regressions rest on no counts of cells; fit "
            "with numeric='discretize' for these"
        )
