"""Inference for all rows of a table: one propagation a row inside native loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import run_tasks, stretches, thread_count
from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree import JunctionTree

Floats = NDArray[np.float64]
T = TypeVar("T")
# Blocks of codes, where variables lie in them, how many rows they have, and the first
# row of a task.
Rows = tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.int64], int, int]

# Sums are cut at the same rows whatever the number of threads.
_BLOCKS = 16
_LEAST_ROWS = 64


def log_evidence_rows(tree: JunctionTree, codes: Codes, n_jobs: int = 1) -> Floats:
    """Log probability (nats) of the observed cells of each row, shape (n_rows,)."""
    compiled = tree.compiled()
    log_evidence = np.empty(codes.n_rows)

    def answer(rows: Rows, first: int, end: int) -> None:
        compiled.log_evidence_rows(*rows, log_evidence[first:end])

    _over_blocks(tree, codes, n_jobs, answer)
    return log_evidence


def posterior_rows(
    tree: JunctionTree, codes: Codes, target: int, n_jobs: int = 1
) -> tuple[Floats, Floats]:
    """Posterior of one variable given each row's observed cells of the others.

    Returns (n_rows, card), NaN in impossible rows, and the log probability (n_rows,) of
    the cells, in nats.
    """
    compiled = tree.compiled(target)
    posteriors = np.empty((codes.n_rows, codes.cards[target]))
    log_evidence = np.empty(codes.n_rows)

    def answer(rows: Rows, first: int, end: int) -> None:
        compiled.posterior_rows(
            *rows, target, posteriors[first:end], log_evidence[first:end]
        )

    _over_blocks(tree, codes, n_jobs, answer, hidden=target)
    return posteriors, log_evidence


def expected_counts(
    tree: JunctionTree, codes: Codes, n_jobs: int = 1
) -> tuple[list[Floats], Floats]:
    """Sum the family posteriors of all rows, each times its weight.

    Complete rows are counted as `RowCounts` counts them; the result does not depend
    on `n_jobs`. Counts have the shapes of the distributions, without impossible rows;
    log evidence (n_rows,) is in nats.
    """
    # Before anything is counted, as it tells where a family's table is too wide.
    holders = tree.with_families()
    log_evidence = log_evidence_rows(tree, codes, n_jobs)
    incomplete = np.zeros(codes.n_rows, dtype=bool)
    for variable in range(codes.n_variables):
        incomplete |= codes.missing(variable)
    possible = log_evidence > -np.inf
    families = [cpd.family for cpd in tree.network.cpds]
    complete = codes.rows(possible & ~incomplete)
    counts = RowCounts(complete, n_jobs=n_jobs).family_counts(families)
    with_missing = codes.rows(possible & incomplete)
    for whole, nodes in holders:
        for node, more in _family_sums(whole, nodes, with_missing, n_jobs):
            counts[node] = counts[node] + more
    return counts, log_evidence


def _family_sums(
    tree: JunctionTree, nodes: Sequence[int], rows: Codes, n_jobs: int
) -> Iterator[tuple[int, Floats]]:
    """Sums over blocks of rows of some nodes' family posteriors, block by block."""
    compiled = tree.compiled()
    shapes = [tree.network.cpds[node].cards for node in nodes]
    edges = np.cumsum([0, *map(prod, shapes)])
    wanted = np.array(nodes, dtype=np.int64)

    def answer(codes: Rows, first: int, end: int) -> Floats:
        totals = np.zeros(edges[-1])
        weights = np.ascontiguousarray(rows.weights[first:end])
        compiled.add_families_of_rows(*codes, weights, wanted, totals)
        return totals

    for totals in _over_blocks(tree, rows, n_jobs, answer):
        tables = np.split(totals, edges[1:-1])
        for node, shape, table in zip(nodes, shapes, tables, strict=True):
            yield node, table.reshape(shape)


def _over_blocks(
    tree: JunctionTree,
    codes: Codes,
    n_jobs: int,
    work: Callable[[Rows, int, int], T],
    hidden: int | None = None,
) -> list[T]:
    """Run a task for each of a fixed number of blocks of rows, in threads.

    It is called with rows over the tree's variables, and with the block's first row and
    end. The cells of the variable `hidden` are missing.
    """
    cards = tree.network.domain.cards
    if codes.cards != cards:
        raise ValueError(
            f"the rows have {codes.n_variables} variables with other numbers of states "
            f"than the network's {len(cards)}; encode them with the network's domain"
        )
    if not codes.n_rows:
        return []
    blocks = min(_BLOCKS, -(-codes.n_rows // _LEAST_ROWS))

    def answer(first: int, end: int) -> T:
        if not tree.product.agreeing:
            return work(_rows(codes, first), first, end)
        block = _with_auxiliaries(tree, codes.rows(slice(first, end)), hidden)
        return work(_rows(block, 0), first, end)

    tasks = [partial(answer, *block) for block in stretches(codes.n_rows, blocks)]
    return run_tasks(tasks, thread_count(n_jobs))


def _rows(codes: Codes, first: int) -> Rows:
    """Codes as the native core reads them, from some row on."""
    narrow, wide = np.ascontiguousarray(codes.narrow), np.ascontiguousarray(codes.wide)
    return narrow, wide, np.array(codes.slots, dtype=np.int64), codes.n_rows, first


def _with_auxiliaries(tree: JunctionTree, codes: Codes, hidden: int | None) -> Codes:
    """Codes of some rows with those of auxiliary variables after them.

    The cells of the variable `hidden` are missing.
    """
    own = np.empty((codes.n_rows, codes.n_variables), dtype=np.int64)
    for variable in range(codes.n_variables):
        own[:, variable] = codes.column(variable)
    if hidden is not None:
        own[:, hidden] = codes.cards[hidden]
    others = tree.product.auxiliary_codes(own)
    return Codes.from_columns([*own.T, *others.T], tree.product.cards)
