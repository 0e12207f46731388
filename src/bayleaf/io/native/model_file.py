"""The library's own model file: JSON, validated on reading, never executed.

A file holds the encoder's domain and rules, the graph, and the tables; numbers are
written so that they are read back bit for bit. Large tables stand in an ``.npz``
file beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, reading, write_document
from bayleaf.io.native.domains import domain_from, domain_to
from bayleaf.io.native.encoders import encoder_from, encoder_to
from bayleaf.io.native.models import model_from, model_to
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter
from bayleaf.models.class_model import ClassModel
from bayleaf.models.evidence_rows import EvidenceRows
from bayleaf.models.predictor import Predictor
from bayleaf.search.left_out.temperature import HIGHEST, LOWEST
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-model"
_LABEL_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """All that a model file holds.

    Parameters
    ----------
    predictor : Predictor
        Encoder, model, class labels and loss.
    classifier : str
        Name of the estimator's class.
    parameters : dict
        The estimator's parameters as plain values.
    log_likelihood : float
        Training log-likelihood in nats.
    named_features : bool
        Whether the training table had column names.
    """

    predictor: Predictor
    classifier: str
    parameters: dict[str, Any] = field(default_factory=dict)
    log_likelihood: float = math.nan
    named_features: bool = True

    __repr__ = brief_fields


def write_model(saved: SavedModel, path: str | Path) -> None:
    """Write a model file; an older file is replaced only when all is written.

    Raises
    ------
    TypeError
        If a label or parameter cannot stand in JSON.
    ValueError
        If a table does not hold distributions, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    predictor = saved.predictor
    arrays = ArrayWriter()
    content = {
        "classifier": saved.classifier,
        "parameters": saved.parameters,
        "log_likelihood": saved.log_likelihood,
        "named_features": saved.named_features,
        "label_type": _label_type(predictor.classes),
        "loss": None if predictor.loss is None else predictor.loss.ravel().tolist(),
        "temperature": predictor.temperature,
        "prior_shift": None
        if predictor.prior_shift is None
        else predictor.prior_shift.tolist(),
        **encoder_to(predictor.encoder),
        "domain": domain_to(predictor.model.domain),
        "model": model_to(predictor.model, arrays),
        "evidence": _evidence_to(predictor.evidence, arrays),
    }
    write_document(FORMAT, content, arrays, path)


def read_model(path: str | Path, *, max_bytes: int = MAX_BYTES) -> SavedModel:
    """Read a model file and check everything in it.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=2**30
        Larger files are refused.

    Raises
    ------
    ModelFileError
        If the file is no model file of this version, or holds something that is no
        model: one sentence says what.
    OSError
        If the file cannot be read.
    """
    with reading(path, max_bytes, (FORMAT,)) as (document, arrays):
        return _saved_model(document, arrays)


def _saved_model(document: Fields, arrays: ArrayReader) -> SavedModel:
    """Build the model from a document whose header is right."""
    domain = domain_from(document.list("domain"))
    if len(domain) < 2:
        raise ModelFileError("a model needs at least one feature and the class")
    if not domain[-1].states or domain[-1].has_missing_state:
        raise ModelFileError("the class needs at least one state, and none for missing")
    model = model_from(document.object("model"), domain, arrays)
    classes = _labels(document, domain[-1].states)
    features = type(domain)(domain.variables[:-1])
    return SavedModel(
        predictor=Predictor(
            encoder_from(document, features),
            model,
            classes,
            _loss(document, len(classes)),
            _temperature(document),
            _prior_shift(document, len(classes)),
            evidence=_evidence_from(document, model, arrays),
        ),
        classifier=document.text("classifier"),
        parameters=document.object("parameters").values,
        log_likelihood=document.number("log_likelihood"),
        named_features=document.flag("named_features"),
    )


def _label_type(classes: NDArray[Any]) -> str:
    """NumPy's letter for the type of the labels; "O" for mixed ones."""
    for label in classes.tolist():
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"class label {label!r} of type {type(label).__name__} has no place in "
                "a model file; use text or numbers as labels"
            )
    return classes.dtype.str if classes.dtype.kind in _LABEL_KINDS else "O"


def _labels(document: Fields, states: tuple[Any, ...]) -> NDArray[Any]:
    """The class labels as an array of the type they had."""
    kind = document.text("label_type")
    if kind == "O":
        labels = np.empty(len(states), dtype=object)
        labels[:] = states
        return labels
    letter = kind.lstrip("<>=|")[:1]
    wanted = _LABEL_KINDS.get(letter)
    fits = wanted is not None and all(type(state) is wanted for state in states)
    # Longer names than NumPy's own describe records or arrays of arrays.
    if not fits or (letter != "U" and np.dtype(kind).str != kind):
        raise ModelFileError(f"label_type {kind[:50]!r} does not fit the class labels")
    return np.array(states, dtype=np.str_ if letter == "U" else np.dtype(kind))


def _loss(document: Fields, n_classes: int) -> NDArray[np.float64] | None:
    """The loss matrix, or None."""
    if document.values.get("loss") is None:
        return None
    return ArrayReader().get(document.list("loss"), (n_classes, n_classes), "loss")


def _temperature(document: Fields) -> float:
    """The temperature of calibration."""
    temperature = document.number("temperature")
    if not LOWEST <= temperature <= HIGHEST:
        raise ModelFileError(
            f"temperature should be between {LOWEST} and {HIGHEST}, but is "
            f"{temperature:.6g}"
        )
    return temperature


def _prior_shift(document: Fields, n_classes: int) -> NDArray[np.float64] | None:
    """What a change of the class prior adds to calibrated log scores, or None."""
    if document.values.get("prior_shift") is None:
        return None
    return ArrayReader().get(document.list("prior_shift"), (n_classes,), "prior_shift")


def _evidence_to(evidence: EvidenceRows | None, arrays: ArrayWriter) -> Any:
    """Evidence as plain values, None without any; the rows go to `arrays`."""
    if evidence is None:
        return None
    return {
        "rows": [arrays.add(rows) for rows in evidence.rows],
        "pseudo_rows": list(evidence.pseudo_rows),
        "prior_is_learned": evidence.prior_is_learned,
    }


def _evidence_from(
    document: Fields, model: ClassModel, arrays: ArrayReader
) -> EvidenceRows | None:
    """The evidence in a model file, None in files that hold none.

    Raises
    ------
    ModelFileError
        If it does not fit the model or holds a negative weight.
    """
    if document.values.get("evidence") is None:
        return None
    fields = document.object("evidence")
    shapes = [size.shape for size in model.table_sizes]
    rows, pseudo_rows = fields.list("rows"), fields.list("pseudo_rows")
    if not len(rows) == len(pseudo_rows) == len(shapes):
        raise ModelFileError(
            f"the evidence has {len(rows)} tables, but the model has {len(shapes)}"
        )
    found = tuple(
        arrays.get(values, shape, "the evidence of a table")
        for values, shape in zip(rows, shapes, strict=True)
    )
    pseudo = _numbers(pseudo_rows)
    if any((weights < 0).any() for weights in found) or min(pseudo, default=0) < 0:
        raise ModelFileError("the evidence of a table holds a negative weight")
    return EvidenceRows(found, pseudo, fields.flag("prior_is_learned"))


def _numbers(values: list[Any]) -> tuple[float, ...]:
    """A list of finite numbers, which always stands in the document itself."""
    shape = (len(values),)
    return tuple(ArrayReader().get(values, shape, "pseudo_rows").tolist())
