"""Any settings of any model on hostile tables: fitted, or refused in one sentence."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd

from bayleaf import BayesianNetworkEstimator
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
)
from bayleaf.data.discretizers import (
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
    MDLPDiscretizer,
    StandardDeviationDiscretizer,
)

KINDS = {**CLASSIFIERS, "density": BayesianNetworkEstimator}
REFUSALS = (ValueError, TypeError)
# What a parameter may be, apart from its default; settings that contradict each other
# or the table are refused, and count as such.
CHOICES: dict[str, tuple[Any, ...]] = {
    "calibration": ("leave_one_out", "cross_validation"),
    "discretizer": (
        "mdlp",
        "equal_width",
        "equal_frequency",
        "standard_deviation",
        EqualWidthDiscretizer(n_bins=3),
        EqualFrequencyDiscretizer(n_bins=2),
        MDLPDiscretizer(),
        StandardDeviationDiscretizer(),
    ),
    "fit_prior": (False,),
    "missing": ("state", "marginalize"),
    "unknown": ("error",),
    "smoothing": (
        "auto",
        "dirichlet",
        Lidstone(1e-9),
        Lidstone(1e9),
        Dirichlet(2.5),
        MEstimate(1e-6),
        Backoff(3.0),
        MaximumLikelihood(),
    ),
    "theta": (0.0, 0.01, "auto"),
    "objective": ("conditional",),
    "k": (0, 2, 5, "auto"),
    "n_features": (1, 2, "auto"),
    "search": ("significance", "hill_climbing"),
    "estimation": ("counts", "em"),
    "feature_selection": ("wrapper",),
    "significance_level": (0.5, 1e-6),
    "min_count": (0, 3, 30),
    "max_parents": (0, 1, 2),
    "n_networks": (1, 2, 3),
    "n_bins": (2, 3),
    "max_rows": (10,),
    "weights": ("uniform",),
    "architecture": ((1, 1), (2,), (2, 2, 2), (3, 1)),
    "learning": ("batch", "online"),
    "n_mixtures": (2,),
    "n_passes": (1,),
    "n_components": (1, 2),
    "n_restarts": (1, 3),
    "max_iter": (1, 5),
    "local_structure": ("tree", "graph"),
    "abstraction": ("global", "local"),
    "local_score": ("bic", "aic", "k2", "bdeu"),
    "merge_leaves": (True,),
    "penalty_weight": (0.0, 10.0),
    "categorical_features": (["x0"], "all"),
    "max_states": (2, 5),
    "identifiers": ("keep", "error"),
    "rare": ("error",),
    "dates": ("error",),
    "ordered_features": (["x0"], {"x0": [0, 1, 2]}, {"x1": ["a", "b"]}),
    "weight_scale": ("mean_one",),
}


def random_model(rng: np.random.Generator) -> Any:
    """An estimator of any kind with up to three settings of its own."""
    name = str(rng.choice([*KINDS]))
    known = KINDS[name]().get_params()
    names = [n for n in CHOICES if n in known]
    chosen = rng.choice(names, int(rng.integers(0, min(4, len(names)))), replace=False)
    settings = {
        str(one): CHOICES[one][int(rng.integers(len(CHOICES[one])))] for one in chosen
    }
    if "random_state" in known:
        settings["random_state"] = int(rng.integers(10))
    return KINDS[name](**settings)


def hostile_column(rng: np.random.Generator, n_rows: int) -> Any:
    """Cells of one column: ordinary, or such as break tables, files and sums."""
    word = rng.choice(
        ["a", "b", "ü", "", " ", "=1+1", "\x1b[1m", "None", "nan"], n_rows
    )
    numbers = rng.normal(size=n_rows)
    days = rng.integers(0, 20_000, n_rows)
    return {
        0: lambda: numbers,
        1: lambda: np.where(np.arange(n_rows) == 0, 1e300, numbers),
        2: lambda: numbers * 1e-310,
        3: lambda: np.full(n_rows, 3.5),
        4: lambda: np.full(n_rows, np.nan),
        5: lambda: np.where(rng.random(n_rows) < 0.6, np.nan, numbers),
        6: lambda: word.astype(object),
        7: lambda: np.where(rng.random(n_rows) < 0.5, None, word.astype(object)),
        8: lambda: [f"id {i}" for i in range(n_rows)],
        9: lambda: rng.random(n_rows) < 0.5,
        10: lambda: rng.integers(-3, 3, n_rows),
        11: lambda: rng.integers(2**62, 2**62 + 3, n_rows),
        12: lambda: np.array([*"xyz", 1, 2.5], dtype=object)[
            rng.integers(0, 5, n_rows)
        ],
        13: lambda: pd.Categorical(rng.choice([*"pq"], n_rows), [*"pqr"]),
        14: lambda: np.round(numbers, 1),
        15: lambda: np.where(numbers > 0, 0.0, -0.0),
        16: lambda: pd.to_datetime(days, unit="D"),
        17: lambda: pd.to_datetime(days * 3607, unit="s").tz_localize("Asia/Tokyo"),
        18: lambda: np.array(
            [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None], dtype=object
        )[days % 3],
        19: lambda: pd.to_timedelta(days * 7, unit="min"),
        20: lambda: [str(day) for day in days],
        21: lambda: [f"2024-02-{1 + day % 29:02}" for day in days.tolist()],
        22: lambda: [f"{day % 24:02}:30" for day in days.tolist()],
        23: lambda: pd.Categorical(
            rng.choice([*"pqrs"], n_rows), [*"spqrt"], ordered=True
        ),
        24: lambda: [f"0{day % 12}" for day in days.tolist()],
        25: lambda: rng.integers(0, 3, n_rows).astype(float),
    }[int(rng.integers(26))]()


def random_table(
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Features, labels, and weights or None."""
    n_rows = int(rng.integers(2, 50))
    n_columns = int(rng.integers(1, 6))
    X = pd.DataFrame(
        {f"x{i}": hostile_column(rng, n_rows) for i in range(n_columns)},
        index=range(n_rows),
    )
    n_classes = int(rng.integers(1, 5))
    labels: Any = rng.integers(0, n_classes, n_rows)
    kind = rng.integers(4)
    if kind == 1:
        labels = np.array(["no", "yes", "perhaps", "ÿ\n"])[labels]
    elif kind == 2 and n_classes <= 2:
        labels = labels == 1
    elif kind == 3:
        labels = labels.astype(float)
    weights = None
    if rng.random() < 0.4:
        scale = float(rng.choice([1.0, 1e-200, 1e6, 1e90, 1e100]))
        weights = rng.choice([0.0, 1.0, 2.0, 0.3], n_rows) * scale
    return X, labels, weights


def fit(model: Any, X: Any, y: Any, weights: Any) -> str:
    """Fit a model; what it refused, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(model, BayesianNetworkEstimator):
                model.fit(X, sample_weight=weights)
            else:
                model.fit(X, y, sample_weight=weights)
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"
    return ""


def answers(model: Any, X: Any) -> np.ndarray:
    """What a fitted model says of the rows of a table, bit for bit."""
    try:
        if isinstance(model, BayesianNetworkEstimator):
            return np.asarray(model.score_samples(X))
        return np.asarray(model.predict_proba(X))
    except ValueError as error:
        # Smoothing may leave rows that no class can have.
        return np.array([str(error)])
