"""Structures of density models, beside greedy searches of pyAgrum and pgmpy.

    python benchmarks/speed/structure_learning.py [--repeats 3] [--slow] [--json]

prints Markdown tables. Rows are drawn from a random network of four-state variables
with up to three parents. Every time is the least of the repeats, in one thread, with
BIC and one start from no edges, after one call that compiles. Ours goes from codes to
the structure; pyAgrum's leaves out the reading of its table, pgmpy's the making of its
search. Peers that are not installed are left out; pgmpy, which takes minutes, unless
asked for with --slow.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.graph.dag import DAG
from bayleaf.scores import resolve_score
from bayleaf.search.structure import SearchResult
from bayleaf.search.table_climbing import climb_tables

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table

STATES = ("a", "b", "c", "d")
MAX_PARENTS = 3
REFERENCE = 100_000, 30
SIZES = [
    (10_000, 30),
    REFERENCE,
    (1_000_000, 30),
    (100_000, 10),
    (100_000, 60),
    (100_000, 120),
]


def random_rows(n_rows: int, n_variables: int, seed: int = 0) -> Codes:
    """Rows of a random network in which variables have up to three parents."""
    rng = np.random.default_rng(seed)
    card = len(STATES)
    columns: list[Any] = []
    for child in range(n_variables):
        number = min(child, int(rng.integers(0, MAX_PARENTS + 1)))
        key = np.zeros(n_rows, dtype=np.int64)
        for parent in rng.permutation(child)[:number]:
            key = key * card + columns[parent]
        rows = rng.dirichlet(np.full(card, 0.5), card**number).cumsum(axis=1)
        draws = rng.random(n_rows)
        column = np.zeros(n_rows, dtype=np.uint8)
        for state in range(card - 1):
            column += draws > rows[key, state]
        columns.append(column)
    # Searches that break ties by index would gain from parents that come first.
    order = rng.permutation(n_variables)
    return Codes.from_columns([columns[v] for v in order], [card] * n_variables)


def learned(codes: Codes) -> SearchResult:
    """The network of plain tables that one climb finds."""
    variables = [Variable(f"x{v}", STATES) for v in range(codes.n_variables)]
    return climb_tables(
        RowCounts(codes, has_class=False),
        Domain(tuple(variables)),
        resolve_score("bic"),
        [flat_hierarchy(STATES)] * codes.n_variables,
        refine=False,
    )


def score_of(codes: Codes, dag: DAG) -> float:
    """BIC (nats) of a network of plain tables."""
    bic, total = resolve_score("bic"), 0.0
    for counts in RowCounts(codes, has_class=False).family_counts(dag.families):
        rows = counts.reshape(-1, counts.shape[-1])
        total += float(bic.rows_score(rows, len(rows), codes.n_rows))
    return total


def frame_of(codes: Codes) -> Any:
    """The rows as pandas has them."""
    import pandas as pd

    return pd.DataFrame(
        {
            f"x{v}": pd.Categorical.from_codes(codes.column(v), list(STATES))
            for v in range(codes.n_variables)
        }
    )


def pyagrum_search(codes: Codes) -> Callable[[], list[tuple[int, int]]]:
    """PyAgrum's greedy hill climbing over the rows, ready to run."""
    import pyagrum

    frame = frame_of(codes).astype(str)

    def search() -> list[tuple[int, int]]:
        learner.useGreedyHillClimbing()
        return list(learner.learnDAG().arcs())

    learner = pyagrum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useNoPrior()
    return search


def pgmpy_search(codes: Codes) -> Callable[[], list[tuple[int, int]]]:
    """Pgmpy's hill climbing over the rows, ready to run."""
    from pgmpy.estimators import HillClimbSearch

    frame = frame_of(codes)

    def search() -> list[tuple[int, int]]:
        found = HillClimbSearch(frame).estimate(
            scoring_method="bic-d", show_progress=False
        )
        return [(int(a[1:]), int(b[1:])) for a, b in found.edges()]

    return search


def peer_rows(codes: Codes, ours: dict[str, Any], slow: bool) -> list[dict[str, Any]]:
    """What peers take for the same rows, and how their networks score."""
    peers = {"pyagrum": pyagrum_search}
    if slow:
        peers["pgmpy"] = pgmpy_search
    found = [ours]
    for name, prepare in peers.items():
        if importlib.util.find_spec(name) is None:
            continue
        search = prepare(codes)
        start = time.perf_counter()
        arcs = search()
        seconds = time.perf_counter() - start
        dag = DAG.from_arcs(codes.n_variables, sorted(arcs))
        found.append(
            {
                "program": name,
                "seconds": seconds,
                "times ours": seconds / ours["seconds"],
                "edges": len(arcs),
                "bic": score_of(codes, dag),
            }
        )
    return found


def size_rows(repeats: int) -> list[dict[str, Any]]:
    """What a climb takes for several numbers of rows and variables."""
    found = []
    for n_rows, n_variables in SIZES:
        codes = random_rows(n_rows, n_variables)
        result = learned(codes)
        seconds = best_time(lambda codes=codes: learned(codes), repeats)
        n_moves = len(result.trace)
        found.append(
            {
                "rows": n_rows,
                "variables": n_variables,
                "seconds": seconds,
                "moves": n_moves,
                "milliseconds a move": 1000 * seconds / max(n_moves, 1),
            }
        )
    return found


def as_table(rows: list[dict[str, Any]]) -> str:
    """Records of one kind as a Markdown table."""
    texts = [
        [f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()]
        for row in rows
    ]
    return markdown_table(list(rows[0]), texts)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    codes = random_rows(*REFERENCE)
    result = learned(codes)
    ours = {
        "program": "bayleaf",
        "seconds": best_time(lambda: learned(codes), options.repeats),
        "times ours": 1.0,
        "edges": len(list(result.dag.arcs)),
        "bic": result.score,
    }
    peers = peer_rows(codes, ours, options.slow)
    sizes = size_rows(options.repeats)
    if options.json:
        print(json.dumps({"peers": peers, "sizes": sizes}))
        return
    print(
        f"{describe_processor()}\n\n{REFERENCE[0]} rows of {REFERENCE[1]} variables:\n"
    )
    print(as_table(peers), "", as_table(sizes), sep="\n")


if __name__ == "__main__":
    main()
