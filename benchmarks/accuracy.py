"""Held-out accuracy and log-loss of our classifiers beside forests and boosting.

    python benchmarks/accuracy.py [--models ...] [--tables ...] [--shuffles 2] [--page]

46 published tables, five stratified folds, two shuffles; every model sees the same
folds and learns everything, cut points included, inside the training fold. The folder
with the tables is named by the environment variable BAYLEAF_DATA. Each finished cell
(table, shuffle, model) is appended to the CSV file at once, and a later run takes up
where this one stopped; ``--page`` writes the Markdown page from what is there.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import bayleaf
from bayleaf.evaluation import cross_validate

sys.path.insert(0, str(Path(__file__).parent))
from accuracy_logistic import LogisticRegressionByFolds
from accuracy_page import write_page
from accuracy_peers import peers

RESULTS = Path(__file__).parents[1] / "docs" / "results"
N_FOLDS = 5
# Tables of the folder `scale` are cut to this many rows, drawn with seed 0.
MAX_ROWS = 6000
N_TREES = 300
# Columns that describe a table of the paper in another coding, or a split of its own.
LEFT_OUT = ("dna", "vote_bool48")
NUMERIC_TARGETS = ("abalone", "housing", "servo")
FIELDS = ("table", "shuffle", "model", "fold", "accuracy", "log_loss", "brier")


# ---- tables


def table_names(folder: Path) -> list[str]:
    """Names of the 46 tables: those whose source fixes no split of its own."""
    small = [path.stem for path in (folder / "small").glob("*.csv")]
    names = [n for n in small if n not in LEFT_OUT and "." not in n]
    names += [path.stem for path in (folder / "scale").glob("*.parquet")]
    return sorted(names)


def load_table(folder: Path, name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Features and class of a table; text columns become categories."""
    parquet = folder / "scale" / f"{name}.parquet"
    if parquet.exists():
        frame = pa_parquet.read_table(parquet).to_pandas()
        if len(frame) > MAX_ROWS:
            drawn = np.random.default_rng(0).permutation(len(frame))[:MAX_ROWS]
            frame = frame.iloc[np.sort(drawn)].reset_index(drop=True)
    else:
        options = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
        path = folder / "small" / f"{name}.csv"
        frame = pa_csv.read_csv(path, convert_options=options).to_pandas()
    target = frame.pop("class")
    if name in NUMERIC_TARGETS:
        target = np.floor((target - target.mean()) / target.std(ddof=0)).astype(int)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
        elif frame[column].dtype == bool:
            frame[column] = frame[column].astype(str).astype("category")
    return frame, target.astype(str).to_numpy(dtype=object)


# ---- peers


class Forest(ClassifierMixin, BaseEstimator):
    """Random forest whose votes are mixed with one pseudo-vote a class.

    Nominal columns are one-hot encoded, missing cells a category of their own; numbers
    stay as they are, and the trees take their missing cells themselves.
    """

    def __init__(self, random_state: int = 0, n_jobs: int = 1) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Forest:
        """Grow the trees."""
        nominal = make_column_selector(dtype_include="category")
        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal),
            remainder="passthrough",
        )
        trees = RandomForestClassifier(
            N_TREES, random_state=self.random_state, n_jobs=self.n_jobs
        )
        self.pipeline_ = make_pipeline(encode, trees).fit(X, y)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Share of votes, the pseudo-votes among them."""
        votes = N_TREES * self.pipeline_.predict_proba(X)
        return (votes + 1) / (N_TREES + len(self.classes_))

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Class with most votes."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def explainable_boosting() -> Any:
    """The explainable boosting machine of the package `interpret`, as it comes."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1)


MODELS: dict[str, Callable[[], Any]] = {
    "averaged KDB": lambda: bayleaf.AveragedKDBClassifier(random_state=0),
    "KDB auto, calibrated": lambda: bayleaf.KDBClassifier(
        k="auto", smoothing="auto", calibration="leave_one_out"
    ),
    "KDB gaussian, calibrated": lambda: bayleaf.KDBClassifier(
        numeric="gaussian", k="auto", smoothing="auto", calibration="leave_one_out"
    ),
    "KDB gaussian, weighted": lambda: bayleaf.KDBClassifier(
        numeric="gaussian",
        numeric_weights="leave_one_out",
        k="auto",
        smoothing="auto",
        calibration="leave_one_out",
    ),
    "A2DE, calibrated": lambda: bayleaf.A2DEClassifier(calibration="leave_one_out"),
    "naive Bayes, calibrated": lambda: bayleaf.NaiveBayesClassifier(
        calibration="leave_one_out"
    ),
    "naive Bayes": bayleaf.NaiveBayesClassifier,
    "logistic regression": LogisticRegressionByFolds,
    "random forest": Forest,
    **peers(),
}
if importlib.util.find_spec("interpret"):
    MODELS["EBM"] = explainable_boosting
# Most columns of tables that a model is run on: A2DE has a network for every pair.
MOST_FEATURES = {"A2DE, calibrated": 24}


# ---- running


def finished_cells(path: Path) -> set[tuple[str, int, str]]:
    """Cells (table, shuffle, model) whose folds are all in the file."""
    if not path.exists():
        return set()
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    counts: dict[tuple[str, int, str], int] = {}
    for row in rows:
        cell = row["table"], int(row["shuffle"]), row["model"]
        counts[cell] = counts.get(cell, 0) + 1
    return {cell for cell, n_folds in counts.items() if n_folds == N_FOLDS}


def run_cell(
    folder: Path, table: str, shuffle: int, model: str
) -> Iterator[dict[str, Any]]:
    """Scores of one model on all folds of one shuffle of one table."""
    X, y = load_table(folder, table)
    (result,) = cross_validate(
        {model: MODELS[model]()}, X, y, n_folds=N_FOLDS, random_state=shuffle
    )
    for fold, scores in enumerate(result.folds):
        values = asdict(scores)
        yield {
            "table": table,
            "shuffle": shuffle,
            "model": model,
            "fold": fold,
            **{name: repr(values[name]) for name in FIELDS[4:]},
        }


def _is_too_wide(folder: Path, table: str, model: str) -> bool:
    """Whether a table has more columns than a model is run on."""
    most = MOST_FEATURES.get(model)
    return most is not None and load_table(folder, table)[0].shape[1] > most


def run(folder: Path, path: Path, arguments: argparse.Namespace) -> None:
    """Fill the cells that the file lacks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = finished_cells(path)
    for shuffle in range(arguments.shuffles):
        for table in arguments.tables or table_names(folder):
            for model in arguments.models or MODELS:
                if (table, shuffle, model) in done:
                    continue
                if _is_too_wide(folder, table, model):
                    continue
                rows = list(run_cell(folder, table, shuffle, model))
                is_new = not path.exists()
                with path.open("a", newline="") as stream:
                    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    writer.writerows(rows)
                loss = np.mean([float(row["log_loss"]) for row in rows])
                print(f"{table:15} {shuffle} {model:24} {loss:.4f}", flush=True)


def main() -> None:
    """Run what is missing, then write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), default=[])
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--shuffles", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS / "accuracy.csv")
    parser.add_argument("--page", action="store_true", help="write the page only")
    arguments = parser.parse_args()
    if arguments.page:
        write_page(arguments.out, RESULTS / "accuracy.md")
        return
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), arguments.out, arguments)


if __name__ == "__main__":
    main()
