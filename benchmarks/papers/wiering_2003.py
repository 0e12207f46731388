"""Accuracy on the 19 data sets of Wiering (2003), beside his table 2.

    python benchmarks/papers/wiering_2003.py [--halves 50] [--sets car vote]

Random halves, one for learning and one for testing; numeric columns are cut at whole
standard deviations, once of the training half and once, as the paper seems to have
done, of the whole table. The folder with the tables is named by BAYLEAF_DATA. Finished
cells are kept in the CSV file, and a later run takes up where this one stopped.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayleaf import StandardDeviationDiscretizer

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from wiering_ensembles import (
    Integers,
    Learn,
    bagging,
    boosting,
    gate_over,
    mixture,
    naive_bayes,
)
from wiering_tables import PUBLISHED, Results, table_of_differences, table_of_sets

from accuracy import load_table

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "wiering_2003.csv"
# Rows that numeric columns are cut by.
CUTS = ("training half", "whole table")
# Numeric columns with at most this many distinct values are nominal.
MAX_NOMINAL = 10


class Table(NamedTuple):
    """Numeric columns, codes of the nominal ones, and classes.

    `numeric` has NaN and `nominal` the number of states where a cell is missing.
    """

    numeric: NDArray[np.float64]
    nominal: Integers
    nominal_cards: tuple[int, ...]
    y: Integers
    n_classes: int


class Half(NamedTuple):
    """Codes of the two halves, the number of states of each feature, classes."""

    train: Integers
    y: Integers
    test: Integers
    y_test: Integers
    cards: tuple[int, ...]
    n_classes: int


def load(folder: Path, name: str) -> Table:
    """One table in the paper's coding; numeric classes are cut on the whole column."""
    frame, labels = load_table(folder, name)
    classes, y = np.unique(labels, return_inverse=True)
    is_numeric = {
        column: pd.api.types.is_numeric_dtype(frame[column])
        and frame[column].nunique() > MAX_NOMINAL
        for column in frame
    }
    numeric = [column for column in frame if is_numeric[column]]
    coded, cards = [], []
    for column in frame:
        if not is_numeric[column]:
            codes, states = pd.factorize(frame[column], sort=True)
            coded.append(np.where(codes < 0, len(states), codes))
            cards.append(len(states))
    nominal = np.array(coded, dtype=np.intp).reshape(len(cards), len(y)).T
    values = frame[numeric].to_numpy(dtype=np.float64)
    return Table(values, nominal, tuple(cards), y, len(classes))


def halve(table: Table, seed: int, cuts: str) -> Half:
    """Deal the rows into two halves and cut the numeric columns."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    middle = len(order) // 2
    rows, test_rows = order[:middle], order[middle:]
    nominal, cards = table.nominal, table.nominal_cards
    codes = nominal
    if table.numeric.shape[1]:
        seen = table.numeric[rows] if cuts == "training half" else table.numeric
        discretizer = StandardDeviationDiscretizer().fit(seen)
        cut = discretizer.transform(table.numeric)
        sizes = [len(cuts) + 1 for cuts in discretizer.cut_points_]
        whole = np.where(np.isnan(cut), sizes, cut).astype(np.intp)
        codes, cards = np.hstack([whole, nominal]), (*sizes, *cards)
    return Half(
        codes[rows],
        table.y[rows],
        codes[test_rows],
        table.y[test_rows],
        cards,
        table.n_classes,
    )


Predict = Callable[[Half, np.random.Generator], Integers]


def _learner(half: Half, architecture: tuple[int, ...] | None) -> Learn:
    """How a mixture, or one naive Bayes classifier, learns from codes."""
    if architecture is None:
        return naive_bayes(half.cards, half.n_classes)
    return mixture(half.cards, half.n_classes, architecture)


def _one(architecture: tuple[int, ...] | None) -> Predict:
    def predict(half: Half, rng: np.random.Generator) -> Integers:
        learn = _learner(half, architecture)
        model = learn(half.train, half.y, np.ones(len(half.y)), rng)
        return model.posteriors(half.test).argmax(axis=1)

    return predict


def _bagging(share: float) -> Predict:
    def predict(half: Half, rng: np.random.Generator) -> Integers:
        learn = _learner(half, None)
        vote = bagging(learn, half.train, half.y, half.n_classes, rng, share=share)
        return vote.predict(half.test)

    return predict


def _boosting(architecture: tuple[int, ...] | None) -> Predict:
    def predict(half: Half, rng: np.random.Generator) -> Integers:
        learn = _learner(half, architecture)
        vote = boosting(learn, half.train, half.y, half.n_classes, rng)
        return vote.predict(half.test)

    return predict


def _gates_over_boosting(half: Half, rng: np.random.Generator) -> Integers:
    learn = _learner(half, None)
    vote = boosting(learn, half.train, half.y, half.n_classes, rng)
    gated = gate_over(vote.classifiers, half.cards, half.train, half.y, rng)
    return gated.predict(half.test)


METHODS: dict[str, Predict] = {
    "NBC": _one(None),
    "mixture 1-4": _one((4,)),
    "mixture 2-2": _one((2, 2)),
    "bagging": _bagging(0.9),
    "boosting": _boosting(None),
    "bagging 20 %": _bagging(0.2),
    "boosted 2-2": _boosting((2, 2)),
    "gates over boosting": _gates_over_boosting,
}


def accuracy(half: Half, method: str, seed: int) -> float:
    """Share of the test half classified rightly, in percent."""
    rng = np.random.default_rng([seed, zlib.crc32(method.encode())])
    found = METHODS[method](half, rng)
    return 100 * float(np.mean(found == half.y_test))


def run(folder: Path, out: Path, sets: list[str], n_halves: int) -> None:
    """Append the accuracies of every set and half that the file lacks."""
    done = set()
    if out.exists():
        with out.open(newline="", encoding="utf-8") as stream:
            done = {tuple(row[:3]) for row in csv.reader(stream)}
    else:
        out.write_text(",".join(["set", "cuts", "half", *METHODS]) + "\n")
    for name in sets:
        table = load(folder, name)
        start = time.process_time()
        for cuts, seed in itertools.product(CUTS, range(n_halves)):
            if (name, cuts, str(seed)) in done:
                continue
            half = halve(table, seed, cuts)
            found = [f"{accuracy(half, method, seed):.2f}" for method in METHODS]
            with out.open("a", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow([name, cuts, seed, *found])
        print(f"{name:15} {time.process_time() - start:7.1f} s", flush=True)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), arguments.out, arguments.sets, arguments.halves)
    for cuts in CUTS:
        results = Results(arguments.out, cuts)
        print(f"\nCut points of the {cuts}\n\n{table_of_sets(results)}\n")
        print(table_of_differences(results))


if __name__ == "__main__":
    main()
