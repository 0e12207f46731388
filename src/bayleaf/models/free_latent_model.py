"""Naive Bayes over trees of latent variables that have distributions of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import posterior_table
from bayleaf.inference.states import check_integer
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores
from bayleaf.models.latent_rules import numbered_names
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.wording import counted, shown_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class FreeLatentModel(ClassModel):
    """A tree with the class at its root, features as leaves, latent variables between.

    Nodes are the features in the order of the codes, then the latent variables, each
    after those below it. ValueError if parents and tables are not those of such a tree.
    """

    domain: Domain  # features, then the class
    prior: Floats  # (n_classes,)
    parents: tuple[int, ...]  # of each node; the number of nodes for the class
    tables: tuple[Floats, ...]  # P(node | parent), (parent card, card)
    max_table_cells: int = 20_000_000  # of what summing out builds, at least 1

    log_likelihood_scope = "training rows, latents and missing cells summed out"

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        check_shape(self.prior, (n_classes,), "the class prior")
        n_features, n_nodes = len(cards), len(self.tables)
        cards += [np.shape(table)[-1] for table in self.tables[n_features:]]
        # Each parent is the class, or a latent variable after the node.
        is_tree = len(self.parents) == n_nodes >= n_features and all(
            max(n_features, node + 1) <= parent <= n_nodes
            for node, parent in enumerate(self.parents)
        )
        above = [*cards, n_classes]
        if not is_tree or [np.shape(table) for table in self.tables] != [
            (above[parent], card) for parent, card in zip(self.parents, cards)
        ]:
            raise ValueError(
                f"parents {self.parents} and tables of shapes "
                f"{[np.shape(table) for table in self.tables]} do not form a tree of "
                f"latent variables over {counted(n_features, 'feature')} with "
                f"{n_classes} classes at its root"
            )
        check_integer("max_table_cells", self.max_table_cells)

    def check_content(self) -> None:
        """Raise ValueError unless every table holds distributions."""
        check_distributions(self.prior, "the class prior")
        for node, table in enumerate(self.tables):
            check_distributions(table, f"the table of node {node}")

    @cached_property
    def network(self) -> BayesianNetwork:
        """The tree as a network: features, latent variables, the class."""
        *features, class_variable = self.domain.variables
        sizes = [len(table.T) for table in self.tables[len(features) :]]
        latents = [
            Variable(name, tuple(map(str, range(1, size + 1))))
            for name, size in zip(numbered_names(self.domain, len(sizes)), sizes)
        ]
        cpds = [
            TableCPD((parent, node), table)
            for node, (parent, table) in enumerate(zip(self.parents, self.tables))
        ]
        cpds.append(TableCPD((len(cpds),), self.prior))
        domain = Domain((*features, *latents, class_variable))
        dag = DAG(tuple(cpd.parents for cpd in cpds))
        return BayesianNetwork(domain, dag, tuple(cpds))

    @property
    def latents(self) -> Sequence[Variable]:
        """The latent variables."""
        return self.network.domain.variables[len(self.domain) - 1 : -1]

    @property
    def latent_sizes(self) -> list[tuple[str, int]]:
        """Name and number of states of each latent variable."""
        return [(str(latent.name), latent.n_states) for latent in self.latents]

    @property
    def _parts(self) -> str:
        return counted(len(self.latents), "latent variable")

    @property
    def remarks(self) -> tuple[str, ...]:
        """The children of each latent variable."""
        names, children = self.network.domain.names, self.network.dag.children()
        return tuple(
            f"{shown_name(latent.name)} with {counted(latent.n_states, 'state')} is "
            f"above {', '.join(shown_name(names[child]) for child in children[node])}"
            for node, latent in enumerate(self.latents, start=len(self.domain) - 1)
        )

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """P(feature | class), latent variables summed out; the class prior."""
        class_index = len(self.domain) - 1
        if variable == class_index:
            return (), self.prior
        table, node = self.tables[variable], self.parents[variable]
        while node < len(self.tables):
            table, node = self.tables[node] @ table, self.parents[node]
        return (class_index,), table

    @cached_property
    def _scores(self) -> NetworkModel:
        return NetworkModel(self.network, self.max_table_cells)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Sum latent variables and missing cells out exactly."""
        return self._scores.class_log_scores(self._with_latents(codes))

    def latent_posteriors(self, codes: Codes) -> list[Floats]:
        """P(state | known features) of each latent variable, (n_rows, n_states).

        ImpossibleEvidenceError if a row has probability zero.
        """
        n_classes, first = self.domain.cards[-1], len(self.domain) - 1
        unknown = np.full(codes.n_rows, n_classes)
        rows = self._with_latents(codes).with_column(unknown, n_classes)
        trees = NetworkTrees(self.network, max_table_cells=self.max_table_cells)
        nodes = range(first, len(self.tables))
        return [posterior_table(trees, rows, node) for node in nodes]

    def _with_latents(self, codes: Codes) -> Codes:
        """The features' codes, and missing cells of the latent variables."""
        columns = [codes.column(v) for v in range(codes.n_variables)]
        columns += [np.full(codes.n_rows, v.n_states) for v in self.latents]
        cards = self.network.domain.cards[:-1]
        return Codes.from_columns(columns, cards, codes.weights)
