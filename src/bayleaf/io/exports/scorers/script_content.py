"""What a scorer in JavaScript holds of a model: plain values that become JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from bayleaf.io.exports.characters import equal_pair
from bayleaf.io.exports.scorers.content import Content, scorer_content
from bayleaf.io.exports.scorers.program_content import program_content
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import program_of
from bayleaf.wording import quoted


def script_content(predictor: Predictor) -> tuple[Content, set[str]]:
    """All that a scorer needs of a classifier, and the kinds of its terms.

    ValueError if labels or states are neither text nor numbers, or equal in JavaScript,
    or networks are too large.
    """
    content = scorer_content(predictor)
    _check_texts_differ(content)
    program, kinds = program_content(program_of(predictor.model), is_script=True)
    return {**content, "program": program}, kinds


def _check_texts_differ(content: Mapping[str, Any]) -> None:
    """Raise ValueError where JavaScript could not tell labels or states apart."""
    where = "the classes have labels"
    _check_exact(content["classes"], where)
    pair = equal_pair(content["classes"], _script_text)
    if pair is not None:
        raise _inseparable(where, f"{quoted(pair[0])} and {quoted(pair[1])}")
    for own in content["cells"]:
        where = f"column {quoted(own['column'])} has states"
        _check_exact(own.get("values", ()), where)


def _check_exact(values: Sequence[Any], where: str) -> None:
    """Raise ValueError where a double does not hold an integer."""
    for value in values:
        if isinstance(value, int) and _as_double(value) != value:
            raise _inseparable(where, f"{value} and integers next to it")


def _as_double(value: float) -> float:
    """A number in JavaScript, infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _script_text(label: Any) -> str:
    """The text of a label in JavaScript, where it is a key of the probabilities."""
    if isinstance(label, str | bool):
        return label if isinstance(label, str) else str(label).lower()
    # Both languages write the fewest digits, with an exponent from 1e21 on there.
    digits = repr(float(label))
    return digits if abs(label) >= 1e21 else f"{Decimal(digits).to_integral_value():f}"


def _inseparable(where: str, which: str) -> ValueError:
    """The error for values that are one in JavaScript."""
    return ValueError(
        f"{where} that JavaScript cannot tell apart: {which}; rename them, or write "
        "the scorer in Python (.py)"
    )
