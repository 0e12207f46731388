"""Counterfactuals by dice-ml for the classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import TANClassifier
from bayleaf.datasets import load_heart
from bayleaf.explain import counterfactuals

WORKS_WITH = {
    "tool": "dice-ml",
    "tried": "0.12",
    "use": '`dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), '
    'method="random")` with text columns as they are, also "genetic" and "kdtree"; '
    "`bayleaf.explain.counterfactuals` finds the fewest changes without it",
    "refused": "labels other than 0, 1, 2, ... as from any estimator",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("method", ["random", "genetic", "kdtree"])
def test_counterfactual_rows_are_predicted_as_the_other_class(method: str) -> None:
    dice_ml = pytest.importorskip("dice_ml", reason="needs dice-ml")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    sick = (y == "present").astype(int)
    model = TANClassifier().fit(X, sick)
    data = dice_ml.Data(
        dataframe=X.assign(disease=sick),
        continuous_features=list(X.select_dtypes("number")),
        outcome_name="disease",
    )
    explainer = dice_ml.Dice(
        data, dice_ml.Model(model=model, backend="sklearn"), method=method
    )
    seed = {"random_seed": 0} if method == "random" else {}
    found = explainer.generate_counterfactuals(
        X[:1], total_CFs=2, desired_class="opposite", **seed
    )
    changed = found.cf_examples_list[0].final_cfs_df[list(X)]
    assert len(changed) == 2
    np.testing.assert_array_equal(
        model.predict(changed), 1 - model.predict(X[:1]).repeat(2)
    )
    # Ours are the fewest changes, so that nothing found at random needs fewer.
    fewest = len(counterfactuals(model, X[:1])[0].changes)
    assert fewest <= (changed != X.iloc[0]).sum(axis=1).min()
