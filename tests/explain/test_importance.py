"""Importance: information, and loss without a feature, against models fitted again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import AveragedKDBClassifier, NaiveBayesClassifier
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.counts.information import left_out_information
from bayleaf.explain import importance
from oracles.small_tables import classifier, small_table


def nominal_table(
    seed: int, missing: float = 0.0
) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    """A small table without numbers."""
    X, y = small_table(seed, n_rows=60, missing=missing)
    X["height"] = np.where(X["height"] > 0.5, "tall", "short")
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_naive_bayes_without_a_feature_is_one_fitted_without_it(missing: float) -> None:
    X, y = nominal_table(0, missing)
    found = importance(classifier("nb").fit(X, y))
    whole = classifier("nb").fit(X, y).loo_score_.log_loss
    assert found.method == "leave_one_out"
    assert found.log_loss == pytest.approx(whole, abs=1e-12)
    for one in found.features:
        without = classifier("nb").fit(X.drop(columns=one.feature), y)
        rise = without.loo_score_.log_loss - whole
        assert one.loss_increase == pytest.approx(rise, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_feature_left_out_of_kdb_leaves_the_other_arcs(missing: float) -> None:
    X, y = nominal_table(1, missing)
    model = classifier("kdb", k=2).fit(X, y)
    found = importance(model)
    leaf = next(
        feature
        for feature in range(4)
        if all(feature not in model.model_.feature_parents(i) for i in range(4))
    )
    # Without a feature that no other asks for, the others' families are the same.
    left_out = model._leave_one_out(
        model._training_codes, model.model_.domain, [model.smoothing_]
    )
    families = [f for f in model.network_.dag.families[:-1] if leaf not in f]
    expected = left_out.scores(left_out.log_scores(families)[0]).log_loss
    measured = found.log_loss + found.features[leaf].loss_increase
    assert measured == pytest.approx(expected, abs=1e-12)


def test_information_is_the_gain_of_a_model_of_the_feature_alone() -> None:
    X, y = nominal_table(2)
    found = importance(classifier("nb").fit(X, y))
    counts = np.unique(y, return_counts=True)[1]
    # The prior of left-out rows, one pseudo-row a class.
    left = counts / (len(y) - 1 + len(counts))
    prior = -(counts @ np.log(left)) / len(y)
    for one in found.features:
        alone = classifier("nb").fit(X[[one.feature]], y).loo_score_.log_loss
        bits = (prior - alone) / np.log(2)
        assert one.information == pytest.approx(max(0.0, bits), abs=1e-9)


@pytest.mark.parametrize("n_states", [2, 10, 100])
def test_noise_tells_nothing_whatever_its_number_of_states(n_states: int) -> None:
    rng = np.random.default_rng(n_states)
    y = rng.integers(3, size=300)
    X = pd.DataFrame(
        {
            "noise": [f"s{k}" for k in rng.integers(n_states, size=300)],
            "signal": np.where(rng.random(300) < 0.3, "other", [f"c{k}" for k in y]),
        }
    )
    noise, signal = importance(NaiveBayesClassifier().fit(X, y)).features
    assert noise.information <= 2 * noise.information_error
    assert signal.information > 10 * signal.information_error
    assert abs(noise.loss_increase) <= 3 * noise.loss_error
    assert signal.loss_increase > 10 * signal.loss_error > 0
    table = pd.crosstab(X["noise"], y).to_numpy()
    nats, error = left_out_information(table.astype(float))
    assert nats <= 2 * error
    held_out, labels = X.sample(150, random_state=0), y[:150]
    fitted = AveragedKDBClassifier(n_networks=4, random_state=0).fit(X, y)
    noise, _ = importance(fitted, held_out, labels).features
    assert noise.information <= 2 * noise.information_error


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_unknown_features_cost_what_missing_cells_cost(kind: str) -> None:
    X, y = small_table(3)
    model = classifier(kind).fit(X, y)
    other, labels = small_table(4, n_rows=30)
    found = importance(model, other, labels)
    place = {label: i for i, label in enumerate(model.classes_)}
    own = [place[label] for label in labels]
    for one in found.features:
        hidden = other.copy()
        hidden[one.feature] = pd.Series([None] * len(hidden), dtype=object)
        if one.feature == "height":
            hidden[one.feature] = np.nan
        logs = model.predict_log_proba(hidden)[np.arange(len(own)), own]
        rise = -logs.mean() - found.log_loss
        assert one.loss_increase == pytest.approx(rise, abs=1e-10)


def test_weights_are_repetitions() -> None:
    X, y = small_table(3)
    model = classifier("nb").fit(X, y)
    weights = np.arange(len(y)) % 3
    repeated = X.loc[X.index.repeat(weights)]
    weighted = importance(model, X, y, sample_weight=weights)
    plain = importance(model, repeated, np.repeat(y, weights))
    for one, other in zip(weighted.features, plain.features, strict=True):
        assert one.loss_increase == pytest.approx(other.loss_increase, abs=1e-12)
        assert one.information == pytest.approx(other.information, abs=1e-12)
        assert one.missing == other.missing


def test_missing_cells_are_counted() -> None:
    X, y = small_table(3, missing=0.25)
    found = importance(classifier("nb").fit(X, y))
    counts = {one.feature: one.missing for one in found.features}
    assert counts == X.isna().sum().to_dict()


def test_models_without_leave_one_out_ask_for_rows() -> None:
    X, y = small_table(3)
    for kind in ("hnb", "aode", "a2de", "auto", "mixture", "latent_class", "network"):
        with pytest.raises(AttributeError, match="give X and y"):
            importance(classifier(kind).fit(X, y))


def test_a_lone_table_and_strange_labels_are_refused() -> None:
    X, y = small_table(3)
    model = classifier("nb").fit(X, y)
    with pytest.raises(ValueError, match="X and y together"):
        importance(model, X)
    with pytest.raises(ValueError, match="y holds 'other'"):
        importance(model, X, ["other"] * len(X))


def test_no_line_is_wider_than_a_terminal() -> None:
    X, y = small_table(3)
    X = X.rename(columns={"soil": "a very long name " * 10})
    text = str(importance(classifier("nb").fit(X, y)))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", ["tan", "auto"])
def test_training_rows_are_recognised_and_remarked(name: str, tmp_path: Path) -> None:
    X, y = nominal_table(3, 0.1)
    model = classifier(name).fit(X, y)
    remark = "give held-out"
    path = tmp_path / "model.json"
    model.save(path)
    for fitted in (model, bayleaf.load(path)):
        found = importance(fitted, X, y)
        assert found.method == "training"
        assert remark in str(found)
        others = importance(fitted, X[:50], y[:50])
        assert others.method == "held_out"
        assert remark not in str(others)
