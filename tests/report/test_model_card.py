"""What a model card tells, and that each of it is a fact of the summary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import beta, t

from bayleaf import AveragedKDBRegressor, BayesianNetwork, NaiveBayesClassifier
from bayleaf.report import About, model_card, report_html, summarize, write_report
from bayleaf.wording import in_bits
from report.hostile import NAMES, TARGET, VALUES, hostile_table

Values = dict[str, Any]
GIVEN = About(
    purpose="Find the ill.",
    users="Doctors",
    out_of_scope="Children",
    owner="The ward",
    source="/data/secret/heart.csv",
    collected="1988",
    fitted="2026-01-01",
    written="2026-01-02",
)


def table_after(card: str, caption: str) -> list[list[str]]:
    """The cells of the table with a caption, its head left out."""
    below = card.split(caption)[1].split("\n\n")[1]
    lines = below.splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def titles(card: str) -> list[str]:
    """The headings of a card's parts."""
    return [line[3:] for line in card.splitlines() if line.startswith("## ")]


@pytest.fixture(scope="module")
def held_out(fitted: Callable[[str], Any], heart: pa.Table) -> Values:
    """A summary of naive Bayes by sex and age, scored itself."""
    return summarize(fitted("nb"), heart, held_out=True, by=["sex", "age"])


@pytest.fixture(scope="module")
def card(held_out: Values) -> str:
    """Its card."""
    return model_card(held_out, GIVEN)


@pytest.fixture(scope="module")
def rows(fitted: Callable[[str], Any], heart: pa.Table) -> pd.DataFrame:
    """What naive Bayes predicts for each row."""
    frame = heart.to_pandas()
    proba = fitted("nb").predict_proba(heart.drop_columns("disease"))
    truth = (frame["disease"] == "present").to_numpy()
    of_truth = np.where(truth, proba[:, 1], proba[:, 0])
    return pd.DataFrame(
        {
            "sex": frame["sex"],
            "truth": truth,
            "chosen": proba[:, 1] > 0.5,
            "loss": -np.log(of_truth),
            "brier": 2 * (1 - of_truth) ** 2,
        }
    )


def test_a_card_has_its_parts_in_order(card: str) -> None:
    assert card.startswith("# Model card: NaiveBayesClassifier for `disease`\n")
    assert titles(card) == [
        "Purpose",
        "The model",
        "Data and dates",
        "How columns are read",
        "Figures",
        "Groups",
        "What it cannot know",
    ]


def test_what_a_person_gives_stands_on_the_card(card: str) -> None:
    for words in ("Find the ill.", "Doctors", "Children", "The ward", "1988"):
        assert words in card
    assert "to be filled in" not in card
    assert "- **Model fitted:** 2026-01-01" in card


def test_what_nobody_gave_is_to_be_filled_in(held_out: Values) -> None:
    card = model_card(held_out)
    for title in ("Purpose", "Intended users", "Out of scope", "Owner and contact"):
        assert f"- **{title}:** to be filled in" in card
    for title in ("Source", "Rows collected", "Model fitted"):
        assert f"- **{title}:** to be filled in" in card


def test_of_a_path_the_name_of_the_file_is_told(card: str) -> None:
    assert "`heart.csv`" in card
    assert "secret" not in card
    assert About(source="C:\\secret\\t.csv").source_name == "t.csv"


def test_the_date_is_the_one_given_or_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert GIVEN.dated().written == "2026-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert About().dated().written == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(ValueError, match="should be a number of seconds since 1970"):
        About().dated()


def test_a_card_follows_from_the_summary_alone(card: str, held_out: Values) -> None:
    read = json.loads(json.dumps(held_out, allow_nan=False))
    assert model_card(read, GIVEN) == card


def test_a_summary_of_another_version_is_refused(held_out: Values) -> None:
    with pytest.raises(ValueError, match="make it again"):
        model_card({**held_out, "schema": "bayleaf-report/0"})


def test_intervals_are_those_of_scipy(held_out: Values, rows: pd.DataFrame) -> None:
    found = held_out["quality"]["intervals"]
    n_right = int((rows["truth"] == rows["chosen"]).sum())
    posterior = beta(n_right + 0.5, len(rows) - n_right + 0.5)
    assert found["accuracy"] == pytest.approx(posterior.interval(0.95))
    for name, column in (("log_loss", "loss"), ("brier", "brier")):
        own = rows[column]
        ends = t.interval(0.95, len(own) - 1, own.mean(), own.sem())
        assert found[name] == pytest.approx(ends)


def test_figures_stand_with_their_intervals(card: str, held_out: Values) -> None:
    quality = held_out["quality"]
    cells = {row[0]: row[1:] for row in table_after(card, "held-out rows:")}
    low, high = quality["intervals"]["accuracy"]
    assert cells["accuracy"] == [
        f"{100 * quality['scores']['accuracy']:.1f} %",
        f"{100 * low:.1f} % to {100 * high:.1f} %",
        f"{100 * quality['baseline']['accuracy']:.1f} %",
    ]
    assert cells["calibration error"][1] == ""
    assert "declared as held out" in card


def test_folds_and_seed_are_told(fitted: Callable[[str], Any], heart: pa.Table) -> None:
    found = summarize(fitted("nb"), heart, n_folds=3, random_state=5)
    card = model_card(found)
    assert "3-fold cross-validation" in card
    assert "(seed 5)" in card
    assert "Over 3 folds, the accuracy has a standard deviation" in card
    assert "Groups" not in titles(card)
    assert "No groups of rows were compared." in card


def test_figures_of_groups_are_those_of_their_rows(
    card: str, rows: pd.DataFrame
) -> None:
    scores = {row[0]: row[1:] for row in table_after(card, "rows by `sex`:")}
    rates = {row[0]: row[1:] for row in table_after(card, "`present` by `sex`:")}
    assert set(scores) == {"`female`", "`male`"}
    for name, own in rows.groupby("sex"):
        found = scores[f"`{name}`"]
        assert found[0] == str(len(own))
        right = (own["truth"] == own["chosen"]).mean()
        assert found[1].startswith(f"{100 * right:.1f}\N{NO-BREAK SPACE}%")
        assert found[2].startswith(f"{in_bits(own['loss'].mean()):.3f} (")
        found_rate = own["chosen"][own["truth"]].mean()
        told = rates[f"`{name}`"][2]
        assert told.startswith(f"{100 * found_rate:.1f}\N{NO-BREAK SPACE}% (")


def test_numbers_make_groups_at_the_cut_points_of_the_model(card: str) -> None:
    groups = [row[0] for row in table_after(card, "rows by `age`:")]
    assert groups == ["`<= 54.5`", "`> 54.5`"]


def test_unequal_shares_of_a_class_are_told_with_what_follows(card: str) -> None:
    assert "The share of `present` differs by `sex`: then groups cannot have" in card


def test_equal_shares_of_a_class_have_no_such_sentence() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": [*"abcd"] * 60, "y": [0, 1] * 120})
    table["group"] = rng.permutation(["u", "v"] * 120)
    table.loc[[0, 1, 2], "x"] = "a"
    model = NaiveBayesClassifier().fit(table[["x"]], table["y"])
    card = model_card(summarize(model, table, "y", by="group", n_folds=2))
    assert "Held-out rows by `group`" in card
    assert "then groups cannot have" not in card
    # A sentence, not a table without rows.
    assert "the group of most rows, none have an interval without 0." in card


def test_a_column_that_the_model_does_not_read_makes_groups(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    town = pa.array(["A", "B", None] * 90)
    table = heart.append_column("town", town)
    found = summarize(fitted("nb"), table, held_out=True, by="town")
    (one,) = found["groups"]
    assert [group["group"] for group in one["groups"]] == [["A"], ["B"], ["missing"]]
    assert "town" in found["data"]["left_out"]


def test_groups_of_few_rows_are_named(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    town = pa.array(["A"] * 260 + ["B"] * 10)
    table = heart.append_column("town", town)
    card = model_card(summarize(fitted("nb"), table, held_out=True, by="town"))
    assert "Fewer than 30 rows are behind the figures of `B` by `town`" in card


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("nothing", "no column 'nothing' to make groups by"),
        ("disease", "'disease' is the target"),
        ("number", "has 270 values, more than"),
    ],
)
def test_columns_that_make_no_groups_are_refused(
    by: str, words: str, fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    table = heart.append_column("number", pa.array(range(len(heart))))
    with pytest.raises(ValueError, match=words):
        summarize(fitted("nb"), table, held_out=True, by=by)


def test_models_without_classes_have_no_groups(density: Any, heart: pa.Table) -> None:
    with pytest.raises(ValueError, match="by belongs to classifiers"):
        summarize(density, heart, by="sex")


@pytest.mark.parametrize(
    ("missing", "share", "words"),
    [
        ("marginalize", 0, "No cell of this table is missing"),
        ("marginalize", 5, "5.0 % of all cells are missing, and are summed out"),
        ("state", 5, "5.0 % of all cells are missing, and count as a value"),
        ("error", 0, "Rows with missing cells are refused"),
    ],
)
def test_what_is_taken_for_granted_of_missing_cells_is_told(
    missing: str, share: int, words: str
) -> None:
    table = pd.DataFrame({"x": [*"ab"] * 50, "y": [0, 1] * 50})
    table.loc[: share - 1, "x"] = None
    model = NaiveBayesClassifier(missing=missing).fit(table[["x"]], table["y"])
    assert words in model_card(summarize(model, table, "y", n_folds=2))


def test_unknown_values_are_told(fitted: Callable[[str], Any], heart: pa.Table) -> None:
    frame = heart.to_pandas()
    frame.loc[:2, "chest_pain"] = "new"
    card = model_card(summarize(fitted("nb"), frame, held_out=True))
    assert "3 cells hold values that training did not contain." in card
    cells = {row[0]: row[1:] for row in table_after(card, "cells in this table:")}
    assert cells["`chest_pain`"][-1] == "1.1 %"


def test_cut_points_are_counted(card: str, held_out: Values) -> None:
    cells = {row[0]: row[1:] for row in table_after(card, "cells in this table:")}
    assert cells["`age`"][:3] == ["numbers", "2", "1"]
    assert cells["`sex`"][:3] == ["values", "2", ""]


def test_the_numbers_of_training_are_told(card: str, heart: pa.Table) -> None:
    ages = heart.column("age").to_numpy()
    assert f"`age` {ages.min():.10g} to {ages.max():.10g}" in card


def test_arrows_are_told_to_be_no_causes_where_there_are_some(card: str) -> None:
    assert "The 13 arrows of the structure say" in card
    assert "not what causes what" in card


def test_a_network_without_arrows_has_no_sentence_on_them() -> None:
    states = {"a": ["x", "y"], "b": ["x", "y"]}
    tables = {"a": [0.5, 0.5], "b": [0.5, 0.5]}
    network = BayesianNetwork.from_tables(states, tables)
    table = pd.DataFrame({"a": [*"xy"] * 5, "b": [*"yx"] * 5})
    card = model_card(summarize(network, table, held_out=True))
    assert "causes" not in card
    assert "BayesianNetwork over 2 variables" in card


def test_settings_other_than_the_defaults_are_told(heart: pa.Table) -> None:
    model = NaiveBayesClassifier(smoothing="dirichlet", class_prior=[0.4, 0.6])
    model.fit(heart.drop_columns("disease"), heart.to_pandas()["disease"])
    card = model_card(summarize(model, heart, held_out=True))
    assert table_after(card, "than the defaults:") == [
        ["`class_prior`", "`[0.4, 0.6]`"],
        ["`smoothing`", "`dirichlet`"],
    ]
    card = model_card(summarize(model, heart, held_out=True, min_count=5))
    assert ["`class_prior`", "given, not shown"] in table_after(card, "the defaults:")


def test_small_counts_and_single_values_stay_out_of_a_card(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    town = pa.array(["A"] * 200 + ["B"] * 66 + ["Secret"] * 4)
    table = heart.append_column("town", town)
    found = summarize(
        fitted("nb"), table, held_out=True, by=["town", "resting_ecg"], min_count=5
    )
    card = model_card(found, GIVEN)
    assert "Secret" not in json.dumps(found)
    assert "ST-T abnormality" not in card
    assert "Numbers in training" not in card
    assert "rounded to multiples of 5" in card
    assert "- **Rows:** about " in card
    for row in table_after(card, "rows by `town`:"):
        assert int(row[1]) % 5 == 0
        assert int(row[1]) >= 50


def test_without_rows_no_number_of_training_is_told(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    found = summarize(fitted("nb"), heart, held_out=True, rows=False)
    assert "Numbers in training" not in model_card(found)


def test_density_models_have_cards(density: Any, heart: pa.Table) -> None:
    found = summarize(density, heart, n_folds=2)
    low, high = found["quality"]["intervals"]["nats_per_row"]
    assert low < found["quality"]["nats_per_row"] < high
    card = model_card(found)
    (row,) = table_after(card, "held-out rows:")
    assert row[2] == f"{in_bits(low):.3f} to {in_bits(high):.3f}"
    assert "Groups" not in titles(card)
    rounded = summarize(density, heart, n_folds=2, min_count=5)
    assert "bits a row" in model_card(rounded)


def test_regressors_have_cards() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=120), "z": [*"abc"] * 40})
    table["y"] = table["x"] + rng.normal(size=120)
    model = AveragedKDBRegressor(n_networks=2, trees=False, random_state=0)
    model.fit(table[["x", "z"]], table["y"])
    found = summarize(model, table, "y", n_folds=2)
    assert found["quality"]["basis"] == "cross_validation"
    card = model_card(found)
    cells = {row[0]: row[1:] for row in table_after(card, "held-out rows:")}
    assert " to " in cells["mean absolute error"][1]
    assert " to " in cells["rows inside them"][1]
    assert "of shares by Jeffreys' prior, of means over rows by Student's" in card


def test_a_page_has_the_card_as_a_section_if_asked(
    held_out: Values, tmp_path: Path
) -> None:
    assert 'id="card"' not in report_html(held_out)
    page = report_html(held_out, about=About(purpose="<b>&", written="2026-01-02"))
    assert 'href="#card"' in page
    assert "&lt;b&gt;&amp;" in page
    assert "Written on 2026-01-02" in page


def test_page_and_card_are_written_together(
    fitted: Callable[[str], Any], heart: pa.Table, tmp_path: Path
) -> None:
    page, card = tmp_path / "r.html", tmp_path / "c.md"
    found = write_report(
        fitted("nb"), heart, page, card=card, about=GIVEN, held_out=True, by="sex"
    )
    assert card.read_text("utf-8") == model_card(found, GIVEN)
    assert page.read_text("utf-8") == report_html(found, about=GIVEN)


def test_no_group_is_large_enough_for_rounding(
    fitted: Callable[[str], Any], heart: pa.Table
) -> None:
    found = summarize(fitted("nb"), heart, held_out=True, by="sex", min_count=30)
    card = model_card(found)
    assert "Groups and shares of fewer than 300 rows are not shown" in card
    assert "Held-out rows by" not in card


def test_page_and_groups_are_sums_of_the_same_rounded_rows() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"x": rng.integers(0, 4, 1200), "g": [*"uv"] * 600})
    table["h"] = np.array([*"st"])[rng.integers(0, 2, 1200)]
    table["y"] = np.array([*"ab"])[(rng.integers(0, 5, 1200) < table["x"]) * 1]
    model = NaiveBayesClassifier().fit(table[["x"]], table["y"])
    found = summarize(model, table, by=["g", "h"], held_out=True, min_count=5)
    quality, (table_of_a, _) = found["quality"], found["quality"]["confusion"]["counts"]
    totals = quality["confusion"]["totals"]
    assert [one["prior"] for one in found["model"]["classes"]] == [
        total / found["data"]["n_rows"] for total in totals
    ]
    for one in found["groups"]:
        rates = [group["classes"][0] for group in one["groups"]]
        assert sum(group["n_rows"] for group in one["groups"]) == quality["n_rows"]
        assert sum(own["true_positive_rate"]["n"] for own in rates) == totals[1]
        alarms = [
            own["false_positive_rate"]["value"] * own["false_positive_rate"]["n"]
            for own in rates
        ]
        assert sum(alarms) == pytest.approx(table_of_a[1])


def test_too_many_groups_together_are_refused_before_any_fold() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.integers(0, 9, 2000) for name in "xghk"})
    table["y"] = np.array([*"ab"])[rng.integers(0, 2, 2000)]
    model = NaiveBayesClassifier().fit(table[["x"]], table["y"])
    with pytest.raises(ValueError, match="more than 200; with min_count, name fewer"):
        summarize(model, table, by=[*"ghk"], n_folds=10**6, min_count=5)


def test_each_of_several_classes_has_its_rates() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.integers(0, 4, 240), "g": [*"uv"] * 120})
    table["y"] = np.array([*"abc"])[rng.integers(0, 3, 240)]
    model = NaiveBayesClassifier().fit(table[["x"]], table["y"])
    for min_count in (1, 5):
        found = summarize(model, table, by="g", n_folds=2, min_count=min_count)
        card = model_card(found)
        for label in "abc":
            rates = table_after(card, f"Rates of `{label}` by `g`:")
            assert [row[0] for row in rates] == ["`u`", "`v`"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1280])
def test_the_section_fits_its_window_and_runs_nothing(
    width: int, browser: Any, tmp_path: Path
) -> None:
    table = hostile_table()
    model = NaiveBayesClassifier().fit(table[[*NAMES]], table[TARGET])
    summary = summarize(model, table, n_folds=2, by=[NAMES[0]])
    path = tmp_path / "r.html"
    about = About(purpose=NAMES[0] * 9, source=VALUES[0])
    path.write_text(report_html(summary, about=about), encoding="utf-8")
    context = browser.new_context(
        offline=True, viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("window.harm") is None
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.slow
def test_the_section_adds_at_most_two_printed_pages(
    held_out: Values, browser: Any, tmp_path: Path
) -> None:
    page, numbers = browser.new_page(), []
    for about in (None, GIVEN):
        path, printed = tmp_path / "r.html", tmp_path / "r.pdf"
        path.write_text(report_html(held_out, about=about), encoding="utf-8")
        page.goto(path.as_uri())
        page.pdf(path=printed, format="A4")
        numbers.append(len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())))
    page.close()
    assert numbers[0] <= numbers[1] <= numbers[0] + 2
