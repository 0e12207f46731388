"""What a scorer holds of a classifier: plain values that become JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.characters import equal_pair
from bayleaf.io.exports.runtime.packing import packed
from bayleaf.io.exports.scorers.program_content import program_content
from bayleaf.models.predictor import Predictor
from bayleaf.scoring.terms import program_of
from bayleaf.wording import quoted, stated

Content = dict[str, Any]


def scorer_content(
    predictor: Predictor, *, is_script: bool = False
) -> tuple[Content, list[str]]:
    """All that a scorer needs of a classifier, and the kinds of its terms.

    ValueError if labels or states are neither text nor numbers or, in a script, equal,
    or networks are too large.
    """
    model = predictor.model
    cells = feature_cells(predictor.encoder)
    content: Content = {
        "classes": [_plain(label, "class") for label in predictor.classes.tolist()],
        "variables": [
            {"states": [v.label(code) for code in range(v.n_states)]}
            for v in model.domain.variables
        ],
        "cells": [_cell(own) for own in cells],
        "texts": [_texts(own) for own in cells],
        "parents": [list(model.feature_parents(f)) for f in range(len(cells))],
        **calibration_content(predictor),
    }
    if is_script:
        _check_texts_differ(content)
    program, kinds = program_content(program_of(model), is_script=is_script)
    return {**content, "program": program}, sorted(kinds)


def calibration_content(predictor: Predictor) -> Content:
    """What turns scores into probabilities, and these into decisions."""
    arrays = {
        "shift": predictor.prior_shift,
        "strengths": None if predictor.temperature == 1.0 else predictor.strengths,
        "loss": predictor.loss,
    }
    return {
        "temperature": predictor.temperature,
        **{n: None if array is None else packed(array) for n, array in arrays.items()},
    }


def _cell(own: FeatureCells) -> Content:
    """How a column becomes the codes of a variable."""
    reading = own.reading
    found: Content = {
        "column": own.column,
        "feature": own.variable.name,
        "form": reading.form,
        "missing": own.missing,
        "unknown": own.unknown,
    }
    if own.part is not None:
        found |= {"part": own.part, "origin": reading.origin or 0}
    if reading.unit is not None:
        found["unit"] = reading.unit
    if own.kind == "intervals":
        return {**found, "cuts": list(own.cut_points)}
    where = f"column {quoted(own.column)}"
    values = [_plain(value, where) for value in own.codes]
    return {
        **found,
        "values": values,
        "codes": list(own.codes.values()),
        "sort": _sort(own, values),
    }


def _sort(own: FeatureCells, values: Sequence[Any]) -> str:
    """Whether a column's values are text or numbers; empty if both or unknown."""
    other = own.variable.other_state
    sorts = {
        "text" if isinstance(value, str) else "numbers"
        for value in values
        if other is None or value != other
    }
    return sorts.pop() if len(sorts) == 1 else ""


def _texts(own: FeatureCells) -> list[str] | None:
    """That the feature has each of its codes; None where name = state says so."""
    variable = own.variable
    labels = [variable.label(code) for code in range(own.n_codes)]
    texts = [stated(variable.name, label) for label in labels]
    plain = [f"{variable.name} = {label}" for label in labels]
    return None if texts == plain else texts


def _plain(value: Any, where: str) -> Any:
    """A label or state as JSON holds it."""
    found = value.item() if isinstance(value, np.generic) else value
    if not isinstance(found, str | bool | int | float):
        raise ValueError(
            f"{where} holds {quoted(value)}, a {type(value).__name__}, but a scorer "
            "holds text, numbers and truth values alone; convert it before fitting"
        )
    return found


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
