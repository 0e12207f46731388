"""The mean of several networks' joint distributions over the same variables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, shared_family_counts
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores, sum_out
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.support.drawn_networks import DrawnRow, drawn_cpds, touched
from bayleaf.models.support.support_counts import (
    Fact,
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.models.texts.picture import (
    PicturedGraph,
    WeightedArc,
    class_over_features,
    pair_arcs,
    turned,
)
from bayleaf.scoring.terms import LogSum, Term
from bayleaf.wording import size_text

Floats = NDArray[np.float64]

# Rows scored together: each holds one log joint a class and network.
_BLOCK_CELLS = 1 << 22
# More networks than this take too long to measure their arcs for a picture.
_MOST_MEASURED = 500
# Cells of a joint table beyond which its features are not measured.
_MOST_CELLS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class AveragedNetworksModel(ClassModel):
    """Class scores from the mean of the joint distributions of several networks.

    Networks share tables: each names, for every variable, one of those in `tables`.

    Parameters
    ----------
    domain : Domain
        Features in the order of the codes, then the class.
    tables : tuple of TableCPD
        Distributions of features, each of which at least one network uses, and the
        prior of the class last.
    members : ndarray of shape (n_networks, n_variables), dtype int64
        Position in `tables` of the distribution of each variable in each network.
    max_table_cells : int, default=20_000_000
        Largest table that summing out missing features may build.

    Raises
    ------
    ValueError
        If there is no network, or one names what is no table of a variable.
    """

    domain: Domain
    tables: tuple[TableCPD, ...]
    members: NDArray[np.int64]
    max_table_cells: int = 20_000_000

    _TABLES_ARE = "has a table in each of several networks, none of its own"

    def __post_init__(self) -> None:
        n_variables, n_tables = len(self.domain), len(self.tables)
        used = np.zeros(n_tables, dtype=bool)
        fits = self.members.shape == (len(self.members), n_variables) and n_tables
        if not fits or not len(self.members) or self.members.min() < 0:
            raise ValueError("there should be networks that name a table a variable")
        children = np.array([table.child for table in self.tables])
        if (
            self.members.max() >= n_tables
            or (children[self.members] != np.arange(n_variables)).any()
        ):
            raise ValueError("a network names what is no table of a variable")
        used[self.members] = True
        one_prior = (self.members[:, -1] == n_tables - 1).all()
        if not used.all() or not one_prior or self.tables[-1].parents:
            raise ValueError(
                "every table should be in use, and the last the prior of the class"
            )

    @classmethod
    def from_networks(
        cls,
        domain: Domain,
        networks: Iterable[Sequence[TableCPD]],
        max_table_cells: int,
    ) -> Self:
        """Put networks together; what is the same object is one table.

        Parameters
        ----------
        domain : Domain
            Features, then the class.
        networks : iterable of sequence of TableCPD
            Tables of each network, one a variable in order, all with the same prior.
        max_table_cells : int
            Largest table that summing out missing features may build.
        """
        chosen = [[*network] for network in networks]
        tables = {id(table): table for network in chosen for table in network[:-1]}
        tables |= {id(network[-1]): network[-1] for network in chosen}
        places = {key: place for place, key in enumerate(tables)}
        members = [[places[id(table)] for table in network] for network in chosen]
        return cls(domain, tuple(tables.values()), np.array(members), max_table_cells)

    def check_content(self) -> None:
        """Raise ValueError unless the members are networks of distributions."""
        for network in self.networks:
            network.network.check_content()

    @cached_property
    def networks(self) -> tuple[NetworkModel, ...]:
        """The networks, each a classifier of its own."""
        found = []
        for member in self.members.tolist():
            cpds = tuple(self.tables[place] for place in member)
            dag = DAG(tuple(cpd.parents for cpd in cpds))
            network = BayesianNetwork(self.domain, dag, cpds)
            found.append(NetworkModel(network, self.max_table_cells))
        return tuple(found)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, those of shared tables once."""
        return sum(table.n_parameters for table in self.tables)

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, shape (n_classes,)."""
        return self.tables[-1].probabilities

    @property
    def remarks(self) -> tuple[str, ...]:
        """How many networks there are, and what their tables take."""
        n_bytes = sum(table.probabilities.nbytes for table in self.tables)
        return (
            f"an average of {len(self.members)} networks",
            f"its tables take {size_text(n_bytes)} of memory",
        )

    log_likelihood_scope = (
        "observed families of the training rows, mean over the networks"
    )

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Arcs of all networks, by child, those from the class first."""
        found = {(parent, cpd.child) for cpd in self.tables for parent in cpd.parents}
        class_index = len(self.domain) - 1
        return sorted(found, key=lambda arc: (arc[1], arc[0] != class_index, arc[0]))

    def with_class_prior(self, class_prior: Floats) -> Self:
        """Return the same model under another class prior, shape (n_classes,)."""
        prior = TableCPD((len(self.domain) - 1,), class_prior)
        return replace(self, tables=(*self.tables[:-1], prior))

    @cached_property
    def picture(self) -> PicturedGraph:
        """The class over all features, and pairs by what the two share."""
        members = self.members.tolist()
        arcs: list[WeightedArc] = []
        if len(members) <= _MOST_MEASURED:
            arcs = _shared_arcs([[self.tables[k] for k in own] for own in members])
            arcs = turned(arcs, self.arcs)
        return class_over_features(
            self.domain.names,
            f"an average of {len(members)} networks, each with arcs of its own",
            arcs,
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """The log of the mean over the networks."""
        networks = (model.network for model in self.networks)
        members = tuple(sum_out(network, network.dag.order) for network in networks)
        return (LogSum(networks=members),)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log of the mean joint probability of each class and the observed features.

        Missing features are summed out of each network exactly; ValueError if that
        needs a table above `max_table_cells`.
        """
        n_classes = len(self.class_prior)
        block = max(1, _BLOCK_CELLS // (n_classes * len(self.members)))
        scores = np.empty((n_classes, codes.n_rows))
        for start in range(0, codes.n_rows, block):
            rows = slice(start, start + block)
            scores[:, rows] = log_sum_exp(self._member_scores(codes.rows(rows)), axis=0)
        scores -= np.log(len(self.members))
        return scores.T

    def _member_scores(self, codes: Codes) -> Floats:
        """Log joint of each network, shape (n_networks, n_classes, n_rows)."""
        return np.stack([model.class_log_scores(codes).T for model in self.networks])

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The ratio of two sums is split among the networks by logarithmic-mean weights,
        and each network's log-odds by its own families.
        """
        rows = np.arange(codes.n_rows)
        members = self._member_scores(codes)
        weights = logarithmic_mean_weights(
            members[:, target, rows], members[:, against, rows]
        )
        prior = np.zeros(codes.n_rows)
        terms = np.zeros((codes.n_rows, codes.n_variables))
        for model, own in zip(self.networks, weights, strict=True):
            # Networks without weight may have no finite terms.
            used = np.flatnonzero(own)
            parts = model.contributions(codes.rows(used), target[used], against[used])
            prior[used] += own[used] * parts[0]
            terms[used] += own[used, None] * parts[1]
        return prior, terms

    @property
    def table_sizes(self) -> list[TableSize]:
        """One a table, over the states of its parents."""
        return [TableSize(cpd.cards[:-1], cpd.cards[-1]) for cpd in self.tables]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """Training rows behind each distribution of each table."""
        families = [cpd.family for cpd in self.tables[:-1]]
        for counts in shared_family_counts(source, families):
            yield counts.sum(axis=-1)
        yield np.asarray(source.class_counts().sum())

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the same model with drawn tables."""
        drawn = drawn_cpds(self.tables, support, rng)
        tables = tuple(cpd for cpd in drawn if isinstance(cpd, TableCPD))
        return replace(self, tables=tables)

    def sample_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores under draws of the distributions that each row uses."""
        scores = np.empty((n_draws, codes.n_rows, len(self.class_prior)))
        features = Domain(self.domain.variables[:-1])
        for row in range(codes.n_rows):
            single = codes.rows(slice(row, row + 1))
            drawn = DrawnRow(self.tables, support, features, single, n_draws, rng)
            largest = self.max_table_cells * n_draws
            members = [drawn.log_scores(m, largest) for m in self.members.tolist()]
            scores[:, row] = log_sum_exp(np.stack(members), axis=0)
        scores -= np.log(len(self.members))
        return scores

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Of each feature the distribution with the fewest rows in any network."""
        facts = RowFacts(self.domain, codes)
        n_classes = len(self.class_prior)
        shape = (codes.n_variables, codes.n_rows, n_classes)
        found = np.full(shape, np.inf)
        fewest = np.full(shape, -1)
        for position, cpd in enumerate(self.tables[:-1]):
            places, _ = touched(cpd, codes, n_classes)
            rows = support.rows[position].ravel()[places]
            less = (places >= 0) & (rows < found[cpd.child])
            found[cpd.child][less] = rows[less]
            fewest[cpd.child][less] = position

        def parents(feature: int, row: int, chosen: int) -> tuple[Fact, ...]:
            cpd = self.tables[fewest[feature, row, chosen]]
            own = [v for v in cpd.parents if v != codes.n_variables]
            return tuple(facts.fact(parent, row, chosen) for parent in own)

        return facts.of_features(found, parents)


def _shared_arcs(networks: Sequence[Sequence[TableCPD]]) -> list[WeightedArc]:
    """Pairs of features that are joined in some networks, weighted by information.

    The weight is the mean over the networks that join the two; where a table would be
    too large nothing is measured. In each network, the class's table is last.
    """
    # It brings scipy along, which models do without.
    from bayleaf.counts.information import (
        conditional_mutual_information,
        mutual_information_of_table,
    )

    n_features = len(networks[0]) - 1
    total, uses = np.zeros((2, n_features, n_features))
    for tables in networks:
        for table in tables[:-1]:
            parents = [p for p in table.parents if p != n_features]
            joint = _joint(tables, [n_features, *parents, table.child])
            if joint is None:
                continue
            for axis, parent in enumerate(parents, start=1):
                own = np.moveaxis(joint, (axis, -1, 0), (0, 1, 2))
                sums = own.reshape(*own.shape[:3], -1).sum(axis=-1)
                pair = min(parent, table.child), max(parent, table.child)
                total[pair] += conditional_mutual_information(sums)
                uses[pair] += 1
    told = np.zeros(n_features)
    for feature in range(n_features):
        joint = _joint(networks[0], [n_features, feature])
        if joint is not None:
            told[feature] = mutual_information_of_table(joint)
    return pair_arcs(told, total / np.maximum(uses, 1.0))


def _joint(tables: Sequence[TableCPD], variables: Sequence[int]) -> Floats | None:
    """Joint probabilities of some variables; None if that takes too large a table."""
    closure = list(dict.fromkeys(variables))
    for variable in closure:
        closure += [p for p in tables[variable].parents if p not in closure]
    cards = [tables[variable].probabilities.shape[-1] for variable in closure]
    if math.prod(cards) > _MOST_CELLS:
        return None
    place = {variable: i for i, variable in enumerate(closure)}
    operands: list[Any] = [
        part
        for v in closure
        for part in (tables[v].probabilities, [place[p] for p in tables[v].family])
    ]
    found = np.einsum(*operands, [place[variable] for variable in variables])
    return np.asarray(found, dtype=np.float64)
