"""A Bayesian network used as a classifier, whether or not the class has parents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import PartialCodes, PartialValues, Rows
from bayleaf.inference.factors import Eliminator, Factor, FusedTables
from bayleaf.inference.log_sums import log_of
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.inference.states import check_integer
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores
from bayleaf.models.support.drawn_networks import (
    distributions,
    drawn_cpds,
    family_rows,
    network_scores,
    touched,
    without_sums,
)
from bayleaf.models.support.support_counts import (
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.scoring.terms import Look, Term
from bayleaf.wording import name_list, quoted

Floats = NDArray[np.float64]
# Ways to choose the states of a row's sets that are scored one by one.
_MAX_LISTED = 256


@dataclass(frozen=True, eq=False, repr=False)
class ClassNetwork(ClassModel):
    """Base of class models that are one network, whose last variable is the class.

    Features are in the order of the codes.
    """

    network: BayesianNetwork
    max_table_cells: int = 20_000_000  # when summing out, at least 1

    def __post_init__(self) -> None:
        check_integer("max_table_cells", self.max_table_cells)

    @property
    def domain(self) -> Domain:
        """Features, then the class."""
        return self.network.domain

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features among the parents of a feature."""
        class_index = len(self.domain) - 1
        return [p for p in self.network.dag.parents[feature] if p != class_index]

    def log_scores_of_rows(self, rows: Rows) -> LogScores:
        """Log scores of rows with sets of states; see `ClassModel`.

        Where a row has many ways to choose states, the network sums them out.
        """
        if not isinstance(rows, PartialCodes):
            return self.class_log_scores(rows)
        has_few = rows.partial.n_completions(rows.n_rows) <= _MAX_LISTED
        if has_few.all():
            return super().log_scores_of_rows(rows)
        scores = np.empty((rows.n_rows, self.domain[-1].n_states))
        scores[has_few] = super().log_scores_of_rows(rows.rows(has_few))
        many = np.flatnonzero(~has_few)
        codes, partial = rows.codes.rows(many), rows.partial.of_rows(many)
        scores[many] = self._joint_densities(codes, partial) + self._prior_shift
        return scores

    @property
    def _prior_shift(self) -> Floats:
        """What a given class prior adds to log scores, (n_classes,), nats."""
        return np.zeros(self.domain[-1].n_states)

    def _joint_densities(
        self, codes: Codes, partial: PartialValues | None = None
    ) -> LogScores:
        """Log-probability of each row with each class, (n_rows, n_classes), nats."""
        n_classes = self.domain[-1].n_states
        trees = NetworkTrees(self.network, max_table_cells=self.max_table_cells)
        scores = np.empty((codes.n_rows, n_classes))
        for label in range(n_classes):
            rows = codes.with_column(np.full(codes.n_rows, label), n_classes)
            scores[:, label] = log_densities(trees, rows, None, partial)
        return scores

    @property
    def table_sizes(self) -> list[TableSize]:
        """One a variable: over the parents' states, a tree's leaves, table's groups."""
        return [
            TableSize(distributions(cpd).shape[:-1], cpd.cards[-1])
            for cpd in self.network.cpds
        ]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """Training rows behind each distribution of each variable."""
        return family_rows(self.network.cpds, source)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the same model with drawn distributions."""
        cpds = drawn_cpds(self.network.cpds, support, rng)
        return replace(self, network=replace(self.network, cpds=cpds))

    def _without_sums(self, codes: Codes) -> NDArray[np.bool_]:
        return without_sums(self.network.dag, codes)

    def _drawn_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        return network_scores(self.network.cpds, support, codes, n_draws, rng)

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


@dataclass(frozen=True, eq=False, repr=False)
class NetworkModel(ClassNetwork):
    """Class scores from a network whose last variable is the class.

    Naive Bayes, TAN and KDB are such networks; they differ in their arcs alone. A class
    that has parents, and distributions that are trees, are for `NetworkPosteriorModel`.

    Parameters
    ----------
    network : BayesianNetwork
        Features in the order of the codes, then the class.
    max_table_cells : int, default=20_000_000
        Largest table that summing out missing features may build.

    Raises
    ------
    ValueError
        If the class has parents.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        parents = self.network.cpds[-1].parents
        if parents:
            names = [self.domain[parent].name for parent in parents]
            raise ValueError(
                f"the class {quoted(self.domain[-1].name)} has parents "
                f"{name_list(names)}; "
                "turn those arcs round"
            )

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, shape (n_classes,)."""
        return self.network.cpds[-1].probabilities

    log_likelihood_scope = "observed families of the training rows"

    @property
    def left_out_families(self) -> tuple[Family, ...]:
        """Families of the features."""
        return self.network.dag.families[:-1]

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The network's tables with the class as first axis, the prior first."""
        *cpds, prior = self.network.cpds
        n_classes = prior.cards[-1]
        return tuple(Factor.of(cpd, len(cpds), n_classes) for cpd in (prior, *cpds))

    @cached_property
    def _fused(self) -> FusedTables:
        """Look-up tables for prediction."""
        return FusedTables.from_factors(self.factors, self.domain.cards)

    @cached_property
    def _eliminator(self) -> Eliminator:
        """Sums missing features out."""
        features = Domain(self.domain.variables[:-1])
        return Eliminator(self.factors, features, self.max_table_cells)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Sum missing cells out exactly; see `ClassModel.class_log_scores`.

        ValueError if that needs a table above `max_table_cells`.
        """
        scores = self._fused.look_up(codes)
        self._eliminator.add_missing(codes, scores)
        return scores.T

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` by families.

        The prior is one term, each feature another: ln P(x | parents, target) minus the
        same for `against`. In a row whose parents are missing, the terms are those of
        the chain rule over the observed features in the model's order.
        """
        terms = np.zeros((codes.n_rows, codes.n_variables))
        prior_table = self.factors[0].log_values
        prior = prior_table[target] - prior_table[against]
        for factor in self.factors[1:]:
            padded = factor.padded()
            index = tuple(codes.column(v).astype(np.intp) for v in factor.variables)
            terms[:, factor.child] = padded[target, *index] - padded[against, *index]
        unclear = self._eliminator.rows_to_eliminate(codes)
        if len(unclear):
            pair, order = (target[unclear], against[unclear]), self.network.dag.order
            rows, odds = codes.rows(unclear), prior[unclear]
            terms[unclear] = self._revealed(rows, *pair, order, odds)[1]
        return prior, terms

    def with_class_prior(self, class_prior: Floats) -> NetworkModel:
        """Return the same model under another class prior, shape (n_classes,)."""
        network = self.network.with_table(self.domain[-1].name, class_prior)
        return replace(self, network=network)


@dataclass(frozen=True, eq=False, repr=False)
class NetworkPosteriorModel(ClassNetwork):
    """Class scores from a network whose last variable, the class, may have parents.

    `NetworkModel` is ten times as fast and more, but looks up tables with the class as
    one axis, which trees would have to be expanded to, and takes another prior as its
    class's own table, which needs a class without parents. This one takes the density
    of each row with each class, whatever form the distributions have and wherever the
    class is in the graph. Under `given_prior` scores are of P(features | class).
    """

    given_prior: Floats | None = None  # (n_classes,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.given_prior is not None:
            check_shape(self.given_prior, self.domain.cards[-1:], "the class prior")

    def check_content(self) -> None:
        """Raise ValueError unless the given prior is a distribution."""
        if self.given_prior is not None:
            check_distributions(self.given_prior, "the class prior")

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, shape (n_classes,)."""
        return self._own_prior if self.given_prior is None else self.given_prior

    log_likelihood_scope = "training rows"

    @cached_property
    def _own_prior(self) -> Floats:
        """The class's marginal distribution in the network."""
        cards = self.domain.cards[:-1]
        nothing = Codes.from_columns([np.array([card]) for card in cards], cards)
        prior = np.exp(self._joint_densities(nothing)[0])
        return np.asarray(prior / prior.sum())

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Sum missing cells out exactly; see `ClassModel.class_log_scores`.

        ValueError if that needs a table above `max_table_cells`.
        """
        scores = self._joint_densities(codes)
        return scores if self.given_prior is None else scores + self._prior_shift

    @property
    def _prior_shift(self) -> Floats:
        if self.given_prior is None:
            return super()._prior_shift
        shift = log_of(self.given_prior) - log_of(self._own_prior)
        return np.where(self._own_prior > 0, shift, -np.inf)

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Reveal features one by one in the network's order; a term is the change."""
        log_prior = log_of(self.class_prior)
        prior = log_prior[target] - log_prior[against]
        return self._revealed(codes, target, against, self.network.dag.order, prior)

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """Parents and table in the network; the class prior if one was given."""
        if variable == len(self.domain) - 1 and self.given_prior is not None:
            return (), self.given_prior
        return super().table(variable)

    @property
    def terms(self) -> Sequence[Term]:
        """The network, and what the given prior adds."""
        terms = super().terms
        if self.given_prior is None:
            return terms
        return (Look.constant(self._prior_shift), *terms)

    def _without_sums(self, codes: Codes) -> NDArray[np.bool_]:
        # Draws change the network's own prior, too.
        simple = super()._without_sums(codes)
        return simple if self.given_prior is None else np.zeros_like(simple)

    def with_class_prior(self, class_prior: Floats) -> NetworkPosteriorModel:
        """Return the same model under another class prior, shape (n_classes,)."""
        return replace(self, given_prior=class_prior)
