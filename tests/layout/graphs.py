"""Graphs that are drawn: published networks, and classifiers of three tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from bayleaf import HNBClassifier, KDBClassifier, TANClassifier
from bayleaf.io import read_network
from bayleaf.models.texts.picture import CLASS
from bayleaf.plot.network_graphs import pictured_graph

Graph = tuple[int, list[tuple[int, int]]]
SIZE = (86.0, 29.0)
MOST_NODES = 250


def graphs() -> dict[str, Graph]:
    """All of them by name, of up to 250 nodes."""
    folder = Path(os.environ["BAYLEAF_DATA"])
    found = {
        path.stem: published(path)
        for path in sorted(folder.glob("networks/*.bif"))
        if n_nodes_of(path) <= MOST_NODES
    }
    for table in ("heart", "mushroom", "adult"):
        for kind in ("TAN", "KDB", "HNB"):
            found[f"{kind} of {table}"] = learned(folder, kind, table)
    return found


def n_nodes_of(path: Path) -> int:
    """Number of variables of a file, whose tables take seconds to read."""
    with path.open(encoding="utf-8") as lines:
        return sum(line.startswith("variable ") for line in lines)


def published(path: Path) -> Graph:
    """The graph of a network's file."""
    network = read_network(path)
    return len(network.domain), [(int(p), int(c)) for p, c in network.dag.arcs]


def learned(folder: Path, kind: str, table: str) -> Graph:
    """What a classifier has learned, without a class that is everyone's parent."""
    frame = pd.read_csv(folder / "small" / f"{table}.csv", dtype=str).iloc[:1000]
    kinds: dict[str, Any] = {
        "TAN": TANClassifier(),
        "KDB": KDBClassifier(k=2),
        "HNB": HNBClassifier(random_state=0),
    }
    model = kinds[kind].fit(frame.drop(columns="class"), frame["class"])
    graph = pictured_graph(model)
    above = graph.kinds.index(CLASS)
    arcs = [(p, c) for p, c, _ in graph.arcs]
    if sum(p == above for p, _ in arcs) == len(graph.names) - 1:
        arcs = [arc for arc in arcs if arc[0] != above] or arcs
    return len(graph.names), arcs
