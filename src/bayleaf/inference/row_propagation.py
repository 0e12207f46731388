"""Posteriors and probabilities of all rows of a table, in native loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import fsum, prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, CountSource
from bayleaf.counts.table_counts import RowCounts, summed_over_rows
from bayleaf.counts.threads import run_tasks, stretches, thread_count
from bayleaf.cpds.local_structure import log_probabilities_of_rows
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialCodes, PartialValues, complete
from bayleaf.inference.evidence import Evidence, EvidenceItem, ImpossibleEvidenceError
from bayleaf.inference.factorisation import Factorisation
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.network_trees import NetworkTrees
from bayleaf.inference.set_evidence import with_set_evidence

Floats = NDArray[np.float64]
T = TypeVar("T")
# Blocks of codes, where variables lie in them, how many rows they have, and the first
# row of a task.
Rows = tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.int64], int, int]

# Sums are cut at the same rows whatever the number of threads.
_BLOCKS = 16
_LEAST_ROWS = 64
# Completions of a row that are looked up one by one, and those of a block.
_MOST_LISTED = 1024
_BLOCK_ROWS = 1 << 18
# Rows that are looked up at a time: what they need stays in the cache.
_LOOKED_UP_ROWS = 1 << 15


def posterior_table(
    trees: NetworkTrees, rows: Codes, target: int, n_jobs: int | None = None
) -> Floats:
    """Posteriors (n_rows, card) of a variable given the row's cells of the others.

    ImpossibleEvidenceError names the first row of probability zero and what conflicts
    in it.
    """
    given = [variable for variable in observed(rows) if variable != target]
    part = trees.part_of([target, *given])
    posteriors, log_evidence = posterior_rows(
        part.tree, part.codes(rows), part.positions[target], thread_count(n_jobs)
    )
    impossible = np.flatnonzero(np.isneginf(log_evidence))
    if len(impossible):
        raise impossible_row(trees, rows, int(impossible[0]), given)
    return posteriors


def log_likelihood_rows(
    trees: NetworkTrees, rows: Codes, n_jobs: int | None = None
) -> Floats:
    """Log-probability (nats) of each row, shape (n_rows,).

    Minus infinity for rows of probability zero, 0 for rows without any value.
    """
    part = trees.part_of(observed(rows))
    return log_evidence_rows(part.tree, part.codes(rows), thread_count(n_jobs))


def observed(rows: Codes) -> list[int]:
    """Positions of the variables that at least one row holds."""
    return [v for v in range(rows.n_variables) if not rows.missing(v).all()]


def impossible_row(
    trees: NetworkTrees, rows: Codes, row: int, given: Iterable[int]
) -> ImpossibleEvidenceError:
    """The error for a row of probability zero; `given` are variables that count."""
    domain = trees.domain
    items = []
    for position in given:
        variable = domain[position]
        code = int(rows.column(position)[row])
        if code < variable.n_states:
            items.append(EvidenceItem(position, variable, code))
    error = trees.impossible(Evidence(domain, tuple(items)))
    return ImpossibleEvidenceError(f"row {row}: {error}", error.variables)


def log_densities(
    trees: NetworkTrees,
    codes: Codes,
    n_jobs: int | None = None,
    partial_values: PartialValues | None = None,
) -> Floats:
    """Log-probability (nats) of each row, (n_rows,); minus infinity if impossible.

    Rows in which nothing that counts is missing are looked up in the distributions,
    trees without being expanded. Missing cells are summed out exactly: in all the ways
    to fill them where these are few, otherwise by the junction tree. The probability of
    a cell that contains a set of states, `partial_values`, is the sum over these.
    ValueError if a table would be too large, or a row has too many joint states.
    """
    if partial_values is not None and len(partial_values):
        return _densities_of_sets(trees, codes, n_jobs, partial_values)
    threads = thread_count(n_jobs)
    network = trees.network
    parts = [
        partial(_looked_up, network, codes, slice(first, last))
        for first, last in stretches(codes.n_rows, threads)
    ]
    found = np.concatenate(run_tasks(parts, threads))
    incomplete = np.flatnonzero(np.isnan(found))
    if not len(incomplete):
        return found
    rest = codes.rows(incomplete)
    # A missing cell may contain any state.
    any_state = PartialValues.from_cells(
        (np.flatnonzero(rest.missing(variable)), variable, tuple(range(card)))
        for variable, card in enumerate(rest.cards)
    )
    look_up = partial(_looked_up, network, where=slice(None))
    found[incomplete], many = _summed_over_few(rest, any_state, look_up)
    if len(many):
        found[incomplete[many]] = log_likelihood_rows(trees, rest.rows(many), n_jobs)
    return found


def _densities_of_sets(
    trees: NetworkTrees, codes: Codes, n_jobs: int | None, partial: PartialValues
) -> Floats:
    """Log-probabilities (n_rows,) of rows with sets of states, see `log_densities`."""
    logs, many = _summed_over_few(
        codes, partial, lambda listed: log_densities(trees, listed, n_jobs)
    )
    if len(many):
        rows = PartialCodes(codes.rows(many), partial.of_rows(many), trees.domain)
        logs[many] = log_likelihood_rows(*with_set_evidence(trees, rows), n_jobs)
    return logs


def log_likelihood_of_rows(
    trees: NetworkTrees,
    source: CountSource,
    n_jobs: int | None = None,
    partial_values: PartialValues | None = None,
) -> float:
    """Log-likelihood (nats) of all rows of a table, block by block.

    `partial_values` are for tables in memory. Errors as `log_densities`.
    """

    def of_block(codes: Codes) -> Counts:
        densities = log_densities(trees, codes, n_jobs, partial_values)
        return np.array([fsum(codes.weights * densities)])

    return float(summed_over_rows(source, of_block)[0])


def _summed_over_few(
    codes: Codes, partial: PartialValues, look_up: Callable[[Codes], Floats]
) -> tuple[Floats, NDArray[np.intp]]:
    """Log-probabilities (n_rows,) of rows with few completions, and the other rows.

    They are sums over the completions, whose logarithms are looked up.
    """
    logs, numbers = np.empty(codes.n_rows), partial.n_completions(codes.n_rows)
    few = np.flatnonzero(numbers <= _MOST_LISTED)
    # Stretches of rows with so many completions that make blocks of bounded size.
    block = np.cumsum(numbers[few]) // _BLOCK_ROWS
    for rows in np.split(few, np.flatnonzero(np.diff(block)) + 1):
        listed = complete(codes.rows(rows), partial.of_rows(rows))
        logs[rows] = listed.log_sums(look_up(listed.codes))
    return logs, np.flatnonzero(numbers > _MOST_LISTED)


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
    incomplete = np.zeros(codes.n_rows, dtype=bool)
    for variable in range(codes.n_variables):
        incomplete |= codes.missing(variable)
    families = [cpd.family for cpd in tree.network.cpds]
    log_evidence = np.empty(codes.n_rows)
    complete = codes.rows(~incomplete)
    log_evidence[~incomplete] = log_evidence_rows(tree, complete, n_jobs)
    complete = complete.rows(log_evidence[~incomplete] > -np.inf)
    counts = RowCounts(complete, n_jobs=n_jobs).family_counts(families)
    with_missing = codes.rows(incomplete)
    for index, (whole, nodes) in enumerate(holders):
        logs = _add_families(whole, nodes, with_missing, counts, n_jobs)
        if not index:
            log_evidence[incomplete] = logs
    return counts, log_evidence


def _add_families(
    tree: JunctionTree,
    nodes: Sequence[int],
    rows: Codes,
    counts: list[Floats],
    n_jobs: int,
) -> Floats:
    """Add family posteriors of some nodes to their counts, block by block.

    Returns the log evidence (n_rows,) of the rows, in nats.
    """
    compiled = tree.compiled()
    shapes = [tree.network.cpds[node].cards for node in nodes]
    edges = np.cumsum([0, *map(prod, shapes)])
    wanted = np.array(nodes, dtype=np.int64)
    log_evidence = np.empty(rows.n_rows)

    def answer(codes: Rows, first: int, end: int) -> Floats:
        totals = np.zeros(edges[-1])
        weights = np.ascontiguousarray(rows.weights[first:end])
        compiled.add_families_of_rows(
            *codes, weights, wanted, totals, log_evidence[first:end]
        )
        return totals

    flat = np.concatenate([np.zeros(0), *(counts[node].ravel() for node in nodes)])
    for totals in _over_blocks(tree, rows, n_jobs, answer):
        flat += totals
    tables = np.split(flat, edges[1:-1])
    for node, shape, table in zip(nodes, shapes, tables):
        counts[node] = table.reshape(shape)
    return log_evidence


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
    own = codes.columns(range(codes.n_variables)).T.astype(np.int64)
    if hidden is not None:
        own[:, hidden] = codes.cards[hidden]
    others = tree.product.auxiliary_codes(own)
    return Codes.from_columns([*own.T, *others.T], tree.product.cards)
