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

    bank = FamilyBank.from_networks(networks, n_classes)

    def fill(feature: int) -> None:
        first = 1 + feature * n_depths
        bank.write_log_probabilities(
            feature, codes, rule, values, first, n_depths, shares
        )

    tasks = [partial(fill, i) for i in range(n_features)]
    if linear is not None:
        tasks.append(
            partial(linear.write_log_densities, codes, values, n_tables, shares)
        )
    run_tasks(tasks, counts.n_jobs)
    return LogProbabilities(values, own, codes.weights, counts.n_jobs)


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
    codes: Codes, parents: Sequence[Sequence[int]], maps: Maps
) -> RandomNetwork:
    """Counts of every feature with as many parents as keys can tell apart.

    Parameters
    ----------
    codes : Codes
        The training table, class last.
    parents : sequence of sequence of int
        Parents of each feature, strongest first.
    maps : tuple of ndarray of dtype uint16
        For each feature, the state that each of its codes stands for.
    """
    radices = radices_of(maps)
    chosen = []
    for child, its_parents in enumerate(parents):
        family, n_cells = [child], radices[child]
        for parent in its_parents:
            n_cells *= radices[parent]
            if n_cells > MAX_CELLS:
                break
            family.append(parent)
        chosen.append(tuple(family))
    return RandomNetwork(maps, count_occupied(codes, chosen, maps))


def sampling_tasks(
    counts: CountSource,
    maps: Sequence[Maps],
    rng: np.random.Generator,
    max_parents: int,
    max_table_cells: int,
) -> list[Callable[[], RandomNetwork]]:
    """For each network, what draws it and counts every feature and its parents.

    Parameters
    ----------
    counts : CountSource
        Of the training table.
    maps : sequence of tuple of ndarray
        The coding of each network.
    rng : Generator
        Gives each network a seed of its own.
    max_parents : int
        Most parents of a feature.
    max_table_cells : int
        Largest family that is counted.
    """
    codes = counts.rows()
    seeds = rng.integers(1 << 63, size=len(maps))
    alike = all(
        one is other
        for others in maps[1:]
        for one, other in zip(maps[0], others, strict=True)
    )
    # Several codings are counted side by side, each on one thread.
    measure = partial(_measured, counts, max_table_cells=max_table_cells)
    shared = measure(maps[0], counts.n_jobs) if alike else None

    def sample(network: int) -> RandomNetwork:
        generator = np.random.default_rng(seeds[network])
        measured = shared or measure(maps[network], 1)
        parents = noisy_parents(*measured, max_parents, generator)
        return count_network(codes, parents, maps[network])

    return [partial(sample, m) for m in range(len(maps))]


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
