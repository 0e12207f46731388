"""Learning tables with latent variables, beside plain steps over whole rows.

    python benchmarks/speed/expectation_maximisation.py [--rows 2000] [--seeds 3]

prints a Markdown table of CPU seconds, steps and log-likelihoods: child, insurance and
alarm with three latent variables and 20 % of the other cells missing, which seeds draw.
Plain steps end once one gains less than 1e-4 of the log-likelihood. The last column is
how far the objective ends below that of the best of ten starts. Networks are read from
the folder that the environment variable BAYLEAF_DATA names.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from bayleaf import BayesianNetwork, learn_parameters, read_network
from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import expected_counts
from bayleaf.latent.network_parameters import (
    fitted_distribution,
    shares,
    with_random_tables,
)

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table


def plain_steps(network: BayesianNetwork, rows: Codes) -> tuple[float, int]:
    """Log-likelihood and number of plain steps until one gains little."""
    before, n_steps = -np.inf, 0
    while True:
        counts, logs = expected_counts(JunctionTree.compile(network), rows)
        log_likelihood = float(np.dot(rows.weights, logs))
        if log_likelihood - before < 1e-4 * abs(log_likelihood):
            return log_likelihood, n_steps
        cpds = [
            fitted_distribution(cpd, own + 1.0 / cpd.cards[-1], shares)
            for cpd, own in zip(network.cpds, counts, strict=True)
        ]
        network, before = replace(network, cpds=tuple(cpds)), log_likelihood
        n_steps += 1


def incomplete_rows(
    network: BayesianNetwork, n_rows: int, rng: np.random.Generator
) -> tuple[Codes, list[int]]:
    """Rows with 20 % of the cells missing and three variables without any; these."""
    children = network.dag.children()
    links = [
        len(children[v]) + len(network.dag.parents[v]) for v in range(len(children))
    ]
    inner = sorted(range(len(links)), key=lambda v: (not children[v], -links[v]))[:10]
    latent = sorted(rng.choice(inner, 3, replace=False).tolist())
    codes = network.sample_codes(n_rows, random_state=1)
    columns = []
    for v, card in enumerate(codes.cards):
        is_missing = rng.random(n_rows) < (1.0 if v in latent else 0.2)
        columns.append(np.where(is_missing, card, codes.column(v)))
    return Codes.from_columns(columns, codes.cards), latent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if folder is None:
        print("BAYLEAF_DATA names no folder, so there are no networks to learn")
        return
    warnings.simplefilter("ignore")
    lines = []
    for name, seed in product(("child", "insurance", "alarm"), range(options.seeds)):
        true = read_network(Path(folder) / "networks" / f"{name}.bif")
        rng = np.random.default_rng(seed)
        rows, latent = incomplete_rows(true, options.rows, rng)
        even = [np.full(cpd.cards, 1.0 / cpd.cards[-1]) for cpd in true.cpds]
        cpds = [
            fitted_distribution(cpd, own, shares)
            for cpd, own in zip(true.cpds, even, strict=True)
        ]
        prior = replace(true, cpds=tuple(cpds)).with_experience(1.0)
        start = with_random_tables(prior, latent, rng)
        begin = time.process_time()
        log_likelihood, n_steps = plain_steps(start, rows)
        middle = time.process_time()
        learned = learn_parameters(prior, rows, random_state=0)
        end = time.process_time()
        best = learn_parameters(
            prior, rows, start=start, random_state=99, n_restarts=10
        )
        lines.append(
            [
                name,
                str(seed),
                f"{middle - begin:.2f} ({n_steps})",
                f"{end - middle:.2f} ({learned.n_iter})",
                f"{learned.log_likelihood - log_likelihood:.1f}",
                f"{max(0.0, best.objectives[-1] - learned.objectives[-1]):.2f}",
            ]
        )
    print(f"{options.rows} rows, {describe_processor()}\n")
    head = [
        "network",
        "seed",
        "plain, CPU s (steps)",
        "learn_parameters, CPU s (steps)",
        "nats above plain",
        "nats below the best of ten",
    ]
    print(markdown_table(head, lines))


if __name__ == "__main__":
    main()
