"""A tree of naive Bayes gates over naive Bayes experts (Wiering 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.models.class_model import LogScores
from bayleaf.models.explanation import Explanation
from bayleaf.models.html_summary import NotebookModel
from bayleaf.models.one_dependence import logarithmic_mean_weights

Floats = NDArray[np.float64]
Banks = tuple[NaiveBayesBank, ...]

# Log posteriors of all mixtures' experts that are held at a time.
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class HierarchicalMixtureModel(NotebookModel):
    """Mean of several hierarchical mixtures of naive Bayes classifiers.

    A mixture is a tree: each gate is a naive Bayes classifier that tells how far to
    trust each of its children, each leaf an expert, a naive Bayes classifier of the
    class. Node i of level l is child number ``i % architecture[l - 1]`` of gate
    ``i // architecture[l - 1]`` of the level above.

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    architecture : tuple of int
        Number of children of the gates of each level, from the root on.
    starts : tuple of tuple of NaiveBayesBank
        Of each mixture, the gates of each level and then the experts.
    prior : ndarray of shape (n_classes,), optional
        P(class), where another than that of training is asked for.

    References
    ----------
    Wiering, M. A. (2003). Hierarchical mixtures of naive Bayes classifiers. Utrecht
    University, UU-CS-2003-003, section 3.1.
    """

    domain: Domain
    architecture: tuple[int, ...]
    starts: tuple[Banks, ...]
    prior: Floats | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of all gates and experts."""
        return sum(bank.n_parameters for banks in self.starts for bank in banks)

    @property
    def n_experts(self) -> int:
        """Number of experts of each mixture."""
        return int(np.prod(self.architecture))

    @cached_property
    def _learned_prior(self) -> Floats:
        """Probability of each class by learning, before any feature is known."""
        n_features = len(self.domain) - 1
        unknown = [np.array([card]) for card in self.domain.cards[:-1]]
        empty = Codes.from_columns(unknown, self.domain.cards[:n_features])
        return np.asarray(np.exp(mixture_log_posteriors(self.starts, empty)[0]))

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, shape (n_classes,).

        That of a row of which nothing is known, since gates and experts have priors of
        their own.
        """
        return self._learned_prior if self.prior is None else self.prior

    @cached_property
    def _shift(self) -> Floats:
        """What another prior than that of training adds to log posteriors, nats."""
        if self.prior is None:
            return np.zeros(self.domain.cards[-1])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior) - np.log(self._learned_prior))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The tree of gates and experts, line by line, for a summary."""
        from bayleaf.models.mixture_text import mixture_text

        return tuple(mixture_text(self).splitlines())

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        return "class given the features, training rows"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Arcs of the experts, which are naive Bayes: from the class alone."""
        class_index = len(self.domain) - 1
        return [(class_index, feature) for feature in range(class_index)]

    def feature_parents(self, feature: int) -> Sequence[int]:
        """None: experts look at each feature by itself."""
        return ()

    # ---- prediction

    def gate_weights(self, codes: Codes) -> Floats:
        """Weight that each mixture's gates give each expert.

        Returns
        -------
        ndarray of shape (n_starts, n_rows, n_experts)
            The weights of a mixture sum to one in each row.
        """
        weights = [np.exp(log_gate_weights(banks, codes)) for banks in self.starts]
        return np.stack(weights)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log posterior (nats) of each class, the mean over the mixtures.

        A mixture says nothing of how probable the features are, so these are
        posteriors, not joint probabilities; under another class prior than that of
        training they are not normalised.

        Parameters
        ----------
        codes : Codes
            Features only; missing cells are left out by gates and experts.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return mixture_log_posteriors(self.starts, codes) + self._shift

    # ---- explanation

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums over experts is split among these by logarithmic-mean
        weights, and each expert's log-odds by its own tables. Gates speak through the
        weights alone.

        Returns
        -------
        prior : ndarray of shape (n_rows,)
            Nats.
        terms : ndarray of shape (n_rows, n_features)
            Nats; zero for a missing feature.
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
        from bayleaf.models.mixture_explanation import explain_routes

        return explain_routes(self, codes, explanations, target, against)

    def with_class_prior(self, class_prior: Floats) -> HierarchicalMixtureModel:
        """Return the same model under another class prior, shape (n_classes,)."""
        return replace(self, prior=np.asarray(class_prior, dtype=np.float64))


def log_gate_weights(banks: Banks, codes: Codes) -> Floats:
    """Log of the weight that one mixture's gates give each expert.

    Parameters
    ----------
    banks : tuple of NaiveBayesBank
        The gates of each level, then the experts.
    codes : Codes
        The features; a class after them is not looked at.

    Returns
    -------
    ndarray of shape (n_rows, n_experts)
        Nats.
    """
    weights = np.zeros((codes.n_rows, 1))
    for bank in banks[:-1]:
        shares = weights[:, :, None] + bank.log_posteriors(codes)
        weights = shares.reshape(codes.n_rows, -1)
    return weights


def mixture_log_posteriors(starts: tuple[Banks, ...], codes: Codes) -> LogScores:
    """Log of the mean of the mixtures' posteriors, shape (n_rows, n_classes), nats."""
    n_members = sum(banks[-1].log_prior.size for banks in starts)
    found = np.empty((codes.n_rows, starts[0][-1].n_outputs))
    step = max(1, _BLOCK_CELLS // n_members)
    for first in range(0, codes.n_rows, step):
        rows = slice(first, first + step)
        found[rows] = log_sum_exp(_log_members(starts, codes.rows(rows)), axis=0)
    return np.asarray(found - np.log(len(starts)))


def _log_members(starts: tuple[Banks, ...], codes: Codes) -> Floats:
    """Log of gate weight times expert's posterior, for all mixtures' experts.

    Returns
    -------
    ndarray of shape (n_starts * n_experts, n_rows, n_classes)
    """
    members = [
        log_gate_weights(banks, codes)[:, :, None] + banks[-1].log_posteriors(codes)
        for banks in starts
    ]
    return np.moveaxis(np.concatenate(members, axis=1), 1, 0)


def member_shares(
    model: HierarchicalMixtureModel,
    codes: Codes,
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Floats:
    """What each expert's log-odds are multiplied by so that they add up exactly.

    Returns
    -------
    ndarray of shape (n_starts, n_experts, n_rows)
    """
    rows = np.arange(codes.n_rows)
    members = _log_members(model.starts, codes)
    shares = logarithmic_mean_weights(
        members[:, rows, target], members[:, rows, against]
    )
    return shares.reshape(len(model.starts), -1, codes.n_rows)


def node_path(architecture: tuple[int, ...], level: int, node: int) -> tuple[int, ...]:
    """Children, numbered from 1, on the way from the root to a node of a level."""
    path = []
    for width in reversed(architecture[:level]):
        node, child = divmod(node, width)
        path.append(child + 1)
    return tuple(reversed(path))


def path_name(path: tuple[int, ...]) -> str:
    """A node's name, such as 1.2 for child 2 of child 1 of the root."""
    return ".".join(map(str, path)) or "root"
