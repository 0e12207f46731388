"""The weighted average of sampled KDB networks: one sum of readable terms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.cpds.given_tables import check_distributions, check_shape
from bayleaf.cpds.random_network import (
    FamilyBank,
    NestedFamilies,
    PseudoCounts,
    RandomNetwork,
    joint_cells,
    pseudo_weights,
    radices_of,
)
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_of
from bayleaf.models.class_model import ClassModel, LogScores, log_normalize
from bayleaf.models.support.class_trees import ClassTrees
from bayleaf.models.support.number_terms import (
    Curves,
    WeightedLinearFamilies,
    odds_between,
    parent_weights,
)
from bayleaf.models.support.support_counts import RowFacts, SupportCounts, UsedCells
from bayleaf.models.texts.feature_shape import FeatureShape, feature_shape
from bayleaf.models.texts.picture import WeightedEdge
from bayleaf.scoring.partial_cases import (
    CaseWeights,
    PartialCases,
    Sharing,
    distinct_sets,
    known_cells,
    parents_of,
)
from bayleaf.scoring.terms import Counts, Look, Term
from bayleaf.wording import counted, size_text

# Log-probabilities held at a time while rows are explained.
_BLOCK_VALUES = 1 << 23
# Mean held-out log-loss, see docs/results/accuracy.md.
MEASURED_LOG_LOSS = {"averaged KDB": 0.305, "KDB auto, calibrated": 0.406}

Floats = NDArray[np.float64]
States = NDArray[np.uint16]


@dataclass(frozen=True, eq=False, repr=False)
class AveragedKDBModel(ClassModel):
    """Scores that are a weighted sum of log-probabilities from several networks.

    The score of class c is ``base[c]`` plus, for feature i and depth j,
    ``weights[i, j]`` times the mean over the networks of
    ``ln P(x_i | c, first j parents)``. Scores are logarithms of posterior
    probabilities up to a number that all classes of a row share.

    Parameters
    ----------
    domain : Domain
        Features, then the class. A numeric feature's states are the intervals between
        all cut points of all networks.
    prior : ndarray of shape (n_classes,)
        P(class).
    networks : tuple of RandomNetwork
        The networks.
    smoothing : Smoothing
        Rule of all tables.
    base : ndarray of shape (n_classes,)
        Score of each class before any feature is seen: its weighted log prior and its
        bias, nats.
    weights : ndarray of shape (n_features, 1 + max_parents)
        Weight of each feature at each depth, none negative.
    state_counts : tuple of ndarray of shape (n_states,)
        Training weight of each state of each feature.
    linear : WeightedLinearFamilies, optional
        What numeric features add as numbers.
    curves : Curves, optional
        What states of features add to correct the sum.
    trees : ClassTrees, optional
        What conjunctions of states add to correct it.
    min_rows : int, optional
        Rows that a configuration of parents needs; with less, the distribution with
        one parent fewer counts.
    partial : PartialCases, optional
        What terms count where some features are unknown; by default by the information
        of each feature alone in the tables.
    """

    domain: Domain
    prior: Floats
    networks: tuple[RandomNetwork, ...]
    smoothing: Smoothing
    base: Floats
    weights: Floats
    state_counts: tuple[Floats, ...]
    linear: WeightedLinearFamilies | None = None
    curves: Curves | None = None
    trees: ClassTrees | None = None
    min_rows: int | None = None
    partial: PartialCases | None = None

    has_normal_scores = True
    _TABLES_ARE = (
        "has a table in each of several networks, none of its own; look at the shape "
        "of what it adds instead"
    )

    def __post_init__(self) -> None:
        *cards, n_classes = self.domain.cards
        check_shape([self.prior, self.base], (2, n_classes), "prior and base scores")
        n_depths = max((1, *np.shape(self.weights)[1:2]))
        check_shape(self.weights, (len(cards), n_depths), "the weights of depths")
        found = [np.shape(counts) for counts in self.state_counts]
        if found != [(card,) for card in cards] or not self.networks:
            raise ValueError("there should be networks, and counts of all states")

    def check_content(self) -> None:
        """Raise ValueError unless all counts, weights and codings make sense."""
        check_distributions(self.prior, "the class prior")
        strengths = (*self.weights.ravel(), *pseudo_weights(self.smoothing))
        if min(strengths) < 0 or max(strengths) > MOST_WEIGHT:
            raise ValueError("weights and smoothing hold a negative or huge number")
        for network in self.networks:
            network.check_fit(self.domain.cards)
        for more in self.beside_tables:
            more.check_fit(self.domain.cards)
        if self.partial is not None:
            n_features = len(self.weights)
            check_shape([self.partial.strengths], (1, n_features), "the strengths")
            if not all(0 <= f < n_features for f in self.partial.monotone):
                raise ValueError("a feature of partial cases does not exist")

    @property
    def _parts(self) -> str:
        """What the model is made of beside its arcs."""
        return counted(len(self.networks), "network")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @cached_property
    def n_parameters(self) -> int:
        """Free parameters: weights and biases, the prior, and all tables in use.

        A table counts the parent configurations that training contains.
        """
        total = int(np.count_nonzero(self.weights)) + 2 * self.n_classes
        for network in self.networks:
            numbers = network.n_configurations
            depths = np.minimum(np.arange(self.weights.shape[1]), numbers.shape[1] - 1)
            n_tables = (numbers[:, depths] * (self.weights != 0)).sum(axis=1)
            n_states = np.array(radices_of(network.maps)) - 1
            total += int(n_tables @ (n_states - 1)) * self.n_classes
        return total + sum(more.n_parameters for more in self.beside_tables)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a summary tells beside counts and arcs."""
        n_networks, least = len(self.networks), self.min_rows or 1
        average = f"an average of {n_networks} networks"
        lines = [f"{average}, terms weighted by what is new in it"]
        if least > 1:
            few = f"parents' states of less than {least} rows"
            lines.append(f"{few} count as one parent fewer")
        lines.append(f"its tables take {size_text(self.n_bytes)} of memory")
        if self.trees is not None and len(self.trees.classes):
            trees = f"{len(self.trees.classes)} trees"
            lines.append(
                f"{trees} add what conjunctions of states say: rules() lists them"
            )
        return (
            *lines,
            'one drawing instead: KDBClassifier(k="auto", smoothing="auto", '
            'calibration="leave_one_out"), '
            f"at a mean log-loss of {MEASURED_LOG_LOSS['KDB auto, calibrated']} "
            f"against {MEASURED_LOG_LOSS['averaged KDB']} on 46 tables",
        )

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the cells of all networks, and trees of them, take."""
        cells = sum(network.counts.nbytes for network in self.networks)
        return self._bank.networks.size[0] + cells

    log_likelihood_scope = (
        "class given the features, each training row left out of the tables"
    )

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """All (parent, child) pairs of indices, by child, the class first."""
        class_index = len(self.domain) - 1
        return [
            (parent, child)
            for child in range(class_index)
            for parent in (class_index, *self._parent_weights[child])
        ]

    @property
    def arc_weights(self) -> Mapping[tuple[int, int], float]:
        """Total weight of the child's terms that look at the parent."""
        class_index, total = len(self.domain) - 1, self.weights.sum(axis=1)
        if self.linear is not None:
            total[self.linear.families.features] += self.linear.weights.sum(axis=1)
        return {
            (parent, child): float(total[child])
            if parent == class_index
            else self._parent_weights[child][parent]
            for parent, child in self.arcs
        }

    @property
    def weighted_arcs(self) -> list[WeightedEdge]:
        """The arcs by name, with their weights."""
        names = self.domain.names
        return [
            WeightedEdge(names[parent], names[child], weight)
            for (parent, child), weight in self.arc_weights.items()
        ]

    @cached_property
    def feature_marginals(self) -> list[Floats]:
        """Shares of the states in training, one row more a state."""
        smoothed = [counts + 1.0 for counts in self.state_counts]
        return [counts / counts.sum() for counts in smoothed]

    def feature_shape(
        self, feature: int, classes: tuple[Hashable, ...]
    ) -> FeatureShape:
        """Contributions of the states where no other feature is known."""
        if feature in self.sharing.rule.monotone:
            alone = self.scores_of_states(feature)
            alone = alone / (self.weights[feature].sum() or 1.0)
        else:
            alone = self.log_probabilities_of_states(feature)
        counts = self.state_counts[feature]
        return feature_shape(self.domain[feature], alone, counts, classes)

    def scores_of_states(self, feature: int) -> Floats:
        """Mean over networks of ln P(state | class) by weight, and what is beside.

        Shape (n_states, n_classes), nats.
        """
        alone = self.log_probabilities_of_states(feature) * self.weights[feature].sum()
        for more in self.beside_tables:
            alone += more.alone(feature, self._every_state(feature))
        return np.asarray(alone)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The base, the families of all networks, densities, curves and trees."""
        return (
            Look.constant(self.base),
            *nested_terms(self.networks, self.weights, self.smoothing, self.n_classes),
            *(t for part in self.beside_tables for t in part.terms(self.domain.cards)),
        )

    @cached_property
    def _parent_weights(self) -> list[dict[int, float]]:
        """For each feature, its parents by falling weight."""
        return parent_weights(self.networks, self.weights, self.linear)

    def feature_parents(self, feature: int) -> Sequence[int]:
        """Features that some network conditions a feature on, by falling weight."""
        return list(self._parent_weights[feature])

    @cached_property
    def _bank(self) -> FamilyBank:
        """The families of all networks."""
        return FamilyBank.from_networks(self.networks, self.n_classes, self.smoothing)

    def class_log_scores(self, codes: Codes) -> LogScores:
        """Log score (nats) of each class, shape (n_rows, n_classes).

        Where all features are known, terms count as they were learned, else by
        `PartialCases`. Where too few training rows have the states of a family's
        parents, the term of one parent fewer is repeated.
        """
        known = known_cells(codes, len(self.weights))
        is_whole = np.asarray(known.all(axis=1))
        if is_whole.all():
            return self._scores_of_whole(codes)
        if not is_whole.any():
            return self._scores_of_partial(codes, known)
        scores = np.empty((codes.n_rows, self.n_classes))
        scores[is_whole] = self._scores_of_whole(codes.rows(is_whole))
        is_partial = ~is_whole
        scores[is_partial] = self._scores_of_partial(
            codes.rows(is_partial), known[is_partial]
        )
        return scores

    def _scores_of_whole(self, codes: Codes) -> LogScores:
        """Scores of rows all of whose features are known."""
        scores = np.tile(self.base, (codes.n_rows, 1))
        self._bank.add_scores(codes, self.weights[None] / len(self.networks), scores)
        for more in self.beside_tables:
            more.add(codes, scores)
        return scores

    def _scores_of_partial(self, codes: Codes, known: NDArray[np.bool_]) -> LogScores:
        """Scores of rows under the weights of their sets of known features."""
        scores = np.empty((codes.n_rows, self.n_classes))
        step = max(1, _BLOCK_VALUES // (self.n_classes * (1 + self.weights.size)))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, first + step)
            part, total = codes.rows(rows), scores[rows]
            sets, of_row = distinct_sets(known[rows])
            case = self.sharing.weights_of(sets)
            total[:] = self.bases(case.base)[of_row]
            scales = case.steps / len(self.networks)
            self._bank.add_scores(part, scales, total, of_row)
            if self.beside_tables:
                changes = self._changes(part).sum(axis=3)
                total += (changes @ case.others[of_row][:, :, None])[:, :, 0]
        return scores

    @cached_property
    def sharing(self) -> Sharing:
        """How terms share evidence in partial cases.

        As learned, or by the information of each feature alone in the tables.
        """
        rule = self.partial
        if rule is None:
            features = range(len(self.weights))
            logs = [self.log_probabilities_of_states(feature) for feature in features]
            rule = PartialCases.of_shares(self.prior, logs)
        parents = parents_of(self.networks, self.weights.shape[1])
        return Sharing(rule, self.weights, parents, log_of(self.prior))

    def _case_weights(self, codes: Codes) -> tuple[CaseWeights, NDArray[np.int64]]:
        """What terms count in sets of known features, and the set of each row."""
        sets, of_row = distinct_sets(known_cells(codes, len(self.weights)))
        return self.sharing.weights_of(sets), of_row

    def base_shares(self, codes: Codes) -> Floats:
        """How far the base of each row counts as learned; one if all is known."""
        known = known_cells(codes, len(self.weights))
        return self.sharing.rule.shares(known)[1]

    def bases(self, shares: Floats) -> Floats:
        """Between the log prior at zero and the base at one, (n_sets, n_classes)."""
        return self.sharing.bases(self.base, shares)

    def _changes(self, codes: Codes) -> Floats:
        """Numbers, curves and trees by row, class, feature, alone and given others."""
        shape = codes.n_rows, self.n_classes, len(self.weights), 2
        parts = (part.changes(codes, shape[2]) for part in self.beside_tables)
        return sum(parts, np.zeros(shape))

    def log_probabilities(self, codes: Codes) -> Floats:
        """Mean log-probabilities of the networks, without the weights.

        Shape (n_rows, n_classes, n_features, 1 + max_parents), nats; alike for all
        classes where a state is unknown. Depths that never count repeat the last one
        that may.
        """
        n_features, n_depths = self.weights.shape
        values = np.empty((codes.n_rows, self.n_classes, n_features * n_depths))
        features, used = range(n_features), self.sharing.used_depths
        self._bank.write_log_probabilities(
            features, codes, values, 0, n_depths, used=used
        )
        return values.reshape(codes.n_rows, self.n_classes, n_features, n_depths)

    def log_probabilities_of_states(self, feature: int) -> Floats:
        """Mean over networks of ln P(state | class), shape (n_states, n_classes)."""
        codes = self._every_state(feature)
        logs = np.empty((codes.n_rows, self.n_classes, 1))
        self._bank.write_log_probabilities(
            range(feature, feature + 1), codes, logs, 0, 1
        )
        return logs[:, :, 0]

    def state_proba(self, rows: Codes, feature: int, log_proba: Floats) -> Floats:
        """P(state | what else is known), by the classes that are still probable."""
        n_features, n_depths = self.weights.shape
        logs = np.empty((rows.n_rows, self.n_classes, n_depths))
        features = range(feature, feature + 1)
        self._bank.write_log_probabilities(features, rows, logs, 0, n_depths)
        known = known_cells(rows, n_features)[:1]
        factors = self.sharing.mean_factors(known)[0, feature]
        # Deeper changes count less; without weight in whole rows they are not stored.
        shares = 1.0 - np.arange(n_depths) / n_depths
        shares *= (np.cumsum(self.weights[feature, ::-1])[::-1] > 0) | (shares == 1.0)
        changes = np.diff(logs, axis=2, prepend=0.0)
        by_class = np.exp(log_normalize((changes @ (shares * factors)).T))
        return np.asarray(np.exp(log_proba) @ by_class)

    def _every_state(self, feature: int) -> Codes:
        """A row for each state of a feature, the other features anything."""
        n_states = self.domain[feature].n_states
        columns = [np.zeros(n_states, dtype=np.uint16)] * (len(self.domain) - 1)
        columns[feature] = np.arange(n_states, dtype=np.uint16)
        return Codes.from_columns(columns, self.domain.cards[:-1])

    @property
    def beside_tables(self) -> list[WeightedLinearFamilies | Curves | ClassTrees]:
        """Numbers, curves and trees, as far as there are any."""
        parts = (self.linear, self.curves, self.trees)
        return [more for more in parts if more is not None]

    def contributions(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Split the log-odds of `target` against `against` exactly.

        The prior's part is the weighted log prior and the bias.
        """
        prior, increments = self.increments(codes, target, against)
        return prior, increments.sum(axis=2)

    def increments(
        self, codes: Codes, target: NDArray[np.intp], against: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """The same, each feature alone, and what others change.

        Returns the prior's part (n_rows,) and increments (n_rows, n_features, 2 +
        max_parents): the contribution of a feature where no other is known; what each
        further parent adds; and what is gained or lost as others share its evidence,
        and by numbers, curves and trees. Along the last axis they add up to its
        contribution.
        """
        n_features, n_depths = self.weights.shape
        found = np.empty((codes.n_rows, n_features, n_depths + 1))
        by_itself = self.sharing.rule.alone_weights(self.weights)[:, 0]
        base = np.empty((codes.n_rows, self.n_classes))
        step = max(1, _BLOCK_VALUES // (self.n_classes * found[:1].size))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, first + step)
            part = codes.rows(rows)
            odds_of = partial(odds_between, target[rows], against[rows])
            case, of_row = self._case_weights(part)
            # The logarithm at depth j is that at depth j - 1 and what parent j changes.
            odds = odds_of(self.log_probabilities(part))
            changed = case.depths[of_row] * np.diff(odds, axis=2, prepend=0.0)
            found[rows, :, 0] = by_itself * odds[:, :, 0]
            found[rows, :, 1:-1] = changed[:, :, 1:]
            found[rows, :, -1] = changed[:, :, 0] - found[rows, :, 0]
            if self.beside_tables:
                changes = odds_of(self._changes(part).sum(axis=3))
                found[rows, :, -1] += changes * case.others[of_row]
                for feature in self.sharing.rule.monotone:
                    # In order alone, too: its whole sum, at a weight of one.
                    weight = self.weights[feature].sum() or 1.0
                    alone = changes[:, feature] / weight
                    found[rows, feature, 0] += alone
                    found[rows, feature, -1] -= alone
            base[rows] = self.bases(case.base)[of_row]
        return odds_between(target, against, base), found

    def _levels(self, codes: Codes) -> AverageLevels:
        case, of_row = self._case_weights(codes)
        return AverageLevels(
            self.networks, case.steps[of_row], self.smoothing, codes, self.n_classes
        )

    def n_training_rows(self, support: SupportCounts) -> float:
        """Weight of the rows that know the feature which fewest know."""
        return min(float(counts.sum()) for counts in self.state_counts)

    def drawn(
        self, support: SupportCounts, rng: np.random.Generator
    ) -> AveragedKDBModel:
        """Return the same model with drawn weights of all occupied cells.

        Cells that are left with less than a row disappear. Where counts are rounded
        and not drawn, numbers count in intervals alone: sums of their products tell
        more of single rows than any rounding of counts hides.
        """
        networks = tuple(
            replace(network, counts=network.counts.drawn(rng))
            for network in self.networks
        )
        counts = tuple(np.floor(rng.standard_gamma(n)) for n in self.state_counts)
        if isinstance(rng, np.random.Generator):
            return replace(self, networks=networks, state_counts=counts)
        tables = replace(self, networks=networks, state_counts=counts)
        return replace(tables, linear=None, curves=None, trees=None)

    def score_variance(self, codes: Codes) -> Floats:
        """Variance of class log scores, nats squared, shape (n_rows, n_classes).

        Sums over features are taken as normal; see `AverageLevels.variance`. What
        numbers say as numbers is as sure as its densities tell, and stays.
        """
        return self._levels(codes).variance()

    def term_deviation(self, codes: Codes, feature: int) -> Floats:
        """Standard deviation of a feature's term, nats, shape (n_rows, n_classes)."""
        nothing = np.zeros((codes.n_rows, self.n_classes))
        return dict(self._levels(codes).deviations()).get(feature, nothing)

    def used_cells(self, codes: Codes, support: SupportCounts) -> Iterator[UsedCells]:
        """Deepest distributions that have weight, in the network with fewest rows."""
        found = self._levels(codes).fewest_rows(codes.n_variables)
        return RowFacts(self.domain, codes).of_features(found)

    def with_class_prior(self, class_prior: Floats) -> AveragedKDBModel:
        """Return the same model under another class prior, shape (n_classes,).

        The change of the log prior counts in full, whatever the prior's weight.
        """
        new = np.asarray(class_prior, dtype=np.float64)
        base = self.base + (log_of(new) - log_of(self.prior))
        return replace(self, prior=new, base=base)


def nested_terms(
    networks: Sequence[RandomNetwork],
    weights: Floats,
    smoothing: Smoothing,
    n_classes: int,
) -> Iterator[Counts]:
    """The mean over networks of their families at all depths, by weight.

    `weights` (n_features, n_depths) are those of each feature at each depth; a family
    of fewer parents repeats its deepest evidence.
    """
    rule = pseudo_weights(smoothing)
    for network in networks:
        maps = [states.astype(np.int64) for states in network.maps]
        for feature, by_depth in enumerate(weights / len(networks)):
            family = network.counts.variables(feature)
            depths = by_depth[: len(family)].copy()
            depths[-1] += by_depth[len(family) :].sum()
            # Parents without weight are summed out. A feature without any counts in
            # partial cases.
            used = np.flatnonzero(depths)
            family = family[: 1 + int(used.max(initial=0))]
            counts = network.counts[feature]
            yield Counts(
                tuple(family),
                tuple(maps[member] for member in family),
                counts.states[: len(family)].T.astype(np.int64),
                counts.classes.astype(np.int64),
                counts.weights.astype(np.float64),
                depths[: len(family)],
                rule,
                n_classes,
            )


class FamilyLevel(NamedTuple):
    """The Dirichlet distributions that rows use at one depth of a family."""

    cells: Floats  # (n_rows, n_classes), parameter of the row's state
    parents: Floats  # (n_rows, n_classes), sum of the parameters
    known: NDArray[np.bool_]  # (n_rows,), whether the feature's state is known
    strength: float  # what smoothing adds to `parents`


def family_levels(
    family: NestedFamilies, states: States, smoothing: Smoothing, shape: tuple[int, int]
) -> Iterator[FamilyLevel]:
    """Smoothed weights of a feature's state and of its parents', depth by depth.

    `states` (n_features, n_rows) are in the network's coding, `shape` is (n_classes,
    n_depths). Starts without parents; a level repeats the one before where the parents'
    states do not exist, or no parent is left.
    """
    n_classes, n_depths = shape
    prior = PseudoCounts.from_rule(smoothing, family.marginal)
    rows = states[list(family.variables)]
    known = rows[0] < family.radices[0] - 1
    prior_rows = prior.states[rows[0]][:, None]
    exists = np.ones(len(known), dtype=np.bool_)
    cells = parents = np.ones((len(known), n_classes))
    for depth in range(n_depths):
        if depth < len(family.variables):
            of_parents = _weights(family, slice(1, depth + 1), rows, n_classes)
            if depth:
                exists &= rows[depth] < family.radices[depth] - 1
                exists &= of_parents.any(axis=1)
            of_cells = (
                _weights(family, slice(0, depth + 1), rows, n_classes) + prior_rows
            )
            cells = np.where((exists & known)[:, None], of_cells, cells)
            sums = np.maximum(of_parents + prior.strength, cells)
            parents = np.where(exists[:, None], sums, parents)
        yield FamilyLevel(cells, parents, known, prior.strength)


def _weights(
    family: NestedFamilies, members: slice, rows: States, n_classes: int
) -> Floats:
    """Training weight of each row's states of some members, (n_rows, n_classes)."""
    counts, radices = family.counts, family.radices[members]
    cells = joint_cells(counts.states[members], radices)
    keys, numbers = np.unique(cells, return_inverse=True)
    table = np.bincount(
        numbers * n_classes + counts.classes,
        counts.weights,
        (len(keys) + 1) * n_classes,
    ).reshape(len(keys) + 1, n_classes)
    wanted = joint_cells(rows[members], radices)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    places = np.where(keys[places] == wanted, places, len(keys))
    return np.asarray(table[places], dtype=np.float64)


class AverageLevels:
    """The distributions that rows use in all networks of an average.

    `weights` (n_rows, n_features, n_depths).
    """

    def __init__(
        self,
        networks: Sequence[RandomNetwork],
        weights: Floats,
        smoothing: Smoothing,
        codes: Codes,
        n_classes: int,
    ) -> None:
        self._networks, self._weights, self._codes = networks, weights, codes
        self._smoothing, self._shape = smoothing, (n_classes, weights.shape[2])
        self._used = np.flatnonzero(weights.any(axis=(0, 2))).tolist()

    def variance(self) -> Floats:
        """Variance of the rows' log scores under draws, (n_rows, n_classes).

        The logarithm of a Dirichlet's probability with parameter a of A has, to first
        order, the variance (A - a) / (a (A + 1)). The networks count the same rows, so
        their terms of one feature move together, that on different features
        independently.
        """
        nothing = np.zeros((self._codes.n_rows, self._shape[0]))
        return sum((part**2 for _, part in self.deviations()), nothing)

    def deviations(self) -> Iterator[tuple[int, Floats]]:
        """Features and standard deviations of their terms, (n_rows, n_classes)."""
        for feature in self._used:
            deviation = np.zeros((self._codes.n_rows, self._shape[0]))
            for network in self._networks:
                levels = self._levels(network, feature)
                weights = self._weights[:, feature].T[:, :, None]
                for weight, level in zip(weights, levels, strict=True):
                    others = level.parents - level.cells
                    spread = others / (level.cells * (level.parents + 1.0))
                    deviation += weight * level.known[:, None] * np.sqrt(spread)
            yield feature, deviation / len(self._networks)

    def fewest_rows(self, n_variables: int) -> Floats:
        """Rows behind the deepest distributions that have weight, where fewest.

        Shape (n_variables, n_rows, n_classes); infinite where there is none.
        """
        shape = n_variables, self._codes.n_rows, self._shape[0]
        found = np.full(shape, np.inf)
        for network in self._networks:
            for feature in self._used:
                levels = self._levels(network, feature)
                for weight, level in zip(self._weights[:, feature].T, levels):
                    rows = level.parents - level.strength
                    counts = (weight != 0.0) & level.known
                    rows = np.where(counts[:, None], rows, np.inf)
                    found[feature] = np.minimum(found[feature], rows)
        return found

    def _levels(self, network: RandomNetwork, feature: int) -> Iterator[FamilyLevel]:
        """Distributions that rows use of a feature in one network, by depth."""
        states = network.states(self._codes)
        family = network.families[feature]
        return family_levels(family, states, self._smoothing, self._shape)
