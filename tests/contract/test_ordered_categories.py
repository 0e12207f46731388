"""Ordered categories wherever a variable is told of: rules, shapes, files, evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    AtMost,
    BayesianNetworkEstimator,
    NaiveBayesClassifier,
    load,
    read_network,
    write_network,
)
from bayleaf.data.domain import ordered_variable
from bayleaf.models.latent_rules import condition_text
from bayleaf.report import summarize
from contract.kinds import each_kind

GRADES = ["bad", "fair, or so", "good", "best"]


def table(n_rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Two graded columns that tell of the class, and a number."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    grades = np.clip(y + rng.integers(0, 3, n_rows), 0, 3)
    others = np.clip(2 * y + rng.integers(0, 2, n_rows), 0, 3)
    X = pd.DataFrame(
        {
            "grade": pd.Categorical.from_codes(grades, GRADES, ordered=True),
            "other": pd.Categorical.from_codes(others, GRADES, ordered=True),
            "number": rng.normal(size=n_rows) + y,
        }
    )
    return X, y


@each_kind()
def test_every_kind_fits_explains_and_comes_back(kind: Any, tmp_path: Path) -> None:
    X, y = table()
    model = kind(random_state=0).fit(X, y)
    states = model.encoder_.domain[0].states
    for one in model.explain(X[:3]):
        assert one.terms[0].value in states
        assert any(grade in one.terms[0].value for grade in (*GRADES, "any value"))
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(
        load(tmp_path / "m.json").predict_proba(X), model.predict_proba(X)
    )
    as_text = X.astype({"grade": object, "other": object})
    np.testing.assert_array_equal(model.predict_proba(as_text), model.predict_proba(X))


def test_states_are_named_by_the_categories_that_they_end_with() -> None:
    merged = NaiveBayesClassifier(ordered_features=["grade"]).fit(*table())
    variable = merged.encoder_.domain[0]
    assert all(bound in GRADES for bound in variable.bounds)
    assert variable.states[0] in (f"<= {variable.bounds[0]}", GRADES[0])
    for code, grade in enumerate(GRADES):
        state = variable.state_of_category(grade)
        assert state == sum(
            bound < code for bound in map(GRADES.index, variable.bounds)
        )


def test_unknown_categories_are_counted_as_such() -> None:
    X, y = table()
    model = NaiveBayesClassifier().fit(X, y)
    strange = X.astype({"grade": object}).assign(grade="awful")
    model.predict(strange[:5])
    assert model.unknown_["grade"].number == 5
    with pytest.raises(ValueError, match="training did not contain"):
        NaiveBayesClassifier(unknown="error").fit(X, y).predict(strange)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ({0}, "grade <= bad"),
        ({0, 1}, "grade <= fair, or so"),
        ({1, 2}, "grade in (bad, good]"),
        ({3}, "grade > good"),
        ({0, 3}, "(grade <= bad or grade > good)"),
    ],
)
def test_rules_name_categories_not_ranks(codes: set[int], text: str) -> None:
    variable = ordered_variable("grade", GRADES, [0.5, 1.5, 2.5])
    assert condition_text(variable, frozenset(codes)) == text


def test_evidence_takes_categories_and_bounds() -> None:
    merged = NaiveBayesClassifier(ordered_features=["grade"]).fit(*table())
    network, variable = merged.network_, merged.network_.domain[0]
    label = variable.label(variable.state_of_category("good") or 0)
    by_category = network.query({"grade": "good"})["class"].probabilities
    np.testing.assert_array_equal(
        by_category, network.query({"grade": label})["class"].probabilities
    )
    with pytest.warns(UserWarning, match="intervals count as a whole"):
        assert network.query({"grade": AtMost("fair, or so")})
    with pytest.raises(ValueError, match="its categories are bad"):
        network.query({"grade": "awful"})


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xmlbif", ".xdsl"])
def test_network_files_hold_the_states_alone(suffix: str, tmp_path: Path) -> None:
    network = NaiveBayesClassifier().fit(*table()).network_
    write_network(network, tmp_path / f"n{suffix}")
    back = read_network(tmp_path / f"n{suffix}").domain[0]
    assert back.kind == "nominal"
    assert back.states == network.domain[0].states


def test_learned_groups_join_neighbours_under_their_names() -> None:
    X, y = table()
    wide = X.assign(y=y)
    model = BayesianNetworkEstimator(
        abstraction="global", random_state=0, discretizer="equal_width"
    ).fit(wide)
    tree = model.encoder_.domain[0].hierarchy or model.network_.domain[0].hierarchy
    for node in () if tree is None else tree.nodes:
        assert "0.5" not in str(node)


def test_shapes_and_reports_use_names() -> None:
    X, y = table()
    model = NaiveBayesClassifier().fit(X, y)
    shown = summarize(model, X.assign(y=y), "y", n_folds=2)
    assert shown["columns"][0]["words"].startswith("categories in order in ")


_BINS = [0, 20, 40, 60, 80]


def _ages() -> tuple[pd.Series, np.ndarray]:
    ages = pd.Series(range(2, 80), name="age")
    return ages, np.where(ages > 40, "old", "young")


def _check_bins(kind: Any, cells: pd.Series) -> None:
    X = cells.to_frame()
    model = kind(random_state=0).fit(X, _ages()[1])
    variable = model.encoder_.domain[0]
    names = [str(value) for value in cells.astype("category").cat.categories]
    assert [state for state in variable.states if state is not None] == names
    assert variable.kind == "numeric"
    want = model.predict_proba(X.iloc[30:31])
    assert (model.predict_proba(X.iloc[30]) == want).all()
    assert (model.predict_proba([{"age": names[1]}]) == want).all()


@each_kind()
def test_bins_of_pandas_are_states_that_no_discretiser_merges(kind: Any) -> None:
    _check_bins(kind, pd.cut(_ages()[0], _BINS))


def test_bins_may_have_labels_or_be_plain_intervals() -> None:
    bins = pd.cut(_ages()[0], _BINS)
    labels = ["child", "adult", "senior", "aged"]
    _check_bins(NaiveBayesClassifier, pd.cut(_ages()[0], _BINS, labels=labels))
    _check_bins(NaiveBayesClassifier, bins.astype(bins.cat.categories.dtype))


def test_categories_that_ordered_features_names_are_merged() -> None:
    ages, y = _ages()
    X = pd.cut(ages, _BINS, labels=list("abcd")).to_frame()
    merged = NaiveBayesClassifier(ordered_features=["age"]).fit(X, y)
    assert merged.encoder_.domain[0].states == ("<= b", "> b")


def test_states_between_categories_that_occur_contain_the_others() -> None:
    ages, y = _ages()
    bins = pd.cut(ages, [-9, 0, 20, 25, 30, 40, 50, 99], labels=list("ABCDEFG"))
    kept = ~bins.isin(["C", "D"])
    model = NaiveBayesClassifier().fit(bins[kept].to_frame(), y[kept])
    states = model.encoder_.domain[0].states
    assert states == ("<= B", "(B, E]", "F", "G")
