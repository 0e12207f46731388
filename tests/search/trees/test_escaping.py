"""Trees grown again lead out of local optima of splits and collapses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.graph.dag import DAG
from bayleaf.scores.local_scores import resolve_score
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import Deadline
from bayleaf.search.trees.escaping import LocalOptimumEscape
from bayleaf.search.trees.leaf_counts import RowTable
from bayleaf.search.trees.tree_network import (
    HierarchySource,
    TreeNetwork,
    TreeTask,
    descendants,
)
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks


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
) -> tuple[TreeNetwork, LocalOptimumEscape]:
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
        seed=0,
        progress=None,
        max_kept_cells=1 << 20,
    )
    counts = task.counts()
    trees = [task.tree(child, counts) for child in range(len(domain))]
    network = TreeNetwork(trees, task.constraints, 0)
    _make_simple_moves(network)
    return network, LocalOptimumEscape(task, network, counts, from_parents=from_parents)


def _make_simple_moves(network: TreeNetwork) -> None:
    while (found := network.best_move()) is not None:
        network.apply(*found)


def _random(seed: int) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, 250, weighted=True)
    return codes, domain, hierarchies


def _binary(columns: dict[str, np.ndarray]) -> tuple[Codes, Domain]:
    codes = Codes.from_columns(list(columns.values()), (2,) * len(columns))
    return codes, Domain(tuple(Variable(name, ("no", "yes")) for name in columns))


def _full(network: TreeNetwork, name: str, codes: Codes) -> float:
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
    network, ways_out = _started(codes, domain, constraints=constraints)
    # The first split makes the effect a parent, so the causes seem to depend.
    assert _arcs(network) == {(2, 0), (1, 0), (1, 2)}
    assert ways_out.take_first()
    _make_simple_moves(network)
    assert _arcs(network) == {(0, 2), (1, 2)}
    assert network.result(stopped_early=False).trace[-1].kind == "reverse_edge"
    assert not ways_out.take_first()


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
    network, ways_out = _started(
        codes, domain, constraints=Constraints(forbidden_edges=others)
    )
    tree = network.trees[3]
    assert (len(tree.leaves), tree.root.variable == 0) == (6, False)
    assert ways_out.take_first()
    tree = network.trees[3]
    assert (len(tree.leaves), tree.root.variable) == (4, 0)
    move = network.result(stopped_early=False).trace[-1]
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
@pytest.mark.parametrize("name", ["mdl", "aic", "bdeu"])
@pytest.mark.parametrize("is_local", [False, True])
def test_ways_out_of_many_tables_gain_what_full_recomputation_says(
    name: str, is_local: bool
) -> None:
    check_ways_out(name, is_local, range(8))


def check_ways_out(name: str, is_local: bool, seeds: Sequence[int]) -> None:
    kinds: set[str] = set()
    for seed in seeds:
        codes, domain, hierarchies = _random(seed)
        source = _source(codes, domain) if is_local else None
        network, ways_out = _started(
            codes, domain, hierarchies, name=name, source=source
        )
        before = _full(network, name, codes)
        while ways_out.take_first():
            after = _full(network, name, codes)
            found = network.result(stopped_early=False)
            assert found.trace[-1].gain == pytest.approx(after - before, abs=1e-6)
            assert found.trace[-1].gain > 0
            assert network.score == pytest.approx(after, abs=1e-6)
            kinds.add(found.trace[-1].kind)
            _make_simple_moves(network)
            before = _full(network, name, codes)
        assert network.best_move() is None
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
    network, ways_out = _started(
        codes, domain, constraints=constraints, source=source, from_parents=False
    )
    before = network.score
    assert set(network.trees[3].parents) == {0, 1, 2}
    assert network.trees[3].values_of(1).states[1] == (0, 1, 2)
    assert ways_out.take_first()
    tree = network.trees[3]
    assert tree.values_of(1).states[1] == (0, 1)
    assert network.score > before
    assert _full(network, "mdl", codes) == pytest.approx(network.score, abs=1e-6)
    # From here on variables enter with the hierarchies for the parents that are in.
    asked.clear()
    tree.collapse(tree.root)
    tree.values_of(1)
    assert asked == [(3, 1, ())]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2)), 3]
)
@pytest.mark.parametrize("max_parents", [None, 2])
def test_trees_that_are_remembered_are_those_that_would_be_grown(
    seed: int, max_parents: int | None
) -> None:
    codes, domain, hierarchies = _random(seed)
    networks = []
    for forgets in (False, True):
        network, ways_out = _started(
            codes,
            domain,
            hierarchies,
            name="aic",
            constraints=Constraints(max_parents=max_parents),
            source=_source(codes, domain),
        )
        while ways_out.take_first():
            _make_simple_moves(network)
            if forgets:
                ways_out = _anew(ways_out)
        networks.append(network.result(stopped_early=False))
    assert {move.kind for move in networks[0].trace} & {"grow_tree", "reverse_edge"}
    assert networks[0] == networks[1]


def _anew(ways_out: LocalOptimumEscape) -> LocalOptimumEscape:
    """Ways out of the same network that remember nothing."""
    network, task = ways_out._network, ways_out._task
    return LocalOptimumEscape(
        task, network, task.counts(), from_parents=ways_out._from_parents
    )


def test_ways_out_keep_the_constraints() -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random(seed)
        wide = [v for v, own in enumerate(domain) if own.n_states > 1]
        pairs = [(wide[0], wide[2]), (wide[1], wide[2]), (wide[3], wide[0])]
        constraints = Constraints(
            frozenset(pairs), frozenset({(wide[1], wide[3])}), max_parents=2
        )
        network, ways_out = _started(
            codes, domain, hierarchies, name="aic", constraints=constraints
        )
        while ways_out.take_first():
            arcs = _arcs(network)
            assert constraints.required_edges <= arcs
            assert not constraints.forbidden_edges & arcs
            assert max(len(tree.parents) for tree in network.trees) <= 2
            DAG(tuple(tree.parents for tree in network.trees))
            _make_simple_moves(network)

    check_each(range(4), check)


def test_an_arc_may_be_turned_where_that_closes_no_cycle() -> None:
    def check(seed: int) -> None:
        codes, domain, hierarchies = _random(seed)
        network, _ = _started(codes, domain, hierarchies, name="aic")
        arcs = _arcs(network)
        assert len(arcs) > 3
        for parent, child in arcs:
            turned = arcs - {(parent, child)} | {(child, parent)}
            own = [tuple(sorted(p for p, to in turned if to == v)) for v in range(5)]
            try:
                DAG(tuple(own))
            except ValueError:
                assert not network.may_turn(parent, child)
            else:
                assert network.may_turn(parent, child)

    check_each(range(5), check)


def test_no_arc_is_turned_that_is_required_or_forbidden_the_other_way() -> None:
    codes, domain = _binary({"a": np.arange(64) % 2, "b": np.arange(64) % 2})
    for constraints, is_free in [
        (Constraints(), True),
        (Constraints(required_edges=frozenset({(1, 0)})), False),
        (Constraints(forbidden_edges=frozenset({(0, 1)})), False),
    ]:
        network, _ = _started(codes, domain, constraints=constraints)
        assert _arcs(network) == {(1, 0)}
        assert network.may_turn(1, 0) == is_free


def test_no_way_out_is_taken_when_time_is_up() -> None:
    codes, domain, hierarchies = _random(1)
    in_time, ways_out = _started(codes, domain, hierarchies, name="aic")
    assert ways_out.take_first()
    network, too_late = _started(codes, domain, hierarchies, name="aic", deadline=0.0)
    before = network.result(stopped_early=True)
    assert too_late.take_first()
    assert network.result(stopped_early=True) == before
    assert in_time.score > network.score


def test_descendants_are_those_that_paths_reach() -> None:
    found = descendants([(), (0,), (), (1, 2)])
    expected = [{0, 1, 3}, {1, 3}, {2, 3}, {3}]
    assert [set(np.flatnonzero(row).tolist()) for row in found] == expected
