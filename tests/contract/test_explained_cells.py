"""Explanations of every model show the cell next to the interval that contains it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayleaf import (
    AveragedKDBRegressor,
    HNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.wording import stated

RNG = np.random.default_rng(0)
AGE = np.round(RNG.normal(60, 10, 300), 2)
X = pd.DataFrame({"age": AGE, "sex": RNG.choice(["f", "m"], 300)})
X.loc[0, "age"] = 70.07
Y = np.where(AGE + RNG.normal(0, 3, 300) > 60, "ill", "well")


def test_cells_stand_before_what_contains_them() -> None:
    assert stated("age", "(69.97, 70.32]", 70.07) == "age 70.07, in (69.97, 70.32]"
    assert stated("age", "> 54.5", 57) == "age 57, > 54.5"
    assert stated("age", "any value", 57) == "age 57 (any value)"
    assert stated("grade", "good", "good") == "grade = good"


@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayesClassifier(),
        TANClassifier(),
        HNBClassifier(search="significance", random_state=0),
        AveragedKDBRegressor(n_networks=1, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_explanations_show_the_cell(estimator: Any) -> None:
    target = AGE if hasattr(estimator, "predict_interval") else Y
    model = clone(estimator).fit(X, target)
    rows = pd.concat([X.iloc[:1], X.iloc[:1].assign(age=np.nan)])
    first, second = model.explain(rows)
    term = next(term for term in first.terms if term.feature == "age")
    assert term.cell == 70.07
    assert term.value != "70.07"
    assert term.fact.startswith("age 70.07, ")
    assert term.fact in first.to_text().replace("\n", " ")
    assert [t.cell for t in first.terms if t.feature == "sex"] == [None]
    assert next(t.fact for t in second.terms if t.feature == "age") == "age = missing"
