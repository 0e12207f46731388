"""What a fitted model reads from a table: its columns, and the classes of the rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.operating_points import class_names
from bayleaf.wording import name_list, near_names


def model_columns(
    frame: Any, model: Any, columns: Sequence[str | int]
) -> tuple[Any, list[str]]:
    """The columns of a model out of a table, in the model's order, and their names.

    A model that was fitted to columns without names takes the first ones, as an array.
    ValueError offers names close to a missing one.
    """
    names: list[Any] = list(columns)
    is_named = not hasattr(model, "n_features_in_") or hasattr(
        model, "feature_names_in_"
    )
    if not is_named and len(frame.columns) >= len(names):
        first = frame.columns[: len(names)]
        return frame.select(first).to_numpy(), first
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            f"the table has no column {name_list(absent)}; "
            f"{near_names(str(absent[0]), map(str, frame.columns))}"
        )
    return frame.select(names).to_native(), names


def other_columns(frame: Any, known: Collection[Any]) -> list[NDArray[np.intp]]:
    """Codes of the values of all columns of a table but those that are `known`."""
    return [
        np.unique(
            np.array([str(cell) for cell in frame.get_column(name).to_list()]),
            return_inverse=True,
        )[1]
        for name in frame.columns
        if name not in known
    ]


def labels_of(
    column: Any, classes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels of a column in the classifier's type, and their positions.

    `classes` (n_classes,) are the classifier's; ValueError if a row has none of them.
    """
    known = {label: place for place, label in enumerate(classes.tolist())}
    spelled = {name: place for place, name in enumerate(class_names(list(known)))}
    places = []
    for row, label in enumerate(column.to_list(), start=1):
        place = known.get(label, spelled.get(class_names([label])[0]))
        if place is None:
            raise ValueError(
                f"the target column holds {label!r} in row {row}, which is none of the "
                f"model's classes {name_list(list(spelled))}; correct or remove the row"
            )
        places.append(place)
    truth = np.array(places, dtype=np.intp)
    return classes[truth], truth
