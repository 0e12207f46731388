"""Searches over trees: exact gains, true local optima, and what users ask of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.graph.dag import DAG, CycleError
from bayleaf.scores.local_scores import LOCAL_SCORES, resolve_score
from bayleaf.search.climb import SearchProgress
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import LocalHierarchies
from bayleaf.search.structure import SearchResult
from bayleaf.search.tree_climbing import (
    TreeSearch,
    climb_trees,
    leaf_counts,
    merge_leaves,
)
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks

MODEL = {
    "any": {
        "sportscar": ["porsche", "ferrari"],
        "sedan": ["accord", "maxima"],
        "suv": ["explorer", "pathfinder"],
    }
}
SEARCHES: tuple[TreeSearch, ...] = ("regrowing", "incremental", "batch")


def _climb(
    codes: Codes,
    domain: Domain,
    hierarchies: Sequence[ValueHierarchy] | None = None,
    score: str = "mdl",
    **options: object,
) -> SearchResult:
    if hierarchies is None:
        hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    given_score = resolve_score(score)
    counts = RowCounts(codes, has_class=False)
    return climb_trees(counts, domain, given_score, hierarchies, **options)  # type: ignore[arg-type]


def _random(
    seed: int, n_variables: int = 4, n_rows: int = 150, *, weighted: bool = False
) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, n_variables)
    codes = tree_networks.random_codes(rng, domain, n_rows, weighted=weighted)
    return codes, domain, hierarchies


def _full_score(name: str, shapes: Sequence[TreeShape], codes: Codes) -> float:
    return sum(
        tree_networks.tree_score(name, shape.child, shape.root, codes)
        for shape in shapes
    )


def _cars(n_rows: int = 4000) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    """Fuel efficiency of the paper's section 2: without a hybrid, the sort of car
    counts, and among sedans the model."""
    rng = np.random.default_rng(5)
    tree = ValueHierarchy.from_nested(MODEL)
    model = rng.integers(6, size=n_rows)
    hybrid = rng.integers(2, size=n_rows)
    chances = np.array([0.1, 0.1, 0.35, 0.65, 0.9, 0.9])[model]
    high = (rng.random(n_rows) < np.where(hybrid == 1, 0.5, chances)).astype(int)
    names = ("hybrid", "model", "efficiency")
    states = (("no", "yes"), tree.states, ("low", "high"))
    variables = [Variable(a, tuple(b)) for a, b in zip(names, states, strict=True)]
    hierarchies = [flat_hierarchy(("no", "yes")), tree, flat_hierarchy(("low", "high"))]
    codes = Codes.from_columns([hybrid, model, high], (2, 6, 2))
    return codes, Domain(tuple(variables)), hierarchies


# The graph in which the first two are the parents of the third.
CARS_ONLY = Constraints(
    required_edges=frozenset({(0, 2), (1, 2)}),
    forbidden_edges=frozenset({(0, 1), (1, 0)}),
)


def test_the_papers_cars_take_fourteen_parameters_as_a_tree_of_states() -> None:
    codes, domain, hierarchies = _cars()
    found = _climb(codes, domain, hierarchies, refine=False, constraints=CARS_ONLY)
    shape = found.cpd_structures[2]
    assert (shape.n_rows, 2 * shape.n_rows) == (7, 14)


def test_the_papers_cars_take_ten_parameters_as_a_tree_of_groups() -> None:
    codes, domain, hierarchies = _cars()
    found = _climb(codes, domain, hierarchies, constraints=CARS_ONLY)
    shape = found.cpd_structures[2]
    assert (shape.n_rows, 2 * shape.n_rows) == (5, 10)
    assert [split.variable for split in shape.splits()] == [0, 1, 1]
    assert [split.groups for split in shape.splits()][1:] == [
        ((0, 1), (2, 3), (4, 5)),
        ((2,), (3,)),
    ]


@pytest.mark.parametrize("name", LOCAL_SCORES)
def test_scores_and_gains_are_those_of_full_recomputation(name: str) -> None:
    def check(case: tuple[TreeSearch, int]) -> None:
        search, n_restarts = case
        codes, domain, hierarchies = _random(n_restarts, weighted=True)
        found = _climb(
            codes, domain, hierarchies, name, n_restarts=n_restarts, tree_search=search
        )
        full = _full_score(name, found.cpd_structures, codes)
        assert found.score == pytest.approx(full, abs=1e-6)
        assert found.trace[-1].score == pytest.approx(full, abs=1e-6)
        gains = np.diff([move.score for move in found.trace])
        assert gains == pytest.approx([move.gain for move in found.trace[1:]], abs=1e-6)
        assert min(move.gain for move in found.trace) > 0

    check_each(itertools.product(SEARCHES, [1, 2]), check)


@pytest.mark.parametrize(("name", "n_restarts"), [("mdl", 1), ("aic", 1), ("aic", 3)])
def test_no_split_and_no_collapse_improves_what_is_found(
    name: str, n_restarts: int
) -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random(seed, 5, 150)
        found = _climb(codes, domain, hierarchies, name, n_restarts=n_restarts)
        n_splits = 0
        for shape in found.cpd_structures:
            now = tree_networks.tree_score(name, shape.child, shape.root, codes)
            others = [
                root
                for v, root in tree_networks.with_one_split(
                    shape.root, shape.child, domain, hierarchies
                )
                if _stays_acyclic(found.dag, v, shape.child)
            ]
            others += tree_networks.with_one_collapse(shape.root)
            n_splits += sum(1 for _ in shape.splits())
            for root in others:
                other = tree_networks.tree_score(name, shape.child, root, codes)
                assert other <= now + 1e-6
        assert n_splits > 0

    check_each(range(5), check)


def _stays_acyclic(dag: DAG, parent: int, child: int) -> bool:
    arcs = sorted({*dag.arcs, (parent, child)})
    try:
        DAG.from_arcs(len(dag), arcs)
    except CycleError:
        return False
    return True


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_graphs_are_acyclic_and_list_what_the_trees_split_on(seed: int) -> None:
    codes, domain, hierarchies = _random(seed, n_rows=60)
    found = _climb(codes, domain, hierarchies, "aic", n_restarts=2, seed=seed)
    assert sorted(found.dag.order) == list(range(len(domain)))
    for shape, parents in zip(found.cpd_structures, found.dag.parents, strict=True):
        assert parents == shape.parents
        assert set(parents) == tree_networks.used_variables(shape.root)


def test_flat_hierarchies_give_the_trees_of_states_bit_for_bit() -> None:
    def check(search: TreeSearch) -> None:
        codes, domain, hierarchies = _random(4)
        flat = [flat_hierarchy(variable.states) for variable in domain]
        options = {"tree_search": search, "n_restarts": 2}
        states = _climb(codes, domain, hierarchies, refine=False, **options)
        groups = _climb(codes, domain, flat, **options)
        local = _climb(
            codes,
            domain,
            flat,
            hierarchy_source=lambda *at: flat[at[1]],
            tree_search=search,
        )
        assert (states.score, states.cpd_structures) == (
            groups.score,
            groups.cpd_structures,
        )
        if search != "batch":
            one = _climb(codes, domain, flat, tree_search=search)
            assert (local.score, local.cpd_structures) == (
                one.score,
                one.cpd_structures,
            )

    check_each(SEARCHES, check)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    def check(search: TreeSearch) -> None:
        codes, domain, hierarchies = _random(6)
        options = {"n_restarts": 4, "seed": 3, "tree_search": search}
        one = _climb(codes, domain, hierarchies, n_jobs=1, **options)
        two = _climb(codes, domain, hierarchies, n_jobs=2, **options)
        assert one == two

    check_each(SEARCHES, check)


def test_bounding_the_kept_counts_changes_nothing() -> None:
    codes, domain, hierarchies = _random(6)
    free = _climb(codes, domain, hierarchies, n_restarts=3)
    bound = _climb(codes, domain, hierarchies, n_restarts=3, max_kept_cells=1)
    assert free == bound


@pytest.mark.parametrize("search", SEARCHES)
def test_a_weight_is_so_many_rows(search: TreeSearch) -> None:
    def check(name: str) -> None:
        codes, domain, hierarchies = _random(8, n_rows=80, weighted=True)
        repeated = np.repeat(np.arange(codes.n_rows), codes.weights.astype(int))
        plain = Codes.from_columns(
            [codes.column(v)[repeated] for v in range(len(domain))], domain.cards
        )
        options = {"n_restarts": 2, "tree_search": search}
        weighted = _climb(codes, domain, hierarchies, name, **options)
        assert weighted == _climb(plain, domain, hierarchies, name, **options)

    check_each(["mdl", "bdeu"], check)


def test_wide_variables_are_counted_as_narrow_ones_are() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=400)
    second = np.where(rng.random(400) < 0.9, first, rng.integers(3, size=400))
    codes = Codes.from_columns([first, second], (3, 300))
    variables = tuple(
        Variable(name, tuple(range(card))) for name, card in (("a", 3), ("b", 300))
    )
    found = _climb(codes, Domain(variables), score="k2")
    full = _full_score("k2", found.cpd_structures, codes)
    assert found.score == pytest.approx(full, abs=1e-6)
    assert sum(1 for _ in found.dag.arcs) == 1


def test_constraints_are_kept() -> None:
    def check(case: tuple[TreeSearch, int]) -> None:
        search, n_restarts = case
        codes, domain, hierarchies = _random(13, 5, 400)
        wide = [v for v in range(5) if domain[v].n_states > 1]
        required = frozenset({(wide[2], wide[0])})
        forbidden = frozenset({(wide[0], wide[1]), (wide[1], wide[0])})
        constraints = Constraints(required, forbidden, max_parents=1)
        found = _climb(
            codes,
            domain,
            hierarchies,
            constraints=constraints,
            n_restarts=n_restarts,
            tree_search=search,
        )
        arcs = set(found.dag.arcs)
        assert required <= arcs
        assert not forbidden & arcs
        assert max(len(parents) for parents in found.dag.parents) == 1
        full = _full_score("mdl", found.cpd_structures, codes)
        assert found.score == pytest.approx(full, abs=1e-6)

    check_each(itertools.product(SEARCHES, [1, 3]), check)


@pytest.mark.parametrize("n_restarts", [1, 4])
def test_no_variable_has_more_parents_than_allowed(n_restarts: int) -> None:
    def check(search: TreeSearch) -> None:
        codes, domain, hierarchies = _random(1, 4, 100)
        options = {"n_restarts": n_restarts, "tree_search": search}
        most = []
        for limit in (None, 1, 0):
            constraints = Constraints(max_parents=limit)
            found = _climb(
                codes, domain, hierarchies, "aic", constraints=constraints, **options
            )
            most.append(max(len(parents) for parents in found.dag.parents))
        assert most[0] > 1
        assert most[1:] == [1, 0]

    check_each(SEARCHES, check)


def test_the_time_limit_stops_at_a_whole_move() -> None:
    def check(search: TreeSearch) -> None:
        codes, domain, hierarchies = _random(2)
        options = {"constraints": Constraints(time_limit=1e-9), "tree_search": search}
        with pytest.warns(RuntimeWarning, match="time_limit"):
            found = _climb(codes, domain, hierarchies, n_restarts=3, **options)
        assert found.stopped_early
        assert len(found.trace) <= 1
        full = _full_score("mdl", found.cpd_structures, codes)
        assert found.score == pytest.approx(full, abs=1e-6)
        assert not _climb(codes, domain, hierarchies, tree_search=search).stopped_early

    check_each(SEARCHES, check)


def test_progress_is_told_after_each_move() -> None:
    def check(search: TreeSearch) -> None:
        codes, domain, hierarchies = _random(2)
        told: list[SearchProgress] = []
        found = _climb(
            codes, domain, hierarchies, progress=told.append, tree_search=search
        )
        assert [state.n_moves for state in told] == list(range(1, len(found.trace) + 1))
        assert [state.score for state in told] == [move.score for move in found.trace]
        assert all(state.moves_per_second > 0 for state in told)

    check_each(SEARCHES, check)


def test_restarts_differ_and_the_best_is_kept() -> None:
    codes, domain, hierarchies = _random(1, 4, 150)
    found = [_climb(codes, domain, hierarchies, "aic", n_restarts=n) for n in (1, 3, 5)]
    scores = [result.score for result in found]
    assert scores == sorted(scores)
    assert len({result.restart for result in found}) > 2
    other = _climb(codes, domain, hierarchies, "aic", n_restarts=5, seed=1)
    assert other.trace != found[-1].trace


def test_a_local_hierarchy_is_kept_until_its_variable_leaves() -> None:
    codes, domain, _ = _random(12, 5, 600)
    source = LocalHierarchies(RowCounts(codes, has_class=False), domain)
    asked: set[tuple[int, int, tuple[int, ...]]] = set()

    def spy(child: int, parent: int, parents: tuple[int, ...]) -> ValueHierarchy:
        asked.add((child, parent, parents))
        assert parent not in parents
        return source(child, parent, parents)

    found = _climb(codes, domain, hierarchy_source=spy)
    full = _full_score("mdl", found.cpd_structures, codes)
    assert found.score == pytest.approx(full, abs=1e-6)
    assert any(parents for _, _, parents in asked)
    for shape in found.cpd_structures:
        for parent in shape.parents:
            own = [split for split in shape.splits() if split.variable == parent]
            trees = [
                source(shape.child, parent, parents)
                for child, other, parents in asked
                if (child, other) == (shape.child, parent)
            ]
            assert any(_all_fit(own, tree, domain[parent]) for tree in trees)


def _all_fit(
    splits: Sequence[SplitShape], tree: ValueHierarchy, variable: Variable
) -> bool:
    """Whether all splits on a variable branch over nodes of one hierarchy."""
    nodes = {
        frozenset(variable.states.index(s) for s in tree.states_under(name))
        for name in tree.nodes
    }
    return all(frozenset(group) in nodes for split in splits for group in split.groups)


def test_rounding_under_odd_weights_leads_in_no_circles() -> None:
    def check(case: tuple[TreeSearch, float]) -> None:
        search, weight = case
        codes, domain, hierarchies = _random(5, 4, 60, weighted=True)
        columns = [codes.column(v) for v in range(len(domain))]
        odd = Codes.from_columns(columns, domain.cards, codes.weights * weight / 3)
        found = _climb(odd, domain, hierarchies, n_restarts=3, tree_search=search)
        full = _full_score("mdl", found.cpd_structures, odd)
        assert found.score == pytest.approx(full, rel=1e-12, abs=1e-9)

    check_each(itertools.product(SEARCHES, [1e12, 0.1]), check)


def test_missing_cells_are_refused_by_name() -> None:
    codes = Codes.from_columns([np.array([0, 1, 2]), np.array([0, 1, 1])], (2, 2))
    domain = Domain((Variable("a", ("x", "y")), Variable("b", ("x", "y"))))
    with pytest.raises(ValueError, match="variables 'a' have missing cells"):
        _climb(codes, domain)


def test_a_table_without_weight_is_refused() -> None:
    codes = Codes.from_columns([np.array([0, 1])], (2,), np.zeros(2))
    with pytest.raises(ValueError, match="no row has a positive weight"):
        _climb(codes, Domain((Variable("a", ("x", "y")),)))


def test_a_required_parent_of_one_state_is_refused() -> None:
    codes = Codes.from_columns([np.array([0, 0]), np.array([0, 1])], (1, 2))
    domain = Domain((Variable("a", ("x",)), Variable("b", ("x", "y"))))
    constraints = Constraints(required_edges=frozenset({(0, 1)}))
    with pytest.raises(ValueError, match="'a' has a single state"):
        _climb(codes, domain, constraints=constraints)


def test_no_restart_is_refused() -> None:
    codes, domain, hierarchies = _random(0)
    with pytest.raises(ValueError, match="n_restarts must be >= 1, got 0"):
        _climb(codes, domain, hierarchies, n_restarts=0)


def test_variables_without_anything_to_split_on_stay_alone() -> None:
    def check(case: tuple[tuple[int, ...], TreeSearch]) -> None:
        cards, search = case
        columns = [np.arange(20) % card for card in cards]
        domain = Domain(
            tuple(Variable(v, tuple(range(card))) for v, card in enumerate(cards))
        )
        codes = Codes.from_columns(columns, cards)
        found = _climb(
            codes, domain, n_restarts=2, tree_search=search, merge_leaves=True
        )
        assert found.dag.parents == ((),) * len(cards)
        full = _full_score("mdl", found.cpd_structures, codes)
        assert found.score == pytest.approx(full)

    check_each(itertools.product([(2,), (1,), (1, 1), (3, 1)], SEARCHES), check)


@pytest.mark.parametrize("name", ["mdl", "bdeu"])
def test_broken_weights_give_the_same_bits_on_any_number_of_threads(name: str) -> None:
    whole, domain, hierarchies = _random(6, 5, 300, weighted=True)
    columns = [whole.column(v) for v in range(len(domain))]
    codes = Codes.from_columns(columns, domain.cards, whole.weights * 0.3127 + 0.01)
    one = _climb(codes, domain, hierarchies, name, n_restarts=4)
    two = _climb(
        codes, domain, hierarchies, name, n_restarts=4, n_jobs=2, max_kept_cells=99
    )
    assert one == two


def test_an_unknown_search_is_refused() -> None:
    codes, domain, hierarchies = _random(0)
    with pytest.raises(ValueError, match="tree_search must be"):
        _climb(codes, domain, hierarchies, tree_search="greedy")


def _terms(name: str, total: float) -> TreeTerms:
    return TreeTerms(resolve_score(name), 4, total)


def _greedy(
    name: str, counts: np.ndarray, shares: np.ndarray, n_leaves: int
) -> tuple[list[set[int]], float]:
    """Groups of leaves and the whole gain, everything computed again at each step."""
    total = float(counts.sum())
    cost = math.log2(n_leaves) if name == "mdl" else 0.0

    def value(group: set[int]) -> float:
        own = counts[sorted(group)].sum(axis=0).tolist()
        share = float(shares[sorted(group)].sum())
        return tree_networks.leaf_term(name, own, share, total)

    groups = [{row} for row in range(len(counts))]
    gained = 0.0
    while len(groups) > 1:
        gain, i, j = max(
            (value(a | b) - value(a) - value(b) - cost, -i, -j)
            for (i, a), (j, b) in combinations(enumerate(groups), 2)
        )
        if gain <= 1e-7:
            break
        gained += gain
        groups[-i] |= groups.pop(-j)
    return groups, gained


def test_merges_are_those_of_a_search_that_computes_everything_anew() -> None:
    def check(case: tuple[int, str]) -> None:
        seed, name = case
        rng = np.random.default_rng(seed)
        counts = rng.poisson(rng.choice([1.0, 20.0, 90.0], (9, 3))).astype(float)
        shares = rng.dirichlet(np.ones(9))
        groups, gained = _greedy(name, counts, shares, 12)
        rows, merges = merge_leaves(counts, shares, 12, _terms(name, counts.sum()))
        found = [
            set(np.flatnonzero(rows == row).tolist()) for row in range(len(groups))
        ]
        assert found == sorted(groups, key=min)
        assert sum(gain for _, _, gain in merges) == pytest.approx(gained, abs=1e-6)
        assert len(merges) == len(counts) - len(groups)

    check_each(itertools.product(range(10), ["mdl", "bdeu", "k2", "bic"]), check)


def test_leaves_of_one_distribution_are_merged() -> None:
    counts = np.array([[50.0, 50.0], [0.0, 80.0], [30.0, 30.0]])
    rows, merges = merge_leaves(counts, np.full(3, 1 / 3), 3, _terms("mdl", 240.0))
    assert rows.tolist() == [0, 1, 0]
    (merge,) = merges
    assert merge[:2] == (0, 2)
    assert merge[2] == pytest.approx(0.5 * math.log2(240.0) - math.log2(3))


def test_a_single_leaf_stays_as_it_is() -> None:
    rows, merges = merge_leaves(np.ones((1, 2)), np.ones(1), 1, _terms("mdl", 2.0))
    assert rows.tolist() == [0]
    assert merges == []


def test_shares_of_configurations_add_up_over_the_leaves_that_share() -> None:
    inner = SplitShape(1, ((0,), (1,)), (LeafShape(0), LeafShape(1)))
    shape = TreeShape(3, (0, 1), SplitShape(0, ((0, 2), (1,)), (inner, LeafShape(0))))
    cards = (3, 2, 2, 2)
    codes = Codes.from_columns([np.zeros(1, dtype=int)] * 4, cards)
    assert leaf_counts(shape, codes)[1] == pytest.approx([2 / 3, 1 / 3])


def _graph_score(name: str, shape: TreeShape, codes: Codes) -> float:
    """Score of one variable's graph, everything counted from the rows."""
    total = float(codes.weights.sum())
    column, card = codes.column(shape.child), codes.cards[shape.child]
    table, shares = np.zeros((shape.n_rows, card)), np.zeros(shape.n_rows)
    for row, context in shape.leaves(codes.cards):
        here = np.ones(codes.n_rows, dtype=bool)
        for variable, states in context.items():
            here &= np.isin(codes.column(variable), states)
        shares[row] += math.prod(len(s) / codes.cards[v] for v, s in context.items())
        np.add.at(table, (row, column[here]), codes.weights[here])
    rows = zip(table.tolist(), shares.tolist(), strict=True)
    data = sum(tree_networks.leaf_term(name, *row, total) for row in rows)
    if name != "mdl":
        return data
    # A tree of leaves without rows scores what its shape and parameters cost.
    parameters = 0.5 * (card - 1) * math.log2(total) * shape.n_leaves
    no_rows = Codes.from_columns(
        [codes.column(v) for v in range(codes.n_variables)],
        codes.cards,
        np.where(np.arange(codes.n_rows) == 0, total, 0.0),
    )
    bits = tree_networks.tree_score("mdl", shape.child, shape.root, no_rows)
    n_merges = shape.n_leaves - shape.n_rows
    return data + bits + parameters - n_merges * math.log2(shape.n_leaves)


@pytest.mark.parametrize("name", LOCAL_SCORES)
def test_a_search_that_merges_keeps_the_graph_and_scores_what_its_graphs_score(
    name: str,
) -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random(seed, weighted=True)
        options = {"n_restarts": 2}
        apart = _climb(codes, domain, hierarchies, name, **options)
        found, again = (
            _climb(
                codes,
                domain,
                hierarchies,
                name,
                merge_leaves=True,
                n_jobs=n_jobs,
                **options,
            )
            for n_jobs in (1, 2)
        )
        assert found == again
        full = sum(_graph_score(name, shape, codes) for shape in found.cpd_structures)
        assert found.score == pytest.approx(full, abs=1e-6)
        assert found.score >= apart.score
        assert found.dag == apart.dag
        assert found.trace[: len(apart.trace)] == apart.trace
        moves = found.trace[len(apart.trace) :]
        assert {move.kind for move in moves} <= {"merge_leaves"}
        assert found.trace[-1].score == pytest.approx(found.score)
        before = [shape.n_rows for shape in apart.cpd_structures]
        after = [shape.n_rows for shape in found.cpd_structures]
        assert sum(after) == sum(before) - len(moves)
        assert [shape.n_leaves for shape in found.cpd_structures] == before
        for shape, parents in zip(found.cpd_structures, found.dag.parents, strict=True):
            assert shape.parents == parents
            assert {split.variable for split in shape.splits()} == set(parents)

    check_each(range(2), check)


def test_some_leaves_of_a_search_are_merged() -> None:
    codes, domain, hierarchies = _random(3, 5, 500, weighted=True)
    found = _climb(codes, domain, hierarchies, "aic", merge_leaves=True)
    assert found.trace[-1].kind == "merge_leaves"
