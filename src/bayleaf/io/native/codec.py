"""Frozen dataclasses as plain values, and back by the types of their fields.

A dataclass is an object with its fields by name; an array is an object with its shape
and numbers. Reading checks types and shapes; whether the values make sense is checked
by the classes themselves when they are made.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from bayleaf.data.domain import Domain
from bayleaf.io.fields import Fields, ModelFileError
from bayleaf.io.native.sidecar import ArrayReader, ArrayWriter

# Codes in files are of this type, and so all whole numbers in arrays.
_CODES = np.dtype(np.uint16)


def encoded(value: Any, arrays: ArrayWriter) -> Any:
    """A value as plain values; its arrays go to `arrays`, domains are left out.

    Raises
    ------
    TypeError
        If it holds something that has no place in a file.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "numbers": arrays.add(_storable(value))}
    if isinstance(value, tuple):
        return [encoded(item, arrays) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: encoded(getattr(value, field.name), arrays)
            for field in fields(value)
            if field.init and not isinstance(getattr(value, field.name), Domain)
        }
    raise TypeError(f"a {type(value).__name__} has no place in a model file")


def _storable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of floats or of codes with the same numbers."""
    if array.dtype.kind == "f":
        return array
    whole = array.dtype.kind in "biu"
    if not whole or (array.size and not 0 <= array.min() <= array.max() < 1 << 16):
        raise TypeError(
            "arrays in model files hold floats, truth values or whole numbers from 0 "
            f"to 65535, not {array.dtype} beyond them"
        )
    return array.astype(_CODES)


@dataclass(frozen=True)
class Decoder:
    """Makes values of given types from plain values.

    Parameters
    ----------
    domain : Domain
        What stands wherever a dataclass holds a domain.
    arrays : ArrayReader
        Gives the arrays.
    """

    domain: Domain
    arrays: ArrayReader

    def decoded(self, kind: Any, value: Any, where: str) -> Any:
        """The value of a type that plain values stand for.

        Parameters
        ----------
        kind : type
            A dataclass, an array of floats, truth values or whole numbers, a tuple, a
            plain type, or one of them or None.
        value : object
            The plain values.
        where : str
            What they are, for messages.

        Raises
        ------
        ModelFileError
            If they stand for no such value.
        """
        if kind is Domain:
            return self.domain
        if get_origin(kind) in (Union, types.UnionType):
            (inner,) = (one for one in get_args(kind) if one is not type(None))
            return None if value is None else self.decoded(inner, value, where)
        if get_origin(kind) is tuple:
            return self._tuple(get_args(kind), value, where)
        if get_origin(kind) is np.ndarray:
            return self._array(kind, Fields(value, where))
        if is_dataclass(kind):
            return self.object(kind, Fields(value, where))
        return _plain(kind, value, where)

    def object(self, kind: Any, values: Fields) -> Any:
        """A dataclass from the values of its fields."""
        if not isinstance(values.values, dict):
            raise ModelFileError(f"{values.where} should be an object")
        hints = get_type_hints(kind)
        return kind(
            **{
                field.name: self.decoded(
                    hints[field.name],
                    values.values.get(field.name),
                    f"field {field.name!r} of {values.where}",
                )
                for field in fields(kind)
                if field.init
            }
        )

    def _tuple(self, kinds: tuple[Any, ...], value: Any, where: str) -> Any:
        """A tuple of one type throughout, or of one type a place."""
        if not isinstance(value, list):
            raise ModelFileError(f"{where} should be a list")
        if kinds[-1] is Ellipsis:
            kinds = kinds[:1] * len(value)
        if len(kinds) != len(value):
            raise ModelFileError(f"{where} should hold {len(kinds)} values")
        pairs = zip(kinds, value, strict=True)
        return tuple(self.decoded(kind, item, where) for kind, item in pairs)

    def _array(self, kind: Any, values: Fields) -> np.ndarray[Any, Any]:
        """An array of the type that its annotation names."""
        shape = values.list("shape")
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ModelFileError(f"the shape of {values.where} should be whole numbers")
        dtype = np.dtype(get_args(get_args(kind)[1])[0])
        is_float = dtype.kind == "f"
        read: Callable[..., Any] = (
            self.arrays.get if is_float else self.arrays.get_codes
        )
        numbers = values.values.get("numbers")
        return np.asarray(read(numbers, tuple(shape), values.where).astype(dtype))


def _plain(kind: Any, value: Any, where: str) -> Any:
    """A number, text or truth value of the type asked for."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ModelFileError(f"{where} should be of type {kind.__name__}")
    if kind is float and not math.isfinite(value):
        raise ModelFileError(f"{where} should be finite")
    return value
