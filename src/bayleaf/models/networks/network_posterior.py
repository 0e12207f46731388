"""A network in which the class stands anywhere, used as a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.data.codes import Codes
from bayleaf.inference.row_densities import log_densities
from bayleaf.models.class_model import LogScores, ModelKind
from bayleaf.models.networks.network_model import ClassNetwork
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.scoring.terms import Look, Term

Floats = NDArray[np.float64]


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

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        return "training rows"

    @cached_property
    def _own_prior(self) -> Floats:
        """The class's marginal distribution in the network."""
        cards = self.domain.cards
        columns = [np.full(cards[-1], card) for card in cards[:-1]]
        rows = Codes.from_columns([*columns, np.arange(cards[-1])], cards)
        prior = np.exp(self._log_densities(rows))
        return np.asarray(prior / prior.sum())

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log joint probability (nats) of each class and the observed features.

        See `ClassModel.class_log_scores`; missing cells are summed out exactly.
        ValueError if that would need a table above `max_table_cells`.
        """
        n_classes = self.domain[-1].n_states
        scores = np.empty((codes.n_rows, n_classes))
        for label in range(n_classes):
            rows = codes.with_column(np.full(codes.n_rows, label), n_classes)
            scores[:, label] = self._log_densities(rows)
        if self.given_prior is not None:
            with np.errstate(divide="ignore"):
                scores += np.log(self.given_prior) - np.log(self._own_prior)
        return scores

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` by features.

        The prior is one term; then features are revealed one by one in the network's
        order, and each one's term is how much the log-odds change. Returns prior
        (n_rows,) and terms (n_rows, n_features) in nats, zero where missing.
        """
        cards = self.domain.cards[:-1]
        columns = [np.full(codes.n_rows, card) for card in cards]
        rows = np.arange(codes.n_rows)
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.class_prior)
        prior = log_prior[target] - log_prior[against]
        terms = np.zeros((codes.n_rows, len(cards)))
        odds = prior
        for feature in (v for v in self.network.dag.order if v < len(cards)):
            columns[feature] = codes.column(feature)
            known = ~codes.missing(feature)
            if not known.any():
                continue
            scores = self.class_log_scores(Codes.from_columns(columns, cards))
            now = scores[rows, target] - scores[rows, against]
            terms[known, feature] = (now - odds)[known]
            odds = np.where(known, now, odds)
        return prior, terms

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """Parents and table in the network; the class prior if one was given."""
        if variable == len(self.domain) - 1 and self.given_prior is not None:
            return (), self.given_prior
        return super().table(variable)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The network, and what the given prior adds."""
        terms = super().terms
        if self.given_prior is None:
            return terms
        with np.errstate(divide="ignore"):
            shift = np.log(self.given_prior) - np.log(self._own_prior)
        return (Look.constant(np.where(self._own_prior > 0, shift, -np.inf)), *terms)

    def drawn_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores under draws, which change the network's own prior too."""
        if self.given_prior is None:
            return super().drawn_log_scores(codes, support, n_draws, rng)
        return ModelKind.drawn_log_scores(self, codes, support, n_draws, rng)

    def with_class_prior(self, class_prior: Floats) -> NetworkPosteriorModel:
        """Return the same model under another class prior, shape (n_classes,)."""
        return replace(self, given_prior=class_prior)

    def _log_densities(self, rows: Codes) -> Floats:
        """Logarithm of the probability of rows over all variables (nats)."""
        return log_densities(self.network, rows, max_table_cells=self.max_table_cells)
