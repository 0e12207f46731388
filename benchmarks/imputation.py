"""Cells that were taken out of whole tables, filled in by networks and by scikit-learn.

    python benchmarks/imputation.py

Ten halves of each table (seeds 0 to 9) train; in the others a tenth of the cells is
taken out at random and filled in. scikit-learn's imputers get text as one-hot columns,
of which the largest counts, and numbers in units of their standard deviation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import KNNImputer, SimpleImputer

from bayleaf import BayesianNetworkEstimator, BayesianNetworkImputer
from bayleaf.datasets import load_heart, load_mushroom

N_HALVES, SHARE, N_ROWS = 10, 0.1, 2000
Filler = Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]


def by_network(how: str) -> Filler:
    """Fill in by a network that the training rows give."""

    def fill(train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
        estimator = BayesianNetworkEstimator(max_parents=3, random_state=0)
        imputer = BayesianNetworkImputer(estimator, how=how, random_state=0)
        return imputer.fit(train).transform(test)

    return fill


def simple(train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Means of numbers, and the most frequent text."""
    found = test.copy()
    for name in test:
        is_number = pd.api.types.is_numeric_dtype(train[name])
        strategy = "mean" if is_number else "most_frequent"
        imputer = SimpleImputer(strategy=strategy).fit(train[[name]])
        found[name] = imputer.transform(test[[name]])[:, 0]
    return found


def neighbours(train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """The five nearest rows of training."""
    texts = [n for n in train if not pd.api.types.is_numeric_dtype(train[n])]
    numbers = [n for n in train if n not in texts]
    mean, deviation = train[numbers].mean(), train[numbers].std()

    def wide(table: pd.DataFrame) -> pd.DataFrame:
        parts = [(table[numbers] - mean) / deviation]
        for name in texts:
            own = pd.get_dummies(table[name], dtype=float)
            own = own.reindex(columns=sorted(train[name].dropna().unique()))
            own = own.fillna(0.0)
            own[table[name].isna().to_numpy()] = np.nan
            parts.append(own.add_prefix(f"{name}="))
        return pd.concat(parts, axis=1)

    imputer = KNNImputer(n_neighbors=5).set_output(transform="pandas")
    filled = imputer.fit(wide(train)).transform(wide(test))
    found = test.copy()
    found[numbers] = filled[numbers] * deviation + mean
    for name in texts:
        own = filled.filter(like=f"{name}=")
        found[name] = [c.split("=", 1)[1] for c in own.idxmax(axis=1)]
    return found


FILLERS: dict[str, Filler] = {
    "network, most probable": by_network("most_probable"),
    "network, mean": by_network("mean"),
    "five neighbours": neighbours,
    "mean, most frequent": simple,
}


def scores(table: pd.DataFrame, fill: Filler) -> tuple[float, float]:
    """Share of correct texts, and root mean square error of numbers in deviations."""
    right, errors = [], []
    for seed in range(N_HALVES):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(table))
        half = len(table) // 2
        train, whole = table.iloc[order[:half]], table.iloc[order[half:]]
        out = rng.random(whole.shape) < SHARE
        found = fill(train, whole.mask(out))
        for place, name in enumerate(table):
            own, rows = out[:, place], whole[name]
            if pd.api.types.is_numeric_dtype(rows):
                off = (found[name] - rows)[own] / table[name].std()
                errors += (off.astype(float) ** 2).tolist()
            else:
                right += (found[name].astype(str) == rows.astype(str))[own].tolist()
    error = np.sqrt(np.mean(errors)) if errors else np.nan
    return float(np.mean(right)) if right else np.nan, float(error)


def tables() -> dict[str, pd.DataFrame]:
    """Whole rows of shipped tables, and of adult where the folder of tables has it."""
    found = {
        "heart": load_heart().frame.to_pandas(),
        "mushroom": load_mushroom().frame.to_pandas(),
    }
    adult = Path(os.environ.get("BAYLEAF_DATA", "")) / "small" / "adult.csv"
    if adult.is_file():
        found["adult"] = pd.read_csv(adult, na_values="?")
    few = {name: table.dropna() for name, table in found.items()}
    return {n: t.sample(min(N_ROWS, len(t)), random_state=0) for n, t in few.items()}


def main() -> None:
    """Print a line for each table and way to fill in."""
    print("| table | filled in by | states right | error of numbers |")
    print("| --- | --- | --- | --- |")
    for name, table in tables().items():
        numbers = table.select_dtypes("number")
        table[numbers.columns] = numbers.astype(float)
        for called, fill in FILLERS.items():
            share, error = scores(table, fill)
            shown = "" if np.isnan(error) else f"{error:.3f}"
            right = "" if np.isnan(share) else f"{100 * share:.1f} %"
            print(f"| {name} | {called} | {right} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
