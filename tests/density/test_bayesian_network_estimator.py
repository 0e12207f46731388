"""The density estimator: normalised, exact, the same whatever threads and weights."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayleaf
from bayleaf import BayesianNetworkEstimator, ValueHierarchy, read_network
from bayleaf.classifiers.shared.structure_parameters import SETTINGS
from bayleaf.scores.local_scores import AIC, BIC, MDL, BDeu, LocalScore, Unit
from bayleaf.search.table_families import ScoreCache
from offenders import check_each

CARDS = (4, 2, 3, 3)
NAMES = ("a", "b", "c", "d")
HIERARCHIES = {
    "a": {"any": {"low": ["a0", "a1"], "high": ["a2", "a3"]}},
    "c": {"any": {"some": ["c0", "c2"], "other": ["c1"]}},
}
TRIVIAL = {
    name: {"any": [f"{name}{code}" for code in range(card)]}
    for name, card in zip(NAMES, CARDS, strict=True)
}


def texts(codes: np.ndarray) -> pa.Table:
    """Codes as a table of text; -1 is an empty cell."""
    return pa.table(
        {
            name: pa.array([None if c < 0 else f"{name}{c}" for c in codes[:, j]])
            for j, name in enumerate(NAMES)
        }
    )


def dependent_rows(seed: int, n_rows: int = 120) -> np.ndarray:
    """Rows in which c follows groups of a where b is 1, and d follows c."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n_rows)
    b = rng.integers(0, 2, n_rows)
    c = np.where(b == 1, a // 2, rng.integers(0, 3, n_rows))
    c = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 3, n_rows), c)
    d = np.where(rng.random(n_rows) < 0.7, c, rng.integers(0, 3, n_rows))
    # Every state occurs, whatever was drawn.
    every = np.array([[k % card for card in CARDS] for k in range(4)])
    return np.vstack([np.stack([a, b, c, d], axis=1), every])


def all_rows() -> np.ndarray:
    """The whole domain."""
    return np.array(list(itertools.product(*map(range, CARDS))))


def setting(local_structure: str, abstraction: str | None, **more: Any) -> Any:
    """An estimator of one of the nine settings."""
    given_ones = HIERARCHIES if abstraction == "given" else None
    return BayesianNetworkEstimator(
        local_structure=local_structure,
        abstraction=abstraction,
        # Otherwise values not seen in training have a part of every sum.
        **{"hierarchies": given_ones, "unknown": "missing", **more},
        random_state=0,
    )


@pytest.mark.parametrize("abstraction", ["global", "local"])
def test_given_hierarchies_stay_where_others_are_learned(abstraction: str) -> None:
    table = texts(dependent_rows(0, 400))
    given = {"a": HIERARCHIES["a"]}

    def shown(given: Any, **more: Any) -> str:
        asked = setting("tree", abstraction, hierarchies=given, **more)
        return str(asked.fit(table).describe("c"))

    assert "a = low" in shown(given)
    assert "a = low" in shown(given, refine_hierarchies=True)
    assert "a = low" not in shown(None)


@pytest.mark.few(5)
@pytest.mark.parametrize(("local_structure", "abstraction"), SETTINGS)
def test_densities_sum_to_one_over_the_domain(
    local_structure: str, abstraction: str | None
) -> None:
    # A small penalty, so that there are many arcs.
    check_density(local_structure, abstraction, 0, 0.05)


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize(("local_structure", "abstraction"), SETTINGS)
@given(seed=st.integers(0, 10_000), weight=st.sampled_from([0.05, 0.5, 1.0]))
@settings(max_examples=5, deadline=None)
def test_densities_of_any_table_sum_to_one_over_the_domain(
    local_structure: str, abstraction: str | None, seed: int, weight: float
) -> None:
    check_density(local_structure, abstraction, seed, weight)


def check_density(
    local_structure: str, abstraction: str | None, seed: int, weight: float
) -> None:
    """The densities of all rows that there can be sum to one."""
    table = texts(dependent_rows(seed, 40))
    model = setting(local_structure, abstraction, penalty_weight=weight).fit(table)
    total = np.exp(model.score_samples(texts(all_rows()))).sum()
    assert abs(total - 1.0) <= 1e-10


@pytest.mark.few(5)
@pytest.mark.parametrize(("local_structure", "abstraction"), SETTINGS)
def test_missing_cells_are_summed_out(
    local_structure: str, abstraction: str | None
) -> None:
    model = setting(local_structure, abstraction, penalty_weight=0.3)
    model.fit(texts(dependent_rows(1)))
    rows = np.array([[0, -1, 1, -1], [-1, -1, -1, -1], [2, 1, -1, 0]])
    domain = all_rows()
    probabilities = np.exp(model.score_samples(texts(domain)))
    for row, found in zip(rows, model.score_samples(texts(rows)), strict=True):
        fits = ((row < 0) | (domain == row)).all(axis=1)
        assert found == pytest.approx(np.log(probabilities[fits].sum()), abs=1e-10)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_trivial_hierarchies_change_nothing(local_structure: str) -> None:
    for seed in range(4):
        table = texts(dependent_rows(seed))
        plain = setting(local_structure, None, n_restarts=2).fit(table)
        trivial = setting(
            local_structure, "given", hierarchies=TRIVIAL, n_restarts=2
        ).fit(table)
        assert trivial.edges_ == plain.edges_
        assert trivial.mdl_ == plain.mdl_
        assert trivial.n_parameters_ == plain.n_parameters_
        rows = texts(all_rows())
        assert (trivial.score_samples(rows) == plain.score_samples(rows)).all()


def mdl_of_tables(model: BayesianNetworkEstimator, codes: np.ndarray) -> float:
    """Description length of a network of full tables by its definition, in bits."""
    network, n_rows = model.network_, len(codes)
    bits = 0.0
    for child, parents in enumerate(network.dag.parents):
        bits += len(parents) * np.log2(len(CARDS))
        rows = int(np.prod([CARDS[p] for p in parents]))
        bits += 0.5 * (CARDS[child] - 1) * rows * np.log2(n_rows)
        for where in itertools.product(*(range(CARDS[p]) for p in parents)):
            here = (codes[:, list(parents)] == where).all(axis=1)
            counts = np.bincount(codes[here, child], minlength=CARDS[child])
            seen = counts[counts > 0]
            bits -= float((seen * np.log2(seen / max(seen.sum(), 1))).sum())
    return bits


def test_the_description_length_of_tables_is_that_of_the_definition() -> None:
    codes = dependent_rows(3)
    model = setting("table", None).fit(texts(codes))
    assert model.edges_
    assert model.mdl_ == pytest.approx(mdl_of_tables(model, codes), abs=1e-6)
    assert model.score_ == -model.mdl_


def test_gains_of_the_moves_lead_to_the_score() -> None:
    model = setting("tree", "given").fit(texts(dependent_rows(3)))
    assert model.trace_
    first = model.trace_[0]
    start = first.score - first.gain
    gains = sum(move.gain for move in model.trace_)
    assert start + gains == pytest.approx(model.score_, abs=1e-6)


def test_parameters_of_the_papers_hybrid_cars() -> None:
    # The last paragraph of section 2: 24, 14, 12 and 10 parameters.
    models = ["corvette", "porsche", "accord", "maxima", "rav4", "crv"]
    groups = {
        "sportscar": models[:2],
        "sedan": models[2:4],
        "suv": models[4:],
    }
    by_model = {"corvette": 1, "porsche": 1, "accord": 10, "maxima": 19}
    rows: list[tuple[str, str, str]] = []
    for model in models:
        # Of twenty cars, how many are cheap.
        cheap = by_model.get(model, 15)
        rows += [("no", model, "low" if k < cheap else "high") for k in range(20)] * 60
        rows += [("yes", model, "low" if k < 8 else "high") for k in range(20)] * 60
    table = pa.table(dict(zip(["hybrid", "model", "price"], zip(*rows, strict=True))))
    arcs = [("hybrid", "price"), ("model", "price")]
    others = [(p, c) for p in table.schema.names for c in table.schema.names]
    forbidden = [edge for edge in others if edge[0] != edge[1] and edge not in arcs]
    options: dict[str, Any] = {
        "hierarchies": {"model": {"any": groups}},
        "required_edges": arcs,
        "forbidden_edges": forbidden,
    }
    own_rows = {"hybrid": 2, "model": 6}
    flat = BayesianNetworkEstimator(**options, random_state=0).fit(table)
    assert flat.n_parameters_ - sum(own_rows.values()) == 24
    tree = BayesianNetworkEstimator(
        local_structure="tree", **options, random_state=0
    ).fit(table)
    assert tree.n_parameters_ - sum(own_rows.values()) == 14
    both = BayesianNetworkEstimator(
        local_structure="tree", abstraction="given", **options, random_state=0
    ).fit(table)
    assert both.n_parameters_ - sum(own_rows.values()) == 10
    # Where accord and maxima cost the same, the three groups are enough.
    same = table.filter(pa.compute.not_equal(table["model"], "maxima"))
    extra = same.filter(pa.compute.equal(same["model"], "accord"))
    twin = extra.set_column(1, "model", pa.array(["maxima"] * extra.num_rows))
    abstract = BayesianNetworkEstimator(abstraction="given", **options, random_state=0)
    abstract.fit(pa.concat_tables([same, twin]))
    assert abstract.n_parameters_ - sum(own_rows.values()) == 12


@pytest.mark.few(5)
@pytest.mark.parametrize(("local_structure", "abstraction"), SETTINGS)
def test_weights_are_exact(local_structure: str, abstraction: str | None) -> None:
    codes = dependent_rows(5)
    weights = np.random.default_rng(5).integers(0, 4, len(codes))
    weights[-4:] = 1
    weighted = setting(local_structure, abstraction)
    weighted.fit(texts(codes), sample_weight=weights.astype(float))
    repeated = setting(local_structure, abstraction)
    repeated.fit(texts(np.repeat(codes, weights, axis=0)))
    assert weighted.edges_ == repeated.edges_
    assert weighted.mdl_ == pytest.approx(repeated.mdl_, abs=1e-9)
    rows = texts(all_rows())
    assert (weighted.score_samples(rows) == repeated.score_samples(rows)).all()


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_threads_change_no_bit(local_structure: str) -> None:
    table = texts(dependent_rows(6))
    one = setting(local_structure, "local", n_restarts=4).fit(table)
    two = setting(local_structure, "local", n_restarts=4, n_jobs=2).fit(table)
    assert one.mdl_ == two.mdl_
    rows = texts(all_rows())
    assert (one.score_samples(rows) == two.score_samples(rows)).all()


@pytest.mark.few(4)
@pytest.mark.parametrize(("local_structure", "abstraction"), SETTINGS)
def test_a_file_gives_the_same_model_back(
    local_structure: str, abstraction: str | None, tmp_path: Path
) -> None:
    model = setting(local_structure, abstraction, penalty_weight=0.3)
    model.fit(texts(dependent_rows(7)))
    model.save(tmp_path / "model.json")
    again = bayleaf.load(tmp_path / "model.json")
    rows = texts(all_rows())
    assert (again.score_samples(rows) == model.score_samples(rows)).all()
    assert str(again.summary()) == str(model.summary())
    assert again.get_params()["local_structure"] == local_structure
    network = read_network(tmp_path / "model.json")
    assert [network.describe(name) for name in NAMES] == [
        model.network_.describe(name) for name in NAMES
    ]


@pytest.mark.parametrize("score", [MDL(0.5), BDeu(3.0), BIC()])
def test_a_file_keeps_a_score_given_as_an_object(
    score: LocalScore, tmp_path: Path
) -> None:
    model = BayesianNetworkEstimator(local_score=score, n_restarts=1, random_state=0)
    model.fit(texts(dependent_rows(7)))
    model.save(tmp_path / "model.json")
    again = bayleaf.load(tmp_path / "model.json")
    assert repr(again.local_score) == repr(score)
    assert str(again.summary()) == str(model.summary())
    assert getattr(again, "mdl_", None) == getattr(model, "mdl_", None)


def test_a_score_that_users_write_is_shown_in_its_unit_and_cannot_be_saved(
    tmp_path: Path,
) -> None:
    class BIC(AIC):
        unit: ClassVar[Unit] = "bits"

    model = BayesianNetworkEstimator(local_score=BIC(), random_state=0)
    model.fit(texts(dependent_rows(7)))
    assert f"{model.score_:.8g} bits" in str(model.summary())
    with pytest.raises(TypeError, match="local_score holds a BIC, which has no place"):
        model.save(tmp_path / "model.json")


def test_merged_leaves_stay_shared_in_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 4000), rng.integers(0, 2, 4000)
    outer = np.isin(a, [0, 3]).astype(int)
    c = np.where(rng.random(4000) < 0.8, outer, 2)
    codes = np.stack([a, b, c, rng.integers(0, 3, 4000)], axis=1)
    arc: dict[str, Any] = {"required_edges": [("a", "c")]}
    model = setting("tree", None, merge_leaves=True, **arc).fit(texts(codes))
    separate = setting("tree", None, **arc).fit(texts(codes))
    assert model.n_parameters_ < separate.n_parameters_
    model.save(tmp_path / "model.json")
    again: Any = bayleaf.load(tmp_path / "model.json")
    assert again.n_parameters_ == model.n_parameters_
    assert any("as in line" in again.describe(name) for name in NAMES)


def test_samples_follow_the_density() -> None:
    model = setting("tree", "given", penalty_weight=0.3).fit(texts(dependent_rows(8)))
    drawn = model.sample(20_000, random_state=1)
    assert drawn.schema.names == list(NAMES)
    expected = model.score_samples(texts(all_rows()))
    entropy = -float(np.dot(np.exp(expected), expected))
    assert -model.score(drawn) / 20_000 == pytest.approx(entropy, abs=0.02)
    assert model.sample(50, random_state=3).equals(model.sample(50, random_state=3))


def test_the_network_answers_queries() -> None:
    model = setting("tree", "given", penalty_weight=0.3).fit(texts(dependent_rows(9)))
    domain = all_rows()
    probabilities = np.exp(model.score_samples(texts(domain)))
    given_rows = (domain[:, 0] == 1) & (domain[:, 3] == 2)
    expected = [
        probabilities[given_rows & (domain[:, 2] == k)].sum() for k in range(3)
    ] / probabilities[given_rows].sum()
    found = model.network_.query({"a": "a1", "d": "d2"}, ["c"])["c"]
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-10)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_numbers_are_cut_into_five_intervals(local_structure: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[:, 1] += X[:, 0]
    model = BayesianNetworkEstimator(
        local_structure=local_structure, random_state=0
    ).fit(X)
    assert model.encoder_.domain.cards == (5, 5)
    assert model.edges_
    assert np.isfinite(model.score_samples(X)).all()


def test_a_wrong_parameter_is_refused_in_a_sentence() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        parameters, message = case
        with pytest.raises(ValueError, match=message):
            BayesianNetworkEstimator(**parameters, random_state=0).fit(
                texts(dependent_rows(0, 10))
            )

    check_each(
        [
            (
                {"local_structure": "graph"},
                "local_structure must be one of 'table', 'tree",
            ),
            ({"abstraction": "x"}, "abstraction must be one of"),
            (
                {"local_structure": "tree", "abstraction": "local_refreshed"},
                "not defined for trees",
            ),
            ({"abstraction": "given"}, "needs hierarchies"),
            ({"abstraction": "global", "refine_hierarchies": True}, "to refine"),
            (
                {
                    "abstraction": "given",
                    "hierarchies": HIERARCHIES,
                    "refine_hierarchies": True,
                },
                "an abstraction that learns",
            ),
            ({"local_score": "map"}, "local_score must be one of"),
            ({"linkage": "single"}, "linkage must be"),
            ({"n_restarts": 0}, "n_restarts must be an integer >= 1"),
            ({"tree_search": "batch"}, "needs local_structure='tree'"),
            ({"table_search": "random"}, "table_search must be one of"),
            (
                {"local_structure": "tree", "table_search": "greedy"},
                "needs local_structure='table'",
            ),
            ({"merge_leaves": True}, "needs local_structure='tree'"),
            (
                {
                    "local_structure": "tree",
                    "abstraction": "local",
                    "tree_search": "batch",
                },
                "without abstraction only",
            ),
            ({"required_edges": [("a", "z")]}, "required_edges names 'z'"),
            (
                {"required_edges": [("a", "b")], "forbidden_edges": [("a", "b")]},
                "both required and forbidden",
            ),
            ({"required_edges": [("a", "b"), ("b", "a")]}, "close a cycle"),
            ({"time_limit": 0}, "time_limit must be > 0"),
            ({"cache_size": -1}, "cache_size must be an integer >= 0"),
            ({"penalty_weight": -1.0}, "penalty_weight must be"),
            (
                {"penalty_weight": 2.0, "local_score": "bic"},
                "local_score='bic' does not look at penalty_weight; leave it out, or",
            ),
            ({"missing": "skip"}, "missing must be one of"),
            ({"smoothing": "auto"}, "smoothing must be one of"),
        ],
        check,
    )


def test_a_parameter_of_the_wrong_type_is_refused() -> None:
    def check(parameters: dict[str, Any]) -> None:
        (name,) = parameters
        with pytest.raises(TypeError, match=f"^{name} must"):
            BayesianNetworkEstimator(**parameters, random_state=0).fit(
                texts(dependent_rows(0, 10))
            )

    check_each(
        [
            {"required_edges": "ab"},
            {"forbidden_edges": ["ab"]},
            {"n_restarts": 1.5},
            {"n_jobs": "two"},
            {"merge_leaves": "yes"},
            {"cache_size": 1e5},
            {"local_score": 3},
        ],
        check,
    )


@pytest.mark.parametrize("abstraction", [None, "given", "local_refreshed"])
def test_a_small_cache_changes_no_network(
    abstraction: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: set[int] = set()
    made = ScoreCache.__init__

    def noted(cache: ScoreCache, size: int) -> None:
        sizes.add(size)
        made(cache, size)

    monkeypatch.setattr(ScoreCache, "__init__", noted)
    table = texts(dependent_rows(5))
    found = [
        setting("table", abstraction, n_restarts=3, cache_size=size).fit(table)
        for size in (200_000, 3, 0)
    ]
    assert sizes == {200_000, 3, 0}
    for small in found[1:]:
        assert small.edges_ == found[0].edges_
        assert small.score_ == found[0].score_


def test_edges_are_kept_to() -> None:
    table = texts(dependent_rows(2))
    model = setting(
        "table",
        None,
        required_edges=[("d", "b")],
        forbidden_edges=[("c", "d"), ("d", "c")],
        max_parents=1,
    ).fit(table)
    assert ("d", "b") in model.edges_
    assert not {("c", "d"), ("d", "c")} & set(model.edges_)
    children = [child for _, child in model.edges_]
    assert len(set(children)) == len(children)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_missing_cells_enter_training_as_expected_counts(local_structure: str) -> None:
    codes = dependent_rows(4, 600)
    holed = codes.copy()
    rng = np.random.default_rng(1)
    holed[rng.random(holed.shape) < 0.1] = -1
    model = setting(local_structure, None, n_restarts=2).fit(texts(holed))
    whole = setting(local_structure, None, n_restarts=2).fit(texts(codes))
    assert {frozenset(e) for e in model.edges_} == {frozenset(e) for e in whole.edges_}
    rows = texts(codes)
    assert model.score(rows) == pytest.approx(whole.score(rows), rel=0.02)
    total = np.exp(model.score_samples(texts(all_rows()))).sum()
    assert abs(total - 1.0) <= 1e-10


def test_rows_with_holes_and_weights_are_exact() -> None:
    codes = dependent_rows(4)
    rng = np.random.default_rng(2)
    codes[:-4][rng.random((len(codes) - 4, 4)) < 0.1] = -1
    weights = rng.integers(1, 4, len(codes))
    weighted = setting("tree", None)
    weighted.fit(texts(codes), sample_weight=weights.astype(float))
    repeated = setting("tree", None).fit(texts(np.repeat(codes, weights, axis=0)))
    assert weighted.edges_ == repeated.edges_
    rows = texts(all_rows())
    np.testing.assert_array_equal(
        weighted.score_samples(rows), repeated.score_samples(rows)
    )


def with_group(table: pa.Table, rows: list[int], node: str) -> pa.Table:
    """The table with the name of a group in some cells of the first column."""
    cells = table["a"].to_pylist()
    for row in rows:
        cells[row] = node
    return table.set_column(0, "a", pa.array(cells))


def test_a_group_in_a_cell_stands_for_its_states() -> None:
    table = texts(dependent_rows(5))
    model = setting("tree", "given", penalty_weight=0.3).fit(table)
    codes = np.array([[0, 1, 2, 0], [1, 1, 2, 0], [2, -1, 1, 0], [3, -1, 1, 0]])
    low, high = 0, 2
    single = np.exp(model.score_samples(texts(codes)))
    partial = with_group(texts(codes), [0], "low")
    partial = with_group(partial, [2], "high")
    found = np.exp(model.score_samples(partial))
    assert found[low] == pytest.approx(single[0] + single[1], rel=1e-10)
    assert found[high] == pytest.approx(single[2] + single[3], rel=1e-10)
    assert model.summary().unknown == ()


@pytest.mark.parametrize("missing", ["marginalize", "state", "error"])
def test_groups_are_learned_from(missing: str) -> None:
    codes = dependent_rows(5, 600)
    table = texts(codes)
    here = np.flatnonzero(codes[:, 0] < 2)[::3].tolist()
    partial = with_group(table, here, "low")
    model = setting("tree", "given", missing=missing, n_restarts=1).fit(partial)
    assert model.encoder_.domain[0].states == ("a0", "a1", "a2", "a3")
    whole = setting("tree", "given", missing=missing, n_restarts=1).fit(table)
    assert model.score(table) == pytest.approx(whole.score(table), rel=0.01)
    # Taking the cells for missing ones would make the other groups more probable.
    share = np.mean(codes[:, 0] < 2)
    posterior = model.network_.query({}, ["a"])["a"]
    assert posterior["a0"] + posterior["a1"] == pytest.approx(share, abs=0.01)


def test_a_tree_is_shown_indented_with_names_of_groups() -> None:
    arcs = [("a", "c"), ("b", "c")]
    others = [("d", "c"), ("c", "d")]
    model = setting("tree", "given", required_edges=arcs, forbidden_edges=others)
    lines = model.fit(texts(dependent_rows(0, 800))).describe("c").split("\n")
    assert lines[0] == "P(c | a, b)"
    assert lines[1].startswith("  b = b0: c0 0.3")
    assert lines[2] == "  b = b1"
    assert lines[3].startswith("    a = low: c0 0.8")
    assert lines[4].startswith("    a = high: c0 0.0")


def test_a_cut_is_shown_with_its_states() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 2000)
    c = np.where(rng.random(2000) < 0.8, a // 2, rng.integers(0, 3, 2000))
    b, d = rng.integers(0, 2, 2000), rng.integers(0, 3, 2000)
    arc = [("a", "c")]
    model = setting("table", "given", required_edges=arc)
    model.fit(texts(np.stack([a, b, c, d], axis=1)))
    lines = model.describe("c").split("\n")
    assert lines[:3] == ["P(c | a)", "  a low: {a0, a1}", "  a high: {a2, a3}"]
    assert lines[3].startswith("  a = low: c0 0.8")


def test_the_summary_tells_setting_and_counts() -> None:
    model = setting("tree", "given").fit(texts(dependent_rows(0)))
    facts = model.summary().to_dict()
    assert facts["setting"] == "TABS-E"
    assert facts["n_edges"] == len(model.edges_)
    assert f"{model.n_parameters_} ({model.n_free_parameters_} free)" in str(
        model.summary()
    )


def test_a_value_hierarchy_may_be_an_object() -> None:
    tree = ValueHierarchy.from_nested(HIERARCHIES["a"])
    table = texts(dependent_rows(0))
    model = setting("table", "given", hierarchies={"a": tree}).fit(table)
    plain = setting("table", "given", hierarchies={"a": HIERARCHIES["a"]}).fit(table)
    assert model.mdl_ == plain.mdl_


def test_frames_of_every_kind_give_the_same_model(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    columns = texts(dependent_rows(1)).to_pydict()
    frame = make_frame(columns)
    model = setting("tree", None).fit(frame)
    plain = setting("tree", None).fit(pa.table(columns))
    assert model.mdl_ == plain.mdl_
    assert list(model.feature_names_in_) == list(NAMES)


@pytest.mark.parametrize("local_structure", ["table", "tree"])
def test_moves_are_told_when_asked_for(
    local_structure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = setting(local_structure, None, verbose=2).fit(texts(dependent_rows(1)))
    told = [
        line
        for line in capsys.readouterr().err.splitlines()
        if line.startswith("search 1: ")
    ]
    assert len(told) == len(model.trace_)
    assert told[-1].startswith(f"search 1: {len(told)} moves, ")
    assert told[-1].endswith(f"score {model.trace_[-1].score:.8g} bits")


def test_a_search_that_runs_out_of_time_warns_and_is_valid() -> None:
    table = texts(dependent_rows(1))
    with pytest.warns(RuntimeWarning, match="time_limit"):
        model = setting("tree", None, time_limit=1e-9).fit(table)
    total = np.exp(model.score_samples(texts(all_rows()))).sum()
    assert abs(total - 1.0) <= 1e-10


@pytest.mark.parametrize("structure", ["table", "tree"])
@pytest.mark.parametrize("seed", [-1, "x"])
def test_seeds_that_seed_nothing_are_refused(structure: str, seed: Any) -> None:
    message = f"random_state must be None, an integer of at least 0.* got {seed!r}"
    X = np.arange(40).reshape(20, 2) % 2
    model = BayesianNetworkEstimator(local_structure=structure, random_state=seed)
    with pytest.raises(ValueError, match=message):
        model.fit(X)


def test_full_tables_over_the_same_arcs_are_counted_and_shown() -> None:
    table = texts(dependent_rows(0, 400))
    flat, tree = (setting(form, None).fit(table) for form in ("table", "tree"))
    assert flat.n_table_parameters_ == flat.n_parameters_
    assert "as full tables" not in str(flat.summary())
    cards = dict(zip(NAMES, CARDS, strict=True))
    full = dict(cards)
    for parent, child in tree.edges_:
        full[child] *= cards[parent]
    assert tree.n_table_parameters_ == sum(full.values()) > tree.n_parameters_
    ratio = tree.n_table_parameters_ / tree.n_parameters_
    assert f"{sum(full.values())} parameters, {ratio:.3g} times" in str(tree.summary())
