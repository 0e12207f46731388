"""Code lengths of densities, recomputed from their rows alone by the definition."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetworkEstimator, EqualFrequencyDiscretizer, Lidstone
from bayleaf.classifiers.shared.structure_parameters import SETTINGS
from oracles.joint_table import joint_table

QUICK = [("table", None), ("table", "given"), ("tree", "given")]
SLOW, LONG = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.long]
CASES = [
    pytest.param(*setting, seed, marks=SLOW if seed < 1 else LONG)
    for setting in SETTINGS
    for seed in range(25)
]
ALL_CASES = [*(pytest.param(*setting, 26) for setting in QUICK), *CASES]
# What groups stand for, as nested as `hierarchies` takes them. Where these are refined
# or others learned, at most three members are joined: so that any order of joining
# gives as many cuts.
GIVEN: dict[str, Any] = {
    "kind": {"any": {"left": ["p", "q"], "right": ["r", "s", "t"]}},
    "hours": {"any": {"part": ["<= 2", "(2, 4]"], "full": ["(4, 6]", "> 6"]}},
}


def random_rows(seed: int, n_rows: int) -> dict[str, list[Any]]:
    """Columns of text, numbers, integers and booleans that depend on one another."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 3, n_rows)

    def follow(n_states: int) -> Any:
        nonlocal own
        drawn = rng.integers(0, n_states, n_rows)
        own = np.where(rng.random(n_rows) < rng.random(), drawn, (own * 2 + 1) % 5)
        return own % n_states

    table: dict[str, list[Any]] = {
        "kind": [[*"pqrst"][code] for code in follow(5)],
        "hours": (2.0 * follow(4) + rng.random(n_rows) * 1.9 + 0.05).tolist(),
        "size": (follow(3) + rng.normal(size=n_rows) / 4).tolist(),
        "grade": (follow(3) + 1).tolist(),
        "is_new": follow(2).astype(bool).tolist(),
        "colour": [["red", "green", "blue"][code] for code in follow(3)],
    }
    # Each state occurs, so that no hierarchy loses one.
    table["kind"][:5] = "pqrst"
    order = rng.permutation([*table]).tolist()
    return {name: table[name] for name in order}


def estimator(form: str, abstraction: str | None, seed: int, **more: Any) -> Any:
    """A density model with a random part of the given hierarchies."""
    rng = np.random.default_rng(seed)
    names = ["kind"] + ["hours"] * int(abstraction == "given" or rng.random() < 0.5)
    return BayesianNetworkEstimator(
        local_structure=form,
        abstraction=abstraction,
        hierarchies={name: GIVEN[name] for name in names} or None,
        refine_hierarchies=abstraction not in (None, "given") and seed % 2 == 0,
        linkage=str(rng.choice(["information", "hamming"])),
        penalty_weight=float(rng.choice([0.05, 0.3, 1.0])),
        smoothing=Lidstone(float(rng.choice([0.5, 1.0]))),
        discretizer=EqualFrequencyDiscretizer(n_bins=3),
        n_restarts=2,
        random_state=seed,
        **more,
    )


def cuts(nested: Any) -> int:
    """Number of cuts of a nested hierarchy, the one at its top among them."""
    if not nested:
        return 1
    below = nested.values() if isinstance(nested, dict) else [None] * len(nested)
    return 1 + math.prod(map(cuts, below))


def refined(nested: Any) -> Any:
    """The hierarchy once members that are three are joined, two before the third."""
    if isinstance(nested, list):
        nested = dict.fromkeys(nested)
    members = {
        name: refined(below) if below else None for name, below in nested.items()
    }
    if len(members) < 3:
        return members
    *joined, last = members.items()
    return {"joined": dict(joined), last[0]: last[1]}


def hierarchy(model: Any, name: str) -> Any:
    """The hierarchy below the root that a model sees a parent by, as nested groups."""
    states = [*map(str, model.network_.states(name))]
    top: Any = dict.fromkeys(states)
    if name in (model.hierarchies or {}) and model.abstraction is not None:
        top = {**GIVEN[name]["any"]}
        # What is missing is a state next to the groups.
        top |= {state: None for state in states if state == "None"}
    elif model.abstraction in (None, "given"):
        return top
    learns = model.refine_hierarchies or name not in (model.hierarchies or {})
    return refined(top) if learns else top


def as_codes(model: Any, table: dict[str, list[Any]]) -> dict[int, list[int | None]]:
    """Codes of the rows by variable, None for a missing cell."""
    found: dict[int, list[int | None]] = {}
    for place, variable in enumerate(model.network_.variables):
        own: list[int | None] = []
        for cell in table[variable.name]:
            if cell is None:
                own.append(
                    variable.states.index(None) if None in variable.states else None
                )
            elif variable.kind == "numeric":
                own.append(sum(cut < cell for cut in variable.cut_points))
            else:
                own.append(variable.states.index(cell))
        found[place] = own
    return found


def leaves(node: Any) -> list[Any]:
    """The leaves of a tree, shared ones as often as they are reached."""
    if not hasattr(node, "branches"):
        return [node]
    return [leaf for branch in node.branches for leaf in leaves(branch)]


def tree_bits(node: Any, open_states: dict[int, tuple[int, ...]]) -> float:
    """Bits of the shape of a tree: a bit a node, and what each split splits on.

    `open_states` has the states that each variable of the tree may still have.
    """
    if not hasattr(node, "branches"):
        return 1.0
    candidates = [v for v, states in open_states.items() if len(states) > 1]
    bits = 1.0 + math.log2(len(candidates))
    for group, branch in zip(node.groups, node.branches, strict=True):
        bits += tree_bits(branch, {**open_states, node.variable: tuple(group)})
    return bits


def groups_of(cpd: Any, card: int, place: int) -> list[tuple[int, ...]]:
    """The groups of a parent's states that a table tells apart."""
    if hasattr(cpd, "groups"):
        return [tuple(group) for group in cpd.groups[place]]
    return [(state,) for state in range(card)]


def structure_bits(model: Any, total: float) -> float:
    """Bits of parents, cuts, trees and parameters, before they are weighed."""
    network, bits = model.network_, 0.0
    cards = [variable.n_states for variable in network.variables]
    for cpd in network.cpds:
        bits += len(cpd.parents) * math.log2(len(cards))
        if hasattr(cpd, "root"):
            reached = leaves(cpd.root)
            n_rows = len({id(leaf) for leaf in reached})
            bits += tree_bits(
                cpd.root, {v: tuple(range(cards[v])) for v in cpd.parents}
            )
            bits += (len(reached) - n_rows) * math.log2(len(reached))
        else:
            n_rows = 1
            for place, parent in enumerate(cpd.parents):
                n_rows *= len(groups_of(cpd, cards[parent], place))
                n_cuts = cuts(hierarchy(model, str(network.names[parent]))) - 1
                bits += math.log2(max(n_cuts, 1))
        bits += 0.5 * (cards[cpd.child] - 1) * n_rows * math.log2(max(total, 1.0))
    return bits


def distribution_of(cpd: Any, cards: list[int], row: dict[int, int]) -> Any:
    """What tells the distribution of a row's child from others of its variable."""
    if not hasattr(cpd, "root"):
        return tuple(
            next(
                i
                for i, group in enumerate(groups_of(cpd, cards[parent], place))
                if row[parent] in group
            )
            for place, parent in enumerate(cpd.parents)
        )
    node = cpd.root
    while hasattr(node, "branches"):
        code, inside = row[node.variable], zip(node.groups, node.branches, strict=True)
        node = next(branch for group, branch in inside if code in group)
    return id(node)


def data_bits(model: Any, table: dict[str, list[Any]], weights: Any) -> float:
    """Minus the largest log-likelihood that rows without missing cells can have."""
    network, bits = model.network_, 0.0
    cards = [variable.n_states for variable in network.variables]
    codes = as_codes(model, table)
    rows = [dict(zip(codes, row)) for row in zip(*codes.values(), strict=True)]
    for cpd in network.cpds:
        counts: dict[Any, dict[int, float]] = {}
        for row, weight in zip(rows, weights, strict=True):
            own = counts.setdefault(distribution_of(cpd, cards, row), {})
            own[row[cpd.child]] = own.get(row[cpd.child], 0.0) + weight
        for own in counts.values():
            n = math.fsum(own.values())
            bits -= math.fsum(k * math.log2(k / n) for k in own.values() if k)
    return bits


def check_groups(model: Any) -> None:
    """Fail unless groups are nodes of hierarchies, or parts of those given."""
    for cpd in model.network_.cpds:
        if hasattr(cpd, "root"):
            continue
        for place, parent in enumerate(cpd.parents):
            variable = model.network_.variables[parent]
            groups = groups_of(cpd, variable.n_states, place)
            assert sorted(itertools.chain(*groups)) == [*range(variable.n_states)]
            if variable.name not in (model.hierarchies or {}):
                continue
            for group, given in itertools.product(
                groups, GIVEN[variable.name]["any"].values()
            ):
                given = {variable.states.index(state) for state in given}
                assert not given & {*group} or given <= {*group} or {*group} <= given


@pytest.mark.few(3)
@pytest.mark.parametrize(("form", "abstraction", "seed"), ALL_CASES)
def test_code_lengths_of_complete_rows_are_those_of_the_definition(
    form: str, abstraction: str | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = random_rows(seed, 120)
    kinds = np.ones(120), rng.integers(1, 4, 120).astype(float), rng.random(120) * 2
    weights = kinds[seed % 3]
    more = {"merge_leaves": True} if form == "tree" and seed % 4 > 1 else {}
    model = estimator(form, abstraction, seed, **more).fit(table, sample_weight=weights)
    bits = model.penalty_weight * structure_bits(model, weights.sum())
    bits += data_bits(model, table, weights)
    assert model.edges_
    assert model.mdl_ == pytest.approx(bits, rel=0, abs=1e-9)
    assert model.score_ == -model.mdl_
    check_groups(model)


@pytest.mark.few(3)
@pytest.mark.parametrize(("form", "abstraction", "seed"), ALL_CASES)
def test_missing_states_cost_as_any_other(
    form: str, abstraction: str | None, seed: int
) -> None:
    table = random_rows(seed, 120)
    table["kind"][3::7] = [None] * len(table["kind"][3::7])
    model = estimator(form, abstraction, seed, missing="state")
    # Three members could be joined in several ways.
    model.set_params(refine_hierarchies=False).fit(table)
    assert None in model.network_.states("kind")
    bits = model.penalty_weight * structure_bits(model, 120.0)
    bits += data_bits(model, table, np.ones(120))
    assert model.mdl_ == pytest.approx(bits, rel=0, abs=1e-9)


def observed_bits(model: Any, table: dict[str, list[Any]], weights: Any) -> float:
    """Minus the log-likelihood of what rows contain, names of groups included."""
    joint, bits = joint_table(model.network_), 0.0
    variables = model.network_.variables
    for row, weight in enumerate(weights):
        allowed = []
        for variable in variables:
            cell = table[variable.name][row]
            groups = GIVEN.get(variable.name, {"any": {}})["any"]
            states = [*range(variable.n_states)]
            if variable.name in model.hierarchies and str(cell) in groups:
                states = [variable.states.index(own) for own in groups[cell]]
            elif cell is not None:
                one = {**{v.name: [None] for v in variables}, variable.name: [cell]}
                states = [as_codes(model, one)[variables.index(variable)][0]]
            allowed.append(states)
        bits -= weight * math.log2(joint[np.ix_(*allowed)].sum())
    return bits


@pytest.mark.few(3)
@pytest.mark.parametrize(("form", "abstraction", "seed"), CASES)
def test_networks_of_incomplete_rows_compare_by_what_these_hold_and_the_structure(
    form: str, abstraction: str | None, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    table = random_rows(seed, 60)
    for name, cells in table.items():
        for row in np.flatnonzero(rng.random(60) < 0.07).tolist():
            cells[row] = None
        if name == "kind":
            for row in np.flatnonzero(rng.random(60) < 0.2).tolist():
                groups = [g for g, s in GIVEN[name]["any"].items() if cells[row] in s]
                cells[row] = groups[0] if groups else None
            cells[:5] = "pqrst"
    weights = rng.integers(1, 4, 60).astype(float)
    scores: list[float] = []
    adopt = BayesianNetworkEstimator._adopt

    def keep(self: Any, learned: Any, *others: Any) -> None:
        scores.append(learned.observed_score)
        adopt(self, learned, *others)

    monkeypatch.setattr(BayesianNetworkEstimator, "_adopt", keep)
    model = estimator(form, abstraction, seed).fit(table, sample_weight=weights)
    bits = observed_bits(model, table, weights)
    assert model.log_likelihood_ == pytest.approx(-bits * math.log(2), rel=1e-12)
    bits += model.penalty_weight * structure_bits(model, weights.sum())
    assert -scores[-1] == pytest.approx(bits, rel=0, abs=1e-9)
