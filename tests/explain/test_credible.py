"""Credible intervals: closed forms, coverage, agreement of all ways to draw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayleaf import load
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.explain import credible, credible_intervals
from bayleaf.models.class_model import ClassModel
from bayleaf.models.support.drawn_networks import without_sums
from bayleaf.models.support.support_counts import SupportCounts
from offenders import check_each
from oracles.small_tables import classifier, small_table
from timing import least_work


def ends(found: list[Any]) -> np.ndarray[Any, Any]:
    """Low and high ends by row and class."""
    return np.array([[(c.low, c.high) for c in one.classes] for one in found])


def test_one_feature_of_naive_bayes_has_a_beta_posterior() -> None:
    x = np.repeat(["a", "a", "b", "b"], [12, 5, 7, 20])
    y = np.repeat(["no", "yes", "no", "yes"], [12, 5, 7, 20])
    X = pd.DataFrame({"x": x.astype(object)})
    # Without smoothing, the product of the tables is one Dirichlet over all cells.
    model = classifier("nb", smoothing="maximum_likelihood").fit(X, y)
    rows = pd.DataFrame({"x": ["a", "b"]})
    found = credible_intervals(model, rows, n_draws=40_000, level=0.9, random_state=0)
    for one, (yes, no) in zip(found, [(5, 12), (20, 7)], strict=True):
        low, high = stats.beta(yes, no).ppf([0.05, 0.95])
        assert one.classes[1].label == "yes"
        assert one.classes[1].low == pytest.approx(low, abs=0.005)
        assert one.classes[1].high == pytest.approx(high, abs=0.005)


def test_smoothed_counts_are_the_parameters() -> None:
    x = np.repeat(["a", "a", "b", "b"], [3, 1, 2, 6])
    y = np.repeat([0, 1, 0, 1], [3, 1, 2, 6])
    model = classifier("nb").fit(pd.DataFrame({"x": x.astype(object)}), y)
    (one,) = credible_intervals(
        model, pd.DataFrame({"x": ["a"]}), n_draws=40_000, random_state=0
    )
    rng = np.random.default_rng(5)
    prior = rng.beta(7 + 1, 5 + 1, 100_000)
    odds = prior / (1 - prior) * rng.beta(2, 7, 100_000) / rng.beta(4, 3, 100_000)
    low, high = np.quantile(odds / (1 + odds), [0.025, 0.975])
    assert one.classes[1].low == pytest.approx(low, abs=0.01)
    assert one.classes[1].high == pytest.approx(high, abs=0.01)


def test_small_parameters_do_not_vanish() -> None:
    rng = np.random.default_rng(0)
    probabilities = np.array([[1e-4, 0.3, 0.6999]])
    logs = log_dirichlet(probabilities, np.array([2.0]), 50_000, rng)
    assert np.isfinite(logs).all()
    assert np.exp(logs).sum(axis=-1) == pytest.approx(np.ones((50_000, 1)))
    assert np.exp(logs).mean(axis=0) == pytest.approx(probabilities, abs=0.005)
    shares = np.exp(logs[:, 0, 1])
    assert stats.kstest(shares, stats.beta(0.6, 1.4).cdf).pvalue > 1e-3


@pytest.mark.few(10)
@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_intervals_hold_the_probability_and_seeds_repeat_them(
    kind: str, missing: float
) -> None:
    X, y = small_table(0, n_rows=50, n_classes=3, missing=missing)
    model = classifier(kind, calibration="leave_one_out").fit(X, y)
    few = X.iloc[:4]
    found = credible_intervals(model, few, n_draws=40, random_state=3)
    again = credible_intervals(model, few, n_draws=40, random_state=3)
    other = credible_intervals(model, few, n_draws=40, random_state=4)
    assert (ends(found) == ends(again)).all()
    assert (ends(found) != ends(other)).any()
    proba = model.predict_proba(few)
    assert [[c.probability for c in one.classes] for one in found] == proba.tolist()
    inside = (ends(found)[..., 0] <= proba) & (proba <= ends(found)[..., 1])
    assert inside.mean() > 0.9
    # Where a parent is missing, no single distribution is used.
    assert missing or all(one.cells for one in found)
    assert (ends(found) >= 0).all()
    assert (ends(found) <= 1).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ends_of_normal_scores_are_those_of_many_draws(n_classes: int) -> None:
    X, y = small_table(0, n_rows=60, n_classes=n_classes, missing=0.2)
    model = classifier("auto", calibration="leave_one_out").fit(X, y)
    computed = ends(credible_intervals(model, X.iloc[:5]))
    assert (computed == ends(credible_intervals(model, X.iloc[:5]))).all()
    drawn = ends(credible_intervals(model, X.iloc[:5], n_draws=40_000, random_state=0))
    assert np.abs(computed - drawn).max() < (1e-12 if n_classes == 2 else 0.06)
    codes, predictor = model._prepare(X.iloc[:5])[1], model._predictor()
    variance = model.model_.score_variance(codes)
    noise = np.random.default_rng(1).standard_normal((3000, *variance.shape))
    scores = model.model_.class_log_scores(codes) + noise * np.sqrt(variance)
    proba = credible._posteriors(predictor, codes, scores)
    expected = np.quantile(proba, [0.025, 0.975], axis=0).transpose(1, 2, 0)
    assert np.abs(drawn - expected).max() < 0.04


@pytest.mark.parametrize("kind", ["nb", "kdb", "hnb", "network"])
def test_all_tables_at_once_are_drawn_as_one_by_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = small_table(1)
    model = classifier(kind).fit(X, y)
    rows = X.iloc[:2]
    quick = ends(credible_intervals(model, rows, n_draws=400, random_state=0))

    kind_of_model = type(model.model_)
    one_by_one = ClassModel._without_sums
    monkeypatch.setattr(kind_of_model, "_without_sums", one_by_one)
    slow = ends(credible_intervals(model, rows, n_draws=400, random_state=1))
    assert np.abs(quick - slow).max() < 0.08


def test_a_missing_leaf_is_left_out_and_a_missing_parent_summed_out() -> None:
    X, y = small_table(2)
    model = classifier("tan").fit(X, y)
    parents = model.network_.dag.parents
    inner = next(f for f in range(4) if any(f in own for own in parents[:4]))
    leaf = next(f for f in range(4) if not any(f in own for own in parents[:4]))
    for feature, simple in ((leaf, True), (inner, False)):
        rows = X.iloc[:1].copy()
        rows[X.columns[feature]] = pd.Series([None], dtype=object)
        if X.columns[feature] == "height":
            rows["height"] = np.nan
        found = without_sums(model.network_.dag, model._prepare(rows)[1])
        assert found.tolist() == [simple]


@pytest.mark.slow
def test_coverage_is_roughly_nominal() -> None:
    rng = np.random.default_rng(7)
    tables = np.array([[0.3, 0.7], [0.5, 0.8], [0.2, 0.6]])
    every = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    likelihood = np.prod(
        [np.where(every[:, [i]] == 1, tables[i], 1 - tables[i]) for i in range(3)],
        axis=0,
    )
    truth = likelihood[:, 1] / likelihood.sum(axis=1)
    inside = []
    for _ in range(50):
        y = rng.integers(2, size=150)
        X = (rng.random((150, 3)) < tables[:, y].T).astype(int)
        model = classifier("nb").fit(X, y)
        found = ends(credible_intervals(model, every, n_draws=300, random_state=0))[
            :, 1
        ]
        inside += ((found[:, 0] <= truth) & (truth <= found[:, 1])).tolist()
    assert 0.90 < np.mean(inside) < 0.99


# Which latent variables are found depends on the number of rows.
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] * (kind == "mixture"))
        for kind in sorted(set(CLASSIFIERS) - {"hnb"})
    ],
)
def test_more_rows_make_intervals_narrower(kind: str) -> None:
    X, y = small_table(3, n_rows=60)
    many = pd.concat([X] * 8, ignore_index=True)
    few = classifier(kind).fit(X, y)
    rows = X.iloc[:2]
    narrow = credible_intervals(
        classifier(kind).fit(many, np.tile(y, 8)), rows, n_draws=200, random_state=0
    )
    wide = credible_intervals(few, rows, n_draws=200, random_state=0)
    assert np.ptp(ends(narrow), axis=2).mean() < 0.6 * np.ptp(ends(wide), axis=2).mean()


def test_a_given_prior_is_certain() -> None:
    X, y = small_table(3)
    empty = pd.DataFrame(
        {"wet": [None], "windy": [None], "soil": [None], "height": [np.nan]}
    ).astype({"wet": object, "windy": object, "soil": object})
    fixed = classifier("nb", class_prior=[0.2, 0.8]).fit(X, y)
    (one,) = credible_intervals(fixed, empty, random_state=0)
    assert one.classes[1].low == pytest.approx(0.8, abs=1e-12)
    assert one.classes[1].high == pytest.approx(0.8, abs=1e-12)
    (learned,) = credible_intervals(classifier("nb").fit(X, y), empty, random_state=0)
    assert learned.classes[1].low < learned.classes[1].high - 0.1


def test_rows_behind_cells_are_those_of_the_table_and_few_are_flagged() -> None:
    X, y = small_table(4)
    X.loc[:2, "soil"] = "peat"
    model = classifier("kdb", k=1).fit(X, y)
    for one, row in zip(
        credible_intervals(model, X.iloc[:8], n_draws=10, random_state=0),
        X.iloc[:8].to_dict("records"),
        strict=True,
    ):
        for cell in one.cells:
            expected = np.ones(len(X), dtype=bool)
            for name, state in cell.given:
                if name == "height":
                    cut = float(state.split()[-1])
                    low = X["height"].to_numpy() <= cut
                    expected &= low if state.startswith("<=") else ~low
                else:
                    expected &= (y if name == "class" else X[name].to_numpy()) == state
            assert cell.rows == expected.sum()
            assert cell.is_rare == (expected.sum() < 5)
            if cell.feature != "height":
                assert cell.value == row[cell.feature]


@pytest.mark.parametrize("kind", ["nb", "tan", "aode", "a2de", "hnb", "network"])
def test_weights_are_repetitions(kind: str) -> None:
    X, y = small_table(5)
    weights = 1.0 + np.arange(len(y)) % 2
    repeats = weights.astype(int)
    weighted = classifier(kind).fit(X, y, weights)
    repeated = classifier(kind).fit(
        X.loc[X.index.repeat(repeats)], np.repeat(y, repeats)
    )
    one = credible.support_of(weighted)
    two = credible.support_of(repeated)
    for left, right in zip(one.rows, two.rows, strict=True):
        assert left == pytest.approx(right)


def test_components_share_the_rows_out() -> None:
    X, y = small_table(6, n_classes=3)
    for kind in ("latent_class", "mixture"):
        model = classifier(kind).fit(X, y)
        rows = credible.support_of(model).rows
        tables = [table for table in rows if table.ndim == 3]
        assert all(
            table.sum(axis=(1, 2)) == pytest.approx(np.full(4, len(y)))
            for table in tables
        )


@pytest.mark.slow
def test_intervals_of_a_hundred_rows_take_few_times_as_long_as_drawing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(4, size=(1000, 30)), rng.integers(2, size=1000)
    model = classifier("nb").fit(X, y)
    credible_intervals(model, X[:2], random_state=0)
    # A thousand draws a row, of a number for each feature and class.
    drawing = least_work(lambda: rng.standard_gamma(5.0, size=(100, 1000, 30, 2)))
    work = least_work(lambda: credible_intervals(model, X[:100], random_state=0))
    assert work < 10 * drawing


def test_a_model_without_counts_says_so() -> None:
    X, y = small_table(3)
    model = classifier("nb").fit(X, y)
    with pytest.raises(ValueError, match="keeps no counts of its training rows"):
        credible_intervals(model._predictor(), X, random_state=0)


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_file_keeps_the_counts(kind: str, tmp_path: Path) -> None:
    X, y = small_table(3, missing=0.1)
    model = classifier(kind).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    asked = credible_intervals(model, X.iloc[:3], n_draws=20, random_state=0)
    read = load(path)
    assert credible_intervals(read, X.iloc[:3], n_draws=20, random_state=0) == asked
    # What was read is written again, and a file without counts is read as well.
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == path.read_text()
    values = json.loads(path.read_text())
    values["support"] = None
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match="keeps no counts"):
        credible_intervals(load(path), X.iloc[:3], random_state=0)


WRONG_COUNTS: list[tuple[dict[str, Any], str]] = [
    ({"rows": []}, "has 0 tables"),
    ({"pseudo_rows": [1.0]}, "tables"),
    ({"pseudo_rows": [-1.0] * 5}, "negative weight"),
    ({"pseudo_rows": ["a"] * 5}, "should be of type float"),
    ({"prior_is_learned": 1}, "prior_is_learned"),
    ({"rows": [[1.0]] * 5}, "should hold 2 numbers"),
    ({"state_rows": [[1.0]] * 5}, "training rows of every state"),
    ({"state_rows": [[-1.0]] * 5}, "negative weight"),
]


def test_counts_in_a_file_must_fit_the_model(tmp_path: Path) -> None:
    X, y = small_table(3)
    path = tmp_path / "model.json"
    classifier("nb").fit(X, y).save(path)
    values = json.loads(path.read_text())

    def check(case: tuple[dict[str, Any], str]) -> None:
        change, message = case
        changed = {**values, "support": {**values["support"], **change}}
        path.write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=message):
            load(path)

    check_each(WRONG_COUNTS, check)


def test_partial_fit_keeps_the_counts() -> None:
    X, y = small_table(3)
    model = classifier("nb", categorical_features=["wet", "windy", "soil"])
    half = len(y) // 2
    model.partial_fit(X[:half], y[:half], classes=np.unique(y))
    model.partial_fit(X[half:], y[half:])
    rows = credible.support_of(model).rows
    assert float(rows[-1]) == len(y)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"level": 1.0}, "level must lie between 0 and 1"), ({"n_draws": 1}, "n_draws")],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    X, y = small_table(3)
    with pytest.raises(ValueError, match=message):
        credible_intervals(classifier("nb").fit(X, y), X, **options, random_state=0)


def test_the_text_fits_a_terminal() -> None:
    X, y = small_table(4, n_rows=12)
    X = X.rename(columns={"soil": "a very long name " * 8})
    found = credible_intervals(classifier("kdb").fit(X, y), X.iloc[:3], random_state=0)
    lines = "\n".join(map(str, found)).splitlines()
    assert any("fewer than 5 training rows" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_notebooks_show_each_row_and_its_intervals() -> None:
    X, y = small_table(4, n_rows=40)
    found = credible_intervals(classifier("nb").fit(X, y), X.iloc[:2], random_state=0)
    html = found._repr_html_()
    assert "<caption>row 1</caption>" in html
    assert html.count("<details open>") == 2
    best = max(found[1].classes, key=lambda one: one.probability)
    cells = [f'<td class="n">{v:.3f}</td>' for v in (best.low, best.high)]
    assert "".join(cells) in html


def test_strengths_are_at_least_one_row() -> None:
    support = SupportCounts((np.array([0.0, 3.0]),), (0.5,), prior_is_learned=True)
    assert support.strengths(0).tolist() == [1.0, 3.5]
