"""Distributions of a network, the rows behind them, and class scores under draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.distribution import CPD, DeterministicCPD, GroupedTableCPD
from bayleaf.cpds.local_structure import distribution_indices, with_distributions
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.inference.factors import Eliminator, Factor
from bayleaf.models.support.support_counts import SupportCounts

Floats = NDArray[np.float64]


def distributions(cpd: CPD) -> Floats:
    """All distributions of a child along the last axis: of a tree, one a leaf."""
    return cpd.probabilities if isinstance(cpd, DeterministicCPD) else cpd.distributions


def family_rows(cpds: Sequence[CPD], source: CountSource) -> Iterator[Floats]:
    """Rows behind each distribution of some variables given their parents."""
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
    places = distribution_indices(cpd, codes)
    counted = (places >= 0) & ~codes.missing(cpd.child)
    shape = distributions(cpd).shape[:-1]
    size = int(np.prod(shape, dtype=int))
    weights = codes.weights[counted]
    found: Floats = np.bincount(places[counted], weights, size).astype(np.float64)
    if isinstance(cpd, TreeCPD):
        # Leaves that were merged are one distribution.
        leaves = [id(leaf) for leaf, _ in cpd.leaves()]
        _, numbers = np.unique(leaves, return_inverse=True)
        found = np.bincount(numbers, found).astype(np.float64)[numbers]
    return found.reshape(shape)


def without_sums(dag: DAG, codes: Codes) -> NDArray[np.bool_]:
    """Rows whose missing features may be left out, as nothing else needs them.

    False where one is a parent of something known.
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
    cpds: Sequence[CPD],
    support: SupportCounts,
    codes: Codes,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Log scores of rows without sums under draws, (n_draws, n_rows, n_classes).

    Distributions that do not know of the class cancel and are not drawn.
    """
    class_index = codes.n_variables
    n_classes = cpds[class_index].cards[-1]
    scores = np.zeros((n_draws, codes.n_rows, n_classes))
    for position, cpd in enumerate(cpds):
        if class_index not in cpd.family:
            continue
        if _is_certain(cpd, class_index, support):
            scores += cpd.log_probabilities()
            continue
        places, states = touched(cpd, codes, n_classes)
        used = (places >= 0) & (states < cpd.cards[-1])
        distinct, own = np.unique(places[used], return_inverse=True)
        strengths = support.strengths(position).ravel()
        means = distributions(cpd).reshape(-1, cpd.cards[-1])[distinct]
        logs = log_dirichlet(means, strengths[distinct], n_draws, rng)
        scores[:, used] += logs[:, own, states[used]]
    return scores


def touched(
    cpd: CPD, codes: Codes, n_classes: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Distribution and child's state that rows use under each class, (rows, classes).

    A place is -1 where a parent is missing.
    """
    places = np.empty((codes.n_rows, n_classes), dtype=np.intp)
    states = np.empty_like(places)
    for label in range(n_classes):
        full = codes.with_column(np.full(codes.n_rows, label), n_classes)
        places[:, label] = distribution_indices(cpd, full)
        states[:, label] = full.column(cpd.child)
    return places, states


def drawn_cpds(
    cpds: Sequence[CPD], support: SupportCounts, rng: np.random.Generator
) -> tuple[CPD, ...]:
    """Distributions of the same forms, drawn around those of a network, class last."""
    return tuple(
        cpd
        if _is_certain(cpd, cpds[-1].child, support)
        else _drawn(cpd, support.strengths(position), rng)
        for position, cpd in enumerate(cpds)
    )


def _is_certain(cpd: CPD, class_index: int, support: SupportCounts) -> bool:
    """Whether it is the class prior, given and not learned."""
    is_prior = cpd.child == class_index and not cpd.parents
    return is_prior and not support.prior_is_learned


def _drawn(cpd: CPD, strengths: Floats, rng: np.random.Generator) -> CPD:
    """A distribution of the same form with drawn probabilities."""
    means = distributions(cpd)
    flat = means.reshape(-1, cpd.cards[-1])
    rows = np.exp(log_dirichlet(flat, strengths.ravel(), 1, rng)[0])
    if not isinstance(cpd, TreeCPD):
        return with_distributions(cpd, [rows.reshape(means.shape)])
    # Leaves that were merged are one distribution.
    leaves = {id(leaf): row for (leaf, _), row in zip(cpd.leaves(), rows, strict=True)}
    return with_distributions(cpd, list(leaves.values()))


@dataclass(frozen=True, eq=False)
class DrawnRow:
    """Drawn distributions of one row; each is drawn at its first use."""

    tables: Sequence[CPD]  # of features, the class prior last
    support: SupportCounts  # the training rows behind each
    domain: Domain  # features
    codes: Codes
    n_draws: int
    rng: np.random.Generator
    _factors: dict[int, Factor] = field(default_factory=dict)  # drawn so far

    @cached_property
    def _states(self) -> list[int | slice]:
        """State of each feature, all of them where it is missing; so of the class."""
        columns = [self.codes.column(v) for v in range(self.codes.n_variables)]
        states = [int(column[0]) for column in columns]
        known = zip(states, self.codes.cards, strict=True)
        return [*(s if s < card else slice(None) for s, card in known), slice(None)]

    @cached_property
    def _prior(self) -> Floats:
        """Log class prior of each draw, shape (n_draws * n_classes,)."""
        prior, place = self.tables[-1].probabilities, len(self.tables) - 1
        return self.support.log_priors(prior, place, self.n_draws, self.rng).ravel()

    def _factor(self, place: int) -> Factor:
        """A drawn table at the row's states; its first axis is draws times classes."""
        if place in self._factors:
            return self._factors[place]
        cpd, class_index = self.tables[place], self.codes.n_variables
        given = tuple(self._states[v] for v in cpd.parents)
        means = cpd.probabilities[given]
        strengths = self.support.strengths(place)[given]
        state = self._states[cpd.child]
        if isinstance(state, int):
            # Alone, one state's share of a Dirichlet distribution is a beta variate.
            own = means[..., state]
            means, state = np.stack([own, np.maximum(1.0 - own, 0.0)], axis=-1), 0
        logs = log_dirichlet(means, strengths, self.n_draws, self.rng)[..., state]
        axes = [v for v in cpd.family if isinstance(self._states[v], slice)]
        if class_index in axes:
            logs = np.moveaxis(logs, 1 + axes.index(class_index), 1)
            axes.remove(class_index)
        else:
            logs = np.repeat(logs[:, None], self.tables[-1].cards[-1], axis=1)
        logs = logs.reshape(-1, *logs.shape[2:])
        return self._factors.setdefault(place, Factor(cpd.child, tuple(axes), logs))

    def log_scores(self, member: Sequence[int], max_table_cells: int) -> Floats:
        """Log joint by draw and class of a network, which is a table a variable."""
        class_index = self.codes.n_variables
        dag = DAG(tuple(self.tables[place].parents for place in member))
        needed = {v for v in range(class_index) if isinstance(self._states[v], int)}
        factors = []
        # A missing feature matters to those of its descendants that are known.
        for child in reversed(dag.order):
            if child in needed:
                needed.update(set(dag.parents[child]) - {class_index})
                factors.append(self._factor(member[child]))
        scores = self._prior.copy()
        for factor in factors:
            if not factor.variables:
                scores += factor.log_values
        eliminator = Eliminator(factors, self.domain, max_table_cells)
        eliminator.add_missing(self.codes, scores[:, None])
        return scores.reshape(self.n_draws, -1)
