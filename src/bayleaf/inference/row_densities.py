"""Logarithms of the probabilities of rows under a network, in any of its forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from math import fsum

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, CountSource
from bayleaf.counts.table_counts import summed_over_rows
from bayleaf.counts.threads import run_tasks, stretches, thread_count
from bayleaf.cpds.local_structure import log_probabilities_of_rows
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialValues, complete
from bayleaf.inference.encoded_rows import log_likelihood_rows
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.network_trees import NetworkTrees

Floats = NDArray[np.float64]

# Completions of a row that are looked up one by one, and those of a block.
_MOST_LISTED = 1024
_BLOCK_ROWS = 1 << 18
# Rows that are looked up at a time: what they need stays in the cache.
_LOOKED_UP_ROWS = 1 << 15


def log_densities(
    network: Factorisation,
    codes: Codes,
    n_jobs: int | None = None,
    *,
    max_table_cells: int = 20_000_000,
) -> Floats:
    """Log-probability (nats) of each row, (n_rows,); minus infinity if impossible.

    Rows in which nothing that counts is missing are looked up in the distributions,
    trees without being expanded. Missing cells are summed out exactly: in all the ways
    to fill them where these are few, otherwise by the junction tree; ValueError if that
    needs a table larger than `max_table_cells`.
    """
    threads = thread_count(n_jobs)

    parts = [
        partial(_looked_up, network, codes, slice(first, last))
        for first, last in stretches(codes.n_rows, threads)
    ]
    found = np.concatenate(run_tasks(parts, threads))
    incomplete = np.flatnonzero(np.isnan(found))
    numbers = _numbers_of_completions(codes, incomplete)
    for first, last in _blocks(numbers[numbers <= _MOST_LISTED]):
        rows = incomplete[numbers <= _MOST_LISTED][first:last]
        part = codes.rows(rows)
        # A missing cell may contain any state.
        holes = PartialValues.from_cells(
            (np.flatnonzero(part.missing(variable)), variable, tuple(range(card)))
            for variable, card in enumerate(part.cards)
        )
        listed = complete(part, holes)
        found[rows] = listed.log_sums(_looked_up(network, listed.codes, slice(None)))
    rows = incomplete[numbers > _MOST_LISTED]
    if len(rows):
        trees = NetworkTrees(network, max_table_cells=max_table_cells)
        found[rows] = log_likelihood_rows(trees, codes.rows(rows), n_jobs)
    return found


def log_densities_of_partial_rows(
    network: Factorisation,
    codes: Codes,
    partial: PartialValues,
    n_jobs: int | None = None,
    *,
    max_table_cells: int = 20_000_000,
) -> Floats:
    """Log-probability (nats) of rows whose cells may contain sets of states.

    The probability of a set is the sum over its states; see `log_densities`. ValueError
    names a row whose sets have too many joint states.
    """
    listed = complete(codes, partial)
    logs = log_densities(network, listed.codes, n_jobs, max_table_cells=max_table_cells)
    return listed.log_sums(logs)


def log_likelihood_of_rows(
    network: Factorisation,
    source: CountSource,
    n_jobs: int | None = None,
    *,
    partial_values: PartialValues | None = None,
    max_table_cells: int = 20_000_000,
) -> float:
    """Log-likelihood (nats) of all rows of a table, block by block.

    `partial_values` are for tables in memory. Errors as `log_densities`.
    """
    sets = PartialValues.none() if partial_values is None else partial_values

    def of_block(codes: Codes) -> Counts:
        densities = log_densities_of_partial_rows(
            network, codes, sets, n_jobs, max_table_cells=max_table_cells
        )
        return np.array([fsum(codes.weights * densities)])

    return float(summed_over_rows(source, of_block)[0])


def _numbers_of_completions(codes: Codes, rows: NDArray[np.intp]) -> Floats:
    """Number of completions of some rows, shape (n_rows,)."""
    numbers = np.ones(len(rows))
    for variable, card in enumerate(codes.cards):
        missing = codes.missing(variable)[rows]
        # Huge numbers need not be exact, nor may they overflow.
        numbers[missing] = np.minimum(numbers[missing] * card, 1e12)
    return numbers


def _blocks(numbers: Floats) -> Iterator[tuple[int, int]]:
    """Stretches of rows with so many completions that make blocks of bounded size."""
    block = np.cumsum(numbers) // _BLOCK_ROWS
    edges = np.flatnonzero(np.diff(block, prepend=-1.0, append=np.inf))
    yield from itertools.pairwise(edges.tolist())


def _looked_up(network: Factorisation, codes: Codes, where: slice) -> Floats:
    """The product over all variables in some rows; NaN where a cell is missing."""
    start, stop, _ = where.indices(codes.n_rows)
    total = np.zeros(stop - start)
    for first in range(start, stop, _LOOKED_UP_ROWS):
        last = min(first + _LOOKED_UP_ROWS, stop)
        rows = codes.rows(slice(first, last))
        for cpd in network.cpds:
            total[first - start : last - start] += log_probabilities_of_rows(cpd, rows)
    return total
