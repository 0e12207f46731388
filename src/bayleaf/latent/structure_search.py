"""How a network with local structures is asked for, and the search for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.domain import Domain
from bayleaf.data.hierarchies.cuts import flat_hierarchy
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchies.clustering import (
    Linkage,
    LinkageArity,
    learn_hierarchies,
)
from bayleaf.search.hierarchies.local import LocalHierarchies
from bayleaf.search.structure import ProgressCallback, SearchResult
from bayleaf.search.tables.climbing import climb_tables
from bayleaf.search.tree_climbing import TreeSearch, climb_trees

# Forms of distributions: tables need counts alone, trees are grown from rows.
TABLE, TREE = LOCAL_STRUCTURES = ("table", "tree")
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
    tree_search : {"regrowing", "incremental", "batch"}
        How trees grow, see `climb_trees`.
    merge_leaves : bool
        Whether leaves of the trees found are merged.
    n_restarts : int
        Number of searches; the first is deterministic.
    skipped_restarts : int
        Number of those after the first that are left out.
    seed : int
        Seed of the others.
    n_jobs : int, optional
        Number of threads, in scikit-learn's meaning.
    max_table_cells : int
        Largest table of counts.
    cache_size : int
        Most scores of families that a search over tables remembers.
    progress : callable, optional
        Told after every move how far a restart has come.
    arc_prior : ArcPrior, optional
        What arcs add to the score.
    """

    local_structure: Literal["table", "tree"]
    abstraction: str | None
    score: LocalScore
    constraints: Constraints
    smoothing: Smoothing
    linkage: Linkage = "information"
    linkage_arity: LinkageArity = "binary"
    tree_search: TreeSearch = "regrowing"
    merge_leaves: bool = False
    n_restarts: int = 1
    skipped_restarts: int = 0
    seed: int = 0
    n_jobs: int | None = None
    max_table_cells: int = 20_000_000
    cache_size: int = 200_000
    progress: ProgressCallback | None = None
    arc_prior: ArcPrior | None = None

    @property
    def form(self) -> tuple[str, str | None]:
        """What distributions look like: their structure and abstraction."""
        return self.local_structure, self.abstraction


def search_structure(
    counts: CountSource, domain: Domain, options: StructureOptions
) -> SearchResult:
    """Search for a structure of the form that is asked for.

    Parameters
    ----------
    counts : CountSource
        Of complete rows, with no class.
    domain : Domain
        Variables; those with a hierarchy use it where values are grouped.
    options : StructureOptions
        How.
    """
    source = None
    if options.abstraction in (LOCAL, REFRESHED):
        source = LocalHierarchies(
            counts, domain, options.linkage, options.linkage_arity
        )
    hierarchies = _hierarchies(domain, options.abstraction)
    shared: dict[str, Any] = {
        "refine": options.abstraction is not None,
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
        refresh=options.abstraction == REFRESHED,
        cache_size=options.cache_size,
        **shared,
    )


def with_learned_hierarchies(
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
