"""Network files by their suffix."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from bayleaf.models.bayesian_network import BayesianNetwork

# Module of each suffix: it offers `read(path)`, which gives a BayesianNetwork, and
# `write(network, path)`. Modules are loaded when a file asks for them.
FORMATS = {
    ".json": "bayleaf.io.network_json",
    ".bif": "bayleaf.io.bif",
    ".net": "bayleaf.io.net",
    ".xdsl": "bayleaf.io.xdsl",
    ".xml": "bayleaf.io.xmlbif",
    ".bifxml": "bayleaf.io.xmlbif",
    ".xmlbif": "bayleaf.io.xmlbif",
}


def read_network(path: str | Path) -> BayesianNetwork:
    """Read a Bayesian network from a file in the format that its suffix names.

    Parameters
    ----------
    path : str or Path
        A file of ours or of another program.

    Raises
    ------
    NetworkFileError
        If the file cannot be used: one sentence with file and line.
    ValueError
        If the suffix is none of a known format.
    OSError
        If the file cannot be opened.
    """
    network: BayesianNetwork = _module(path).read(path)
    return network


def write_network(network: BayesianNetwork, path: str | Path) -> None:
    """Write a Bayesian network to a file in the format that its suffix names.

    An older file is replaced only when all is written. Distributions that are no
    tables are written as their full tables where the format holds nothing else.

    Raises
    ------
    ValueError
        If the suffix is none of a known format, a table is too large to be written
        out, or a state is of a type that files cannot hold.
    OSError
        If the file cannot be written.
    """
    _module(path).write(network, path)


def _module(path: str | Path) -> ModuleType:
    """The module of a file's format."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{Path(path).name} has no suffix of a network format; use one of "
            f"{', '.join(FORMATS)}"
        )
    return import_module(FORMATS[suffix])
