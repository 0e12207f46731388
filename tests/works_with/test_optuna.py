"""Studies of optuna over parameters of a classifier and its smoothing."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.model_selection import cross_val_score

from bayleaf import TANClassifier
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "optuna",
    "tried": "5.0.0",
    "use": '`model.set_params(smoothing="m_estimate", '
    'smoothing__m=trial.suggest_float("m", 0.1, 10))`',
    "refused": "rules such as `Lidstone(0.5)` as choices, which optuna cannot store; "
    "give their name and parameters",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_a_study_chooses_a_rule_and_its_weight() -> None:
    optuna = pytest.importorskip("optuna", reason="needs optuna")
    frame, y = mixed_frame()

    def score(trial: Any) -> float:
        rule = trial.suggest_categorical("smoothing", ["laplace", "backoff"])
        name = {"laplace": "alpha", "backoff": "m"}[rule]
        weight = trial.suggest_float(name, 0.1, 10.0, log=True)
        model = TANClassifier(smoothing=rule)
        model.set_params(**{f"smoothing__{name}": weight})
        return float(cross_val_score(model, frame, y, cv=2).mean())

    study = optuna.create_study(direction="maximize")
    study.optimize(score, n_trials=3)
    assert study.best_value > 0.4
