"""Arrays and documents as JSON that a script element of a page can hold."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays up to this size are written as lists, which a person can read.
_LIST_SIZE = 256
# Documents above this size are compressed.
_PLAIN_CHARACTERS = 250_000
# Characters that a distinct number takes in a list, about.
_DIGITS = 20
_BASE = 32
_DIGITS_OF_NUMBERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# Characters that end a script element, start a comment or break a line of JavaScript.
_ESCAPES = {
    ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"
}


def packed(values: NDArray[np.floating[Any]]) -> dict[str, Any]:
    """Numbers bit for bit, in the shortest of three forms.

    They are ``list`` (the numbers), ``f8`` (base64 of little-endian doubles), or
    ``values`` and ``at`` (the distinct numbers in the same two forms, and base64 of the
    index of each as 16-bit integers). Infinite numbers are allowed.
    """
    array = np.asarray(values, dtype=np.float64)
    flat = array.ravel()
    shape = list(array.shape)
    if flat.size <= _LIST_SIZE and np.isfinite(flat).all():
        return {"shape": shape, "list": flat.tolist()}
    distinct, places = np.unique(flat, return_inverse=True)
    shorter = distinct.size * _DIGITS + flat.size * 2 < flat.size * 8
    if shorter and distinct.size < 1 << 16:
        short = base64_of(places.astype("<u2"))
        return {"shape": shape, "values": packed_flat(distinct), "at": short}
    return {"shape": shape, **packed_flat(flat)}


def packed_flat(flat: NDArray[np.float64]) -> dict[str, Any]:
    """Numbers of one axis as a list if they are few and finite, else as bytes."""
    if flat.size <= _LIST_SIZE and np.isfinite(flat).all():
        return {"list": flat.tolist()}
    return {"f8": base64_of(flat.astype("<f8"))}


def packed_codes(codes: NDArray[np.integer[Any]]) -> dict[str, Any]:
    """Codes below 65536 as base64 of 16-bit integers, and their shape."""
    return {"shape": list(codes.shape), "u2": base64_of(codes.astype("<u2"))}


def digits_of(numbers: Sequence[int]) -> str:
    """Integers of at least zero as one text, a character for small ones.

    Digits have base 32, the last of a number first, and are the first 32 characters of
    the alphabet of URLs in base64; those that are followed by more, the other 32.
    """
    found = []
    for number in numbers:
        while number >= _BASE:
            found.append(_DIGITS_OF_NUMBERS[_BASE + number % _BASE])
            number //= _BASE
        found.append(_DIGITS_OF_NUMBERS[number])
    return "".join(found)


def base64_of(array: NDArray[Any]) -> str:
    """The bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def script_json(
    document: Any,
    *,
    plain_characters: int = _PLAIN_CHARACTERS,
    ascii_only: bool = False,
) -> str:
    """A document as JSON that nothing in it can end or open an element with.

    A large one is compressed: ``{"deflate": base64 of its JSON, compressed by zlib}``.
    """
    text = json.dumps(
        document, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":")
    )
    if len(text) > plain_characters:
        squeezed = zlib.compress(text.encode("utf-8", "surrogatepass"), 9)
        text = json.dumps({"deflate": base64.b64encode(squeezed).decode("ascii")})
    return text.translate(_ESCAPES)
