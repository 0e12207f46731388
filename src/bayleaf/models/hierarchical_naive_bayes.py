"""Naive Bayes over features and latent variables that join them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.counts.source import CountSource
from bayleaf.cpds.dirichlet import drawn_distributions, log_dirichlet, log_gamma
from bayleaf.cpds.distribution import CPD, DeterministicCPD, TableCPD
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.factors import Factor, FusedTables
from bayleaf.inference.log_sums import log_of
from bayleaf.inference.states import check_integer
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.class_model import ClassModel, LogScores, sum_out
from bayleaf.models.latent_messages import LatentMessages, cell_probabilities
from bayleaf.models.latent_rules import (
    LatentReport,
    LatentState,
    cells_name,
    latent_names,
    meaning_of,
    name_of_state,
    state_rules,
)
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
from bayleaf.scoring.terms import Term
from bayleaf.wording import brief_fields, counted, name_list, quoted

Floats = NDArray[np.float64]

# A class child whose features have more joint codes than this has no look-up table.
_LOOK_UP_CELLS = 1 << 16
# Added to drawn weights of cells, which need no smoothing of their own.
_NO_SMOOTHING = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class _PaddedFactor(Factor):
    """A table that holds exact values for missing codes already."""

    __repr__ = brief_fields

    def padded(self) -> Floats:
        """The table itself: its last code on each axis means missing."""
        return self.log_values


@dataclass(frozen=True, eq=False, repr=False)
class HierarchicalNaiveBayesModel(ClassModel):
    """Naive Bayes over the children of the class in a tree of latent variables.

    A latent variable is a function of its two children, so that in a complete row the
    class children are known and naive Bayes predicts. Features that are missing are
    summed out of the network to which the tree expands.

    Parameters
    ----------
    domain : Domain
        Features in the order of the codes, then the class.
    tree : LatentTree
        The latent variables over the features.
    prior : ndarray of shape (n_classes,)
        P(class).
    tables : tuple of ndarray of shape (n_classes, card)
        P(node | class) of each of ``tree.class_children``.
    cell_counts : tuple of ndarray of shape (left card, right card)
        Training rows in each cell of each latent variable.
    used : tuple of int, optional
        Class children that feature selection kept; by default all.
    max_table_cells : int, default=20_000_000
        Largest table of the network view.
    cell_smoothing : float, default=0.01
        Added to each cell count before P(cell | latent state) is taken. It cancels
        from posteriors unless features are missing.
    class_counts : tuple of ndarray of shape (n_states, n_classes), optional
        Training rows in each state of each latent variable by class.

    Raises
    ------
    ValueError
        If tree, tables and domain do not fit each other.

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159.
    """

    domain: Domain
    tree: LatentTree
    prior: Floats
    tables: tuple[Floats, ...]
    cell_counts: tuple[Floats, ...]
    used: tuple[int, ...] | None = None
    max_table_cells: int = 20_000_000
    cell_smoothing: float = 0.01
    class_counts: tuple[Floats, ...] | None = None

    log_likelihood_scope = "class children of the training rows"

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
        by_class = [(latent.n_states, n_classes) for latent in self.tree.latents]
        counts = self.class_counts
        if counts is not None and [np.shape(own) for own in counts] != by_class:
            raise ValueError(
                f"class counts of shapes {[np.shape(own) for own in counts]} were "
                f"given for latent variables with {by_class} states and classes"
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
        check_integer("max_table_cells", self.max_table_cells)

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
    def structure_bits(self) -> float:
        """Bits that name the children of the class, and the latent variables.

        log2 of the number of nodes for each child that is named, and log2 of the states
        of each latent variable for each joint state of its two children.
        """
        latents = self.tree.latents
        n_nodes = len(self.tree.cards) + 1
        n_children = len(self.used_children) + 2 * len(latents)
        cells = sum(each.states.size * math.log2(each.n_states) for each in latents)
        return n_children * math.log2(n_nodes) + cells

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
        class_codes = codes.column(codes.n_variables - 1)
        for node in self.tree.class_children:
            known = columns[node] < self.tree.cards[node]
            counts = np.bincount(class_codes, codes.weights * known, len(self.prior))
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

    def _drawn_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
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

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a summary tells beside counts and arcs: the latent variables."""
        told = []
        for report in self.latent_reports:
            children = " and ".join(str(child) for child in report.children)
            if report.is_irrelevant:
                told.append(f"{report.name}: {children} are irrelevant given the class")
            else:
                told.append(
                    f"{report.name} joins {children}: {report.n_cells} joint states "
                    f"in {len(report.states)}"
                )
        if told and not self.is_regular():
            told.append(f"not regular: {name_list(self.irregular_latents)}")
        return tuple(told)

    @cached_property
    def latent_reports(self) -> tuple[LatentReport, ...]:
        """What each latent variable and its states mean: `latent_reports`."""
        return latent_reports(self)

    @property
    def latent_sizes(self) -> list[tuple[str, int]]:
        """Name and number of states of each latent variable."""
        names = latent_names(self.domain, self.tree)
        return [(n, v.n_states) for n, v in zip(names, self.tree.latents)]

    @property
    def irregular_latents(self) -> tuple[str, ...]:
        """Names of latents with more states than a regular tree allows.

        A latent is regular if its states are at most the product of those of its
        neighbours (the node above and its two children) over the largest of them. The
        stricter rule for two neighbours never applies: here each latent has three.

        References
        ----------
        Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive
        Bayes models. Machine Learning 63, 135-159, section 3.
        """
        above = dict.fromkeys(self.tree.class_children, self.domain.cards[-1])
        found = []
        for position in reversed(range(len(self.tree.latents))):
            latent = self.tree.latents[position]
            sizes = [above[self.tree.n_features + position], *latent.states.shape]
            if latent.n_states > prod(sizes) // max(sizes):
                found.append(latent_names(self.domain, self.tree)[position])
            above |= dict.fromkeys((latent.left, latent.right), latent.n_states)
        return tuple(reversed(found))

    def is_regular(self) -> bool:
        """Whether no latent has needlessly many states: `irregular_latents`."""
        return not self.irregular_latents

    @cached_property
    def network(self) -> BayesianNetwork:
        """The Bayesian network that the tree expands to: `latent_network`."""
        return latent_network(self)

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """P(feature | class), latent variables summed out; the class prior."""
        class_index = len(self.domain) - 1
        if variable == class_index:
            return (), self.prior
        return (class_index,), features_given_class(self)[variable]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The network; features are revealed in their own order."""
        return (sum_out(self.network, range(len(self.network.domain) - 1)),)

    @cached_property
    def _messages(self) -> LatentMessages:
        """Sums missing features out."""
        return LatentMessages(self.tree, self.cell_distributions)

    @cached_property
    def _look_up(self) -> dict[int, Floats]:
        """Log P(features below | class) over all codes, unless there are too many.

        Shape (n_classes, *number of codes).
        """
        found = {}
        for node, table in self.class_tables.items():
            leaves = self.tree.leaves(node)
            # Missing cells have a code, too.
            shape = tuple(self.tree.cards[leaf] + 1 for leaf in leaves)
            if self.tree.latent(node) is None or prod(shape) <= _LOOK_UP_CELLS:
                codes = np.indices(shape).reshape(len(shape), -1)
                columns = dict(zip(leaves, codes, strict=True))
                values = self._messages.log_likelihood(node, table, columns)
                found[node] = values.reshape(len(table), *shape)
        return found

    @cached_property
    def look_up_factors(self) -> tuple[Factor, ...]:
        """The prior, then a table over the features below each class child.

        The last place of each axis means missing. Class children whose features have
        too many joint states are left out.
        """
        prior = Factor(len(self.domain) - 1, (), log_of(self.prior))
        tables = [
            _PaddedFactor(node, self.tree.leaves(node), values)
            for node, values in self._look_up.items()
        ]
        return (prior, *tables)

    @cached_property
    def _fused(self) -> FusedTables:
        """Prior and look-up tables, neighbours added up."""
        return FusedTables.from_factors(self.look_up_factors, self.domain.cards)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Sum missing cells out exactly; see `ClassModel.class_log_scores`."""
        scores = self._fused.look_up(codes)
        for node, table in self.class_tables.items():
            if node not in self._look_up:
                columns = {leaf: codes.column(leaf) for leaf in self.tree.leaves(node)}
                scores += self._messages.log_likelihood(node, table, columns)
        return scores.T

    def latent_posteriors(self, codes: Codes) -> list[Floats]:
        """P(state | known features) of each latent variable, (n_rows, n_states).

        A state that follows from the features below is certain; in all other rows the
        network is asked. ImpossibleEvidenceError if such a row has probability zero.
        """
        tree, columns = self.tree, self.tree.node_codes(codes)
        posteriors, names = [], latent_names(self.domain, tree)
        for node, name in enumerate(names, start=tree.n_features):
            # The last row is for states that do not follow, before they are computed.
            table = np.eye(tree.cards[node] + 1, tree.cards[node])[columns[node]]
            rows = np.flatnonzero(columns[node] == tree.cards[node])
            if len(rows):
                cards = self.network.domain.cards
                known = [column[rows] for column in columns[: tree.n_features]]
                hidden = [np.full(len(rows), n) for n in cards[tree.n_features :]]
                partial = Codes.from_columns([*known, *hidden], cards)
                table[rows] = self.network.posterior_table(partial, name)
            posteriors.append(table)
        return posteriors

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` over features.

        The log-odds of a class child are split by the chain rule over its observed
        features in column order: the first one's term is what it says alone, the others
        summed out; each further one adds what it changes.
        """
        terms = np.zeros((codes.n_rows, codes.n_variables))
        log_prior = log_of(self.prior)
        prior = log_prior[target] - log_prior[against]
        for node in self.used_children:
            leaves = self.tree.leaves(node)
            columns = {
                leaf: np.full(codes.n_rows, self.tree.cards[leaf]) for leaf in leaves
            }
            before = np.zeros(codes.n_rows)
            for leaf in leaves:
                columns[leaf] = codes.column(leaf).astype(np.intp)
                after = self._log_odds(node, columns, target, against)
                # Where a class has become impossible, nothing more can be told.
                told = np.isfinite(before) & ~np.isnan(after)
                terms[told, leaf] = after[told] - before[told]
                before = np.where(told, after, before)
        return prior, terms

    def rules_fired(self, codes: Codes) -> list[list[str]]:
        """The rule by which each feature tells on the class, for a reader.

        Parameters
        ----------
        codes : Codes
            Features only.

        Returns
        -------
        list of list of str
            By row and feature: the latent directly below the class, and the rule that
            holds for its state; empty for a feature that stands alone or is missing,
            and where none is known to hold.
        """
        columns = self.tree.node_codes(codes)
        found = [[""] * codes.n_variables for _ in range(codes.n_rows)]
        absent = [codes.missing(feature) for feature in range(codes.n_variables)]
        for report in self.latent_reports:
            if report.node not in self.used_children:
                continue
            leaves = self.tree.leaves(report.node)
            for rule in (rule for state in report.states for rule in state.rules):
                text = f"{report.name}: {rule}"
                pairs = itertools.product(np.flatnonzero(rule.holds(columns)), leaves)
                for row, leaf in pairs:
                    found[row][leaf] = "" if absent[leaf][row] else text
        return found

    def _log_odds(
        self,
        node: int,
        columns: dict[int, NDArray[np.intp]],
        target: NDArray[np.intp],
        against: NDArray[np.intp],
    ) -> Floats:
        """Log-odds of two classes by the features below one class child."""
        if node in self._look_up:
            table = self._look_up[node]
            index = tuple(columns.values())
            for_target, for_against = table[target, *index], table[against, *index]
        else:
            table = self.class_tables[node]
            scores = self._messages.log_likelihood(node, table, columns)
            rows = np.arange(scores.shape[1])
            for_target, for_against = scores[target, rows], scores[against, rows]
        # Not a number where both classes are impossible.
        with np.errstate(invalid="ignore"):
            return np.asarray(for_target - for_against)

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features before this one below the same class child."""
        for node in self.used_children:
            leaves = self.tree.leaves(node)
            if feature in leaves:
                return [leaf for leaf in leaves if leaf < feature]
        return []


def _states_of(
    name: str, states: NDArray[np.integer[Any]]
) -> Callable[[int, int], Fact]:
    """What tells name and number of a latent variable's state in each row."""
    return lambda row, _: (name, str(int(states[row]) + 1))


def latent_reports(model: HierarchicalNaiveBayesModel) -> tuple[LatentReport, ...]:
    """Describe every latent variable of a model, nested ones first."""
    domain, tree = model.domain, model.tree
    names = [*domain.names[: tree.n_features], *latent_names(domain, tree)]
    given_class = features_given_class(model)
    reports = []
    for position, rules in enumerate(state_rules(domain, tree)):
        node, latent = tree.n_features + position, tree.latents[position]
        counts = np.bincount(
            latent.states.ravel(), weights=model.cell_counts[position].ravel()
        )
        joint = (given_class[node] * model.prior[:, None]).T
        states = []
        for state, total in enumerate(joint.sum(axis=1)):
            # A state of probability zero tells nothing about the class.
            posterior = joint[state] / total if total > 0 else model.prior
            lift = np.divide(
                posterior,
                model.prior,
                out=np.ones_like(posterior),
                where=model.prior > 0,
            )
            n, shares = float(counts[state]), None
            if model.class_counts is not None and n > 0:
                rows = model.class_counts[position][state]
                shares = rows / max(float(rows.sum()), 1e-300)
            states.append(LatentState(rules[state], n, posterior, lift, shares))
        children = (names[latent.left], names[latent.right])
        cells = latent.states
        report = LatentReport(str(names[node]), node, children, cells, tuple(states))
        reports.append(report)
    return tuple(reports)


def features_given_class(
    model: HierarchicalNaiveBayesModel,
) -> Mapping[int, NDArray[np.float64]]:
    """P(node | class) of class children and of what lies below latents."""
    tree = model.tree
    found = dict(zip(tree.class_children, model.tables, strict=True))
    for position in reversed(range(len(tree.latents))):
        latent = tree.latents[position]
        table = found[tree.n_features + position]
        cells = table[:, latent.states] * model.cell_distributions[position]
        found[latent.left] = cells.sum(axis=2)
        found[latent.right] = cells.sum(axis=1)
    return found


def latent_network(
    model: HierarchicalNaiveBayesModel, class_counts: Floats | None = None
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


def unique_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels, or numbers from 1 if two of them are the same."""
    if len(set(labels)) == len(labels):
        return tuple(labels)
    return tuple(str(number) for number in range(1, len(labels) + 1))


class _Expansion:
    """Variables and distributions of the network of one model."""

    def __init__(
        self, model: HierarchicalNaiveBayesModel, class_counts: Floats | None
    ) -> None:
        self.model, self.class_counts = model, class_counts
        self.tree = model.tree
        self.latent_index: dict[int, int] = {}
        self.cells_index: dict[int, int] = {}
        index = self.tree.n_features
        for position, latent in enumerate(self.tree.latents):
            # Without cells of its own the latent has one state a cell already.
            if not latent.is_collapsed or latent.n_states > 1:
                self.latent_index[position] = index
                index += 1
            if latent.is_collapsed:
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
                variables.append(
                    Variable(
                        names[position],
                        tuple(labels[-1]),
                        meanings=tuple(map(meaning_of, rules[position])),
                    )
                )
            if position in self.cells_index:
                variables.append(Variable(cells_name(names[position]), cells))
        return Domain((*variables, class_variable))
