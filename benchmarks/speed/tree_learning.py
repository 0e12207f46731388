"""Learning networks of trees: nursery, adult, and made-up tables of many sizes.

    python benchmarks/speed/tree_learning.py [--rows 1000000] [--repeats 3]

prints a Markdown table of seconds on one thread, one restart of the best moves, with
the description length (bits). nursery and adult are read from the folder that the
environment variable BAYLEAF_DATA names and left out without it. Every time is the least
of the repeats, after one warm-up search; learning the local hierarchies is part of it.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.scores.local_scores import MDL
from bayleaf.search.hierarchy_learning import LocalHierarchies
from bayleaf.search.structure import SearchResult
from bayleaf.search.tree_climbing import climb_trees

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table

SETTINGS = {
    "TCPT": {"tree_search": "incremental"},
    "TCPT, regrowing": {"tree_search": "regrowing"},
    "TCPT, batch": {"tree_search": "batch"},
    "TCPT, merged leaves": {"tree_search": "incremental", "merge_leaves": True},
    "TABS-L": {"tree_search": "incremental", "local": True},
    "TABS-L, regrowing": {"tree_search": "regrowing", "local": True},
}
# Upper bounds, exclusive, of all intervals but the last.
ADULT_EDGES = {
    "age": (20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75),
    "hours-per-week": (20, 35, 40, 41, 50, 60),
    "capital-gain": (1, 5000, 10000),
    "capital-loss": (1, 1700, 2000),
}
ADULT_LEFT_OUT = ("fnlwgt", "education-num")
N_STATES = 4


def read(folder: Path, name: str) -> Codes:
    """Complete rows of a published table, adult's numbers in intervals."""
    table = pa_csv.read_csv(
        folder / "small" / f"{name}.csv",
        convert_options=pa_csv.ConvertOptions(
            null_values=[""], strings_can_be_null=True
        ),
    ).drop_null()
    columns = []
    for column in table.column_names:
        if column in ADULT_LEFT_OUT:
            continue
        values = table[column].to_numpy()
        if column in ADULT_EDGES:
            values = np.searchsorted(ADULT_EDGES[column], values, side="right")
        columns.append(np.unique(values.astype(str), return_inverse=True)[1])
    return Codes.from_columns(columns, [int(column.max()) + 1 for column in columns])


def made_up(n_rows: int, n_variables: int) -> Codes:
    """Variables of four states, each of which at times copies one of two others."""
    rng = np.random.default_rng(0)
    columns: list[np.ndarray] = []
    for v in range(n_variables):
        column = rng.integers(N_STATES, size=n_rows)
        for parent in rng.choice(v, size=min(v, 2), replace=False) if v else []:
            copied = (columns[parent] + v) % N_STATES
            column = np.where(rng.random(n_rows) < 0.35, copied, column)
        columns.append(column)
    return Codes.from_columns(columns, [N_STATES] * n_variables)


def learn(codes: Codes, *, local: bool = False, **options: object) -> SearchResult:
    """One restart with trivial hierarchies, or with those learned on the way."""
    counts = RowCounts(codes, has_class=False)
    variables = [Variable(v, tuple(range(c))) for v, c in enumerate(codes.cards)]
    domain = Domain(tuple(variables))
    flat = [flat_hierarchy(variable.states) for variable in variables]
    source = LocalHierarchies(counts, domain) if local else None
    return climb_trees(counts, domain, MDL(), flat, hierarchy_source=source, **options)


def line(what: str, codes: Codes, setting: str, repeats: int) -> list[str]:
    """One line of a table: seconds and what was found."""
    options = SETTINGS[setting]
    found = learn(codes, **options)
    seconds = best_time(partial(learn, codes, **options), repeats)
    parameters = sum(
        shape.n_rows * codes.cards[shape.child] for shape in found.cpd_structures
    )
    n_edges = sum(1 for _ in found.dag.arcs)
    cells = [
        what,
        setting,
        f"{seconds:.3f}",
        str(len(found.trace)),
        str(n_edges),
        str(parameters),
        f"{-found.score:.0f}",
    ]
    print(*cells, file=sys.stderr)
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    heading = ["table", "setting", "s", "moves", "edges", "parameters", "bits"]
    lines = []
    if folder := os.environ.get("BAYLEAF_DATA"):
        for name in ("nursery", "adult"):
            codes = read(Path(folder), name)
            what = f"{name}, {codes.n_rows} x {codes.n_variables}"
            lines += [line(what, codes, s, arguments.repeats) for s in SETTINGS]
    small = arguments.rows // 100
    sizes = [(small, 30), (10 * small, 30), (100 * small, 30), (small, 100)]
    for n_rows, n_variables in sizes:
        what = f"made up, {n_rows} x {n_variables}"
        codes = made_up(n_rows, n_variables)
        for setting in ("TCPT", "TCPT, regrowing"):
            lines.append(line(what, codes, setting, arguments.repeats))
    print(describe_processor(), end="\n\n")
    print(markdown_table(heading, lines))


if __name__ == "__main__":
    main()
