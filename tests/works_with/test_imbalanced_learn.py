"""Samplers of imbalanced-learn before a classifier."""

from __future__ import annotations

import pytest

from bayleaf import TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "imbalanced-learn",
    "tried": "0.14.2",
    "use": "`make_pipeline(RandomOverSampler(), TANClassifier())`",
    "refused": "",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_with_a_sampler_predicts() -> None:
    pytest.importorskip("imblearn", reason="needs imbalanced-learn")
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    table = load_heart(as_frame="pandas")
    sampler = RandomOverSampler(random_state=0)
    model = make_pipeline(sampler, TANClassifier()).fit(table.X, table.y)
    assert model.score(table.X, table.y) > 0.8
