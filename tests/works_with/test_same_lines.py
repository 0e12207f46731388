"""Lines that use an estimator of scikit-learn, with ours in its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score

from bayleaf import AveragedKDBClassifier, AveragedKDBRegressor, trusted_types
from bayleaf.datasets import load_heart

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
CLASSIFIERS = [LogisticRegression(max_iter=3000), AveragedKDBClassifier(random_state=0)]
REGRESSORS = [LinearRegression(), AveragedKDBRegressor(random_state=0)]


def _split_conformal_sets(estimator: Any, X: Any, y: Any) -> None:
    mapie = pytest.importorskip("mapie.classification", reason="needs mapie")
    fitted = clone(estimator).fit(X[:130], y[:130])
    conformal = mapie.SplitConformalClassifier(fitted, confidence_level=0.9)
    conformal.conformalize(X[130:229], y[130:229])
    codes = np.searchsorted(fitted.classes_, y[130:229])
    known = np.sort(fitted.predict_proba(X[130:229])[np.arange(99), codes])
    expected = fitted.predict_proba(X[229:]) >= known[9] - 1e-12
    sets = conformal.predict_set(X[229:])[1][:, :, 0]
    np.testing.assert_array_equal(sets, expected)


def _split_conformal_intervals(estimator: Any, X: Any, y: Any) -> None:
    mapie = pytest.importorskip("mapie.regression", reason="needs mapie")
    fitted = clone(estimator).fit(X[:130], y[:130])
    conformal = mapie.SplitConformalRegressor(fitted, confidence_level=0.9)
    conformal.conformalize(X[130:229], y[130:229])
    halfwidth = np.sort(np.abs(y[130:229] - fitted.predict(X[130:229])))[89]
    lower = conformal.predict_interval(X[229:])[1][:, 0, 0]
    np.testing.assert_allclose(lower, fitted.predict(X[229:]) - halfwidth, atol=1e-9)


def _kernel_explainer(estimator: Any, X: Any, y: Any) -> None:
    shap = pytest.importorskip("shap", reason="needs shap")
    fitted = clone(estimator).fit(X, y)
    explainer = shap.KernelExplainer(fitted.predict_proba, X[:5])
    values = explainer.shap_values(X[5:6], silent=True)[0]
    change = fitted.predict_proba(X[5:6]) - fitted.predict_proba(X[:5]).mean(axis=0)
    np.testing.assert_allclose(values.sum(axis=0), change[0], atol=1e-9)


def _select_from_model(estimator: Any, X: Any, y: Any) -> None:
    # Coronary vessels that fluoroscopy colours show disease; cholesterol hardly does.
    chosen = SelectFromModel(estimator).fit(X, y).get_support()
    assert chosen[5]
    assert not chosen[2]


def _logged_model(estimator: Any, X: Any, y: Any, path: Path) -> None:
    pytest.importorskip("skops.io", reason="needs skops")
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow")
    mlflow.set_tracking_uri(path.as_uri())
    mlflow.set_experiment("models")
    fitted = clone(estimator).fit(X, y)
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(
            fitted,
            name="model",
            skops_trusted_types=trusted_types(),
            # Otherwise another process takes a minute to find them out.
            pip_requirements=["bayleaf"],
        )
    read = mlflow.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(read.predict_proba(X), fitted.predict_proba(X))


def _study(estimator: Any, X: Any, y: Any) -> None:
    optuna = pytest.importorskip("optuna", reason="needs optuna")
    # Regularisation of the one, seed of the other: any parameter of each.
    name = "C" if hasattr(estimator, "C") else "random_state"

    def score(trial: Any) -> float:
        model = clone(estimator).set_params(**{name: trial.suggest_int(name, 1, 2)})
        return float(cross_val_score(model, X, y, cv=2).mean())

    sampler = optuna.samplers.GridSampler({name: [1, 2]})
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(score)
    models = [clone(estimator).set_params(**{name: value}) for value in (1, 2)]
    best = max(cross_val_score(model, X, y, cv=2).mean() for model in models)
    assert study.best_value == best


def _skops_file(estimator: Any, X: Any, y: Any) -> None:
    io = pytest.importorskip("skops.io", reason="needs skops")
    fitted = clone(estimator).fit(X, y)
    data = io.dumps(fitted)
    unknown = io.get_untrusted_types(data=data)
    assert {*unknown} <= {*trusted_types()}
    read = io.loads(data, trusted=unknown)
    np.testing.assert_array_equal(read.predict_proba(X), fitted.predict_proba(X))


USES: list[Callable[..., None]] = [
    _split_conformal_sets,
    _split_conformal_intervals,
    _kernel_explainer,
    _select_from_model,
    _logged_model,
    _study,
    _skops_file,
]


@pytest.mark.parametrize("container", ["array", "frame"])
@pytest.mark.parametrize("place", [0, 1], ids=["theirs", "ours"])
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__.strip("_"))
def test_the_same_lines_take_either_estimator(
    use: Callable[..., None],
    place: int,
    container: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X.select_dtypes("number")
    estimator: Any = CLASSIFIERS[place]
    if use is _split_conformal_intervals:
        estimator, y = REGRESSORS[place], X.pop("maximum_heart_rate").to_numpy(float)
    table = X.to_numpy(float) if container == "array" else X
    use(estimator, table, y, *[tmp_path] * (use is _logged_model))
