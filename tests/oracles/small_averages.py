"""An average of many networks, and how it is made to lean on its other parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bayleaf.models.predictor import Predictor
from bayleaf.models.support.class_trees import ClassTrees
from oracles.small_tables import classifier


@cache
def average_of_many(n_networks: int = 64) -> tuple[Any, pd.DataFrame]:
    """An average of many networks over six features, two of them numbers."""
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=240)
    X = pd.DataFrame(
        {
            "age": np.round(rng.normal(size=240) + 0.5 * y, 1).clip(-1, 1.5),
            "sex": rng.choice(["f", "m"], 240),
            "pain": np.where(rng.random(240) < 0.2 + 0.3 * y, "yes", "no"),
            "pulse": np.round(rng.normal(size=240) - 0.5 * y).clip(-2, 1),
            "slope": rng.choice(["up", "flat", "down"], 240),
            "test": np.where(rng.random(240) < 0.8 - 0.3 * y, "yes", "no"),
        }
    )
    X["sex"] = np.where((X["pain"] == "yes") & (y == 1), "m", X["sex"])
    X = X.mask(rng.random(X.shape) < 0.05)
    loss = [[0, 2, 1], [1, 0, 2], [3, 1, 0]]
    return classifier("auto", n_networks=n_networks, loss=loss).fit(X, y), X


def heavy(predictor: Predictor) -> Predictor:
    """The predictor, with numbers that count much as numbers, and tempered."""
    model: Any = predictor.model
    if model.linear is not None:
        weights = np.full_like(model.linear.weights, 0.4)
        linear = replace(model.linear, weights=weights)
        model = replace(model, linear=linear)
    shift = np.linspace(0.0, 0.3, model.n_classes)
    return replace(predictor, model=model, temperature=1.7, prior_shift=shift)


def with_tree(predictor: Predictor, features: Sequence[int]) -> Predictor:
    """The predictor, with a tree that asks for one feature after the other."""
    model: Any = predictor.model
    n = 2 * len(features) + 1
    asked, children = np.full(n, -1), np.zeros(n, dtype=np.int64)
    asked[: n - 1 : 2] = features
    children[: n - 1 : 2] = np.arange(1, n, 2)
    # A split stands at the right of the one before.
    tree = ClassTrees(
        model.n_classes,
        np.array([1]),
        np.zeros(len(model.domain) - 1, dtype=np.bool_),
        asked,
        np.zeros(n, dtype=np.int64),
        children,
        np.append(0.0, np.linspace(1.0, -1.0, n - 1)),
        np.ones(n),
    )
    return replace(predictor, model=replace(model, trees=tree))
