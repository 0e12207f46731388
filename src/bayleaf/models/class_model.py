"""What every classifier's model can do, and log scores turned into probabilities."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.distribution import CPD, TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import (
    PartialCodes,
    Rows,
    available_codes,
    complete,
    rows_of,
    sets_in,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.latent_rules import LatentReport
from bayleaf.models.support.support_counts import SupportCounts, TableSize, UsedCells
from bayleaf.models.texts.feature_shape import FeatureShape, feature_shape, states_alone
from bayleaf.models.texts.html_summary import (
    ITEMS,
    NAME,
    arc_text,
    facts_html,
    picture_of,
)
from bayleaf.models.texts.picture import CLASS, FEATURE, LATENT, USED, PicturedGraph
from bayleaf.scoring import program_scores
from bayleaf.scoring.partial_cases import Sharing
from bayleaf.scoring.terms import ScoringProgram, SumOut, Term, program_of
from bayleaf.wording import brief, brief_names, counted, plain, quoted

Floats = NDArray[np.float64]
LogScores = Floats
# Said of a classifier whose model has no network, unless the model says why.
AVERAGES_NETWORKS = (
    "averages several networks and so is no Bayesian network; it has no network_"
)

# Rows that are normalised at a time: they stay in the cache, and Ctrl-C is heard.
_BLOCK_ROWS = 1 << 15
# Rows whose terms are evaluated at a time, with all members of averages.
_MEMBER_ROWS = 1 << 8


class ClassModel(ABC):
    """A frozen model that scores the classes of encoded rows, its kinds' base.

    Files, explanations, reports, pictures and the explorer use nothing but what is
    defined here. A kind defines its scope and either `network` or `terms`, from
    which all else follows unless it has something better.

    Attributes
    ----------
    domain : Domain
        Features in the order of the codes, then the class.
    network : BayesianNetwork
        Of a kind that is one: the features in the model's order, then any latent
        variables, the class last. A picture shows it, and the explorer computes with
        it.
    """

    # Where the tables are of a kind whose variables have none of their own.
    _TABLES_ARE: ClassVar[str] = "has no table of its own"
    # Whether draws of log scores are normal, with a variance that its counts give.
    has_normal_scores: ClassVar[bool] = False
    # Why there is no network, for a kind that does not average networks.
    why_no_network: ClassVar[str | None] = None

    if TYPE_CHECKING:

        @property
        def domain(self) -> Domain: ...  # noqa: D102  # a field of most kinds

    def __getstate__(self) -> dict[str, Any]:
        # Derived tables are made again, so that a pickled model stays small.
        model: Any = self
        return {field.name: getattr(model, field.name) for field in fields(model)}

    @property
    @abstractmethod
    def log_likelihood_scope(self) -> str:
        """What the training log-likelihood sums over, for a reader."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters; those of the network by default."""
        return self._needed_network.n_parameters

    @property
    def class_prior(self) -> Floats:
        """Prior probability of each class, (n_classes,); the field `prior` if any."""
        model: Any = self
        return np.asarray(model.prior)

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """All (parent, child) pairs of indices, by child, those of the class too.

        Of a kind without a network, or with latent variables, from the class to each
        feature.
        """
        if self._plain_network is not None:
            return list(self._plain_network.dag.arcs)
        class_index = len(self.domain) - 1
        return [(class_index, feature) for feature in range(class_index)]

    @property
    def structure_bits(self) -> float:
        """Bits that name all parents: log2 of the number of variables for each arc.

        ValueError if distributions are trees or share tables of groups of states, whose
        shape takes bits of its own.
        """
        network = self._needed_network
        for cpd in network.cpds:
            if not isinstance(cpd, TableCPD):
                raise ValueError(
                    f"the distribution of {quoted(network.domain[cpd.child].name)} is "
                    "not a full table, as learned with local_structure='table' and "
                    "without hierarchies"
                )
        return sum(map(len, network.dag.parents)) * math.log2(len(network.domain))

    @property
    def arc_weights(self) -> Mapping[tuple[int, int], float]:
        """Weight of each arc where arcs have weights, by indices; else empty."""
        return {}

    @property
    def remarks(self) -> Sequence[str]:
        """Lines that a summary shows beside counts and arcs."""
        return ()

    @property
    def cpds(self) -> Sequence[CPD]:
        """Distribution of each variable; empty for no network, or one with latents."""
        network = self._plain_network
        return () if network is None else network.cpds

    @property
    def left_out_families(self) -> Sequence[Family] | None:
        """Families of the features, if left-out rows are scored by them alone.

        None where rows are left out in folds.
        """
        return None

    @property
    def feature_marginals(self) -> Sequence[Floats] | None:
        """Distribution of each feature by itself, shape (n_states,).

        None for a model whose class scores are joint probabilities: they contain it.
        """
        return None

    def state_proba(self, rows: Codes, feature: int, log_proba: Floats) -> Floats:
        """P(state | what else is known) of a feature, (n_states,).

        `rows` have one of its states each; `log_proba` (n_classes,) are log posteriors
        without it, which a joint distribution does not need.
        """
        scores = self.class_log_scores(rows)
        joint = np.exp(log_normalize(scores.reshape(1, -1)))
        return np.asarray(joint.reshape(scores.shape).sum(axis=1))

    def score_variance(self, codes: Codes) -> Floats | None:
        """Variance of class log scores, nats squared; None where they are not normal.

        By the counts behind them, shape (n_rows, n_classes).
        """
        return None

    def term_deviation(self, codes: Codes, feature: int) -> Floats | None:
        """Standard deviation of a feature's term, nats; None where scores have none.

        By the counts behind it, shape (n_rows, n_classes).
        """
        return None

    @property
    def latent_reports(self) -> Sequence[LatentReport] | None:
        """What latent variables mean; None for a kind without latent variables."""
        return None

    @property
    def picture(self) -> PicturedGraph:
        """Nodes and arcs that a drawing shows: those of the network if there is one."""
        network, n_features = self._network, len(self.domain) - 1
        domain = self.domain if network is None else network.domain
        arcs = self.arcs if network is None else list(network.dag.arcs)
        n_latents = len(domain) - 1 - n_features
        weights = self.arc_weights
        return PicturedGraph(
            domain.names,
            (FEATURE,) * n_features + (LATENT,) * n_latents + (CLASS,),
            tuple((*arc, weights.get(arc)) for arc in arcs),
            weights=USED if weights else "",
        )

    @property
    def terms(self) -> Sequence[Term]:
        """What class scores are sums of, constants first; by default the network."""
        network = self._needed_network
        return (sum_out(network, network.dag.order),)

    @property
    def sharing(self) -> Sharing | None:
        """How terms share evidence in partial cases.

        None where missing features are summed out, or left out.
        """
        return None

    @cached_property
    def program(self) -> ScoringProgram:
        """The class scores as a base and terms."""
        return program_of(self)

    def table(self, variable: int) -> tuple[Sequence[int], Floats]:
        """Indices of the parents of a variable, and its table, parents first.

        Raises
        ------
        ValueError
            If the variable has no table of its own.
        """
        if cpds := self.cpds:
            return cpds[variable].parents, cpds[variable].probabilities
        if variable == len(self.domain) - 1:
            return (), self.class_prior
        raise ValueError(f"{quoted(self.domain[variable].name)} {self._TABLES_ARE}")

    def feature_shape(
        self, feature: int, classes: tuple[Hashable, ...]
    ) -> FeatureShape:
        """Evidence of the states of a feature where nothing else is known.

        Parameters
        ----------
        feature : int
            Index of the feature.
        classes : tuple
            Class labels in the model's order.
        """
        alone = states_alone(self.class_log_scores, self.domain, feature)
        return feature_shape(self.domain[feature], alone, np.array([]), classes)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log joint probability (nats) of each class and the observed features.

        By default the sum of the terms.

        Parameters
        ----------
        codes : Codes
            Features only; missing cells are marginalised out.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        scores = np.empty((codes.n_rows, self.domain.cards[-1]))
        for rows in _blocks(codes):
            scores[rows] = program_scores.scores(self.program, codes.rows(rows))
        return scores

    def log_scores_of_rows(self, rows: Rows) -> LogScores:
        """The class log scores of rows in which cells may be sets of states.

        Those of a set are the logarithm of the sum over its states: of all ways to
        choose a state for each such cell, (n_rows, n_classes). ValueError if a row has
        too many ways.
        """
        if not isinstance(rows, PartialCodes):
            return self.class_log_scores(rows)
        listed = complete(rows.codes, rows.partial)
        scores = self.class_log_scores(listed.codes)
        return np.stack([listed.log_sums(column) for column in scores.T], axis=1)

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of one class against another into additive terms.

        By default each of the model's terms is split by its own evidence, and the ratio
        of two means over members among these by logarithmic-mean weights.

        Parameters
        ----------
        codes : Codes
            Features only.
        target, against : ndarray of shape (n_rows,)
            The two classes of each row.

        Returns
        -------
        prior : ndarray of shape (n_rows,)
            Contribution of the class prior, nats.
        terms : ndarray of shape (n_rows, n_features)
            Contribution of each feature, nats; zero for missing ones.
        """
        prior = np.empty(codes.n_rows)
        terms = np.empty((codes.n_rows, codes.n_variables))
        for rows in _blocks(codes):
            pair = target[rows], against[rows]
            prior[rows], terms[rows] = program_scores.contributions(
                self.program, codes.rows(rows), *pair
            )
        return prior, terms

    def _revealed(
        self,
        rows: Rows,
        target: NDArray[np.intp],
        against: NDArray[np.intp],
        order: Iterable[int],
        odds: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Contributions as changes of the log-odds as features become known in order.

        `odds` (n_rows,) are those where none is known; other variables are passed over.
        """
        codes, partial = available_codes(rows), sets_in(rows)
        features, numbers = Domain(self.domain.variables[:-1]), np.arange(rows.n_rows)
        columns = [np.full(rows.n_rows, card) for card in codes.cards]
        is_revealed = np.zeros(len(columns), dtype=bool)

        def now() -> Floats:
            known = Codes.from_columns(columns, codes.cards)
            revealed = rows_of(known, partial.of_variables(is_revealed), features)
            scores = self.log_scores_of_rows(revealed)
            return np.asarray(scores[numbers, target] - scores[numbers, against])

        prior = odds = now() if odds is None else odds
        terms = np.zeros((rows.n_rows, len(columns)))
        for feature in (v for v in order if v < len(columns)):
            columns[feature], is_revealed[feature] = codes.column(feature), True
            known = ~codes.missing(feature)
            known[partial.rows[partial.variables == feature]] = True
            if known.any():
                after = now()
                terms[known, feature] = (after - odds)[known]
                odds = np.where(known, after, odds)
        return prior, terms

    def contributions_of_rows(
        self, rows: Rows, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """The contributions in rows in which cells may be sets of states.

        A row with such a cell is revealed feature by feature, parents first, and a term
        is the change of the log-odds; other rows are split as `contributions` does.
        """
        if not isinstance(rows, PartialCodes):
            return self.contributions(rows, target, against)
        prior, terms = self.contributions(rows.codes, target, against)
        uncertain = np.unique(rows.partial.rows)
        part = rows.rows(uncertain), target[uncertain], against[uncertain]
        network = self._network
        order = range(rows.n_variables) if network is None else network.dag.order
        prior[uncertain], terms[uncertain] = self._revealed(*part, order)
        return prior, terms

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features that a feature's contribution is conditioned on, class excluded."""
        return ()

    def with_class_prior(self, class_prior: Floats) -> Self:
        """Return the same model under another class prior, shape (n_classes,)."""
        prior = np.asarray(class_prior, dtype=np.float64)
        return replace(self, prior=prior)  # type: ignore[type-var]

    @property
    def table_sizes(self) -> Sequence[TableSize]:
        """The tables whose distributions are counted from training rows.

        Without any there are no credible intervals.
        """
        return ()

    def count_rows(self, source: CountSource) -> Iterable[Floats]:
        """Count the training rows behind each distribution.

        Parameters
        ----------
        source : CountSource
            Counts of the training rows, the class last. Models with latent components,
            trees or groups look at the rows themselves.

        Returns
        -------
        iterable of ndarray
            An array for each table, of the shapes in `table_sizes`.
        """
        return ()

    def n_training_rows(self, support: SupportCounts) -> float:
        """About the weight of the training rows: the least behind any table."""
        return min((float(rows.sum()) for rows in support.rows), default=0.0)

    def drawn(self, support: SupportCounts, rng: np.random.Generator) -> Self:
        """Return the same model with tables drawn from their Dirichlet posteriors.

        Raises
        ------
        ValueError
            If the tables of the model have no training rows behind them.
        """
        raise ValueError(
            f"a {type(self).__name__} knows no rows behind its tables, and so no "
            "credible intervals"
        )

    def sample_log_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores under draws, shape (n_draws, n_rows, n_classes)."""
        scores = np.empty((n_draws, codes.n_rows, self.domain.cards[-1]))
        simple = self._without_sums(codes)
        rows = codes.rows(simple)
        scores[:, simple] = self._drawn_scores(rows, support, n_draws, rng)
        if not simple.all():
            rows = codes.rows(~simple)
            for draw in range(n_draws):
                model = self.drawn(support, rng)
                scores[draw, ~simple] = model.class_log_scores(rows)
        return scores

    def _without_sums(self, codes: Codes) -> NDArray[np.bool_]:
        """Rows (n_rows,) that can be scored under all draws at once."""
        return np.zeros(codes.n_rows, dtype=bool)

    def _drawn_scores(
        self,
        codes: Codes,
        support: SupportCounts,
        n_draws: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Class log scores of such rows under draws, (n_draws, n_rows, n_classes)."""
        return np.empty((n_draws, 0, self.domain.cards[-1]))

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Distributions that rows use, and the training rows behind them.

        Where several tables know of a feature: for averages the one with the fewest
        rows, for mixtures that of the component or expert to which the row most likely
        belongs.
        """
        return iter(())

    @property
    def _network(self) -> BayesianNetwork | None:
        """The network of a kind that is one."""
        network: BayesianNetwork | None = getattr(self, "network", None)
        return network

    @property
    def _plain_network(self) -> BayesianNetwork | None:
        """The network of a kind that is one without latent variables."""
        network = self._network
        has_latents = network and len(network.domain) > len(self.domain)
        return None if has_latents else network

    @property
    def _needed_network(self) -> BayesianNetwork:
        if self._network is None:
            raise TypeError(
                f"a {type(self).__name__} has no network and defines no terms"
            )
        return self._network

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs; empty if nothing."""
        return ""

    def __repr__(self) -> str:
        *features, target = self.domain
        labels = [target.label(code) for code in range(target.n_states)]
        names = brief_names([feature.name for feature in features])
        facts = [
            f"class {plain(target.name, NAME)} ({brief_names(labels)})",
            f"{counted(len(features), 'feature')} ({names})",
            self._parts or counted(len(self._arcs), "arc") + " among features",
            counted(self.n_parameters, "free parameter"),
        ]
        return brief(self, *facts)

    @property
    def _arcs(self) -> list[tuple[int, int]]:
        """Arcs among features, without those of the class."""
        target = len(self.domain) - 1
        return [(p, c) for p, c in self.arcs if target not in (p, c)]

    def _repr_html_(self) -> str:
        names = self.domain.names
        target = self.domain[-1]
        arcs = self._arcs
        facts: list[tuple[str, Any]] = [("class", plain(target.name, NAME))]
        facts += [
            (f"P({plain(target.label(code), NAME)})", f"{prior:.3f}")
            for code, prior in enumerate(self.class_prior[:ITEMS])
        ]
        facts += [
            ("features", len(names) - 1),
            ("arcs among features", len(arcs)),
            ("free parameters", self.n_parameters),
        ]
        lists = [
            ("arcs", [arc_text(names[p], names[c]) for p, c in arcs]),
            ("remarks", list(self.remarks)),
        ]
        return facts_html(type(self).__name__, facts, lists, picture_of(self))


# The name under which kinds of other libraries derive from it.
ModelKind = ClassModel


def _blocks(codes: Codes) -> Iterator[slice]:
    """Rows whose members and nodes are held at a time."""
    for first in range(0, codes.n_rows, _MEMBER_ROWS):
        yield slice(first, first + _MEMBER_ROWS)


def sum_out(
    network: BayesianNetwork, order: Sequence[int], weight: float = 1.0
) -> SumOut:
    """The sum over all variables but the class, the last variable of the network."""
    label = len(network.domain) - 1
    return SumOut(network, tuple(v for v in order if v != label), weight)


@runtime_checkable
class IncrementalContributions(Protocol):
    """A model that tells what a feature says alone from what its parents add."""

    def increments(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds (nats) into contributions alone, and what others change.

        Returns the prior's part (n_rows,) and (n_rows, n_features, 2 + most parents):
        where no other is known, what each further parent adds, and what else others
        change. The last axis sums to the feature's contribution.
        """


def log_normalize(log_scores: LogScores) -> LogScores:
    """Log posterior of each class from log scores, both of shape (n_rows, n_classes).

    ValueError if a row has probability zero under every class.
    """
    return calibrated_log_proba(log_scores, np.ones((1, 1)), None)


def calibrated_log_proba(
    log_scores: LogScores,
    temperatures: LogScores,
    prior_shift: LogScores | None,
    first_row: int = 0,
) -> LogScores:
    """Log posteriors of log scores / temperature + shift, (n_rows, n_classes).

    Temperatures have the shape (n_rows, 1) or (1, 1). ValueError names a row that has
    probability zero under every class, counted from `first_row`.
    """
    found = np.empty(log_scores.shape)
    for first in range(0, len(found), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        by_row = len(temperatures) > 1
        scores = log_scores[block] / (temperatures[block] if by_row else temperatures)
        if prior_shift is not None:
            scores += prior_shift[block] if prior_shift.ndim > 1 else prior_shift
        highest = scores.max(axis=1, keepdims=True)
        impossible = np.flatnonzero(~np.isfinite(highest[:, 0]))
        if len(impossible):
            raise ValueError(
                f"row {first_row + first + impossible[0]} has probability zero under "
                "every class; use a smoothing rule that leaves no zero in the tables"
            )
        scores -= highest
        # Class by class, so that a row's sum does not depend on how many there are.
        total = np.zeros(len(scores))
        for column in np.exp(scores).T:
            total += column
        np.subtract(scores, np.log(total)[:, None], out=found[block])
    return found
