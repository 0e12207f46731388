"""Networks as text that Graphviz draws."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from bayleaf.data.domain import Variable
from bayleaf.describe.drawing import dot_string, printable
from bayleaf.io.atomic import write_text
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure


def to_dot(network: BayesianNetwork | NetworkStructure, *, states: bool = False) -> str:
    """The graph in Graphviz' DOT language; with `states`, boxes list these if known.

    Nodes are called ``n0``, ``n1``, ... in the variables' order, so that any name may
    be in their labels; `BayesianNetwork.from_edges` takes these as names.
    """
    shape = "plain" if states else "ellipse"
    lines = ["digraph network {", f"  node [shape={shape}];"]
    for index, (name, variable) in enumerate(zip(network.names, network.variables)):
        label = dot_string(name)
        if states and variable is not None:
            # A box with the name above the states.
            rows = "".join(_rows(variable))
            label = f'<<table border="0" cellborder="1" cellspacing="0">{rows}</table>>'
        lines.append(f"  n{index} [label={label}];")
    lines += [f"  n{parent} -> n{child};" for parent, child in network.dag.arcs]
    return "\n".join([*lines, "}"])


def write(network: BayesianNetwork | NetworkStructure, path: str | Path) -> None:
    """Write the text to a file; OSError if that cannot be written."""
    write_text(path, to_dot(network) + "\n")


def _rows(variable: Variable) -> Iterator[str]:
    """The rows of a box."""
    yield f"<tr><td><b>{_cell(variable.name)}</b></td></tr>"
    for code in range(variable.n_states):
        yield f'<tr><td align="left">{_cell(variable.label(code))}</td></tr>'


def _cell(name: object) -> str:
    """A name as content of a cell, which may not be empty."""
    return escape(printable(name)).replace("\n", "<br/>") or " "
