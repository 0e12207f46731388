"""Models as programs of other systems, by the suffix of the file."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from bayleaf.io.native.model_file import SavedModel, read_model
from bayleaf.models.predictor import Predictor, predictor_inside
from bayleaf.wording import name_list

# Module and function of each suffix: the function takes a predictor, a path and options
# by name. Modules are loaded when a file asks for them.
_WRITERS: dict[str, tuple[str, str]] = {
    ".sql": ("bayleaf.io.exports.sql.statement", "write_sql"),
    ".onnx": ("bayleaf.io.exports.onnx_classifier", "write_onnx"),
    ".pmml": ("bayleaf.io.exports.scoring_sums", "write_pmml"),
    ".py": ("bayleaf.io.exports.scorers.scorer", "write_scorer"),
    ".js": ("bayleaf.io.exports.scorers.scorer", "write_scorer"),
    ".mjs": ("bayleaf.io.exports.scorers.scorer", "write_scorer"),
}


def export_model(model: Any, path: str | Path, **options: Any) -> None:
    """Write a classifier as a program of the system that the file's suffix names.

    The classifier is fitted, a Predictor, or a model file's path or content; options
    are those of the suffix's writer, and those that are None are left out. ValueError
    for an unknown suffix or option, or if the program cannot hold the model.
    """
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise ValueError(
            f"{path.name} has no suffix of a program that models are written "
            f"as; use one of {', '.join(_WRITERS)}"
        )
    module, function = _WRITERS[path.suffix.lower()]
    write = getattr(import_module(module), function)
    given = {name: value for name, value in options.items() if value is not None}
    known = list(inspect.signature(write).parameters)[2:]
    for name in given:
        if name not in known:
            takes = f"these take {name_list(known)}" if known else "these take none"
            raise ValueError(
                f"{name} is no option of {path.suffix} files; {takes}, so leave it out"
            )
    write(predictor_of(model), path, **given)


def predictor_of(model: Any) -> Predictor:
    """The predictor of a fitted classifier, its file, or what the file contained."""
    if isinstance(model, str | Path):
        model = read_model(model)
    if isinstance(model, SavedModel):
        model = model.predictor
    of_file = " or the path of its model file"
    return predictor_inside(model, of_file, same_columns=True)
