"""The library's own model file: JSON, validated on reading, never executed.

A file holds the encoder's domain and rules, the graph, and the tables; numbers are
written so that they are read back bit for bit. Large tables stand in an ``.npz``
file beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, read_document, write_document
from bayleaf.io.native.kinds import MODEL_KINDS
from bayleaf.models.class_model import ClassModel
from bayleaf.models.predictor import Predictor
from bayleaf.models.support.support_counts import SupportCounts
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


@dataclass(frozen=True, eq=False)
class ModelDocument:
    """The fields of a model file, as `SavedModel` and `Predictor` tell of them.

    Labels are the states of the class with the type that NumPy gave them, "O" for
    mixed ones. The rows of the support counts stand flat: the model knows their shapes.
    """

    classifier: str
    parameters: dict[str, Any]
    log_likelihood: float
    named_features: bool
    label_type: str
    loss: NDArray[np.float64] | None
    temperature: float
    prior_shift: NDArray[np.float64] | None
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]
    readings: tuple[ColumnReading, ...] | None
    domain: Domain
    model: ClassModel
    support: SupportCounts | None

    def check_content(self) -> None:
        """Raise ValueError unless the parts fit each other."""
        if len(self.domain) < 2:
            raise ValueError("a model needs at least one feature and the class")
        n_classes = self.domain[-1].n_states
        if not n_classes or self.domain[-1].has_missing_state:
            raise ValueError("the class needs at least one state, and none for missing")
        for name, shape in (("loss", (n_classes,) * 2), ("prior_shift", (n_classes,))):
            if np.shape(given := getattr(self, name)) != shape and given is not None:
                raise ValueError(f"{name} should have the shape {shape}")
        if not LOWEST <= self.temperature <= HIGHEST:
            raise ValueError(
                f"temperature should be between {LOWEST} and {HIGHEST}, but is "
                f"{self.temperature:.6g}"
            )
        labels_of_type(self.label_type, self.domain[-1].states)


# Digits of the number of characters for which an array of labels keeps no room.
_DIGITS = 5


def write_model(saved: SavedModel, path: str | Path) -> None:
    """Write a model file; an older file is replaced only when all is written.

    Raises
    ------
    TypeError
        If a label or parameter cannot stand in JSON, or models of this class have no
        place in files.
    ValueError
        If a table does not hold distributions, or a number is not finite.
    OSError
        If the file cannot be written.
    """
    predictor, support = saved.predictor, saved.predictor.support
    if type(predictor.model) not in MODEL_KINDS.values():
        raise TypeError(
            f"models of type {type(predictor.model).__name__} have no place in files; "
            "give the class one with bayleaf.io.register_model_kind"
        )
    if support is not None:
        rows = tuple(rows.ravel() for rows in support.rows)
        support = replace(support, rows=rows)
    document = ModelDocument(
        saved.classifier,
        saved.parameters,
        saved.log_likelihood,
        saved.named_features,
        label_type(predictor.classes),
        predictor.loss,
        predictor.temperature,
        predictor.prior_shift,
        predictor.encoder.rules,
        tuple(predictor.encoder.notes.items()),
        predictor.encoder.readings,
        predictor.model.domain,
        predictor.model,
        support,
    )
    write_document(FORMAT, document, path)


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
        If the file is no model file of a known version, or holds something that is no
        model: one sentence says what.
    OSError
        If the file cannot be read.
    """
    document = read_document(path, max_bytes, {FORMAT: ModelDocument})
    features = Domain(document.domain.variables[:-1])
    return SavedModel(
        predictor=Predictor(
            TableEncoder(
                features,
                document.rules,
                dict(document.notes),
                document.readings or (),
            ),
            document.model,
            labels_of_type(document.label_type, document.domain[-1].states),
            document.loss,
            document.temperature,
            document.prior_shift,
            support=_shaped(document.support, document.model),
        ),
        classifier=document.classifier,
        parameters=document.parameters,
        log_likelihood=document.log_likelihood,
        named_features=document.named_features,
    )


def label_type(classes: NDArray[Any]) -> str:
    """NumPy's letter for the type of the labels; "O" for mixed ones."""
    if classes.dtype.kind in "mM":
        raise TypeError(
            f"class labels of type {classes.dtype} have no place in a model file; use "
            "text, as by astype(str), or numbers as labels"
        )
    for label in classes.tolist():
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"class label {label!r} of type {type(label).__name__} has no place in "
                "a model file; use text or numbers as labels"
            )
    return classes.dtype.str if classes.dtype.kind in _LABEL_KINDS else "O"


def labels_of_type(kind: str, states: tuple[Any, ...]) -> NDArray[Any]:
    """The class labels as an array of the type they had."""
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
    if letter != "U":
        return np.array(states, dtype=np.dtype(kind))
    labels = np.array(states, dtype=np.str_)
    width = kind[2:]
    # Labels may have been cells of an array made for longer ones.
    is_number = width.isdecimal() and len(width) < _DIGITS
    if is_number and int(width) >= labels.dtype.itemsize // 4:
        labels = labels.astype(f"<U{int(width)}")
    return labels


def _shaped(support: SupportCounts | None, model: ClassModel) -> SupportCounts | None:
    """The support in a model file with the shapes of the model's tables."""
    if support is None:
        return None
    shapes = [size.shape for size in model.table_sizes]
    if len(support.rows) != len(shapes):
        raise ModelFileError(
            f"the support has {len(support.rows)} tables, but the model has "
            f"{len(shapes)}"
        )
    for rows, shape in zip(support.rows, shapes, strict=True):
        if rows.size != math.prod(shape):
            raise ModelFileError(
                f"the support of a table should hold {math.prod(shape)} numbers, but "
                f"holds {rows.size}"
            )
    sizes = [len(rows) for rows in support.state_rows or ()]
    if support.state_rows is not None and sizes != list(model.domain.cards):
        raise ModelFileError(
            "the support should hold the training rows of every state of every variable"
        )
    pairs = zip(support.rows, shapes, strict=True)
    return replace(support, rows=tuple(rows.reshape(shape) for rows, shape in pairs))
