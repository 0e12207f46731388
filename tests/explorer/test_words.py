"""Words of a page, and which of its features may change."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayleaf
from bayleaf.explorer import explorer_html, words_template
from bayleaf.explorer.words import _is_lasting
from explorer.cases import table
from explorer.test_page import content_of, small_network
from offenders import check_each


def fitted() -> Any:
    """Naive Bayes of a number, a name and an age."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = pa.table(
        {
            "body_weight": rng.normal(70, 9, 80) + 20 * y,
            "smoker": [f"{'ny'[int(v)]}" for v in rng.random(80) < 0.3 + 0.4 * y],
            "patientAge": [f"{v}" for v in rng.integers(0, 3, 80)],
        }
    )
    return bayleaf.NaiveBayesClassifier().fit(X, [("well", "ill")[v] for v in y])


MODEL = fitted()


def test_the_template_is_what_a_page_takes() -> None:
    template = words_template(MODEL)
    assert template["outcome"] == "ill" or template["outcome"] == "well"
    assert template["features"]["body_weight"]["label"] == "body weight"
    assert template["features"]["smoker"]["states"] == {"n": "n", "y": "y"}
    content = content_of(explorer_html(MODEL, words=template))
    assert content["words"]["cases"] == "cases"
    weight = content["variables"][0]["words"]
    assert weight == {"label": "body weight", "question": "body weight?", "cost": 1}


def test_words_reach_the_page() -> None:
    words = {
        "cases": "patients",
        "outcome": "ill",
        "wanted": "well",
        "phrases": {"ill": "are ill"},
        "features": {"smoker": {"states": {"y": "smokes"}, "cost": 2.5}},
    }
    content = content_of(explorer_html(MODEL, words=words))
    classes = content["variables"][-1]["states"]
    assert content["words"] == {
        "cases": "patients",
        "outcome": classes.index("ill"),
        "wanted": classes.index("well"),
        "phrases": {"ill": "are ill"},
    }
    assert content["variables"][1]["words"] == {"cost": 2.5, "states": {"y": "smokes"}}


WRONG: list[tuple[Any, str]] = [
    ([1], "the words of a page must be an object, got [1]"),
    ({"case": "x"}, "have no key 'case'; did you mean cases?"),
    ({"cases": 3}, "'cases' must be a text, got 3"),
    ({"cases": 0}, "'cases' must be a text, got 0"),
    ({"phrases": 0}, "'phrases' must be an object, got 0"),
    ({"features": []}, "'features' must be an object, got []"),
    ({"features": {"smoker": {"label": {}}}}, "'label' of 'smoker' must be a text"),
    ({"features": {"smoker": {"states": 0}}}, "'states' of 'smoker' must be an object"),
    ({"features": {"smoker": {"cost": 10**400}}}, "must be a number above 0, got 1000"),
    ({"outcome": "il"}, "the outcome 'il' is not a class of the model; did you mean"),
    ({"wanted": "wel"}, "the wanted class 'wel' is not a class of the model; did you"),
    ({"phrases": {"sick": "x"}}, "'phrases' have no key 'sick'; there are: "),
    ({"features": {"smoke": {}}}, "have no key 'smoke'; did you mean smoker?"),
    ({"features": {"smoker": 1}}, "the words of 'smoker' must be an object, got 1"),
    ({"features": {"smoker": {"costs": 1}}}, "no key 'costs'; did you mean cost?"),
    ({"features": {"smoker": {"cost": 0}}}, "must be a number above 0, got 0"),
    ({"features": {"smoker": {"cost": float("nan")}}}, "above 0, got nan"),
    ({"features": {"smoker": {"states": {"z": "x"}}}}, "have no key 'z'"),
    ({"features": {"smoker": {"unit": ["kg"]}}}, "'unit' of 'smoker' must be a text"),
]


def test_words_without_meaning_are_refused_in_a_sentence() -> None:
    def check(case: tuple[Any, str]) -> None:
        words, message = case
        with pytest.raises(ValueError, match=re.escape(message)):
            explorer_html(MODEL, words=words)

    check_each(WRONG, check)


def test_words_that_are_null_or_empty_are_left_out() -> None:
    of_smoker = {"label": "", "states": {"y": None, "n": ""}, "cost": None}
    empty = {"cases": "", "phrases": None, "outcome": None}
    words = {**empty, "features": {"smoker": of_smoker}}
    for given in (words, {**empty, "features": None}):
        content = content_of(explorer_html(MODEL, words=given))
        assert content["words"] == {}
        assert not content["variables"][1].get("words")


def test_names_of_rare_states_do_not_come_into_a_page_by_their_words() -> None:
    X, y = table()
    rare = X.append_column(
        "rare", [["secret" if i == 5 else "plain" for i in range(160)]]
    )
    model = bayleaf.NaiveBayesClassifier().fit(rare, y)
    words = {"features": {"rare": {"states": {"secret": "x", "plain": "y"}}}}
    assert "secret" in str(content_of(explorer_html(model, words=words)))
    assert "secret" not in str(
        content_of(explorer_html(model, words=words, min_count=5))
    )


def changes(**options: Any) -> list[str | None]:
    """What may change of each feature."""
    variables = content_of(explorer_html(MODEL, **options))["variables"]
    return [variable.get("change") for variable in variables[:-1]]


def test_features_that_no_one_can_change_are_guessed_by_name_or_named() -> None:
    assert changes() == [None, None, "immutable"]
    assert changes(immutable=["smoker"]) == [None, "immutable", None]
    assert changes(immutable=[]) == [None, None, None]
    lasting = ["marital-status", "maritalStatus", "Familienstand", "estado_civil"]
    assert [*map(_is_lasting, [*lasting, "stage", "status"])] == [True] * 4 + [
        False
    ] * 2
    assert changes(actionable=["body_weight"]) == ["actionable", None, "immutable"]
    assert changes(actionable=["patientAge"]) == [None, None, "actionable"]
    with pytest.raises(ValueError, match="did you mean smoker"):
        changes(immutable=["smokers"])
    with pytest.raises(ValueError, match="must be a list of names, got 'smoker'"):
        changes(immutable="smoker")
    with pytest.raises(ValueError, match="named by both immutable and actionable"):
        changes(immutable=["smoker"], actionable=["smoker"])


def test_only_pages_of_models_with_a_target_take_words() -> None:
    with pytest.raises(ValueError, match="classifiers and regressors have, this is a"):
        explorer_html(small_network(), words={})
    with pytest.raises(ValueError, match="classifiers and regressors have, this is a"):
        words_template(small_network())
    with pytest.raises(ValueError, match="classifiers and regressors have, this is a"):
        explorer_html(small_network(), immutable=[])


def test_words_of_a_number_are_those_of_features_and_target() -> None:
    y = pd.Series(np.arange(60.0), name="net_price")
    model = bayleaf.AveragedKDBRegressor(
        n_networks=1, n_intervals=3, trees=False, random_state=0
    ).fit(pd.DataFrame({"size": np.arange(60) // 9}), y)
    template = words_template(model)
    assert template["features"]["net_price"] == {"label": "net price", "unit": ""}
    words = {"cases": "flats", "features": {"net_price": {"unit": "€"}}}
    content = content_of(explorer_html(model, words=words))
    assert content["variables"][-1]["words"] == {"unit": "€"}
    assert content["title"] == "net price"
    with pytest.raises(ValueError, match="have no key 'outcome'"):
        explorer_html(model, words={"outcome": "high"})


def test_the_title_is_what_the_model_predicts() -> None:
    assert content_of(explorer_html(MODEL))["title"] == "ill or well"
    assert content_of(explorer_html(MODEL, "Heart"))["title"] == "Heart"
    assert content_of(explorer_html(small_network()))["title"] == "Bayesian network"


@pytest.mark.parametrize(
    ("n_classes", "title"),
    [(3, "c00 or c01 or c02"), (4, "class: 4 outcomes"), (12, "class: 12 outcomes")],
)
def test_titles_count_many_classes(n_classes: int, title: str) -> None:
    y = [f"c{i % n_classes:02}" for i in range(60)]
    X = pd.DataFrame({"x": ["a", "b"] * 30})
    y_named = pd.Series(y, name="class")
    model = bayleaf.NaiveBayesClassifier().fit(X, y_named)
    assert content_of(explorer_html(model))["title"] == title


def test_the_title_of_a_number_is_its_name() -> None:
    X = pd.DataFrame({"x": np.arange(60.0)})
    y = pd.Series(np.arange(60.0) % 7, name="class")
    model = bayleaf.AveragedKDBRegressor(random_state=0).fit(X, y)
    assert content_of(explorer_html(model))["title"] == "class"
