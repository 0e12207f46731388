from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import Comparison, LossMatrix, compare, description_length
from bayleaf.evaluation.cross_validation import CrossValidation, HeldOut
from bayleaf.evaluation.metrics import Scores
from bayleaf.progress import listening
from offenders import check_each

LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])


def result(name: str, accuracies: list[float], areas: list[Any]) -> CrossValidation:
    """A result with given accuracies and areas, all else equal."""
    folds = tuple(
        Scores(value, 0.5, 0.6, 0.4, area, 0.1, 0, int(area is None))
        for value, area in zip(accuracies, areas, strict=True)
    )
    rows = np.arange(2)
    held_out = HeldOut(rows, rows, np.eye(2))
    return CrossValidation(name, folds, 0.5, 0.1, None, None, held_out)


def comparison(baseline: str = "best") -> Comparison:
    """Three results on 5 folds of 100 rows: good, equally good, and bad."""
    results = (
        result("bad", [0.6, 0.61, 0.62, 0.61, 0.6], [0.6, 0.6, 0.6, None, 0.6]),
        result("good", [0.8, 0.82, 0.81, 0.79, 0.8], [0.7, 0.8, 0.9, None, 0.8]),
        result("also", [0.79, 0.8, 0.82, 0.81, 0.79], [0.8, 0.8, 0.8, None, 0.8]),
    )
    return Comparison(results, ("a", "b"), 100, 5, 1, 0, baseline)


@pytest.fixture(scope="module")
def heart() -> Comparison:
    X, y = load_heart(return_X_y=True)
    return compare(X, y, ["nb", "tan"], n_folds=3, loss=LOSS, random_state=4)


def test_the_test_is_nadeau_and_bengio_s_on_the_folds() -> None:
    found = comparison()
    test = found.test("accuracy", "good", "bad")
    a, b = found["good"].values("accuracy"), found["bad"].values("accuracy")
    # The test fold is a quarter of the training folds.
    ratio = np.sqrt((1 / 5) / (1 / 5 + 1 / 4))
    assert test.statistic == pytest.approx(ttest_rel(a, b).statistic * ratio)


def test_marks_part_the_best_the_equal_and_the_worse() -> None:
    found = comparison()
    marks = {name: found.mark("accuracy", name) for name in found.names}
    assert marks == {"good": "*", "also": "=", "bad": "-"}


def test_marks_against_a_named_baseline_show_both_directions() -> None:
    found = comparison("bad")
    marks = {name: found.mark("accuracy", name) for name in found.names}
    assert marks == {"bad": "*", "good": "+", "also": "+"}
    assert comparison("good").mark("accuracy", "bad") == "-"


def test_losses_are_better_when_smaller() -> None:
    found = comparison()
    assert found.best("log_loss") == "bad"  # All are equal, so the first.
    assert found.mark("log_loss", "good") == "="


def test_folds_without_an_area_are_left_out_and_told() -> None:
    found = comparison()
    assert found["good"].mean("roc_auc") == pytest.approx(0.8)
    assert found["good"].n_folds_without_auc == 1
    assert "AUC: 1 of 5 folds" in str(found)
    assert found.to_rows()[0]["n_folds_without_auc"] == 1


def test_a_score_that_no_fold_has_is_refused_and_left_out() -> None:
    found = comparison()
    assert "cost" not in found.scores
    with pytest.raises(ValueError, match="no fold has a cost"):
        found["bad"].mean("cost")
    lone = result("one", [0.5, 0.5], [None, 0.7])
    assert lone.sd("roc_auc") == 0.0
    both = Comparison((lone, lone), ("a", "b"), 10, 2, 1, 0)
    assert both.test("roc_auc", "one", "one").p_value == 1.0


def test_tables_fit_80_columns_and_carry_spread_and_legend(heart: Comparison) -> None:
    text = str(heart)
    assert max(map(len, text.splitlines())) <= 80
    assert "270 rows, 3-fold cross-validation, seed 4" in text
    nb = heart["nb"]
    shown = f"{100 * nb.mean('accuracy'):.1f} ± {100 * nb.sd('accuracy'):.1f}"
    assert f"{shown} {heart.mark('accuracy', 'nb')}" in text
    assert "= not significantly different from it" in text
    assert "predict present where its probability is above 0.167" in text


def test_large_losses_keep_the_table_within_80_columns() -> None:
    folds = tuple(
        Scores(0.5, 0.5, loss, 1.9, 0.5, 0.1, 0, 0, loss) for loss in (9.7, 1234.5)
    )
    rows = np.arange(2)
    held_out = HeldOut(rows, rows, np.eye(2))
    large = CrossValidation("latent_class", folds, 123.4, 99.0, 1e6, 999, held_out)
    both = Comparison((large, large), ("a", "b"), 99, 2, 1, 0, loss=LOSS)
    text = str(both)
    assert max(map(len, text.splitlines())) <= 80
    assert "622.1 ± 866.1" in text
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_one_model_alone_has_no_marks() -> None:
    text = str(Comparison((comparison()["bad"],), ("a", "b"), 100, 5, 1, 0))
    assert "*" not in text
    assert "=" not in text


def test_markdown_has_one_line_a_model_with_as_many_cells(heart: Comparison) -> None:
    lines = [line for line in heart.to_markdown().splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| nb | ")


def test_csv_rows_hold_the_figures_themselves(
    heart: Comparison, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    text = heart.to_csv(path)
    assert path.read_text("utf-8") == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["model"] for row in rows] == ["nb", "tan"]
    assert float(rows[1]["cost"]) == heart["tan"].mean("cost")
    expected = heart.test("cost", "tan", heart.best("cost")).p_value
    assert float(rows[1]["cost_p"]) == expected


def test_everything_is_plain_json(heart: Comparison) -> None:
    found = json.loads(json.dumps(heart.to_dict(), allow_nan=False))
    assert found["seed"] == 4
    assert found["threshold"] == pytest.approx(1 / 6)
    tan = found["models"][1]
    assert len(tan["folds"]) == 3
    assert tan["tests"]["cost"]["against"] == heart.best("cost")
    assert tan["n_arcs"] == 25


def test_predicting_for_the_loss_is_cheaper_than_not(heart: Comparison) -> None:
    held_out = heart["nb"].held_out
    plain = LOSS[held_out.proba.argmax(axis=1), held_out.truth].mean()
    assert heart["nb"].mean("cost") < plain


def test_a_loss_with_names_is_put_in_the_order_of_the_classes(
    heart: Comparison,
) -> None:
    X, y = load_heart(return_X_y=True)
    turned = LossMatrix(("present", "absent"), LOSS[::-1, ::-1])
    again = compare(X, y, ["nb", "tan"], n_folds=3, loss=turned, random_state=4)
    assert [r.folds for r in again.results] == [r.folds for r in heart.results]


def test_any_classifier_takes_part_on_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] + rng.normal(scale=0.1, size=90) > 0, "b", "a")
    models = {
        "ours": "nb",
        "gauss": make_pipeline(StandardScaler(), GaussianNB()),
        "prior": DummyClassifier(),
    }
    found = compare(X, y, models, n_folds=3)
    held_out = [one.held_out for one in found.results]
    assert all(np.array_equal(one.rows, held_out[0].rows) for one in held_out)
    assert found["prior"].mean("roc_auc") == 0.5
    assert found["prior"].n_parameters is None
    assert found["ours"].n_parameters is not None
    assert found.mark("log_loss", "prior") == "-"
    assert " - " in str(found)


def test_models_without_names_are_called_as_their_class() -> None:
    X, y = load_heart(return_X_y=True)
    found = compare(X, y, ["nb", TANClassifier()], n_folds=2)
    assert found.names == ("nb", "TANClassifier")
    with pytest.raises(KeyError):
        found["kdb"]


def test_brackets_in_a_name_are_no_markup() -> None:
    found = Comparison((result("a[b]", [0.5], [0.5]),), ("x",), 9, 2, 1, 0)
    assert "a[b]" in str(found)


def test_what_cannot_be_compared_is_named() -> None:
    def check(case: tuple[Any, dict[str, Any], str]) -> None:
        models, options, message = case
        frame = pd.DataFrame({"word": ["u", "v"] * 10})
        with pytest.raises(ValueError, match=message):
            compare(frame, ["p", "q"] * 10, models, **options)

    check_each(
        [
            (["svm"], {}, "models must be among nb, tan"),
            ([], {}, "there is no model"),
            (["nb", "nb"], {}, "two models are called 'nb'"),
            (
                ["nb"],
                {"baseline": "tan"},
                "baseline must be 'best' or one of the models",
            ),
            (
                ["nb"],
                {"loss": [[0, 1], [1, 2]]},
                "must be 0 where the prediction is right",
            ),
            (["nb"], {"loss": np.ones((3, 3))}, r"shape \(2, 2\)"),
            (["nb"], {"n_folds": 1}, "folds must be at least 2"),
            (["nb"], {"random_state": -4}, "seed must be at least 0 .* got -4"),
            ([GaussianNB()], {}, "GaussianNB cannot learn from this table"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NaiveBayesClassifier, "make an instance"),
        (3, "models must be names or classifiers, got 3"),
        (LinearSVC(), "LinearSVC has no predict_proba; wrap it"),
    ],
)
def test_what_is_no_classifier_with_probabilities_is_refused(
    model: Any, message: str
) -> None:
    X = np.arange(20.0)[:, None]
    with pytest.raises(TypeError, match=message):
        compare(X, ["p", "q"] * 10, [model])


class Broken(NaiveBayesClassifier):
    """Gives probabilities that are none."""

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), np.nan)


def test_probabilities_that_are_nan_are_refused_rather_than_averaged() -> None:
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="Broken gave 10 held-out rows"):
        compare(X, ["p", "q"] * 10, [Broken()], n_folds=2)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ([[0, 0], [0, 0]], "must charge for at least one of the two errors"),
        ([[0, -1], [1, 0]], "must charge for at least one of the two errors"),
        ([[0, 1e308], [1e308, 0]], r"at most 1e\+100, got 1e\+308"),
    ],
)
def test_losses_without_a_finite_threshold_are_refused_before_anything_is_learned(
    loss: list[list[float]], message: str
) -> None:
    told: list[str] = []
    X = np.arange(20).reshape(10, 2) % 2
    with listening(told.append), pytest.raises(ValueError, match=message):
        compare(X, np.arange(10) % 2, ["nb"], n_folds=2, loss=loss)
    assert told == []


def test_models_in_no_list_are_one_model_or_refused() -> None:
    X = np.arange(20).reshape(10, 2) % 2
    found = compare(X, np.arange(10) % 2, NaiveBayesClassifier(), n_folds=2)
    assert found.names == ("NaiveBayesClassifier",)
    with pytest.raises(TypeError, match="in a list or mapping, got 5"):
        compare(X, np.arange(10) % 2, 5)


def test_deviation_and_error_reduction_follow_from_the_mean_accuracy() -> None:
    compared = comparison()
    mean = compared["bad"].mean("accuracy")
    assert compared.accuracy_sd("bad") == pytest.approx(
        (mean * (1 - mean) / 100) ** 0.5
    )
    best = 1 - compared["good"].mean("accuracy")
    assert compared.error_reduction("bad") == pytest.approx(1 - (1 - mean) / best)
    assert compared.error_reduction("good") == 0.0
    assert compared.error_reduction("good", "bad") == pytest.approx(
        1 - best / (1 - mean)
    )
    perfect = Comparison(
        (result("one", [1.0, 1.0], [1.0, 1.0]),), ("a", "b"), 9, 2, 1, 0
    )
    assert perfect.error_reduction("one") is None
    row = compared.to_rows()[0]
    assert row["accuracy_kohavi_sd"] == compared.accuracy_sd("bad")
    assert row["error_reduction"] == compared.error_reduction("bad")
    model = compared.to_dict()["models"][0]
    assert model["error_reduction"] == compared.error_reduction("bad")


def test_description_lengths_are_those_of_the_training_folds() -> None:
    X, y = load_heart(return_X_y=True)
    rows = np.arange(len(y))
    folds = [(rows[rows % 2 != part], rows[rows % 2 == part]) for part in (0, 1)]
    found = compare(X, y, ["nb", "tan"], cv=folds, description_length=True)
    labels = np.array(y.to_pylist() if hasattr(y, "to_pylist") else y)
    for name, kind in (("nb", NaiveBayesClassifier), ("tan", TANClassifier)):
        expected = [
            description_length(model, X.take(train), labels[train]).total
            for train, _ in folds
            for model in [kind().fit(X.take(train), labels[train])]
        ]
        np.testing.assert_allclose(
            found[name].values("description_length"), expected, rtol=1e-12
        )
    assert found.best("description_length") == "nb"
    assert "MDL bits" in str(found.document())
    assert found.to_rows()[0]["description_length"] == pytest.approx(
        found["nb"].mean("description_length")
    )
    assert "description_length" not in compare(X, y, ["nb"], cv=folds).to_rows()[0]
    with pytest.raises(ValueError, match=r"auto: .*without its description"):
        compare(X, y, ["auto"], cv=folds, description_length=True)
