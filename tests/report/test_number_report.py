"""What a report shows of a model of a number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import AveragedKDBRegressor
from bayleaf.cli import main
from bayleaf.evaluation.regression import cross_validate_regressors
from bayleaf.regression import learned_trees
from bayleaf.report import report_html, summarize
from bayleaf.report.page import observed_svg
from offenders import check_each


@pytest.fixture(scope="module", autouse=True)
def _few_trees() -> Iterator[None]:
    """Grow few trees, as a report adds up the terms of few as those of many."""
    growths = [own._replace(n_trees=4, n_stages=1) for own in learned_trees._MEANS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learned_trees, "_MEANS", tuple(growths))
        patch.setattr(learned_trees, "_N_FOLDS", 2)
        patch.setattr(
            learned_trees, "_SPREAD", learned_trees._SPREAD._replace(n_trees=2)
        )
        yield


def priced(n_rows: int = 80) -> pd.DataFrame:
    """A price by size, place and noise."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "<b>place</b>": rng.choice(["town", "shore"], n_rows),
            "noise": rng.normal(size=n_rows).round(2),
            "id": [f"row {i}" for i in range(n_rows)],
        }
    )
    table.loc[::19, "noise"] = np.nan
    lifted = 6 * (table["<b>place</b>"] == "shore")
    table["price"] = (4 * table["size"] + lifted + rng.normal(size=n_rows)).round(2)
    return table


@pytest.fixture(scope="module")
def model() -> AveragedKDBRegressor:
    table = priced()
    regressor = AveragedKDBRegressor(n_networks=2, random_state=0)
    return regressor.fit(table.drop(columns="price"), table["price"])


@pytest.fixture(scope="module")
def summary(model: AveragedKDBRegressor) -> dict[str, Any]:
    return summarize(model, priced(), n_folds=2)


def test_the_baseline_score_is_that_of_the_rows_own_distribution() -> None:
    from bayleaf.report.number_report import _baseline

    truth = np.array([1.0, 4.0, 4.5, 9.0])
    ends = np.abs(truth[:, None] - truth)
    expected = ends.mean() - ends.mean() / 2
    assert _baseline(truth)["crps"] == pytest.approx(expected)


def test_rows_add_up_and_are_all_different(summary: dict[str, Any]) -> None:
    rows = summary["rows"]
    assert len({row["row"] for row in rows}) == len(rows) == 8
    for row in rows:
        total = row["baseline"] + sum(t["contribution"] for t in row["terms"])
        assert total + row["rest"] == pytest.approx(row["expectation"], abs=1e-9)
        assert row["truth"] == priced()["price"][row["row"] - 1]


def test_shapes_of_a_number_are_those_of_the_regressor(
    model: AveragedKDBRegressor, summary: dict[str, Any]
) -> None:
    shapes = summary["overview"]["shapes"]
    ranked = [one["feature"] for one in summary["importance"]["features"]]
    assert [shape["feature"] for shape in shapes] == ranked[:6]
    known = model.shape(shapes[0]["feature"], priced().drop(columns=["price", "id"]))
    moved = known.expectations - known.baseline
    np.testing.assert_allclose(shapes[0]["moved"], moved)
    assert "What raises and lowers" in report_html(summary)


def test_scores_are_those_of_cross_validation(
    model: AveragedKDBRegressor, summary: dict[str, Any]
) -> None:
    table = priced()
    expected = cross_validate_regressors(
        {"own": model}, table.drop(columns="price"), table["price"], n_folds=2
    )["own"]
    assert summary["quality"]["scores"] == pytest.approx(expected.to_dict())
    assert summary["quality"]["baseline"]["rmse"] == pytest.approx(
        table["price"].std(ddof=0)
    )


def test_features_are_ranked_by_what_they_are_worth(summary: dict[str, Any]) -> None:
    names = [one["feature"] for one in summary["importance"]["features"]]
    assert names[:2] == ["size", "<b>place</b>"]
    assert names[2:] == ["noise"]


def test_a_column_that_is_not_read_is_named(summary: dict[str, Any]) -> None:
    assert summary["data"]["left_out"] == ["id"]
    assert summarize(
        AveragedKDBRegressor(n_networks=1, trees=False, random_state=0).fit(
            priced()[["size"]], priced()["price"]
        ),
        priced(),
        held_out=True,
    )["data"]["left_out"] == ["<b>place</b>", "noise", "id"]


def test_quantiles_of_held_out_rows_are_counted(model: AveragedKDBRegressor) -> None:
    table = priced()
    quality = summarize(model, table, held_out=True)["quality"]
    said = model.predict_quantiles(table.drop(columns="price"), [0.25])
    share = float((table["price"] <= said[:, 0]).mean())
    bins = {
        one["mean_probability"]: one["share"] for one in quality["calibration"]["bins"]
    }
    assert bins[0.25] == pytest.approx(share)
    assert "not fitted to" in quality["basis_told"]


def test_the_page_shows_names_as_text(summary: dict[str, Any]) -> None:
    page = report_html(json.loads(json.dumps(summary)))
    assert "<b>place</b>" not in page
    assert "&lt;b&gt;place&lt;/b&gt;" in page
    assert page.count("<svg") == 6
    assert "Actual against expected values" in page
    assert "KDBClassifier" not in page


def test_explained_rows_show_the_numbers_of_the_table(summary: dict[str, Any]) -> None:
    page = report_html(summary)
    for row in summary["rows"]:
        (term,) = (t for t in row["terms"] if t["feature"] == "size")
        assert term["cell"] == priced()["size"][row["row"] - 1]
        assert f">{term['cell']:g}, " in page


def test_axes_have_round_numbers_without_exponents() -> None:
    cases = [
        ((227.0, 5480.0), ["2000", "4000"]),
        ((12_000.0, 91_000.0), ["20k", "40k", "60k", "80k"]),
        ((-0.07, 0.09), ["-0.05", "0", "0.05"]),
        ((3.0, 3.0), ["3"]),
    ]
    for (low, high), marks in cases:
        drawn = observed_svg([[low, high], [high, low]])
        found = re.findall(r'class="end"[^>]*>([^<]+)<', drawn)
        assert found == marks


def test_without_rows_no_number_of_a_single_row_is_told(
    model: AveragedKDBRegressor,
) -> None:
    found = summarize(model, priced(), n_folds=2, rows=False)
    assert found["rows"] is None
    assert found["quality"]["observed"] is None
    page = report_html(found)
    assert 'class="dot row"' not in page
    assert 'id="rows"' not in page


def test_too_few_rows_are_told_without_scores(model: AveragedKDBRegressor) -> None:
    found = summarize(model, priced().head(4), n_folds=5)
    assert found["quality"]["basis"] == "none"
    assert found["importance"] is None
    assert found["rows"] is None
    assert "too few for 5 folds" in report_html(found)


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"min_count": 5}, "min_count is not possible for a numeric target"),
    ({}, {"loss": [[0, 1], [1, 0]]}, "loss and positive belong to classifiers"),
    ({}, {"positive": "yes"}, "loss and positive belong to classifiers"),
    ({}, {"target": "prize"}, "no target column 'prize'.*price"),
    ({"size": None}, {}, "the table has no column size"),
    ({"price": np.nan}, {}, "target column 'price' must hold finite numbers"),
    ({"price": "dear"}, {}, "target column 'price' must hold finite numbers"),
]


def test_what_cannot_be_reported_is_refused_in_a_sentence(
    model: AveragedKDBRegressor,
) -> None:
    def check(case: tuple[dict[str, Any], dict[str, Any], str]) -> None:
        change, options, sentence = case
        table = priced()
        for name, value in change.items():
            if value is None:
                table = table.drop(columns=name)
            else:
                table[name] = table[name].astype(object)
                table.loc[3, name] = value
        with pytest.raises(ValueError, match=sentence):
            summarize(model, table, **options)

    check_each(REFUSED, check)


def test_the_command_writes_page_and_values(
    model: AveragedKDBRegressor, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, saved, page = (tmp_path / n for n in ("t.csv", "m.json", "page.html"))
    priced().to_csv(data, index=False)
    model.save(saved)
    words = ["report", str(saved), str(data), "--folds", "2", "-o", str(page)]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "regression"
    assert told["quality"]["scores"]["coverage"] > 0.6
    assert "Expected and observed" in page.read_text(encoding="utf-8")


def test_weights_weigh_fits_and_scores() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = pa.table({"x": x, "y": x + rng.normal(size=60), "w": np.arange(60) % 3})
    model = AveragedKDBRegressor(n_networks=2).fit(table.select(["x"]), table["y"])
    rows = np.repeat(np.arange(60), np.arange(60) % 3)
    one = summarize(model, table, "y", held_out=True, weight="w")["quality"]
    other = summarize(model, table.take(rows), "y", held_out=True)["quality"]
    for score in ("rmse", "crps", "mae"):
        assert one["scores"][score] == pytest.approx(other["scores"][score])
    found = summarize(model, table, "y", n_folds=3, weight="w")["quality"]
    assert "count rows alike" in found["basis_told"]
