"""Encoders whose variables take value hierarchies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.data.encoder.learning import Target, learn_encoder
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.hierarchies.encoding import with_value_hierarchies
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.frames import take_apart
from offenders import check_each

HOURS = ValueHierarchy.from_nested(
    {"any": {"part_time": ["1-19", "20-34"], "full_time": ["35-40", "41+"]}}
)
COLOURS = ValueHierarchy.from_nested(
    {"any": {"warm": ["red", "orange"], "cold": ["blue", "green"], "none": ["black"]}}
)


class AtTheMean:
    """Cuts at the mean."""

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        return (float(np.nanmean(values)),)


def learn(table: Any, **rules: Any) -> TableEncoder:
    parts = take_apart(table)
    n_rows = len(table)
    target = Target(Variable("class", (0,)), np.zeros(n_rows, dtype=np.intp))
    rows = np.ones(n_rows)
    return learn_encoder(parts, target, rows, AtTheMean(), EncoderRules(**rules))[0]


def test_numbers_are_cut_where_ranges_end() -> None:
    def check(hours: Any) -> None:
        table = pd.DataFrame({"size": [0.5, 1.5, 2.5, 3.5], "hours": hours})
        encoder = with_value_hierarchies(learn(table), {"hours": HOURS})
        variable = encoder.domain[1]
        assert variable.cut_points == (19.0, 34.0, 40.0)
        assert variable.hierarchy is not None
        assert variable.hierarchy.states_under("full_time") == ("(34, 40]", "> 40")
        assert encoder.transform(take_apart(table)).codes.column(1).tolist() == [
            0,
            1,
            2,
            3,
        ]
        assert encoder.domain[0].cut_points == (2.0,)
        assert "hours" not in encoder.notes

    check_each(
        [
            [3, 25, 38, 60],
            [3.5, 25.0, 38.0, 60.0],
            np.array([3, 25, 38, 60], dtype=object),
        ],
        check,
    )


def test_whole_matrices_are_cut_as_well() -> None:
    values = np.array([[3, 1], [25, 2], [38, 1]])
    encoder = with_value_hierarchies(learn(values), {"x0": HOURS})
    assert encoder.transform(take_apart(values)).codes.column(0).tolist() == [0, 1, 2]


def test_a_missing_state_stays() -> None:
    table = pd.DataFrame({"hours": [3, None, 38]})
    encoder = with_value_hierarchies(learn(table, missing="state"), {"hours": HOURS})
    assert encoder.domain.cards == (5,)
    assert encoder.transform(take_apart(table)).codes.column(0).tolist() == [0, 4, 2]


def test_states_keep_their_order_and_take_the_fitted_tree() -> None:
    table = pd.DataFrame({"colour": ["red", "blue", "orange", "green"]})
    encoder = with_value_hierarchies(learn(table), {"colour": COLOURS})
    (variable,) = encoder.domain
    assert variable.states == ("blue", "green", "orange", "red")
    assert variable.hierarchy is not None
    assert variable.hierarchy.inner_nodes == ("any", "warm", "cold")


def test_declared_nominal_columns_and_text_are_not_cut() -> None:
    bands = ValueHierarchy.from_nested({"any": ["1-19", "20-34"]})
    table = pd.DataFrame({"hours": ["1-19", "20-34"]})
    encoder = with_value_hierarchies(learn(table), {"hours": bands})
    assert encoder.domain[0].kind == "nominal"
    few = ValueHierarchy.from_nested({"any": {"few": ["1", "2-3"], "more": ["4"]}})
    numbers = pd.DataFrame({"n": [1, 4, 1]})
    encoder = learn(numbers, categorical_features=("n",))
    assert with_value_hierarchies(encoder, {"n": few}).domain[0].states == (1, 4)
    assert with_value_hierarchies(learn(numbers), {"n": few}).domain[0].cut_points == (
        1.0,
        3.0,
    )


def test_a_numeric_column_needs_ranges() -> None:
    table = pd.DataFrame({"size": [0.5, 1.5, 2.5]})
    with pytest.raises(ValueError, match=r"leaf 'red'.*numeric variable 'size'"):
        with_value_hierarchies(learn(table), {"size": COLOURS})
