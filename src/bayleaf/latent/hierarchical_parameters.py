"""Parameters of hierarchical naive Bayes, its tree being known: counted, or by EM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.shuffled_rows import exact_sums, merged_rows
from bayleaf.latent.expectation_maximisation import EMOptions, climb, warn_of_limit
from bayleaf.latent.network_parameters import log_product
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_messages import LatentMessages, SharedMessages
from bayleaf.models.latent_rules import latent_names

Table = NDArray[np.float64]

_EM = EMOptions(n_restarts=1)


def flat_domain(tree: LatentTree, domain: Domain) -> Domain:
    """The children of the class as variables, and the class last."""
    *features, class_variable = domain.variables
    names = latent_names(domain, tree)
    variables = [
        features[node]
        if node < tree.n_features
        else Variable(names[node - tree.n_features], tuple(range(tree.cards[node])))
        for node in tree.class_children
    ]
    return Domain((*variables, class_variable))


def class_children_codes(tree: LatentTree, codes: Codes) -> Codes:
    """Rows of the children of the class, and the class last.

    `codes` contain the features in the tree's order, then the class.
    """
    return _codes_of_nodes(tree, codes, tree.class_children)


def _codes_of_nodes(tree: LatentTree, codes: Codes, nodes: Sequence[int]) -> Codes:
    """Rows of some nodes of a tree, and the class last."""
    columns = tree.node_codes(codes)
    return Codes.from_columns(
        [*(columns[node] for node in nodes), codes.column(tree.n_features)],
        [*(tree.cards[node] for node in nodes), codes.cards[tree.n_features]],
        codes.weights,
    )


def latent_counts(
    tree: LatentTree, codes: Codes, n_jobs: int
) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
    """Rows in each cell of each latent variable whose children are known.

    Shapes (left card, right card); and in each of its states by class, shapes
    (n_states, n_classes). `codes` contain the features, then the class.
    """
    if not tree.latents:
        return (), ()
    class_index, first = len(tree.cards), tree.n_features
    nodes = _codes_of_nodes(tree, codes, range(class_index))
    cells = [(latent.left, latent.right) for latent in tree.latents]
    states = [(first + j, class_index) for j in range(len(tree.latents))]
    counts = RowCounts(nodes, n_jobs).family_counts([*cells, *states])
    return tuple(counts[: len(cells)]), tuple(counts[len(cells) :])


def tables_log_likelihood(
    model: HierarchicalNaiveBayesModel, flat: CountSource
) -> float:
    """Log-likelihood (nats) of the children of the class, where they are known.

    `flat` counts the rows of `class_children_codes`.
    """
    families = [(flat.class_index, child) for child in range(flat.class_index)]
    pairs = zip(flat.family_counts(families), model.tables, families, strict=True)
    return sum(
        TableCPD(family, table).log_likelihood(counts)
        for counts, table, family in pairs
    )


def learned_by_em(
    model: HierarchicalNaiveBayesModel, codes: Codes, smoothing: Smoothing, n_jobs: int
) -> HierarchicalNaiveBayesModel:
    """Learn the tables directly below the class from rows with missing cells.

    All other tables stay, as in HUGIN, also those of unused class children and of
    latents with one state. Expectation maximisation starts from even tables worth one
    row; the smoothing rule turns its expected counts into tables (Lauritzen 1995,
    Computational Statistics & Data Analysis 19, 191-201). The result does not depend on
    `n_jobs`.

    The result is that of `learn_parameters` in the model's network, without a junction
    tree. As the class is known, each of its children is learned from the features below
    it alone. As latents are functions of their children and P(cell | latent) is not
    learned, the message that a child gets from a row is the same in all steps. Where
    the row has all features below the child, the message is a state, and such rows are
    counted once. Only the other rows need expectations, and rows with equal messages
    share them: a step costs distinct messages times states.
    """
    rows = codes if codes.unit_weights else codes.rows(codes.weights > 0)
    tree = model.tree
    learned = {
        place: child
        for place, (node, child) in enumerate(
            zip(tree.class_children, _child_rows(model, rows, n_jobs), strict=True)
        )
        if node in model.used_children
        and (tree.latent(node) is None or tree.cards[node] > 1)
    }
    children = _LearnedChildren(list(learned.values()), float(rows.weights.sum()))
    end = climb(children, children.even_tables, _EM)
    warn_of_limit(end.converged, _EM.max_iter)
    tables = list(model.tables)
    for place, counts in zip(learned, end.expected, strict=True):
        tables[place] = smoothing.estimate(counts)
    return replace(model, tables=tuple(tables))


@dataclass(frozen=True, eq=False)
class _UnknownStates:
    """Messages from rows of one class that leave several states of a child possible.

    Messages have shape (n, card), the total weights of their rows shape (n,).
    """

    class_code: int
    messages: Table
    weights: Table


@dataclass(frozen=True, eq=False)
class _ChildRows:
    """Messages that one class child gets from all rows."""

    known: Table  # (n_classes, card), weight of rows with a known state
    unknown: Sequence[_UnknownStates]  # the other rows

    def expect(self, table: Table) -> tuple[Table, float]:
        """Expected counts under P(child | class), and the log-likelihood (nats).

        That is up to a constant: of the features below, given the child's state.
        """
        expected = self.known.copy()
        log_likelihood = log_product(self.known, np.log(table))
        for rows in self.unknown:
            distribution = table[rows.class_code]
            likelihoods = rows.messages @ distribution
            ratios = rows.weights / likelihoods
            expected[rows.class_code] += distribution * (ratios @ rows.messages)
            log_likelihood += log_product(rows.weights, np.log(likelihoods))
        return expected, log_likelihood


@dataclass(frozen=True, eq=False)
class _LearnedChildren:
    """The children of the class whose tables are learned, for the EM steps."""

    children: Sequence[_ChildRows]
    total_weight: float

    @property
    def even_tables(self) -> list[Table]:
        """The start, which also counts as one row of each class."""
        shapes = [child.known.shape for child in self.children]
        return [np.full(shape, 1.0 / shape[1]) for shape in shapes]

    def expect(self, tables: list[Table]) -> tuple[list[Table], float]:
        found = [c.expect(table) for c, table in zip(self.children, tables)]
        return [counts for counts, _ in found], sum(log for _, log in found)

    def totals(self, expected: list[Table]) -> list[Table]:
        return list(map(np.add, expected, self.even_tables))

    def fitted(self, _: list[Table], totals: Sequence[Table]) -> list[Table]:
        return [total / total.sum(axis=1, keepdims=True) for total in totals]

    def log_prior(self, tables: list[Table]) -> float:
        return sum(map(log_product, self.even_tables, map(np.log, tables)))

    def probabilities(self, tables: list[Table]) -> list[Table]:
        return tables


def _child_rows(
    model: HierarchicalNaiveBayesModel, codes: Codes, n_jobs: int
) -> list[_ChildRows]:
    """The messages that each class child gets from the rows."""
    tree = model.tree
    messages = LatentMessages(tree, model.cell_distributions)
    incomplete = [
        np.flatnonzero(np.logical_or.reduce([codes.missing(leaf) for leaf in leaves]))
        for leaves in map(tree.leaves, tree.class_children)
    ]
    complete = _complete_below(tree, codes, incomplete)
    flat = RowCounts(
        class_children_codes(tree, complete),
        n_jobs,
        max_table_cells=model.max_table_cells,
    )
    families = [(flat.class_index, child) for child in range(flat.class_index)]
    found = []
    for node, rows, known in zip(
        tree.class_children, incomplete, flat.family_counts(families)
    ):
        below = _merged_below(tree, codes, node, rows)
        columns = {leaf: below.column(v) for v, leaf in enumerate(tree.leaves(node))}
        blocks = [block for _, block in messages.shared(node, columns)]
        own_classes = below.column(below.n_variables - 1)
        found.append(_rows_of_child(known, blocks, own_classes, below.weights))
    return found


def _complete_below(
    tree: LatentTree, codes: Codes, incomplete: Sequence[NDArray[np.intp]]
) -> Codes:
    """Codes in which incomplete rows miss all features below the class child.

    So counts of the child are those of the other rows.
    """
    columns = [codes.column(v) for v in range(codes.n_variables)]
    for node, rows in zip(tree.class_children, incomplete, strict=True):
        if tree.latent(node) is not None and len(rows):
            for leaf in tree.leaves(node):
                columns[leaf] = columns[leaf].copy()
                columns[leaf][rows] = codes.cards[leaf]
    return Codes.from_columns(columns, codes.cards, codes.weights)


def _merged_below(
    tree: LatentTree, codes: Codes, node: int, rows: NDArray[np.intp]
) -> Codes:
    """The features below a node and the class in some rows, equal rows merged."""
    members = [*tree.leaves(node), tree.n_features]
    merged, _ = merged_rows(
        Codes.from_columns(
            [codes.column(v)[rows] for v in members],
            [codes.cards[v] for v in members],
            None if codes.unit_weights else codes.weights[rows],
        )
    )
    return merged


def _rows_of_child(
    known: Table,
    blocks: Sequence[SharedMessages],
    classes: NDArray[np.integer[Any]],
    weights: Table,
) -> _ChildRows:
    """Rows of some blocks, added to those of each class (row) and state (column).

    Equal messages of all blocks are merged, and put into an order of their own, so that
    no sum depends on how the rows were cut into blocks.
    """
    known = np.array(known, dtype=np.float64)
    card = known.shape[1]
    if not blocks:
        return _ChildRows(known, [])
    messages = np.concatenate([block.unknown for block in blocks])
    # As bytes, which sort faster than rows of numbers.
    cells = messages.view(np.dtype((np.void, messages.itemsize * card))).ravel()
    _, first, merged = np.unique(cells, return_index=True, return_inverse=True)
    of_kind = np.concatenate([np.arange(card), card + merged])
    ends = np.cumsum([len(block.unknown) for block in blocks])
    kinds = np.concatenate(
        [
            of_kind[np.where(block.kinds < card, block.kinds, block.kinds + start)]
            for block, start in zip(blocks, (0, *ends.tolist()))
        ]
    )
    keys, place = np.unique(
        classes.astype(np.intp) * (card + len(first)) + kinds, return_inverse=True
    )
    sums = exact_sums(place, weights)
    codes, kinds = np.divmod(keys, card + len(first))
    is_known = kinds < card
    known[codes[is_known], kinds[is_known]] += sums[is_known]
    unknown = []
    for code in np.unique(codes[~is_known]).tolist():
        own = ~is_known & (codes == code)
        rows = messages[first[kinds[own] - card]]
        unknown.append(_UnknownStates(code, rows, sums[own]))
    return _ChildRows(known, unknown)
