"""Held-out log-loss of networks by the smoothing of their tables.

    python benchmarks/smoothing.py [--tables ...]

The 46 tables of `accuracy.py`, five stratified folds dealt with seed 0; structure
search, TAN and naive Bayes as density models and classifiers see the same folds and
learn everything inside the training fold. The folder with the tables is named by the
environment variable BAYLEAF_DATA. Prints, for each table, nats per held-out row of the
network over all columns and log-loss of the class, by smoothing, and then how often
each rule is best and the mean difference from Laplace's.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bayleaf import BayesianNetworkClassifier, BayesianNetworkEstimator

sys.path.insert(0, str(Path(__file__).parent))
from accuracy import N_FOLDS, load_table, table_names

RULES = ("laplace", "dirichlet", "m_estimate", "backoff", "marginal")


def losses(folder: Path, name: str, max_rows: int) -> dict[str, tuple[float, float]]:
    """By rule: nats per held-out row of the density, and log-loss of the class."""
    X, y = load_table(folder, name)
    labels = np.asarray(y).astype(str)
    if len(X) > max_rows:
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:max_rows])
        X, labels = X.iloc[rows].reset_index(drop=True), labels[rows]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    found = {rule: np.zeros(2) for rule in RULES}
    for train, test in folds.split(X, labels):
        for rule in RULES:
            own = {"smoothing": rule, "random_state": 0, "n_restarts": 1, "n_jobs": 1}
            table = X.assign(**{"class": labels})
            density = BayesianNetworkEstimator(**own).fit(table.iloc[train])
            model = BayesianNetworkClassifier(**own).fit(X.iloc[train], labels[train])
            place = {label: i for i, label in enumerate(model.classes_)}
            known = [row for row in test if labels[row] in place]
            proba = model.predict_proba(X.iloc[known])
            right = proba[np.arange(len(known)), [place[labels[r]] for r in known]]
            nats = -density.score_samples(table.iloc[test]).sum()
            loss = -np.log(np.maximum(right, 1e-15)).mean() * len(test)
            found[rule] += np.array([nats, loss]) / len(labels)
    return {rule: (float(nats), float(loss)) for rule, (nats, loss) in found.items()}


def main() -> None:
    """Run the tables that are asked for and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--max-rows", type=int, default=6000)
    options = parser.parse_args()
    folder = Path(os.environ["BAYLEAF_DATA"])
    figures = []
    print("table", *RULES)
    for name in options.tables or table_names(folder):
        found = losses(folder, name, options.max_rows)
        figures.append([found[rule] for rule in RULES])
        cells = [f"{nats:.4f}/{loss:.4f}" for nats, loss in figures[-1]]
        print(name, *cells, flush=True)
    array = np.array(figures)  # tables, rules, figures
    for place, figure in enumerate(("density, nats per row", "class, log-loss")):
        own = array[:, :, place]
        best = np.bincount(own.argmin(axis=1), minlength=len(RULES))
        gain = (own - own[:, :1]).mean(axis=0)
        worse = (own > own[:, :1] + 1e-6).sum(axis=0)
        print(figure)
        for rule, n_best, mean, n_worse in zip(RULES, best, gain, worse, strict=True):
            print(f"  {rule}: best {n_best}, mean {mean:+.4f}, worse on {n_worse}")


if __name__ == "__main__":
    main()
