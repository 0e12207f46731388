"""Networks with local structures from rows, complete or not."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial as bound
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts, RowFacts, summed_over_rows
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import Smoothing, dirichlet_rows
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.latent.expectation_maximisation import EMOptions, climb, warn_of_limit
from bayleaf.latent.network_parameters import learn_parameters, shares
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.structured_network import (
    PlacedStructures,
    Structure,
    counted_log_likelihood,
    network_from_counts,
    structure_counts,
)
from bayleaf.progress import Work
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore, log_likelihood
from bayleaf.search.climb import Deadline, ProgressCallback, warn_if_stopped
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import (
    Linkage,
    LinkageArity,
    LocalHierarchies,
    learn_hierarchies,
)
from bayleaf.search.structure import LEAST_GAIN, SearchResult
from bayleaf.search.table_climbing import Refresh, TableSearch, climb_tables
from bayleaf.search.tree_climbing import TreeSearch, climb_trees

# Networks are compared after fewer steps than end the learning of tables.
_EM = EMOptions(n_restarts=1, tol=3e-6)
# Share of the time limit for the network that rows are completed by at first.
_FIRST_SHARE = 0.5
# A search whose time is up makes no move, but its limit is above zero.
_LEAST_SECONDS = 1e-9
# Forms of distributions: tables need counts alone, trees are grown from rows.
TABLE, TREE = LOCAL_STRUCTURES = ("table", "tree")
# Where the hierarchies of values come from, beside None.
GIVEN, GLOBAL, LOCAL, REFRESHED, IF_BETTER = ABSTRACTIONS = (
    "given",
    "global",
    "local",
    "local_refreshed",
    "local_refreshed_if_better",
)
# When a hierarchy that was learned again is taken, see `climb_tables`.
_REFRESH: dict[str | None, Refresh] = {REFRESHED: "always", IF_BETTER: "if_better"}


@dataclass(frozen=True)
class StructureOptions:
    """Options of learning a network with local structures.

    `abstraction` is the source of the hierarchies of the values: "given" with the
    variables, learned for each variable ("global") or for each arc ("local", and the
    two refreshed), or None.
    """

    local_structure: Literal["table", "tree"]
    abstraction: str | None
    score: LocalScore
    constraints: Constraints
    smoothing: Smoothing
    linkage: Linkage = "information"  # of learned hierarchies, see `build_hierarchy`
    linkage_arity: LinkageArity = "binary"
    refine_hierarchies: bool = False  # those given, where others are learned
    table_search: TableSearch = "tabu"  # "greedy": restarts only climb
    tree_search: TreeSearch = "regrowing"  # see `climb_trees`
    merge_leaves: bool = False  # of the trees found
    n_restarts: int = 1  # the first is deterministic
    skipped_restarts: int = 0  # those after the first
    seed: int = 0
    n_jobs: int | None = None  # in scikit-learn's meaning
    max_table_cells: int = 20_000_000
    cache_size: int = 200_000  # scores of families
    progress: ProgressCallback | None = None  # called after every move
    arc_prior: ArcPrior | None = None

    @property
    def form(self) -> tuple[str, str | None]:
        """What distributions look like: their structure and abstraction."""
        return self.local_structure, self.abstraction


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
    converged: bool = True  # whether expectation maximisation ended by its rule


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
        return _learn_from_counts(source, domain, options)
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
        warn_of_limit(best.converged, _EM.max_iter)
        return replace(best, found=found)

    def _settle(self, number: int) -> LearnedStructure:
        """Search by one restart with what it led to, until nothing is better."""
        asked = replace(self.options, n_restarts=1)
        if number:
            asked = replace(asked, n_restarts=2, skipped_restarts=number - 1)
        work = Work()
        work.say(f"restart {number + 1} of {self.options.n_restarts}, missing cells")
        # Searched as they are, each family is counted in the rows that have all of it.
        available = asked
        if asked.form not in (("table", None), ("table", GIVEN)):
            available = replace(asked, local_structure="table", abstraction=None)
        first = _learn_from_counts(
            _row_counts(self.codes, asked),
            self.domain,
            _in_time(available, self.deadline, _FIRST_SHARE),
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
        counts = _row_counts(rows.codes, asked)
        learned = _learn_from_counts(
            counts, self.domain, _in_time(asked, self.deadline)
        )
        self.stopped |= learned.found.stopped_early or self.deadline.has_passed
        return self._keep_if_better(learned, rows.codes)

    def _keep_if_better(
        self, learned: LearnedStructure, counted: Codes
    ) -> LearnedStructure:
        """Fit a network and keep it if it scores more; the best network after that."""
        best = self.best
        shapes = learned.found.cpd_structures
        if best is not None and best.found.cpd_structures == shapes:
            return best
        found, rows = _fitted(learned, counted, self.rows, self.options)
        if best is not None and not _is_better(found, best, self.codes):
            return best
        self.best, self.rows = found, rows
        return found


def _in_time(
    options: StructureOptions, deadline: Deadline, share: float = 1.0
) -> StructureOptions:
    """The options with a share of the time that is left."""
    if deadline.at is None:
        return options
    left = max(share * (deadline.at - time.monotonic()), _LEAST_SECONDS)
    limited = replace(options.constraints, time_limit=left)
    return replace(options, constraints=limited)


def _is_better(found: LearnedStructure, best: LearnedStructure, rows: Codes) -> bool:
    """Whether an observed score is larger by more than rounding and a step of EM."""
    gain = found.observed_score - best.observed_score
    return gain > max(LEAST_GAIN, _EM.tol * float(rows.weights.sum()))


def _fitted(
    learned: LearnedStructure,
    counted: Codes,
    rows: CompletedRows,
    options: StructureOptions,
) -> tuple[LearnedStructure, CompletedRows]:
    """The network with probabilities by EM and its observed score, and its rows."""
    found, network = learned.found, learned.network
    rows, _ = rows.weighted(network, options.n_jobs)
    task = _WeighedCompletions(found.cpd_structures, rows, options)
    end = climb(task, task.estimated(rows), _EM)
    # What rises under other rules than priors is not what they make tables of.
    tables = task.estimated(end.expected)
    counts = task.placed.counts(end.expected.codes.weights)
    rows, log_likelihood = task.expect(tables)
    network = network_from_counts(
        network.domain, found.dag, found.cpd_structures, counts, options.smoothing
    )
    score = _observed_score(learned, counted, log_likelihood, options)
    learned = LearnedStructure(network, found, score, log_likelihood, end.converged)
    return learned, rows


class _WeighedCompletions:
    """Completions of incomplete rows under given structures, for the EM steps.

    Where the smoothing rule is not a prior, each distribution has one of one row.
    """

    def __init__(
        self,
        structures: Sequence[Structure],
        completed: CompletedRows,
        options: StructureOptions,
    ) -> None:
        self.completed = completed
        self.options = options
        self.placed = PlacedStructures(structures, completed.codes)
        self.total_weight = float(completed.weights.sum())
        try:
            self.prior_rows = dirichlet_rows(options.smoothing)
        except ValueError:
            self.prior_rows = lambda n_states: 1.0

    def estimated(self, completed: CompletedRows) -> list[NDArray[np.float64]]:
        """Distributions that the smoothing rule makes of weighted completions."""
        counts = self.placed.counts(completed.codes.weights)
        return list(map(self.options.smoothing.estimate, counts))

    def expect(
        self, tables: Sequence[NDArray[np.float64]]
    ) -> tuple[CompletedRows, float]:
        logs = self.placed.log_densities(tables, self.options.n_jobs)
        return self.completed.reweighted(logs)

    def totals(self, expected: CompletedRows) -> list[NDArray[np.float64]]:
        counts = self.placed.counts(expected.codes.weights)
        return [table + self._prior(table) for table in counts]

    def fitted(
        self,
        tables: Sequence[NDArray[np.float64]],
        totals: Sequence[NDArray[np.float64]],
    ) -> Sequence[NDArray[np.float64]]:
        return list(map(shares, totals, tables))

    def log_prior(self, tables: Sequence[NDArray[np.float64]]) -> float:
        logs = [
            self._prior(table) * float(np.log(table).sum())
            for table in tables
            if self._prior(table) > 0
        ]
        return math.fsum(logs)

    def probabilities(
        self, tables: Sequence[NDArray[np.float64]]
    ) -> Sequence[NDArray[np.float64]]:
        return tables

    def _prior(self, table: NDArray[np.float64]) -> float:
        """Prior rows of each cell of a table."""
        n_states = int(table.shape[-1])
        return float(self.prior_rows(n_states)) / n_states


def _observed_score(
    learned: LearnedStructure,
    counted: Codes,
    log_likelihood: float,
    options: StructureOptions,
) -> float:
    """Log-likelihood of the observed cells plus what the structure scores."""
    in_unit = 1 / math.log(2) if options.score.unit == "bits" else 1.0
    largest = math.fsum(
        _largest_log_likelihood(structure, counted)
        for structure in learned.found.cpd_structures
    )
    return learned.found.score + in_unit * (log_likelihood - largest)


def _largest_log_likelihood(structure: Structure, codes: Codes) -> float:
    """What the search took the data's share of a family's score for (nats)."""
    counts = structure_counts(structure, codes)
    counts = counts.reshape(-1, counts.shape[-1])
    seen = float(counts.sum())
    # Searches scale counts in incomplete rows up to the weight of all rows.
    scale = float(codes.weights.sum()) / seen if seen > 0 else 1.0
    return float(log_likelihood(counts)) * scale


def _row_counts(codes: Codes, options: StructureOptions) -> RowCounts:
    """Counts of rows in memory, without a class, as that is the fastest."""
    return RowCounts(
        codes, options.n_jobs, has_class=False, max_table_cells=options.max_table_cells
    )


def _learn_from_counts(
    source: CountSource, domain: Domain, options: StructureOptions
) -> LearnedStructure:
    """Search and count in complete rows."""
    counts = source
    if isinstance(source, RowCounts) or options.local_structure == TREE:
        counts = _row_counts(source.rows(), options)
    if options.abstraction == GLOBAL:
        # Learned with all other variables as context.
        learned = learn_hierarchies(
            counts,
            domain,
            options.linkage,
            options.linkage_arity,
            refine=options.refine_hierarchies,
        )
        pairs = zip(domain, learned, strict=True)
        domain = Domain(tuple(replace(own, hierarchy=tree) for own, tree in pairs))
    found = _search_structure(counts, domain, options)
    shapes, smoothing = found.cpd_structures, options.smoothing
    # Where trees were grown from a sample, all rows fill them.
    tables = [summed_over_rows(source, bound(structure_counts, s)) for s in shapes]
    network = network_from_counts(domain, found.dag, shapes, tables, smoothing)
    fitted = counted_log_likelihood(tables, smoothing)
    return LearnedStructure(network, found, found.score, fitted)


def _search_structure(
    counts: CountSource, domain: Domain, options: StructureOptions
) -> SearchResult:
    """Search for a structure of the requested form.

    Counts are of complete rows, without a class.
    """
    source = None
    if options.abstraction in (LOCAL, *_REFRESH):
        source = LocalHierarchies(
            counts,
            domain,
            options.linkage,
            options.linkage_arity,
            refine=options.refine_hierarchies,
        )
    is_grouped = options.abstraction is not None
    hierarchies = [
        (own.hierarchy if is_grouped else None) or flat_hierarchy(own.states)
        for own in domain
    ]
    shared: dict[str, Any] = {
        "refine": is_grouped,
        "constraints": options.constraints,
        "arc_prior": options.arc_prior,
        "n_restarts": options.n_restarts,
        "skipped_restarts": options.skipped_restarts,
        "seed": options.seed,
        "n_jobs": thread_count(options.n_jobs),
        "progress": options.progress,
        "hierarchy_source": source,
    }
    if options.local_structure == "tree":
        return climb_trees(
            counts,
            domain,
            options.score,
            hierarchies,
            tree_search=options.tree_search,
            merge_leaves=options.merge_leaves,
            **shared,
        )
    return climb_tables(
        counts,
        domain,
        options.score,
        hierarchies,
        refresh=_REFRESH.get(options.abstraction),
        cache_size=options.cache_size,
        greedy=options.table_search == "greedy",
        **shared,
    )


@dataclass(frozen=True, eq=False)
class ExpectedStructure:
    """A network learned by expectation maximisation, and the course of its score."""

    learned: LearnedStructure
    scores: tuple[float, ...]  # observed, of the first network and its successors


def learn_by_expectation(
    codes: Codes, domain: Domain, options: StructureOptions, *, edges: bool
) -> ExpectedStructure:
    """Search for a network of tables, and fit it to all observed cells.

    Friedman (1998), "The Bayesian structural EM algorithm": expected counts under the
    present network, weights of the completed rows, drive a search; its result is
    fitted, exactly, by expectation maximisation on a junction tree. A network replaces
    the present one if its observed score is larger: the log-likelihood of what the rows
    contain, and what the structure scores (see `learn_structure`).

    Without `edges`, the search is made once, with each family counted in the rows that
    contain all of it. Distributions are tables without abstraction. ValueError if the
    smoothing rule is not a prior that ignores counts.
    """
    dirichlet_rows(options.smoothing)
    options.constraints.check(domain)
    deadline = Deadline.after(options.constraints.time_limit)
    work = Work()
    work.say("search in the cells at hand")
    found = _learn_from_counts(_row_counts(codes, options), domain, options)
    best = _exactly_fitted(found, codes, codes, options)
    scores = [best.observed_score]
    incomplete = any(codes.missing(v).any() for v in range(codes.n_variables))
    if not edges or not incomplete:
        return ExpectedStructure(best, tuple(scores))
    rows = CompletedRows.of_rows(codes, PartialValues.none(), options.seed)
    # Unfitted at first, as a fitted network agrees too well with its own structure.
    present: BayesianNetwork = found.network
    tried = {found.found.dag}
    while not deadline.has_passed:
        work.say(f"search {len(tried) + 1} with expected counts")
        expected, _ = rows.weighted(present, options.n_jobs)
        found = _learn_from_counts(
            _row_counts(expected.codes, options), domain, _in_time(options, deadline)
        )
        is_first, present = present is not best.network, best.network
        if found.found.dag not in tried:
            tried.add(found.found.dag)
            fitted = _exactly_fitted(found, expected.codes, codes, options)
            if _is_better(fitted, best, codes):
                best, present = fitted, fitted.network
                scores.append(best.observed_score)
                continue
        if not is_first:
            break
    return ExpectedStructure(best, tuple(scores))


def _exactly_fitted(
    learned: LearnedStructure, counted: Codes, rows: Codes, options: StructureOptions
) -> LearnedStructure:
    """A network with its tables and its observed score.

    `learned` has the structure and the tables to start from; `counted` is what the
    search saw of `rows`.
    """
    weight = dirichlet_rows(options.smoothing)
    tables = []
    for family in learned.network.dag.families:
        shape = tuple(rows.cards[member] for member in family)
        experience = np.full(shape[:-1], weight(shape[-1]))
        tables.append(TableCPD(family, np.full(shape, 1 / shape[-1]), experience))
    expanded = [TableCPD(cpd.family, cpd.probabilities) for cpd in learned.network.cpds]
    fitted = learn_parameters(
        replace(learned.network, cpds=tuple(tables)),
        rows,
        start=replace(learned.network, cpds=tuple(expanded)),
        tol=_EM.tol,
        max_iter=_EM.max_iter,
        n_jobs=options.n_jobs,
    )
    score = _observed_score(learned, counted, fitted.log_likelihood, options)
    return LearnedStructure(fitted.network, learned.found, score, fitted.log_likelihood)
