"""Make the shipped networks from the example models of the package pgmpy.

    pip install pgmpy
    python tools/build_networks.py

writes ``src/bayleaf/datasets/networks/*.bif.gz``, the same bytes every time.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from bayleaf import read_network, write_network
from bayleaf.datasets.networks_by_name import SHIPPED

TARGET = Path(__file__).parents[1] / "src" / "bayleaf" / "datasets" / "networks"


def build() -> None:
    """Write every shipped network."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise SystemExit("install pgmpy, whose example models are the source")
    folder = Path(spec.origin).parent / "utils" / "example_models"
    for name in SHIPPED:
        network = read_network(folder / f"{name}.bif.gz")
        write_network(network, TARGET / f"{name}.bif.gz")


if __name__ == "__main__":
    build()
