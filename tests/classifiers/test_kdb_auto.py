"""KDB that chooses k, its features, its threshold and its rule by left-out rows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import Backoff, KDBClassifier, Lidstone, NaiveBayesClassifier
from bayleaf.search.feature_orders import feature_order
from contract.tables import mixed_columns, nominal_columns
from offenders import check_each
from oracles.sahami import conditional_mutual_information


def mixed() -> tuple[pd.DataFrame, list[str]]:
    columns, y = mixed_columns()
    return pd.DataFrame(columns), y


def test_every_candidate_has_the_score_of_that_classifier_alone() -> None:
    frame, y = mixed()
    chosen = KDBClassifier(k="auto", max_k=2, n_features="auto").fit(frame, y)
    grid = list(itertools.product(range(3), range(6)))
    assert [(c.k, c.n_features) for c in chosen.selection_] == grid
    for candidate in chosen.selection_:
        alone = KDBClassifier(k=candidate.k, n_features=candidate.n_features)
        score = alone.fit(frame, y).loo_score_
        assert candidate.log_loss == pytest.approx(score.log_loss, rel=1e-11)
        assert candidate.error == pytest.approx(score.error, rel=1e-11)
        assert candidate.rmse == pytest.approx(score.rmse, rel=1e-11)


def test_the_chosen_model_is_that_of_the_best_candidate() -> None:
    frame, y = mixed()
    chosen = KDBClassifier(k="auto", n_features="auto", smoothing="auto").fit(frame, y)
    best = chosen.selection_.best
    assert (chosen.k_, chosen.n_features_) == (best.k, best.n_features)
    assert chosen.smoothing_ == best.smoothing
    fixed = KDBClassifier(
        k=best.k, n_features=best.n_features, smoothing=best.smoothing
    ).fit(frame, y)
    np.testing.assert_array_equal(
        chosen.predict_joint_log_proba(frame), fixed.predict_joint_log_proba(frame)
    )
    assert best.log_loss == min(c.log_loss for c in chosen.selection_)


def test_without_auto_the_parameters_are_told_as_they_were_given() -> None:
    model = KDBClassifier(k=2, theta=0.1, theta_unit="bits").fit(*mixed())
    assert (model.k_, model.n_features_) == (2, 5)
    assert model.theta_ == pytest.approx(0.1 * math.log(2), rel=1e-15)
    assert not hasattr(model, "selection_")


def test_features_outside_the_prefix_say_nothing_of_the_class() -> None:
    frame, y = mixed()
    model = KDBClassifier(k=2, n_features=2).fit(frame, y)
    order = feature_order(model._count(model._training_codes))
    outside = frame.columns[order[2:]]
    assert {parent for parent, child in model.edges_ if child in outside} == set()
    changed = frame.copy()
    changed[outside] = frame[outside].iloc[::-1].to_numpy()
    np.testing.assert_allclose(
        model.predict_proba(changed), model.predict_proba(frame), rtol=1e-12
    )
    for explanation in model.explain(frame[:5]):
        silent = [t.contribution for t in explanation.terms if t.feature in outside]
        assert silent == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_prefix_equals_a_classifier_of_these_features_alone(k: int) -> None:
    frame, y = mixed()
    model = KDBClassifier(k=k, n_features=3).fit(frame, y)
    order = feature_order(model._count(model._training_codes))
    inside = frame[frame.columns[np.sort(order[:3])]]
    alone = KDBClassifier(k=k).fit(inside, y)
    np.testing.assert_allclose(
        model.predict_proba(frame), alone.predict_proba(inside), rtol=1e-10
    )


def test_no_features_leave_the_prior() -> None:
    frame, y = mixed()
    model = KDBClassifier(n_features=0).fit(frame, y)
    prior = model.model_.class_prior
    np.testing.assert_allclose(model.predict_proba(frame) - prior, 0.0, atol=1e-12)


def test_more_features_than_there_are_mean_all() -> None:
    frame, y = mixed()
    model = KDBClassifier(n_features=99).fit(frame, y)
    assert model.n_features_ == 5
    np.testing.assert_array_equal(
        model.predict_proba(frame), KDBClassifier().fit(frame, y).predict_proba(frame)
    )


def test_auto_theta_keeps_the_arcs_whose_g2_exceeds_their_cost() -> None:
    columns, y = nominal_columns(60)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    free = KDBClassifier(k=2).fit(pd.DataFrame(columns), y)
    pruned = KDBClassifier(k=2, theta="auto").fit(pd.DataFrame(columns), y)
    n_states = [len(set(cells)) for cells in columns.values()]
    expected = []
    for parent, child in free.edges_:
        if parent == "class":
            continue
        i, j = "abcd".index(str(parent)), "abcd".index(str(child))
        g2 = 2 * len(y) * conditional_mutual_information(rows, y, i, j)
        cost = math.log(len(y)) * 3 * (n_states[i] - 1) * (n_states[j] - 1)
        if g2 > cost:
            expected.append((parent, child))
    kept = [edge for edge in pruned.edges_ if edge[0] != "class"]
    assert kept == expected
    assert 0 < len(kept) < len([e for e in free.edges_ if e[0] != "class"])
    assert pruned.theta_ == "auto"


def test_noise_chooses_naive_bayes() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(3, size=(300, 5)), columns=list("abcde"))
    y = rng.integers(2, size=300)
    model = KDBClassifier(k="auto").fit(frame, y)
    assert model.k_ == 0
    naive = NaiveBayesClassifier().fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_proba(frame), naive.predict_proba(frame)
    )


def test_rules_are_compared_at_a_fixed_k_too() -> None:
    model = KDBClassifier(k=1, smoothing="auto").fit(*mixed())
    assert {candidate.k for candidate in model.selection_} == {1}
    assert model.smoothing_ == model.selection_.best.smoothing


def test_a_choice_of_k_keeps_the_rule_that_was_given() -> None:
    model = KDBClassifier(k="auto", smoothing=Backoff(2.0)).fit(*mixed())
    assert {candidate.smoothing for candidate in model.selection_} == {Backoff(2.0)}


def test_a_single_feature_leaves_k_no_choice() -> None:
    frame, y = mixed()
    model = KDBClassifier(k="auto").fit(frame[["weather"]], y)
    assert (model.k_, len(model.selection_)) == (0, 1)


def test_wrong_parameters_are_refused() -> None:
    def check(case: tuple[Any, Any, str]) -> None:
        parameters, error, sentence = case
        with pytest.raises(error, match=sentence):
            KDBClassifier(**parameters).fit(*mixed())

    check_each(
        [
            ({"k": "best"}, TypeError, "k must be an integer >= 0, got 'best'; 'auto'"),
            ({"max_k": -1}, ValueError, "max_k must be an integer >= 0, got -1"),
            (
                {"n_features": -1},
                ValueError,
                "n_features must be an integer >= 0, got -1",
            ),
            ({"n_features": 1.5}, TypeError, "n_features must be an integer >= 0"),
            (
                {"theta": "mdl"},
                TypeError,
                "theta must be None or a number >= 0.*'auto'",
            ),
        ],
        check,
    )


def test_choosing_k_needs_a_rule_that_tells_cells() -> None:
    class Whole:
        def estimate(self, counts: Any) -> Any:
            return Lidstone(1.0).estimate(counts)

    with pytest.raises(TypeError, match="needs a smoothing rule with a method"):
        KDBClassifier(k="auto", smoothing=Whole()).fit(*mixed())
