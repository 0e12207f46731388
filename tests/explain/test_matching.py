"""Rows like a case, counted in a table."""

from __future__ import annotations

import pandas as pd
import pytest

from bayleaf import AveragedKDBRegressor, NaiveBayesClassifier
from bayleaf.explain import matching_rows

TABLE = pd.DataFrame(
    {"cough": [*"nnnnnyyyyy"] * 2, "size": range(20), "class": ["well", "ill"] * 10}
)
MODEL = NaiveBayesClassifier(discretizer="equal_width").fit(
    TABLE[["cough", "size"]],
    TABLE["cough"].map({"n": "well", "y": "ill"}).rename("class"),
)


def test_rows_with_the_same_states_match_and_their_classes_are_counted() -> None:
    known = matching_rows(MODEL, {"cough": "y"}, TABLE).known
    assert known.n == 10
    assert (
        known.recorded == TABLE.query("cough == 'y'")["class"].value_counts().to_dict()
    )
    assert matching_rows(MODEL, {"cough": "y"}, TABLE[["cough", "size"]]).known == type(
        known
    )(("cough",), 10, {})


def test_where_few_match_the_strongest_findings_are_counted() -> None:
    result = matching_rows(
        MODEL, {"size": 7, "cough": "y"}, TABLE, tolerances={"size": 0}
    )
    assert result.known.n < 8
    assert result.strongest.features == ("cough",)
    assert result.strongest.n == 10
    whole = matching_rows(MODEL, {"size": 7}, TABLE, tolerances={"size": 99.0})
    assert whole.known.n == 20


def test_matching_rows_of_a_number_have_the_mean_of_what_was_recorded() -> None:
    X = TABLE[["cough", "size"]]
    y = pd.Series(X["size"] * 2.0, name="class").where(X["size"] > 7)
    model = AveragedKDBRegressor(n_networks=2, random_state=0).fit(X, X["size"] * 2.0)
    table = X.assign(target=y)
    known = matching_rows(model, {"cough": "y"}, table).known
    assert (known.n, known.mean, known.recorded) == (10, None, {})
    named = AveragedKDBRegressor(n_networks=2, random_state=0)
    named.fit(X.assign(price=X["size"] * 2.0), target="price")
    known = matching_rows(named, {"cough": "y"}, X.assign(price=y)).known
    assert known.n == 10
    assert known.mean == y[X["cough"] == "y"].mean()
    few = matching_rows(named, {"cough": "y"}, X.assign(price=y), min_count=11).known
    assert (few.n, few.mean) == (None, None)


def test_counts_below_the_least_are_not_reported() -> None:
    few = matching_rows(
        MODEL, {"size": 7, "cough": "y"}, TABLE, tolerances={"size": 0}, min_count=6
    )
    assert few.known.n is None
    assert few.known.recorded == {}
    # The other class would follow from the whole.
    assert few.strongest.recorded == {}
    enough = matching_rows(MODEL, {"cough": "y"}, TABLE, min_count=4).known
    assert enough.recorded == {"ill": 6, "well": 4}
    assert "fewer than 6 of 20 rows match cough, size" in str(few)
    with pytest.raises(ValueError, match="min_count must be at least 1, got 0"):
        matching_rows(MODEL, {"size": 7}, TABLE, min_count=0)
    with pytest.raises(ValueError, match="no known feature"):
        matching_rows(MODEL, {}, TABLE)
