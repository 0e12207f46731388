"""``bayleaf convert``: a network from one file format into another."""

from __future__ import annotations

from pathlib import Path


def convert(
    source: Path, target: Path, *, normalize: bool = False, encoding: str | None = None
) -> int:
    """Convert a network file into the format that the other file's suffix names.

    Example: `bayleaf convert heart.json heart.net`

    Parameters
    ----------
    source
        Network file (json, bif, net, oobn, xdsl, dsl, xml, uai, dne, dsc, xbn, pgmx,
        elv), packed if .gz or .bz2 follows, or model file of a classifier.
    target
        File to write: any of these but dsl; dot, mmd or dagitty for the graph alone;
        pmml for classifiers; .gz or .bz2 after it packs the file.
    normalize
        Divide each distribution of the source by its sum: for counts or percent.
    encoding
        Encoding of the source, such as gb18030, if it is not UTF-8 or Windows-1252.
    """
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.conversion import convert_file

    check_writable(target)
    convert_file(source, target, normalize=normalize, encoding=encoding)
    return 0
