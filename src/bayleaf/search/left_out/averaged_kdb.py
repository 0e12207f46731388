"""What averaged KDB counts, and what left-out rows then say of the classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import (
    conditional_mutual_information_matrix,
    mutual_information,
)
from bayleaf.counts.occupied import MAX_CELLS, count_occupied, mapped_states
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.nested import radices_of
from bayleaf.cpds.random_network import FamilyBank, OwnShares, RandomNetwork
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.search.constraints import Constraints, Edge
from bayleaf.search.left_out.cells import (
    LeftOutRows,
    cell_rule,
    left_out_class_counts,
)
from bayleaf.search.left_out.leave_one_out import LeaveOneOutScores, loss_sums
from bayleaf.search.left_out.weights import LogProbabilities
from bayleaf.search.orders.noisy_kdb import log_information, noisy_parents

# What is left of a class when its only row is left out, under an m-estimate.
_LEAST_PRIOR = 1e-15

# Joint states beyond which a family is not made larger: each would have but few rows,
# and take memory and time all the same. No table of fewer rows has as many.
_MANY_CELLS = 2**20

# The rules among which smoothing="auto" chooses.
SMOOTHING_GRID: tuple[Smoothing, ...] = (
    Dirichlet(1.0),
    Dirichlet(0.3),
    Dirichlet(3.0),
    Lidstone(1.0),
    MEstimate(1.0),
)

Maps = tuple[NDArray[np.uint16], ...]


def left_out_log_probabilities(
    networks: tuple[RandomNetwork, ...],
    n_depths: int,
    counts: CountSource,
    left_out: LeftOutRows,
    rule: Smoothing,
    linear: LinearGaussianFamilies | None = None,
    min_rows: float = 1.0,
) -> LogProbabilities:
    """What the left-out rows say of the classes, under one rule.

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

    bank = FamilyBank.from_networks(networks, n_classes, rule, min_rows)

    def fill(feature: int) -> None:
        first = 1 + feature * n_depths
        bank.write_log_probabilities(feature, codes, values, first, n_depths, shares)

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
    sums = loss_sums(log_scores.T, logs.own, logs.weights)
    return LeaveOneOutScores.from_sums(sums, float(logs.weights.sum()))


def state_counts(counts: CountSource) -> tuple[NDArray[np.float64], ...]:
    """Weight of the training rows in each state of each feature."""
    n_features = counts.class_index
    families = [(n_features, feature) for feature in range(n_features)]
    return tuple(table.sum(axis=0) for table in counts.family_counts(families))


def recoded(codes: Codes, maps: Maps) -> Codes:
    """The training table under one network's coding, class last."""
    class_index = codes.n_variables - 1
    columns = mapped_states([codes.column(i) for i in range(class_index)], maps)
    cards = [radix - 1 for radix in radices_of(maps)]
    return Codes.from_columns(
        [*columns, codes.column(class_index)],
        (*cards, codes.cards[class_index]),
        None if codes.unit_weights else codes.weights,
    )


def count_network(
    codes: Codes,
    parents: Sequence[Sequence[int]],
    maps: Maps,
    log_cards: NDArray[np.float64],
    constraints: Constraints | None = None,
) -> RandomNetwork:
    """Counts of every feature with as many parents as rows and keys can tell apart.

    Parameters
    ----------
    codes : Codes
        The training table, class last.
    parents : sequence of sequence of int
        Parents of each feature, strongest first.
    maps : tuple of ndarray of dtype uint16
        For each feature, the state that each of its codes stands for.
    log_cards : ndarray of shape (n_features + 1,)
        Logarithm of how many states each feature, and the class last, has in effect.
    constraints : Constraints, optional
        Required parents are counted however few rows tell them apart.
    """
    required = frozenset[Edge]() if constraints is None else constraints.required_edges
    radices = radices_of(maps)
    chosen = []
    for child, its_parents in enumerate(parents):
        family, n_cells = [child], radices[child]
        log_cells = log_cards[child] + log_cards[-1]
        for parent in its_parents:
            n_cells *= radices[parent]
            log_cells += log_cards[parent]
            is_large = log_cells > np.log(_MANY_CELLS)
            if n_cells > MAX_CELLS or (is_large and (parent, child) not in required):
                break
            family.append(parent)
        chosen.append(tuple(family))
    return RandomNetwork(maps, count_occupied(codes, chosen, maps))


def sampling_tasks(
    counts: CountSource,
    codings: Sequence[Maps],
    n_networks: int,
    rng: np.random.Generator,
    max_parents: int,
    max_table_cells: int,
    constraints: Constraints | None = None,
) -> list[Callable[[], list[RandomNetwork]]]:
    """What draws networks, and counts every feature and its parents in each.

    Parameters
    ----------
    counts : CountSource
        Of the training table.
    codings : sequence of tuple of ndarray
        Network m takes the one at m modulo their number.
    n_networks : int
        Number of networks.
    rng : Generator
        Gives each network a seed of its own.
    max_parents : int
        Most parents of a feature.
    max_table_cells : int
        Largest family that is counted.
    constraints : Constraints, optional
        Arcs among the features that are required or forbidden.
    """
    codes = counts.rows()
    seeds = rng.integers(1 << 63, size=n_networks)
    measure = partial(_measured, counts, max_table_cells=max_table_cells)
    in_states = (*state_counts(counts), counts.class_counts())
    # A single coding is measured once; several, side by side, on one thread each.
    shared = measure(codings[0], counts.n_jobs) if len(codings) == 1 else None

    def sample(first: int, step: int) -> list[RandomNetwork]:
        maps = codings[first % len(codings)]
        measured = shared or measure(maps, 1)
        log_cards = _log_cards(in_states, maps)
        drawn = []
        for seed in seeds[first::step]:
            rng = np.random.default_rng(seed)
            parents = noisy_parents(*measured, max_parents, rng, constraints)
            drawn.append(count_network(codes, parents, maps, log_cards, constraints))
        return drawn

    n_tasks = n_networks if shared else min(len(codings), n_networks)
    return [partial(sample, m, n_tasks) for m in range(n_tasks)]


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


def _measured(
    counts: CountSource, maps: Maps, n_jobs: int, *, max_table_cells: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of I(X;C) and I(X;X'|C), nats, in one coding."""
    coded = counts
    if any((states != np.arange(len(states))).any() for states in maps):
        coded = TableCounts(
            recoded(counts.rows(), maps), n_jobs, max_table_cells=max_table_cells
        )
    return (
        log_information(mutual_information(coded)),
        log_information(conditional_mutual_information_matrix(coded)),
    )
