"""Files of influence diagrams by their suffix."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from bayleaf.decisions import InfluenceDiagram
from bayleaf.io.formats.source_file import MAX_BYTES
from bayleaf.io.packed import inner_name, packing_into, unpacked
from bayleaf.io.registry import FORMATS

_SUFFIXES = (".xdsl", ".net", ".bifxml", ".xmlbif", ".xml")


def read_influence_diagram(
    path: str | Path,
    *,
    max_bytes: int | None = None,
    normalize: bool = False,
    encoding: str | None = None,
) -> InfluenceDiagram:
    """Read an influence diagram of GeNIe, HUGIN or pyAgrum.

    Parameters
    ----------
    path : str or Path
        ``.xdsl``, ``.net`` or ``.bifxml``; packed if ``.gz`` or ``.bz2`` follows.
    max_bytes, normalize, encoding
        As in `read_network`.

    Returns
    -------
    InfluenceDiagram
        Parents of a decision are those that the file gives it; whether earlier
        observations are remembered is up to its `solve`.

    Raises
    ------
    NetworkFileError
        If the file cannot be used: one sentence with file and line.
    ValueError
        If the suffix is none of these.
    OSError
        If the file cannot be opened.
    """
    module = _module(path)
    limit = MAX_BYTES if max_bytes is None else max_bytes
    with unpacked(path, limit, at_any_rate=max_bytes is not None) as plain:
        diagram: InfluenceDiagram = module.read_diagram(
            plain, max_bytes=limit, normalize=normalize, encoding=encoding
        )
    return diagram


def write_influence_diagram(diagram: InfluenceDiagram, path: str | Path) -> None:
    """Write an influence diagram to a file of GeNIe, HUGIN or pyAgrum.

    Parameters
    ----------
    diagram : InfluenceDiagram
        What to write.
    path : str or Path
        ``.xdsl``, ``.net`` or ``.bifxml``; ``.gz`` or ``.bz2`` after it packs the file.

    Raises
    ------
    ValueError
        If the suffix is none of these, or a state is of a type that files cannot hold.
    OSError
        If the file cannot be written.
    """
    module = _module(path)
    with packing_into(path) as plain:
        module.write_diagram(diagram, plain)


def _module(path: str | Path) -> ModuleType:
    """The module of a file's format."""
    suffix = inner_name(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"{Path(path).name} has no suffix of a format for influence diagrams; use "
            f"one of {', '.join(_SUFFIXES)}"
        )
    return import_module(FORMATS[suffix])
