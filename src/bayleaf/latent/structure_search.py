"""How a network with local structures is asked for, and the search for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import thread_count
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
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
    """Options of learning a network with local structures.

    `abstraction` is the source of the hierarchies of the values: "given" with the
    variables, learned for each variable ("global") or for each arc ("local",
    "local_refreshed"), or None.
    """

    local_structure: Literal["table", "tree"]
    abstraction: str | None
    score: LocalScore
    constraints: Constraints
    smoothing: Smoothing
    linkage: Linkage = "information"  # of learned hierarchies, see `build_hierarchy`
    linkage_arity: LinkageArity = "binary"
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


def search_structure(
    counts: CountSource, domain: Domain, options: StructureOptions
) -> SearchResult:
    """Search for a structure of the requested form.

    Counts are of complete rows, without a class.
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
