"""Graphs in DAGitty's language: names, arcs and which variables are not observed.

States and tables have no place in it.
"""

from __future__ import annotations

from pathlib import Path

from bayleaf.io.atomic import write_text
from bayleaf.io.formats.source_file import (
    MAX_BYTES,
    NetworkFileError,
    decoded,
    read_content,
)
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure
from bayleaf.models.texts.graph_text import (
    GraphTextError,
    dagitty_text,
    read_graph_text,
)
from bayleaf.wording import name_list

SUFFIX = ".dagitty"


def read_structure(path: str | Path, *, max_bytes: int = MAX_BYTES) -> NetworkStructure:
    """Read a graph; NetworkFileError if it is not a directed acyclic graph."""
    name = Path(path).name
    text = decoded(read_content(path, max_bytes), name)
    try:
        read_graph_text(text)
    except GraphTextError as error:
        raise NetworkFileError(name, error.line, error.problem) from None
    try:
        return NetworkStructure.from_edges(text)
    except ValueError as error:
        raise NetworkFileError(name, None, str(error)) from None


def write_structure(
    structure: NetworkStructure | BayesianNetwork, path: str | Path
) -> None:
    """Write a graph, an older file only being replaced when all is written.

    ValueError if the suffix is of another format, or two names are the same text.
    """
    if Path(path).suffix.lower() != SUFFIX:
        raise ValueError(
            f"{Path(path).name} must end in {SUFFIX}, the one format of graphs without "
            "tables; fit(table) makes a network, which other formats contain"
        )
    texts = [str(name) for name in structure.names]
    if len(set(texts)) < len(texts):
        twice = sorted({text for text in texts if texts.count(text) > 1})
        raise ValueError(
            f"two variables are written {name_list(twice)}; give them names that "
            "differ as text"
        )
    hidden = structure.latents or ()
    write_text(path, dagitty_text(structure.names, structure.edges, hidden))
