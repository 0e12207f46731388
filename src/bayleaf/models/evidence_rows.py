"""How many training rows stand behind each distribution of a class model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.contexts import contexts
from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD, group_of_states
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    Lidstone,
    MEstimate,
    Smoothing,
)
from bayleaf.cpds.tree import TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.models.averaged_kdb import AveragedKDBModel
from bayleaf.models.class_model import ClassModel
from bayleaf.models.class_network import ClassNetwork
from bayleaf.models.hierarchical_mixture import (
    HierarchicalMixtureModel,
    log_gate_weights,
)
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_class import LatentClassModel
from bayleaf.models.one_dependence import AveragedOneDependenceModel
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]
Columns = Sequence[NDArray[np.integer[Any]]]


@dataclass(frozen=True, eq=False)
class EvidenceRows:
    """Weights of the training rows behind a model's distributions.

    Parameters
    ----------
    rows : tuple of ndarray
        One array a table, in an order that `evidence_shapes` tells; one weight a
        distribution. Rows that are shared out among components count in part.
    pseudo_rows : tuple of float
        For each table, what smoothing adds to a distribution, in rows.
    prior_is_learned : bool
        Whether the class prior was estimated; otherwise it is certain.
    """

    rows: tuple[Floats, ...]
    pseudo_rows: tuple[float, ...]
    prior_is_learned: bool

    __repr__ = brief_fields

    def strengths(self, table: int) -> Floats:
        """Rows and pseudo-rows behind each distribution of a table, at least 1."""
        return np.maximum(self.rows[table] + self.pseudo_rows[table], 1.0)


def count_evidence(
    model: ClassModel,
    source: CountSource,
    smoothing: Smoothing,
    *,
    prior_is_learned: bool = True,
) -> EvidenceRows:
    """Count the training rows behind each distribution of a model.

    Parameters
    ----------
    model : ClassModel
        The model.
    source : CountSource
        Counts of its training rows, the class last. Models with latent components,
        trees or groups look at the rows themselves.
    smoothing : Smoothing
        The rule of the tables; one of another kind than the library's is taken to add
        nothing.
    prior_is_learned : bool, default=True
        Whether the class prior was estimated.
    """
    if isinstance(model, AveragedKDBModel):
        # The tables of this kind are counts themselves.
        return EvidenceRows((), (), prior_is_learned)
    rows = tuple(np.asarray(r, dtype=np.float64) for r in _counter(model)(source))
    pseudo = tuple(pseudo_rows(smoothing, card) for card in _cards(model))
    return EvidenceRows(rows, pseudo, prior_is_learned)


def pseudo_rows(smoothing: Smoothing, card: int) -> float:
    """What a smoothing rule adds to a distribution over some states, in rows."""
    if isinstance(smoothing, Lidstone):
        return float(smoothing.alpha * card)
    if isinstance(smoothing, Dirichlet):
        return float(smoothing.equivalent_sample_size)
    if isinstance(smoothing, MEstimate | Backoff):
        return float(smoothing.m)
    return 0.0


def evidence_shapes(model: ClassModel) -> list[tuple[int, ...]]:
    """Shapes of the arrays of `EvidenceRows.rows` for a model.

    A network has one array a distribution, over the parents' states, a tree's leaves
    or a table's groups. A hierarchical naive Bayes model has one over the classes for
    each class child, then one for the prior. Averaged one-dependence: the prior, then
    (features, classes) and (children, classes, positions). A mixture within classes:
    the prior, components (classes,), tables (features, classes, components). A
    hierarchical mixture: for each bank the priors (nodes,) and the tables (features,
    nodes, outputs). Averaged KDB keeps its counts and has none.
    """
    n_features, n_classes = len(model.domain) - 1, model.domain.cards[-1]
    if isinstance(model, ClassNetwork):
        return [_cpd_shape(cpd) for cpd in model.network.cpds]
    if isinstance(model, HierarchicalNaiveBayesModel):
        return [*[(n_classes,)] * len(model.tables), ()]
    if isinstance(model, AveragedOneDependenceModel):
        n_positions = model.parent_probabilities.shape[1]
        return [(), (n_features, n_classes), (n_features, n_classes, n_positions)]
    if isinstance(model, LatentClassModel):
        return [(), (n_classes,), (n_features, *model.weights.shape)]
    if isinstance(model, HierarchicalMixtureModel):
        return [
            shape
            for bank in _banks(model)
            for shape in ((bank.n_nodes,), (n_features, bank.n_nodes, bank.n_outputs))
        ]
    return []


def _cards(model: ClassModel) -> list[int]:
    """States of the distributions of each table; the mean where these differ."""
    *features, n_classes = model.domain.cards
    mean = round(float(np.mean(features)))
    if isinstance(model, ClassNetwork):
        return [cpd.cards[-1] for cpd in model.network.cpds]
    if isinstance(model, HierarchicalNaiveBayesModel):
        return [*(table.shape[1] for table in model.tables), n_classes]
    if isinstance(model, AveragedOneDependenceModel):
        return [n_classes, mean, mean]
    if isinstance(model, LatentClassModel):
        return [n_classes, model.n_components, mean]
    assert isinstance(model, HierarchicalMixtureModel)
    return [card for bank in _banks(model) for card in (bank.n_outputs, mean)]


def _counter(model: ClassModel) -> Callable[[CountSource], Iterator[Floats]]:
    """What counts the rows behind a model of this kind."""
    if isinstance(model, ClassNetwork):
        return lambda source: _network_rows(model, source)
    if isinstance(model, HierarchicalNaiveBayesModel):
        return lambda source: _hierarchical_rows(model, source)
    if isinstance(model, AveragedOneDependenceModel):
        return lambda source: _one_dependence_rows(model, source)
    if isinstance(model, LatentClassModel):
        return lambda source: _component_rows(model, source.rows())
    assert isinstance(model, HierarchicalMixtureModel)
    return lambda source: _mixture_rows(model, source.rows())


# ---- networks


def _cpd_shape(cpd: CPD) -> tuple[int, ...]:
    """One place a distribution."""
    if isinstance(cpd, TreeCPD):
        return (cpd.n_leaves,)
    if isinstance(cpd, GroupedTableCPD):
        return cpd.table.shape[:-1]
    return cpd.cards[:-1]


def distribution_places(cpd: CPD, columns: Columns) -> NDArray[np.intp]:
    """Position of the distribution that each row uses, in `distributions`.

    Parameters
    ----------
    cpd : CPD
        The distribution of a child given its parents.
    columns : sequence of ndarray of shape (n_rows,)
        Codes of all variables; -1 comes back where a parent is missing.
    """
    n_rows = len(columns[0])
    own = [np.asarray(columns[parent], dtype=np.intp) for parent in cpd.parents]
    cards = cpd.cards[:-1]
    known = np.ones(n_rows, dtype=bool)
    for column, card in zip(own, cards, strict=True):
        known &= column < card
    if isinstance(cpd, TreeCPD):
        places = _leaf_places(cpd, own)
    else:
        places = np.zeros(n_rows, dtype=np.intp)
        for position, (column, card) in enumerate(zip(own, cards, strict=True)):
            size = card
            if isinstance(cpd, GroupedTableCPD):
                groups = cpd.groups[position]
                of_state = np.append(group_of_states(groups, card), 0)
                size, column = len(groups), of_state[column]
            places = places * size + column
    return np.where(known, places, -1)


def _leaf_places(cpd: TreeCPD, own: Columns) -> NDArray[np.intp]:
    """Number of the leaf, from left to right, that each row comes to."""
    known = contexts(cpd)
    places = np.full(len(own[0]) if own else 1, 0, dtype=np.intp)
    for leaf in range(len(known.rows)):
        inside = np.ones(len(places), dtype=bool)
        for column, allowed in zip(own, known.allowed, strict=True):
            inside &= np.append(allowed[leaf], False)[column]
        places[inside] = leaf
    return places


def distributions(cpd: CPD) -> Floats:
    """All distributions of a child, shape (n_distributions, child card)."""
    if isinstance(cpd, TreeCPD):
        return contexts(cpd).rows
    table = cpd.table if isinstance(cpd, GroupedTableCPD) else cpd.probabilities
    return np.asarray(table).reshape(-1, cpd.cards[-1])


def _network_rows(model: ClassNetwork, source: CountSource) -> Iterator[Floats]:
    """Rows behind each distribution of a network."""
    cpds = model.network.cpds
    plain = [c for c in cpds if not isinstance(c, TreeCPD | GroupedTableCPD)]
    tables = dict(
        zip(
            [cpd.child for cpd in plain],
            source.family_counts([cpd.family for cpd in plain]),
            strict=True,
        )
    )
    for cpd in cpds:
        if cpd.child in tables:
            yield tables[cpd.child].sum(axis=-1)
        else:
            yield _structured_rows(cpd, source.rows())


def _structured_rows(cpd: CPD, codes: Codes) -> Floats:
    """Rows behind each leaf of a tree or row of a grouped table."""
    columns = [codes.column(v) for v in range(codes.n_variables)]
    places = distribution_places(cpd, columns)
    counted = (places >= 0) & ~codes.missing(cpd.child)
    shape = _cpd_shape(cpd)
    size = int(np.prod(shape, dtype=int))
    weights = codes.weights[counted]
    found: Floats = np.bincount(places[counted], weights, size).astype(np.float64)
    if isinstance(cpd, TreeCPD):
        # Leaves that were merged are one distribution.
        leaves = [id(leaf) for leaf, _ in cpd.leaves()]
        _, numbers = np.unique(leaves, return_inverse=True)
        found = np.bincount(numbers, found).astype(np.float64)[numbers]
    return found.reshape(shape)


# ---- latent variables below the class


def _hierarchical_rows(
    model: HierarchicalNaiveBayesModel, source: CountSource
) -> Iterator[Floats]:
    """Rows of each class in which a class child is known, then all rows."""
    codes = source.rows()
    columns = model.tree.node_codes(codes)
    n_classes = codes.cards[-1]
    for node in model.tree.class_children:
        known = columns[node] < model.tree.cards[node]
        yield _by_state(codes, n_classes, codes.weights * known)
    yield np.asarray(codes.weights.sum())


def _by_state(codes: Codes, n_classes: int, weights: Floats) -> Floats:
    """Weight of the rows of each class."""
    own = codes.column(codes.n_variables - 1)
    return np.bincount(own, weights, n_classes).astype(np.float64)


# ---- averages and mixtures


def _one_dependence_rows(
    model: AveragedOneDependenceModel, source: CountSource
) -> Iterator[Floats]:
    """All rows, those that know a feature, and those that know a pair."""
    n_features, n_classes = len(model.domain) - 1, model.domain.cards[-1]
    features = range(n_features)
    yield np.asarray(source.class_counts().sum())
    singles = source.family_counts([(n_features, feature) for feature in features])
    yield np.stack([table.sum(axis=1) for table in singles])
    pairs = source.pair_counts(features, features)
    found = np.zeros((n_features, n_classes, model.parent_probabilities.shape[1]))
    for parent in features:
        first = int(model.offsets[parent])
        span = slice(first, first + model.domain.cards[parent])
        for child in features:
            if child != parent:
                found[child, :, span] = pairs.table(parent, child).sum(axis=2)
    yield found


def _component_rows(model: LatentClassModel, codes: Codes) -> Iterator[Floats]:
    """All rows, those of each class, those of each component that know a feature."""
    n_classes = len(model.prior)
    own = codes.column(codes.n_variables - 1).astype(np.intp)
    features = codes.without_last()
    shares = model.component_posteriors(features)[np.arange(codes.n_rows), own]
    shares *= codes.weights[:, None]
    classes = np.zeros((n_classes, codes.n_rows))
    classes[own, np.arange(codes.n_rows)] = 1.0
    yield np.asarray(codes.weights.sum())
    yield _by_state(codes, n_classes, codes.weights)
    yield np.stack(
        [
            (classes * ~features.missing(feature)) @ shares
            for feature in range(features.n_variables)
        ]
    )


def _banks(model: HierarchicalMixtureModel) -> list[NaiveBayesBank]:
    """All banks, those of the first mixture first, each from the root on."""
    return [bank for banks in model.starts for bank in banks]


def _mixture_rows(model: HierarchicalMixtureModel, codes: Codes) -> Iterator[Floats]:
    """Rows that come to each gate and expert, shared out by what is known of them."""
    features = codes.without_last()
    own = codes.column(codes.n_variables - 1).astype(np.intp)
    known = [~features.missing(feature) for feature in range(features.n_variables)]
    every = np.arange(codes.n_rows)
    for banks in model.starts:
        shares = _expert_shares(banks, features, own) * codes.weights[:, None]
        for bank in banks:
            parts = shares.reshape(codes.n_rows, bank.n_nodes, -1)
            yield parts.sum(axis=(0, 2))
            if bank is banks[-1]:
                outputs = np.zeros((codes.n_rows, bank.n_nodes, bank.n_outputs))
                outputs[every, :, own] = parts[:, :, 0]
            else:
                outputs = parts.reshape(
                    codes.n_rows, bank.n_nodes, bank.n_outputs, -1
                ).sum(axis=3)
            yield np.stack([outputs[rows].sum(axis=0) for rows in known])


def _expert_shares(
    banks: tuple[NaiveBayesBank, ...], features: Codes, own: NDArray[np.intp]
) -> Floats:
    """How far each row, class included, belongs to each expert, (n_rows, n_experts)."""
    right = banks[-1].log_posteriors(features)[np.arange(len(own)), :, own]
    shares = log_gate_weights(banks, features) + right
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
