"""Network files by their suffix."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from bayleaf.models.bayesian_network import BayesianNetwork

# Module of each suffix: it offers `read(path)`, which gives a BayesianNetwork, and
# `write(network, path)`. Modules are loaded when a file asks for them.
FORMATS = {
    ".json": "bayleaf.io.native.network_json",
    ".bif": "bayleaf.io.formats.bif",
    ".net": "bayleaf.io.formats.net",
    ".dsl": "bayleaf.io.formats.dsl",
    ".uai": "bayleaf.io.formats.uai",
    ".xdsl": "bayleaf.io.formats.xml.xdsl",
    ".xml": "bayleaf.io.formats.xml.xmlbif",
    ".bifxml": "bayleaf.io.formats.xml.xmlbif",
    ".xmlbif": "bayleaf.io.formats.xml.xmlbif",
}

# Modules whose `write` leaves every distribution in its form.
_HOLD_ALL = {"bayleaf.io.native.network_json"}


def read_network(path: str | Path, *, max_bytes: int | None = None) -> BayesianNetwork:
    """Read a Bayesian network from a file in the format that its suffix names.

    Parameters
    ----------
    path : str or Path
        A file of ours or of another program.
    max_bytes : int, optional
        Larger files are refused; each format has a limit of its own.

    Raises
    ------
    NetworkFileError
        If the file cannot be used: one sentence with file and line.
    ValueError
        If the suffix is none of a known format.
    OSError
        If the file cannot be opened.
    """
    limits = {} if max_bytes is None else {"max_bytes": max_bytes}
    network: BayesianNetwork = _module(path).read(path, **limits)
    return network


def write_network(
    network: BayesianNetwork, path: str | Path, *, max_table_cells: int | None = None
) -> None:
    """Write a Bayesian network to a file in the format that its suffix names.

    An older file is replaced only when all is written. Distributions that are no
    tables are written as their full tables where the format holds nothing else.

    Parameters
    ----------
    network : BayesianNetwork
        What to write.
    path : str or Path
        Its suffix names the format.
    max_table_cells : int, optional
        Larger full tables are refused, 10,000,000 cells if not given; formats that
        hold every form of distribution have no such limit.

    Raises
    ------
    ValueError
        If the suffix is none of a known format, a table is too large to be written
        out, or a state is of a type that files cannot hold.
    OSError
        If the file cannot be written.
    """
    module = _module(path)
    if not len(network.domain) and module.__name__ not in _HOLD_ALL:
        raise ValueError(
            "a network without variables cannot be held by this format; write it to a "
            ".json file"
        )
    limits = {} if max_table_cells is None else {"max_table_cells": max_table_cells}
    module.write(network, path, **({} if module.__name__ in _HOLD_ALL else limits))


def _module(path: str | Path) -> ModuleType:
    """The module of a file's format."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{Path(path).name} has no suffix of a network format; use one of "
            f"{', '.join(FORMATS)}"
        )
    return import_module(FORMATS[suffix])
