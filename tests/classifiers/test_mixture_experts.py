"""Mixtures with experts of any kind: what these get, and that learning climbs."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bayleaf import KDBClassifier, NaiveBayesClassifier
from bayleaf.classifiers.hierarchical_mixture import HierarchicalMixtureNBClassifier
from bayleaf.data.codes import Codes
from bayleaf.latent.mixture_experts import FittedExperts

N_ROWS = 70
EXPERTS: dict[str, Any] = {
    "naive Bayes": NaiveBayesClassifier(),
    "KDB": KDBClassifier(k=1),
    "tree": DecisionTreeClassifier(max_depth=2),
    "regression": LogisticRegression(),
}


def _table(
    seed: int = 0, n_rows: int = N_ROWS, holes: float = 0.1
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Three columns of text; the class is the parity of two of them, mostly."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(2, size=(3, n_rows))
    y = np.where(rng.random(n_rows) < 0.1, c, a ^ b)
    X = np.array(["p", "q"], dtype=object)[np.stack([a, b, c], axis=1)]
    X[rng.random(X.shape) < holes] = None
    return X, np.array(["no", "yes"])[y]


def _mixture(expert: Any, **parameters: Any) -> HierarchicalMixtureNBClassifier:
    learning = {"learning": "batch", "architecture": (2,), "random_state": 0}
    return HierarchicalMixtureNBClassifier(expert=expert, **{**learning, **parameters})


def _bits(model: Any, X: Any) -> bytes:
    return bytes(model.predict_proba(X).tobytes())


@pytest.mark.parametrize("expert", EXPERTS.values(), ids=list(EXPERTS))
def test_learning_never_leads_down(expert: Any) -> None:
    X, y = _table()
    model = _mixture(expert, n_mixtures=2).fit(X, y)
    for curve in model.learning_curves_:
        assert (np.diff(curve) >= 0).all()


@pytest.mark.parametrize("expert", EXPERTS.values(), ids=list(EXPERTS))
def test_gates_tell_experts_where_they_are_good(expert: Any) -> None:
    X, y = _table(holes=0.0)
    model = _mixture(expert, architecture=(4,)).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.gate_weights(X).shape == (1, N_ROWS, 4)


@pytest.mark.parametrize("expert", EXPERTS.values(), ids=list(EXPERTS))
def test_the_log_likelihood_is_that_of_the_predictions(expert: Any) -> None:
    X, y = _table()
    weights = np.random.default_rng(0).integers(3, size=len(y))
    model = _mixture(expert).fit(X, y, sample_weight=weights)
    own = model.predict_log_proba(X)[np.arange(len(y)), (y == "yes").astype(int)]
    assert model.log_likelihood_ == pytest.approx(weights @ own, rel=1e-9)


@pytest.mark.parametrize("expert", EXPERTS.values(), ids=list(EXPERTS))
def test_weights_are_repetitions_and_threads_change_no_bit(expert: Any) -> None:
    X, y = _table(1, 60)
    weights = np.random.default_rng(0).integers(3, size=len(y))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights))
    one = _mixture(expert, n_mixtures=2).fit(X, y, sample_weight=weights)
    other = _mixture(expert, n_mixtures=2, n_jobs=2).fit(X[rows], y[rows])
    assert _bits(one, X) == _bits(other, X)


@pytest.mark.parametrize("expert", EXPERTS.values(), ids=list(EXPERTS))
def test_contributions_add_up_to_the_log_odds(expert: Any) -> None:
    X, y = _table(2)
    model = _mixture(expert).fit(X, y)
    proba = model.predict_proba(X[:20])
    for row, found in enumerate(model.explain(X[:20])):
        total = found.prior + sum(term.contribution for term in found.terms)
        assert total == pytest.approx(np.log(proba[row].max() / proba[row].min()))
        for term, cell in zip(found.terms, X[row], strict=True):
            assert cell is not None or term.contribution == 0.0


def test_a_mixture_is_printed_and_pickled() -> None:
    X, y = _table()
    model = _mixture(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert "expert 2: no 0." in str(model)
    assert "gate root" in str(model.summary())
    assert _bits(pickle.loads(pickle.dumps(model)), X) == _bits(model, X)
    assert model.edges_ == []


def test_without_gates_there_is_one_expert_for_all_rows() -> None:
    X, y = _table(3, holes=0.0)
    model = _mixture(KDBClassifier(k=1), architecture=()).fit(X, y)
    alone = KDBClassifier(k=1).fit(X, y)
    # One row of equal probabilities is mixed in.
    expected = (N_ROWS * alone.predict_proba(X) + 0.5) / (N_ROWS + 1)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-4)


class _Recorder(ClassifierMixin, BaseEstimator):
    """An expert that keeps what it was given."""

    def __init__(self, holes: bool = False) -> None:
        self.holes = holes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.holes
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any) -> _Recorder:
        self.table_, self.given_, self.weights_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.mark.parametrize("holes", [False, True])
def test_experts_get_codes_classes_and_shares_of_the_weight(holes: bool) -> None:
    X = np.array([["b"], ["a"], ["b"], [None]], dtype=object)
    y = np.array(["yes", "no", "yes", "no"])
    model = _mixture(_Recorder(holes)).fit(X, y, sample_weight=[1.0, 2.0, 3.0, 4.0])
    members = model.model_.starts[0][-1].experts
    assert len(members) == 2
    hole = np.nan if holes else 2.0
    expected = {(1.0, 1): 4.0, (0.0, 0): 2.0, (hole, 0): 4.0}
    totals = sum(member.weights_ for member in members)
    for member in members:
        table = [
            (float(cell), int(c)) for [cell], c in zip(member.table_, member.given_)
        ]
        np.testing.assert_equal(
            sorted(zip(map(str, table), totals.round(4))),
            sorted((str(key), weight) for key, weight in expected.items()),
        )


def test_an_expert_that_never_saw_a_class_gives_it_little() -> None:
    member = DummyClassifier(strategy="prior").fit([[0.0], [1.0]], [0, 0])
    experts = FittedExperts([member], np.array([[3.0, 0.0]]), 1)
    codes = Codes.from_columns([np.array([0, 1])], (2,))
    found = np.exp(experts.log_posteriors(codes))
    np.testing.assert_allclose(found, [[[3.5 / 4, 0.5 / 4]]] * 2)


def test_seeds_of_experts_come_from_the_mixture() -> None:
    X, y = _table(4)
    expert = DecisionTreeClassifier(max_features=1)
    one, same, other = (
        _mixture(expert, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    assert _bits(one, X) == _bits(same, X)
    assert _bits(one, X) != _bits(other, X)
    assert expert.random_state is None


@pytest.mark.parametrize(
    ("expert", "sentence"),
    [
        (KNeighborsClassifier(), "whose fit takes no sample_weight"),
        (LinearSVC(), "which has no predict_proba"),
        (NaiveBayesClassifier, r"must be a classifier such as KDBClassifier\(\), got"),
        ("tan", r"must be a classifier such as KDBClassifier\(\), got 'tan'"),
    ],
)
def test_what_cannot_be_an_expert_is_refused(expert: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        _mixture(expert).fit(*_table())


def test_experts_do_not_learn_online() -> None:
    with pytest.raises(ValueError, match="take learning='batch'"):
        _mixture(NaiveBayesClassifier(), learning="online").fit(*_table())


def test_experts_are_not_saved(tmp_path: Path) -> None:
    model = _mixture(NaiveBayesClassifier()).fit(*_table())
    with pytest.raises(TypeError, match=r"no place for experts .*; pickle"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
