"""The tables of naive Bayes over latent variables, and the rows behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import drawn_distributions, log_dirichlet, log_gamma
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.models.class_model import ModelKind
from bayleaf.models.latent_rules import latent_names
from bayleaf.models.latents.latent_messages import cell_probabilities
from bayleaf.models.support.support_counts import (
    Fact,
    RowFacts,
    SupportCounts,
    TableSize,
    UsedCells,
)
from bayleaf.models.texts.picture import (
    CLASS,
    FEATURE,
    LATENT,
    PicturedGraph,
    WeightedArc,
)
from bayleaf.wording import counted

Floats = NDArray[np.float64]
# Added to drawn weights of cells, which need no smoothing of their own.
_NO_SMOOTHING = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalTables(ModelKind):
    """Base of the hierarchical naive Bayes model: its tables and what follows alone.

    For parameters and errors see `HierarchicalNaiveBayesModel`.
    """

    domain: Domain
    tree: LatentTree
    prior: Floats
    tables: tuple[Floats, ...]
    cell_counts: tuple[Floats, ...]
    used: tuple[int, ...] | None = None
    max_table_cells: int = 20_000_000
    cell_smoothing: float = 0.01

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        if tuple(cards) != tuple(self.tree.feature_cards):
            raise ValueError(
                f"the tree is over features with {self.tree.feature_cards} states, but "
                f"the domain has features with {tuple(cards)}"
            )
        check_shape(self.prior, (n_classes,), "the class prior")
        children = self.tree.class_children
        shapes = [(n_classes, self.tree.cards[node]) for node in children]
        if [np.shape(table) for table in self.tables] != shapes:
            raise ValueError(
                f"the tables of the class children have shapes "
                f"{[np.shape(table) for table in self.tables]}, but need {shapes}"
            )
        cells = [latent.states.shape for latent in self.tree.latents]
        if [np.shape(counts) for counts in self.cell_counts] != cells:
            raise ValueError(
                f"cell counts of shapes {[np.shape(n) for n in self.cell_counts]} were "
                f"given for latent variables over {cells} cells"
            )
        if not set(self.used or ()) <= set(children):
            raise ValueError(
                f"nodes {self.used} are said to be used, but the class children are "
                f"{children}"
            )
        if self.cell_smoothing <= 0:
            raise ValueError(
                f"cell_smoothing must be greater than 0, got {self.cell_smoothing}"
            )
        if self.max_table_cells < 1:
            raise ValueError(
                f"max_table_cells must be at least 1, got {self.max_table_cells}"
            )

    def check_content(self) -> None:
        """Raise ValueError unless tables hold distributions, and cells counts."""
        check_distributions(self.prior, "the class prior")
        for node, table in zip(self.tree.class_children, self.tables, strict=True):
            check_distributions(table, f"the table of node {node}")
        for latent, counts in enumerate(self.cell_counts):
            if not ((counts >= 0) & (counts <= MOST_WEIGHT)).all():
                raise ValueError(
                    f"the cells of latent variable {latent} hold a negative or huge "
                    "count"
                )
        if not 1.0 / MOST_WEIGHT <= self.cell_smoothing <= MOST_WEIGHT:
            raise ValueError(
                f"cell_smoothing is {self.cell_smoothing:.6g}, which is no pseudo-count"
            )

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs."""
        return counted(len(self.tree.latents), "latent variable")

    @property
    def used_children(self) -> tuple[int, ...]:
        """Class children that tell on the class."""
        return self.tree.class_children if self.used is None else self.used

    @property
    def n_parameters(self) -> int:
        """Free parameters of the naive Bayes model over the class children used."""
        n_classes = self.domain.cards[-1]
        states = sum(self.tree.cards[node] - 1 for node in self.used_children)
        return n_classes - 1 + n_classes * states

    @property
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over."""
        return "class children of the training rows"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Class to each feature used, whatever latent variables stand between."""
        class_index = len(self.domain) - 1
        leaves = [self.tree.leaves(node) for node in self.used_children]
        return [(class_index, leaf) for leaf in sorted(sum(leaves, ()))]

    @cached_property
    def class_tables(self) -> dict[int, Floats]:
        """P(node | class) by class child, shape (n_classes, card).

        A node that is not used has its marginal distribution in every class.
        """
        found = {}
        for node, table in zip(self.tree.class_children, self.tables, strict=True):
            unused = node not in self.used_children
            marginal = np.broadcast_to(self.prior @ table, table.shape)
            found[node] = marginal if unused else np.asarray(table, dtype=np.float64)
        return found

    @cached_property
    def cell_distributions(self) -> tuple[Floats, ...]:
        """P(cell | state) of each latent variable, shape (left card, right card)."""
        pairs = zip(self.tree.latents, self.cell_counts, strict=True)
        return tuple(
            cell_probabilities(latent, counts, self.cell_smoothing)
            for latent, counts in pairs
        )

    @property
    def picture(self) -> PicturedGraph:
        """The class over features and latents, each latent over its two children."""
        tree, names = self.tree, self.domain.names
        root = tree.n_features + len(tree.latents)
        arcs: list[WeightedArc] = [(root, child, None) for child in self.used_children]
        for node, latent in enumerate(tree.latents, start=tree.n_features):
            arcs += [(node, latent.left, None), (node, latent.right, None)]
        return PicturedGraph(
            (*names[:-1], *latent_names(self.domain, tree), names[-1]),
            (FEATURE,) * tree.n_features + (LATENT,) * len(tree.latents) + (CLASS,),
            tuple(arcs),
        )

    @property
    def table_sizes(self) -> list[TableSize]:
        """One over the classes for each class child, then the prior."""
        n_classes = len(self.prior)
        children = [TableSize((n_classes,), table.shape[1]) for table in self.tables]
        return [*children, TableSize((), n_classes)]

    def count_rows(self, source: CountSource) -> Iterator[Floats]:
        """Rows of each class in which a class child is known, then all rows."""
        codes = source.rows()
        columns = self.tree.node_codes(codes)
        own = codes.column(codes.n_variables - 1)
        for node in self.tree.class_children:
            known = columns[node] < self.tree.cards[node]
            counts = np.bincount(own, codes.weights * known, len(self.prior))
            yield counts.astype(np.float64)
        yield np.asarray(codes.weights.sum())

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the model with drawn tables, and drawn cells of latent variables."""
        tables = tuple(
            drawn_distributions(np.asarray(table), support.strengths(position), rng)
            for position, table in enumerate(self.tables)
        )
        cells = tuple(
            np.exp(log_gamma(counts + self.cell_smoothing, 1, rng)[0])
            for counts in self.cell_counts
        )
        return replace(
            self,
            prior=support.drawn_prior(self.prior, -1, rng),
            tables=tables,
            cell_counts=cells,
            cell_smoothing=_NO_SMOOTHING,
        )

    def sample_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores under draws; rows without sums under all draws at once."""
        scores = np.empty((n_draws, codes.n_rows, len(self.prior)))
        simple = self._without_sums(codes)
        rows = codes.rows(simple)
        scores[:, simple] = self._child_scores(rows, support, n_draws, rng)
        if not simple.all():
            rows = codes.rows(~simple)
            drawn = super().sample_log_scores(rows, support, n_draws, rng)
            scores[:, ~simple] = drawn
        return scores

    def _without_sums(self, codes: Codes) -> NDArray[np.bool_]:
        """Rows whose class children are known, or have nothing below that is."""
        columns = self.tree.node_codes(codes)
        simple = np.ones(codes.n_rows, dtype=bool)
        for node in self.used_children:
            known = columns[node] < self.tree.cards[node]
            absent = np.ones(codes.n_rows, dtype=bool)
            for leaf in self.tree.leaves(node):
                absent &= codes.missing(leaf)
            simple &= known | absent
        return simple

    def _child_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Drawn log scores of rows whose class children are known or missing."""
        columns = self.tree.node_codes(codes)
        scores = np.zeros((n_draws, codes.n_rows, len(self.prior)))
        scores += support.log_priors(self.prior, -1, n_draws, rng)[:, None]
        for position, node in enumerate(self.tree.class_children):
            if node not in self.used_children:
                continue
            table = self.tables[position]
            logs = log_dirichlet(table, support.strengths(position), n_draws, rng)
            padded = np.concatenate([logs, np.zeros((*logs.shape[:2], 1))], axis=2)
            scores += np.moveaxis(padded[:, :, columns[node]], 1, 2)
        return scores

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Class children, latent ones by their name and state."""
        columns = self.tree.node_codes(codes)
        names = latent_names(self.domain, self.tree)
        facts = RowFacts(self.domain, codes)
        for position, node in enumerate(self.tree.class_children):
            if node not in self.used_children:
                continue
            known = columns[node] < self.tree.cards[node]
            rows = np.where(known[:, None], support.rows[position], np.inf)
            cells = facts.used(node, [len(self.domain) - 1], rows)
            if node >= self.tree.n_features:
                name = names[node - self.tree.n_features]
                cells = cells._replace(fact=_states_of(name, columns[node]))
            yield cells


def _states_of(
    name: str, states: NDArray[np.integer[Any]]
) -> Callable[[int, int], Fact]:
    """What tells name and number of a latent variable's state in each row."""
    return lambda row, _: (name, str(int(states[row]) + 1))
