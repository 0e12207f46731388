"""Exact inference in a network by a junction tree that is compiled once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.data.domain import Variable
from bayleaf.graph.triangulation import (
    JunctionForest,
    forest_without,
    hopeless_clique,
    married,
    small_forest,
)
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.family_decomposition import (
    HOPELESS,
    Form,
    Product,
    ProductBuilder,
    small_product,
)
from bayleaf.native.inference import CompiledTree, Known
from bayleaf.wording import name_list, quoted

Floats = NDArray[np.float64]
# The state that a variable is in, or a likelihood for each of its states.
Findings = Mapping[int, int | Floats]

_STATE = (int, np.integer)
# Stands in the place of a state where likelihoods are given.
_WEIGHED = -1
# Trees that run through fewer cells are done before another one could be compiled.
MANY_CELLS = 1_000_000
# Sets of observed variables that are remembered.
_KEPT_SETS = 32


def _misfit(variable: Variable, what: str) -> ValueError:
    """The error for a finding that does not fit its variable."""
    n_states = variable.n_states
    return ValueError(
        f"the evidence on variable {quoted(variable.name)} has {what}; give a state "
        f"from 0 to {n_states - 1}, or one likelihood for each of its {n_states} states"
    )


class TooWideError(ValueError):
    """Exact inference needs a larger table than is allowed."""


def bounded_forest(
    network: Factorisation, product: Product, limit: int
) -> JunctionForest:
    """Triangulate the graph of a product so that no clique exceeds `limit` cells.

    TooWideError names the variables of a larger clique.
    """
    neighbours = married(product.families, len(product.cards))
    # A thorough search takes long, and longest where it will find nothing.
    clique = hopeless_clique(neighbours, product.cards, limit * HOPELESS)
    _check_sizes(network, product, [clique], limit)
    forest = small_forest(neighbours, product.cards)
    _check_sizes(network, product, forest.cliques, limit)
    return forest


def _check_sizes(
    network: Factorisation, product: Product, cliques: Iterable[Family], limit: int
) -> None:
    """Raise if a clique exceeds the limit, naming its variables."""
    for clique in cliques:
        cells = prod(product.cards[v] for v in clique)
        if cells > limit:
            own = product.own_variables(clique)
            names = name_list([str(network.domain[v].name) for v in own])
            raise TooWideError(
                f"exact inference needs a table of {cells:.3g} cells over {names}, "
                f"more than max_table_cells={limit}; raise it, or give these variables "
                "fewer states or parents"
            )


class Passes(Enum):
    """What a question runs through."""

    TOUCHED = "to the roots, cliques with evidence below only"
    UPWARDS = "to the roots"
    BOTH = "to the roots, cliques with evidence below only, and back"


def _cells(
    tree: CompiledTree, known: Known, passes: Passes
) -> tuple[float, Sequence[int]]:
    """How many cells of cliques a question runs through; the observed variables."""
    touched, all_cliques, observed = tree.cells(known)
    if passes is Passes.UPWARDS:
        return all_cliques, observed
    return touched + all_cliques * (passes is Passes.BOTH), observed


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """A network compiled for exact inference, to be kept and queried repeatedly.

    Evidence on a variable is the state that it is in, or a likelihood vector: zeros at
    the states ruled out for negative evidence, any non-negative numbers for soft
    evidence. A disconnected network gives a forest.

    Messages run to the roots and back (Jensen, Lauritzen & Olesen 1990), but clique
    tables are multiplied afresh each time instead of being stored, states without
    likelihood are left out of all tables, and messages of subtrees without evidence are
    taken from the propagation without any. Where that still leaves large tables, the
    graph without the observed variables is triangulated again. Each message is divided
    by its largest cell, so that networks of thousands of nodes do not underflow.
    """

    network: Factorisation
    product: Product  # with auxiliary variables after the network's
    forest: JunctionForest  # over auxiliary variables, too
    max_table_cells: int  # of a clique
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
        network: Factorisation,
        *,
        max_table_cells: int = 20_000_000,
        forms: Mapping[int, Form] | None = None,
    ) -> JunctionTree:
        """Triangulate a network and lay its tables out, rows normalised.

        `forms` are those of trees and grouped tables, whole where left out; by default
        as keeps the cliques small. ValueError names the variables of a clique of more
        than `max_table_cells`.
        """
        own_cards = network.domain.cards
        if forms is None:
            product = small_product(own_cards, network.cpds, max_table_cells)
        else:
            product = ProductBuilder(own_cards, network.cpds).product(forms)
        forest = bounded_forest(network, product, max_table_cells)
        return cls._laid_out(network, product, forest, max_table_cells, forms)

    @classmethod
    def _laid_out(
        cls,
        network: Factorisation,
        product: Product,
        forest: JunctionForest,
        max_table_cells: int,
        forms: Mapping[int, Form] | None,
    ) -> JunctionTree:
        """The tree of a product whose cliques are found."""
        cards = product.cards
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
        """Compute posteriors given findings: states or likelihoods (card,).

        Reading only the `wanted` marginals saves messages. Log evidence is minus
        infinity if impossible; ValueError if a state does not exist, or a vector is
        negative, not finite or of the wrong length.
        """
        known = self.known(findings)
        compiled = self._cheapest(known, Passes.BOTH)
        log_evidence, marginals = compiled.marginals(known, wanted)
        marginals.flags.writeable = False
        return Propagation(self, dict(findings), wanted, log_evidence, marginals)

    def log_evidence(self, findings: Findings) -> float:
        """Log probability (nats) of evidence, minus infinity if it is impossible."""
        known = self.known(findings)
        return self._cheapest(known, Passes.TOUCHED).log_evidence(known)

    def most_probable(self, findings: Findings) -> tuple[NDArray[np.intp], float]:
        """Find the most probable states of all variables, and their log probability.

        Among equally probable ones, each clique takes the lowest state of its lowest
        variable that the cliques before it leave open. All states are zero if the
        evidence is impossible; the log (nats) includes the evidence.
        """
        known = self.known(findings)
        compiled = self._cheapest(known, Passes.UPWARDS)
        states, log_most = compiled.most_probable(known)
        return states[: len(self.network.domain)].astype(np.intp), log_most

    def families(self, findings: Findings) -> list[Floats]:
        """Joint posteriors of the terms' variables, shaped like the terms' tables.

        Zeros if the evidence is impossible.
        """
        known = self.known(findings)
        cells = self._cheapest(known, Passes.BOTH).families(known)
        cards = self.product.cards
        shapes = [[cards[v] for v in family] for family in self.product.families]
        ends = accumulate(map(prod, shapes), initial=0)
        return [
            cells[first:end].reshape(shape)
            for (first, end), shape in zip(pairwise(ends), shapes, strict=True)
        ]

    def clique_posteriors(self, findings: Findings) -> list[Floats]:
        """Joint posteriors of the cliques' variables, one axis a variable.

        Zeros if the evidence is impossible.
        """
        # A table of ones changes nothing, and its family is the clique.
        n = len(self.product.cards)
        product = self.product.with_ones(self.cliques)
        cliques = product.families[n:]
        order = (*self.forest.order, *range(n, len(product.cards)))
        forest = replace(self.forest, cliques=cliques, order=order)
        limit, forms = self.max_table_cells, self._asked_forms
        tree = self._laid_out(self.network, product, forest, limit, forms)
        return [table[..., 0] for table in tree.families(findings)[n:]]

    def is_apart(self, node: int) -> bool:
        """Whether a family is no clique's, being taken apart by auxiliary variables."""
        return self.product.forms[node] is not Form.WHOLE

    def with_whole(self, nodes: Iterable[int]) -> JunctionTree:
        """The tree with full tables of some families, kept; ValueError if too large."""
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

        ValueError if some family's full table makes a clique too large.
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
            not observed,
        )

    @cached_property
    def state_places(self) -> tuple[slice, ...]:
        """Where the states of each variable lie among those of all."""
        ends = accumulate(self.product.cards, initial=0)
        return tuple(slice(*both) for both in pairwise(ends))

    def known(self, findings: Findings) -> Known:
        """Check findings and pass them to the native core.

        What follows for auxiliary variables is entered, too. ValueError if a state does
        not exist, or likelihoods are not one per state.
        """
        product, variables = self.product, self.network.domain.variables
        cards = product.cards
        states: list[int] = []
        likelihoods: list[Floats] = []
        for variable, value in findings.items():
            if isinstance(value, _STATE):
                if not 0 <= value < cards[variable]:
                    raise _misfit(variables[variable], f"the state {value}")
                states += (variable, int(value))
                continue
            vector = np.ascontiguousarray(value, dtype=np.float64)
            if vector.shape != (cards[variable],):
                what = f"likelihoods of shape {vector.shape}"
                raise _misfit(variables[variable], what)
            states += (variable, _WEIGHED)
            likelihoods.append(vector)
        if product.agreeing:
            for variable, vector in product.auxiliary_likelihoods(findings).items():
                states += (variable, _WEIGHED)
                likelihoods.append(vector)
        return Known(states, likelihoods)

    def _cheapest(self, known: Known, passes: Passes) -> CompiledTree:
        """The tree that answers from the fewest cells under some evidence.

        An observed variable separates its neighbours in the moral graph. A
        triangulation without it can therefore have far smaller cliques than those of
        the whole network, even once the states that the evidence rules out are left out
        of their tables. The states themselves are entered when propagating, so that a
        tree serves whatever was observed of the same variables.
        """
        compiled = self.compiled()
        if not self._is_large:
            return compiled
        cost, observed = _cells(compiled, known, passes)
        if not observed or cost <= MANY_CELLS:
            return compiled
        other = self._without(frozenset(observed))
        return other if _cells(other, known, passes)[0] < cost else compiled

    def _without(self, observed: frozenset[int]) -> CompiledTree:
        """The tree of the graph without a set of observed variables, kept."""
        tree = self._trees_without.pop(observed, None)
        if tree is None:
            forest = forest_without(self._neighbours, self.product.cards, observed)
            tree = self._linked(forest, observed)
        self._trees_without[observed] = tree
        if len(self._trees_without) > _KEPT_SETS:
            self._trees_without.popitem(last=False)
        return tree

    @cached_property
    def _trees_without(self) -> OrderedDict[frozenset[int], CompiledTree]:
        return OrderedDict()

    @cached_property
    def _neighbours(self) -> list[int]:
        return married(self.product.families, len(self.product.cards))

    @cached_property
    def _is_large(self) -> bool:
        """Whether the tables have so many cells that a search for fewer pays."""
        return sum(self.forest.table_cells(self.product.cards)) > MANY_CELLS


@dataclass(frozen=True, eq=False, repr=False)
class Propagation:
    """Posteriors given some evidence."""

    tree: JunctionTree
    findings: Findings
    wanted: Sequence[int] | None  # marginals that can be read, None for all
    log_evidence: float  # nats; without posteriors if it is minus infinity
    marginals: Floats  # (n_states,) of all variables, one after another

    def marginal(self, variable: int) -> Floats:
        """Posterior of one variable, shape (card,), read-only.

        ValueError if the evidence is impossible, or the marginal was not requested.
        """
        self._check_possible()
        if self.wanted is not None and variable not in self.wanted:
            raise ValueError(f"the marginal of variable {variable} was not asked for")
        return self.marginals[self.tree.state_places[variable]]

    def family(self, node: int) -> Floats:
        """Joint posterior of a variable's parents and itself, shaped like its CPD.

        ValueError if the evidence is impossible, or the family's full table, which is
        made on demand, makes a clique too large.
        """
        self._check_possible()
        if self.tree.is_apart(node):
            return self.tree.with_whole([node]).families(self.findings)[node]
        return self.tree.families(self.findings)[node]

    def _check_possible(self) -> None:
        """Refuse to answer where there is no answer."""
        if self.log_evidence == -np.inf:
            raise ValueError(
                "the evidence is impossible, so there are no posteriors; leave some "
                "of it out"
            )


def _lists(
    lists: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each list begins, the end of the last included, and all their items."""
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    items = [item for listed in lists for item in listed]
    return starts, np.array(items, dtype=np.int64)
