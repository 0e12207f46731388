"""How a table was read: part of model files, text next to its codes or counts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.column_reading import ColumnReading, EncoderRules
from bayleaf.data.domain import Domain
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.columns import Name
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.documents import MAX_BYTES, content_of_bytes, document_bytes
from bayleaf.results.result import Shown
from bayleaf.wording import brief_fields

FORMAT = "bayleaf-table"
_LABEL_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str}
# Digits of the number of characters for which an array of labels keeps no room.
_DIGITS = 5


@dataclass(frozen=True, eq=False)
class TableReading(Shown):
    """What is known of a table's columns."""

    domain: Domain  # a class last
    rules: EncoderRules
    notes: tuple[tuple[Name, str], ...]  # remarks on columns
    readings: tuple[ColumnReading, ...]
    label_type: str | None  # NumPy's type of the class labels; None without a class

    __repr__ = brief_fields

    @classmethod
    def of(
        cls,
        encoder: TableEncoder,
        domain: Domain,
        classes: NDArray[Any] | None,
        **others: object,
    ) -> Self:
        """What an encoder and the labels of a class tell; `others` are more fields."""
        kind: Callable[..., Self] = cls
        return kind(
            domain,
            encoder.rules,
            tuple(encoder.notes.items()),
            encoder.readings,
            None if classes is None else label_type(classes),
            **others,
        )

    @property
    def has_target(self) -> bool:
        """Whether the last variable is none of the encoder's."""
        return self.label_type is not None

    @cached_property
    def encoder(self) -> TableEncoder:
        """What reads other tables in the same way."""
        variables = self.domain.variables
        if self.has_target:
            variables = variables[:-1]
        trees = {v.name: v.hierarchy for v in variables if v.hierarchy is not None}
        return TableEncoder(
            Domain(variables), self.rules, dict(self.notes), self.readings, trees
        )

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of the class."""
        if self.label_type is None:
            return None
        labels: NDArray[Any] = labels_of_type(
            self.label_type, self.domain.variables[-1].states
        )
        return labels

    def to_text(self) -> str:
        """The document as text."""
        return document_bytes(FORMAT, self).decode()

    @classmethod
    def from_text(cls, text: str, name: str) -> TableReading:
        """Read such a text; ModelFileError if it is none."""
        return content_of_bytes(text.encode(), name, MAX_BYTES, {FORMAT: cls})


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


def wider_label_type(kind: str, states: tuple[Any, ...]) -> str:
    """The type of labels to which others came: as it was if it holds them all."""
    for wider in (kind, "<i8"):
        with contextlib.suppress(ModelFileError, OverflowError):
            if labels_of_type(wider, states).tolist() == list(states):
                return wider
    return "O"
