"""Tables of the results page for desJardins et al. (2008), from its CSV file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))
from machine import markdown_table

# Folds that are run, and restarts of each search, by set: as the figures that are
# expected were measured, and as the paper says.
SHORT = {"nursery": 5, "mushroom": 3, "adult": 2}
FULL = {"nursery": 5, "mushroom": 5, "adult": 5}
HAMMING, INFORMATION = {"linkage": "hamming"}, {"linkage": "information"}
TABLE, TREE = {"local_structure": "table"}, {"local_structure": "tree"}
# Parameters of the estimator, by the paper's name and the linkage.
METHODS: dict[str, dict[str, Any]] = {
    "FLAT": TABLE,
    "ABS-E": {**TABLE, "abstraction": "given"},
    "ABS-G hamming": {**TABLE, "abstraction": "global", **HAMMING},
    "ABS-L1 hamming": {**TABLE, "abstraction": "local", **HAMMING},
    "ABS-Lf hamming": {**TABLE, "abstraction": "local_refreshed", **HAMMING},
    "TCPT": TREE,
    "TABS-E": {**TREE, "abstraction": "given"},
    "TABS-G hamming": {**TREE, "abstraction": "global", **HAMMING},
    "TABS-L hamming": {**TREE, "abstraction": "local", **HAMMING},
    "TABS-G information": {**TREE, "abstraction": "global", **INFORMATION},
    "TABS-L information": {**TREE, "abstraction": "local", **INFORMATION},
    "TCPT merged": {**TREE, "merge_leaves": True},
}
# Expected: log-likelihood (nats), parameters, edges; as SHORT orders the sets.
EXPECTED: dict[str, tuple[tuple[float, float, float], ...]] = {
    "FLAT": ((-25169, 173, 7.6), (-10988, 1893, 52), (-115797, 1770, 21)),
    "ABS-E": ((-25103, 223, 11), (-10760, 1694, 58), (-115049, 1541, 26)),
    "ABS-G hamming": ((-25125, 186, 11), (-10964, 1260, 62), (-115890, 1160, 27)),
    "ABS-L1 hamming": ((-25095, 205, 13), (-10744, 1356, 64), (-115198, 1286, 29)),
    "ABS-Lf hamming": ((-25083, 210, 13), (-10786, 1312, 55), (-114623, 1479, 22)),
    "TCPT": ((-25004, 275, 19), (-10194, 1278, 76), (-114692, 1752, 30)),
    "TABS-E": ((-24977, 227, 19), (-10068, 1042, 86), (-114093, 1566, 44)),
    "TABS-G hamming": ((-25056, 177, 17), (-10715, 841, 95), (-116011, 1144, 42)),
    "TABS-L hamming": ((-25005, 189, 20), (-10319, 859, 94), (-114928, 1183, 42)),
    "TABS-G information": ((-24896, 256, 8), (-10492, 896, 102), (-114107, 1330, 46)),
    "TABS-L information": ((-24988, 200, 22), (-10282, 818, 90), (-113935, 1190, 45)),
}
# The paper's table 1, in nats by its account; as SHORT orders the sets.
PRINTED: dict[str, tuple[float, float, float]] = {
    "FLAT": (-21769, -8680.2, -86740),
    "ABS-E": (-21770, -8683.4, -86741),
    "ABS-G hamming": (-21762, -8668.8, -84058),
    "ABS-L1 hamming": (-21846, -8671.0, -86770),
    "ABS-Lf hamming": (-21827, -8644.2, -86552),
    "TCPT": (-21736, -8594.5, -86180),
    "TABS-E": (-21735, -8557.0, -86165),
    "TABS-G hamming": (-21634, -8610.4, -83670),
    "TABS-L hamming": (-19957, -7839.3, -80996),
}
# No fold is more likely (nats) under a model that is no better on it than on the rows
# it was learned from; the page derives these.
HIGHEST = {"nursery": -24545.1, "mushroom": -9743.7, "adult": -90285.0}
# How far below what is expected a log-likelihood may be, in percent.
TOLERANCE = 1.0
# Tree models have so many times the arcs of FLAT.
LEAST_ARCS, MOST_ARCS = 1.4, 2.7
# Parameters of TCPT over those of TABS-L, at least.
LEAST_COMPRESSION = 1.35


class Figures(NamedTuple):
    """Means over the folds of one method on one set."""

    log_likelihood: float
    parameters: float
    edges: float


class Results:
    """Figures of every set and method.

    Parameters
    ----------
    path : Path
        The CSV file.
    protocol : dict of str to int
        Folds, and restarts, by set: `SHORT` or `FULL`.
    """

    def __init__(self, path: Path, protocol: dict[str, int]) -> None:
        self.protocol = protocol
        rows = pd.read_csv(path)
        n_folds = rows["set"].map(protocol)
        rows = rows[(rows["restarts"] == n_folds) & (rows["fold"] < n_folds)]
        self._cells = {
            (str(name), str(method)): part.set_index("fold")
            for (name, method), part in rows.groupby(["set", "method"])
        }

    def fold(self, name: str, method: str, fold: int) -> Figures:
        """What one fold gave."""
        found = self._cells[name, method].loc[fold, list(Figures._fields)]
        return Figures(*(float(value) for value in found))

    def mean(self, name: str, method: str) -> Figures:
        """Means over the folds."""
        found = self._cells[name, method][list(Figures._fields)].mean()
        return Figures(*(float(value) for value in found))

    def missing(self) -> list[tuple[str, str]]:
        """Sets and methods of which a fold has not been run."""
        return [
            (name, method)
            for name, n_folds in self.protocol.items()
            for method in METHODS
            if len(self._cells.get((name, method), ())) < n_folds
        ]

    def highest(self, name: str) -> float:
        """The largest log-likelihood of any method and fold of a set."""
        return max(
            float(part["log_likelihood"].max())
            for (where, _), part in self._cells.items()
            if where == name
        )

    def difference(self, name: str, method: str) -> float:
        """Log-likelihood less the expected one, in percent of that one's size."""
        wanted = expected(name, method)[0]
        return 100 * (self.mean(name, method).log_likelihood - wanted) / -wanted

    def outside(self) -> list[tuple[str, str]]:
        """Sets and methods farther below what is expected than allowed."""
        return [
            (name, method)
            for name in SHORT
            for method in EXPECTED
            if self.difference(name, method) < -TOLERANCE
        ]

    def arcs(self, name: str, method: str) -> float:
        """Number of arcs over that of FLAT."""
        return self.mean(name, method).edges / self.mean(name, "FLAT").edges

    def compression(self, name: str, linkage: str) -> float:
        """Parameters of TCPT over those of TABS-L."""
        other = self.mean(name, f"TABS-L {linkage}")
        return self.mean(name, "TCPT").parameters / other.parameters


def expected(name: str, method: str) -> tuple[float, float, float]:
    """Log-likelihood, parameters and arcs that a method is expected to have."""
    return EXPECTED[method][list(SHORT).index(name)]


def table_of_set(results: Results, name: str) -> str:
    """Figures of all methods on one set, beside those expected and those printed."""
    rows = []
    for method in METHODS:
        found = results.mean(name, method)
        row = [method, f"{found.log_likelihood:.0f}"]
        row += [f"{found.parameters:.0f}", f"{found.edges:.1f}"]
        if method in EXPECTED:
            likelihood, parameters, edges = expected(name, method)
            row += [f"{likelihood:.0f} / {parameters:.0f} / {edges:g}"]
            row += [f"{results.difference(name, method):+.2f}"]
            row += ["below" if (name, method) in results.outside() else "within"]
        else:
            row += ["-"] * 3
        printed = PRINTED.get(method)
        rows.append(
            [*row, f"{printed[list(SHORT).index(name)]:.0f}" if printed else "-"]
        )
    heading = ["method", "log-likelihood", "parameters", "arcs"]
    heading += ["expected", "difference, %", "verdict", "printed"]
    return markdown_table(heading, rows)


def table_of_orderings(results: Results) -> str:
    """What the methods are to one another, set by set."""
    rows = []
    for name in SHORT:
        gain = results.mean(name, "TCPT").log_likelihood
        gain -= results.mean(name, "FLAT").log_likelihood
        arcs = [
            results.arcs(name, m) for m in METHODS if m.startswith(("TCPT", "TABS"))
        ]
        merged, whole = results.mean(name, "TCPT merged"), results.mean(name, "TCPT")
        rows.append(
            [
                name,
                f"{gain:+.0f}",
                f"{min(arcs):.2f} to {max(arcs):.2f}",
                f"{results.compression(name, 'hamming'):.2f}",
                f"{results.compression(name, 'information'):.2f}",
                f"{merged.parameters / whole.parameters:.2f}",
                f"{merged.log_likelihood - whole.log_likelihood:+.0f}",
            ]
        )
    heading = ["set", "TCPT less FLAT, nats", "arcs of trees / FLAT"]
    heading += ["TCPT / TABS-L hamming", "TCPT / TABS-L information"]
    heading += ["merged / TCPT", "merged less TCPT, nats"]
    return markdown_table(heading, rows)
