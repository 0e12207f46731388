"""Held-out log-loss of HNB whose latent variables are free, found by BIC.

    python benchmarks/free_latents.py RESULTS.csv [TABLE ...]

Compares search="bic" with the default search on ten stratified folds, shuffled by seed
0; cut points and structure are learned in the training folds. The folder with the
tables is named by the environment variable BAYLEAF_DATA. Each fold's figures are
appended to the file RESULTS.csv, and folds that it contains are not run again. Prints
a row a table: log-loss (nats), accuracy, number of latent variables and seconds of CPU
that a fit takes, each by search.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from bayleaf import HNBClassifier

TABLES = [
    *("australian", "breast", "car", "cleve", "corral", "crx", "glass", "heart"),
    *("hepatitis", "iris", "monks-2.train", "pima", "postop", "vote", "wine"),
]
SEARCHES = ("top_pairs", "bic")
FIGURES = ("log_loss", "accuracy", "latents", "seconds")


def figures(search: str, X: Any, y: Any, train: Any, test: Any) -> list[float]:
    """The figures of one fold."""
    model = HNBClassifier(search=search, random_state=0)
    begin = time.process_time()
    model.fit(X.iloc[train], y[train])
    seconds = time.process_time() - begin
    proba = model.predict_proba(X.iloc[test])
    return [
        log_loss(y[test], proba, labels=model.classes_),
        accuracy_score(y[test], model.classes_[proba.argmax(axis=1)]),
        len(model.model_.latent_sizes),
        seconds,
    ]


def main() -> None:
    """Run the folds that are not in the file, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("tables", nargs="*", default=TABLES)
    asked = parser.parse_args()
    folder = Path(os.environ["BAYLEAF_DATA"]) / "small"
    warnings.simplefilter("ignore")
    if not asked.results.exists():
        asked.results.write_text(",".join(("table", "fold", "search", *FIGURES)) + "\n")
    known = pd.read_csv(asked.results)
    done = set(zip(known["table"], known["fold"], known["search"], strict=True))
    for name in asked.tables:
        table = pd.read_csv(folder / f"{name}.csv")
        X, y = table.iloc[:, :-1], table.iloc[:, -1].astype(str).to_numpy()
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            for search in SEARCHES:
                if (name, fold, search) in done:
                    continue
                found = figures(search, X, y, train, test)
                line = ",".join(map(str, (name, fold, search, *found)))
                with asked.results.open("a") as file:
                    file.write(line + "\n")
    results = pd.read_csv(asked.results)
    means = results.groupby(["table", "search"])[list(FIGURES)].mean().unstack()
    print(means.to_string(float_format=lambda x: f"{np.round(x, 4):.4f}"))


if __name__ == "__main__":
    main()
