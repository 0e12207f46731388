"""Choosing and calibrating by leave-one-out on published tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.model_selection import StratifiedKFold

from bayleaf import KDBClassifier, NaiveBayesClassifier

Load = Callable[[str], pa.Table]

SAHAMI = ("corral", "vote_bool48", "led7", "kr-vs-kp", "dna")
ELEVEN = (
    "hepatitis",
    "glass",
    "vote",
    "breast",
    "ionosphere",
    "segmentation",
    "housing",
    "car",
    "cmc",
    "kr-vs-kp",
    "soybean-large",
)


def _taken_apart(table: pa.Table) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    """Features and class, the last column."""
    last = table.num_columns - 1
    return table.select(range(last)), np.array(table.column(last).to_pylist())


@pytest.mark.few("kr-vs-kp", "led7", "corral")
@pytest.mark.slow
@pytest.mark.parametrize("name", SAHAMI)
def test_k_by_leave_one_out_is_as_good_as_the_best_fixed_k(
    load_table: Load, name: str
) -> None:
    X, y = _taken_apart(load_table(name))
    chosen = KDBClassifier(k="auto").fit(X, y)
    fixed = [float(KDBClassifier(k=k).fit(X, y).loo_score_) for k in range(4)]
    assert float(chosen.loo_score_) <= min(fixed) + 0.005
    if name == "led7":
        assert chosen.k_ == 0


def _five_folds(
    X: pa.Table, y: np.ndarray[Any, Any], model: Any
) -> tuple[float, float]:
    """Mean log-loss and accuracy over the rows, each predicted by four other fifths."""
    losses, right = [], []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(np.zeros(len(y)), y):
        model.fit(X.take(train), y[train])
        proba = model.predict_proba(X.take(test))
        truth = model.classes_ == y[test][:, None]
        losses += (-np.log(np.maximum((proba * truth).sum(axis=1), 1e-15))).tolist()
        right += (model.classes_[proba.argmax(axis=1)] == y[test]).tolist()
    return float(np.mean(losses)), float(np.mean(right))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_one_temperature_mends_the_log_loss_of_naive_bayes(load_table: Load) -> None:
    found = []
    for name in ELEVEN:
        X, y = _taken_apart(load_table(name))
        if name == "housing":
            y = np.floor((y - y.mean()) / y.std()).astype(int)
        plain = _five_folds(X, y, NaiveBayesClassifier())
        calibrated = NaiveBayesClassifier(calibration="leave_one_out")
        found.append((*plain, *_five_folds(X, y, calibrated)))
    log_loss, accuracy, mended_log_loss, same_accuracy = np.mean(found, axis=0)
    assert log_loss > 0.7
    assert mended_log_loss <= 0.49
    assert same_accuracy == pytest.approx(accuracy, abs=0.002)
