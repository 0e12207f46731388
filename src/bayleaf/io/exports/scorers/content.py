"""What a scorer holds of a classifier: plain values that become JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayleaf.io.exports.cells import FeatureCells, feature_cells
from bayleaf.io.exports.runtime.packing import packed
from bayleaf.models.predictor import Predictor
from bayleaf.wording import quoted, stated

Content = dict[str, Any]

# Cells of the cliques for whose sake families of trees are taken apart.
_MOST_CELLS = 5_000_000


def scorer_content(predictor: Predictor) -> Content:
    """All that a scorer needs of a classifier but the numbers of its model.

    ValueError if labels or states are neither text nor numbers.
    """
    model = predictor.model
    cells = feature_cells(predictor.encoder)
    *features, own_class = model.domain.variables
    shift, loss = predictor.prior_shift, predictor.loss
    return {
        "classes": [_plain(label, "class") for label in predictor.classes.tolist()],
        "variables": [
            {"states": [v.label(code) for code in range(v.n_states)]}
            for v in (*features, own_class)
        ],
        "cells": [_cell(own) for own in cells],
        "texts": [_texts(own) for own in cells],
        "parents": [list(model.feature_parents(f)) for f in range(len(features))],
        "temperature": predictor.temperature,
        "shift": None if shift is None else packed(shift),
        "loss": None if loss is None else packed(loss),
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
