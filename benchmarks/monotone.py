"""What monotone features cost in held-out log-loss, by classifier.

    python benchmarks/monotone.py [--tables heart adult housing pima] [--n-jobs 1]

Ten stratified folds, shuffled by seed 0; cut points are learned inside the training
fold. The folder with the tables is named by the environment variable BAYLEAF_DATA.
Prints the rows of the table in docs/networks/monotone.md: mean log-loss (nats) without
constraints, what it rises by under `monotone`, and under `monotone` with parents where
the table has no missing cells, each with its standard error over rows.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from bayleaf.classifiers import CLASSIFIERS

DIRECTIONS = {
    "heart": {
        "age": 1,
        "resting_blood_pressure": 1,
        "serum_cholestoral": 1,
        "maximum_heart_rate_achieved": -1,
        "oldpeak": 1,
        "number_of_major_vessels": 1,
    },
    "adult": {
        "education-num": 1,
        "capital-gain": 1,
        "capital-loss": 1,
        "hours-per-week": 1,
    },
    "housing": {"RM": 1, "LSTAT": -1, "CRIM": -1, "PTRATIO": -1, "NOX": -1},
    "pima": {
        "plasma_glucose": 1,
        "body_mass_index": 1,
        "age": 1,
        "diabetes_pedigree": 1,
        "times_pregnant": 1,
    },
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "nb": {},
    "tan": {},
    "kdb": {"k": 2},
    "aode": {},
    "a2de": {},
    "auto": {"random_state": 0},
}
COMPLETE = {"missing": "error", "unknown": "error"}


def table_of(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Features and a class of two labels; a price is cut at its median."""
    path = Path(os.environ["BAYLEAF_DATA"]) / "small" / f"{name}.csv"
    features = pd.read_csv(path)
    target = features.pop("class")
    if name == "housing":
        target = (target > target.median()).map({False: "1 low", True: "2 high"})
    return features, target


def held_out_losses(
    model: str, X: pd.DataFrame, y: pd.Series, **parameters: Any
) -> NDArray[np.float64]:
    """Log-loss (nats) of each row, predicted by the folds without it."""
    losses = np.zeros(len(y))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        learner = CLASSIFIERS[model](**PARAMETERS[model], **parameters)
        learner.fit(X.iloc[train], y.iloc[train])
        own = np.searchsorted(learner.classes_, y.iloc[test].to_numpy())
        log_proba = learner.predict_log_proba(X.iloc[test])
        losses[test] = -log_proba[np.arange(len(test)), own]
    return losses


def rise(after: NDArray[np.float64], before: NDArray[np.float64]) -> str:
    """Mean rise and its standard error."""
    gap = after - before
    return f"{gap.mean():+.4f} ± {gap.std() / np.sqrt(len(gap)):.4f}"


def main() -> None:
    """Print a line for each table and model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", nargs="+", default=list(DIRECTIONS))
    parser.add_argument("--models", nargs="+", default=list(PARAMETERS))
    parser.add_argument("--n-jobs", type=int, default=1)
    asked = parser.parse_args()
    for table in asked.tables:
        X, y = table_of(table)
        shared = {"n_jobs": asked.n_jobs}
        directed = {**shared, "monotone": DIRECTIONS[table]}
        for model in asked.models:
            free = held_out_losses(model, X, y, **shared)
            cells = [table, f"`{model}`", f"{free.mean():.4f}"]
            cells.append(rise(held_out_losses(model, X, y, **directed), free))
            has_parents = CLASSIFIERS[model]._monotone_parents  # type: ignore[attr-defined]
            if has_parents and not X.isna().any(axis=None):
                found = held_out_losses(model, X, y, **directed, **COMPLETE)
                cells.append(rise(found, free))
            else:
                cells.append("")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
