"""Learning a network with its local structures from rows, holes included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import thread_count
from bayleaf.counts.unclassed import UnclassedCounts
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.hierarchy_cuts import flat_hierarchy
from bayleaf.data.partial_values import PartialValues
from bayleaf.latent.completed_rows import CompletedRows
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.structured_network import network_from_structures
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.local_hierarchies import LocalHierarchies
from bayleaf.search.structure import Constraints, ProgressCallback, SearchResult
from bayleaf.search.table_climbing import climb_tables
from bayleaf.search.tree_climbing import TreeSearch, climb_trees
from bayleaf.search.value_clustering import Linkage, LinkageArity, learn_hierarchies
from bayleaf.wording import near_names

Name = str | int
# When expectation maximisation stands still, and its most steps.
_TOLERANCE = 1e-7
_MOST_STEPS = 200
# Where the hierarchies of values come from, beside None.
GIVEN, GLOBAL, LOCAL, REFRESHED = ABSTRACTIONS = (
    "given",
    "global",
    "local",
    "local_refreshed",
)


@dataclass(frozen=True)
class StructureOptions:
    """How a network with local structures is learned.

    Parameters
    ----------
    local_structure : {"table", "tree"}
        Form of the distributions.
    abstraction : str or None
        Where the hierarchies of the values come from: "given" with the variables,
        learned for each variable ("global") or for each arc ("local",
        "local_refreshed"), or there are none.
    score : LocalScore
        What the search makes large.
    constraints : Constraints
        What the structure has to keep to.
    smoothing : Smoothing
        Rule that turns counts into probabilities.
    linkage, linkage_arity : str
        How learned hierarchies join values, see `build_hierarchy`.
    tree_search : {"incremental", "batch"}
        How trees grow, see `climb_trees`.
    merge_leaves : bool
        Whether leaves of the trees found are merged.
    n_restarts : int
        Number of searches; the first is deterministic.
    seed : int
        Seed of the others.
    n_jobs : int, optional
        Number of threads, in scikit-learn's meaning.
    max_table_cells : int
        Largest table of counts.
    progress : callable, optional
        Told after every move how far a restart has come.
    """

    local_structure: Literal["table", "tree"]
    abstraction: str | None
    score: LocalScore
    constraints: Constraints
    smoothing: Smoothing
    linkage: Linkage = "information"
    linkage_arity: LinkageArity = "binary"
    tree_search: TreeSearch = "incremental"
    merge_leaves: bool = False
    n_restarts: int = 1
    seed: int = 0
    n_jobs: int | None = None
    max_table_cells: int = 20_000_000
    progress: ProgressCallback | None = None


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A learned network, and what the search found.

    Parameters
    ----------
    network : BayesianNetwork
        Structure and probabilities.
    found : SearchResult
        Structure, score and moves.
    """

    network: BayesianNetwork
    found: SearchResult


def named_edges(
    parameter: str, edges: Iterable[tuple[Name, Name]], names: Sequence[Name]
) -> frozenset[tuple[int, int]]:
    """Edges between indices from edges between names.

    Raises
    ------
    ValueError
        If there is no such name; the sentence names the parameter.
    """
    index = {name: i for i, name in enumerate(names)}
    for name in (name for edge in edges for name in edge):
        if name not in index:
            raise ValueError(
                f"{parameter} names {name!r}, which is no column; "
                f"{near_names(str(name), map(str, names))}"
            )
    return frozenset((index[parent], index[child]) for parent, child in edges)


def learn_structure(
    codes: Codes, partial: PartialValues, domain: Domain, options: StructureOptions
) -> LearnedStructure:
    """Search for a structure and fill it with probabilities.

    Parameters
    ----------
    codes : Codes
        Rows over the domain; cells may be missing.
    partial : PartialValues
        Missing cells that may hold some states only.
    domain : Domain
        Variables; those with a hierarchy use it where abstraction is "given".
    options : StructureOptions
        How.

    Raises
    ------
    ValueError
        If the constraints contradict one another.

    Notes
    -----
    Rows with holes enter the search as expected counts: as all their completions,
    weighted by their probabilities under the network found before. The first one has
    tables and counts in each family the rows that hold all of it. Final probabilities
    are found by expectation maximisation (Friedman 1998, "The Bayesian structural EM
    algorithm").
    """
    options.constraints.check(domain)
    if not any(codes.missing(v).any() for v in range(codes.n_variables)):
        return _learned(codes, domain, options)
    first = _first_network(codes, domain, options)
    completed = CompletedRows.of_rows(codes, partial, options.seed)
    completed, _ = completed.weighted(first, options.n_jobs)
    single = replace(options, n_restarts=1, merge_leaves=False)
    found = _learned(completed.codes, domain, single)
    found, completed = _refitted(found, completed, options)
    found = _learned(completed.codes, domain, options)
    return _refitted(found, completed, options)[0]


def _learned(
    codes: Codes, domain: Domain, options: StructureOptions
) -> LearnedStructure:
    """Search and count in complete rows."""
    counts = UnclassedCounts(
        codes, options.n_jobs, max_table_cells=options.max_table_cells
    )
    if options.abstraction == GLOBAL:
        domain = _with_learned_hierarchies(domain, counts, options)
    found = _search(counts, domain, options)
    network = network_from_structures(
        domain, found.dag, found.cpd_structures, codes, options.smoothing
    )
    return LearnedStructure(network, found)


def _first_network(
    codes: Codes, domain: Domain, options: StructureOptions
) -> BayesianNetwork:
    """A network of tables, by which holes are filled for the first time."""
    plain = replace(options, local_structure="table", abstraction=None, n_restarts=1)
    counts = UnclassedCounts(
        codes, options.n_jobs, max_table_cells=options.max_table_cells
    )
    found = _search(counts, domain, plain)
    return network_from_structures(
        domain, found.dag, found.cpd_structures, codes, options.smoothing
    )


def _refitted(
    learned: LearnedStructure, completed: CompletedRows, options: StructureOptions
) -> tuple[LearnedStructure, CompletedRows]:
    """Expectation maximisation of the probabilities, and the rows it ends with."""
    network, found = learned.network, learned.found
    completed, log_likelihood = completed.weighted(network, options.n_jobs)
    for _ in range(_MOST_STEPS):
        network = network_from_structures(
            network.domain,
            found.dag,
            found.cpd_structures,
            completed.codes,
            options.smoothing,
        )
        before = log_likelihood
        completed, log_likelihood = completed.weighted(network, options.n_jobs)
        if abs(log_likelihood - before) <= _TOLERANCE * abs(log_likelihood):
            break
    return replace(learned, network=network), completed


def _search(
    counts: CountSource, domain: Domain, options: StructureOptions
) -> SearchResult:
    """Run the search of the local structure that is asked for."""
    source = None
    if options.abstraction in (LOCAL, REFRESHED):
        source = LocalHierarchies(
            counts, domain, options.linkage, options.linkage_arity
        )
    hierarchies = _hierarchies(domain, options.abstraction)
    shared: dict[str, Any] = {
        "refine": options.abstraction is not None,
        "constraints": options.constraints,
        "n_restarts": options.n_restarts,
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
    refresh = options.abstraction == REFRESHED
    return climb_tables(
        counts, domain, options.score, hierarchies, refresh=refresh, **shared
    )


def _with_learned_hierarchies(
    domain: Domain, counts: CountSource, options: StructureOptions
) -> Domain:
    """The variables with a hierarchy each, learned with all others as context."""
    learned = learn_hierarchies(counts, domain, options.linkage, options.linkage_arity)
    return Domain(
        tuple(
            replace(variable, hierarchy=hierarchy)
            for variable, hierarchy in zip(domain, learned, strict=True)
        )
    )


def _hierarchies(domain: Domain, abstraction: str | None) -> list[ValueHierarchy]:
    """The hierarchy over each variable's values; flat where there is none."""
    return [
        variable.hierarchy
        if abstraction is not None and variable.hierarchy is not None
        else flat_hierarchy(variable.states)
        for variable in domain
    ]
