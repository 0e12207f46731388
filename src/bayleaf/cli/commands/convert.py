"""``bayleaf convert``: a network from one file format into another."""

from __future__ import annotations

from pathlib import Path


def convert(source: Path, target: Path) -> int:
    """Convert a network file into the format that the other file's suffix names.

    Example: `bayleaf convert heart.json heart.net`

    Parameters
    ----------
    source
        Network file (json, bif, net, xdsl, xml) or model file of a classifier.
    target
        File to write: json, bif, net, xdsl, xml, dot, or pmml for naive Bayes.
    """
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.conversion import convert_file

    check_writable(target)
    convert_file(source, target)
    return 0
