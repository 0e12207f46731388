"""Tables whose cells may name groups of states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.data.encoder.learning import Target, learn_encoder
from bayleaf.data.encoder.table_encoder import TableEncoder
from bayleaf.data.group_cells import put_groups_back, take_groups_out
from bayleaf.data.hierarchies.encoding import with_value_hierarchies
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.reading.rules import EncoderRules
from bayleaf.data.tables.frames import take_apart

HOURS = ValueHierarchy.from_nested(
    {"any": {"part_time": ["1-19", "20-34"], "full_time": ["35-40", "41+"]}}
)
COLOURS = ValueHierarchy.from_nested(
    {"any": {"warm": ["red", "orange"], "cold": ["blue", "green"], "none": ["black"]}}
)
TREES: dict[str | int, ValueHierarchy] = {"hours": HOURS, "colour": COLOURS}


class AtTheMean:
    """Cuts at the mean."""

    def cut_points(self, values: Any, *_: Any) -> tuple[float, ...]:
        return (float(np.nanmean(values)),)


def read(
    table: dict[str, Any], encoder: TableEncoder | None = None, **rules: Any
) -> tuple[TableEncoder, Codes, PartialValues]:
    """Learn an encoder unless there is one, and encode a table."""
    parts = take_apart(pd.DataFrame(table))
    domain = None if encoder is None else encoder.domain
    plain, cells = take_groups_out(parts, TREES, domain)
    if encoder is None:
        n_rows = len(next(iter(table.values())))
        target = Target(Variable("class", (0,)), np.zeros(n_rows, dtype=np.intp))
        weights = np.ones(n_rows)
        encoder, _ = learn_encoder(
            plain, target, weights, AtTheMean(), EncoderRules(**rules)
        )
        trees: dict[str | int, ValueHierarchy]
        trees = {name: tree for name, tree in TREES.items() if name in table}
        encoder = with_value_hierarchies(encoder, trees)
    encoded = encoder.transform(plain)
    assert encoded.unknown == {}
    codes, partial = put_groups_back(encoded.codes, encoder.domain, TREES, cells)
    return encoder, codes, partial


TABLE: dict[str, Any] = {
    "size": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
    "hours": [10, 20, "part_time", 40, "full_time", 60],
    "colour": ["red", "warm", "orange", "blue", "any", "green"],
}


@pytest.mark.parametrize("as_text", [False, True])
def test_groups_become_sets_of_states(as_text: bool) -> None:
    hours = [str(cell) for cell in TABLE["hours"]] if as_text else TABLE["hours"]
    encoder, codes, partial = read(TABLE | {"hours": hours})
    assert encoder.domain[1].cut_points == (19.0, 34.0, 40.0)
    assert encoder.domain[2].states == ("blue", "green", "orange", "red")
    assert codes.column(1).tolist() == [0, 1, 4, 2, 4, 3]
    assert codes.column(2).tolist() == [3, 4, 2, 0, 4, 1]
    assert partial.likelihoods(1, codes)[2].tolist() == [0, 0, 1, 1]
    assert partial.likelihoods(2, codes)[1].tolist() == [1, 1, 0, 0]
    assert partial.likelihoods(4, codes)[1].tolist() == [0, 0, 1, 1]
    # The root says no more than a missing cell.
    assert len(partial) == 3


def test_prediction_reads_the_same_cells_as_training() -> None:
    encoder, codes, partial = read(TABLE)
    _, again, sets = read(TABLE, encoder)
    for variable in range(3):
        assert (again.column(variable) == codes.column(variable)).all()
    for row in range(6):
        mine, other = sets.likelihoods(row, again), partial.likelihoods(row, codes)
        assert {v: w.tolist() for v, w in mine.items()} == {
            v: w.tolist() for v, w in other.items()
        }


def test_numbers_written_as_text_are_numbers_beside_groups() -> None:
    encoder, _, _ = read(TABLE)
    table = {"size": [1.0, 2.0], "hours": ["33", "part_time"], "colour": ["red", None]}
    _, codes, sets = read(table, encoder)
    assert codes.column(1).tolist() == [1, 4]
    assert codes.column(2).tolist() == [3, 4]
    assert sets.likelihoods(1, codes)[1].tolist() == [1, 1, 0, 0]


def test_a_group_cell_is_no_missing_cell() -> None:
    table = {"hours": [1, "part_time", 50], "colour": ["red", "warm", "orange"]}
    encoder, codes, partial = read(table, missing="error")
    assert len(partial) == 1
    assert partial.variables.tolist() == [0]
    assert codes.column(1).tolist() == [1, 2, 0]
    read(table, encoder)


def test_a_group_leaves_the_missing_state_out() -> None:
    colours = ["red", None, "any", "orange", "blue", "warm"]
    table = {"colour": colours, "hours": [1, 2, 3, None, 5, "full_time"]}
    _, codes, partial = read(table, missing="state")
    assert codes.cards == (4, 5)
    assert codes.column(0).tolist() == [2, 3, 4, 1, 0, 4]
    assert codes.column(1).tolist() == [0, 0, 0, 4, 0, 5]
    assert partial.likelihoods(2, codes)[0].tolist() == [1, 1, 1, 0]
    assert partial.likelihoods(5, codes)[1].tolist() == [0, 0, 1, 1, 0]


def test_a_group_of_one_known_state_is_this_state() -> None:
    table = {"colour": ["black", "none", "red", "orange", "blue"]}
    encoder, codes, partial = read(table)
    assert codes.column(0).tolist() == [0, 0, 3, 2, 1]
    assert not len(partial)
    _, codes, partial = read({"colour": ["none", "cold"]}, encoder)
    assert codes.column(0).tolist() == [0, 1]
    assert not len(partial)


def test_tables_without_groups_stay_as_they_are() -> None:
    parts = take_apart(pd.DataFrame({"colour": ["red", "blue"], "hours": [1, 2]}))
    plain, cells = take_groups_out(parts, TREES)
    assert cells == {}
    assert isinstance(plain, list)
    assert isinstance(parts, list)
    assert all(one is other for one, other in zip(plain, parts, strict=True))
    matrix = take_apart(np.array([[1, 2], [3, 4]]))
    assert take_groups_out(matrix, {"x0": HOURS}) == (matrix, {})
