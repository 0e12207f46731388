"""Search for a network of trees by splitting leaves and collapsing splits.

Where neither gains, the searches of the paper stop; "regrowing" grows whole trees anew
then, see `trees.escaping`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import run_tasks
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.constraints import Constraints
from bayleaf.search.decision_graphs.joined_splits import with_joined_splits
from bayleaf.search.decision_graphs.leaf_merging import with_merged_leaves
from bayleaf.search.structure import (
    Deadline,
    ProgressCallback,
    SearchResult,
    best_result,
    one_at_a_time,
    restart_numbers,
    warn_if_stopped,
)
from bayleaf.search.trees.batches import BatchClimb
from bayleaf.search.trees.escaping import WaysOut
from bayleaf.search.trees.leaf_counts import RowTable
from bayleaf.search.trees.network import TreeNetwork
from bayleaf.search.trees.proposals import propose_until_tired
from bayleaf.search.trees.scores import TreeTerms
from bayleaf.search.trees.task import HierarchySource, TreeTask
from bayleaf.wording import quoted

TreeSearch = Literal["regrowing", "incremental", "batch"]
TREE_SEARCHES: tuple[TreeSearch, ...] = get_args(TreeSearch)

# Counts of leaves that all restarts together keep: half a gigabyte.
MAX_KEPT_CELLS = 1 << 26


def climb_trees(
    counts: CountSource,  # no cell may be missing
    domain: Domain,
    score: LocalScore,
    hierarchies: Sequence[ValueHierarchy],  # flat ones give ordinary trees
    *,
    refine: bool = True,  # branch over nodes of hierarchies, else over all states
    constraints: Constraints | None = None,
    arc_prior: ArcPrior | None = None,
    n_restarts: int = 1,
    skipped_restarts: int = 0,  # those after number 0
    seed: int = 0,  # restart k draws from (seed, k)
    n_jobs: int = 1,  # the result does not depend on it
    progress: ProgressCallback | None = None,  # called by one thread at a time
    hierarchy_source: HierarchySource | None = None,  # kept until the last split goes
    tree_search: TreeSearch = "regrowing",
    merge_leaves: bool = False,  # then join leaves and splits, if it gains
    max_kept_cells: int = MAX_KEPT_CELLS,  # counts kept at a time
) -> SearchResult:
    """Learn a network whose distributions are trees over the parents' states.

    "incremental" splits single leaves, as desJardins, Rathod and Getoor (2008), figure
    5 and section 6, with collapses tried after each proposal, and a stop at a local
    optimum of all moves. "regrowing" goes on from there: regrown trees and turned arcs
    lead out of local optima. "batch" changes edges and grows and prunes a tree for each
    set of parents, their section 4.1, after Friedman and Goldszmidt (1996). Restart 0
    always makes the best of all moves, others propose moves by chance.

    ValueError if the constraints contradict each other or the domain, a hierarchy does
    not fit its variable, a cell is missing, all weights are zero, or `n_restarts` is
    below one; RuntimeWarning if the time limit stops the search.
    """
    if tree_search not in TREE_SEARCHES:
        raise ValueError(
            f"tree_search must be one of {', '.join(map(repr, TREE_SEARCHES))}, got "
            f"{quoted(tree_search)}"
        )
    numbers = restart_numbers(n_restarts, skipped_restarts)
    constraints = constraints or Constraints()
    constraints.check(domain)
    _check_splittable(constraints, domain)
    flat = tuple(flat_hierarchy(variable.states) for variable in domain)
    rows = RowTable.from_codes(counts.rows(), [own.name for own in domain])
    terms = TreeTerms(score, len(domain), rows.total_weight, arc_prior)
    task = TreeTask(
        rows,
        domain,
        terms,
        tuple(hierarchies) if refine else flat,
        hierarchy_source if refine else None,
        constraints,
        Deadline.after(constraints.time_limit),
        seed,
        one_at_a_time(progress, n_restarts),
        max_kept_cells // max(1, min(n_jobs, n_restarts)),
    )
    climbs: dict[TreeSearch, Callable[[TreeTask, int], SearchResult | None]] = {
        "regrowing": partial(_climb, regrow=True),
        "incremental": partial(_climb, regrow=False),
        "batch": _climb_by_batches,
    }
    climb = climbs[tree_search]
    tasks = [partial(climb, task, restart) for restart in numbers]
    result = best_result(run_tasks(tasks, n_jobs))
    warn_if_stopped(result, constraints)
    if merge_leaves:
        return with_joined_splits(
            with_merged_leaves(result, counts.rows(), terms), task
        )
    return result


def _check_splittable(constraints: Constraints, domain: Domain) -> None:
    """Raise unless trees can split on each required parent."""
    for parent, child in sorted(constraints.required_edges):
        if domain[parent].n_states < 2:
            raise ValueError(
                f"variable {quoted(domain[parent].name)} has a single state, so that "
                f"no tree of {quoted(domain[child].name)} can split on it; take the "
                "edge out of required_edges"
            )


def _climb_by_batches(task: TreeTask, restart: int) -> SearchResult | None:
    """One restart over edges; None if time was up before it began."""
    if restart > 0 and task.deadline.has_passed:
        return None
    return BatchClimb(task, restart).run()


def _climb(task: TreeTask, restart: int, *, regrow: bool) -> SearchResult | None:
    """One restart over splits; None if time was up before it began."""
    if restart > 0 and task.deadline.has_passed:
        return None
    counts = task.counts()
    trees = [task.tree(child, counts) for child in range(len(task.domain))]
    least_gain = task.terms.least_gain
    network = TreeNetwork(trees, task.constraints, restart, least_gain, task.progress)
    rng = task.generator(restart)
    ways_out = WaysOut(task, network, counts, from_parents=restart > 0)
    stopped = False
    while not stopped:
        if restart > 0 and not propose_until_tired(network, task.deadline, rng):
            stopped = True
            break
        move = network.best_move()
        if move is not None:
            network.apply(*move)
        elif not regrow or not ways_out.take_first():
            break
        stopped = task.deadline.has_passed
    return network.result(stopped_early=stopped)
