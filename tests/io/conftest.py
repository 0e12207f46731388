"""Small fitted models and their files."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    HNBClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    Lidstone,
    NaiveBayesClassifier,
    TANClassifier,
)

KINDS: dict[str, Any] = {
    "nb": NaiveBayesClassifier,
    "tan": TANClassifier,
    "kdb": KDBClassifier,
    "hnb": partial(HNBClassifier, search="significance", significance_level=0.9),
    "aode": AODEClassifier,
    "a2de": A2DEClassifier,
    "auto": partial(AveragedKDBClassifier, n_networks=2, max_parents=1),
    "latent_class": partial(LatentClassNBClassifier, n_components=2),
    "network": BayesianNetworkClassifier,
}


def small_table(n_rows: int = 40) -> tuple[pd.DataFrame, list[str]]:
    """Three columns of different kinds with a missing cell each, and two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    text = np.where(rng.random(n_rows) < 0.8, y, 1 - y)
    frame = pd.DataFrame(
        {
            "text": pd.Series(np.array(["blau", "grün"])[text], dtype=object),
            "number": pd.array(y + rng.integers(2, size=n_rows), dtype="Int64"),
            "real": y * 3.0 + rng.normal(size=n_rows),
        }
    )
    frame.iloc[3] = None
    return frame, np.array(["no", "yes"])[y].tolist()


@pytest.fixture(scope="session")
def models() -> dict[str, Any]:
    """A fitted classifier of each kind, to be read only."""
    frame, y = small_table()
    return {
        kind: classifier(smoothing=Lidstone(0.3)).fit(frame, y)
        for kind, classifier in KINDS.items()
    }


@pytest.fixture(scope="session")
def texts(
    models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The text of each kind's model file."""
    path = tmp_path_factory.mktemp("texts") / "model.json"
    found = {}
    for kind, model in models.items():
        model.save(path)
        found[kind] = path.read_text(encoding="utf-8")
    return found
