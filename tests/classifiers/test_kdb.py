"""KDB against the paper's algorithm, its limits k = 0 and k = n - 1, and theta."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import KDBClassifier, NaiveBayesClassifier
from contract.tables import mixed_frame, nominal_columns, nominal_frame, rows_of
from offenders import check_each
from oracles.sahami import conditional_mutual_information, kdb_parents


def _wide_table(seed: int, *, missing: float = 0.0) -> tuple[pd.DataFrame, list[str]]:
    """Seven columns of text, some of them copies with noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=150)
    codes = [rng.integers(3, size=150)]
    for _ in range(6):
        source = codes[rng.integers(len(codes))]
        noisy = np.where(rng.random(150) < 0.5, rng.integers(4, size=150), source)
        codes.append((noisy + y * rng.integers(2)) % 4)
    table = np.array(list("pqrs"), dtype=object)[np.stack(codes, axis=1)]
    table[rng.random(table.shape) < missing] = None
    return pd.DataFrame(table, columns=list("abcdefg")), [str(label) for label in y]


def _feature_parents(model: Any) -> list[tuple[int, ...]]:
    return [
        tuple(model.model_.feature_parents(feature))
        for feature in range(model.n_features_in_)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_parents_are_those_of_the_paper_s_six_steps(seed: int) -> None:
    def check(case: Any) -> None:
        k, missing = case
        frame, y = _wide_table(seed, missing=missing)
        # Where pandas writes NaN for a missing text, the oracle wants None.
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        expected = kdb_parents(rows, y, k)
        assert _feature_parents(KDBClassifier(k=k).fit(frame, y)) == expected

    check_each(itertools.product([0, 1, 2, 3, 6, 9], [0.0, 0.15]), check)


def _arc_strengths(rows: Any, y: Any, k: int) -> list[float]:
    """I(X;X'|C) of the arcs that KDB chooses, increasing."""
    return sorted(
        round(conditional_mutual_information(rows, y, child, parent), 12)
        for child, parents in enumerate(kdb_parents(rows, y, k))
        for parent in parents
    )


def test_theta_drops_arcs_without_replacement() -> None:
    def check(case: Any) -> None:
        place, seed = case
        frame, y = _wide_table(seed)
        rows = frame.to_numpy().tolist()
        theta = _arc_strengths(rows, y, 2)[place] + 1e-9
        expected = kdb_parents(rows, y, 2, theta)
        assert (
            _feature_parents(KDBClassifier(k=2, theta=theta).fit(frame, y)) == expected
        )

    check_each(itertools.product([0, 3, 7], range(3)), check)


def test_an_arc_exactly_at_theta_is_dropped() -> None:
    # Given the class, the features are equal coins: I(X;Y|C) = ln 2.
    rows = [[x, x] for x in ("p", "q")] * 8
    y = ["a", "a", "b", "b"] * 4
    at = round(conditional_mutual_information(rows, y, 0, 1), 12)
    assert at == pytest.approx(math.log(2), abs=1e-12)
    assert KDBClassifier(theta=at).fit(rows, y).summary().n_arcs == 0
    assert KDBClassifier(theta=at - 1e-9).fit(rows, y).summary().n_arcs == 1


@pytest.mark.parametrize("seed", range(3))
def test_theta_in_bits_is_theta_in_nats_by_ln_2(seed: int) -> None:
    frame, y = _wide_table(seed)
    theta = _arc_strengths(frame.to_numpy().tolist(), y, 2)[6]
    bits = KDBClassifier(k=2, theta=theta, theta_unit="bits").fit(frame, y)
    nats = KDBClassifier(k=2, theta=theta * math.log(2)).fit(frame, y)
    assert bits.edges_ == nats.edges_
    assert bits.edges_ != KDBClassifier(k=2, theta=theta).fit(frame, y).edges_


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_kdb_with_k_zero_equals_naive_bayes(missing: str) -> None:
    frame, y = mixed_frame()
    kdb = KDBClassifier(k=0, missing=missing).fit(frame, y)
    naive = NaiveBayesClassifier(missing=missing).fit(frame, y)
    np.testing.assert_array_equal(
        kdb.predict_joint_log_proba(frame), naive.predict_joint_log_proba(frame)
    )
    assert kdb.log_likelihood_ == naive.log_likelihood_
    assert kdb.edges_ == naive.edges_


@pytest.mark.parametrize("k", [3, 4, 50])
def test_large_k_is_the_full_network_over_the_order(k: int) -> None:
    frame, y = nominal_frame()
    model = KDBClassifier(k=k).fit(frame, y)
    parents = _feature_parents(model)
    order = sorted(range(4), key=lambda feature: len(parents[feature]))
    for place, feature in enumerate(order):
        assert set(parents[feature]) == set(order[:place])


def test_the_full_network_s_joint_is_the_product_along_the_order() -> None:
    columns, y = nominal_columns()
    rows = rows_of(columns)
    model = KDBClassifier(k=3).fit(pd.DataFrame(columns), y)
    parents = _feature_parents(model)
    row, label = rows[0], y[0]
    expected = math.log((y.count(label) + 1) / (len(y) + 3))
    for feature in range(4):
        same = [
            other
            for other, other_label in zip(rows, y, strict=True)
            if other_label == label
            and all(other[p] == row[p] for p in parents[feature])
        ]
        seen = sum(other[feature] == row[feature] for other in same)
        n_states = len(set(columns["abcd"[feature]]))
        expected += math.log((seen + 1) / (len(same) + n_states))
    found = model.predict_joint_log_proba(pd.DataFrame(columns).iloc[[0]])[0]
    assert found[sorted(set(y)).index(label)] == pytest.approx(expected, abs=1e-12)


def test_wrong_parameters_are_refused() -> None:
    def check(case: tuple[Any, Any, str]) -> None:
        parameters, error, sentence = case
        frame, y = nominal_frame(n_rows=30)
        with pytest.raises(error, match=sentence):
            KDBClassifier(**parameters).fit(frame, y)

    check_each(
        [
            ({"k": -1}, ValueError, "k must be an integer >= 0, got -1"),
            ({"k": 1.5}, TypeError, "k must be an integer >= 0, got 1.5"),
            ({"k": True}, TypeError, "k must be an integer >= 0, got True"),
            (
                {"theta": -0.1},
                ValueError,
                "theta must be None or a number >= 0, got -0.1",
            ),
            (
                {"theta": "0.1"},
                TypeError,
                "theta must be None or a number >= 0, got '0.1'",
            ),
            (
                {"theta": math.nan},
                ValueError,
                "theta must be None or a number >= 0, got nan",
            ),
            ({"theta_unit": "bans"}, ValueError, "one of 'nats', 'bits', got 'bans'"),
        ],
        check,
    )


def test_a_table_too_large_is_refused_with_its_feature() -> None:
    frame, y = nominal_frame()
    with pytest.raises(
        ValueError, match=r"feature '\w' .*max_table_cells=50; use fewer"
    ):
        KDBClassifier(k=3, max_table_cells=50).fit(frame, y)


def test_summing_out_too_much_names_the_row() -> None:
    # Observed children tie their many missing parents together.
    rng = np.random.default_rng(0)
    X = rng.integers(5, size=(300, 24))
    y = rng.integers(2, size=300)
    model = KDBClassifier(k=2, max_table_cells=1000).fit(X, y)
    holes = X[:3].astype(float)
    holes[1, ::2] = np.nan
    with pytest.raises(ValueError, match=r"row 1: summing out .*max_table_cells=1000"):
        model.predict(holes)
