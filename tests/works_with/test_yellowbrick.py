"""Pictures of yellowbrick for the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_score, roc_auc_score
from sklearn.model_selection import cross_val_score, validation_curve

from bayleaf import AveragedKDBRegressor, KDBClassifier, TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "yellowbrick",
    "tried": "1.5",
    "use": "`CVScores(TANClassifier())`, `LearningCurve`, `ValidationCurve`; "
    "`ConfusionMatrix(TANClassifier(), force_model=True)` and the others for "
    "classifiers and regressors; `ROCAUC` and `PrecisionRecallCurve` of labels 0, 1",
    "refused": "every estimator of scikit-learn 1.9 in its pictures of scores "
    "unless `force_model=True`, and in `ClassPredictionError`; text labels of two "
    "classes in `ROCAUC`, `PrecisionRecallCurve` and `DiscriminationThreshold`",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _without_a_screen() -> None:
    pytest.importorskip("yellowbrick", reason="needs yellowbrick")
    pytest.importorskip("matplotlib").use("Agg")


def _heart() -> tuple[Any, Any]:
    return load_heart(return_X_y=True, as_frame="pandas")


def test_a_confusion_matrix_counts_the_predictions() -> None:
    from yellowbrick.classifier import ConfusionMatrix

    X, y = _heart()
    picture = ConfusionMatrix(TANClassifier(), force_model=True)
    picture.fit(X[:200], y[:200]).score(X[200:], y[200:])
    predicted = TANClassifier().fit(X[:200], y[:200]).predict(X[200:])
    names = ("absent", "present")
    counts = [[np.sum((y[200:] == a) & (predicted == b)) for b in names] for a in names]
    np.testing.assert_array_equal(picture.confusion_matrix_, counts)


def test_reports_and_curves_have_the_scores_of_scikit_learn() -> None:
    from yellowbrick.classifier import ROCAUC, ClassificationReport

    X, y = _heart()
    y = (y == "present").astype(int)
    expected = TANClassifier().fit(X[:200], y[:200])
    curve = ROCAUC(TANClassifier(), force_model=True).fit(X[:200], y[:200])
    curve.score(X[200:], y[200:])
    area = roc_auc_score(y[200:], expected.predict_proba(X[200:])[:, 1])
    assert curve.roc_auc[1] == pytest.approx(area, abs=1e-12)
    report = ClassificationReport(TANClassifier(), force_model=True)
    report.fit(X[:200], y[:200]).score(X[200:], y[200:])
    share = precision_score(y[200:], expected.predict(X[200:]))
    assert report.scores_["precision"][1] == pytest.approx(share, abs=1e-12)


def test_the_picture_of_a_regressor_has_its_score() -> None:
    from yellowbrick.regressor import PredictionError

    X, _ = _heart()
    y = X.pop("maximum_heart_rate").to_numpy(float)
    model = AveragedKDBRegressor(random_state=0)
    picture = PredictionError(model, force_model=True).fit(X[:200], y[:200])
    expected = AveragedKDBRegressor(random_state=0).fit(X[:200], y[:200])
    assert picture.score(X[200:], y[200:]) == expected.score(X[200:], y[200:])


def test_curves_of_folds_have_the_scores_of_scikit_learn() -> None:
    from yellowbrick.model_selection import CVScores, ValidationCurve

    X, y = _heart()
    folds = CVScores(TANClassifier(), cv=3).fit(X, y)
    np.testing.assert_array_equal(
        folds.cv_scores_, cross_val_score(TANClassifier(), X, y, cv=3)
    )
    settings = {"param_name": "k", "param_range": [0, 1], "cv": 3}
    curve = ValidationCurve(KDBClassifier(), **settings).fit(X, y)
    _, scores = validation_curve(KDBClassifier(), X, y, **settings)
    np.testing.assert_array_equal(curve.test_scores_mean_, scores.mean(axis=1))
