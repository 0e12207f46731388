"""Exact inference in a network by a junction tree that is compiled once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.graph.triangulation import (
    JunctionForest,
    married,
    plain_forest,
    small_forest,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.decomposition import Form, Product, ProductBuilder
from bayleaf.models.findings import Findings, known_findings
from bayleaf.models.junction_tree_observed import MANY_CELLS, ObservedTrees, Passes
from bayleaf.models.propagation import Propagation
from bayleaf.models.small_product import HOPELESS, small_product
from bayleaf.native.junction_tree import CompiledTree
from bayleaf.native.tree_questions import Known
from bayleaf.wording import name_list

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """A network compiled for exact inference, to be kept and asked repeatedly.

    Evidence on a variable is the state that it is in, or a likelihood vector: zeros at
    the states ruled out for negative evidence, any non-negative numbers for soft
    evidence. A disconnected network gives a forest.

    Parameters
    ----------
    network : BayesianNetwork
        The network, as it was given.
    product : Product
        Its distributions as they are multiplied: wide trees and grouped tables with
        auxiliary variables, numbered from the network's own on.
    forest : JunctionForest
        Cliques and edges, over auxiliary variables too.
    max_table_cells : int
        Most cells that the table of a clique may have.

    Notes
    -----
    Messages run to the roots and back (Jensen, Lauritzen & Olesen 1990), but clique
    tables are multiplied afresh each time instead of being stored, states without
    likelihood are left out of all tables, and messages of subtrees without evidence
    are taken from the propagation without any. Where that still leaves large tables,
    the graph without the observed variables is triangulated anew. Each message is
    divided by its largest cell, so that networks of thousands of nodes do not
    underflow.
    """

    network: BayesianNetwork
    product: Product
    forest: JunctionForest
    max_table_cells: int
    _asked_forms: Mapping[int, Form] | None = field(repr=False)
    _rank: NDArray[np.int64] = field(repr=False)
    _cells: Floats = field(repr=False)
    _compiled: dict[int | None, CompiledTree] = field(default_factory=dict, repr=False)
    _with_whole: dict[frozenset[int], JunctionTree] = field(
        default_factory=dict, repr=False
    )

    @classmethod
    def compile(
        cls,
        network: BayesianNetwork,
        *,
        max_table_cells: int = 20_000_000,
        forms: Mapping[int, Form] | None = None,
    ) -> JunctionTree:
        """Triangulate a network and lay its tables out.

        Parameters
        ----------
        network : BayesianNetwork
            Rows of its tables that do not add up to one are normalised.
        max_table_cells : int, default=20_000_000
            Most cells that the table of a clique may have.
        forms : mapping from int to Form, optional
            How the families of trees and grouped tables enter; those that are not
            mentioned are whole. By default as keeps the cliques small.

        Raises
        ------
        ValueError
            If a clique is larger, naming its variables.
        """
        own_cards = network.domain.cards
        if forms is None:
            product = small_product(own_cards, network.cpds, max_table_cells)
        else:
            product = ProductBuilder(own_cards, network.cpds).product(forms)
        cards = product.cards
        forest = _triangulated(network, product, max_table_cells)
        # The most states last, because the last axis is the one that runs fast.
        place = {node: i for i, node in enumerate(forest.order)}
        axes = sorted(range(len(cards)), key=lambda v: (cards[v], place[v]))
        rank = np.empty(len(cards), dtype=np.int64)
        rank[axes] = np.arange(len(cards))
        cells = np.concatenate([term.make().ravel() for term in product.terms])
        return cls(network, product, forest, max_table_cells, forms, rank, cells)

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(
            JunctionTree.compile,
            max_table_cells=self.max_table_cells,
            forms=self._asked_forms,
        )
        return again, (self.network,)

    @property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Variables of each clique, auxiliary ones too, in increasing order."""
        return self.forest.cliques

    def propagate(
        self, findings: Findings, wanted: Sequence[int] | None = None
    ) -> Propagation:
        """Compute posteriors given evidence.

        Parameters
        ----------
        findings : mapping from int to int or ndarray of shape (card,), dtype float64
            State or likelihoods of each variable of which something is known.
        wanted : sequence of int, optional
            Variables whose marginals will be read, which saves messages that lead to
            others; all by default.

        Returns
        -------
        Propagation
            Its `log_evidence` is minus infinity if the evidence is impossible.

        Raises
        ------
        ValueError
            If there is no such state, or a vector does not fit its variable, or is
            negative or not finite.
        """
        known = known_findings(self.product, self.network.domain.variables, findings)
        compiled = self._cheapest(known, Passes.BOTH)
        log_evidence, marginals = compiled.marginals(known, wanted)
        marginals.flags.writeable = False
        return Propagation(self, dict(findings), wanted, log_evidence, marginals)

    def log_evidence(self, findings: Findings) -> float:
        """Log probability (nats) of evidence, minus infinity if it is impossible."""
        known = known_findings(self.product, self.network.domain.variables, findings)
        return self._cheapest(known, Passes.TOUCHED).log_evidence(known)

    def most_probable(self, findings: Findings) -> tuple[NDArray[np.intp], float]:
        """Find the most probable states of all variables together.

        Among equally probable ones, each clique takes the lowest state of its lowest
        variable that the cliques before it leave open.

        Returns
        -------
        states : ndarray of shape (n_variables,), dtype intp
            All zero if the evidence is impossible.
        log_probability : float
            Log probability (nats) of the states and the evidence.
        """
        known = known_findings(self.product, self.network.domain.variables, findings)
        compiled = self._cheapest(known, Passes.UPWARDS)
        states, log_most = compiled.most_probable(known)
        return states[: len(self.network.domain)].astype(np.intp), log_most

    def families(self, findings: Findings) -> list[Floats]:
        """Joint posteriors of the terms' variables, shaped like the terms' tables.

        Zeros if the evidence is impossible.
        """
        known = known_findings(self.product, self.network.domain.variables, findings)
        cells = self._cheapest(known, Passes.BOTH).families(known)
        cards = self.product.cards
        shapes = [[cards[v] for v in family] for family in self.product.families]
        ends = accumulate(map(prod, shapes), initial=0)
        return [
            cells[first:end].reshape(shape)
            for (first, end), shape in zip(pairwise(ends), shapes, strict=True)
        ]

    def log_evidence_rows(self, codes: Codes, n_jobs: int = 1) -> NDArray[np.float64]:
        """Log probability (nats) of the observed cells of each row, shape (n_rows,)."""
        from bayleaf.models.junction_tree_rows import log_evidence_rows

        return log_evidence_rows(self, codes, n_jobs)

    def posterior_rows(
        self, codes: Codes, target: int, n_jobs: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Posterior of one variable given each row's observed cells of the others.

        Parameters
        ----------
        codes : Codes
            All variables, in the network's order; the target's cells are ignored.
        target : int
            The variable.
        n_jobs : int, default=1
            Number of threads.

        Returns
        -------
        posteriors : ndarray of shape (n_rows, card)
            NaN in rows whose cells are impossible together.
        log_evidence : ndarray of shape (n_rows,)
            Log probability (nats) of the cells.
        """
        from bayleaf.models.junction_tree_rows import posterior_rows

        return posterior_rows(self, codes, target, n_jobs)

    def expected_counts(
        self, codes: Codes, n_jobs: int = 1
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Sum the family posteriors of all rows, each times its weight.

        Complete rows are counted as `TableCounts` counts them; the result does not
        depend on `n_jobs`.

        Returns
        -------
        counts : list of ndarray
            One a variable, shaped like its distribution. Impossible rows add nothing.
        log_evidence : ndarray of shape (n_rows,)
            Log probability (nats) of each row's observed cells.
        """
        from bayleaf.models.junction_tree_rows import expected_counts

        return expected_counts(self, codes, n_jobs)

    def is_apart(self, node: int) -> bool:
        """Whether a family is no clique's, being taken apart by auxiliary variables."""
        return self.product.forms[node] is not Form.WHOLE

    def with_whole(self, nodes: Iterable[int]) -> JunctionTree:
        """The tree in which some families enter by their full tables, kept.

        Raises
        ------
        ValueError
            If a clique is then too large.
        """
        key = frozenset(nodes)
        if key not in self._with_whole:
            forms = {
                node: form
                for node, form in enumerate(self.product.forms)
                if node not in key
            }
            self._with_whole[key] = JunctionTree.compile(
                self.network, max_table_cells=self.max_table_cells, forms=forms
            )
        return self._with_whole[key]

    def with_families(self) -> list[tuple[JunctionTree, list[int]]]:
        """Trees from which the posteriors of all families can be read, some each.

        Raises
        ------
        ValueError
            If some family's full table makes a clique too large.
        """
        everything = range(len(self.network.domain))
        apart = [node for node in everything if self.is_apart(node)]
        if not apart:
            return [(self, list(everything))]
        try:
            return [(self.with_whole(apart), list(everything))]
        except ValueError:
            here = [node for node in everything if not self.is_apart(node)]
            alone = [(self.with_whole([node]), [node]) for node in apart]
            return [(self, here), *alone]

    def compiled(self, target: int | None = None) -> CompiledTree:
        """The tree of the native core; a root clique holds the target, if there is one.

        It is made when first asked for, and kept.
        """
        if target not in self._compiled:
            self._compiled[target] = self._linked(self.forest, target=target)
        return self._compiled[target]

    def _linked(
        self,
        forest: JunctionForest,
        observed: Collection[int] = (),
        target: int | None = None,
    ) -> CompiledTree:
        """The cliques of a forest with the distributions, ready for questions."""
        product = self.product
        n_variables = len(product.cards)
        is_observed = np.zeros(n_variables, dtype=np.bool_)
        is_observed[list(observed)] = True
        return CompiledTree(
            np.array(product.cards, dtype=np.int64),
            self._rank,
            *_lists(product.families),
            self._cells,
            np.array([term.sums_to_one for term in product.terms]),
            is_observed,
            *_lists(forest.cliques),
            np.array(forest.edges, dtype=np.int64).reshape(-1, 2),
            -1 if target is None else target,
            with_prior=not observed,
        )

    @cached_property
    def state_places(self) -> tuple[slice, ...]:
        """Where the states of each variable lie among those of all."""
        ends = accumulate(self.product.cards, initial=0)
        return tuple(slice(*both) for both in pairwise(ends))

    @cached_property
    def _observed(self) -> ObservedTrees:
        """Trees of the graph without the variables that evidence fixes."""
        cards = self.product.cards
        neighbours = married(self.product.families, len(cards))
        return ObservedTrees(neighbours, cards, self._linked)

    def _cheapest(self, known: Known, passes: Passes) -> CompiledTree:
        """The tree that answers from the fewest cells under some evidence."""
        compiled = self.compiled()
        if not self._is_large:
            return compiled
        return self._observed.cheapest(compiled, known, passes)

    @cached_property
    def _is_large(self) -> bool:
        """Whether the tables have so many cells that a search for fewer pays."""
        return sum(self.forest.table_cells(self.product.cards)) > MANY_CELLS


def _lists(
    lists: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each list begins, the end of the last included, and all their items."""
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    items = [item for listed in lists for item in listed]
    return starts, np.array(items, dtype=np.int64)


def _triangulated(
    network: BayesianNetwork, product: Product, limit: int
) -> JunctionForest:
    """Cliques of a product within the limit; ValueError names one that is not."""
    neighbours = married(product.families, len(product.cards))
    if not all(isinstance(cpd, TableCPD) for cpd in network.cpds):
        # Tables that nobody wrote down can be so wide that a thorough search would
        # take long, only to be refused.
        quick = plain_forest(neighbours, product.cards).cliques
        _check_sizes(network, product, quick, limit, HOPELESS)
    forest = small_forest(neighbours, product.cards)
    _check_sizes(network, product, forest.cliques, limit)
    return forest


def _check_sizes(
    network: BayesianNetwork,
    product: Product,
    cliques: Iterable[Family],
    limit: int,
    factor: int = 1,
) -> None:
    """Raise if a clique exceeds the limit by some factor, naming its variables."""
    for clique in cliques:
        cells = prod(product.cards[v] for v in clique)
        if cells > limit * factor:
            own = product.own_variables(clique)
            names = name_list([str(network.domain[v].name) for v in own])
            raise ValueError(
                f"exact inference needs a table of {cells:.3g} cells over {names}, "
                f"more than max_table_cells={limit}; raise it, or give these variables "
                "fewer states or parents"
            )
