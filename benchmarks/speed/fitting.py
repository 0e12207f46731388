"""Fitting a network whose graph is given: alarm, by counting and with cells missing.

    python benchmarks/speed/fitting.py [--rows 10000] [--repeats 9]

prints a Markdown table of milliseconds: encoding and tables together, warm, on one
thread. The network is read from the folder that the environment variable BAYLEAF_DATA
names.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf import BayesianNetwork, read_network

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if folder is None:
        print("BAYLEAF_DATA names no folder, so there is no network to fit")
        return
    alarm = read_network(Path(folder) / "networks" / "alarm.bif")
    structure = BayesianNetwork.from_edges(alarm.edges)
    arrow = alarm.sample(options.rows, random_state=0)
    texts = arrow.to_pandas().astype(str)
    holes = np.random.default_rng(0).random(texts.shape) < 0.2
    jobs: list[tuple[str, Any, dict[str, Any]]] = [
        ("Arrow dictionaries", arrow, {}),
        ("pandas, categories", arrow.to_pandas(), {}),
        ("pandas, text", texts, {}),
        ("pandas, text, 20 % missing", texts.mask(holes), {}),
    ]
    rows = []
    for what, table, settings in jobs:
        times = []
        for fitted in (structure, alarm):
            action = partial(fitted.fit, table, **settings)
            action()
            times.append(f"{1e3 * best_time(action, options.repeats):.1f}")
        rows.append([what, *times])
    by_steps = partial(structure.fit, texts.mask(holes), missing="em")
    rows.append(["the same, missing='em'", f"{1e3 * best_time(by_steps, 1):.0f}", "-"])
    print(f"alarm, {options.rows} rows, {describe_processor()}\n")
    print(markdown_table(["table", "states found, ms", "states given, ms"], rows))


if __name__ == "__main__":
    main()
