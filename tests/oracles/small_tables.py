"""Small tables on which every classifier is asked why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier

QUICK: dict[str, dict[str, Any]] = {
    "mixture": {"n_mixtures": 1, "n_passes": 2},
    "latent_class": {"n_components": 2, "n_restarts": 1},
    "network": {"n_restarts": 1},
    "auto": {"n_networks": 2},
}


def classifier(kind: str, **parameters: Any) -> BayesianClassifier:
    """A classifier that is fitted in no time."""
    return CLASSIFIERS[kind](**{"random_state": 0, **QUICK.get(kind, {}), **parameters})


def small_table(
    seed: int, n_rows: int = 80, n_classes: int = 2, missing: float = 0.0
) -> tuple[pd.DataFrame, Any]:
    """Two columns of words, one of three letters, one of numbers, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    y[:n_classes] = np.arange(n_classes)
    X = pd.DataFrame(
        {
            "wet": np.where(rng.random(n_rows) < 0.3 + 0.4 * (y > 0), "yes", "no"),
            "windy": np.where(rng.random(n_rows) < 0.5, "yes", "no"),
            "soil": rng.choice(["clay", "loam", "sand"], n_rows),
            "height": np.round(rng.normal(size=n_rows) + 1.5 * y, 2),
        }
    ).astype({"wet": object, "windy": object, "soil": object})
    X["windy"] = np.where(X["wet"] == "yes", X["windy"], "no")
    if missing:
        X = X.mask(rng.random(X.shape) < missing)
    return X, np.array([f"c{label}" for label in y])
