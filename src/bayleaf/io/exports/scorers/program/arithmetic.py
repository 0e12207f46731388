"""Numbers of the model, unpacked, and sums of logarithms."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

_NOTHING = -math.inf


def read_document(text: str) -> Any:
    """What the model's JSON holds, inflated if it was compressed."""
    document = json.loads(text)
    if "deflate" in document:
        plain = zlib.decompress(base64.b64decode(document["deflate"]))
        document = json.loads(plain.decode("utf-8", "surrogatepass"))
    return document


def unpacked(packed: Any) -> list[float]:
    """Numbers of an array in one row; its shape is known to the caller."""
    if "list" in packed:
        return [float(value) for value in packed["list"]]
    if "f8" in packed:
        raw = base64.b64decode(packed["f8"])
        return list(struct.unpack(f"<{len(raw) // 8}d", raw))
    values = unpacked(packed["values"])
    return [values[place] for place in _short_integers(packed["at"])]


def _short_integers(text: str) -> list[int]:
    """The 16-bit integers that a base64 text stands for."""
    raw = base64.b64decode(text)
    return list(struct.unpack(f"<{len(raw) // 2}H", raw))


def log_sum_exp(values: Sequence[float]) -> float:
    """Logarithm of the sum of exponentials; minus infinity for none."""
    highest = max(values, default=_NOTHING)
    if highest == _NOTHING:
        return highest
    return highest + math.log(sum([math.exp(value - highest) for value in values]))


def _log_logarithmic_mean(a: float, b: float) -> float:
    """Logarithm of the logarithmic mean of exp(a) and exp(b)."""
    high, low = max(a, b), min(a, b)
    if high == low:
        return high
    if low == _NOTHING:
        return low
    gap = high - low
    return high + math.log(-math.expm1(-gap)) - math.log(gap)


def logarithmic_mean_weights(
    log_a: Sequence[float], log_b: Sequence[float]
) -> list[float]:
    """Weights w with ln(sum a / sum b) = sum of w ln(a / b), exactly."""
    total = _log_logarithmic_mean(log_sum_exp(log_a), log_sum_exp(log_b))
    return [
        math.exp(_log_logarithmic_mean(a, log_b[place]) - total)
        for place, a in enumerate(log_a)
    ]
