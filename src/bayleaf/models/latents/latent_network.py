"""A tree of latent variables as a Bayesian network over ordinary variables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD, DeterministicCPD, TableCPD
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.latent_rules import (
    cells_name,
    latent_names,
    name_of_state,
    state_rules,
)
from bayleaf.models.latents.hierarchical_tables import HierarchicalTables
from bayleaf.wording import quoted

Floats = NDArray[np.float64]


def latent_network(
    model: HierarchicalTables, class_counts: Floats | None = None
) -> BayesianNetwork:
    """Expand a model into class -> L -> cells of L -> the two children of L.

    The cells of a latent variable, the joint states of its children, are a variable of
    their own where the latent collapses some; its children are functions of them. A
    nested latent is a child of the cells of the one above it. A latent with a single
    state is left out, so that its cells have no parent. Variables are features, latents
    with their cells, and the class last.

    `class_counts` (n_classes,) are the experience of the tables directly below the
    class. ValueError if the table of some cells exceeds the model's `max_table_cells`.
    Langseth and Nielsen (2006), Classification using hierarchical naive Bayes models,
    Machine Learning 63, 135-159, section 6.3.
    """
    return _Expansion(model, class_counts).network()


def shown_nodes(tree: LatentTree, position: int) -> tuple[bool, bool]:
    """Whether a latent variable, and whether its cells, are variables of the network.

    Without cells of its own the latent has one state a cell already.
    """
    latent = tree.latents[position]
    return not latent.is_collapsed or latent.n_states > 1, latent.is_collapsed


def unique_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels, or numbers from 1 if two of them are the same."""
    if len(set(labels)) == len(labels):
        return tuple(labels)
    return tuple(str(number) for number in range(1, len(labels) + 1))


class _Expansion:
    """Variables and distributions of the network of one model."""

    def __init__(self, model: HierarchicalTables, class_counts: Floats | None) -> None:
        self.model, self.class_counts = model, class_counts
        self.tree = model.tree
        self.latent_index: dict[int, int] = {}
        self.cells_index: dict[int, int] = {}
        index = self.tree.n_features
        for position in range(len(self.tree.latents)):
            has_latent, has_cells = shown_nodes(self.tree, position)
            if has_latent:
                self.latent_index[position] = index
                index += 1
            if has_cells:
                self.cells_index[position] = index
                index += 1
        self.class_index = index
        self.cpds: dict[int, CPD] = {}

    def network(self) -> BayesianNetwork:
        """The network itself."""
        for node, table in self.model.class_tables.items():
            self._below_class(node, table)
        for position in range(len(self.tree.latents)):
            self._below_latent(position)
        self.cpds[self.class_index] = TableCPD((self.class_index,), self.model.prior)
        cpds = tuple(self.cpds[index] for index in range(self.class_index + 1))
        graph = DAG(tuple(cpd.parents for cpd in cpds))
        return BayesianNetwork(self._domain(), graph, cpds)

    def _variable_of(self, node: int) -> int | None:
        """Index of a tree node in the network; None if it is left out."""
        position = node - self.tree.n_features
        return node if position < 0 else self.latent_index.get(position)

    def _below_class(self, node: int, table: Floats) -> None:
        """P(node | class), without the class where it says nothing."""
        index = self._variable_of(node)
        if index is None:
            return
        if node in self.model.used_children:
            family = (self.class_index, index)
            self.cpds[index] = TableCPD(family, table, self.class_counts)
        else:
            self.cpds[index] = TableCPD((index,), table[0])

    def _below_latent(self, position: int) -> None:
        """P(cells | latent), and the children of the latent as functions of them."""
        latent = self.tree.latents[position]
        own = self.latent_index.get(position)
        parent = (self.cells_index if latent.is_collapsed else self.latent_index)[
            position
        ]
        if latent.is_collapsed:
            table = self._cell_table(position)
            family = (parent,) if own is None else (own, parent)
            self.cpds[parent] = TableCPD(family, table[0] if own is None else table)
        rows, columns = np.indices(latent.states.shape)
        for child, values in ((latent.left, rows), (latent.right, columns)):
            index = self._variable_of(child)
            if index is not None:
                card = self.tree.cards[child]
                family = (parent, index)
                self.cpds[index] = DeterministicCPD(family, card, values.ravel())

    def _cell_table(self, position: int) -> Floats:
        """P(cell | latent), shape (n_states, n_cells)."""
        latent = self.tree.latents[position]
        size = latent.n_states * latent.states.size
        if size > self.model.max_table_cells:
            name = latent_names(self.model.domain, self.tree)[position]
            raise ValueError(
                f"the table of {quoted(cells_name(name))} needs {size} numbers, above "
                f"max_table_cells={self.model.max_table_cells}; raise that, or lower "
                "max_cells"
            )
        table = np.zeros((latent.n_states, latent.states.size))
        cells = self.model.cell_distributions[position].ravel()
        table[latent.states.ravel(), np.arange(latent.states.size)] = cells
        return table

    def _domain(self) -> Domain:
        """Names and states of all variables."""
        *features, class_variable = self.model.domain.variables
        names = latent_names(self.model.domain, self.tree)
        rules = state_rules(self.model.domain, self.tree)
        labels = [
            [variable.label(code) for code in range(variable.n_states)]
            for variable in features
        ]
        variables = list(features)
        for position, latent in enumerate(self.tree.latents):
            pairs = itertools.product(labels[latent.left], labels[latent.right])
            cells = unique_labels([f"{x} & {y}" for x, y in pairs])
            # A short rule if that is all, otherwise a number.
            texts = [name_of_state(state) for state in rules[position]]
            named = unique_labels([text or str(i) for i, text in enumerate(texts, 1)])
            labels.append(list(named if latent.is_collapsed else cells))
            if position in self.latent_index:
                variables.append(Variable(names[position], tuple(labels[-1])))
            if position in self.cells_index:
                variables.append(Variable(cells_name(names[position]), cells))
        return Domain((*variables, class_variable))
