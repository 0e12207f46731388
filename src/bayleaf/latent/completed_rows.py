"""Rows with holes as weighted complete rows, under a network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Completions, PartialValues
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.row_densities import log_densities

# Completions of one row that are all looked at; of rows with more, so many are drawn.
MOST_COMPLETIONS = 1_024
# Where many rows have holes each gets fewer, so that all together stay about as many.
_MOST_ROWS = 1 << 20
_LEAST_COMPLETIONS = 16


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Complete rows that stand for the rows of a table.

    Equal rows stand there once. A row with holes is replaced by all its completions,
    or, where they are too many, by some that are drawn; their weights sum to its own.

    Parameters
    ----------
    listed : Completions
        The complete rows, and which row each completes.
    codes : Codes
        The same rows, with the weights that `weighted` gave them last.
    weights : ndarray of shape (n_rows,), dtype float64
        Weights of the rows.
    """

    listed: Completions
    codes: Codes
    weights: NDArray[np.float64]

    @classmethod
    def of_rows(cls, codes: Codes, partial: PartialValues, seed: int) -> CompletedRows:
        """Complete rows, all completions of a row with equal weights.

        Parameters
        ----------
        codes : Codes
            Rows; missing cells may hold any state.
        partial : PartialValues
            Cells among them that may hold some states only.
        seed : int
            Of the completions drawn for rows that have too many.
        """
        cards = codes.cards
        rows, sets = _with_codes_for_sets(codes, partial)
        rows, _ = merged_rows(rows)
        table = np.array([rows.column(v) for v in range(rows.n_variables)], np.intp)
        is_open = np.asarray((table >= np.array(cards)[:, None]).any(axis=0))
        most = min(MOST_COMPLETIONS, _MOST_ROWS // max(1, int(is_open.sum())))
        generator = np.random.default_rng(seed)
        blocks = []
        for row in range(rows.n_rows):
            block = table[:, row : row + 1]
            if is_open[row]:
                cells = [own[code] for own, code in zip(sets, block[:, 0], strict=True)]
                block = _completions(cells, max(most, _LEAST_COMPLETIONS), generator)
            blocks.append(block)
        numbers = np.array([block.shape[1] for block in blocks])
        source = np.repeat(np.arange(rows.n_rows), numbers)
        completed = Codes.from_columns(
            list(np.concatenate(blocks, axis=1)), cards, rows.weights[source]
        )
        listed = Completions(completed, source, np.cumsum(numbers) - numbers)
        return cls(listed, listed.shared(), rows.weights)

    def weighted(
        self, network: BayesianNetwork, n_jobs: int | None = None
    ) -> tuple[CompletedRows, float]:
        """Weigh the completions of each row by their probabilities under a network.

        Returns
        -------
        CompletedRows
            The same rows with other weights.
        log_likelihood : float
            Of the rows (nats), their holes summed out over the completions.
        """
        logs = log_densities(network, self.codes, n_jobs)
        found = replace(self, codes=self.listed.shared(logs))
        return found, float(np.dot(self.weights, self.listed.log_sums(logs)))


def _with_codes_for_sets(
    codes: Codes, partial: PartialValues
) -> tuple[Codes, list[list[tuple[int, ...]]]]:
    """Rows in which sets of states have codes, and what each code leaves open."""
    columns, cards = [], []
    sets: list[list[tuple[int, ...]]] = []
    for variable, card in enumerate(codes.cards):
        here = partial.variables == variable
        own = sorted({partial.states[s] for s in partial.sets[here].tolist()})
        column = codes.column(variable).astype(np.intp)
        column[column == card] += len(own)
        place = {group: card + i for i, group in enumerate(own)}
        column[partial.rows[here]] = [
            place[partial.states[s]] for s in partial.sets[here].tolist()
        ]
        columns.append(column)
        cards.append(card + len(own))
        single = [(state,) for state in range(card)]
        sets.append([*single, *own, tuple(range(card))])
    weights = None if codes.unit_weights else codes.weights
    return Codes.from_columns(columns, cards, weights), sets


def _completions(
    cells: list[tuple[int, ...]], most: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    """Completions of one row, shape (n_variables, n_completions)."""
    if prod(map(len, cells)) <= most:
        return np.array(list(product(*cells)), dtype=np.intp).T
    drawn = [np.array(cell)[generator.integers(0, len(cell), most)] for cell in cells]
    return np.unique(np.array(drawn, dtype=np.intp), axis=1)
