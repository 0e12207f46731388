"""Density models on nursery, mushroom and adult, as desJardins et al. (2008).

Rows are dealt into five folds; each fold is scored by a network that was learned from
the other four, the best of some restarts by its description length. Tables 1 and 2 of
the paper are run twice: with five folds and five restarts, as it says, and with the
folds and restarts of the figures that are expected. For tables 3 and 4 a fold of adult
is scored by networks of more and more of the other rows. Trees of adult are learned
with several seeds of the restarts.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
from bayleaf.reproduction.cells import Cell, Results
from bayleaf.reproduction.desjardins2008_figures import (
    CURVE_FOLDS,
    CURVE_METHODS,
    CURVE_RESTARTS,
    FULL,
    N_SEEDS,
    SEED_METHODS,
    SETS,
    SHORT,
    SIZES,
    compare,
)
from bayleaf.reproduction.protocols import Paper
from bayleaf.reproduction.sources import TARGET, Sources
from bayleaf.reproduction.verdicts import Comparison

PAPER = Paper(
    "desjardins2008",
    "desJardins, Rathod and Getoor 2008, tables 1 to 4",
    "desJardins, M., Rathod, P., Getoor, L. (2008). Learning structured Bayesian "
    "networks: combining abstraction hierarchies and tree-structured conditional "
    "probability tables. Computational Intelligence 24(1), 1-22.",
    labels=("rows of", "method", "figure"),
)

# Folds that the rows are dealt into, whether or not all of them are run.
N_FOLDS = 5
HAMMING, INFORMATION = {"linkage": "hamming"}, {"linkage": "information"}
TABLE, REGROWN = {"local_structure": "table"}, {"local_structure": "tree"}
TREE = {**REGROWN, "tree_search": "incremental"}
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
    "TCPT regrown": REGROWN,
    "TABS-E regrown": {**REGROWN, "abstraction": "given"},
    "TABS-L information regrown": {**REGROWN, "abstraction": "local", **INFORMATION},
    "TCPT regrown, merged": {**REGROWN, "merge_leaves": True},
}

Intervals = tuple[list[float], list[str]]
# Right ends (inclusive) of all intervals but the last, and names of all, of adult's
# numeric columns.
ADULT_INTERVALS: dict[str, Intervals] = {
    "age": (
        [19, *range(24, 75, 5)],
        ["17-19", *(f"{low}-{low + 4}" for low in range(20, 75, 5)), "75+"],
    ),
    "hours-per-week": (
        [19, 34, 39, 40, 49, 59],
        ["1-19", "20-34", "35-39", "40", "41-49", "50-59", "60+"],
    ),
    "capital-gain": ([0, 4999, 9999], ["none", "below 5000", "below 10000", "more"]),
    "capital-loss": ([0, 1699, 1999], ["none", "below 1700", "below 2000", "more"]),
}
NOT_OF_ADULT = ["fnlwgt", "education-num"]


@lru_cache(maxsize=2)
def load(sources: Sources, name: str) -> pa.Table:
    """The complete rows of a table, class included, every column nominal."""
    frame = sources.table(name)
    missing = [pc.equal(column, "").to_numpy() for column in frame.columns]
    frame = frame.take(np.flatnonzero(~np.any(missing, axis=0)))
    if name == "adult":
        frame = _in_intervals(sources, frame)
    # The class of a table of texts is the last column, a variable like any other.
    assert frame.column_names[-1] == TARGET
    columns = [_nominal(column) for column in frame.columns]
    return pa.table(columns, names=frame.column_names)


def _in_intervals(sources: Sources, frame: pa.Table) -> pa.Table:
    """Adult with its numbers as names of intervals."""
    frame = frame.drop_columns(NOT_OF_ADULT)
    for column, (ends, names) in ADULT_INTERVALS.items():
        numbers = sources.numbers(frame, column)
        found = pa.array(np.array(names)[np.searchsorted(ends, numbers)])
        place = frame.column_names.index(column)
        frame = frame.set_column(place, column, found)
    return frame


def _nominal(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column with its states in order, which all parts of the table then have."""
    # States that only incomplete rows had are none of the domain.
    states, codes = np.unique(
        np.array(column.to_pylist(), dtype=np.str_), return_inverse=True
    )
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(states))


def deal(n_rows: int, fold: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to learn from and rows of the fold; the deal is the same for all methods."""
    parts = np.array_split(np.random.default_rng(0).permutation(n_rows), N_FOLDS)
    rest = [part for number, part in enumerate(parts) if number != fold]
    return np.sort(np.concatenate(rest)), np.sort(parts[fold])


def some_of(rows: NDArray[np.intp], size: int, fold: int) -> NDArray[np.intp]:
    """So many of the rows to learn from; more of them hold those of fewer."""
    return np.sort(np.random.default_rng(fold).permutation(rows)[:size])


def cells() -> list[Cell]:
    """Every cell of the full run."""
    found = [
        _cell(name, None, restarts, fold, method)
        for name in SETS
        for restarts in sorted({SHORT[name], FULL[name]})
        for fold in range(restarts)
        for method in METHODS
    ]
    found += [
        _cell("adult", size, CURVE_RESTARTS, fold, method)
        for size in SIZES
        for fold in range(CURVE_FOLDS)
        for method in CURVE_METHODS
    ]
    return found + [
        _cell("adult", None, SHORT["adult"], fold, method, seed)
        for seed in range(1, N_SEEDS)
        for fold in range(SHORT["adult"])
        for method in SEED_METHODS
    ]


def _cell(
    name: str, size: int | None, restarts: int, fold: int, method: str, seed: int = 0
) -> Cell:
    """One method on one fold."""
    return Cell.of(
        [name],
        quick=seed == 0 and _is_quick(name, size, restarts, fold, method),
        set=name,
        rows=size,
        restarts=restarts,
        fold=fold,
        method=method,
        seed=seed,
    )


_QUICK_OF_ADULT = ("TCPT", "TABS-E", "TABS-L information")


def _is_quick(
    name: str, size: int | None, restarts: int, fold: int, method: str
) -> bool:
    """Whether the short run has a cell: one fold, of adult with few rows alone."""
    if name != "adult":
        return fold == 0 and restarts == SHORT[name]
    return size == SIZES[0] and fold == 0 and method in _QUICK_OF_ADULT


def run(cell: Cell, sources: Sources) -> dict[str, float]:
    """Log-likelihood (nats) of the fold, parameters, arcs, bits of the description.

    Without the given hierarchies, which the data folder has, there are no figures of
    the methods that use them.
    """
    name, method = cell.text("set"), cell.text("method")
    given = _hierarchies(sources, name) if "-E" in method else {}
    if given is None:
        return {}
    table = load(sources, name)
    rows, test_rows = deal(table.num_rows, cell.number("fold"))
    if cell["rows"] is not None:
        rows = some_of(rows, cell.number("rows"), cell.number("fold"))
    model = BayesianNetworkEstimator(
        **METHODS[method],
        **given,
        n_restarts=cell.number("restarts"),
        random_state=cell.number("seed"),
        n_jobs=1,
    ).fit(table.take(rows))
    likelihood = float(model.score_samples(table.take(test_rows)).sum())
    return {
        "log_likelihood": round(likelihood, 2),
        "parameters": float(model.n_parameters_),
        "edges": float(len(model.edges_)),
        "bits": round(float(model.mdl_), 1),
    }


def _hierarchies(sources: Sources, name: str) -> dict[str, Path] | None:
    """The given hierarchies as a parameter of the estimator; None without them."""
    place = sources.file(f"avh/{name}.json")
    return None if place is None else {"hierarchies": place}


def comparisons(results: Results) -> list[Comparison]:
    """Every printed figure beside ours."""
    return compare(results)
