"""Estimated posteriors beside exact ones: how close, how honest, how fast.

    python benchmarks/accuracy_of_sampling.py DATA [--networks link grid22] [--sets 2]

estimates the posteriors of all variables of munin1, link, diabetes and barley (BIF
files in DATA/networks) and of two grids of binary variables with random tables, without
evidence, with states of 10 and of 40 variables from a row drawn from the network, and
with the least likely of 1 000 such rows. Prints a Markdown table: "inside" is the share
of states whose exact probability lies within three standard errors, "sd" the standard
deviation of errors in standard errors, of states between 1 and 99 %; "s" is processor
time of one thread at a tolerance of 0.01. The posteriors of the grid of 22 x 22 are
summed row by row, those of 40 x 40 come from a run with other seeds and a tolerance of
0.002, whose errors count too.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf import BayesianNetwork, read_network
from bayleaf.inference.posteriors import Posteriors

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracles.grid_networks import grid_network, grid_posteriors

NETWORKS = ("munin1", "link", "diabetes", "barley", "grid22", "grid40")
WIDTHS = {"grid22": 22, "grid40": 40}
TOLERANCE = 0.01
Exact = tuple[dict[Any, np.ndarray], dict[Any, np.ndarray], float]


def evidence_sets(
    network: BayesianNetwork, n_sets: int
) -> Iterator[tuple[str, dict[Any, Any]]]:
    """What is known, with a name for the table."""
    yield "none", {}
    for n_given in (10, 40):
        n_given = min(n_given, len(network.domain) // 3)
        for seed in range(n_sets):
            yield f"{n_given} drawn", given(network, n_given, seed, 1)
        for seed in range(n_sets):
            yield f"{n_given} unlikely", given(network, n_given, seed, 1000)


def given(
    network: BayesianNetwork, n_given: int, seed: int, n_rows: int
) -> dict[Any, Any]:
    """States of some variables in the row whose states are rarest one by one."""
    rng = np.random.default_rng([seed, n_rows])
    rows = network.sample_codes(n_rows, None, rng)
    chosen = rng.choice(len(network.domain), n_given, replace=False)
    rarity = np.zeros(n_rows)
    for v in chosen:
        column = rows.column(v)
        rarity -= np.log(np.bincount(column)[column] / n_rows)
    row = int(rarity.argmax())
    domain = network.domain
    return {domain[v].name: domain[v].states[int(rows.column(v)[row])] for v in chosen}


def exact(name: str, network: BayesianNetwork, evidence: dict[Any, Any]) -> Exact:
    """Posteriors by name, their own standard errors, and ln P(evidence)."""
    if name == "grid22":
        found, log_evidence = grid_posteriors(network, evidence)
        return found, {v: np.zeros(2) for v in found}, log_evidence
    answer: Posteriors
    if name == "grid40":
        answer = network.query(
            evidence,
            method="approximate",
            tolerance=TOLERANCE / 5,
            max_samples=2_000_000,
            random_state=10_000,
        )
    else:
        answer = network.query(evidence)
    probabilities = {v: answer[v].probabilities for v in answer}
    return probabilities, answer.standard_errors, answer.log_evidence


def line(
    name: str, network: BayesianNetwork, what: str, evidence: dict[Any, Any]
) -> str:
    """One line of the table."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        found: Any = network.query(
            evidence, method="approximate", tolerance=TOLERANCE, random_state=0
        )
    seconds = time.process_time() - start
    expected, errors, log_evidence = exact(name, network, evidence)
    scores, common, largest = [], [], 0.0
    for variable in network.domain.names:
        if variable in evidence:
            continue
        difference = found[variable].probabilities - expected[variable]
        spread = np.hypot(found.standard_errors[variable], errors[variable])
        scores.append(difference / spread)
        inner = (expected[variable] > 0.01) & (expected[variable] < 0.99)
        common.append(scores[-1][inner])
        largest = max(largest, float(np.abs(difference).max()))
    every, often = np.concatenate(scores), np.concatenate(common)
    log_error = (
        f"{found.log_evidence - log_evidence:+.4f} ± {found.log_evidence_error:.4f}"
    )
    return (
        f"| {name} | {what} | {log_evidence:.1f} | {log_error} | {seconds:.2f} | "
        f"{found.n_samples} | {found.n_effective:.0f} | {len(every)} | "
        f"{np.mean(np.abs(every) < 3):.2%} | {often.std():.2f} | {largest:.3f} | "
        f"{len(raised)} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--networks", nargs="*", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--sets", type=int, default=2, help="of each kind")
    options = parser.parse_args()
    print(
        "| network | evidence | ln P | its error | s | samples | worth | states | "
        "inside | sd | largest error | warnings |"
    )
    print("| --- | --- |" + " ---: |" * 10)
    for name in options.networks:
        if name in WIDTHS:
            network = grid_network(WIDTHS[name], 0)
        else:
            network = read_network(options.data / "networks" / f"{name}.bif")
        for what, evidence in evidence_sets(network, options.sets):
            print(line(name, network, what, evidence), flush=True)


if __name__ == "__main__":
    main()
