"""Models logged in mlflow, in the safe format of skops."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from bayleaf import TANClassifier, trusted_types
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "mlflow",
    "tried": "3.17.2",
    "use": '`mlflow.sklearn.log_model(model, name="model", '
    "skops_trusted_types=bayleaf.trusted_types())`, `mlflow.sklearn.load_model`; "
    "`mlflow.sklearn.autolog()` before `GridSearchCV(TANClassifier(), grid).fit(X, y)`",
    "refused": "every estimator that is not of scikit-learn without "
    "`skops_trusted_types`, and in `autolog()` unless a search contains it",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package, which writes to a folder of the test."""
    pytest.importorskip("skops.io", reason="needs skops")
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("models")
    return mlflow


def test_a_logged_model_predicts_the_same(mlflow: ModuleType) -> None:
    frame, y = mixed_frame()
    model = TANClassifier().fit(frame, y)
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(
            model,
            name="model",
            serialization_format="skops",
            skops_trusted_types=trusted_types(),
            # Otherwise another process takes a minute to find them out.
            pip_requirements=["bayleaf"],
        )
    read = mlflow.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))


def test_a_model_of_types_that_are_not_listed_is_refused(mlflow: ModuleType) -> None:
    model = TANClassifier().fit(*mixed_frame())
    with (
        mlflow.start_run(),
        pytest.raises(mlflow.MlflowException, match="skops_trusted_types"),
    ):
        mlflow.sklearn.log_model(model, name="model", pip_requirements=["bayleaf"])


def test_a_search_is_logged_without_further_lines(
    mlflow: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another process would take a minute to find the requirements out.
    monkeypatch.setattr(mlflow.models, "infer_pip_requirements", lambda *_, **__: [])
    frame, y = mixed_frame()
    search = GridSearchCV(TANClassifier(), {"smoothing__alpha": [0.5, 2.0]}, cv=2)
    mlflow.sklearn.autolog(log_datasets=False, log_post_training_metrics=False)
    try:
        with mlflow.start_run() as run:
            search.fit(frame, y)
    finally:
        mlflow.sklearn.autolog(disable=True)
    logged = mlflow.get_run(run.info.run_id).data
    assert logged.metrics["best_cv_score"] == search.best_score_
    best = str(search.best_params_["smoothing__alpha"])
    assert logged.params["best_smoothing__alpha"] == best
    models = mlflow.search_logged_models(output_format="list")
    (uri,) = (each.model_uri for each in models if each.name == "best_estimator")
    read = mlflow.sklearn.load_model(uri)
    np.testing.assert_array_equal(
        read.predict_proba(frame), search.predict_proba(frame)
    )
