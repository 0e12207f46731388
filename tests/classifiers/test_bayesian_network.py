"""The network classifier: the class anywhere, its posterior exact."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bayleaf
from bayleaf import BayesianNetworkClassifier, BayesianNetworkEstimator

CARDS = (3, 2, 4)
TREES = {"c": {"any": {"low": ["c0", "c1"], "high": ["c2", "c3"]}}}


def effect_rows(seed: int, n_rows: int = 400) -> tuple[pa.Table, list[str]]:
    """Rows whose class is the common effect of two features."""
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, card, n_rows) for card in CARDS)
    b = np.where(rng.random(n_rows) < 0.3, c // 2, b)
    y = np.where(
        rng.random(n_rows) < 0.85, (a == 0) & (c >= 2), rng.random(n_rows) < 0.5
    )
    columns = {
        name: [f"{name}{code}" for code in codes]
        for name, codes in zip("abc", (a, b, c), strict=True)
    }
    return pa.table(columns), [f"y{int(label)}" for label in y]


def all_rows() -> pa.Table:
    """Every joint state of the features."""
    cells = np.array(list(itertools.product(*map(range, CARDS))))
    return pa.table(
        {
            name: [f"{name}{code}" for code in cells[:, j]]
            for j, name in enumerate("abc")
        }
    )


@pytest.mark.parametrize("local_structure", ["table", "tree"])
@pytest.mark.parametrize("abstraction", [None, "given", "local"])
def test_the_joint_is_that_of_the_density_estimator(
    local_structure: str, abstraction: str | None
) -> None:
    table, labels = effect_rows(0)
    shared: dict[str, Any] = {
        "local_structure": local_structure,
        "abstraction": abstraction,
        "hierarchies": TREES if abstraction == "given" else None,
    }
    model = BayesianNetworkClassifier(**shared, random_state=0).fit(table, labels)
    # A class has no values that training did not see.
    density = BayesianNetworkEstimator(**shared, unknown="missing", random_state=0)
    density.fit(table.append_column("class", pa.array(labels)))
    assert model.edges_ == density.edges_
    assert model.score_ == density.score_
    rows = all_rows()
    for at, label in enumerate(model.classes_):
        whole = rows.append_column("class", pa.array([str(label)] * rows.num_rows))
        np.testing.assert_allclose(
            model.predict_joint_log_proba(rows)[:, at],
            density.score_samples(whole),
            atol=1e-12,
        )


def model_with_class_as_effect(**more: Any) -> Any:
    """A fitted classifier whose class has two parents and a child."""
    table, labels = effect_rows(1)
    edges = [("a", "class"), ("c", "class"), ("class", "b")]
    return BayesianNetworkClassifier(required_edges=edges, **more, random_state=0).fit(
        table, labels
    )


def test_the_class_may_have_parents() -> None:
    model = model_with_class_as_effect()
    assert {("a", "class"), ("c", "class"), ("class", "b")} <= set(model.edges_)
    proba = model.predict_proba(all_rows())
    found = model.network_.query({"a": "a0", "b": "b1", "c": "c2"}, ["class"])["class"]
    at = 0 * 8 + 1 * 4 + 2
    np.testing.assert_allclose(proba[at], found.probabilities, atol=1e-12)


def test_the_prior_is_the_marginal_of_the_class() -> None:
    model = model_with_class_as_effect()
    joint = np.exp(model.predict_joint_log_proba(all_rows()))
    np.testing.assert_allclose(model.model_.class_prior, joint.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("n_features", [0, 1, 3])
def test_contributions_add_up_to_the_log_odds(n_features: int) -> None:
    model = model_with_class_as_effect()
    row = {
        name: [state if j < n_features else None]
        for j, (name, state) in enumerate({"a": "a0", "b": "b1", "c": "c3"}.items())
    }
    table = pa.table(
        {name: pa.array(cells, pa.string()) for name, cells in row.items()}
    )
    (explanation,) = model.explain(table)
    log_proba = np.sort(model.predict_log_proba(table)[0])
    total = explanation.prior + sum(term.contribution for term in explanation.terms)
    assert total == pytest.approx(log_proba[1] - log_proba[0], abs=1e-10)


def test_another_prior_scales_the_posterior_and_is_kept_in_files(
    tmp_path: Path,
) -> None:
    model = model_with_class_as_effect()
    prior = np.array([0.2, 0.8])
    other = model.with_class_prior(prior)
    expected = model.predict_proba(all_rows()) * prior / model.model_.class_prior
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(other.predict_proba(all_rows()), expected, atol=1e-12)
    other.save(tmp_path / "model.json")
    again: Any = bayleaf.load(tmp_path / "model.json")
    assert (again.predict_proba(all_rows()) == other.predict_proba(all_rows())).all()


def test_given_hierarchies_are_kept_in_files(tmp_path: Path) -> None:
    table, labels = effect_rows(2)
    model = BayesianNetworkClassifier(
        local_structure="tree", abstraction="given", hierarchies=TREES, random_state=0
    ).fit(table, labels)
    model.save(tmp_path / "model.json")
    again: Any = bayleaf.load(tmp_path / "model.json")
    assert again.hierarchies == TREES
    assert again.network_.domain[2].hierarchy == model.network_.domain[2].hierarchy


def test_calibration_suits_rows_held_out() -> None:
    table, labels = effect_rows(3, 60)
    model = BayesianNetworkClassifier(
        penalty_weight=0.0,
        smoothing=bayleaf.Lidstone(0.01),
        calibration="leave_one_out",
        random_state=0,
    ).fit(table, labels)
    # Tables that follow every accident are far too sure.
    assert model.temperature_ > 1.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": "auto"}, "the class may have parents"),
        ({"local_structure": "forest"}, "local_structure must be one of"),
    ],
)
def test_what_it_cannot_do_is_refused(parameters: dict[str, Any], message: str) -> None:
    table, labels = effect_rows(0, 20)
    with pytest.raises(ValueError, match=message):
        BayesianNetworkClassifier(**parameters, random_state=0).fit(table, labels)
