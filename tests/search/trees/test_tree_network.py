"""Moves of trees gain what scoring all trees again says, and lead out of optima."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import strategies as st

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.graph.dag import DAG
from bayleaf.scores.local_scores import LOCAL_SCORES, resolve_score
from bayleaf.search.climb import Climb, Deadline
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import HierarchySource
from bayleaf.search.tree_climbing import grow_fully, propose, prune
from bayleaf.search.trees.growing import CollapseMove, GrowingTree, SplitMove
from bayleaf.search.trees.leaf_counts import (
    LeafCounts,
    RecentCells,
    RowTable,
    SplitScores,
    TreeNode,
)
from bayleaf.search.trees.tree_network import (
    LocalOptimumEscape,
    TreeNetwork,
    TreeTask,
)
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks
from property.for_all import for_all


def _network(
    codes: Codes,
    domain: Domain,
    hierarchies: list[ValueHierarchy],
    name: str,
    source: HierarchySource | None = None,
) -> TreeNetwork:
    rows = RowTable.from_codes(codes, [own.name for own in domain])
    terms = TreeTerms(resolve_score(name), len(domain), rows.total_weight)
    task = TreeTask(
        rows,
        domain,
        terms,
        tuple(hierarchies),
        source,
        Constraints(),
        Deadline(None),
        max_kept_cells=1 << 20,
    )
    return TreeNetwork(task)


def _full(tree: GrowingTree, name: str, codes: Codes) -> float:
    return tree_networks.tree_score(name, tree.child, tree.shape().root, codes)


def _moves(
    network: TreeNetwork, child: int, rng: np.random.Generator
) -> list[SplitMove | CollapseMove]:
    """The split of a random leaf on each variable, and each collapse."""
    tree = network.trees[child]
    leaf = tree.leaves[int(rng.integers(len(tree.leaves)))]
    moves: list[SplitMove | CollapseMove] = [*tree.collapses()]
    for variable in np.flatnonzero(network.allowed(child)):
        only = np.arange(len(network.trees)) == variable
        move = tree.leaf_split(leaf, only)
        if move is not None:
            moves.append(move)
    return moves


@for_all(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(LOCAL_SCORES)),
    is_local=st.booleans(),
    few=15,
    many=40,
)
def test_moves_drawn_by_chance_gain_what_full_recomputation_says(
    seed: int, name: str, is_local: bool
) -> None:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 4)
    codes = tree_networks.random_codes(rng, domain, 40, weighted=True)

    def source(child: int, parent: int, parents: tuple[int, ...]) -> ValueHierarchy:
        own = np.random.default_rng([child, parent, *parents])
        return tree_networks.random_hierarchy(own, domain[parent].states)

    network = _network(codes, domain, hierarchies, name, source if is_local else None)
    for _ in range(8):
        child = int(rng.integers(len(domain)))
        moves = _moves(network, child, rng)
        if moves:
            tree = network.trees[child]
            before, move = _full(tree, name, codes), moves[rng.integers(len(moves))]
            network.apply(move)
            gain = _full(tree, name, codes) - before
            assert move.gain == pytest.approx(gain, abs=1e-6)
            assert tree.score == pytest.approx(before + gain, abs=1e-6)


@pytest.mark.parametrize("name", ["mdl", "bdeu"])
def test_the_best_move_is_the_best_of_all_that_there_are(name: str) -> None:
    rng = np.random.default_rng(1)
    domain, hierarchies = tree_networks.random_domain(rng, 4)
    codes = tree_networks.random_codes(rng, domain, 1000)
    network = _network(codes, domain, hierarchies, name)
    n_moves = 0
    while (found := network.best_move()) is not None:
        gains = []
        for child, tree in enumerate(network.trees):
            now = _full(tree, name, codes)
            root = tree.shape().root
            others = [
                other
                for v, other in tree_networks.with_one_split(
                    root, child, domain, hierarchies
                )
                if network.allowed(child)[v]
            ]
            others += tree_networks.with_one_collapse(root)
            gains += [
                tree_networks.tree_score(name, child, other, codes) - now
                for other in others
            ]
        assert found.gain == pytest.approx(max(gains), abs=1e-6)
        network.apply(found)
        n_moves += 1
    assert n_moves > 3


def _spoilt(seed: int) -> tuple[TreeNetwork, Codes]:
    """A network after splits drawn by chance, most of which do not pay."""
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, 200)
    network = _network(codes, domain, hierarchies, "mdl")
    for child in rng.integers(5, size=12).tolist():
        moves = [m for m in _moves(network, child, rng) if isinstance(m, SplitMove)]
        if moves:
            network.apply(moves[int(rng.integers(len(moves)))])
    return network, codes


def test_the_best_moves_clear_away_splits_that_do_not_pay() -> None:
    def check(seed: int) -> None:
        network, codes = _spoilt(seed)
        kinds = set()
        while (found := network.best_move()) is not None:
            tree = network.trees[found.child]
            before = _full(tree, "mdl", codes)
            network.apply(found)
            assert found.gain == pytest.approx(
                _full(tree, "mdl", codes) - before, abs=1e-6
            )
            kinds.add(type(found))
        assert CollapseMove in kinds
        for tree in network.trees:
            assert max((move.gain for move in tree.collapses()), default=0.0) <= 1e-7

    check_each(range(5), check)


def test_proposals_split_and_collapse_and_only_ever_gain() -> None:
    def check(seed: int) -> None:
        network, _ = _spoilt(seed)
        climb = Climb(network, Deadline(None))
        propose(climb, np.random.default_rng(seed))
        assert not climb.stopped
        kinds = {move.kind for move in climb.trace}
        assert kinds & {"remove_split", "abstract_split"}
        assert min(move.gain for move in climb.trace) > 0

    check_each(range(5), check)


def test_proposals_stop_when_time_is_up() -> None:
    network, _ = _spoilt(0)
    before = network.structure
    climb = Climb(network, Deadline(0.0))
    propose(climb, np.random.default_rng(0))
    assert climb.stopped
    assert (network.structure, climb.trace) == (before, [])


def test_only_so_many_counts_are_kept() -> None:
    columns = [np.arange(12) % 3, np.arange(12) % 2]
    rows = RowTable.from_codes(Codes.from_columns(columns, (3, 2)), "ab")
    counts = LeafCounts(rows, 2 * 5 * 2)
    nodes = [
        TreeNode(first, 12, {0: first}, 1, 1.0, np.zeros(2), 0.0) for first in range(3)
    ]
    kept = [counts.of(node, 1, rows.all_rows) for node in nodes]
    assert counts.of(nodes[2], 1, rows.all_rows) is kept[2]
    assert counts.of(nodes[1], 1, rows.all_rows) is kept[1]
    again = counts.of(nodes[0], 1, rows.all_rows)
    assert again is not kept[0]
    np.testing.assert_array_equal(again, kept[0])
    counts.forget(nodes[0])
    assert counts.of(nodes[0], 1, rows.all_rows) is not again
    # Room for two again, so the first of them stays.
    assert counts.of(nodes[1], 1, rows.all_rows) is kept[1]


def test_trees_of_a_variable_share_the_counts_of_all_rows() -> None:
    columns = [np.arange(12) % 3, np.arange(12) % 2]
    rows = RowTable.from_codes(Codes.from_columns(columns, (3, 2)), "ab")
    counts = LeafCounts(rows, 100)
    roots = [TreeNode(0, 12, {}, 0, 1.0, np.zeros(2), 0.0) for _ in range(2)]
    first, second = (counts.of(root, 1, rows.all_rows) for root in roots)
    assert first is second
    assert counts.of(roots[0], 0, rows.all_rows).shape == (5, 3)
    counts.forget(roots[0])
    assert counts.of(roots[1], 1, rows.all_rows) is first


def test_only_so_many_scores_are_kept() -> None:
    scores = RecentCells[SplitScores](2 * 5)
    made = [SplitScores(np.zeros(5), np.zeros(5, dtype=np.int64)) for _ in range(3)]
    for key, one in enumerate(made[:2]):
        scores.keep(key, one, one.gains.size)
    assert scores.get(0) is made[0]
    scores.keep(2, made[2], made[2].gains.size)
    assert [scores.get(key) for key in range(3)] == [made[0], None, made[2]]


def test_trees_grown_fully_are_pruned_until_no_collapse_gains() -> None:
    def check(seed: int) -> None:
        network, codes = _spoilt(seed)
        for child, tree in enumerate(network.trees):
            for move in tree.collapses()[:1]:
                tree.collapse(move.split)
            others = frozenset(range(5)) - {child}
            grow_fully(tree, others)
            n_full = len(tree.splits)
            prune(tree, frozenset())
            assert len(tree.splits) < n_full or not n_full
            assert max((move.gain for move in tree.collapses()), default=0.0) <= 1e-7
            full = _full(tree, "mdl", codes)
            assert tree.score == pytest.approx(full, abs=1e-6)

    check_each(range(5), check)


def test_pruning_keeps_a_split_on_each_required_variable() -> None:
    rng = np.random.default_rng(0)
    codes = Codes.from_columns([rng.integers(2, size=64) for _ in range(3)], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    tree = _network(codes, domain, hierarchies, "mdl").trees[2]
    grow_fully(tree, frozenset({0, 1}))
    tree.enter_missing(frozenset({1}))
    prune(tree, frozenset({1}))
    assert tree.parents == (1,)
    assert len(tree.splits) == 1


def test_nothing_is_grown_below_leaves_that_cannot_gain() -> None:
    column = np.arange(64) % 2
    codes = Codes.from_columns([column, np.arange(64) // 2 % 2, column], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    tree = _network(codes, domain, hierarchies, "mdl").trees[2]
    grow_fully(tree, frozenset({0, 1}))
    assert [split.variable for split in tree.splits] == [0]


def test_leaves_count_the_variables_that_may_be_split_on() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        domain, hierarchies = tree_networks.random_domain(rng, 5)
        codes = tree_networks.random_codes(rng, domain, 300)
        network = _network(codes, domain, hierarchies, "aic")
        while (found := network.best_move()) is not None:
            network.apply(found)
        for child, tree in enumerate(network.trees):
            allowed = network.allowed(child)
            contexts = [context for _, context in tree.shape().leaves(domain.cards)]
            expected = [
                sum(
                    len(context.get(v, range(domain.cards[v]))) > 1
                    for v in np.flatnonzero(allowed)
                    if v != child
                )
                for context in contexts
            ]
            assert tree.n_candidates(allowed).tolist() == expected

    check_each(range(5), check)


def test_the_first_of_equal_moves_is_made() -> None:
    column = np.arange(64) % 2
    codes = Codes.from_columns([column, column, column], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    network = _network(codes, domain, hierarchies, "mdl")
    found = network.best_move()
    assert found is not None
    assert isinstance(found, SplitMove)
    assert (found.child, found.variable) == (0, 1)


def test_a_tree_over_all_configurations_scores_what_the_table_does() -> None:
    rng = np.random.default_rng(2)
    cards = (2, 3, 2)
    codes = Codes.from_columns([rng.integers(c, size=50) for c in cards], cards)
    table = np.zeros(cards)
    np.add.at(table, tuple(codes.column(v) for v in range(3)), 1.0)
    score = resolve_score("bdeu")
    terms = TreeTerms(score, 3, 50.0)
    leaves = terms.leaves(table.reshape(6, 2), np.full(6, 1 / 6))
    expected = score.rows_score(table.reshape(6, 2), 6, 50.0)
    assert leaves.sum() == pytest.approx(float(expected))


def _started(
    codes: Codes,
    domain: Domain,
    hierarchies: list[ValueHierarchy] | None = None,
    *,
    name: str = "mdl",
    constraints: Constraints | None = None,
    source: HierarchySource | None = None,
    deadline: float | None = None,
    from_parents: bool = True,
) -> tuple[Climb[TreeNetwork], LocalOptimumEscape]:
    """A local optimum of splits and collapses, and the ways out of it."""
    rows = RowTable.from_codes(codes, domain.names)
    task = TreeTask(
        rows,
        domain,
        TreeTerms(resolve_score(name), len(domain), rows.total_weight),
        tuple(hierarchies or [flat_hierarchy(own.states) for own in domain]),
        source,
        constraints or Constraints(),
        Deadline(deadline),
        max_kept_cells=1 << 20,
    )
    climb = Climb(TreeNetwork(task), Deadline(None))
    for move in climb.moves.required_splits():
        climb.make(move)
    climb.ascend()
    return climb, LocalOptimumEscape(climb.moves, from_parents=from_parents)


def _take_first(climb: Climb[TreeNetwork], ways_out: LocalOptimumEscape) -> bool:
    """Make the first move out of a local optimum, if there is one."""
    move = ways_out.first()
    return move is not None and climb.make(move)


def _random_table(seed: int) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, 250, weighted=True)
    return codes, domain, hierarchies


def _binary(columns: dict[str, np.ndarray]) -> tuple[Codes, Domain]:
    codes = Codes.from_columns(list(columns.values()), (2,) * len(columns))
    return codes, Domain(tuple(Variable(name, ("no", "yes")) for name in columns))


def _full_network(network: TreeNetwork, name: str, codes: Codes) -> float:
    return sum(
        tree_networks.tree_score(name, tree.child, tree.shape().root, codes)
        for tree in network.trees
    )


def _arcs(network: TreeNetwork) -> set[tuple[int, int]]:
    return {(p, tree.child) for tree in network.trees for p in tree.parents}


def test_an_arc_that_hides_a_common_effect_is_turned() -> None:
    rng = np.random.default_rng(0)
    cause, other = rng.integers(2, size=(2, 4000))
    chances = np.array([[0.05, 0.4], [0.7, 0.97]])[cause, other]
    effect = (rng.random(4000) < chances).astype(int)
    codes, domain = _binary({"cause": cause, "other": other, "effect": effect})
    constraints = Constraints(forbidden_edges=frozenset({(2, 1)}))
    climb, ways_out = _started(codes, domain, constraints=constraints)
    # The first split makes the effect a parent, so the causes seem to depend.
    assert _arcs(climb.moves) == {(2, 0), (1, 0), (1, 2)}
    assert _take_first(climb, ways_out)
    climb.ascend()
    assert _arcs(climb.moves) == {(0, 2), (1, 2)}
    assert climb.trace[-1].kind == "reverse_edge"
    assert not _take_first(climb, ways_out)


def test_a_root_that_looked_worse_than_what_hangs_below_it_is_found() -> None:
    rng = np.random.default_rng(1)
    which, first, second = rng.integers(2, size=(3, 4000))
    right = np.where(which == 1, first, second)
    copy = np.where(rng.random(4000) < 0.95, right, 1 - right)
    codes, domain = _binary(
        {"which": which, "first": first, "second": second, "copy": copy}
    )
    into_copy = {(p, 3) for p in range(3)}
    others = frozenset(itertools.permutations(range(4), 2)) - into_copy
    climb, ways_out = _started(
        codes, domain, constraints=Constraints(forbidden_edges=others)
    )
    tree = climb.moves.trees[3]
    assert (len(tree.leaves), tree.root.variable == 0) == (6, False)
    assert _take_first(climb, ways_out)
    tree = climb.moves.trees[3]
    assert (len(tree.leaves), tree.root.variable) == (4, 0)
    move = climb.trace[-1]
    assert (move.kind, move.child, move.parent) == ("grow_tree", 3, 0)


# Tables, few and small, of which both kinds of moves are made.
@pytest.mark.parametrize(
    ("name", "is_local", "seeds"),
    [
        ("mdl", False, (0, 3)),
        ("mdl", True, (3, 7)),
        ("aic", False, (0, 3)),
        ("aic", True, (2,)),
        ("bdeu", False, (0, 3)),
        ("bdeu", True, (4,)),
    ],
)
def test_ways_out_gain_what_full_recomputation_says(
    name: str, is_local: bool, seeds: Sequence[int]
) -> None:
    check_ways_out(name, is_local, seeds)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["mdl", "aic", "bdeu"])
@pytest.mark.parametrize("is_local", [False, True])
def test_ways_out_of_many_tables_gain_what_full_recomputation_says(
    name: str, is_local: bool
) -> None:
    check_ways_out(name, is_local, range(8))


def check_ways_out(name: str, is_local: bool, seeds: Sequence[int]) -> None:
    kinds: set[str] = set()
    for seed in seeds:
        codes, domain, hierarchies = _random_table(seed)
        source = _source(codes, domain) if is_local else None
        climb, ways_out = _started(codes, domain, hierarchies, name=name, source=source)
        before = _full_network(climb.moves, name, codes)
        while _take_first(climb, ways_out):
            after = _full_network(climb.moves, name, codes)
            assert climb.trace[-1].gain == pytest.approx(after - before, abs=1e-6)
            assert climb.trace[-1].gain > 0
            assert climb.moves.score == pytest.approx(after, abs=1e-6)
            kinds.add(climb.trace[-1].kind)
            climb.ascend()
            before = _full_network(climb.moves, name, codes)
        assert climb.moves.best_move() is None
    assert kinds == {"grow_tree", "reverse_edge"}


def _source(codes: Codes, domain: Domain) -> HierarchySource:
    def random(child: int, parent: int, parents: tuple[int, ...]) -> ValueHierarchy:
        rng = np.random.default_rng([child, parent, *parents])
        return tree_networks.random_hierarchy(rng, domain[parent].states)

    return random


@pytest.mark.parametrize("fitting", [(), (0, 2)])
def test_hierarchies_are_learned_anew_for_a_tree_that_is_grown_anew(
    fitting: tuple[int, ...],
) -> None:
    # The child (3) depends on 0 most, on pairs of the four states of 1, on 2 least.
    rng = np.random.default_rng(0)
    first, last = rng.integers(2, size=(2, 20_000))
    values = rng.integers(4, size=20_000)
    chances = 0.05 + 0.5 * first + 0.3 * (values >= 2) + 0.1 * last
    child = (rng.random(20_000) < chances).astype(int)
    codes = Codes.from_columns([first, values, last, child], (2, 4, 2, 2))
    letters = tuple("abcd")
    domain = Domain(
        tuple(
            Variable(name, letters[:card])
            for name, card in zip("pqrs", codes.cards, strict=True)
        )
    )
    asked: list[tuple[int, int, tuple[int, ...]]] = []

    def source(child: int, parent: int, parents: tuple[int, ...]) -> ValueHierarchy:
        asked.append((child, parent, parents))
        if parent != 1:
            return flat_hierarchy(domain[parent].states)
        below = [{"ab": ["a", "b"]}, {"cd": ["c", "d"]}]
        if parents != fitting:
            below = [{"abc": ["a", "b", "c"]}, "d"]
        return ValueHierarchy.from_nested({"any": below})

    into_child = {(p, 3) for p in range(3)}
    others = frozenset(itertools.permutations(range(4), 2)) - into_child
    constraints = Constraints(forbidden_edges=others)
    climb, ways_out = _started(
        codes, domain, constraints=constraints, source=source, from_parents=False
    )
    before = climb.moves.score
    assert set(climb.moves.trees[3].parents) == {0, 1, 2}
    assert climb.moves.trees[3].values_of(1).states[1] == (0, 1, 2)
    assert _take_first(climb, ways_out)
    tree = climb.moves.trees[3]
    assert tree.values_of(1).states[1] == (0, 1)
    assert climb.moves.score > before
    assert _full_network(climb.moves, "mdl", codes) == pytest.approx(
        climb.moves.score, abs=1e-6
    )
    # From here on variables enter with the hierarchies for the parents that are in.
    asked.clear()
    tree.collapse(tree.root)
    tree.values_of(1)
    assert asked == [(3, 1, ())]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2)), 3]
)
@pytest.mark.parametrize("max_parents", [None, 2])
def test_trees_that_are_remembered_are_those_that_would_be_grown(
    seed: int, max_parents: int | None
) -> None:
    codes, domain, hierarchies = _random_table(seed)
    networks = []
    for forgets in (False, True):
        climb, ways_out = _started(
            codes,
            domain,
            hierarchies,
            name="aic",
            constraints=Constraints(max_parents=max_parents),
            source=_source(codes, domain),
        )
        while _take_first(climb, ways_out):
            climb.ascend()
            if forgets:
                ways_out = _anew(ways_out)
        networks.append(climb.state)
    assert {move.kind for move in networks[0].trace} & {"grow_tree", "reverse_edge"}
    one, two = networks
    assert (one.structure, one.score, one.trace) == (
        two.structure,
        two.score,
        two.trace,
    )


def _anew(ways_out: LocalOptimumEscape) -> LocalOptimumEscape:
    """Ways out of the same network that remember nothing."""
    network = ways_out._network
    network.counts = network.task.counts()
    return LocalOptimumEscape(network, from_parents=ways_out._from_parents)


def test_ways_out_keep_the_constraints() -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random_table(seed)
        wide = [v for v, own in enumerate(domain) if own.n_states > 1]
        pairs = [(wide[0], wide[2]), (wide[1], wide[2]), (wide[3], wide[0])]
        constraints = Constraints(
            frozenset(pairs), frozenset({(wide[1], wide[3])}), max_parents=2
        )
        climb, ways_out = _started(
            codes, domain, hierarchies, name="aic", constraints=constraints
        )
        while _take_first(climb, ways_out):
            arcs = _arcs(climb.moves)
            assert constraints.required_edges <= arcs
            assert not constraints.forbidden_edges & arcs
            assert max(len(tree.parents) for tree in climb.moves.trees) <= 2
            DAG(tuple(tree.parents for tree in climb.moves.trees))
            climb.ascend()

    check_each(range(4), check)


def test_an_arc_may_be_turned_where_that_closes_no_cycle() -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random_table(seed)
        climb, _ = _started(codes, domain, hierarchies, name="aic")
        arcs = _arcs(climb.moves)
        assert len(arcs) > 3
        for parent, child in arcs:
            turned = arcs - {(parent, child)} | {(child, parent)}
            own = [tuple(sorted(p for p, to in turned if to == v)) for v in range(5)]
            try:
                DAG(tuple(own))
            except ValueError:
                assert not climb.moves.may_turn(parent, child)
            else:
                assert climb.moves.may_turn(parent, child)

    check_each(range(5), check)


def test_no_arc_is_turned_that_is_required_or_forbidden_the_other_way() -> None:
    codes, domain = _binary({"a": np.arange(64) % 2, "b": np.arange(64) % 2})
    for constraints, is_free in [
        (Constraints(), True),
        (Constraints(required_edges=frozenset({(1, 0)})), False),
        (Constraints(forbidden_edges=frozenset({(0, 1)})), False),
    ]:
        climb, _ = _started(codes, domain, constraints=constraints)
        assert _arcs(climb.moves) == {(1, 0)}
        assert climb.moves.may_turn(1, 0) == is_free


def test_no_way_out_is_taken_when_time_is_up() -> None:
    codes, domain, hierarchies = _random_table(1)
    in_time, ways_out = _started(codes, domain, hierarchies, name="aic")
    assert _take_first(in_time, ways_out)
    climb, too_late = _started(codes, domain, hierarchies, name="aic", deadline=0.0)
    assert too_late.first() is None
    assert in_time.moves.score > climb.moves.score
