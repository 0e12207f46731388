"""The first page of reports: sentences, and counts of a hundred rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf import BayesianNetwork, BayesianNetworkEstimator, NaiveBayesClassifier
from bayleaf.datasets import make_led7
from bayleaf.report import report_html, summarize
from bayleaf.report.overview import (
    DECISIONS,
    OUTCOMES,
    class_sentences,
    density_sentences,
    dependence_values,
    in_100,
    of_100,
)
from bayleaf.report.summary_form import factor


def test_sentences_are_those_of_the_confusion(summary: dict[str, Any]) -> None:
    quality = summary["quality"]
    first, second = class_sentences(quality, "disease")
    (_, false), (missed, found) = quality["confusion"]["counts"]
    assert f"Finds {100 * found / (found + missed):.0f} of 100 rows with" in first
    assert f"right in {100 * found / (found + false):.0f} of 100 (95 %" in first
    assert f"Right in {100 * quality['scores']['accuracy']:.0f} of 100" in second


def test_operating_points_are_shares_of_all_rows(summary: dict[str, Any]) -> None:
    points = summary["overview"]["points"]
    known = {
        p["threshold"]: p for p in summary["quality"]["operating_points"]["points"]
    }
    assert len(points) == 4
    assert [point["is_used"] for point in points].count(True) == 1
    for point in points:
        assert sum(point[kind] for kind in OUTCOMES) == pytest.approx(1)
        found, missed, false_alarm, _ = (point[kind] for kind in OUTCOMES)
        same = known[point["threshold"]]
        assert found / (found + missed) == pytest.approx(same["sensitivity"])
        assert found / (found + false_alarm) == pytest.approx(same["precision"])


def test_of_several_classes_the_likeliest_decides_where_it_is_sure() -> None:
    table = make_led7(300, random_state=0)
    X = table.X.to_pandas()
    model = NaiveBayesClassifier().fit(X, table.y)
    values = summarize(model, X.assign(digit=table.y), "digit", held_out=True)
    points = values["overview"]["points"]
    assert [point["threshold"] for point in points] == [0.0, 0.5, 0.8, 0.9]
    proba = model.predict_proba(X)
    is_right = model.predict(X) == np.asarray(table.y)
    for point in points:
        is_sure = proba.max(axis=1) > point["threshold"]
        assert point["right"] == pytest.approx((is_sure & is_right).mean())
        assert point["wrong"] == pytest.approx((is_sure & ~is_right).mean())
        assert sum(point[kind] for kind in DECISIONS) == pytest.approx(1)
    page = report_html(values)
    assert page.count('<svg class="icons"') == 4
    assert "left to a person. The likeliest class decides" in page


def test_shapes_are_those_of_the_model(summary: dict[str, Any], fitted: Any) -> None:
    for values in summary["overview"]["shapes"]:
        shape = fitted("nb").shape(values["feature"])
        np.testing.assert_array_equal(values["log_odds"], shape.contributions[:, 1])
        np.testing.assert_array_equal(values["edges"], shape.drawn_edges)


def test_counts_of_a_hundred_add_up_and_hide_no_rare_outcome() -> None:
    assert in_100([1 / 3, 1 / 3, 1 / 3]) == [34, 33, 33]
    assert in_100([0.0, 1.0]) == [0, 100]
    assert of_100(0.004) == "fewer than 1 of 100"
    assert of_100(0.999) == "more than 99 of 100"
    assert of_100(1.0) == "100 of 100"


def test_factors_of_odds() -> None:
    assert factor(np.log(3.8)) == "\N{MULTIPLICATION SIGN}3.8"
    assert factor(-np.log(2)) == "\N{DIVISION SIGN}2.0"
    assert factor(0.001) == "\N{MULTIPLICATION SIGN}1"


def test_first_sentences_on_a_density_are_its_gain_and_its_use() -> None:
    def sentences(bits: float | None, *ends: float) -> list[str]:
        intervals = {"bits_gained": [*ends] or None}
        return density_sentences({"bits_gained": bits, "intervals": intervals})

    first, second, third = sentences(1.0, 0.5, 1.5)
    assert first == (
        "Gains 1.00 bits per row over independent columns (95 % interval 0.50 to 1.50)."
    )
    assert "is 2 times as probable" in second
    assert "does not show what causes what" in third
    assert "may be chance" in sentences(1.0, -0.5, 2.5)[1]
    assert sentences(None) == [third]


def test_dependences_are_shares_by_the_states_of_a_parent() -> None:
    network = BayesianNetwork.from_tables(
        states={"smoker": ["no", "yes"], "cough": ["no", "yes"], "hair": ["a", "b"]},
        parents={"cough": ["smoker"], "hair": ["smoker"]},
        tables={
            "smoker": [0.5, 0.5],
            "cough": [[1.0, 0.0], [0.0, 1.0]],
            "hair": [[0.5, 0.5], [0.5, 0.5]],
        },
    )
    first, second = dependence_values(network)
    assert (first["feature"], first["target"], first["bits"]) == ("smoker", "cough", 1)
    shares = dict(zip(first["states"], first["shares"], strict=True))
    assert shares == {"no": first["state"] == "no", "yes": first["state"] == "yes"}
    assert second["bits"] == pytest.approx(0)


def test_dependences_are_drawn_unless_counts_are_rounded(
    density: BayesianNetworkEstimator, heart: pa.Table
) -> None:
    page = report_html(summary := summarize(density, heart, n_folds=2))
    for one in summary["overview"]["shapes"]:
        lengths = {f'width="{78 * share:.1f}"' for share in one["shares"]}
        assert all(length in page for length in lengths)
    assert page.count('<svg class="effects"') == 6
    assert "Which columns depend on each other most" in page
    rounded = summarize(density, heart, n_folds=2, min_count=5)
    assert rounded["overview"]["shapes"] == []
