"""Missing cells of rows, in parts that are independent given the other cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks, stretches, thread_count
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import scrambled
from bayleaf.native.inference import CompiledParts

Family = tuple[int, ...]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows times variables that are taken apart at a time.
_BLOCK_CELLS = 1 << 21
# Sums are cut at the same parts whatever the number of threads.
_BLOCKS = 16
_MIN_PARTS = 512


@dataclass(frozen=True, eq=False)
class MissingParts:
    """Distinct parts of rows: missing cells and the known ones that bear on them.

    Two missing cells of a row are in one part if a path of families links them in which
    each shares a missing cell with the next. Given the row's other cells parts are
    independent, and a part depends on known members of its families only, so that equal
    ones of many rows are expected once. Part i has `variables` and `codes` from
    `starts[i]` on.
    """

    starts: Integers  # (n_parts + 1,)
    variables: NDArray[np.int32]
    codes: NDArray[np.int32]  # the variable's number of states where missing
    weights: Floats  # (n_parts,), of all rows that contain the part
    rows: Integers  # (n_parts,), one of these

    @property
    def n_parts(self) -> int:
        """Number of distinct parts."""
        return len(self.weights)

    @classmethod
    def of_rows(cls, codes: Codes, families: Sequence[Family]) -> MissingParts:
        """Find the distinct parts of rows, sorted by their missing variables."""
        step = max(1, _BLOCK_CELLS // max(codes.n_variables, 1))
        blocks = [
            _parts_of_block(codes, families, first, min(first + step, codes.n_rows))
            for first in range(0, codes.n_rows, step)
        ]
        return _merged(blocks, codes.cards)


class ExpectedFamilies:
    """Expected counts of families with missing cells, for some parts of rows."""

    def __init__(
        self, parts: MissingParts, cards: Sequence[int], families: Sequence[Family]
    ) -> None:
        self.parts = parts
        self._compiled = CompiledParts(
            np.array(cards, dtype=np.int64),
            np.array(list(accumulate(map(len, families), initial=0)), dtype=np.int64),
            np.array(list(chain(*families)), dtype=np.int32),
            parts.starts,
            parts.variables,
            parts.codes,
        )

    def under(self, tables: Floats, n_jobs: int | None = None) -> tuple[Floats, Floats]:
        """Sum the posteriors of families with missing cells, times the parts' weights.

        `tables` (n_cells,) are the families' distributions, one after another; the sums
        are laid out like them and leave out impossible parts. The log-probability
        (n_parts,) of each part's known cells, in nats, is that of their distributions
        given cells outside the part. No sum depends on `n_jobs`.
        """
        sums, log_evidence = self._summed(tables, n_jobs, with_variances=False)
        return sums[: len(tables)], log_evidence

    def variances_under(self, tables: Floats, n_jobs: int | None = None) -> Floats:
        """Sum what missing cells take from the information on each probability.

        That is the posterior variance of 1(child, parents) - P(child | parents)
        1(parents), to which the score is proportional (Louis 1982); laid out like
        `tables`.
        """
        sums, _ = self._summed(tables, n_jobs, with_variances=True)
        return sums[len(tables) :]

    def _summed(
        self, tables: Floats, n_jobs: int | None, *, with_variances: bool
    ) -> tuple[Floats, Floats]:
        """Sums of posteriors, then of variances if asked for; the log-probabilities."""
        weights, log_evidence = self.parts.weights, np.empty(self.parts.n_parts)
        n_sums = len(tables) * (1 + with_variances)

        def expect(first: int, end: int) -> Floats:
            sums = np.zeros(n_sums)
            self._compiled.expect(
                first,
                weights[first:end],
                tables,
                sums[: len(tables)],
                sums[len(tables) :],
                log_evidence[first:end],
            )
            return sums

        n_blocks = min(_BLOCKS, -(-self.parts.n_parts // _MIN_PARTS))
        blocks = stretches(self.parts.n_parts, n_blocks)
        tasks = [partial(expect, *block) for block in blocks]
        parts = run_tasks(tasks, thread_count(n_jobs))
        return sum(parts, np.zeros(n_sums)), log_evidence


def _parts_of_block(
    codes: Codes, families: Sequence[Family], first: int, end: int
) -> MissingParts:
    """The parts of a stretch of rows, one after another."""
    n_variables = codes.n_variables
    cells = np.array(
        [codes.column(v)[first:end] for v in range(n_variables)], dtype=np.int32
    )
    labels = _labels(cells == np.array(codes.cards)[:, None], families)
    missing, rows = np.nonzero(labels < n_variables)
    parts = rows * n_variables + labels[missing, rows]
    # Each missing cell brings the other members of its families.
    around: list[set[int]] = [set() for _ in range(n_variables)]
    for family in families:
        for member in family:
            around[member].update(family)
    sizes = np.array(list(map(len, around)))
    indices = _ranges((np.cumsum(sizes) - sizes)[missing], sizes[missing])
    members = np.array(list(chain(*map(sorted, around))), dtype=np.int64)[indices]
    items = np.unique(np.repeat(parts, sizes[missing]) * n_variables + members)
    parts, variables = np.divmod(items, n_variables)
    starts = np.flatnonzero(np.diff(parts, prepend=-1))
    rows = parts // n_variables
    return MissingParts(
        np.append(starts, len(items)),
        variables.astype(np.int32),
        cells[variables, rows],
        codes.weights[first:end][rows[starts]],
        first + rows[starts],
    )


def _ranges(starts: Integers, sizes: Integers) -> Integers:
    """The numbers from each start on, so many each, one range after another."""
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)


def _labels(
    missing: NDArray[np.bool_], families: Sequence[Family]
) -> NDArray[np.int64]:
    """The least variable of the part of each missing cell, (n_variables, n_rows).

    Known cells have the number of variables.
    """
    n_variables = len(missing)
    labels = np.where(missing, np.arange(n_variables)[:, None], n_variables)
    linked = [list(family) for family in families if len(family) > 1]
    has_changed = True
    while has_changed:
        has_changed = False
        for family in linked:
            before = labels[family]
            least = np.where(missing[family], before.min(axis=0), n_variables)
            if not np.array_equal(least, before):
                labels[family] = least
                has_changed = True
    return labels


def _merged(blocks: Sequence[MissingParts], cards: Sequence[int]) -> MissingParts:
    """The parts of all blocks, equal ones as one of their total weight."""
    sizes = np.concatenate([np.diff(block.starts) for block in blocks])
    variables = np.concatenate([block.variables for block in blocks])
    codes = np.concatenate([block.codes for block in blocks])
    weights = np.concatenate([block.weights for block in blocks])
    rows = np.concatenate([block.rows for block in blocks])
    starts = np.cumsum(sizes) - sizes
    is_missing = codes == np.array(cards)[variables]
    patterns = _digests(variables, is_missing, starts)
    _, chosen, kinds = np.unique(
        np.stack([patterns, _digests(variables, codes, starts)]),
        axis=1,
        return_index=True,
        return_inverse=True,
    )
    items = _ranges(starts[chosen], sizes[chosen])
    return MissingParts(
        np.concatenate([[0], np.cumsum(sizes[chosen])]),
        variables[items],
        codes[items],
        np.bincount(kinds.ravel(), weights).astype(np.float64),
        rows[chosen],
    )


def _digests(
    variables: NDArray[np.int32], values: NDArray[Any], starts: Integers
) -> NDArray[np.uint64]:
    """A number for the variables and values from each start on.

    Two different lists have the same one with probability 2**-64 or so.
    """
    items = variables.astype(np.uint64) << np.uint64(32)
    return np.add.reduceat(scrambled(items | values.astype(np.uint64)), starts)
