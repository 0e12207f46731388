"""Models logged in mlflow, in the safe format of skops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayleaf import TANClassifier, trusted_types
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "mlflow",
    "tried": "3.17.2",
    "use": '`mlflow.sklearn.log_model(model, name="model", '
    "skops_trusted_types=bayleaf.trusted_types())`, `mlflow.sklearn.load_model`",
    "refused": "",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_a_logged_model_predicts_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("skops.io", reason="needs skops")
    mlflow = pytest.importorskip("mlflow.sklearn", reason="needs mlflow")
    import mlflow as tracking

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    tracking.set_tracking_uri(tmp_path.as_uri())
    tracking.set_experiment("models")
    frame, y = mixed_frame()
    model = TANClassifier().fit(frame, y)
    with tracking.start_run():
        logged = mlflow.log_model(
            model,
            name="model",
            serialization_format="skops",
            skops_trusted_types=trusted_types(),
            # Otherwise another process takes a minute to find them out.
            pip_requirements=["bayleaf"],
        )
    read = mlflow.load_model(logged.model_uri)
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))
