"""Small fitted models and their files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
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


@pytest.fixture(params=KINDS)
def fitted(request: pytest.FixtureRequest) -> Any:
    """A fitted classifier of each kind."""
    frame, y = small_table()
    return KINDS[request.param](smoothing=Lidstone(0.3)).fit(frame, y)


@pytest.fixture
def model_file(fitted: Any, tmp_path: Path) -> Path:
    """A file with a fitted classifier of each kind."""
    path = tmp_path / "model.json"
    fitted.save(path)
    return path
