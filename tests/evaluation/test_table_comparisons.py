"""Comparisons of classifiers over several tables."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from bayleaf.datasets import load_heart, make_led7
from bayleaf.evaluation import TableComparisons, compare, compare_tables, friedman_test

MODELS = ["nb", "tan", "aode"]


@pytest.fixture(scope="module")
def found() -> TableComparisons:
    """Three classifiers on three small tables."""
    heart = load_heart()
    led = [make_led7(60, random_state=seed) for seed in range(2)]
    tables = {"heart": (heart.X, heart.y)}
    tables |= {f"led{i}": (table.X, table.y) for i, table in enumerate(led)}
    return compare_tables(tables, MODELS, n_folds=3)


def test_each_table_has_the_scores_of_a_comparison(found: TableComparisons) -> None:
    assert found.tables == ("heart", "led0", "led1")
    heart = load_heart()
    alone = compare(heart.X, heart.y, MODELS, n_folds=3)
    for score in alone.scores:
        assert found.means(score)["tan"][0] == alone["tan"].mean(score)


def test_ranks_and_tests_are_those_of_the_means(found: TableComparisons) -> None:
    expected = friedman_test(found.means("log_loss"), larger_is_better=False)
    assert found.rank_test("log_loss") == expected
    assert found.mean_ranks("log_loss") == expected.mean_ranks
    means = pd.DataFrame(found.means("accuracy"))
    ranks = means.rank(axis=1, ascending=False).mean()
    assert found.mean_ranks("accuracy") == pytest.approx(ranks.to_dict())


def test_the_text_has_ranks_tests_and_tables(found: TableComparisons) -> None:
    text = str(found)
    assert text.startswith("Mean ranks on 3 tables, 1 the best")
    assert "Friedman" in text
    assert "Nemenyi" in text
    rank = f"{found.mean_ranks('accuracy')['tan']:.2f}"
    line = next(line for line in text.splitlines() if line.startswith("tan"))
    assert line.split()[1] == rank


def test_rows_name_the_table_and_model(found: TableComparisons) -> None:
    frame = found.to_pandas()
    pairs = [(table, name) for table in found.tables for name in MODELS]
    assert list(zip(frame["table"], frame["model"], strict=True)) == pairs
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["table"] for row in rows] == frame["table"].tolist()
    assert frame["accuracy"].tolist() == [float(row["accuracy"]) for row in rows]


def test_two_models_are_compared_by_signed_ranks() -> None:
    led = make_led7(60, random_state=0)
    tables = dict.fromkeys("ab", (led.X, led.y))
    two = compare_tables(tables, ["nb", "tan"], n_folds=2)
    assert "Wilcoxon" in str(two)
    one = compare_tables({"a": tables["a"]}, ["nb", "tan"], n_folds=2)
    assert "two or more tables" in str(one)
    assert one.to_dict()["ranks"]["accuracy"].keys() == {"mean_ranks"}


def test_what_does_not_fit_is_named() -> None:
    led = make_led7(60, random_state=0)
    with pytest.raises(ValueError, match="at least one table"):
        compare_tables({})
    with pytest.raises(TypeError, match="pairs of X and y"):
        compare_tables({"led": led.X})
    with pytest.raises(ValueError, match="table led: folds must be"):
        compare_tables({"led": (led.X, led.y)}, n_folds=1)
