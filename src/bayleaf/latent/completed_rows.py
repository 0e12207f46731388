"""Incomplete rows as weighted complete rows, under a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Completions, PartialValues
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.row_propagation import log_densities
from bayleaf.models.bayesian_network import BayesianNetwork

# Completions of one row that are all looked at; of rows with more, so many are drawn.
MOST_COMPLETIONS = 1_024
# Where these are too many together, rows with the most get fewer.
_MOST_ROWS = 1 << 20
_LEAST_COMPLETIONS = 16
_LOG_OF_MANY = 30.0


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Complete rows that represent the rows of a table.

    Equal rows are merged. An incomplete row is replaced by all its completions, or,
    where they are too many, by some that are drawn; their weights sum to its own.
    `log_ways` is the logarithm of how many completions each of a row's listed ones
    represents.
    """

    listed: Completions  # complete rows, and which row each completes
    codes: Codes  # the same, with the weights last given by `weighted`
    weights: NDArray[np.float64]  # (n_rows,)
    log_ways: NDArray[np.float64]  # (n_rows,), zero where all are listed

    @classmethod
    def of_rows(cls, codes: Codes, partial: PartialValues, seed: int) -> CompletedRows:
        """Complete rows, all completions of a row with equal weights.

        Cells in `partial` are limited to some states, other missing cells are not.
        `seed` draws the completions of rows that have too many.
        """
        rows, sets = _with_codes_for_sets(codes, partial)
        rows, _ = merged_rows(rows)
        cells = [rows.column(v) for v in range(rows.n_variables)]
        sizes = np.array(
            [
                np.array([len(states) for states in own])[cell]
                for own, cell in zip(sets, cells, strict=True)
            ]
        )
        log_ways = np.log(sizes).sum(axis=0)
        # Huge numbers need not be exact, nor may they overflow.
        ways = np.rint(np.exp(np.minimum(log_ways, _LOG_OF_MANY))).astype(np.intp)
        most = _most_of_a_row(ways)
        drawn = _drawn(sizes, np.flatnonzero(ways > most), most, seed)
        numbers = ways.copy()
        for row, digits in drawn.items():
            numbers[row] = digits.shape[1]
        source = np.repeat(np.arange(rows.n_rows), numbers)
        starts = np.cumsum(numbers) - numbers
        columns = [
            _padded(own)[cell[source], digit]
            for own, cell, digit in zip(
                reversed(sets),
                reversed(cells),
                _last_digits_first(sizes, source, starts, drawn),
                strict=True,
            )
        ]
        weights = rows.weights[source]
        completed = Codes.from_columns(columns[::-1], codes.cards, weights)
        listed = Completions(completed, source, starts)
        unlisted = np.where(ways > numbers, log_ways - np.log(numbers), 0.0)
        return cls(listed, listed.shared(), rows.weights, unlisted)

    def weighted(
        self, network: BayesianNetwork, n_jobs: int | None = None
    ) -> tuple[CompletedRows, float]:
        """Weigh the completions of each row by their probabilities under a network.

        Also returns the log-likelihood (nats) of the rows, missing cells summed out
        over the completions; where these were drawn, each represents equally many.
        """
        return self.reweighted(log_densities(NetworkTrees(network), self.codes, n_jobs))

    def reweighted(self, logs: NDArray[np.float64]) -> tuple[CompletedRows, float]:
        """Weigh the completions by logarithms (nats) of shape (n_completions,).

        See `weighted`.
        """
        sums = self.listed.log_sums(logs)
        found = replace(self, codes=self.listed.shared(logs, sums))
        return found, float(np.dot(self.weights, sums + self.log_ways))


def _with_codes_for_sets(
    codes: Codes, partial: PartialValues
) -> tuple[Codes, list[list[tuple[int, ...]]]]:
    """Rows in which sets of states have codes, and what each code leaves open."""
    columns, cards = [], []
    sets: list[list[tuple[int, ...]]] = []
    for variable, card in enumerate(codes.cards):
        here = partial.variables == variable
        own = sorted({partial.states[s] for s in partial.sets[here].tolist()})
        column = codes.column(variable).astype(np.min_scalar_type(card + len(own)))
        column[column == card] += len(own)
        place = {group: card + i for i, group in enumerate(own)}
        column[partial.rows[here]] = [
            place[partial.states[s]] for s in partial.sets[here].tolist()
        ]
        columns.append(column)
        cards.append(card + len(own))
        single = [(state,) for state in range(card)]
        sets.append([*single, *own, tuple(range(card))])
    return Codes.from_columns(columns, cards, codes.weights), sets


def _most_of_a_row(ways: NDArray[np.intp]) -> int:
    """How many completions a row may have, so that all together are not too many."""
    most = MOST_COMPLETIONS
    while most > _LEAST_COMPLETIONS and np.minimum(ways, most).sum() > _MOST_ROWS:
        most //= 2
    return most


def _drawn(
    sizes: NDArray[np.intp], rows: NDArray[np.intp], most: int, seed: int
) -> dict[int, NDArray[np.intp]]:
    """Distinct completions of some rows, (n_variables, n_completions) for each row.

    They are the place of each cell's state among those that it may have.
    """
    generator = np.random.default_rng(seed)
    found = {}
    for row in rows.tolist():
        digits = generator.integers(0, sizes[:, row, None], (len(sizes), most))
        found[row] = np.unique(digits, axis=1)
    return found


def _last_digits_first(
    sizes: NDArray[np.intp],
    source: NDArray[np.intp],
    starts: NDArray[np.intp],
    drawn: dict[int, NDArray[np.intp]],
) -> Iterator[NDArray[np.intp]]:
    """Which of its states each cell of each completion holds, the last variable first.

    All completions of a row stand in lexical order.
    """
    place = np.arange(len(source)) - starts[source]
    for variable in reversed(range(len(sizes))):
        size = sizes[variable, source]
        digit = place % size
        place //= size
        for row, digits in drawn.items():
            digit[starts[row] : starts[row] + digits.shape[1]] = digits[variable]
        yield digit


def _padded(sets: list[tuple[int, ...]]) -> NDArray[Any]:
    """Sets of states as the rows of a table, shape (n_sets, largest size).

    Its dtype is the least that holds them: columns of completions are long.
    """
    dtype = np.min_scalar_type(max(map(max, sets)))
    table = np.zeros((len(sets), max(map(len, sets))), dtype=dtype)
    for place, states in enumerate(sets):
        table[place, : len(states)] = states
    return table
