"""From one file into another, formats that can only be written included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bayleaf.io.diagram_files import read_influence_diagram, write_influence_diagram
from bayleaf.io.formats.source_file import DecisionsError
from bayleaf.io.packed import inner_name, packing_into
from bayleaf.io.registry import FORMATS, GRAPHS, read_network, write_network


def convert_file(
    source: str | Path,
    target: str | Path,
    *,
    normalize: bool = False,
    encoding: str | None = None,
) -> None:
    """Convert a network file into the format that the other file's suffix names.

    The source is a file that `read_network` or `read_influence_diagram` reads, or for
    PMML the model file of a classifier; the target one that is written for it,
    ``.dagitty`` or ``.pmml``. `normalize` and `encoding` are those of
    `read_network`. NetworkFileError or ModelFileError if the source cannot be used,
    ValueError for an unknown suffix or a network that the target's format cannot
    contain, OSError.
    """
    suffix = inner_name(target).suffix.lower()
    written = [*FORMATS, *GRAPHS, *_WRITE_ONLY]
    if suffix not in written:
        raise ValueError(
            f"{Path(target).name} has no suffix of a known format; use one of "
            f"{', '.join(written)}"
        )
    if suffix in _WRITE_ONLY:
        with packing_into(target) as plain:
            _WRITE_ONLY[suffix](source, plain)
        return
    try:
        network = read_network(source, normalize=normalize, encoding=encoding)
    except DecisionsError:
        diagram = read_influence_diagram(source, normalize=normalize, encoding=encoding)
        write_influence_diagram(diagram, target)
    else:
        write_network(network, target)


def _write_dagitty(source: str | Path, target: str | Path) -> None:
    """Write a network's graph for DAGitty."""
    from bayleaf.io.formats.dagitty import write_structure

    write_structure(read_network(source), target)


def _write_pmml(source: str | Path, target: str | Path) -> None:
    """Write a classifier for scoring engines."""
    from bayleaf.io.exports.scoring_sums import write_pmml
    from bayleaf.io.native.model_file import read_model

    write_pmml(read_model(source), target)


_WRITE_ONLY: dict[str, Callable[[str | Path, str | Path], None]] = {
    ".dagitty": _write_dagitty,
    ".pmml": _write_pmml,
}
