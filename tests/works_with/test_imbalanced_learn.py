"""Samplers of imbalanced-learn before a classifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from bayleaf import Lidstone, TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "imbalanced-learn",
    "tried": "0.14.2",
    "use": "`make_pipeline(RandomOverSampler(), TANClassifier())`, "
    "`make_pipeline(SMOTENC(names_of_text_columns), TANClassifier())`, also in "
    "`GridSearchCV`; `BalancedBaggingClassifier(TANClassifier())`",
    "refused": "",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_repeated_rows_of_a_sampler_are_those_of_weights() -> None:
    sampling = pytest.importorskip("imblearn.over_sampling", reason="needs imblearn")
    from imblearn.pipeline import make_pipeline

    table = load_heart(as_frame="pandas")
    sampler = sampling.RandomOverSampler(random_state=0)
    model = make_pipeline(sampler, TANClassifier()).fit(table.X, table.y)
    weights = np.bincount(sampler.fit(table.X, table.y).sample_indices_)
    weighted = TANClassifier().fit(table.X, table.y, sample_weight=weights)
    found, expected = (each.predict_proba(table.X) for each in (model, weighted))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_made_up_rows_keep_text_columns_in_a_grid_search() -> None:
    sampling = pytest.importorskip("imblearn.over_sampling", reason="needs imblearn")
    from imblearn.pipeline import make_pipeline

    table = load_heart(as_frame="pandas")
    text = list(table.X.select_dtypes(exclude="number"))
    few = (table.y == "absent") | (np.arange(len(table.y)) % 3 == 0)
    X, y = table.X[few], table.y[few]
    model = make_pipeline(sampling.SMOTENC(text, random_state=0), TANClassifier())
    grid = {"tanclassifier__smoothing__alpha": [0.5, 2.0]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    best = search.best_params_["tanclassifier__smoothing__alpha"]
    rows = sampling.SMOTENC(text, random_state=0).fit_resample(X, y)
    assert rows[1].tolist().count("present") == 150
    expected = TANClassifier(smoothing=Lidstone(best)).fit(*rows).predict_proba(X)
    np.testing.assert_array_equal(search.predict_proba(X), expected)
