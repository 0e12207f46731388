"""Class scores of complete rows under many draws of a model's tables at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD
from bayleaf.cpds.table import TableCPD
from bayleaf.cpds.tree import Leaf, Split, TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.explain.dirichlet import log_dirichlet
from bayleaf.models.class_network import ClassNetwork
from bayleaf.models.evidence_rows import (
    EvidenceRows,
    distribution_places,
    distributions,
)
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel

Floats = NDArray[np.float64]


def without_sums(model: ClassNetwork, codes: Codes) -> NDArray[np.bool_]:
    """Rows whose missing features may be left out, since nothing else asks for them.

    Returns
    -------
    ndarray of shape (n_rows,)
        False where a missing feature has a parent's place for something that is known.
    """
    parents = model.network.dag.parents
    barren = [codes.missing(feature) for feature in range(codes.n_variables)]
    barren.append(np.zeros(codes.n_rows, dtype=bool))
    simple = np.ones(codes.n_rows, dtype=bool)
    for child in reversed(model.network.dag.order):
        for parent in parents[child]:
            if parent < codes.n_variables:
                asked = codes.missing(parent) & ~barren[child]
                barren[parent] = barren[parent] & ~asked
                simple &= ~asked
    return simple


def network_scores(
    model: ClassNetwork,
    evidence: EvidenceRows,
    codes: Codes,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Log scores of rows without sums under draws, (n_draws, n_rows, n_classes).

    Distributions that do not know of the class cancel and are not drawn.
    """
    class_index = codes.n_variables
    n_classes = model.domain.cards[-1]
    scores = np.zeros((n_draws, codes.n_rows, n_classes))
    for position, cpd in enumerate(model.network.cpds):
        if class_index not in cpd.family:
            continue
        if cpd.child == class_index and not (cpd.parents or evidence.prior_is_learned):
            scores += cpd.log_probabilities()
            continue
        places, states = touched(cpd, codes, n_classes)
        used = (places >= 0) & (states < cpd.cards[-1])
        distinct, own = np.unique(places[used], return_inverse=True)
        strengths = evidence.strengths(position).ravel()
        logs = log_dirichlet(
            distributions(cpd)[distinct], strengths[distinct], n_draws, rng
        )
        scores[:, used] += logs[:, own, states[used]]
    return scores


def touched(
    cpd: CPD, codes: Codes, n_classes: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Distribution and child's state that rows use under each class, (rows, classes).

    A place is -1 where a parent is missing.
    """
    columns = [codes.column(feature) for feature in range(codes.n_variables)]
    places = np.empty((codes.n_rows, n_classes), dtype=np.intp)
    states = np.empty_like(places)
    for label in range(n_classes):
        full = [*columns, np.full(codes.n_rows, label)]
        places[:, label] = distribution_places(cpd, full)
        states[:, label] = full[cpd.child]
    return places, states


def hierarchical_scores(
    model: HierarchicalNaiveBayesModel,
    evidence: EvidenceRows,
    codes: Codes,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Log scores of rows whose class children are known or wholly missing."""
    columns = model.tree.node_codes(codes)
    scores = np.zeros((n_draws, codes.n_rows, len(model.prior)))
    scores += drawn_prior(model.prior, evidence, -1, n_draws, rng)[:, None]
    for position, node in enumerate(model.tree.class_children):
        if node not in model.used_children:
            continue
        table = model.tables[position]
        logs = log_dirichlet(table, evidence.strengths(position), n_draws, rng)
        padded = np.concatenate([logs, np.zeros((*logs.shape[:2], 1))], axis=2)
        scores += np.moveaxis(padded[:, :, columns[node]], 1, 2)
    return scores


def known_children(
    model: HierarchicalNaiveBayesModel, codes: Codes
) -> NDArray[np.bool_]:
    """Rows whose class children are known, or have nothing below that is."""
    columns = model.tree.node_codes(codes)
    simple = np.ones(codes.n_rows, dtype=bool)
    for node in model.used_children:
        known = columns[node] < model.tree.cards[node]
        absent = np.ones(codes.n_rows, dtype=bool)
        for leaf in model.tree.leaves(node):
            absent &= codes.missing(leaf)
        simple &= known | absent
    return simple


def drawn_prior(
    prior: Floats,
    evidence: EvidenceRows,
    table: int,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Log class priors, (n_draws, n_classes); the same each time if it was given."""
    if not evidence.prior_is_learned:
        with np.errstate(divide="ignore"):
            return np.tile(np.log(prior), (n_draws, 1))
    return log_dirichlet(prior, evidence.strengths(table), n_draws, rng)


def drawn_networks(
    model: ClassNetwork,
    evidence: EvidenceRows,
    n_draws: int,
    rng: np.random.Generator,
) -> Iterator[ClassNetwork]:
    """The model with other tables, drawn anew each time."""
    class_index = len(model.domain) - 1
    for _ in range(n_draws):
        cpds = [
            cpd
            if cpd.child == class_index
            and not (cpd.parents or evidence.prior_is_learned)
            else _drawn(cpd, evidence.strengths(position), rng)
            for position, cpd in enumerate(model.network.cpds)
        ]
        yield replace(model, network=replace(model.network, cpds=tuple(cpds)))


def _drawn(cpd: CPD, strengths: Floats, rng: np.random.Generator) -> CPD:
    """A distribution of the same form with drawn probabilities."""
    logs = log_dirichlet(distributions(cpd), strengths.ravel(), 1, rng)[0]
    rows = np.exp(logs)
    if isinstance(cpd, TreeCPD):
        leaves = [id(leaf) for leaf, _ in cpd.leaves()]
        return replace(cpd, root=_with_leaves(cpd.root, dict(zip(leaves, rows))))
    if isinstance(cpd, GroupedTableCPD):
        return replace(cpd, table=rows.reshape(cpd.table.shape))
    return TableCPD(cpd.family, rows.reshape(cpd.cards))


def _with_leaves(node: Leaf | Split, rows: dict[int, Floats]) -> Leaf | Split:
    """A tree of the same shape with other distributions."""
    if isinstance(node, Leaf):
        return Leaf(rows[id(node)])
    branches = tuple(_with_leaves(branch, rows) for branch in node.branches)
    return replace(node, branches=branches)
