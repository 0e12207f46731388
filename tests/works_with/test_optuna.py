"""Studies of optuna over parameters of a classifier and its smoothing."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.model_selection import cross_val_score

from bayleaf import Backoff, Lidstone, TANClassifier
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
    rules: dict[str, Any] = {"laplace": Lidstone, "backoff": Backoff}

    def mean(model: TANClassifier) -> float:
        scores = cross_val_score(model, frame, y, cv=2, scoring="neg_log_loss")
        return float(scores.mean())

    def score(trial: Any) -> float:
        rule = trial.suggest_categorical("smoothing", [*rules])
        weight = trial.suggest_float("weight", 0.1, 10.0)
        name = {"laplace": "alpha", "backoff": "m"}[rule]
        model = TANClassifier(smoothing=rule)
        return mean(model.set_params(**{f"smoothing__{name}": weight}))

    grid = {"smoothing": [*rules], "weight": [0.1, 10.0]}
    sampler = optuna.samplers.GridSampler(grid)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(score)
    expected = {
        (name, weight): mean(TANClassifier(smoothing=rule(weight)))
        for name, rule in rules.items()
        for weight in grid["weight"]
    }
    assert study.best_value == max(expected.values())
    assert expected[tuple(study.best_params.values())] == study.best_value
