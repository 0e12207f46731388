"""Required and forbidden edges and tiers: kept by all learners, refused by name."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    KDBClassifier,
    TANClassifier,
)
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.edge_parameters import named_edges
from bayleaf.classifiers.shared.saving import kept_support
from offenders import check_each

Edges = set[tuple[str, str]]
Pair = tuple[str, str]

ROOTED = (TANClassifier, KDBClassifier, AveragedKDBClassifier)


def _table(seed: int, n_rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Three columns of text and two of numbers that depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    codes = rng.integers(3, size=(n_rows, 5))
    for j in range(1, 5):
        copied = rng.random(n_rows) < 0.5
        codes[copied, j] = (codes[copied, rng.integers(j)] + y[copied]) % 3
    frame = pd.DataFrame(
        {name: np.array(list("pqr"))[codes[:, j]] for j, name in enumerate("abc")}
    )
    for j, name in enumerate("de", start=3):
        frame[name] = codes[:, j] + rng.normal(scale=0.2, size=n_rows)
    return frame, np.array(["no", "yes"])[y]


def _constraints(rng: np.random.Generator) -> dict[str, Any]:
    """A required arc, some forbidden ones and two tiers that allow it."""
    order = [str(name) for name in rng.permutation(list("abcde"))]
    required = (order[0], order[1])
    pairs = [(a, b) for a in order for b in order if a != b and (a, b) != required]
    chosen = rng.choice(len(pairs), 4, replace=False)
    return {
        "required_edges": [required],
        "forbidden_edges": [pairs[i] for i in chosen],
        "tiers": [order[:2], order[3:]],
    }


def _broken(arcs: Edges, asked: dict[str, Any]) -> Edges:
    """Arcs that are missing, or that there must not be."""
    tier = {name: n for n, own in enumerate(asked["tiers"]) for name in own}
    backwards = {(a, b) for a, b in arcs if tier.get(a, 0) > tier.get(b, 9)}
    missing = set(asked.get("required_edges", ())) - arcs
    return missing | backwards | (arcs & set(asked["forbidden_edges"]))


def _arcs(model: Any) -> list[Edges]:
    """Arcs among features of each network that a fitted model holds."""
    names = "abcde"
    if isinstance(model, AveragedKDBClassifier):
        found = []
        for network in model.model_.networks:
            families = [network.counts.variables(i) for i in range(5)]
            found.append({(names[p], names[f[0]]) for f in families for p in f[1:]})
        return found
    if isinstance(model, A2DEClassifier):
        return [
            {(a, b) for a, b in one.network.edges if a in names and b in names}
            for one in model.model_.networks
        ]
    edges = model.edges_
    return [{(a, b) for a, b in edges if str(a) in names and str(b) in names}]


LEARNERS: dict[str, Any] = {
    "tan": lambda: TANClassifier(),
    "tan with theta": lambda: TANClassifier(theta=0.05),
    "kdb": lambda: KDBClassifier(k=2, theta=0.02),
    "kdb auto": lambda: KDBClassifier(k="auto", max_k=2),
    "auto": lambda: AveragedKDBClassifier(n_networks=3, weights=None, random_state=0),
    "aode": lambda: AODEClassifier(),
    "a2de": lambda: A2DEClassifier(),
    "network": lambda: BayesianNetworkClassifier(n_restarts=1, random_state=0),
    "trees": lambda: BayesianNetworkEstimator(
        local_structure="tree", n_restarts=1, random_state=0
    ),
    "tables": lambda: BayesianNetworkEstimator(n_restarts=2, random_state=0),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("n_fits", [5, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LEARNERS)
def test_random_fits_break_no_constraint(name: str, n_fits: int) -> None:
    rng = np.random.default_rng(len(name))
    for seed in range(n_fits):
        model, asked = LEARNERS[name](), _constraints(rng)
        if not hasattr(model, "required_edges"):
            del asked["required_edges"]
        frame, y = _table(seed)
        model.set_params(**asked).fit(frame, y)
        for arcs in _arcs(model):
            assert _broken(arcs, asked) == set()


@pytest.mark.parametrize("kind", [TANClassifier, KDBClassifier])
def test_numbers_as_numbers_keep_to_the_constraints(kind: Any) -> None:
    frame, y = _table(1)
    frame["f"] = frame["d"] + np.random.default_rng(0).normal(size=len(frame))
    for edge in [("d", "e"), ("e", "d"), ("f", "e")]:
        model = kind(numeric="gaussian", required_edges=[edge], theta=0.2)
        assert edge in model.fit(frame, y).edges_
        model = kind(numeric="gaussian", tiers=[[edge[1]], [edge[0]]])
        assert edge not in model.fit(frame, y).edges_


def test_numbers_of_averaged_regressions_keep_to_the_constraints() -> None:
    frame, y = _table(2, 200)
    model = AveragedKDBClassifier(n_networks=2, random_state=0, max_parents=1)
    model.set_params(tiers=[["e"], ["d"]], required_edges=[("e", "d")]).fit(frame, y)
    families = model.model_.linear.families
    ends = families.starts[1:]
    pairs = {
        (int(parent), int(families.children[i]))
        for i, (first, last) in enumerate(zip(families.starts, ends, strict=False))
        for parent in families.parents[first:last]
    }
    assert pairs == {(1, 0)}


def test_a_constraint_that_excludes_nothing_chosen_changes_nothing() -> None:
    def check(kind: Any) -> None:
        frame, y = _table(3)
        frame["g"] = "only"
        more = (
            {"n_networks": 3, "random_state": 0}
            if "averaged" in kind.__module__
            else {}
        )
        plain = kind(**more).fit(frame, y)
        told = kind(**more, tiers=[["a", "b", "c", "d", "e", "g"]]).fit(frame, y)
        np.testing.assert_array_equal(
            plain.predict_proba(frame), told.predict_proba(frame)
        )

    check_each([*ROOTED, AODEClassifier, A2DEClassifier], check)


def test_an_arc_left_out_of_aode_makes_the_child_depend_on_the_class_alone() -> None:
    frame, y = _table(4)
    kept = frame[["a", "b"]]
    pairs = [("a", "b"), ("b", "a")]
    model = AODEClassifier(forbidden_edges=pairs).fit(kept, y)
    naive = bayleaf.NaiveBayesClassifier().fit(kept, y)
    assert _arcs(model) == [set()]
    assert model.model_.n_parameters == 2 * naive.network_.n_parameters
    np.testing.assert_allclose(
        model.predict_proba(kept), naive.predict_proba(kept), atol=1e-12
    )
    calibrated = AODEClassifier(forbidden_edges=pairs, calibration="leave_one_out")
    alone = bayleaf.NaiveBayesClassifier(calibration="leave_one_out").fit(kept, y)
    assert calibrated.fit(kept, y).temperature_ == pytest.approx(alone.temperature_)


def test_drawn_tables_of_aode_leave_the_same_arcs_out() -> None:
    frame, y = _table(4)
    model = AODEClassifier(tiers=[["a"], ["b"]], smoothing="m_estimate")
    inner = model.fit(frame[["a", "b", "c"]], y).model_
    support = kept_support(model)
    assert support is not None
    drawn = inner.drawn(support, np.random.default_rng(0))
    for one in (inner, drawn):
        b, a = one._states(1), one._states(0)
        given = one.child_probabilities[:, b, a]
        alone = one.parent_probabilities[:, None, a]
        np.testing.assert_array_equal(given, np.broadcast_to(alone, given.shape))
    assert (drawn.parent_probabilities != inner.parent_probabilities).any()
    rows = support.rows[2][0][:, inner._states(1)]
    np.testing.assert_array_equal(rows, support.rows[1][0][:, None] + 0 * rows)


def test_super_parents_of_a2de_turn_round_where_one_order_is_forbidden() -> None:
    frame, y = _table(5)
    model = A2DEClassifier(forbidden_edges=[("a", "b")]).fit(frame[["a", "b"]], y)
    assert _arcs(model) == [{("b", "a")}]


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"required_edges": [("a", "b"), ("b", "a")]}, "close a cycle among a, b"),
    (
        {"required_edges": [("a", "b")], "forbidden_edges": [("a", "b")]},
        "'a' to 'b' is both required and forbidden",
    ),
    (
        {"required_edges": [("a", "b")], "tiers": [["b"], ["a"]]},
        "required edge from 'a' to 'b' leads to an earlier tier",
    ),
    ({"tiers": [["a"], ["b", "a"]]}, "tiers lists 'a' twice"),
    ({"required_edges": [("a", "a")]}, "from variable 'a' to itself"),
    ({"required_edges": [("a", "b"), ("c", "b")]}, "'b' 2 parents .* more than"),
    ({"tiers": [["agee"], ["b"]]}, "tiers names 'agee', which is no column"),
    (
        {"forbidden_edges": [("a", "number")]},
        r"forbidden_edges names column 'number', .* \(left out: almost all values",
    ),
]


def test_contradictions_are_refused_by_name() -> None:
    def check(case: Any) -> None:
        kind, (asked, sentence) = case
        frame, y = _table(0)
        frame["number"] = [f"n{i}" for i in range(len(y))]
        model = kind(**asked)
        if kind is AveragedKDBClassifier:
            model.set_params(max_parents=1)
        with pytest.raises(ValueError, match=sentence):
            model.fit(frame, y)

    check_each(itertools.product(ROOTED, REFUSALS), check)


def test_what_is_no_list_of_names_is_refused() -> None:
    def check(wrong: dict[str, Any]) -> None:
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be a list of"):
            TANClassifier(**wrong).fit(*_table(0))

    check_each(
        [
            {"tiers": "ab"},
            {"tiers": ["ab"]},
            {"forbidden_edges": ["ab"]},
            # Gone once it has been checked.
            {"required_edges": iter([("a", "b")])},
            {"forbidden_edges": [(["a"], "b")]},
            {"tiers": [[["a"]]]},
        ],
        check,
    )


def test_contradictions_are_refused_before_the_table_is_read() -> None:
    with pytest.raises(ValueError, match="close a cycle"):
        TANClassifier(required_edges=[("a", "b"), ("b", "a")]).fit(None, None)


@pytest.mark.parametrize("kind", ROOTED)
def test_the_class_stays_the_root(kind: Any) -> None:
    frame, labels = _table(0)
    y = pd.Series(labels, name="class")
    remedy = "parent of every feature"
    for asked in (
        {"required_edges": [("a", "class")]},
        {"forbidden_edges": [("class", "a")]},
        {"tiers": [["a"], ["class", "b"]]},
    ):
        with pytest.raises(ValueError, match=remedy):
            kind(**asked).fit(frame, y)
    asked = {
        "required_edges": [("class", "a")],
        "forbidden_edges": [("a", "class")],
        "tiers": [["class"], ["a"]],
    }
    assert ("class", "a") in kind(**asked, random_state=0).fit(frame, y).edges_


def test_kdb_refuses_a_prefix_of_the_order_beside_required_edges() -> None:
    with pytest.raises(ValueError, match="n_features leaves features without arcs"):
        KDBClassifier(n_features=2, required_edges=[("a", "b")]).fit(*_table(0))


def test_an_arc_between_a_number_and_a_nominal_feature_cannot_be_required() -> None:
    frame, y = _table(0)
    model = TANClassifier(numeric="gaussian", required_edges=[("a", "d")])
    with pytest.raises(ValueError, match="joins no number with a nominal feature"):
        model.fit(frame, y)


@pytest.mark.parametrize("name", ["nb", "hnb", "mixture", "latent_class"])
def test_models_without_arcs_among_features_have_no_such_parameter(name: str) -> None:
    with pytest.raises(TypeError, match="forbidden_edges"):
        CLASSIFIERS[name](forbidden_edges=[("a", "b")])


@pytest.mark.parametrize("kind", [AODEClassifier, A2DEClassifier])
def test_averages_over_super_parents_have_no_required_edges(kind: Any) -> None:
    with pytest.raises(TypeError, match="required_edges"):
        kind(required_edges=[("a", "b")])


def test_constraints_are_saved_and_shown(tmp_path: Any) -> None:
    def check(name: str) -> None:
        frame, y = _table(6)
        tiers = [["a", "b"], ["d"]]
        model = LEARNERS[name]().set_params(forbidden_edges=[("c", "b")], tiers=tiers)
        model.fit(frame, y).save(tmp_path / "model.json")
        loaded = bayleaf.load(tmp_path / "model.json")
        assert loaded.tiers == tiers
        assert [tuple(edge) for edge in loaded.forbidden_edges] == [("c", "b")]
        assert loaded.edges_ == model.edges_
        for one in (model, loaded):
            text = str(one.summary())
            assert "forbidden edges: c -> b" in text
            assert "tiers, the earliest first: a, b; d" in text

    check_each(["tan", "kdb", "auto", "aode", "tables"], check)


def test_a_model_without_constraints_says_nothing_of_them() -> None:
    assert "tiers" not in str(TANClassifier().fit(*_table(0)).summary())


def test_batches_keep_to_the_constraints() -> None:
    frame, y = _table(7)
    frame = frame[["a", "b", "c"]]
    model = TANClassifier(required_edges=[("c", "a")], tiers=[["c"], ["a", "b"]])
    for rows in (slice(0, 30), slice(30, 60)):
        model.partial_fit(frame[rows], y[rows], classes=["no", "yes"])
    whole = TANClassifier(required_edges=[("c", "a")], tiers=[["c"], ["a", "b"]])
    assert model.edges_ == whole.fit(frame, y).edges_
    assert ("c", "a") in model.edges_


def test_counts_alone_keep_to_the_constraints() -> None:
    frame, y = _table(8)
    plain = TANClassifier().fit(frame, y)
    tiers = [["e"], ["d"], ["c"], ["b"], ["a"]]
    told = TANClassifier(tiers=tiers).fit(frame, y)
    again = TANClassifier.from_counts(plain.counts_, tiers=tiers)
    assert again.edges_ == told.edges_


def test_names_of_edges_become_indices() -> None:
    assert named_edges("required_edges", [("b", "a")], ["a", "b"]) == {(1, 0)}
    with pytest.raises(ValueError, match="forbidden_edges names 'age_', which is no"):
        named_edges("forbidden_edges", [("age_", "sex")], ["age", "sex"])
