"""Scores of searches over plain tables, beside greedy searches of pyAgrum and pgmpy.

    python benchmarks/structure_peers.py DATA [--networks alarm child] [--seeds 3]

draws 20 000 rows of alarm, insurance and child, learns a network from each by BIC with
one, two, four and thirty restarts in one thread, and by pyAgrum's greedy hill climbing
and pgmpy's hill climbing with their own stopping rules; then scores all networks alike
and prints a Markdown table. "distance" is the structural Hamming distance between the
equivalence classes of the network found and of the one that rows were drawn from; "s"
is processor time, so that other work on the machine counts little.
Pgmpy takes minutes for some samples. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bayleaf import BayesianNetwork, read_network
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.graph.dag import DAG
from bayleaf.scores import resolve_score
from bayleaf.search.table_climbing import climb_tables

sys.path.insert(0, str(Path(__file__).parent / "speed"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from machine import describe_processor, markdown_table

from oracles.equivalence import structural_hamming_distance

NETWORKS = "alarm", "insurance", "child"
N_ROWS = 20_000
N_RESTARTS = 1, 2, 4, 30
HEADINGS = ["network", "seed", "search", "BIC", "less the best peer's", "distance", "s"]
Arcs = list[tuple[int, int]]


def climbed(codes: Codes, network: BayesianNetwork, n_restarts: int) -> Arcs:
    """Edges of the best of some restarts."""
    flat = [flat_hierarchy(variable.states) for variable in network.domain]
    found = climb_tables(
        RowCounts(codes, has_class=False),
        network.domain,
        resolve_score("bic"),
        flat,
        refine=False,
        n_restarts=n_restarts,
    )
    return list(found.dag.arcs)


def frame_of(codes: Codes, network: BayesianNetwork) -> Any:
    """The rows as pandas has them, every state a category."""
    import pandas as pd

    columns = {}
    for v, variable in enumerate(network.domain):
        states = [str(state) for state in variable.states]
        columns[str(variable.name)] = pd.Categorical.from_codes(codes.column(v), states)
    return pd.DataFrame(columns)


def by_pyagrum(codes: Codes, network: BayesianNetwork) -> Callable[[], Arcs]:
    """PyAgrum's greedy hill climbing, ready to run."""
    import pyagrum

    frame = frame_of(codes, network)
    template = pyagrum.BayesNet()
    for column in frame:
        labels = list(frame[column].cat.categories)
        template.add(pyagrum.LabelizedVariable(column, column, labels))
    learner = pyagrum.BNLearner(frame.astype(str), template)
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    learner.useNoPrior()
    return lambda: list(learner.learnDAG().arcs())


def by_pgmpy(codes: Codes, network: BayesianNetwork) -> Callable[[], Arcs]:
    """Pgmpy's hill climbing, ready to run."""
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(frame_of(codes, network))
    places = {str(variable.name): v for v, variable in enumerate(network.domain)}

    def run() -> Arcs:
        found = search.estimate(scoring_method="bic-d", show_progress=False)
        return [(places[parent], places[child]) for parent, child in found.edges()]

    return run


def score_of(codes: Codes, dag: DAG) -> float:
    """BIC (nats) of a network of plain tables."""
    bic, total = resolve_score("bic"), 0.0
    for counts in RowCounts(codes, has_class=False).family_counts(dag.families):
        rows = counts.reshape(-1, counts.shape[-1])
        total += float(bic.rows_score(rows, len(rows), codes.n_rows))
    return total


def searches(
    codes: Codes, network: BayesianNetwork, peers: list[str]
) -> Iterator[tuple[str, Callable[[], Arcs]]]:
    """Names of all searches, and what runs them."""
    prepared = {"pyagrum": by_pyagrum, "pgmpy": by_pgmpy}
    for peer in peers:
        yield peer, prepared[peer](codes, network)
    for n_restarts in N_RESTARTS:
        name = f"bayleaf, n_restarts={n_restarts}"
        yield name, lambda n=n_restarts: climbed(codes, network, n)


def sample_rows(network: BayesianNetwork, seed: int, peers: list[str]) -> list[list]:
    """What all searches find in one sample: name, BIC, difference, distance, time."""
    codes = network.sample_codes(N_ROWS, random_state=seed)
    found: list[list[Any]] = []
    for name, search in searches(codes, network, peers):
        start = time.process_time()
        arcs = search()
        seconds = time.process_time() - start
        dag = DAG.from_arcs(len(network.domain), sorted(arcs))
        distance = structural_hamming_distance(dag, network.dag)
        found.append([name, score_of(codes, dag), distance, seconds])
    best = max((row[1] for row in found if row[0] in peers), default=float("nan"))
    return [
        [name, f"{score:.1f}", f"{score - best:+.1f}", str(distance), f"{seconds:.2f}"]
        for name, score, distance, seconds in found
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    peers = [name for name in ("pyagrum", "pgmpy") if importlib.util.find_spec(name)]
    climbed(*_small(options.data), 2)
    rows = []
    for name in options.networks:
        network = read_network(options.data / "networks" / f"{name}.bif")
        for seed in range(options.seeds):
            for row in sample_rows(network, seed, peers):
                rows.append([name, str(seed), *row])
                print(*rows[-1], sep="\t", file=sys.stderr)
    print(f"{describe_processor()}\n\n{markdown_table(HEADINGS, rows)}")


def _small(data: Path) -> tuple[Codes, BayesianNetwork]:
    """Rows enough for loops to be compiled before times are taken."""
    network = read_network(data / "networks" / "child.bif")
    return network.sample_codes(N_ROWS, random_state=99), network


if __name__ == "__main__":
    main()
