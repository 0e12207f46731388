"""Which question to ask next: log-loss after one to six answers, by three rules.

Of held-out rows nothing is known at first. Each rule chooses what is asked next, and
averaged KDB predicts from what is known. Usage: python ask_next.py RESULTS [--fast];
tables in the results file are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, log_softmax, softmax

from accuracy import load_table
from bayleaf import AveragedKDBClassifier
from bayleaf.data.codes import Codes
from bayleaf.models.averaged_kdb_model import AveragedKDBModel

Floats = NDArray[np.float64]
Known = NDArray[np.bool_]

TABLES = ("heart", "crx", "pima", "car", "cmc", "vehicle", "mushroom", "adult")
N_TRAINING, N_ASKED, N_QUESTIONS, SEED = 2_000, 300, 6, 0


class Consultation:
    """Held-out rows of which features become known one after the other."""

    def __init__(self, model: AveragedKDBModel, codes: Codes, own: Any) -> None:
        self.model, self.own = model, own
        self.cards = codes.cards
        self.cells = np.array([codes.column(f) for f in range(len(codes.cards))])
        self.strengths = model.sharing.rule.strengths
        # Numbers are asked for by at most so many intervals of equal weight.
        rows = sum(model.state_counts[0])
        self.max_states = max(2, round(rows ** (1 / 3)))
        self.groups = [self._groups(f) for f in range(len(self.cards))]

    def _groups(self, feature: int) -> NDArray[np.intp]:
        """The states that stand for all of a feature: all, or quantiles of them."""
        counts = self.model.state_counts[feature]
        if len(counts) <= self.max_states:
            return np.arange(len(counts))
        shares = np.cumsum(counts) / counts.sum()
        quantiles = (np.arange(self.max_states) + 0.5) / self.max_states
        return np.unique(np.searchsorted(shares, quantiles))

    def codes(self, cells: Any, known: Known) -> Codes:
        """Rows in which other features are missing."""
        cards = np.array(self.cards)[:, None]
        return Codes.from_columns(list(np.where(known.T, cells, cards)), self.cards)

    def logs(self, cells: Any, known: Known) -> Floats:
        """Log posteriors of the classes."""
        scores = self.model.class_log_scores(self.codes(cells, known))
        return np.asarray(log_softmax(scores, axis=1))

    def loss(self, known: Known) -> float:
        """Mean log-loss."""
        logs = self.logs(self.cells, known)
        return -float(logs[np.arange(len(self.own)), self.own].mean())

    def reductions(self, known: Known, shares_of: Callable[..., Floats]) -> Floats:
        """Expected fall of the entropy by row and feature; none for known ones."""
        n_rows, n_features = known.shape
        now = self.logs(self.cells, known)
        found = np.full((n_rows, n_features), -np.inf)
        for feature in range(n_features):
            rows = np.flatnonzero(~known[:, feature])
            states = self.groups[feature]
            if not len(rows):
                continue
            cells = np.repeat(self.cells[:, rows], len(states), axis=1)
            cells[feature] = np.tile(states, len(rows))
            more = np.repeat(known[rows], len(states), axis=0)
            more[:, feature] = True
            shares = shares_of(feature, cells, more, now[rows])
            after = np.exp(self.logs(cells, more)).reshape(*shares.shape, -1)
            mean = np.einsum("ns,nsc->nc", shares, after)
            entropies = entr(after).sum(axis=2)
            found[rows, feature] = entr(mean).sum(axis=1) - (shares * entropies).sum(1)
        return found

    def marginal_shares(self, feature: int, cells: Any, *_: Any) -> Floats:
        """Shares of the states in training, whatever is known."""
        counts = self.model.state_counts[feature] + 1.0
        bounds = self.groups[feature]
        shares = counts[bounds] / counts[bounds].sum()
        return np.tile(shares, (cells.shape[1] // len(bounds), 1))

    def predicted_shares(
        self, feature: int, cells: Any, known: Known, now: Floats
    ) -> Floats:
        """P(state | what is known), by the classes that are still probable."""
        model, n_states = self.model, len(self.groups[feature])
        n_depths = model.weights.shape[1]
        logs = np.empty((cells.shape[1], model.n_classes, n_depths))
        codes = self.codes(cells, known)
        features = range(feature, feature + 1)
        model._bank.write_log_probabilities(features, codes, logs, 0, n_depths)
        patterns, of_row = np.unique(known, axis=0, return_inverse=True)
        factors = model.sharing.mean_factors(patterns)[:, feature]
        tapered = 1.0 - np.arange(n_depths) / n_depths
        changes = np.diff(logs, axis=2, prepend=0.0) * factors[of_row.ravel()][:, None]
        scores = (changes @ tapered).reshape(-1, n_states, model.n_classes)
        q = softmax(scores, axis=1)
        return np.einsum("nsc,nc->ns", q, np.exp(now))


def losses(consultation: Consultation, rule: str) -> list[float]:
    """Log-loss after 0, 1, ... answers."""
    n_rows = consultation.cells.shape[1]
    known = np.zeros((n_rows, len(consultation.cards)), dtype=bool)
    found = [consultation.loss(known)]
    for _ in range(min(N_QUESTIONS, known.shape[1] - 1)):
        if rule == "fixed":
            worth = np.where(known, -np.inf, consultation.strengths)
        else:
            shares = getattr(consultation, f"{rule}_shares")
            worth = consultation.reductions(known, shares)
        known[np.arange(n_rows), worth.argmax(axis=1)] = True
        found.append(consultation.loss(known))
    return found


def measured(folder: Path, name: str, n_asked: int) -> dict[str, Any]:
    """Losses of the three rules on one table."""
    X, y = load_table(folder, name)
    rows = np.random.default_rng(SEED).permutation(len(X))
    train = rows[: min(N_TRAINING, int(0.6 * len(X)))]
    test = rows[len(train) :][:n_asked]
    model = AveragedKDBClassifier(random_state=SEED).fit(X.iloc[train], y[train])
    predictor = model._predictor()
    own = np.searchsorted(model.classes_, y[test])
    codes = predictor.encode(X.iloc[test])
    consultation = Consultation(model.model_, codes, own)
    rules = ("marginal", "predicted", "fixed")
    found = {rule: losses(consultation, rule) for rule in rules}
    return {"table": name, "rows": len(test), **found}


def main() -> None:
    """Measure the tables that the results file lacks, and print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--fast", action="store_true", help="one table, few rows")
    options = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if folder is None:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    done = {one["table"]: one for one in map(json.loads, lines)}
    for name in TABLES[:1] if options.fast else TABLES:
        if name not in done:
            n_asked = 20 if options.fast else N_ASKED
            done[name] = measured(Path(folder), name, n_asked)
            with options.results.open("a") as file:
                print(json.dumps(done[name]), file=file)
    print("| table | rows | rule | log-loss after 0, 1, ... answers |")
    print("| --- | --- | --- | --- |")
    for name, one in done.items():
        for rule in ("marginal", "predicted", "fixed"):
            text = " ".join(f"{loss:.4f}" for loss in one[rule])
            print(f"| {name} | {one['rows']} | {rule} | {text} |")


if __name__ == "__main__":
    main()
