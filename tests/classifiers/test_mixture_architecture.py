"""Mixtures that grow while held-out rows are predicted better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import bayleaf
from bayleaf.classifiers.hierarchical_mixture import HierarchicalMixtureNBClassifier


def _parity(n_rows: int = 80, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(n_rows, 3))
    noisy = rng.random(n_rows) < 0.05
    return X, np.where(noisy, X[:, 2], X[:, 0] ^ X[:, 1])


def _grown(**parameters: Any) -> HierarchicalMixtureNBClassifier:
    return HierarchicalMixtureNBClassifier(
        architecture="auto", **parameters, random_state=0
    )


@pytest.fixture(scope="module")
def grown() -> HierarchicalMixtureNBClassifier:
    return _grown(learning="batch").fit(*_parity())


@pytest.mark.parametrize("learning", ["online", "batch"])
def test_parity_grows_gates(
    learning: str, grown: HierarchicalMixtureNBClassifier
) -> None:
    X, y = _parity()
    model = grown if learning == "batch" else _grown(learning=learning).fit(X, y)
    losses = model.growth_.log_losses
    assert model.architecture_ == model.growth_.architecture
    assert losses[model.architecture_] == min(losses.values())
    assert losses[model.architecture_] < losses[()] - 0.2
    assert model.score(X, y) > 0.9
    # One expert is no help, and two kinds of row in eight are held out at a time.
    assert 0.6 < losses[()] < 2.0


def test_what_grew_is_what_is_learned_by_name(
    grown: HierarchicalMixtureNBClassifier,
) -> None:
    X, y = _parity()
    named = HierarchicalMixtureNBClassifier(
        learning="batch", architecture=grown.architecture_, random_state=0
    ).fit(X, y)
    assert named.architecture_ == grown.architecture_
    assert not hasattr(named, "growth_")
    assert named.model_.n_parameters == grown.model_.n_parameters


def test_weights_are_repetitions() -> None:
    X, y = _parity()
    weights = np.random.default_rng(1).integers(3, size=len(y))
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights))
    one = _grown().fit(X, y, sample_weight=weights)
    other = _grown(n_jobs=2).fit(X[rows], y[rows])
    assert one.growth_ == other.growth_
    assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


@pytest.mark.parametrize("learning", ["online", "batch"])
def test_a_single_expert_is_naive_bayes(learning: str) -> None:
    X, _ = _parity()
    model = HierarchicalMixtureNBClassifier(
        learning=learning, architecture=(), random_state=0
    )
    model.fit(X, X[:, 0])
    assert model.architecture_ == ()
    assert model.gate_weights(X).tolist() == [[[1.0]] * 80]
    assert model.score(X, X[:, 0]) == 1.0


@pytest.mark.slow
@pytest.mark.long
def test_experts_of_other_kinds_grow_gates_too() -> None:
    X, y = _parity(60)
    stump = DecisionTreeClassifier(max_depth=1)
    model = _grown(learning="batch", expert=stump).fit(X, y)
    assert model.score(X, y) > 0.85
    assert len(model.architecture_) > 0


def test_a_grown_mixture_is_saved(
    grown: HierarchicalMixtureNBClassifier, tmp_path: Path
) -> None:
    X, _ = _parity()
    model = grown
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert read.architecture_ == model.architecture_
    assert read.get_params()["architecture"] == "auto"
    assert read.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_other_words_are_refused() -> None:
    with pytest.raises(TypeError, match=r"or 'auto', got 'automatic'"):
        HierarchicalMixtureNBClassifier(architecture="automatic", random_state=0).fit(
            *_parity()
        )
