"""Count the crossings of Graphviz' dot, for `dot.csv`.

    python tests/layout/record_dot.py

Boxes are those of the tests, all of one size; arcs are drawn as dot's default splines
and counted as ours are. Graphviz must be installed, and BAYLEAF_DATA set.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from layout.geometry import Arc, n_crossings, polyline
from layout.graphs import SIZE, graphs


def dot_crossings(n_nodes: int, arcs: list[Arc]) -> int:
    """How many arcs cross in dot's drawing."""
    width, height = (length / 72 for length in SIZE)
    look = f'shape=box,fixedsize=true,width={width},height={height},label=""'
    nodes = "".join(f"n{node};" for node in range(n_nodes))
    lines = "".join(f"n{p}->n{c}[id=e{i}];" for i, (p, c) in enumerate(arcs))
    done = subprocess.run(
        ["dot", "-Tjson"],
        input=f"digraph{{node[{look}];{nodes}{lines}}}",
        capture_output=True,
        text=True,
        check=True,
    )
    ways: dict[int, np.ndarray] = {}
    for edge in json.loads(done.stdout)["edges"]:
        tip, *points = edge["pos"].removeprefix("e,").split()
        places = np.array([[float(x) for x in p.split(",")] for p in [*points, tip]])
        ways[int(edge["id"][1:])] = np.vstack([polyline(places[:-1]), places[-1]])
    return n_crossings([ways[arc] for arc in range(len(arcs))], arcs)


if __name__ == "__main__":
    told = subprocess.run(["dot", "-V"], capture_output=True, text=True, check=True)
    print(told.stderr.strip())
    with Path(__file__).with_name("dot.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["graph", "nodes", "arcs", "crossings"])
        for name, (n_nodes, arcs) in graphs().items():
            found = dot_crossings(n_nodes, arcs)
            writer.writerow([name, n_nodes, len(arcs), found])
            print(name, found, flush=True)
