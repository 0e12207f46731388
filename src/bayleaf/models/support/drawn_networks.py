"""A network's distributions drawn anew, and class scores under many such draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD
from bayleaf.cpds.table import TableCPD
from bayleaf.cpds.tree import Leaf, Split, TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.evidence_rows import EvidenceRows
from bayleaf.models.support.family_rows import distribution_places, distributions

Floats = NDArray[np.float64]


def without_sums(dag: DAG, codes: Codes) -> NDArray[np.bool_]:
    """Rows whose missing features may be left out, since nothing else asks for them.

    Returns
    -------
    ndarray of shape (n_rows,)
        False where a missing feature has a parent's place for something that is known.
    """
    parents = dag.parents
    barren = [codes.missing(feature) for feature in range(codes.n_variables)]
    barren.append(np.zeros(codes.n_rows, dtype=bool))
    simple = np.ones(codes.n_rows, dtype=bool)
    for child in reversed(dag.order):
        for parent in parents[child]:
            if parent < codes.n_variables:
                asked = codes.missing(parent) & ~barren[child]
                barren[parent] = barren[parent] & ~asked
                simple &= ~asked
    return simple


def network_scores(
    network: BayesianNetwork,
    evidence: EvidenceRows,
    codes: Codes,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Log scores of rows without sums under draws, (n_draws, n_rows, n_classes).

    Distributions that do not know of the class cancel and are not drawn.
    """
    class_index = codes.n_variables
    n_classes = network.domain.cards[-1]
    scores = np.zeros((n_draws, codes.n_rows, n_classes))
    for position, cpd in enumerate(network.cpds):
        if class_index not in cpd.family:
            continue
        if _is_certain(network, cpd, evidence):
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


def drawn_network(
    network: BayesianNetwork, evidence: EvidenceRows, rng: np.random.Generator
) -> BayesianNetwork:
    """The network with other distributions, drawn around its own."""
    cpds = tuple(
        cpd
        if _is_certain(network, cpd, evidence)
        else _drawn(cpd, evidence.strengths(position), rng)
        for position, cpd in enumerate(network.cpds)
    )
    return replace(network, cpds=cpds)


def _is_certain(network: BayesianNetwork, cpd: CPD, evidence: EvidenceRows) -> bool:
    """Whether it is the class prior, given and not learned."""
    is_prior = cpd.child == len(network.domain) - 1 and not cpd.parents
    return is_prior and not evidence.prior_is_learned


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
