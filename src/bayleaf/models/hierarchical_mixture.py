"""A tree of naive Bayes gates over naive Bayes experts (Wiering 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.models.class_model import LogScores
from bayleaf.models.explanation import Explanation
from bayleaf.models.mixtures.explanation import explain_routes
from bayleaf.models.mixtures.tables import (
    MixtureTables,
    member_shares,
    mixture_log_posteriors,
)
from bayleaf.models.mixtures.text import mixture_text

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalMixtureModel(MixtureTables):
    """Mean of several hierarchical mixtures of naive Bayes classifiers.

    A mixture is a tree: each gate is a naive Bayes classifier that weighs its children,
    each leaf an expert, a naive Bayes classifier of the class. Node i of level l is
    child number ``i % architecture[l - 1]`` of gate ``i // architecture[l - 1]`` of the
    level above. `architecture` is the number of children of the gates by level, from
    the root on; `starts` are each mixture's gates by level, then its experts. `prior`
    (n_classes,) replaces that of training.

    Wiering (2003), Hierarchical mixtures of naive Bayes classifiers, Utrecht
    University, UU-CS-2003-003, section 3.1.
    """

    @property
    def remarks(self) -> tuple[str, ...]:
        """The tree of gates and experts, line by line, for a summary."""
        return tuple(mixture_text(self).splitlines())

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        return "class given the features, training rows"

    # ---- prediction

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log posterior (nats), (n_rows, n_classes), the mean over the mixtures.

        A mixture does not model the features, so these are posteriors, not joint
        probabilities; under another class prior than that of training they are not
        normalised. Gates and experts leave missing cells out.
        """
        return mixture_log_posteriors(self.starts, codes) + self._shift

    # ---- explanation

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums over experts is split among these by logarithmic-mean
        weights, and each expert's log-odds by its own tables; gates matter through the
        weights alone. Returns prior (n_rows,) and terms (n_rows, n_features) in nats,
        zero where missing.
        """
        shares = member_shares(self, codes, target, against)
        prior = self._shift[target] - self._shift[against]
        terms = np.zeros((codes.n_rows, len(self.domain) - 1))
        for start, banks in enumerate(self.starts):
            experts = banks[-1]
            share = shares[start].T
            log_prior = experts.log_prior.T
            prior = prior + (share * (log_prior[target] - log_prior[against])).sum(1)
            odds = experts.terms(codes, target) - experts.terms(codes, against)
            terms += (share * odds).sum(axis=2).T
        return prior, terms

    def detailed(
        self,
        codes: Codes,
        explanations: Sequence[Explanation],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Sequence[Explanation]:
        """Tell what gates and experts say of each row too, see `explain_routes`."""
        return explain_routes(self, codes, explanations, target, against)
