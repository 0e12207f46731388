"""All posteriors of published networks, and posteriors of many rows, beside peers.

    python benchmarks/speed/inference.py [--networks FOLDER] [--repeats 3]

prints Markdown tables. The folder holds `alarm.bif` and so on; it is taken from the
environment variable BAYLEAF_DATA if that is set. Each query sets new evidence, sampled
from the network on a part of its nodes, and reads the posteriors of all nodes; times
are means over the queries of the best of the repeats, after one query to warm up.
Ratios are those of our times when nothing is kept from earlier queries but the tree of
the network; "again" is the time once the same nodes were observed before.
Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table

from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import posterior_rows
from bayleaf.io import read_network
from bayleaf.models.bayesian_network import BayesianNetwork

NETWORKS = ("alarm", "hailfinder", "hepar2", "win95pts", "pigs", "munin1")
SHARES = (0.0, 0.1, 0.3)
MISSING = 0.2
N_QUERIES = 5
# munin1's largest clique is larger than the library's default allows.
MAX_TABLE_CELLS = 200_000_000
PEER_ROWS = 100
TARGET = "HYPOVOLEMIA"

Query = dict[int, int]
Answer = Callable[[Query], object]


def sample(
    network: BayesianNetwork, n_rows: int, rng: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows drawn from a network, shape (n_variables, n_rows)."""
    rows = np.zeros((len(network.domain), n_rows), dtype=np.int64)
    for node in network.dag.order:
        cpd = network.cpds[node]
        given = cpd.probabilities[tuple(rows[parent] for parent in cpd.parents)]
        cumulative = np.atleast_2d(np.cumsum(given, axis=-1))
        drawn = rng.random((n_rows, 1)) * cumulative[:, -1:]
        rows[node] = (drawn >= cumulative).sum(axis=1)
    return rows


def make_queries(network: BayesianNetwork, share: float) -> list[Query]:
    """Evidence on a share of the nodes, sampled again for each query."""
    rng = np.random.default_rng(0)
    rows = sample(network, N_QUERIES, rng)
    n_nodes = len(network.domain)
    queries = []
    for row in rows.T:
        nodes = rng.choice(n_nodes, round(share * n_nodes), replace=False)
        queries.append({int(node): int(row[node]) for node in nodes})
    return queries


def our_answer(compiled: JunctionTree, *, keep: bool) -> Answer:
    """Posteriors of all nodes; `keep` what was compiled for the observed nodes."""
    units = [np.eye(card) for card in compiled.network.domain.cards]

    def answer(query: Query) -> object:
        tree = compiled if keep else replace(compiled)
        found = tree.propagate({v: units[v][state] for v, state in query.items()})
        return [found.marginal(v) for v in range(len(units))]

    return answer


def agrum_answer(engine: str) -> Callable[[Path, BayesianNetwork], Answer]:
    """Posteriors of all nodes by one of pyAgrum's engines."""

    def make(path: Path, network: BayesianNetwork) -> Answer:
        import pyagrum

        names = [str(name) for name in network.domain.names]
        inference = getattr(pyagrum, engine)(pyagrum.loadBN(str(path)))

        def answer(query: Query) -> object:
            inference.eraseAllEvidence()
            inference.setEvidence({names[v]: state for v, state in query.items()})
            inference.makeInference()
            return [inference.posterior(name).toarray() for name in names]

        return answer

    return make


def mean_time(answer: Answer, queries: list[Query], repeats: int) -> float:
    """Milliseconds a query: the best repeat of each, averaged; slow ones run once."""
    answer(queries[-1])
    best = np.full(len(queries), np.inf)
    for _ in range(repeats):
        for place, query in enumerate(queries):
            if 1.0 < best[place] < np.inf:
                continue
            start = time.perf_counter()
            answer(query)
            best[place] = min(best[place], time.perf_counter() - start)
    return float(best.mean()) * 1000


def query_rows(folder: Path, names: list[str], repeats: int) -> list[list[str]]:
    """One row a network and share of evidence."""
    engines = ["LazyPropagation", "ShaferShenoyInference"]
    if importlib.util.find_spec("pyagrum") is None:
        engines = []
    rows = []
    for name in names:
        path = folder / f"{name}.bif"
        network = read_network(path)
        tree = JunctionTree.compile(network, max_table_cells=MAX_TABLE_CELLS)
        ours, again = our_answer(tree, keep=False), our_answer(tree, keep=True)
        peers = [agrum_answer(engine)(path, network) for engine in engines]
        for share in SHARES:
            queries = make_queries(network, share)
            our_time = mean_time(ours, queries, repeats)
            times = [mean_time(peer, queries, repeats) for peer in peers]
            our_next = mean_time(again, queries, repeats)
            row = [name, f"{share:.0%}", f"{our_time:.3f}", f"{our_next:.3f}"]
            for peer_time in times or [None, None]:
                row += ["-"] * 2 if peer_time is None else against(our_time, peer_time)
            rows.append(row)
    return rows


def against(ours: float, peer: float) -> list[str]:
    """A peer's time, and how many times as long ours took."""
    return [f"{peer:.3f}", f"{ours / peer:.3f}"]


def batch_rows(folder: Path, n_rows: int, repeats: int) -> list[list[str]]:
    """Posteriors of one node for incomplete rows, beside pgmpy on few of them."""
    network = read_network(folder / "alarm.bif")
    rng = np.random.default_rng(1)
    rows, cards = sample(network, n_rows, rng), network.domain.cards
    partial = np.where(rng.random(rows.shape) < MISSING, np.array(cards)[:, None], rows)
    target = network.domain.index(TARGET)
    codes = Codes.from_columns(list(partial), cards)
    tree = JunctionTree.compile(network)
    posterior_rows(tree, codes.rows(slice(0, 10)), target)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        posterior_rows(tree, codes, target)
        best = min(best, time.perf_counter() - start)
    ours = best / n_rows * 1e6
    row = [f"alarm, {n_rows} rows", f"{best:.3f}", f"{ours:.1f}", "-", "-"]
    if importlib.util.find_spec("pgmpy") is not None:
        peer = pgmpy_time(folder / "alarm.bif", network, partial[:, :PEER_ROWS], target)
        row[3:] = [f"{peer:.0f}", f"{peer / ours:.0f}"]
    return [row]


def pgmpy_time(
    path: Path,
    network: BayesianNetwork,
    partial: np.ndarray[Any, np.dtype[np.int64]],
    target: int,
) -> float:
    """Microseconds a row of pgmpy's predict_probability.

    It takes complete tables only, so that rows are given to it one by one, without
    the columns that they miss.
    """
    import pandas as pd
    from pgmpy.readwrite import BIFReader

    model = BIFReader(str(path)).get_model()
    frames = []
    for row in partial.T:
        cells = {
            str(variable.name): [variable.states[code]]
            for place, (variable, code) in enumerate(zip(network.domain, row))
            if code < variable.n_states and place != target
        }
        frames.append(pd.DataFrame(cells))
    start = time.perf_counter()
    for frame in frames:
        model.predict_probability(frame)
    return (time.perf_counter() - start) / len(frames) * 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    data = Path(os.environ.get("BAYLEAF_DATA", "."))
    parser.add_argument("--networks", type=Path, default=data / "networks")
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    print(f"{describe_processor()}; one thread\n")
    heading = ["network", "evidence", "bayleaf, ms", "again, ms"]
    for peer in ("LazyPropagation", "ShaferShenoy"):
        heading += [f"pyAgrum {peer}, ms", "ours / peer"]
    table = query_rows(arguments.networks, arguments.only, arguments.repeats)
    print(markdown_table(heading, table))
    heading = ["job", "bayleaf, s", "us a row", "pgmpy, us a row", "times faster"]
    table = batch_rows(arguments.networks, arguments.rows, arguments.repeats)
    print("\n" + markdown_table(heading, table))


if __name__ == "__main__":
    main()
