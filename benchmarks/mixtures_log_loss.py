"""Held-out log-loss of hierarchical mixtures: online, batch, and ten starts averaged.

    python benchmarks/mixtures_log_loss.py [--tables ...] [--n-jobs 1]

Eleven published tables, five stratified folds, one shuffle; cut points are learned
inside the training fold. The folder with the tables is named by the environment
variable BAYLEAF_DATA. Writes one line a table, model and fold.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bayleaf
from bayleaf.classifiers.hierarchical_mixture import HierarchicalMixtureNBClassifier
from bayleaf.evaluation import cross_validate

sys.path.insert(0, str(Path(__file__).parent))
from accuracy import load_table

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "mixtures_log_loss.csv"
TABLES = (
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
FIELDS = ("table", "model", "fold", "accuracy", "log_loss", "brier")


def models(n_jobs: int) -> dict[str, Any]:
    """The mixtures compared, and naive Bayes."""
    mixture = HierarchicalMixtureNBClassifier
    found: dict[str, Any] = {"naive Bayes": bayleaf.NaiveBayesClassifier()}
    for learning in ("online", "batch"):
        for n_mixtures in (1, 10):
            found[f"{learning}, {n_mixtures} start{'s' * (n_mixtures > 1)}"] = mixture(
                learning=learning,
                n_mixtures=n_mixtures,
                n_jobs=n_jobs,
                random_state=0,
            )
    return found


def rows(tables: list[str], n_jobs: int) -> list[dict[str, Any]]:
    """One line a table, model and fold."""
    folder = Path(os.environ["BAYLEAF_DATA"])
    lines = []
    for table in tables:
        X, y = load_table(folder, table)
        for result in cross_validate(models(n_jobs), X, y, n_folds=5):
            for fold, scores in enumerate(result.folds):
                figures = {name: getattr(scores, name) for name in FIELDS[3:]}
                lines.append(
                    {
                        "table": table,
                        "model": result.name,
                        "fold": fold,
                        **{name: round(value, 6) for name, value in figures.items()},
                    }
                )
        print(table, file=sys.stderr)
    return lines


def main() -> None:
    """Run, write the file, print the means over tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = rows(options.tables, options.n_jobs)
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    for model in models(1):
        own = [line for line in lines if line["model"] == model]
        loss, accuracy = (
            np.mean([line[name] for line in own]) for name in ("log_loss", "accuracy")
        )
        print(f"{model:18} log-loss {loss:.3f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
