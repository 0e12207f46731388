"""Values that training did not contain, in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayleaf import NaiveBayesClassifier
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.unknown_cells import UnknownCells

ENCODER = TableEncoder(Domain((Variable("x0", (1, 2)), Variable("x1", (0, 1, 2)))))


def test_the_sentence_counts_cells_and_names_the_first() -> None:
    one = UnknownCells("size", 1, "XL", 4)
    assert str(one) == (
        "column size: 1 cell holds a value not seen in training, such as 'XL' in row "
        "4, and was taken as missing"
    )
    many = UnknownCells("size", 1200, "XL", 4, outcome="counted as new states")
    assert many.sentence("line 5") == (
        "column size: 1200 cells hold values not seen in training, such as 'XL' in "
        "line 5, and were counted as new states"
    )


def test_numbers_beyond_few_integers_name_the_remedy() -> None:
    rooms = UnknownCells("rooms", 1, 9, 0, has_numbers=True)
    assert "fitting with --ordered and" in rooms.sentence("line 1")
    assert "fitting with ordered_features and" in str(rooms)


def test_an_array_and_a_frame_have_the_same_unknown_cells() -> None:
    values = np.array([[1, 0], [5, 1], [7, 1], [2, 9]])
    frame = pd.DataFrame(values * 1.0, columns=["x0", "x1"])
    frame.loc[0, "x0"] = np.nan
    expected = {
        "x0": UnknownCells("x0", 2, 5, 1, has_numbers=True),
        "x1": UnknownCells("x1", 1, 9, 3, has_numbers=True),
    }
    assert ENCODER.transform(to_columns(values)).unknown_cells == expected
    of_frame = ENCODER.transform(to_columns(frame))
    assert of_frame.unknown_cells == expected
    assert of_frame.unknown == {"x0": 2, "x1": 1}


def test_numbers_beyond_few_integers_are_the_nearest_that_were_seen() -> None:
    frame = pd.DataFrame({"rooms": [1, 2, 4, 8] * 10, "size": [*range(40)]})
    labels = ["a", "b", "b", "a"] * 10
    later = pd.DataFrame({"rooms": [9, 3, -5, 6.5, None, 2], "size": [1] * 6})
    nearest = later.assign(rooms=[8, 2, 1, 8, None, 2])
    model = NaiveBayesClassifier().fit(frame, labels)
    expected = model.predict_proba(nearest)
    for table in (later, later.astype({"rooms": str}).replace("nan", None)):
        np.testing.assert_array_equal(model.predict_proba(table), expected)
        cells = model.unknown_["rooms"]
        assert (cells.number, cells.value, cells.row) == (4, 9, 0)
        assert "taken as the nearest value seen" in str(cells)


def test_declared_categories_have_no_nearest() -> None:
    frame, labels = [[101], [102], [103], [101]], ["a", "b", "b", "a"]
    model = NaiveBayesClassifier(categorical_features=[0]).fit(frame, labels)
    missing = model.predict_proba([[float("nan")]])
    np.testing.assert_array_equal(model.predict_proba([[104]]), missing)
    assert "taken as missing" in str(model.unknown_["x0"])
