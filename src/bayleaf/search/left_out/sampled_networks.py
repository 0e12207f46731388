"""What averaged KDB counts, and what left-out rows then say of the classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import class_and_pair_information
from bayleaf.counts.occupied import (
    MAX_CELLS,
    CountedSize,
    count_occupied,
    occupied_size,
)
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.random_network import FamilyBank, OwnShares, RandomNetwork, radices_of
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.search.constraints import Constraints, Edge
from bayleaf.search.feature_orders import log_information, noisy_parents
from bayleaf.search.left_out.component_weights import LogProbabilities
from bayleaf.search.left_out.left_out_scores import (
    LeaveOneOutScores,
    LeftOutRows,
    cell_rule,
    left_out_class_counts,
)
from bayleaf.wording import counted

# What is left of a class when its only row is left out, under an m-estimate.
_LEAST_PRIOR = 1e-15

# Joint states beyond which a family is not made larger: each would have but few rows,
# and take memory and time all the same. No table of fewer rows has as many.
_MANY_CELLS = 2**20
_LOG_OF_MANY = math.log(_MANY_CELLS)

# The rules among which smoothing="auto" chooses.
SMOOTHING_GRID: tuple[Smoothing, ...] = (
    Dirichlet(1.0),
    Dirichlet(0.3),
    Dirichlet(3.0),
    Lidstone(1.0),
    MEstimate(1.0),
)

Maps = tuple[NDArray[np.uint16], ...]
# Logarithms of I(X;C) and of I(X;X'|C), nats.
Measured = tuple[NDArray[np.float64], NDArray[np.float64]]
# Columns above which information is measured in one coding of few states.
_MANY_COLUMNS, _FEW_STATES = 60, 9
# Networks below which an average loses more than by fewer configurations.
_FEWEST_NETWORKS = 16
# Bytes that a model may take for each of its cells, which its file holds.
_BYTES_A_CELL = 16


def left_out_log_probabilities(
    bank: FamilyBank,
    n_depths: int,
    counts: CountSource,
    left_out: LeftOutRows,
    rule: Smoothing,
    linear: LinearGaussianFamilies | None = None,
) -> LogProbabilities:
    """Log-probabilities of left-out rows, under the rule of the networks.

    The prior comes first, then every feature at every depth, then the pieces of the
    linear families.
    """
    codes, own = left_out.codes, left_out.own.astype(np.int64)
    n_rows, n_classes = codes.n_rows, codes.cards[-1]
    n_features = codes.n_variables - 1
    n_tables = 1 + n_features * n_depths
    n_pieces = n_tables + (0 if linear is None else linear.n_columns_of_pieces)
    values = np.empty((n_rows, n_classes, n_pieces), dtype=np.float32)
    cells = left_out_class_counts(counts.class_counts(), left_out)
    prior = np.broadcast_to(cell_rule(rule).probabilities(cells), (n_classes, n_rows))
    values[:, :, 0] = np.log(np.maximum(prior, _LEAST_PRIOR)).T

    shares = OwnShares(own, left_out.shares)

    def fill(feature: int) -> None:
        first = 1 + feature * n_depths
        features = range(feature, feature + 1)
        bank.write_log_probabilities(features, codes, values, first, n_depths, shares)

    tasks = [partial(fill, i) for i in range(n_features)]
    if linear is not None:
        tasks.append(
            partial(linear.write_log_densities, codes, values, n_tables, shares)
        )
    run_tasks(tasks, counts.n_jobs)
    return LogProbabilities(values, own, codes.weights, counts.n_jobs)


def even_weights(
    logs: LogProbabilities, n_features: int, n_depths: int
) -> NDArray[np.float64]:
    """Weights under which each feature's tables count once, the prior's first."""
    even = np.zeros(logs.values.shape[2])
    even[0] = 1.0
    even[1 : 1 + n_features * n_depths] = 1.0 / n_depths
    return even


def scores_of(
    log_scores: NDArray[np.float64], logs: LogProbabilities
) -> LeaveOneOutScores:
    """Leave-one-out scores of log scores (n_rows, n_classes)."""
    return LeaveOneOutScores.of(log_scores.T, logs.own, logs.weights)


def state_counts(counts: CountSource) -> tuple[NDArray[np.float64], ...]:
    """Weight of the training rows in each state of each feature."""
    n_features = counts.class_index
    families = [(n_features, feature) for feature in range(n_features)]
    return tuple(table.sum(axis=0) for table in counts.family_counts(families))


def recoded(codes: Codes, maps: Maps) -> Codes:
    """The training table under one network's coding, class last."""
    cards = [radix - 1 for radix in radices_of(maps)]
    weights = None if codes.unit_weights else codes.weights
    states = Codes.empty((*cards, codes.cards[-1]), codes.n_rows, weights)
    for variable, values in enumerate(maps):
        out = states.column(variable)
        # Unlike indexing, this lets other threads go on.
        np.take(values.astype(out.dtype), codes.column(variable), out=out, mode="clip")
    states.column(len(maps))[:] = codes.column(len(maps))
    return states


def counted_families(
    parents: Sequence[Sequence[int]],
    maps: Maps,
    log_cards: NDArray[np.float64],
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Every feature with as many parents as rows and keys distinguish.

    `parents` are listed strongest first; `maps` (uint16) map codes to states.
    `log_cards` (n_features + 1,) are logarithms of the numbers of states in effect, the
    class last. Required parents are counted however few rows distinguish them.
    """
    required = frozenset[Edge]() if constraints is None else constraints.required_edges
    radices, log_sizes = radices_of(maps), log_cards.tolist()
    chosen = []
    for child, its_parents in enumerate(parents):
        family, n_cells = [child], radices[child]
        log_cells = log_sizes[child] + log_sizes[-1]
        for parent in its_parents:
            n_cells *= radices[parent]
            log_cells += log_sizes[parent]
            is_large = log_cells > _LOG_OF_MANY
            if n_cells > MAX_CELLS or (is_large and (parent, child) not in required):
                break
            family.append(parent)
        chosen.append(tuple(family))
    return chosen


@dataclass(eq=False)
class NetworkSampler:
    """Sampler of networks that counts every feature and its parents in each."""

    counts: CountSource
    codings: Sequence[Maps]  # of network m: the one at m modulo their number
    seeds: NDArray[np.int64]  # one per network
    max_parents: int  # of a feature
    max_table_cells: int  # of a counted family
    constraints: Constraints | None = None  # arcs among the features

    @cached_property
    def _in_states(self) -> Sequence[NDArray[np.float64]]:
        return (*state_counts(self.counts), self.counts.class_counts())

    @cached_property
    def _shared(self) -> Measured | None:
        """Information in one coding for all networks, of one or of many columns."""
        maps = self.codings[0]
        if len(self.codings) > 1:
            if len(maps) <= _MANY_COLUMNS:
                return None
            maps = coarse_coding(self.codings)
        return self._measured(maps, self.counts.n_jobs)

    def _measured(self, maps: Maps, n_jobs: int) -> Measured:
        """Logarithms of I(X;C) and I(X;X'|C), nats, in one coding."""
        coded = self.counts
        if any((states != np.arange(len(states))).any() for states in maps):
            codes = recoded(coded.rows(), maps)
            coded = RowCounts(codes, n_jobs, max_table_cells=self.max_table_cells)
        relevance, information = class_and_pair_information(coded)
        return log_information(relevance), log_information(information)

    def _drawn(self, network: int) -> tuple[Maps, list[tuple[int, ...]]]:
        """The coding of a network, and its families."""
        maps = self.codings[network % len(self.codings)]
        measured = self._shared or self._measured(maps, 1)
        rng = np.random.default_rng(self.seeds[network])
        parents = noisy_parents(*measured, self.max_parents, rng, self.constraints)
        log_cards = _log_cards(self._in_states, maps)
        return maps, counted_families(parents, maps, log_cards, self.constraints)

    def network(self, network: int, min_rows: float) -> RandomNetwork:
        """A network in which configurations of parents exist that enough rows have."""
        maps, families = self._drawn(network)
        codes = self.counts.rows()
        return RandomNetwork(maps, count_occupied(codes, families, maps, min_rows))

    @cached_property
    def _first(self) -> tuple[Maps, list[tuple[int, ...]]]:
        return self._drawn(0)

    def size(self, min_rows: float) -> CountedSize:
        """What the first network takes."""
        maps, families = self._first
        return occupied_size(self.counts.rows(), families, maps, min_rows)

    def fitting_size(
        self,
        n_networks: int,
        max_bytes: int,
        limit: str = "max_model_size",
        n_shares: int = 1,
        *,
        is_given: bool,
    ) -> tuple[int, int]:
        """Number of networks, and least rows of a configuration, that fit `max_bytes`.

        First the least rows rise, then the networks fall unless `is_given`:
        configurations of a few rows add less than a network. If even families without
        parents need more, ValueError names the parameter `limit`, which is `n_shares`
        times `max_bytes`, and what would be enough.
        """
        n_rows = float(self._in_states[-1].sum())
        sizes = _candidate_sizes(n_networks, n_rows, is_given=is_given)
        measured = cache(self.size)

        def fits(candidate: tuple[int, int]) -> bool:
            many, min_rows = candidate
            size = measured(min_rows)
            is_small = many * size.n_cells <= max_bytes // _BYTES_A_CELL
            return is_small and many * size.n_bytes <= max_bytes

        # The last one has no configurations.
        if not fits(sizes[-1]):
            many, min_rows = sizes[-1]
            size = measured(min_rows)
            enough = many * max(size.n_bytes, size.n_cells * _BYTES_A_CELL)
            raise ValueError(
                f"{limit}={max_bytes * n_shares} is too small for "
                f"{counted(many, 'network')} over {len(self.codings[0])} features; "
                f"{enough * n_shares} is enough, or choose fewer networks"
            )
        if fits(sizes[0]):
            return sizes[0]
        first, last = 0, len(sizes) - 1
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if fits(sizes[middle]) else (middle, last)
        return sizes[last]

    def tasks(
        self, n_networks: int, min_rows: float
    ) -> list[Callable[[], RandomNetwork]]:
        """What counts the networks; information is measured before, if it is shared."""
        _ = self._shared
        return [partial(self.network, m, min_rows) for m in range(n_networks)]


def _candidate_sizes(
    n_networks: int, n_rows: float, *, is_given: bool
) -> list[tuple[int, int]]:
    """Numbers of networks and least rows, the largest first."""
    found = [(n_networks, min_rows) for min_rows in (1, 2, 3, 5, 8, 12, 20)]
    if not is_given:
        fewer = [n for n in (32, _FEWEST_NETWORKS) if n < n_networks]
        found += [(n, 20) for n in fewer]
        n_networks = min(n_networks, _FEWEST_NETWORKS)
    min_rows = 50.0
    while min_rows <= 2.5 * n_rows:
        found.append((n_networks, int(min_rows)))
        min_rows *= 2.5
    return [*found, (n_networks, int(min_rows) + 1)]


def coarse_coding(codings: Sequence[Maps]) -> Maps:
    """Of each feature the finest coding of few states, or the coarsest of all."""

    def fitness(states: NDArray[np.uint16]) -> tuple[bool, int]:
        n_states = int(states[-1])
        is_coarse = n_states <= _FEW_STATES
        return is_coarse, n_states if is_coarse else -n_states

    return tuple(max(column, key=fitness) for column in zip(*codings, strict=True))


def _log_cards(
    in_states: Sequence[NDArray[np.float64]], maps: Maps
) -> NDArray[np.float64]:
    """How many states variables have in effect: their entropies, nats.

    Joint states of independent variables are as many as the product. Zeros where rows
    are too few to have many.
    """
    found = np.zeros(len(in_states))
    total = in_states[-1].sum()
    if total <= _MANY_CELLS:
        return found
    for variable, weights in enumerate(in_states):
        states = weights
        if variable < len(maps):
            coded = maps[variable][: len(weights)].astype(np.intp)
            states = np.bincount(coded, weights).astype(np.float64)
        shares = states[states > 0.0] / total
        found[variable] = -(shares @ np.log(shares))
    return found
