"""Exact inference in a network by a junction tree that is compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
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
from bayleaf.models.junction_tree_observed import MANY_CELLS, ObservedLayouts, Passes
from bayleaf.models.junction_tree_schedule import (
    PASSES_TO_DECODE,
    PASSES_TO_PROPAGATE,
    PROPAGATIONS,
    Layout,
    build_schedule,
    new_layout,
    rooted,
    with_prior,
)
from bayleaf.models.small_product import HOPELESS, small_product
from bayleaf.wording import name_list

if TYPE_CHECKING:
    from bayleaf.models.junction_tree_kernels import Scratch

Likelihoods = Mapping[int, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """A network compiled for exact inference, to be kept and asked repeatedly.

    Evidence comes as a likelihood vector a variable: one at the observed state and
    zero elsewhere for an observation, zeros at the states ruled out for negative
    evidence, any non-negative numbers for soft evidence. A disconnected network
    gives a forest.

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
    _rank: tuple[int, ...] = field(repr=False)
    _tables: tuple[NDArray[np.float64], ...] = field(repr=False)
    _layouts: dict[int | None, Layout] = field(default_factory=dict, repr=False)
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
        rank = [0] * len(cards)
        for i, variable in enumerate(axes):
            rank[variable] = i
        tables = []
        for term in product.terms:
            table, family = term.make(), term.family
            order = sorted(range(table.ndim), key=lambda j: rank[family[j]])
            tables.append(np.ascontiguousarray(np.transpose(table, order)))
        return cls(
            network, product, forest, max_table_cells, tuple(rank), tuple(tables)
        )

    @property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Variables of each clique, auxiliary ones too, in increasing order."""
        return self.forest.cliques

    def propagate(self, likelihoods: Likelihoods) -> Propagation:
        """Compute all posteriors given evidence.

        Parameters
        ----------
        likelihoods : mapping from int to ndarray of shape (card,), dtype float64
            Evidence on each variable that has any.

        Returns
        -------
        Propagation
            Its `log_evidence` is minus infinity if the evidence is impossible.

        Raises
        ------
        ValueError
            If a vector does not fit its variable, or is negative or not finite.
        """
        from bayleaf.models import junction_tree_message_kernels as kernels

        variables, values = self._flat(likelihoods)
        layout = self._cheapest(variables, values, Passes.BOTH)
        work = PROPAGATIONS.with_more(PASSES_TO_PROPAGATE * layout.pass_work)
        scratch, log_evidence = _collected(layout, variables, values, False, work)
        marginals = np.empty(layout.state_starts[-1])
        if log_evidence > -np.inf:
            schedule, has_prior = layout.schedule, layout.has_prior
            distribute = kernel_for(kernels.distribute, work)
            distribute(schedule, scratch, False, has_prior)
            read_marginals = kernel_for(kernels.read_marginals, work)
            read_marginals(schedule, scratch, has_prior, marginals)
        given = dict(likelihoods)
        return Propagation(self, log_evidence, given, layout, marginals, scratch)

    def log_evidence(self, likelihoods: Likelihoods) -> float:
        """Log probability (nats) of evidence, minus infinity if it is impossible."""
        variables, values = self._flat(likelihoods)
        layout = self._cheapest(variables, values, Passes.TOUCHED)
        work = PROPAGATIONS.with_more(layout.pass_work)
        return _collected(layout, variables, values, False, work)[1]

    def most_probable(self, likelihoods: Likelihoods) -> tuple[NDArray[np.intp], float]:
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
        from bayleaf.models import junction_tree_message_kernels as kernels

        variables, values = self._flat(likelihoods)
        layout = self._cheapest(variables, values, Passes.UPWARDS)
        n_own = len(self.network.domain)
        states = np.zeros(len(self.product.cards), dtype=np.int64)
        work = PROPAGATIONS.with_more(PASSES_TO_DECODE * layout.pass_work)
        scratch, log_most = _collected(layout, variables, values, True, work)
        if log_most > -np.inf:
            kernel_for(kernels.decode, work)(layout.schedule, scratch, states)
        return states[:n_own].astype(np.intp), log_most

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

    def shaped(self, node: int, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells of a family in the kernels' order, as a table like the node's CPD."""
        family = self.network.cpds[node].family
        order = sorted(range(len(family)), key=lambda j: self._rank[family[j]])
        table = cells.reshape(self._tables[node].shape)
        return np.ascontiguousarray(np.transpose(table, np.argsort(order)))

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

    def layout(self, root_variable: int | None = None) -> Layout:
        """Arrays of the kernels; a root clique holds the variable, if one is given."""
        if root_variable not in self._layouts:
            cards = self.product.cards
            root = None
            if root_variable is not None:
                sizes = self.forest.table_cells(cards)
                holding = [c for c, q in enumerate(self.cliques) if root_variable in q]
                root = min(holding, key=lambda c: (sizes[c], c))
            schedule = build_schedule(
                rooted(self.forest, cards, root),
                self._rank,
                cards,
                self._tables,
                self._families,
                unnormalised=self.product.unnormalised,
            )
            self._layouts[root_variable] = new_layout(
                with_prior(schedule), has_prior=True
            )
        return self._layouts[root_variable]

    @cached_property
    def _families(self) -> list[list[int]]:
        """Each variable's family along the axes of its table."""
        rank = self._rank.__getitem__
        return [sorted(family, key=rank) for family in self.product.families]

    @cached_property
    def _observed(self) -> ObservedLayouts:
        """Layouts of the graph without the variables that evidence fixes."""
        return ObservedLayouts(
            married(self.product.families, len(self.product.cards)),
            self.product.cards,
            self._rank,
            self._tables,
            self._families,
            self.product.unnormalised,
        )

    def _cheapest(
        self, variables: NDArray[np.int64], values: NDArray[np.float64], passes: Passes
    ) -> Layout:
        """The layout that answers from the fewest cells under some evidence."""
        layout = self.layout()
        if not self._is_large:
            return layout
        return self._observed.cheapest(layout, variables, values, passes)

    @cached_property
    def _is_large(self) -> bool:
        """Whether the tables have so many cells that a search for fewer pays."""
        return sum(self.forest.table_cells(self.product.cards)) > MANY_CELLS

    def _flat(
        self, likelihoods: Likelihoods
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The variables with evidence, and their vectors end to end, checked."""
        vectors: dict[int, NDArray[np.float64]] = {}
        for variable in sorted(likelihoods):
            vector = np.asarray(likelihoods[variable], dtype=np.float64)
            n_states = self.network.domain[variable].n_states
            if vector.shape != (n_states,):
                raise ValueError(
                    f"the likelihoods of variable "
                    f"{self.network.domain[variable].name!r} have shape "
                    f"{vector.shape}; give one number for each of its {n_states} states"
                )
            vectors[variable] = vector
        if self.product.agreeing:
            vectors = self.product.narrowed(vectors)
        values = np.concatenate([np.zeros(0), *vectors.values()])
        if not (values >= 0).all() or not np.isfinite(values).all():
            raise ValueError("likelihoods must be finite and not negative")
        return np.array(list(vectors), dtype=np.int64), values


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


def _collected(
    layout: Layout,
    variables: NDArray[np.int64],
    values: NDArray[np.float64],
    maximise: bool,
    work: float,
) -> tuple[Scratch, float]:
    """Enter evidence and send the messages to the roots; `work` as in `kernel_for`."""
    from bayleaf.models import junction_tree_message_kernels as kernels

    scratch = layout.new_scratch()
    from_prior = layout.has_prior and not maximise
    log_scale = kernel_for(kernels.evidence_of, work)(
        layout.schedule, scratch, variables, values, maximise, from_prior
    )
    return scratch, float(log_scale)


@dataclass(eq=False)
class Propagation:
    """All posteriors given some evidence.

    Attributes
    ----------
    log_evidence : float
        Log probability (nats) of the evidence; minus infinity if it is impossible,
        and then there are no posteriors.
    """

    tree: JunctionTree
    log_evidence: float
    _given: dict[int, NDArray[np.float64]] = field(repr=False)
    _layout: Layout = field(repr=False)
    _marginals: NDArray[np.float64] = field(repr=False)
    _scratch: Scratch = field(repr=False)
    _has_families: bool = field(default=False, repr=False)

    def marginal(self, variable: int) -> NDArray[np.float64]:
        """Posterior of one variable, shape (card,).

        Raises
        ------
        ValueError
            If the evidence is impossible.
        """
        self._check_possible()
        first = self._layout.state_starts
        return self._marginals[first[variable] : first[variable + 1]].copy()

    def family(self, node: int) -> NDArray[np.float64]:
        """Joint posterior of a variable's parents and itself, shaped like its CPD.

        Raises
        ------
        ValueError
            If the evidence is impossible, or the family's full table, which it does
            not need as long as nobody asks for it, makes a clique too large.
        """
        from bayleaf.models import junction_tree_message_kernels as kernels

        self._check_possible()
        if self.tree.is_apart(node):
            whole = self.tree.with_whole([node])
            return whole.propagate(self._given).family(node)
        schedule = self._layout.schedule
        first, end = self._layout.starts("fixed_offset")[node : node + 2]
        table = np.zeros(int(end - first))
        is_first = not self._has_families
        more = PASSES_TO_PROPAGATE * self._layout.pass_work if is_first else table.size
        work = PROPAGATIONS.with_more(more)
        if is_first:
            kernel_for(kernels.distribute, work)(schedule, self._scratch, True, False)
            self._has_families = True
        read_family = kernel_for(kernels.read_family, work)
        read_family(schedule, self._scratch, node, 1.0, table, 0)
        return self.tree.shaped(node, table)

    def _check_possible(self) -> None:
        """Refuse to answer where there is no answer."""
        if self.log_evidence == -np.inf:
            raise ValueError(
                "the evidence is impossible, so there are no posteriors; leave some "
                "of it out"
            )
