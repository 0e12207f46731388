"""Models inside scikit-learn's wrappers answer, or a sentence names what to pass."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from bayleaf import NaiveBayesClassifier, TANClassifier, explain, plot, to_sql
from bayleaf.models.wrappers import model_inside
from contract.tables import mixed_frame
from offenders import check_each

FRAME, LABELS = mixed_frame()
NUMBERS = FRAME[["degrees", "guests"]].fillna(0.0)
PLAIN = TANClassifier().fit(FRAME, LABELS)


def _search(estimator: Any) -> Any:
    return GridSearchCV(estimator, {}, cv=2).fit(FRAME, LABELS)


def _same_columns() -> list[Any]:
    piped = make_pipeline(FunctionTransformer(), TANClassifier())
    return [
        _search(TANClassifier()),
        _search(piped),
        make_pipeline("passthrough", TANClassifier()).fit(FRAME, LABELS),
        FrozenEstimator(PLAIN),
    ]


def test_wrappers_that_keep_columns_answer_as_the_model_inside() -> None:
    def check(model: Any) -> None:
        rows = FRAME[:2]
        assert to_sql(model) == to_sql(PLAIN)
        assert str(explain.importance(model)) == str(explain.importance(PLAIN))
        assert explain.contexts(model, rows) == explain.contexts(PLAIN, rows)
        row = {"weather": "sun"}
        expected = explain.value_of_information(PLAIN, row)
        assert explain.value_of_information(model, row) == expected
        assert plot.network(model).get_title() == plot.network(PLAIN).get_title()

    check_each(_same_columns(), check)


def test_rows_pass_through_the_steps_before_the_classifier() -> None:
    model = make_pipeline(StandardScaler(), NaiveBayesClassifier())
    model.fit(NUMBERS, LABELS)
    scaled = model[:-1].transform(NUMBERS)
    found = explain.credible_intervals(model, NUMBERS[:2], n_draws=9, random_state=0)
    inside = explain.credible_intervals(
        model[-1], scaled[:2], n_draws=9, random_state=0
    )
    assert [str(one) for one in found] == [str(one) for one in inside]


def test_programs_of_changed_columns_are_refused_with_what_to_pass() -> None:
    model = make_pipeline(StandardScaler(), NaiveBayesClassifier())
    model.fit(NUMBERS, LABELS)
    with pytest.raises(ValueError, match=r"\(StandardScaler\).*pass pipeline\[-1\]"):
        to_sql(model)


def test_other_probabilities_are_refused_with_what_to_pass() -> None:
    model = CalibratedClassifierCV(FrozenEstimator(PLAIN)).fit(FRAME, LABELS)
    with pytest.raises(ValueError, match=r"calibrated_classifiers_\[0\]\.estimator"):
        to_sql(model)
    assert model_inside(model, same_scores=False) is PLAIN


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (
            GridSearchCV(TANClassifier(), {}, cv=2, refit=False).fit(FRAME, LABELS),
            "pass refit=True",
        ),
        (GridSearchCV(TANClassifier(), {}, cv=2), "call its fit"),
        (
            BaggingClassifier(NaiveBayesClassifier(), n_estimators=2).fit(
                FRAME[["guests"]].fillna(0), LABELS
            ),
            r"pass model\.estimator_",
        ),
    ],
    ids=["without refit", "unfitted", "bag"],
)
def test_a_wrapper_without_one_model_is_refused(model: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        explain.contexts(model, FRAME[:1])
