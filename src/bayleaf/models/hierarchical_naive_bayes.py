"""Naive Bayes over features and latent variables that join them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference.factors import Factor, FusedTables
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import LogScores, sum_out
from bayleaf.models.latent_rules import LatentReport, latent_names
from bayleaf.models.latents.hierarchical_tables import HierarchicalTables
from bayleaf.models.latents.latent_messages import LatentMessages
from bayleaf.models.latents.latent_network import latent_network
from bayleaf.models.latents.latent_reports import features_given_class, latent_reports
from bayleaf.scoring.terms import Term
from bayleaf.wording import brief_fields, name_list

Floats = NDArray[np.float64]

# A class child whose features have more joint codes than this has no look-up table.
_LOOK_UP_CELLS = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class _PaddedFactor(Factor):
    """A table that holds exact values for missing codes already."""

    __repr__ = brief_fields

    def padded(self) -> Floats:
        """The table itself: its last code on each axis means missing."""
        return self.log_values


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalNaiveBayesModel(HierarchicalTables):
    """Naive Bayes over the children of the class in a tree of latent variables.

    A latent variable is a function of its two children, so that in a complete row the
    class children are known and naive Bayes predicts. Features that are missing are
    summed out of the network to which the tree expands.

    Parameters
    ----------
    domain : Domain
        Features in the order of the codes, then the class.
    tree : LatentTree
        The latent variables over the features.
    prior : ndarray of shape (n_classes,)
        P(class).
    tables : tuple of ndarray of shape (n_classes, card)
        P(node | class) of each of ``tree.class_children``.
    cell_counts : tuple of ndarray of shape (left card, right card)
        Training rows in each cell of each latent variable.
    used : tuple of int, optional
        Class children that feature selection kept; by default all.
    max_table_cells : int, default=20_000_000
        Largest table of the network view.
    cell_smoothing : float, default=0.01
        Added to each cell count before P(cell | latent state) is taken. It cancels
        from posteriors unless features are missing.

    Raises
    ------
    ValueError
        If tree, tables and domain do not fit each other.

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159.
    """

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a summary tells beside counts and arcs: the latent variables."""
        told = []
        for report in self.latent_reports:
            children = " and ".join(str(child) for child in report.children)
            if report.is_irrelevant:
                told.append(f"{report.name}: {children} are irrelevant given the class")
            else:
                told.append(
                    f"{report.name} joins {children}: {report.n_cells} joint states "
                    f"in {len(report.states)}"
                )
        if told and not self.is_regular():
            told.append(f"not regular: {name_list(self.irregular_latents)}")
        return tuple(told)

    @cached_property
    def latent_reports(self) -> tuple[LatentReport, ...]:
        """What each latent variable and its states mean: `latent_reports`."""
        return latent_reports(self)

    @property
    def irregular_latents(self) -> tuple[str, ...]:
        """Names of latents with more states than a regular tree allows.

        A latent is regular if its states are at most the product of those of its
        neighbours (the node above and its two children) over the largest of them. The
        stricter rule for two neighbours never applies: here each latent has three.

        References
        ----------
        Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive
        Bayes models. Machine Learning 63, 135-159, section 3.
        """
        above = dict.fromkeys(self.tree.class_children, self.domain.cards[-1])
        found = []
        for position in reversed(range(len(self.tree.latents))):
            latent = self.tree.latents[position]
            sizes = [above[self.tree.n_features + position], *latent.states.shape]
            if latent.n_states > prod(sizes) // max(sizes):
                found.append(latent_names(self.domain, self.tree)[position])
            above |= dict.fromkeys((latent.left, latent.right), latent.n_states)
        return tuple(reversed(found))

    def is_regular(self) -> bool:
        """Whether no latent has needlessly many states: `irregular_latents`."""
        return not self.irregular_latents

    @cached_property
    def network(self) -> BayesianNetwork:
        """The Bayesian network that the tree expands to: `latent_network`."""
        return latent_network(self)

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """P(feature | class), latent variables summed out; the class prior."""
        class_index = len(self.domain) - 1
        if variable == class_index:
            return (), self.prior
        return (class_index,), features_given_class(self)[variable]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The network; features are revealed in their own order."""
        return (sum_out(self.network, range(len(self.network.domain) - 1)),)

    @cached_property
    def _messages(self) -> LatentMessages:
        """Sums missing features out."""
        return LatentMessages(self.tree, self.cell_distributions)

    @cached_property
    def _look_up(self) -> dict[int, Floats]:
        """Log P(features below | class) over all codes, unless there are too many.

        Shape (n_classes, *number of codes).
        """
        found = {}
        for node, table in self.class_tables.items():
            leaves = self.tree.leaves(node)
            # Missing cells have a code, too.
            shape = tuple(self.tree.cards[leaf] + 1 for leaf in leaves)
            if self.tree.latent(node) is None or prod(shape) <= _LOOK_UP_CELLS:
                codes = np.indices(shape).reshape(len(shape), -1)
                columns = dict(zip(leaves, codes, strict=True))
                values = self._messages.log_likelihood(node, table, columns)
                found[node] = values.reshape(len(table), *shape)
        return found

    @cached_property
    def look_up_factors(self) -> tuple[Factor, ...]:
        """The prior, then a table over the features below each class child.

        The last place of each axis means missing. Class children whose features have
        too many joint states are left out.
        """
        with np.errstate(divide="ignore"):
            prior = Factor(len(self.domain) - 1, (), np.log(self.prior))
        tables = [
            _PaddedFactor(node, self.tree.leaves(node), values)
            for node, values in self._look_up.items()
        ]
        return (prior, *tables)

    @cached_property
    def _fused(self) -> FusedTables:
        """Prior and look-up tables, neighbours added up."""
        return FusedTables.from_factors(self.look_up_factors, self.domain.cards)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log joint probability (nats) of each class and the observed features.

        See `ClassModel.class_log_scores`; missing cells are summed out exactly.
        """
        scores = self._fused.look_up(codes)
        for node, table in self.class_tables.items():
            if node not in self._look_up:
                columns = {leaf: codes.column(leaf) for leaf in self.tree.leaves(node)}
                scores += self._messages.log_likelihood(node, table, columns)
        return scores.T

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` over features.

        The log-odds of a class child are split by the chain rule over its observed
        features in column order: the first one's term is what it says alone, the others
        summed out; each further one adds what it changes.
        """
        terms = np.zeros((codes.n_rows, codes.n_variables))
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.prior)
        prior = log_prior[target] - log_prior[against]
        for node in self.used_children:
            leaves = self.tree.leaves(node)
            columns = {
                leaf: np.full(codes.n_rows, self.tree.cards[leaf]) for leaf in leaves
            }
            before = np.zeros(codes.n_rows)
            for leaf in leaves:
                columns[leaf] = codes.column(leaf).astype(np.intp)
                after = self._log_odds(node, columns, target, against)
                # Where a class has become impossible, nothing more can be told.
                told = np.isfinite(before) & ~np.isnan(after)
                terms[told, leaf] = after[told] - before[told]
                before = np.where(told, after, before)
        return prior, terms

    def rules_fired(self, codes: Codes) -> list[list[str]]:
        """The rule by which each feature tells on the class, for a reader.

        Parameters
        ----------
        codes : Codes
            Features only.

        Returns
        -------
        list of list of str
            By row and feature: the latent directly below the class, and the rule that
            holds for its state; empty for a feature that stands alone or is missing,
            and where none is known to hold.
        """
        columns = self.tree.node_codes(codes)
        found = [[""] * codes.n_variables for _ in range(codes.n_rows)]
        absent = [codes.missing(feature) for feature in range(codes.n_variables)]
        for report in self.latent_reports:
            if report.node not in self.used_children:
                continue
            leaves = self.tree.leaves(report.node)
            for rule in (rule for state in report.states for rule in state.rules):
                text = f"{report.name}: {rule}"
                pairs = itertools.product(np.flatnonzero(rule.holds(columns)), leaves)
                for row, leaf in pairs:
                    found[row][leaf] = "" if absent[leaf][row] else text
        return found

    def _log_odds(
        self,
        node: int,
        columns: dict[int, NDArray[np.intp]],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Floats:
        """Log-odds of two classes by the features below one class child."""
        if node in self._look_up:
            table = self._look_up[node]
            index = tuple(columns.values())
            for_target, for_against = table[target, *index], table[against, *index]
        else:
            table = self.class_tables[node]
            scores = self._messages.log_likelihood(node, table, columns)
            rows = np.arange(scores.shape[1])
            for_target, for_against = scores[target, rows], scores[against, rows]
        # Not a number where both classes are impossible.
        with np.errstate(invalid="ignore"):
            return np.asarray(for_target - for_against)

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features before this one below the same class child."""
        for node in self.used_children:
            leaves = self.tree.leaves(node)
            if feature in leaves:
                return [leaf for leaf in leaves if leaf < feature]
        return []
