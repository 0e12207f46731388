"""Learning a network with its local structures from rows, complete or not."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial as bound

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowFacts, TableCounts, summed_over_rows
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import PartialValues
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.latent.structure_search import (
    GIVEN,
    GLOBAL,
    TREE,
    StructureOptions,
    search_structure,
    with_learned_hierarchies,
)
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.structured_network import (
    PlacedStructures,
    Structure,
    counted_log_likelihood,
    network_from_counts,
    structure_counts,
)
from bayleaf.progress import Work
from bayleaf.scores.local_scores import log_likelihood
from bayleaf.search.structure import (
    LEAST_GAIN,
    Deadline,
    SearchResult,
    warn_if_stopped,
)

# When expectation maximisation stands still, and its most steps.
_TOLERANCE = 1e-7
_MOST_STEPS = 200
# Share of the time limit for the network that rows are completed by at first.
_FIRST_SHARE = 0.5
# A search whose time is up makes no move, but its limit is above zero.
_LEAST_SECONDS = 1e-9


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A learned network, and the result of the search.

    With missing cells the score of `found` is that of the expected counts which this
    search saw; `observed_score`, the observed log-likelihood and what the structure
    scores, compares networks from different expected counts.
    """

    network: BayesianNetwork
    found: SearchResult
    observed_score: float  # that of `found` where nothing is missing
    log_likelihood: float  # nats; estimated where completions were drawn


def learn_structure(
    source: CountSource,
    partial: PartialValues,
    domain: Domain,
    options: StructureOptions,
) -> LearnedStructure:
    """Search for a structure and fill it with probabilities.

    Incomplete rows enter a search as expected counts: as all their completions,
    weighted by their probabilities under a network (Friedman 1998, "The Bayesian
    structural EM algorithm"). Each restart begins with counts of its own: it searches
    for a network of tables, counting in each family the rows that have all of it, takes
    the expected counts under the result, and searches on under the best network so far
    until nothing is better. It does so in addition to the deterministic search, from
    whose end it may go on, in the same counts. The result of a search is fitted by
    expectation maximisation, and compares with those of other searches, which saw other
    counts, by its observed score.

    That is the log-likelihood of the observed cells, plus what the structure scores:
    the search's score less the largest log-likelihood of the counts that it saw. With a
    penalised score it is the observed log-likelihood less the penalty; with a marginal
    likelihood it is the approximation of Cheeseman and Stutz (1996, "Bayesian
    classification (AutoClass)").

    Tables are learned from counts alone; trees, and networks of any form in incomplete
    rows, from the rows of `source`. Missing cells in `partial` have some states only.
    ValueError if the constraints contradict one another.
    """
    options.constraints.check(domain)
    if not RowFacts.of(source).lacks_cells:
        return learn_from_counts(source, domain, options)
    return _Restarts(source.rows(), partial, domain, options).run()


class _Restarts:
    """Searches in incomplete rows, and the best network that they have found."""

    def __init__(
        self,
        codes: Codes,
        partial: PartialValues,
        domain: Domain,
        options: StructureOptions,
    ) -> None:
        self.codes = codes
        self.domain = domain
        self.options = options
        self.deadline = Deadline.after(options.constraints.time_limit)
        self.rows = CompletedRows.of_rows(codes, partial, options.seed)
        self.best: LearnedStructure | None = None
        self.stopped = False

    def run(self) -> LearnedStructure:
        """Let one restart after another settle."""
        with warnings.catch_warnings():
            # It would name what is left of the time limit.
            warnings.filterwarnings("ignore", "the search stopped at", RuntimeWarning)
            best = self._settle(0)
            for number in range(1, self.options.n_restarts):
                if not self.stopped:
                    best = self._settle(number)
        found = replace(best.found, stopped_early=self.stopped)
        warn_if_stopped(found, self.options.constraints)
        return replace(best, found=found)

    def _settle(self, number: int) -> LearnedStructure:
        """Search by one restart with what it led to, until nothing is better."""
        asked = replace(self.options, n_restarts=1)
        if number:
            asked = replace(asked, n_restarts=2, skipped_restarts=number - 1)
        work = Work()
        work.say(f"restart {number + 1} of {self.options.n_restarts}, missing cells")
        available = _of_available_cells(asked)
        first = learn_from_counts(
            row_counts(self.codes, asked),
            self.domain,
            self._in_time(available, _FIRST_SHARE),
        )
        # Unfitted, as a fitted network agrees too well with its own structure.
        rows, _ = self.rows.weighted(first.network, asked.n_jobs)
        if available.form == asked.form:
            self._keep_if_better(first, self.codes)
        best = self._search(rows, asked)
        before = None
        while best is not before and not self.stopped:
            before, best = best, self._search(self.rows, asked)
        return best

    def _search(self, rows: CompletedRows, asked: StructureOptions) -> LearnedStructure:
        """Search with these expected counts; the best network after that."""
        counts = row_counts(rows.codes, asked)
        learned = learn_from_counts(counts, self.domain, self._in_time(asked))
        self.stopped |= learned.found.stopped_early or self.deadline.has_passed
        return self._keep_if_better(learned, rows.codes)

    def _keep_if_better(
        self, learned: LearnedStructure, counted: Codes
    ) -> LearnedStructure:
        """Fit a network and keep it if it scores more; the best network after that.

        More is what exceeds rounding, and a step of expectation maximisation.
        """
        best = self.best
        shapes = learned.found.cpd_structures
        if best is not None and best.found.cpd_structures == shapes:
            return best
        found, rows = _fitted(learned, counted, self.rows, self.options)
        if best is not None:
            least = max(LEAST_GAIN, _TOLERANCE * abs(best.observed_score))
            if found.observed_score <= best.observed_score + least:
                return best
        self.best, self.rows = found, rows
        return found

    def _in_time(
        self, options: StructureOptions, share: float = 1.0
    ) -> StructureOptions:
        """The options with a share of the time that is left."""
        if self.deadline.at is None:
            return options
        left = share * (self.deadline.at - time.monotonic())
        limited = replace(options.constraints, time_limit=max(left, _LEAST_SECONDS))
        return replace(options, constraints=limited)


def _of_available_cells(options: StructureOptions) -> StructureOptions:
    """How incomplete rows are searched as they are, each family where it is whole."""
    if options.form in (("table", None), ("table", GIVEN)):
        return options
    return replace(options, local_structure="table", abstraction=None)


def _fitted(
    learned: LearnedStructure,
    counted: Codes,
    rows: CompletedRows,
    options: StructureOptions,
) -> tuple[LearnedStructure, CompletedRows]:
    """The network with its probabilities and its score on what the rows hold."""
    found = learned.found
    in_unit = 1 / math.log(2) if options.score.unit == "bits" else 1.0
    largest = math.fsum(
        largest_log_likelihood(structure, counted) for structure in found.cpd_structures
    )
    network, rows, observed = _refitted(learned, rows, options)
    score = found.score + in_unit * (observed - largest)
    return LearnedStructure(network, found, score, observed), rows


def largest_log_likelihood(structure: Structure, codes: Codes) -> float:
    """What the search took the data's share of a family's score for (nats)."""
    counts = structure_counts(structure, codes)
    counts = counts.reshape(-1, counts.shape[-1])
    seen = float(counts.sum())
    # Searches scale counts in incomplete rows up to the weight of all rows.
    scale = float(codes.weights.sum()) / seen if seen > 0 else 1.0
    return float(log_likelihood(counts)) * scale


def row_counts(codes: Codes, options: StructureOptions) -> TableCounts:
    """Counts of rows in memory, without a class, as that is the fastest."""
    return TableCounts(
        codes,
        options.n_jobs,
        has_class=False,
        max_table_cells=options.max_table_cells,
    )


def learn_from_counts(
    source: CountSource, domain: Domain, options: StructureOptions
) -> LearnedStructure:
    """Search and count in complete rows."""
    counts = source
    if isinstance(source, TableCounts) or options.local_structure == TREE:
        counts = row_counts(source.rows(), options)
    if options.abstraction == GLOBAL:
        domain = with_learned_hierarchies(domain, counts, options)
    found = search_structure(counts, domain, options)
    shapes, smoothing = found.cpd_structures, options.smoothing
    # Where trees were grown from a sample, all rows fill them.
    tables = [summed_over_rows(source, bound(structure_counts, s)) for s in shapes]
    network = network_from_counts(domain, found.dag, shapes, tables, smoothing)
    fitted = counted_log_likelihood(tables, smoothing)
    return LearnedStructure(network, found, found.score, fitted)


def _refitted(
    learned: LearnedStructure, completed: CompletedRows, options: StructureOptions
) -> tuple[BayesianNetwork, CompletedRows, float]:
    """Fit the probabilities by expectation maximisation.

    Returns the network, the rows weighted under it, and their log-likelihood (nats).
    """
    found, smoothing = learned.found, options.smoothing
    placed = PlacedStructures(found.cpd_structures, completed.codes)
    completed, observed = completed.weighted(learned.network, options.n_jobs)
    for _ in range(_MOST_STEPS):
        counts = placed.counts(completed.codes.weights)
        tables = [smoothing.estimate(own) for own in counts]
        before = observed
        completed, observed = completed.reweighted(
            placed.log_densities(tables, options.n_jobs)
        )
        if abs(observed - before) <= _TOLERANCE * abs(observed):
            break
    domain, shapes = learned.network.domain, found.cpd_structures
    network = network_from_counts(domain, found.dag, shapes, counts, smoothing)
    return network, completed, observed
