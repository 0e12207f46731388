"""Held-out log-loss of cases of which only some features are known.

    python benchmarks/partial_cases.py partial_cases.jsonl [--tables ...] [--seed 0]

Of the rows of each table, in the random order of the seed, the first 70 % train and the
others are held out. For each number of known features there is one set of the features
that are most informative alone and two random sets, the same for all methods. The
folder with the tables is named by the environment variable BAYLEAF_DATA. Each finished
table is appended to the results file as a line of JSON, and a later run continues where
this one stopped. Tables that the folder lacks are left out, and named. Markdown tables
are printed at the end. ``--shares`` compares predictions from one known feature with
shares of training rows instead; ``--fast`` runs on small parts of two shipped tables.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    TANClassifier,
)
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart, load_mushroom

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import describe_processor, markdown_table

from accuracy import load_table
from accuracy_peers import PENALTY

Floats = NDArray[np.float64]
Known = NDArray[np.bool_]
# Log-probabilities of the classes for all held-out rows, given the known features.
Scorer = Callable[[Known], Floats]

DEVELOPMENT = (
    *("heart", "crx", "pima", "car", "tic-tac-toe", "mushroom"),
    *("vehicle", "segment", "cmc", "thyroid", "spambase", "adult"),
)
CONFIRMATION = ("breast-lj", "eucalyptus", "primary-tumor", "wdbc", "page-blocks")
FURTHER = ("ionosphere", "kr-vs-kp", "satimage", "soybean-large", "yeast")
TABLES = [*DEVELOPMENT, *CONFIRMATION, *FURTHER]
SHIPPED = {"heart": load_heart, "mushroom": load_mushroom}
MAX_ROWS = {"adult": 4000, "mushroom": 1500, "segment": 1500}
MAX_ROWS_ELSEWHERE, MAX_ROWS_FAST = 2500, 150
TRAINING_SHARE = 0.7
N_RANDOM_SETS = 2
N_MASKED_COPIES = 3
N_BINS = 10
MIN_PROBABILITY = 1e-15
# Rows of the adult table that its source uses for training.
N_ADULT_TRAINING = 32_561
SHARES = {
    "heart": (
        ("chest_pain", "asymptomatic"),
        ("chest_pain", "non-anginal pain"),
        ("thallium_scan", "reversible defect"),
        ("thallium_scan", "normal"),
        ("sex", "female"),
        ("exercise_induced_angina", "yes"),
    ),
    "adult": (
        ("relationship", "Own-child"),
        ("relationship", "Husband"),
        ("education", "Doctorate"),
        ("education", "HS-grad"),
        ("marital-status", "Never-married"),
        ("sex", "Female"),
    ),
}


# ---- tables and sets of known features


def load(folder: Path | None, name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Features and class of a table; of a shipped one without a folder."""
    if name == "wdbc":
        wdbc = load_breast_cancer(as_frame=True)
        return wdbc.data, wdbc.target.astype(str).to_numpy(dtype=object)
    if folder is not None:
        return load_table(folder, name)
    X, y = SHIPPED[name](return_X_y=True)
    frame = X.to_pandas()
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    return frame, np.asarray(y).astype(str).astype(object)


def set_sizes(n_features: int) -> dict[str, int]:
    """Number of known features by the name of its column."""
    sizes = {name: int(name) for name in "01235" if int(name) < n_features}
    return sizes | {"d/2": n_features // 2, "d-1": n_features - 1, "d": n_features}


def known_sets(
    size: int, strengths: Floats, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """The most informative features and random ones, (n_sets, n_features)."""
    n_features = len(strengths)
    orders = [np.argsort(-strengths, kind="stable")]
    if 0 < size < n_features:
        orders += [rng.permutation(n_features) for _ in range(N_RANDOM_SETS)]
    known = np.zeros((len(orders), n_features), dtype=bool)
    for row, order in zip(known, orders, strict=True):
        row[order[:size]] = True
    return known


# ---- methods


def mask_codes(codes: Codes, known: Known) -> Codes:
    """The same rows with all other features missing."""
    columns = [
        codes.column(i) if known[i] else np.full(codes.n_rows, card)
        for i, card in enumerate(codes.cards)
    ]
    return Codes.from_columns(columns, codes.cards)


def scorer_of(classifier: Any, held_out: pd.DataFrame) -> Scorer:
    """Scores of a fitted classifier of this library by its own rule."""
    predictor = classifier._predictor()
    codes = predictor.encode(held_out)
    return lambda known: predictor.log_proba(mask_codes(codes, known))


def refitted(
    classifier: AveragedKDBClassifier,
    X: pd.DataFrame,
    y: NDArray[Any],
    held_out: pd.DataFrame,
) -> Scorer:
    """Scores of averaged KDB fitted again to the known columns of the training rows."""

    def scores(known: Known) -> Floats:
        if known.all():
            return np.asarray(classifier.predict_log_proba(held_out))
        if not known.any():
            prior = np.log(classifier.model_.prior)
            return np.tile(prior, (len(held_out), 1))
        names = X.columns[known]
        again = AveragedKDBClassifier(random_state=0, n_jobs=1).fit(X[names], y)
        return np.asarray(again.predict_log_proba(held_out[names]))

    return scores


def masked_boosting(
    X: pd.DataFrame, y: NDArray[Any], held_out: pd.DataFrame, seed: int
) -> Scorer:
    """Scores of boosting fitted to copies of the training rows with missing cells.

    The number of known features of each row of a copy is uniform from 1 to all.
    """
    rng = np.random.default_rng(seed)
    n_rows, n_features = X.shape
    copies = []
    for _ in range(N_MASKED_COPIES):
        sizes = rng.integers(1, n_features + 1, n_rows)
        ranks = rng.random(X.shape).argsort(axis=1).argsort(axis=1)
        copies.append(X.mask(ranks >= sizes[:, None]))
    # Without a penalty steps diverge where classes are rare.
    boosting = HistGradientBoostingClassifier(
        categorical_features="from_dtype",
        early_stopping=False,
        l2_regularization=PENALTY,
        random_state=seed,
    )
    boosting.fit(pd.concat(copies), np.tile(y, N_MASKED_COPIES))

    def scores(known: Known) -> Floats:
        is_unknown = np.tile(~known, (len(held_out), 1))
        proba = boosting.predict_proba(held_out.mask(is_unknown))
        return np.asarray(np.log(np.maximum(proba, MIN_PROBABILITY)))

    return scores


OURS, AGAIN, BOOSTING = "averaged KDB", "averaged KDB, refitted", "masked boosting"
TAN, CALIBRATED, A2DE = "TAN, marginalized", "TAN, calibrated", "A2DE"
NETWORKS: dict[str, Callable[[], Any]] = {
    TAN: lambda: TANClassifier(n_jobs=1),
    CALIBRATED: lambda: TANClassifier(calibration="leave_one_out", n_jobs=1),
    "AODE": lambda: AODEClassifier(n_jobs=1),
    A2DE: lambda: A2DEClassifier(n_jobs=1),
}
METHODS = (OURS, AGAIN, *NETWORKS, BOOSTING)


# ---- figures of one table


def calibration_error(own: NDArray[np.intp], proba: Floats) -> float:
    """Mean over classes of |share - mean probability| in ten bins of equal width."""
    n_rows, n_classes = proba.shape
    bins = np.minimum((proba * N_BINS).astype(int), N_BINS - 1)
    hits = np.arange(n_classes) == own[:, None]
    gaps = [
        np.abs(np.bincount(bins[:, c], (hits - proba)[:, c])).sum() / n_rows
        for c in range(n_classes)
    ]
    return float(np.mean(gaps))


def figures_of(
    X: pd.DataFrame, y: NDArray[Any], seed: int, max_rows: int
) -> dict[str, Any]:
    """Log-loss and calibration error by method and number of known features."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))[:max_rows]
    n_training = int(TRAINING_SHARE * len(order))
    training, test = order[:n_training], order[n_training:]
    # A class without training rows has no probability from any method.
    test = test[np.isin(y[test], y[training])]
    fitted, labels, held_out = X.iloc[training], y[training], X.iloc[test]
    seconds, scorers = {}, {}

    start = time.process_time()
    classifier = AveragedKDBClassifier(random_state=0, n_jobs=1).fit(fitted, labels)
    scorers[OURS] = scorer_of(classifier, held_out)
    seconds[OURS] = time.process_time() - start
    scorers[AGAIN] = refitted(classifier, fitted, labels, held_out)
    for name, make in NETWORKS.items():
        start = time.process_time()
        try:
            scorers[name] = scorer_of(make().fit(fitted, labels), held_out)
        except ValueError:
            # A2DE refuses tables of more than `max_table_cells` cells.
            if name != A2DE:
                raise
            continue
        seconds[name] = time.process_time() - start
    start = time.process_time()
    scorers[BOOSTING] = masked_boosting(fitted, labels, held_out, seed)
    seconds[BOOSTING] = time.process_time() - start

    own = np.searchsorted(classifier.classes_, y[test])
    strengths = classifier.model_.partial.strengths
    sizes = set_sizes(X.shape[1])
    losses: dict[str, dict[int, float]] = {name: {} for name in scorers}
    errors: dict[str, dict[int, float]] = {name: {} for name in scorers}
    for size in sorted(set(sizes.values())):
        sets = known_sets(size, strengths, rng)
        truth = np.tile(own, len(sets))
        for name, scorer in scorers.items():
            start = time.process_time()
            logs = log_softmax(np.concatenate([scorer(k) for k in sets]), axis=1)
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
            logs = np.maximum(logs, np.log(MIN_PROBABILITY))
            losses[name][size] = -float(logs[np.arange(len(truth)), truth].mean())
            errors[name][size] = calibration_error(truth, np.exp(logs))
    return {
        "n_training": len(training),
        "n_held_out": len(test),
        "n_features": X.shape[1],
        "n_classes": len(classifier.classes_),
        "log_loss": losses,
        "calibration_error": errors,
        "cpu_seconds": {name: round(value, 2) for name, value in seconds.items()},
    }


# ---- results file


def read_results(path: Path, seed: int) -> dict[str, dict[str, Any]]:
    """Finished tables of a seed, by name."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {line["table"]: line for line in lines if line["seed"] == seed}


def run(folder: Path | None, path: Path, tables: Iterable[str], seed: int) -> None:
    """Append the tables that the file lacks."""
    done = read_results(path, seed)
    for table in tables:
        if table in done:
            continue
        try:
            X, y = load(folder, table)
        except FileNotFoundError as error:
            print(f"{table:15} left out: {error}", file=sys.stderr, flush=True)
            continue
        max_rows = MAX_ROWS.get(table, MAX_ROWS_ELSEWHERE)
        figures = figures_of(X, y, seed, MAX_ROWS_FAST if folder is None else max_rows)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"table": table, "seed": seed, **figures}) + "\n")
        ours, tan = (partial_mean(figures, name) for name in (OURS, TAN))
        print(f"{table:15} {ours:.4f} TAN {tan:.4f}", file=sys.stderr, flush=True)


# ---- summary


def by_column(line: dict[str, Any], method: str, figure: str) -> dict[str, float]:
    """Figures of a method on a table by the names of the sizes."""
    values = line[figure][method]
    # Keys are text after reading, and integers before writing.
    values = {int(size): value for size, value in values.items()}
    return {name: values[n] for name, n in set_sizes(line["n_features"]).items()}


def partial_mean(line: dict[str, Any], method: str, figure: str = "log_loss") -> float:
    """Mean over the columns between no and all known features."""
    values = by_column(line, method, figure)
    return float(np.mean([v for name, v in values.items() if name not in ("0", "d")]))


def summary(lines: Sequence[dict[str, Any]], figure: str) -> str:
    """Means over tables by number of known features, a Markdown table."""
    columns = ("0", "1", "2", "3", "5", "d/2", "d-1", "d")
    rows = []
    for method in METHODS:
        own = [line for line in lines if method in line[figure]]
        if not own:
            continue
        label = (
            method
            if len(own) == len(lines)
            else f"{method} ({len(own)} of {len(lines)} tables)"
        )
        rows.append([label, *_means(own, method, figure, columns)])
        if len(own) < len(lines):
            # What is run on some tables only is compared on these.
            label = f"{OURS} on these"
            rows.append([label, *_means(own, OURS, figure, columns)])
    return markdown_table(["", *columns, "mean 1..d-1"], rows)


def _means(
    lines: Sequence[dict[str, Any]], method: str, figure: str, columns: Sequence[str]
) -> list[str]:
    """Means of a method over tables, by column and over partial ones."""
    values = [by_column(line, method, figure) for line in lines]
    cells = [np.mean([v[name] for v in values if name in v]) for name in columns]
    cells.append(np.mean([partial_mean(line, method, figure) for line in lines]))
    return [f"{cell:.4f}" for cell in cells]


def wins(lines: Sequence[dict[str, Any]], other: str) -> str:
    """On how many tables averaged KDB has the lower mean log-loss, and where not."""
    gaps = {
        line["table"]: partial_mean(line, OURS) - partial_mean(line, other)
        for line in lines
    }
    worse = sorted((gap, name) for name, gap in gaps.items() if gap >= 0)
    text = f"Better than {other} on {len(gaps) - len(worse)} of {len(gaps)} tables"
    names = ", ".join(f"{name} (+{gap:.4f})" for gap, name in reversed(worse))
    return f"{text}; not better: {names}" if worse else text


def by_table(lines: Sequence[dict[str, Any]]) -> str:
    """Mean log-loss over 1..d-1 known features by table."""
    rows = []
    for line in lines:
        cells = [
            f"{partial_mean(line, method):.4f}" if method in line["log_loss"] else ""
            for method in METHODS
        ]
        rows.append([line["table"], str(line["n_training"]), str(line["n_held_out"])])
        rows[-1] += [str(line["n_features"]), *cells]
    heading = ["table", "training rows", "held-out rows", "d", *METHODS]
    return markdown_table(heading, rows)


def report(results: dict[str, dict[str, Any]], tables: Sequence[str]) -> str:
    """The Markdown tables of all finished tables, by group."""
    parts = [describe_processor()]
    groups = {
        "Development": DEVELOPMENT,
        "Confirmation": CONFIRMATION,
        "Further": FURTHER,
    }
    for title, names in groups.items():
        lines = [results[n] for n in tables if n in names and n in results]
        if not lines:
            continue
        parts += [
            f"### {title} tables ({len(lines)}), log-loss",
            summary(lines, "log_loss"),
            *(f"{wins(lines, other)}." for other in (TAN, CALIBRATED, BOOSTING)),
            "Calibration error:",
            summary(lines, "calibration_error"),
            "Mean log-loss of 1..d-1 known features:",
            by_table(lines),
        ]
    return "\n\n".join(parts)


# ---- shares of training rows


def shares(folder: Path | None) -> str:
    """Share of training rows and prediction for cases with one known feature."""
    rows = []
    for table, cases in SHARES.items():
        if table == "heart":
            X, y = load(None, table)
        elif folder is None:
            continue
        else:
            X, y = load_table(folder, table)
            X, y = X[:N_ADULT_TRAINING], y[:N_ADULT_TRAINING]
        classifier = AveragedKDBClassifier(random_state=0, n_jobs=1).fit(X, y)
        positive = y == classifier.classes_[1]
        scorer, columns = scorer_of(classifier, X), X.columns.to_numpy()
        for column, value in (("", ""), *cases):
            is_case = (X[column] == value).to_numpy() if column else positive >= 0
            proba = np.exp(scorer(columns == column)[is_case, 1])
            case = f"{column} = {value}" if column else "no known feature"
            figures = f"{positive[is_case].mean():.3f}", f"{proba[0]:.3f}"
            rows.append([table, str(classifier.classes_[1]), case, *figures])
    heading = ["table", "class", "known", "share of training rows", "prediction"]
    return markdown_table(heading, rows)


def main() -> None:
    """Run the tables that the results file lacks, then print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="file of one JSON line per table")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shares", action="store_true", help="one known feature only")
    parser.add_argument("--fast", action="store_true", help="two small shipped tables")
    options = parser.parse_args()
    name = os.environ.get("BAYLEAF_DATA")
    folder = Path(name) if name and not options.fast else None
    if options.shares:
        print(shares(folder))
        return
    if folder is None and not options.fast:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    tables = list(SHIPPED) if options.fast else options.tables
    run(folder, options.results, tables, options.seed)
    print(report(read_results(options.results, options.seed), tables))


if __name__ == "__main__":
    main()
