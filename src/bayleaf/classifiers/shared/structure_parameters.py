"""Parameters of structure searches, which density models and a classifier share."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, get_args

from bayleaf.classifiers.shared.edge_parameters import (
    EdgeParameters,
    Name,
    check_edges,
    edge_constraints,
    named_places,
)
from bayleaf.classifiers.shared.hierarchy_parameters import HierarchyParameters
from bayleaf.classifiers.shared.parameters import (
    check_choice,
    check_count,
    check_flag,
    check_threshold,
)
from bayleaf.cpds.smoothing import Smoothing, dirichlet_rows, resolve_smoothing
from bayleaf.data.domain import Domain
from bayleaf.data.random_state import random_generator
from bayleaf.latent.structure_learning import (
    ABSTRACTIONS,
    GIVEN,
    GLOBAL,
    IF_BETTER,
    LOCAL,
    LOCAL_STRUCTURES,
    REFRESHED,
    TABLE,
    TREE,
    StructureOptions,
)
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore, Unit, resolve_score
from bayleaf.search.climb import SearchProgress
from bayleaf.search.constraints import Edge
from bayleaf.search.hierarchy_learning import check_linkage
from bayleaf.search.table_climbing import TableSearch
from bayleaf.search.tree_climbing import TREE_SEARCHES
from bayleaf.typing import MappingLike
from bayleaf.wording import quoted

# The names of the nine settings in desJardins, Rathod and Getoor (2008), and of one
# beyond them.
SETTINGS = {
    (TABLE, None): "FLAT",
    (TABLE, GIVEN): "ABS-E",
    (TABLE, GLOBAL): "ABS-G",
    (TABLE, LOCAL): "ABS-L1",
    (TABLE, REFRESHED): "ABS-Lf",
    (TABLE, IF_BETTER): "ABS-Lf, if better",
    (TREE, None): "TCPT",
    (TREE, GIVEN): "TABS-E",
    (TREE, GLOBAL): "TABS-G",
    (TREE, LOCAL): "TABS-L",
}


class StructureParameters(HierarchyParameters, EdgeParameters):
    """Parameters of searches for a network's structure: `BayesianNetworkEstimator`."""

    # Gains of all moves, and what was scored: measured with 1 000 columns.
    _bytes_a_pair: ClassVar[int] = 400

    local_structure: str = TABLE
    abstraction: str | None = None
    local_score: str | LocalScore = "mdl"
    linkage: str = "information"
    linkage_arity: str = "binary"
    refine_hierarchies: bool = False
    n_restarts: int = 2
    table_search: str = "tabu"
    tree_search: str = "regrowing"
    merge_leaves: bool = False
    penalty_weight: float = 1.0
    max_parents: int | None = None
    arc_prior: MappingLike[tuple[Name, Name], float] | None = None
    time_limit: float | None = None
    cache_size: int = 200_000

    def _check(self) -> None:
        check_choice("local_structure", self.local_structure, LOCAL_STRUCTURES)
        if self.abstraction is not None:
            check_choice("abstraction", self.abstraction, ABSTRACTIONS)
        if (self.local_structure, self.abstraction) not in SETTINGS:
            raise ValueError(
                f"abstraction={quoted(self.abstraction)} is not defined for trees, "
                "which keep a hierarchy until its last split goes; take "
                "abstraction='local', or local_structure='table'"
            )
        check_linkage(self.linkage, self.linkage_arity)
        check_choice("table_search", self.table_search, get_args(TableSearch))
        check_choice("tree_search", self.tree_search, TREE_SEARCHES)
        check_flag("merge_leaves", self.merge_leaves)
        check_flag("refine_hierarchies", self.refine_hierarchies)
        check_count("n_restarts", self.n_restarts, 1)
        if self.max_parents is not None:
            check_count("max_parents", self.max_parents, 0)
        check_threshold("penalty_weight", self.penalty_weight, none_too=False)
        resolve_score(self.local_score, penalty_weight=self.penalty_weight)
        check_threshold("time_limit", self.time_limit)
        check_count("cache_size", self.cache_size, 0)
        _check_belongings(self)
        check_arc_prior(self.arc_prior)


def check_expectation(estimator: Any) -> None:
    """Raise if the parameters do not meet the needs of expectation maximisation.

    ValueError or TypeError names the parameter, its value and what is allowed.
    """
    smoothing = resolve_smoothing(estimator.smoothing)
    if estimator.structural is not None:
        check_choice("structural", estimator.structural, ("edges",))
    if estimator.missing != "em":
        if estimator.structural is not None:
            raise ValueError("structural='edges' needs missing='em'")
        return
    dirichlet_rows(smoothing)
    if estimator.local_structure != TABLE or estimator.hierarchies is not None:
        raise ValueError(
            "missing='em' is defined for local_structure='table' without hierarchies; "
            "take missing='marginalize'"
        )
    if estimator.abstraction is not None:
        raise ValueError(
            "missing='em' is defined without abstraction; leave "
            f"abstraction={quoted(estimator.abstraction)} out, or take "
            "missing='marginalize'"
        )


def structure_options(
    estimator: Any, domain: Domain, smoothing: Smoothing
) -> StructureOptions:
    """The options of a structure search from an estimator's parameters.

    ValueError if an edge, a tier or a belief has a name that is not a variable's.
    """
    score = resolve_score(
        estimator.local_score, penalty_weight=estimator.penalty_weight
    )
    return StructureOptions(
        local_structure=estimator.local_structure,
        abstraction=estimator.abstraction,
        score=score,
        constraints=edge_constraints(
            estimator,
            domain.names,
            max_parents=estimator.max_parents,
            time_limit=estimator.time_limit,
        ),
        arc_prior=named_arc_prior(estimator.arc_prior, domain.names, score.unit),
        smoothing=smoothing,
        linkage=estimator.linkage,
        linkage_arity=estimator.linkage_arity,
        refine_hierarchies=bool(estimator.refine_hierarchies),
        table_search=estimator.table_search,
        tree_search=estimator.tree_search,
        merge_leaves=bool(estimator.merge_leaves),
        n_restarts=estimator.n_restarts,
        seed=_seed(estimator.random_state),
        n_jobs=estimator.n_jobs,
        max_table_cells=estimator.max_table_cells,
        cache_size=int(estimator.cache_size),
        progress=partial(_tell, score.unit) if estimator.verbose > 1 else None,
    )


def _tell(unit: str, progress: SearchProgress) -> None:
    """Print on standard error how far a search has come."""
    print(
        f"search {progress.restart + 1}: {progress.n_moves} moves, "
        f"{progress.moves_per_second:.0f} a second, score {progress.score:.8g} {unit}",
        file=sys.stderr,
    )


def _seed(random_state: Any) -> int:
    """The number that seeds restarts; an integer stands for itself."""
    if isinstance(random_state, numbers.Integral) and int(random_state) >= 0:
        return int(random_state)
    return int(random_generator(random_state).integers(2**31 - 1))


def _check_belongings(estimator: Any) -> None:
    """Raise if a parameter was set that the setting does not look at."""
    if estimator.abstraction == GIVEN and not estimator.hierarchies:
        raise ValueError(
            "abstraction='given' needs hierarchies={column: hierarchy}; give one, or "
            "take abstraction='global' to learn them"
        )
    learns = estimator.abstraction not in (None, GIVEN)
    if estimator.refine_hierarchies and not (learns and estimator.hierarchies):
        raise ValueError(
            "refine_hierarchies=True needs hierarchies to refine and an abstraction "
            "that learns, such as 'global' or 'local', got abstraction="
            f"{quoted(estimator.abstraction)}"
        )
    if estimator.local_structure == TREE and estimator.table_search != "tabu":
        raise ValueError(
            f"table_search={quoted(estimator.table_search)} needs "
            "local_structure='table'"
        )
    if estimator.local_structure != TREE:
        if estimator.merge_leaves:
            raise ValueError("merge_leaves=True needs local_structure='tree'")
        if estimator.tree_search != "regrowing":
            raise ValueError(
                f"tree_search={quoted(estimator.tree_search)} needs "
                "local_structure='tree'"
            )
    if estimator.tree_search == "batch" and estimator.abstraction is not None:
        raise ValueError(
            "tree_search='batch' is defined without abstraction only; leave "
            f"abstraction={quoted(estimator.abstraction)} out, or take 'incremental'"
        )


def check_arc_prior(arc_prior: Any) -> None:
    """Raise unless a parameter maps pairs of names to probabilities.

    TypeError for other types; ValueError if a number is not above 0 and below 1, or
    those of both directions of a pair leave nothing for the absence of both.
    """
    if arc_prior is None:
        return
    if not isinstance(arc_prior, Mapping):
        raise TypeError(
            "arc_prior must map (parent, child) pairs of names to probabilities, got "
            f"{quoted(arc_prior)}"
        )
    check_edges("arc_prior", list(arc_prior))
    for (parent, child), belief in arc_prior.items():
        what = f"arc_prior of the arc from {quoted(parent)} to {quoted(child)}"
        refusal = f"{what} must be a number above 0 and below 1, got {quoted(belief)}"
        if not isinstance(belief, numbers.Real) or isinstance(belief, bool):
            raise TypeError(refusal)
        if not 0.0 < float(belief) < 1.0:
            raise ValueError(
                f"{refusal}; for certainty use required_edges or forbidden_edges"
            )
        if parent == child:
            raise ValueError(f"{what} joins a column with itself; name two columns")
        if float(belief) + float(arc_prior.get((child, parent), 0.0)) >= 1.0:
            raise ValueError(
                f"{what} and of the arc the other way sum to 1 or more, which leaves "
                "nothing for neither arc; lower them"
            )


def named_arc_prior(
    arc_prior: Mapping[tuple[Name, Name], float] | None,
    names: Sequence[Name],
    unit: Unit,
) -> ArcPrior | None:
    """The terms of beliefs in arcs between names, in a score's unit; None without.

    ValueError if a belief contains a name that is not a variable's.
    """
    if not arc_prior:
        return None
    beliefs: dict[Edge, float] = {}
    for arc, belief in arc_prior.items():
        parent, child = named_places("arc_prior", arc, names)
        beliefs[parent, child] = float(belief)
    return ArcPrior.from_probabilities(beliefs, len(names), unit)
