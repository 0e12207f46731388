"""Network files by their suffix."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from bayleaf.io.formats.source_file import MAX_BYTES
from bayleaf.io.packed import inner_name, packing_into, unpacked
from bayleaf.models.bayesian_network import BayesianNetwork

# Module of each suffix: it offers `read(path)`, which gives a BayesianNetwork, or
# `write(network, path)`, or both. Modules are loaded when a file asks for them.
FORMATS = {
    ".json": "bayleaf.io.native.network_json",
    ".bif": "bayleaf.io.formats.bif",
    ".net": "bayleaf.io.formats.net",
    ".oobn": "bayleaf.io.formats.oobn",
    ".dne": "bayleaf.io.formats.dne",
    ".dnet": "bayleaf.io.formats.dne",
    ".elv": "bayleaf.io.formats.elv",
    ".dsc": "bayleaf.io.formats.dsc",
    ".xbn": "bayleaf.io.formats.xbn",
    ".pgmx": "bayleaf.io.formats.pgmx",
    ".dsl": "bayleaf.io.formats.dsl",
    ".uai": "bayleaf.io.formats.uai",
    ".xdsl": "bayleaf.io.formats.xdsl",
    ".xml": "bayleaf.io.formats.xmlbif",
    ".bifxml": "bayleaf.io.formats.xmlbif",
    ".xmlbif": "bayleaf.io.formats.xmlbif",
}

# The same of graphs without tables, which are only written.
GRAPHS = {
    ".dot": "bayleaf.io.formats.dot",
    ".gv": "bayleaf.io.formats.dot",
    ".mmd": "bayleaf.io.formats.mermaid",
}

# Modules whose `write` leaves every distribution in its form.
_HOLD_ALL = {"bayleaf.io.native.network_json"}
# What to write in the place of formats that are only read.
_INSTEAD = {"bayleaf.io.formats.dsl": ".xdsl"}


def read_network(
    path: str | Path,
    *,
    max_bytes: int | None = None,
    normalize: bool = False,
    encoding: str | None = None,
) -> BayesianNetwork:
    """Read a Bayesian network from a file in the format that its suffix names.

    Parameters
    ----------
    path : str or Path
        A file of ours or of another program; packed if ``.gz`` or ``.bz2`` follows.
    max_bytes : int, optional
        Larger files are refused, packed ones by what they unpack to; each format has a
        limit of its own.
    normalize : bool, default=False
        Whether each distribution is divided by its sum, for files that hold counts or
        percent. Sums that are off by at most 1 %, as rounded numbers are, are mended in
        any case, and the logger ``bayleaf`` reports it. Rows of zeros become uniform.
    encoding : str, optional
        Encoding of the text, such as ``"gb18030"``. Without it UTF-8 and UTF-16 are
        recognised; other files are read as Windows-1252, which the logger reports,
        if most of their words look like that.

    Raises
    ------
    NetworkFileError
        If the file cannot be used: one sentence with file and line.
    ValueError
        If the suffix is none of a known format or of one that is only written, or the
        encoding is unknown.
    OSError
        If the file cannot be opened.
    """
    module = _module(path)
    if not hasattr(module, "read"):
        raise ValueError(
            f"files such as {Path(path).name} can only be written; read a file of "
            "another format, such as .json"
        )
    limit = max_bytes
    if limit is None:
        limit = getattr(module, "MAX_BYTES", MAX_BYTES)
    # Files of ours never hold anything but distributions.
    options: dict[str, Any] = (
        {}
        if module.__name__ in _HOLD_ALL
        else {"normalize": normalize, "encoding": encoding}
    )
    with unpacked(path, limit, at_any_rate=max_bytes is not None) as plain:
        network: BayesianNetwork = module.read(plain, max_bytes=limit, **options)
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
        Its suffix names the format; ``.gz`` or ``.bz2`` after it packs the file.
        ``.dot`` and ``.gv`` (Graphviz) and ``.mmd`` (Mermaid) hold the graph alone.
    max_table_cells : int, optional
        Larger full tables are refused, 10,000,000 cells if not given; formats that
        hold every form of distribution have no such limit.

    Raises
    ------
    ValueError
        If the suffix is none of a known format or of one that is only read, a table is
        too large to be written out, or a state is of a type that files cannot hold.
    OSError
        If the file cannot be written.
    """
    suffix = inner_name(path).suffix.lower()
    if suffix in GRAPHS:
        with packing_into(path) as plain:
            import_module(GRAPHS[suffix]).write(network, plain)
        return
    module = _module(path)
    if not len(network.domain) and module.__name__ not in _HOLD_ALL:
        raise ValueError(
            "a network without variables cannot be held by this format; write it to a "
            ".json file"
        )
    if not hasattr(module, "write"):
        raise ValueError(
            f"files such as {Path(path).name} can only be read; write "
            f"{_INSTEAD.get(module.__name__, '.json')} in its place"
        )
    limits = {} if max_table_cells is None else {"max_table_cells": max_table_cells}
    with packing_into(path) as plain:
        module.write(network, plain, **({} if module.__name__ in _HOLD_ALL else limits))


def _module(path: str | Path) -> ModuleType:
    """The module of a file's format."""
    suffix = inner_name(path).suffix.lower()
    if suffix == ".dagitty":
        raise ValueError(
            f"{Path(path).name} is a file of a graph without tables; use "
            "NetworkStructure.read and .save, and .fit(table), which learns tables"
        )
    if suffix in GRAPHS:
        raise ValueError(
            f"{Path(path).name} is a file of a graph without tables, which is only "
            "written; BayesianNetwork.from_edges reads the text of .dot files"
        )
    if suffix not in FORMATS:
        raise ValueError(
            f"{Path(path).name} has no suffix of a network format; use one of "
            f"{', '.join(FORMATS)}"
        )
    return import_module(FORMATS[suffix])
