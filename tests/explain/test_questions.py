"""Features ranked by what they are expected to reveal of the class."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from bayleaf import (
    AODEClassifier,
    AveragedKDBClassifier,
    AveragedKDBRegressor,
    NaiveBayesClassifier,
)
from bayleaf.explain import (
    credible_intervals,
    decision_changes,
    matching_rows,
    value_of_information,
)
from oracles.small_tables import classifier, small_table


@pytest.mark.parametrize("name", ["nb", "tan"])
def test_a_network_reveals_what_its_queries_find(name: str) -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier(name).fit(X, y)
    network = model.network_
    known = {"wet": "yes"}
    found = value_of_information(model, known)
    expected = network.value_of_information(network.domain.names[-1], known)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)


def test_what_is_known_has_nothing_to_reveal() -> None:
    X, y = small_table(0, n_rows=60)
    model = AODEClassifier().fit(X, y)
    row = X.iloc[[0]]
    assert value_of_information(model, row) == {}
    assert set(value_of_information(model, {})) == set(X.columns)


def test_a_single_feature_of_an_average_reveals_its_share_of_the_entropy() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    values = np.where(rng.random(400) < 0.8, y, 1 - y).astype(str)
    X = pd.DataFrame({"x": values})
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    (gain,) = value_of_information(model, {}).values()
    now = entropy(model.predict_proba(X.head(1).assign(x=None))[0])
    after = [entropy(p) for p in model.predict_proba(pd.DataFrame({"x": ["0", "1"]}))]
    share = np.mean(values == "0")
    assert gain == pytest.approx(
        now - share * after[0] - (1 - share) * after[1], abs=0.01
    )


def test_no_feature_of_an_average_reveals_less_than_nothing() -> None:
    X, y = small_table(0, n_rows=60)
    model = AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    names = list(X.columns)
    for row in range(12):
        known = X.iloc[row][names[: 1 + row % 3]].to_dict()
        assert min(value_of_information(model, known).values()) > -1e-12


def with_missing_state(X: pd.DataFrame, y: np.ndarray) -> tuple[pd.DataFrame, str]:
    """The table with a column whose missing cells are informative, and its name."""
    name = str(X.columns[0])
    lacks = np.random.default_rng(0).random(len(X)) < np.where(y == y[0], 0.7, 0.1)
    return X.assign(**{name: X[name].astype(object).where(~lacks, None)}), name


@pytest.mark.parametrize("kind", ["averaged", "nb"])
def test_what_a_case_leaves_out_is_asked_for_where_missing_cells_are_a_state(
    kind: str,
) -> None:
    X, y = small_table(0, n_rows=60)
    X, name = with_missing_state(X.drop(columns="wet"), np.asarray(y))
    averaged = AveragedKDBClassifier(n_networks=2, random_state=0)
    model = averaged if kind == "averaged" else NaiveBayesClassifier(missing="state")
    model.fit(X, y)
    assert set(value_of_information(model, {})) == set(X.columns)
    assert name not in value_of_information(model, {name: None})
    other = str(X.columns[1])
    case = {other: X[other].dropna().iloc[0]}
    assert set(value_of_information(model, case)) == set(X.columns) - {other}
    alike = matching_rows(model, case, X).known.n
    assert alike == (X[other] == case[other]).sum()
    assert (
        matching_rows(model, {**case, name: None}, X).known.n
        == ((X[other] == case[other]) & X[name].isna()).sum()
    )
    every = dict.fromkeys(X)
    (known,) = credible_intervals(model, case, n_draws=20, random_state=0)
    (marked,) = credible_intervals(model, every | case, n_draws=20, random_state=0)
    row = model.predict_proba(pd.DataFrame([every | case]))[0]
    assert [c.probability for c in marked.classes] == pytest.approx(row, abs=1e-12)
    assert known.classes[0].probability != marked.classes[0].probability


def test_a_row_may_be_a_table_of_one_row_in_any_form() -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier("tan").fit(X, y)
    row = X.iloc[[3]]
    expected = value_of_information(model, row)
    for one in (row.iloc[0], row.to_dict("list"), row.to_dict("records")):
        assert value_of_information(model, one) == expected


def test_several_rows_are_refused() -> None:
    X, y = small_table(0, n_rows=60)
    with pytest.raises(ValueError, match="row"):
        value_of_information(classifier("nb").fit(X, y), X)


def test_decisions_change_as_often_as_by_enumeration() -> None:
    X, y = small_table(0, n_rows=60)
    model = classifier("tan").fit(X[["wet"]], y)
    states = X["wet"].dropna().unique()
    answers = model.predict(pd.DataFrame({"wet": states}))
    now = model.predict(pd.DataFrame({"wet": [None]}))[0]
    wet = model.network_.query()["wet"]
    shares = dict(zip(wet.states, wet.probabilities, strict=True))
    expected = sum(shares[s] for s, a in zip(states, answers) if a != now)
    share = decision_changes(model, {}, n_draws=2000)
    assert share == pytest.approx(expected, abs=0.03)
    assert decision_changes(model, {"wet": states[0]}) == 0.0


def test_a_feature_of_one_state_does_not_change_the_cases_drawn() -> None:
    X, y = small_table(0, n_rows=60)
    with_constant = X.assign(constant="same")[["constant", *X.columns]]
    shares = [
        decision_changes(classifier("nb").fit(table, y), {"wet": "yes"}, n_draws=50)
        for table in (X, with_constant)
    ]
    assert shares[0] == shares[1]


def test_questions_about_a_number_take_away_its_variance() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"side": [*"abbbbbbb"] * 25, "noise": [*"ccdd"] * 50})
    y = np.where(X["side"] == "a", 1.0, 5.0) + rng.normal(size=200)
    model = AveragedKDBRegressor(n_networks=2, random_state=0).fit(X, y)
    shares = value_of_information(model, {})
    assert list(shares) == ["side", "noise"]
    means = model.predict_distribution(pd.DataFrame({"side": [*"ab"], "noise": None}))
    rows = np.array([1, 7]) / 8
    between = rows @ (means.mean - rows @ means.mean) ** 2
    share = between / (between + rows @ means.variance)
    assert shares["side"] == pytest.approx(share, abs=0.02)
    # The rare answer carries the expectation out of the middle half.
    assert decision_changes(model, {}) == pytest.approx(1 / 8, abs=0.05)
    assert decision_changes(model, {"side": "a", "noise": "c"}, n_draws=40) == 0.0
    with pytest.raises(ValueError, match="predicts a number"):
        decision_changes(model, {}, threshold=0.5)


def test_nothing_reveals_a_number_that_never_varies() -> None:
    X = pd.DataFrame({"side": [*"ab"] * 30, "size": np.arange(60.0)})
    model = AveragedKDBRegressor(n_networks=2, random_state=0).fit(X, np.full(60, 2.0))
    assert value_of_information(model, {}) == {"side": 0.0, "size": 0.0}
    assert decision_changes(model, {}, n_draws=20) == 0.0


def test_a_threshold_needs_two_classes() -> None:
    X, _ = small_table(0, n_rows=60)
    model = classifier("nb").fit(X, np.resize([0, 1, 2], 60))
    with pytest.raises(ValueError, match="threshold needs two classes"):
        decision_changes(model, {}, threshold=0.5)
