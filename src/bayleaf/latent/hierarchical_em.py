"""Tables below the class of a latent tree, from rows with missing cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import TableCounts
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.latent.hierarchical_parameters import cell_counts, class_children_codes
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latents.latent_messages import LatentMessages, SharedMessages
from bayleaf.progress import Work

Table = NDArray[np.float64]

# Those of `learn_parameters`: HUGIN's tolerance, and the most steps.
_TOLERANCE = 1e-4
_MOST_STEPS = 200


def learned_by_em(
    model: HierarchicalNaiveBayesModel,
    codes: Codes,
    smoothing: Smoothing,
    n_jobs: int,
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
    constant = _log_product(_class_counts(rows), model.prior)
    learned: dict[int, _ChildRows] = {}
    children = _child_rows(model, rows, n_jobs)
    for place, (node, child) in enumerate(zip(tree.class_children, children)):
        is_irrelevant = tree.latent(node) is not None and tree.cards[node] == 1
        if is_irrelevant or node not in model.used_children:
            constant += child.expect(model.class_tables[node])[1]
        else:
            learned[place] = child
    expected = _climbed(list(learned.values()), constant)
    tables = list(model.tables)
    for place, counts in zip(learned, expected, strict=True):
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
    """Messages that one class child gets from all rows.

    `log_scale` (nats) is the part of the rows' log-likelihood that does not depend on
    the child's table: of the features below, given its state.
    """

    known: Table  # (n_classes, card), weight of rows with a known state
    unknown: Sequence[_UnknownStates]  # the other rows
    log_scale: float

    def expect(self, table: Table) -> tuple[Table, float]:
        """Expected counts under P(child | class), and the log-likelihood (nats)."""
        expected = self.known.copy()
        log_likelihood = self.log_scale + _log_product(self.known, table)
        for rows in self.unknown:
            distribution = table[rows.class_code]
            likelihoods = rows.messages @ distribution
            ratios = np.zeros(len(likelihoods))
            np.divide(rows.weights, likelihoods, out=ratios, where=likelihoods > 0)
            expected[rows.class_code] += distribution * (ratios @ rows.messages)
            log_likelihood += _log_product(rows.weights, likelihoods)
        return expected, log_likelihood


def _climbed(children: Sequence[_ChildRows], constant: float) -> list[Table]:
    """Expected counts of class children where expectation maximisation ends.

    It ends on a relative change of the whole log-likelihood, hence the `constant` part
    that no step changes (nats).
    """
    tables = [
        np.full(child.known.shape, 1.0 / child.known.shape[1]) for child in children
    ]
    # The start counts as one row of each class.
    priors = [table.copy() for table in tables]
    objective = -np.inf
    work = Work()
    for step in range(_MOST_STEPS + 1):
        work.say(f"step {step} of at most {_MOST_STEPS}")
        found = [child.expect(table) for child, table in zip(children, tables)]
        before, objective = objective, constant + sum(log for _, log in found)
        objective += sum(map(_log_product, priors, tables))
        if abs(objective - before) <= _TOLERANCE * abs(objective):
            break
        totals = [
            counts + prior for (counts, _), prior in zip(found, priors, strict=True)
        ]
        tables = [total / total.sum(axis=1, keepdims=True) for total in totals]
    return [counts for counts, _ in found]


def _child_rows(
    model: HierarchicalNaiveBayesModel, codes: Codes, n_jobs: int
) -> list[_ChildRows]:
    """The messages that each class child gets from the rows."""
    tree = model.tree
    messages = LatentMessages(tree, model.cell_distributions)
    incomplete = [_incomplete_rows(tree, codes, node) for node in tree.class_children]
    complete = _complete_below(tree, codes, incomplete)
    flat = TableCounts(
        class_children_codes(tree, complete),
        n_jobs,
        max_table_cells=model.max_table_cells,
    )
    families = [(flat.class_index, child) for child in range(flat.class_index)]
    logs = [
        _log_product(counts, cells)
        for counts, cells in zip(
            cell_counts(tree, complete, n_jobs), model.cell_distributions, strict=True
        )
    ]
    found = []
    for node, rows, known in zip(
        tree.class_children, incomplete, flat.family_counts(families)
    ):
        known = np.array(known, dtype=np.float64)
        below = _merged_below(tree, codes, node, rows)
        log_scale = sum(logs[position] for position in messages.positions_below(node))
        unknown: list[_UnknownStates] = []
        for part, shared in messages.shared(node, _columns(tree, below, node)):
            own = below.rows(part)
            log_scale += float(np.dot(own.weights, shared.log_scales))
            known += _known(shared, own, known.shape)
            unknown += _unknown(shared, own)
        found.append(_ChildRows(known, unknown, log_scale))
    return found


def _incomplete_rows(tree: LatentTree, codes: Codes, node: int) -> NDArray[np.intp]:
    """Rows that miss some feature below a node."""
    absent = [codes.missing(leaf) for leaf in tree.leaves(node)]
    return np.flatnonzero(np.logical_or.reduce(absent))


def _complete_below(
    tree: LatentTree, codes: Codes, incomplete: Sequence[NDArray[np.intp]]
) -> Codes:
    """Codes in which incomplete rows miss all features below the class child.

    So counts of the child, and of cells below it, are those of the other rows.
    """
    columns = [codes.column(v) for v in range(codes.n_variables)]
    for node, rows in zip(tree.class_children, incomplete, strict=True):
        if tree.latent(node) is not None and len(rows):
            for leaf in tree.leaves(node):
                columns[leaf] = columns[leaf].copy()
                columns[leaf][rows] = codes.cards[leaf]
    weights = None if codes.unit_weights else codes.weights
    return Codes.from_columns(columns, codes.cards, weights)


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


def _columns(
    tree: LatentTree, below: Codes, node: int
) -> dict[int, NDArray[np.uint8] | NDArray[np.uint16]]:
    """Codes of the features below a node by feature."""
    return {leaf: below.column(v) for v, leaf in enumerate(tree.leaves(node))}


def _known(shared: SharedMessages, below: Codes, shape: tuple[int, int]) -> Table:
    """Weight of the rows whose messages leave one state, by class and state."""
    chosen = shared.kinds < shape[1]
    own = below.column(below.n_variables - 1)[chosen].astype(np.intp)
    keys = own * shape[1] + shared.kinds[chosen]
    counts = np.bincount(keys, below.weights[chosen], minlength=shape[0] * shape[1])
    return np.asarray(counts.reshape(shape), dtype=np.float64)


def _unknown(shared: SharedMessages, below: Codes) -> Iterator[_UnknownStates]:
    """The messages that leave several states possible, by class."""
    n_unknown, card = shared.unknown.shape
    chosen = shared.kinds >= card
    own = below.column(below.n_variables - 1)[chosen].astype(np.intp)
    keys = own * n_unknown + shared.kinds[chosen] - card
    distinct, place = np.unique(keys, return_inverse=True)
    weights = np.zeros(len(distinct))
    weights += np.bincount(place, below.weights[chosen], minlength=len(distinct))
    classes, starts = np.unique(distinct // n_unknown, return_index=True)
    parts = np.split(distinct % n_unknown, starts[1:]), np.split(weights, starts[1:])
    for code, messages, own_weights in zip(classes.tolist(), *parts):
        yield _UnknownStates(code, shared.unknown[messages], own_weights)


def _class_counts(codes: Codes) -> Table:
    """Weight of each class, the last variable."""
    last = codes.n_variables - 1
    counts = np.bincount(codes.column(last), codes.weights, codes.cards[last])
    return np.asarray(counts, dtype=np.float64)


def _log_product(counts: Table, values: Table) -> float:
    """Sum of counts times logarithms of values (nats).

    Values of zero are left out: a class whose prior is said to be zero is learned too.
    """
    counted = (counts > 0) & (values > 0)
    return float(np.dot(counts[counted], np.log(values[counted])))
