"""Accuracy on the 22 data sets of Langseth and Nielsen (2006), beside their table 2.

    python benchmarks/papers/langseth_nielsen_2006.py [--seeds 5] [--sets heart vote]

Five stratified folds and every seed, cut points found inside the training fold; the
monks problems have their published split, chess is cut into 2130 and 1066 rows at
random. Maximum likelihood with zeros replaced by 0.5/N and the class prior
(N_c + 1) / (N + classes), as fits the paper's column for naive Bayes; folds are dealt
over single rows. The folder with the tables is named by BAYLEAF_DATA. Finished cells
are kept in the CSV file, and a later run takes up where this one stopped.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bayleaf import (
    HNBClassifier,
    MaximumLikelihood,
    MEstimate,
    NaiveBayesClassifier,
    TANClassifier,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))
from machine import markdown_table

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "langseth_nielsen_2006.csv"
ALL = "all"
# Numeric columns; every other column is nominal.
NUMERIC: dict[str, str] = {
    "postop": "COMFORT",
    "hepatitis": "AGE BILIRUBIN ALK_PHOSPHATE SGOT ALBUMIN PROTIME",
    "cleve": "age trestbps chol thalach oldpeak ca",
    "crx": "A2 A3 A8 A11 A14 A15",
    "australian": "A2 A3 A7 A10 A13 A14",
    "iris": ALL,
    "glass": ALL,
    "glass2": ALL,
    "pima": ALL,
    "heart": ALL,
    "wine": ALL,
    "thyroid": ALL,
    "ecoli": ALL,
    "breast": ALL,
    "vehicle": ALL,
}
# Tables whose rows with missing cells stay, missing being a value of its own.
MISSING_IS_A_VALUE = ("postop", "vote")
# Naive Bayes, TAN and HNB as the paper's table 2 prints them.
PUBLISHED: dict[str, tuple[float, float, float]] = {
    "postop": (64.25, 63.20, 68.95),
    "iris": (94.00, 94.00, 94.00),
    "monks-1": (71.53, 95.83, 100.0),
    "monks-2": (62.04, 66.90, 66.20),
    "monks-3": (97.22, 96.06, 97.22),
    "glass": (71.04, 70.56, 71.04),
    "glass2": (81.61, 81.69, 84.11),
    "diabetes": (75.65, 75.25, 75.25),
    "heart": (83.70, 84.07, 85.93),
    "hepatitis": (92.34, 87.25, 93.29),
    "pima": (76.17, 74.74, 76.04),
    "cleve": (83.46, 81.38, 83.45),
    "wine": (98.86, 96.03, 98.86),
    "thyroid": (92.56, 93.02, 93.02),
    "ecoli": (80.95, 79.76, 82.44),
    "breast": (97.36, 96.19, 97.36),
    "vote": (90.11, 92.64, 93.15),
    "crx": (86.22, 83.93, 86.51),
    "australian": (85.80, 82.32, 84.64),
    "chess": (87.12, 92.48, 93.71),
    "vehicle": (59.09, 68.79, 63.59),
    "soybean-large": (92.90, 91.28, 92.36),
}
FILES = {"diabetes": "pima", "chess": "kr-vs-kp"}
CHESS_TEST_ROWS, CHESS_SPLITS = 1066, 10
FIELDS = ("set", "model", "seed", "accuracy")


class Table(NamedTuple):
    """Features, class labels, and the names of the numeric features."""

    X: pd.DataFrame
    y: NDArray[Any]
    numeric: list[str]


def load(folder: Path, name: str) -> Table:
    """One table in the paper's coding."""
    stem = FILES.get(name, name)
    frame = pd.read_csv(
        folder / "small" / f"{stem}.csv", dtype=str, keep_default_na=False
    )
    numeric = NUMERIC.get(stem, "")
    y = frame.pop("class").to_numpy()
    columns = list(frame) if numeric == ALL else numeric.split()
    if stem not in MISSING_IS_A_VALUE:
        complete = (frame != "").all(axis=1).to_numpy()
        frame, y = frame[complete], y[complete]
    for column in columns:
        frame[column] = pd.to_numeric(frame[column], errors="coerce").astype(float)
    nominal = [column for column in frame if column not in columns]
    frame[nominal] = frame[nominal].replace("", None)
    return Table(frame.reset_index(drop=True), y, columns)


Split = tuple[Table, NDArray[Any], NDArray[Any]]


def splits(folder: Path, name: str, seed: int) -> Iterator[Split]:
    """Table with training and test rows of each fold."""
    if name.startswith("monks"):
        parts = [load(folder, f"{name}.{part}") for part in ("train", "test")]
        X = pd.concat([part.X for part in parts], ignore_index=True)
        y = np.concatenate([part.y for part in parts])
        rows = np.arange(len(y))
        n_train = len(parts[0].y)
        yield Table(X, y, []), rows[:n_train], rows[n_train:]
        return
    table = load(folder, name)
    rows = np.arange(len(table.y))
    if name == "chess":
        train, test = train_test_split(
            rows, test_size=CHESS_TEST_ROWS, random_state=seed
        )
        yield table, train, test
        return
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Some classes have fewer rows than there are folds.
        warnings.simplefilter("ignore", UserWarning)
        for train, test in folds.split(table.X, table.y):
            yield table, train, test


Fit = Callable[[Table, NDArray[Any], NDArray[Any], int], float]


def ours(kind: Any, **options: Any) -> Fit:
    """How one of our classifiers is fitted and scored on a split."""

    def accuracy(
        table: Table, train: NDArray[Any], test: NDArray[Any], seed: int
    ) -> float:
        y = table.y[train]
        labels, counts = np.unique(y, return_counts=True)
        nominal = [c for c in table.X if c not in table.numeric]
        model = kind(
            **{"smoothing": MaximumLikelihood(floor=0.5), **options},
            class_prior=(counts + 1.0) / (counts.sum() + len(labels)),
            categorical_features=nominal or None,
            missing="state",
        )
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        model.fit(table.X.iloc[train], y)
        return float(np.mean(model.predict(table.X.iloc[test]) == table.y[test]))

    return accuracy


def peer(kind: Any, **options: Any) -> Fit:
    """How a classifier of scikit-learn is, on nominal columns one-hot."""

    def accuracy(
        table: Table, train: NDArray[Any], test: NDArray[Any], seed: int
    ) -> float:
        X = table.X.copy()
        nominal = [c for c in X if c not in table.numeric]
        X[nominal] = X[nominal].fillna("missing")
        X[table.numeric] = X[table.numeric].fillna(-1.0)
        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal),
            (StandardScaler(), table.numeric),
        )
        model = make_pipeline(encode, kind(random_state=seed, **options))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X.iloc[train], table.y[train])
        return float(np.mean(model.predict(X.iloc[test]) == table.y[test]))

    return accuracy


def hnb(search: str, pair_score: str = "mutual_information") -> Fit:
    """One search of HNB in the paper's protocol."""
    options: dict[str, Any] = {"search": search, "pair_score": pair_score}
    return ours(HNBClassifier, merge_rows=False, **options)


MODELS: dict[str, Fit] = {
    "NB": ours(NaiveBayesClassifier),
    "TAN": ours(TANClassifier, smoothing=MEstimate(5.0)),
    "HNB algorithm3": hnb("algorithm3"),
    "HNB top_pairs": hnb("top_pairs"),
    "HNB top_pairs, expected_kl": hnb("top_pairs", "expected_kl"),
    "HNB hill_climbing": hnb("hill_climbing"),
    "HNB significance": hnb("significance"),
    "decision tree": peer(DecisionTreeClassifier),
    "one hidden layer": peer(MLPClassifier, max_iter=500),
}


def run(
    folder: Path, out: Path, sets: list[str], models: list[str], n_seeds: int
) -> None:
    """Append the accuracy of every cell that the file lacks."""
    done = set()
    if out.exists():
        with out.open(newline="", encoding="utf-8") as stream:
            done = {(r["set"], r["model"], r["seed"]) for r in csv.DictReader(stream)}
    else:
        out.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for name in sets:
        n_splits = max(n_seeds, CHESS_SPLITS) if name == "chess" else n_seeds
        for model in models:
            for seed in range(n_splits):
                if (name, model, str(seed)) in done:
                    continue
                scores, sizes = [], []
                for table, train, test in splits(folder, name, seed):
                    scores.append(MODELS[model](table, train, test, seed))
                    sizes.append(len(test))
                accuracy = 100 * float(np.average(scores, weights=sizes))
                with out.open("a", newline="", encoding="utf-8") as stream:
                    csv.writer(stream).writerow([name, model, seed, f"{accuracy:.4f}"])
                print(f"{name:15} {model:28} seed {seed}  {accuracy:.2f}", flush=True)


def averages(out: Path) -> dict[str, dict[str, float]]:
    """Mean accuracy over seeds: model, then set."""
    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with out.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cells[row["model"]][row["set"]].append(float(row["accuracy"]))
    return {
        model: {name: float(np.mean(scores)) for name, scores in by_set.items()}
        for model, by_set in cells.items()
    }


def page(out: Path) -> str:
    """The table of all sets, with averages, in Markdown."""
    found = averages(out)
    models = [model for model in MODELS if model in found]
    heading = ["set", *models, "paper NB", "paper TAN", "paper HNB"]
    rows = []
    for name, published in PUBLISHED.items():
        mine = [f"{found[m][name]:.2f}" if name in found[m] else "-" for m in models]
        rows.append([name, *mine, *(f"{value:.2f}" for value in published)])
    whole = [m for m in models if set(found[m]) == set(PUBLISHED)]
    means = [
        f"{np.mean([*found[m].values()]):.2f}" if m in whole else "-" for m in models
    ]
    theirs = [
        f"{np.mean(column):.2f}" for column in zip(*PUBLISHED.values(), strict=True)
    ]
    rows.append(["**average**", *means, *theirs])
    return markdown_table(heading, rows)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), arguments.out, arguments.sets, arguments.models, arguments.seeds)
    print(page(arguments.out))


if __name__ == "__main__":
    main()
