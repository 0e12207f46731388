"""Graphs of networks as text that Mermaid draws."""

from __future__ import annotations

from pathlib import Path

from bayleaf.describe.drawing import printable
from bayleaf.io.atomic import write_text
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure

# Signs with a meaning in Mermaid's labels, # first as it begins what replaces others.
_CODES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}


def to_mermaid(network: BayesianNetwork | NetworkStructure) -> str:
    """A flowchart of nodes ``n0``, ``n1``, ... with the variables' names as labels."""
    lines = ["flowchart TD"]
    for index, name in enumerate(network.names):
        label = "".join(_CODES.get(c, c) for c in printable(name))
        label = label.replace("\n", "<br/>") or " "
        lines.append(f'  n{index}["{label}"]')
    lines += [f"  n{parent} --> n{child}" for parent, child in network.dag.arcs]
    return "\n".join(lines)


def write(network: BayesianNetwork | NetworkStructure, path: str | Path) -> None:
    """Write the text to a file; OSError if that cannot be written."""
    write_text(path, to_mermaid(network) + "\n")
