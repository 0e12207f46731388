"""Inference for all rows of a table: one propagation a row inside compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import run_tasks, stretches, thread_count
from bayleaf.data.codes import Codes
from bayleaf.models.junction_tree_schedule import PASSES_TO_PROPAGATE, PROPAGATIONS

if TYPE_CHECKING:
    from bayleaf.models.junction_tree import JunctionTree

Floats = NDArray[np.float64]
T = TypeVar("T")

# Sums are cut at the same rows whatever the number of threads.
_BLOCKS = 16
_LEAST_ROWS = 64


def log_evidence_rows(tree: JunctionTree, codes: Codes, n_jobs: int) -> Floats:
    """Log probability (nats) of the observed cells of each row."""
    from bayleaf.models import junction_tree_message_kernels as kernels

    layout = tree.layout()
    log_evidence = np.empty(codes.n_rows)
    work = PROPAGATIONS.with_more(codes.n_rows * layout.pass_work)
    fill = kernel_for(kernels.evidence_of_rows, work)

    def answer(first: int, end: int) -> None:
        fill(
            layout.schedule,
            layout.new_scratch(),
            _matrix(tree, codes, first, end),
            log_evidence[first:end],
        )

    _over_blocks(tree, codes, n_jobs, answer)
    return log_evidence


def posterior_rows(
    tree: JunctionTree, codes: Codes, target: int, n_jobs: int
) -> tuple[Floats, Floats]:
    """Posterior of one variable given each row's observed cells of the others."""
    from bayleaf.models import junction_tree_message_kernels as kernels

    layout = tree.layout(target)
    posteriors = np.empty((codes.n_rows, codes.cards[target]))
    log_evidence = np.empty(codes.n_rows)
    work = PROPAGATIONS.with_more(codes.n_rows * layout.pass_work)
    fill = kernel_for(kernels.posteriors_of_rows, work)

    def answer(first: int, end: int) -> None:
        fill(
            layout.schedule,
            layout.new_scratch(),
            _matrix(tree, codes, first, end, hidden=target),
            target,
            posteriors[first:end],
            log_evidence[first:end],
        )

    _over_blocks(tree, codes, n_jobs, answer)
    return posteriors, log_evidence


def expected_counts(
    tree: JunctionTree, codes: Codes, n_jobs: int
) -> tuple[list[Floats], Floats]:
    """Sum the family posteriors of all rows, each times its weight."""
    # Before anything is counted, as it tells where a family's table is too wide.
    holders = tree.with_families()
    log_evidence = log_evidence_rows(tree, codes, n_jobs)
    incomplete = np.zeros(codes.n_rows, dtype=bool)
    for variable in range(codes.n_variables):
        incomplete |= codes.missing(variable)
    possible = log_evidence > -np.inf
    families = [cpd.family for cpd in tree.network.cpds]
    complete = codes.rows(possible & ~incomplete)
    counts = TableCounts(complete, n_jobs=n_jobs).family_counts(families)
    holed = codes.rows(possible & incomplete)
    for whole, nodes in holders:
        for node, more in _family_sums(whole, nodes, holed, n_jobs):
            counts[node] = counts[node] + more
    return counts, log_evidence


def _family_sums(
    tree: JunctionTree, nodes: Sequence[int], rows: Codes, n_jobs: int
) -> Iterator[tuple[int, Floats]]:
    """Sums over blocks of rows of some nodes' family posteriors, block by block."""
    from bayleaf.models import junction_tree_message_kernels as kernels

    layout = tree.layout()
    n_cells = int(layout.starts("fixed_offset")[-1])
    passes = PASSES_TO_PROPAGATE * rows.n_rows
    add = kernel_for(
        kernels.families_of_rows, PROPAGATIONS.with_more(passes * layout.pass_work)
    )

    def answer(first: int, end: int) -> Floats:
        totals = np.zeros(n_cells)
        add(
            layout.schedule,
            layout.new_scratch(),
            _matrix(tree, rows, first, end),
            np.ascontiguousarray(rows.weights[first:end]),
            totals,
        )
        return totals

    for totals in _over_blocks(tree, rows, n_jobs, answer):
        for node in nodes:
            first, end = layout.starts("fixed_offset")[node : node + 2]
            yield node, tree.shaped(node, totals[first:end])


def _over_blocks(
    tree: JunctionTree, codes: Codes, n_jobs: int, work: Callable[[int, int], T]
) -> list[T]:
    """Run a task for each of a fixed number of blocks of rows, in threads."""
    _check(tree, codes)
    blocks = min(_BLOCKS, -(-codes.n_rows // _LEAST_ROWS))
    if not codes.n_rows:
        return []
    tasks = [partial(work, *block) for block in stretches(codes.n_rows, blocks)]
    return run_tasks(tasks, thread_count(n_jobs))


def _check(tree: JunctionTree, codes: Codes) -> None:
    """Refuse rows of another table."""
    cards = tree.network.domain.cards
    if codes.cards != cards:
        raise ValueError(
            f"the rows have {codes.n_variables} variables with other numbers of states "
            f"than the network's {len(cards)}; encode them with the network's domain"
        )


def _matrix(
    tree: JunctionTree, codes: Codes, first: int, end: int, hidden: int | None = None
) -> NDArray[np.int64]:
    """Codes of some rows, those of auxiliary variables after them, C-contiguous.

    The cells of the variable `hidden` are holes.
    """
    own = np.empty((end - first, codes.n_variables), dtype=np.int64)
    for variable in range(codes.n_variables):
        own[:, variable] = codes.column(variable)[first:end]
    if hidden is not None:
        own[:, hidden] = codes.cards[hidden]
    if not tree.product.agreeing:
        return own
    return np.hstack([own, tree.product.auxiliary_codes(own)])
