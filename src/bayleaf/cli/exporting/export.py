"""``bayleaf export``: a model as a program of another system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def export(
    model: Path, *, output: Annotated[Path, Parameter(name=["--output", "-o"])]
) -> int:
    """Write a classifier as a program that scores without this library.

    The suffix of the file says which: onnx for a graph of operators, pmml for scoring
    engines.

    Example: `bayleaf export heart.json -o heart.onnx`

    Parameters
    ----------
    model
        Model file.
    output
        File to write; its suffix names the program.
    """
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.exports.registry import export_model

    check_writable(output)
    try:
        export_model(model, output)
    except ImportError as error:
        raise ValueError(str(error)) from None
    return 0
