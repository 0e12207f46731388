"""Boosting by other packages, its rounds and its temperature chosen by inner folds.

Each peer is one entry of `PEERS`: how it is made, fitted beside rows that watch, and
asked after some rounds. What is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

N_INNER_FOLDS = 3
MOST_ROUNDS = 300
# Rounds without a gain on the watching rows after which an inner fold stops.
PATIENCE = 20
# XGBoost's own penalty on the square of leaf values, for LightGBM and
# HistGradientBoosting too: with theirs, none, steps diverge where classes are rare.
PENALTY = 1.0
# Probabilities below this are none.
LEAST = 1e-15


@dataclass(frozen=True)
class Peer:
    """How a package boosts.

    Parameters
    ----------
    package : str
        What must be installed.
    fit : callable
        Takes rows, labels 0, 1, ..., a number of rounds and the watching rows or None;
        returns a fitted model.
    losses : callable
        Takes the model and the watching rows; their log-loss after each round.
    proba : callable
        Takes the model, rows and a number of rounds; probabilities.
    """

    package: str
    fit: Callable[..., Any]
    losses: Callable[..., Floats]
    proba: Callable[..., Floats]


# ---- LightGBM


def _fit_lightgbm(X: pd.DataFrame, y: Labels, rounds: int, watch: Any) -> Any:
    import lightgbm

    model = lightgbm.LGBMClassifier(
        n_estimators=rounds,
        reg_lambda=PENALTY,
        n_jobs=1,
        random_state=0,
        verbosity=-1,
    )
    if watch is None:
        return model.fit(X, y)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    with warnings.catch_warnings():
        # Newer versions ask for the same in other words.
        warnings.simplefilter("ignore")
        return model.fit(X, y, eval_set=[watch], callbacks=[stop])


def _lightgbm_losses(model: Any, watch: Any) -> Floats:
    (found,) = model.evals_result_["valid_0"].values()
    return np.array(found)


def _lightgbm_proba(model: Any, X: pd.DataFrame, rounds: int) -> Floats:
    return np.asarray(model.predict_proba(X, num_iteration=rounds))


# ---- XGBoost


def _fit_xgboost(X: pd.DataFrame, y: Labels, rounds: int, watch: Any) -> Any:
    import xgboost

    model = xgboost.XGBClassifier(
        n_estimators=rounds,
        learning_rate=0.1,
        tree_method="hist",
        enable_categorical=True,
        eval_metric="logloss" if len(np.unique(y)) == 2 else "mlogloss",
        early_stopping_rounds=None if watch is None else PATIENCE,
        n_jobs=1,
        random_state=0,
    )
    return model.fit(X, y, eval_set=None if watch is None else [watch], verbose=False)


def _xgboost_losses(model: Any, watch: Any) -> Floats:
    (found,) = model.evals_result()["validation_0"].values()
    return np.array(found)


def _xgboost_proba(model: Any, X: pd.DataFrame, rounds: int) -> Floats:
    return np.asarray(model.predict_proba(X, iteration_range=(0, rounds)))


# ---- CatBoost


def _without_holes(X: pd.DataFrame) -> pd.DataFrame:
    """Missing categories as one of their own, as CatBoost asks for them."""
    nominal = X.select_dtypes("category").columns
    filled = {name: X[name].astype(object).fillna("missing") for name in nominal}
    return X.assign(**{name: own.astype(str) for name, own in filled.items()})


def _fit_catboost(X: pd.DataFrame, y: Labels, rounds: int, watch: Any) -> Any:
    import catboost

    model = catboost.CatBoostClassifier(
        iterations=rounds,
        learning_rate=0.1,
        cat_features=list(X.select_dtypes("category").columns),
        early_stopping_rounds=None if watch is None else PATIENCE,
        use_best_model=False,
        allow_writing_files=False,
        thread_count=1,
        random_seed=0,
        verbose=False,
        loss_function="Logloss" if len(np.unique(y)) == 2 else "MultiClass",
    )
    rows = None if watch is None else (_without_holes(watch[0]), watch[1])
    return model.fit(_without_holes(X), y, eval_set=rows)


def _catboost_losses(model: Any, watch: Any) -> Floats:
    (found,) = model.get_evals_result()["validation"].values()
    return np.array(found)


def _catboost_proba(model: Any, X: pd.DataFrame, rounds: int) -> Floats:
    return np.asarray(model.predict_proba(_without_holes(X), ntree_end=rounds))


# ---- scikit-learn's


def _fit_hist(X: pd.DataFrame, y: Labels, rounds: int, watch: Any) -> Any:
    model = HistGradientBoostingClassifier(
        max_iter=rounds,
        l2_regularization=PENALTY,
        early_stopping=watch is not None,
        n_iter_no_change=PATIENCE,
        tol=0.0,
        categorical_features="from_dtype",
        random_state=0,
    )
    if watch is None:
        return model.fit(X, y)
    return model.fit(X, y, X_val=watch[0], y_val=watch[1])


def _hist_losses(model: Any, watch: Any) -> Floats:
    # The first is that of no rounds.
    return -np.array(model.validation_score_[1:])


def _hist_proba(model: Any, X: pd.DataFrame, rounds: int) -> Floats:
    for made, found in enumerate(model.staged_predict_proba(X), 1):
        if made == rounds:
            return np.asarray(found)
    return np.asarray(model.predict_proba(X))


PEERS = {
    "LightGBM": Peer("lightgbm", _fit_lightgbm, _lightgbm_losses, _lightgbm_proba),
    "XGBoost": Peer("xgboost", _fit_xgboost, _xgboost_losses, _xgboost_proba),
    "CatBoost": Peer("catboost", _fit_catboost, _catboost_losses, _catboost_proba),
    "HistGradientBoosting": Peer("sklearn", _fit_hist, _hist_losses, _hist_proba),
}


# ---- rounds and temperature

# Models of the folds at hand: a calibrated peer and a plain one are the same but for
# the temperature.
_FITTED: dict[str, tuple[Any, int, float]] = {}


class BoostingByFolds(ClassifierMixin, BaseEstimator):
    """Boosting whose number of rounds, and temperature, inner folds choose.

    Three stratified folds of the training rows are held out in turn; the rounds after
    which these lose least on average are made again on all training rows. A class that
    an inner fold was not fitted to gets no probability there.

    Parameters
    ----------
    peer : str
        A name in `PEERS`.
    calibrated : bool
        Whether one temperature, chosen on the same held-out rows, divides the
        logarithms of the probabilities.
    most_rounds : int
        Most rounds.
    """

    def __init__(
        self,
        peer: str = "LightGBM",
        calibrated: bool = False,
        most_rounds: int = MOST_ROUNDS,
    ) -> None:
        self.peer = peer
        self.calibrated = calibrated
        self.most_rounds = most_rounds

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> BoostingByFolds:
        """Choose rounds and temperature, and boost."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        X = _numbered(X)
        key = f"{self.peer} {joblib.hash((X, list(y), self.most_rounds))}"
        if key not in _FITTED:
            while len(_FITTED) >= 8:
                _FITTED.pop(next(iter(_FITTED)))
            _FITTED[key] = _chosen(PEERS[self.peer], X, codes, self.most_rounds)
        self.model_, self.n_rounds_, self.temperature_ = _FITTED[key]
        return self

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Probability of each class."""
        found = PEERS[self.peer].proba(self.model_, _numbered(X), self.n_rounds_)
        logs = np.log(np.maximum(np.asarray(found, dtype=np.float64), LEAST))
        return softmax(logs / (self.temperature_ if self.calibrated else 1.0), axis=1)

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _numbered(X: pd.DataFrame) -> pd.DataFrame:
    """The table with names that every package takes: brackets are refused by some."""
    return X.set_axis([f"x{place}" for place in range(X.shape[1])], axis=1)


def _chosen(
    peer: Peer, X: pd.DataFrame, y: Labels, most_rounds: int
) -> tuple[Any, int, float]:
    """A model of all rows, its rounds and its temperature."""
    n_classes = int(y.max()) + 1
    found, curves = [], []
    for fit, held_out in inner_folds(y):
        known = np.unique(y[fit])
        watched = held_out[np.isin(y[held_out], known)]
        if len(known) < 2 or not len(watched):
            continue
        watch = X.iloc[watched], np.searchsorted(known, y[watched])
        own = np.searchsorted(known, y[fit])
        model = peer.fit(X.iloc[fit], own, most_rounds, watch)
        curves.append(peer.losses(model, watch) * len(watched))
        found.append((model, known, held_out))
    if not found:
        return peer.fit(X, y, 1, None), 1, 1.0
    n_common = min(map(len, curves))
    rounds = 1 + int(np.argmin(np.sum([own[:n_common] for own in curves], axis=0)))
    logs, labels = [], []
    for model, known, held_out in found:
        inner = np.full((len(held_out), n_classes), LEAST)
        inner[:, known] = peer.proba(model, X.iloc[held_out], rounds)
        logs.append(np.log(np.maximum(inner, LEAST)))
        labels.append(y[held_out])
    temperature = _temperature(np.concatenate(logs), np.concatenate(labels))
    return peer.fit(X, y, rounds, None), rounds, temperature


def inner_folds(y: Labels) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to fit and rows to watch, stratified as far as classes have rows."""
    n_folds = min(N_INNER_FOLDS, int(np.bincount(y).max()))
    if n_folds < 2:
        return []
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # Classes of one or two rows cannot be in all folds.
        warnings.simplefilter("ignore", UserWarning)
        return list(folds.split(np.zeros(len(y)), y))


def _temperature(logs: Floats, y: Labels) -> float:
    """What logarithms of probabilities are best divided by."""

    def loss(log_temperature: float) -> float:
        scaled = log_softmax(logs / np.exp(log_temperature), axis=1)
        return -float(scaled[np.arange(len(y)), y].mean())

    best = minimize_scalar(loss, bounds=(np.log(0.2), np.log(10.0)), method="bounded")
    return float(np.exp(best.x))


def peers() -> dict[str, Callable[[], Any]]:
    """Models of all installed packages, plain and calibrated."""
    found: dict[str, Callable[[], Any]] = {}
    for name, peer in PEERS.items():
        if importlib.util.find_spec(peer.package) is None:
            continue
        for calibrated in (False, True):
            label = f"{name}, calibrated" if calibrated else name
            found[label] = _maker(name, calibrated)
    return found


def _maker(name: str, calibrated: bool) -> Callable[[], Any]:
    return lambda: BoostingByFolds(name, calibrated)
