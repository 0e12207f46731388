from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import t
from sklearn.base import clone

from bayleaf import EqualFrequencyDiscretizer, KDBClassifier, NaiveBayesClassifier
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.evaluation import compare
from bayleaf.evaluation.density_scores import cross_validate_density, entropy_bound
from bayleaf.evaluation.folds import deal_folds
from bayleaf.evaluation.privacy import Privacy
from bayleaf.explain import importance
from bayleaf.report import report_html, summarize
from bayleaf.report.chosen_rows import RIGHT, UNDECIDED, WRONG
from bayleaf.report.summary_form import SCHEMA
from oracles.small_tables import classifier

# Keys under which numbers of rows stand.
COUNTS = {"n", "counts", "totals", "missing", "unknown", "n_positive", "n_impossible"}


def numbers_of_rows(value: Any, key: str = "") -> Iterator[float]:
    """All numbers of rows in a summary."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers_of_rows(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_of_rows(inner, key)
    elif key in COUNTS and value is not None:
        yield value


@pytest.mark.few("nb", "network", "hnb", "mixture", "latent_class")
@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_has_a_summary_ready_for_json(
    name: str, summary_of: Callable[[str], Any]
) -> None:
    found = summary_of(name)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["schema"] == SCHEMA
    assert len(found["rows"]) == 10
    for row in found["rows"]:
        terms = sum(term["contribution"] for term in row["terms"])
        total = row["prior"] + terms + row["rest"]
        assert total == pytest.approx(row["log_odds"], abs=1e-9)


def test_figures_are_those_of_cross_validation(
    summary: dict[str, Any], heart: pa.Table
) -> None:
    y = heart.to_pandas()["disease"]
    found = compare(heart.drop_columns("disease"), y, ["nb"], n_folds=10)["nb"]
    assert summary["quality"]["basis"] == "cross_validation"
    assert summary["quality"]["folds"]["accuracy"]["mean"] == found.mean("accuracy")
    assert summary["quality"]["folds"]["log_loss"]["sd"] == found.sd("log_loss")


def test_accuracy_on_training_rows_is_never_told_as_held_out() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 4, (120, 6)).astype(str), columns=[*"abcdef"])
    table["y"] = rng.integers(0, 2, 120)
    model = KDBClassifier(k=3).fit(table[[*"abcdef"]], table["y"])
    on_training = np.mean(model.predict(table[[*"abcdef"]]) == table["y"])
    found = summarize(model, table, n_folds=4, rows=False)
    told = found["quality"]["scores"]["accuracy"]
    assert on_training > 0.9
    assert told < 0.65


def test_held_out_rows_are_scored_by_the_model_itself(heart: pa.Table) -> None:
    frame = heart.to_pandas()
    train, test = frame.iloc[:200], frame.iloc[200:]
    model = NaiveBayesClassifier().fit(train.drop(columns="disease"), train["disease"])
    found = summarize(model, test, held_out=True)["quality"]
    right = model.predict(test.drop(columns="disease")) == test["disease"]
    assert found["scores"]["accuracy"] == pytest.approx(np.mean(right))
    assert found["basis"] == "held_out"
    assert "declared as held out" in found["basis_told"]


def test_too_few_rows_leave_figures_out_with_a_reason() -> None:
    table = pd.DataFrame({"a": ["x", "y", "x"], "y": [0, 1, 1]})
    model = NaiveBayesClassifier().fit(table[["a"]], table["y"])
    found = summarize(model, table)
    assert found["quality"]["basis"] == "none"
    assert "No held-out scores" in found["quality"]["basis_told"]
    assert found["rows"] is None
    assert found["importance"] is None or found["importance"]["features"]


def test_one_class_leaves_figures_out() -> None:
    table = pd.DataFrame({"a": [*"xyxyxyxyxyxy"], "y": ["only"] * 12})
    model = NaiveBayesClassifier().fit(table[["a"]], table["y"])
    assert summarize(model, table)["quality"]["basis"] == "none"


def test_rows_are_of_three_kinds_and_belong_to_them(summary: dict[str, Any]) -> None:
    rows = summary["rows"]
    kinds = [row["kind"] for row in rows]
    assert kinds[:4] == [RIGHT, RIGHT, WRONG, UNDECIDED]
    assert kinds[4:] == [RIGHT] * 2 + [WRONG] * 2 + [UNDECIDED] * 2
    for row in rows:
        if row["kind"] == UNDECIDED:
            assert max(row["held_out"]["probabilities"].values()) < 0.6
        else:
            is_right = row["held_out"]["class"] == row["truth"]
            assert is_right == (row["kind"] == RIGHT)


def test_shown_rows_are_those_of_the_table(
    summary: dict[str, Any], heart: pa.Table
) -> None:
    frame = heart.to_pandas()
    for row in summary["rows"]:
        assert frame["disease"].iloc[row["row"] - 1] == row["truth"]
        shown = {term["feature"]: term["value"] for term in row["terms"]}
        if "sex" in shown:
            assert frame["sex"].iloc[row["row"] - 1] == shown["sex"]


def test_counterfactuals_lead_to_another_class(summary: dict[str, Any]) -> None:
    rows = summary["rows"][-2:]
    found = [row["counterfactuals"]["counterfactuals"] for row in rows]
    assert all(found)
    for row, items in zip(rows, found, strict=True):
        assert all(item["class"] != row["class"] for item in items)


def test_counts_of_columns_are_those_of_the_table(
    summary: dict[str, Any], heart: pa.Table
) -> None:
    frame = heart.to_pandas()
    for column in summary["columns"]:
        counts = [state["n"] for state in column["states"]]
        assert sum(counts) + column["missing"] + column["unknown"] == len(frame)
    pain = next(c for c in summary["columns"] if c["name"] == "chest_pain")
    told = {state["label"]: state["n"] for state in pain["states"]}
    assert told == frame["chest_pain"].value_counts().to_dict()


def test_holes_strangers_and_strange_columns_are_noted() -> None:
    train = pd.DataFrame(
        {"a": [*"xyxyxyxyxy"], "b": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1], "c": ["k"] * 10}
    )
    y = pd.Series([0, 1] * 5, name="y")
    model = NaiveBayesClassifier().fit(train, y)
    table = train.assign(y=y, other=1.0)
    table.loc[0, "a"] = None
    table.loc[1, "a"] = "stranger"
    notes = summarize(model, table, held_out=True)["notes"]
    told = {(note["kind"], note["column"]): note["text"] for note in notes}
    assert told["missing", "a"] == "1 of 10 cells are missing"
    assert told["unknown", "a"] == "1 of 10 cells are unknown to the model"
    assert "taken as nominal" in told["nominal integers", "b"]
    assert "constant (k)" in told["without information", "c"]
    assert ("dropped columns", "other") in told
    assert ("rare states", "b") in told


def test_columns_are_counted_as_the_table_has_them() -> None:
    """A date is one column of four variables; an identifier is not read."""
    table = pd.DataFrame(
        {
            "id": [f"r{i:03}" for i in range(60)],
            "day": pd.date_range("2024-01-05", periods=60, freq="9D"),
            "size": np.arange(60) / 7,
            "y": ["no", "yes"] * 30,
        }
    )
    settings = {"discretizer": EqualFrequencyDiscretizer(n_bins=20)}
    model = NaiveBayesClassifier(**settings).fit(table.drop(columns="y"), table["y"])
    found = summarize(model, table, held_out=True)
    assert found["data"]["n_columns"] == 2
    assert found["data"]["left_out"] == ["id"]
    words = {column["name"]: column["words"] for column in found["columns"]}
    cuts = model.encoder_.domain[-1].cut_points
    assert words["size"] == (
        f"numbers in {len(cuts) + 1} intervals between {cuts[0]:g} and {cuts[-1]:g}"
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("min_count", [5, 20])
@pytest.mark.parametrize("name", ["nb", "hnb", "tan"])
def test_no_small_number_of_rows_is_told(
    name: str, min_count: int, fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    found = summarize(fitted(name), heart, min_count=min_count, n_folds=5)
    counts = list(numbers_of_rows(found))
    assert counts
    assert all(n == 0 or n >= min_count for n in counts)
    assert found["rows"] is None
    for column in found["columns"]:
        parts = [state["n"] for state in column["states"]]
        parts += [column["missing"], column["unknown"]]
        assert None not in parts
        assert abs(len(heart) - sum(parts)) < 4 * min_count
    assert found["data"]["n_rows"] % min_count == 0


def test_curves_and_scores_follow_from_rounded_counts(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    found = summarize(fitted("nb"), heart, min_count=5)["quality"]
    table = np.array(found["confusion"]["counts"])
    n_no, n_yes = found["confusion"]["totals"]
    assert found["scores"]["accuracy"] == np.trace(table) / table.sum()
    points = found["operating_points"]["points"]
    for total, rates in (
        (n_yes, [point["sensitivity"] for point in points]),
        (n_no, [1 - point["specificity"] for point in points]),
    ):
        above = np.rint(np.array([1.0, *rates, 0.0]) * total)
        assert (np.diff(above) % 5 == 0).all()
    for one in found["calibration"]["bins"]:
        with_event = round(one["n"] * one["share"]) if one["n"] else 0
        assert with_event % 5 == 0
        assert one["n"] % 5 == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["nb", "hnb", "tan", "kdb"])
def test_scores_from_rounded_counts_are_close(
    name: str, fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    told, exact = (
        summarize(fitted(name), heart, min_count=n, n_folds=4, rows=False)["quality"]
        for n in (5, 1)
    )
    for score in ("accuracy", "balanced_accuracy", "log_loss", "brier", "roc_auc"):
        near = pytest.approx(exact["scores"][score], abs=0.05)
        assert told["scores"][score] == near, score


def test_more_classes_have_scores_from_rounded_counts_too() -> None:
    rng = np.random.default_rng(3)
    label = rng.integers(0, 4, 600)
    columns = {
        f"x{i}": np.where(rng.random(600) < 0.4, rng.integers(0, 4, 600), label)
        for i in range(4)
    }
    table = pd.DataFrame({k: v.astype(str) for k, v in columns.items()} | {"y": label})
    model = NaiveBayesClassifier().fit(table.drop(columns="y"), table["y"])
    loss = 1.0 - np.eye(4)
    found, exact = (
        summarize(model, table, "y", min_count=n, loss=loss, n_folds=3, rows=False)[
            "quality"
        ]
        for n in (6, 1)
    )
    for score in ("accuracy", "balanced_accuracy", "log_loss", "brier", "cost"):
        near = pytest.approx(exact["scores"][score], abs=0.06)
        assert found["scores"][score] == near, score
    assert found["scores"]["roc_auc"] is None
    assert found["roc"] == []
    assert sum(one["n"] for one in found["calibration"]["bins"]) == found["n_rows"]


@pytest.mark.parametrize("name", ["nb", "tan", "hnb", "density"])
def test_nothing_is_told_but_what_is_published(
    name: str, fitted: Callable[[str], Any], density: Any, heart: pa.Table, monkeypatch
) -> None:
    """Were all cells published alike, rows in other numbers would give one summary."""
    model = density if name == "density" else fitted(name)
    monkeypatch.setattr(
        Privacy, "published", lambda self, counts, _: np.full(len(counts), self.base)
    )
    times = np.random.default_rng(0).integers(1, 5, len(heart))
    more = heart.take(np.repeat(np.arange(len(heart)), times))
    one, other = (
        # Integers alone, not digits of a figure.
        re.sub(
            rf"(?<![\d.]){len(table)}(?![\d.])",
            "N",
            json.dumps(summarize(model, table, min_count=5, held_out=True)),
        )
        for table in (heart, more)
    )
    assert one == other


def test_a_constant_value_is_not_named_in_notes() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.choice([*"uv"], 80),
            "b": ["HIVSECRET" if i < 2 else None for i in range(80)],
            "y": rng.choice([*"pq"], 80),
        }
    )
    model = NaiveBayesClassifier().fit(table[["a", "b"]], table["y"])
    assert "HIVSECRET" in report_html(summarize(model, table, min_count=1, n_folds=3))
    page = report_html(summarize(model, table, min_count=5, n_folds=3))
    assert "HIVSECRET" not in page
    assert "HIVSECRET" not in json.dumps(summarize(model, table, min_count=5))


def test_a_rare_class_is_not_named_where_folds_fail() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.choice([*"uv"], 40), "y": ["no"] * 39 + ["duke"]})
    model = NaiveBayesClassifier().fit(table[["a"]], table["y"])
    assert "duke" not in json.dumps(summarize(model, table, min_count=5))


@pytest.mark.parametrize(
    "name",
    [
        "hnb",
        "tan",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in ("network", "mixture", "latent_class")
        ),
        "auto",
    ],
)
def test_names_of_rare_values_and_rules_with_them_are_withheld(name: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.choice([*"pqr"], 80).astype(object)
    a[:2] = "the only duke"
    table = pd.DataFrame({"a": a, "b": rng.choice([*"uv"], 80)})
    table["y"] = np.where((table["a"] == "p") ^ (table["b"] == "u"), "yes", "no")
    model = classifier(name).fit(table[["a", "b"]], table["y"])
    text = json.dumps(summarize(model, table, min_count=5, n_folds=2))
    assert "duke" not in text
    assert "duke" in json.dumps(summarize(model, table, n_folds=2))


def test_rows_can_be_left_out(fitted: Callable[[str], Any], heart: pa.Table) -> None:
    found = summarize(fitted("nb"), heart, rows=False, n_folds=3)
    assert found["rows"] is None
    assert found["privacy"]["told"] == ["No values of single rows are shown."]


def test_costs_make_the_threshold(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    loss = [[0.0, 4.0], [1.0, 0.0]]
    found = summarize(fitted("nb"), heart, loss=loss, n_folds=3)
    points = found["quality"]["operating_points"]
    assert points["implied_threshold"] == 0.2
    chosen = next(p for p in points["points"] if p["threshold"] == 0.2)
    confusion = found["quality"]["confusion"]["counts"]
    assert chosen["n_positive"] == confusion[0][1] + confusion[1][1]
    cost = (4 * confusion[1][0] + confusion[0][1]) / len(heart)
    assert found["quality"]["scores"]["cost"] == pytest.approx(cost)
    assert chosen["cost"] == pytest.approx(cost)


def test_truth_values_as_classes_are_written_alike_everywhere() -> None:
    rng = np.random.default_rng(5)
    label = rng.random(80) < 0.5
    table = pd.DataFrame({"a": (label ^ (rng.random(80) < 0.2)).astype(str)})
    model = NaiveBayesClassifier().fit(table[["a"]], label)
    found = summarize(model, table.assign(y=label), "y", n_folds=4)
    for row in found["rows"]:
        assert {row["class"], row["against"], row["truth"]} <= {"true", "false"}
        assert row["interval"]["classes"].keys() == row["probabilities"].keys()
        for item in row["counterfactuals"]["counterfactuals"]:
            assert item["class"] == row["against"]
    assert "withheld" not in report_html(found)


def test_tables_without_names_are_read_by_position() -> None:
    rng = np.random.default_rng(6)
    cells = rng.integers(0, 3, (60, 2)).astype(str)
    label = rng.integers(0, 2, 60)
    model = NaiveBayesClassifier().fit(cells, label)
    table = pd.DataFrame(cells, columns=["p", "q"]).assign(y=label)
    found = summarize(model, table, "y", n_folds=3)
    assert found["data"]["left_out"] == []
    assert [column["name"] for column in found["columns"]] == ["x0", "x1"]


def test_more_than_two_classes_have_curves_and_no_thresholds() -> None:
    rng = np.random.default_rng(2)
    label = rng.integers(0, 3, 150)
    table = pd.DataFrame({"a": (label + (rng.random(150) < 0.3)) % 3, "y": label})
    model = NaiveBayesClassifier().fit(table[["a"]].astype(str), table["y"])
    table["a"] = table["a"].astype(str)
    found = summarize(model, table)["quality"]
    assert found["operating_points"] is None
    assert [curve["class"] for curve in found["roc"]] == ["0", "1", "2"]
    for curve in found["roc"]:
        x, y = np.array(curve["points"]).T
        area = float(np.trapezoid(y, x))
        assert area == pytest.approx(found["auc"][curve["class"]], abs=1e-9)


def test_density_models_are_held_against_the_bound(
    density: Any, heart: pa.Table
) -> None:
    found = summarize(density, heart, n_folds=2)
    direct = cross_validate_density({"d": density}, heart, n_folds=2)[0]
    assert found["kind"] == "density"
    assert found["quality"]["nats_per_row"] == direct.nats_per_row
    bound = direct.bound / len(heart)
    assert found["quality"]["bound_per_row"] == pytest.approx(bound)
    assert found["structure"]["distributions"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_network_alone_is_scored_only_as_held_out(
    density: Any, heart: pa.Table
) -> None:
    without = summarize(density.network_, heart)["quality"]
    assert without["basis"] == "none"
    assert "nats_per_row" not in without
    scored = summarize(density.network_, heart, held_out=True)["quality"]
    # A network has no probability for values not seen in training.
    score = copy(density).set_params(unknown="missing").score(heart) / len(heart)
    assert scored["nats_per_row"] == pytest.approx(score)
    codes = density.encoder_.transform(density._parts_as_fitted(heart)).codes
    assert scored["bound_per_row"] == pytest.approx(entropy_bound(codes) / len(heart))


def test_leaves_of_trees_are_withheld_with_counts(
    density: Any, heart: pa.Table
) -> None:
    found = summarize(density, heart, min_count=5, n_folds=2)
    lines = [
        line for one in found["structure"]["distributions"] for line in one["lines"]
    ]
    assert lines
    assert all(line["probabilities"] is None for line in lines)


def test_the_column_of_the_class_must_be_there(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    with pytest.raises(ValueError, match="no target column 'disease'"):
        summarize(fitted("nb"), heart.drop_columns("disease"))


def test_a_strange_class_is_refused(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    frame = heart.to_pandas()
    frame.loc[3, "disease"] = "perhaps"
    with pytest.raises(ValueError, match="holds 'perhaps' in row 4"):
        summarize(fitted("nb"), frame)


def test_intervals_of_importance_are_over_held_out_folds(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    table, model = heart.to_pandas(), fitted("nb")
    X, y = table.drop(columns="disease"), table["disease"]
    values = summarize(model, heart, n_folds=3, rows=False)["importance"]
    parts = []
    truth = np.unique(y, return_inverse=True)[1]
    for train, test in deal_folds(truth, 3, 1, 0):
        learned = clone(model).fit(X.iloc[train], y.iloc[train])
        parts.append(importance(learned, X.iloc[test], y.iloc[test]))
    rises = np.array([[one.loss_increase for one in part.features] for part in parts])
    names = [str(one.feature) for one in parts[0].features]
    first = values["features"][0]
    column = rises[:, names.index(first["feature"])]
    error = np.sqrt((1 / 3 + 1 / 2) * column.var(ddof=1))
    assert values["method"] == "folds"
    assert first["loss_increase"] == pytest.approx(column.mean(), abs=1e-6)
    assert first["loss_error"] == pytest.approx(error, abs=1e-6)
    ends = t.interval(0.95, 2, column.mean(), error)
    np.testing.assert_allclose(first["interval"], ends, atol=1e-6)


def test_a_missing_feature_is_named(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    with pytest.raises(ValueError, match="no column sex"):
        summarize(fitted("nb"), heart.drop_columns("sex"))


def test_fewer_rows_than_the_least_count_are_refused(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    with pytest.raises(ValueError, match="has 4 rows; min_count=5 needs 25"):
        summarize(fitted("nb"), heart.slice(0, 4), min_count=5)


def test_options_of_classifiers_are_refused_without_a_class(
    density: Any, heart: pa.Table
) -> None:
    with pytest.raises(ValueError, match="this model has no class"):
        summarize(density, heart, "disease")


def test_something_else_is_refused(heart: pa.Table) -> None:
    with pytest.raises(TypeError, match="needs a fitted classifier"):
        summarize(object(), heart)


def test_weights_are_those_of_repeated_and_removed_rows(heart: pa.Table) -> None:
    weights = np.arange(heart.num_rows) % 3
    table = heart.append_column("w", pa.array(weights))
    rows = np.repeat(np.arange(heart.num_rows), weights)
    model = NaiveBayesClassifier().fit(heart.drop_columns("disease"), heart["disease"])
    one = summarize(model, table, "disease", held_out=True, weight="w", rows=False)
    other = summarize(model, heart.take(rows), "disease", held_out=True, rows=False)
    for name, score in other["quality"]["scores"].items():
        if name != "n_rows" and score is not None:
            np.testing.assert_allclose(one["quality"]["scores"][name], score)
    assert one["quality"]["baseline"] == pytest.approx(other["quality"]["baseline"])
    assert one["quality"]["auc"] == pytest.approx(other["quality"]["auc"])
    assert one["importance"]["log_loss"] == pytest.approx(
        other["importance"]["log_loss"]
    )
    assert one["data"]["n_rows"] == np.count_nonzero(weights)
    assert "confusions, intervals" in one["quality"]["basis_told"]
    found = summarize(model, table, "disease", n_folds=3, weight="w", rows=False)
    assert found["quality"]["basis"] == "cross_validation"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weight": "weigth"}, "no weight column 'weigth'"),
        ({"weight": "w", "min_count": 5}, "weight belongs to .* without min_count"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    heart: pa.Table, options: dict[str, Any], sentence: str
) -> None:
    model = NaiveBayesClassifier().fit(heart.drop_columns("disease"), heart["disease"])
    table = heart.append_column("w", pa.array(np.ones(heart.num_rows)))
    with pytest.raises(ValueError, match=sentence):
        summarize(model, table, **options)
