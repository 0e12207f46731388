"""Rows with cells that may hold one of several states, against listing them all."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Variable
from bayleaf.data.encoder_learning import Target, learn_encoder, with_value_hierarchies
from bayleaf.data.partial_values import (
    PartialValues,
    complete,
    put_groups_back,
    take_groups_out,
)
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.value_hierarchy import ValueHierarchy
from offenders import check_each

CARDS = (4, 3, 300)


def random_case(seed: int) -> tuple[Codes, PartialValues, list[list[list[int]]]]:
    """Rows, their partial cells, and the states that each cell may hold."""
    rng = np.random.default_rng(seed)
    n_rows = 12
    columns = [rng.integers(0, card + 1, n_rows) for card in CARDS]
    states = [(0, 2), (1, 2, 3), (0, 1), (5, 77, 256, 299)]
    owners = [0, 0, 1, 2]
    cells: dict[tuple[int, int], int] = {}
    for at, variable in enumerate(owners):
        for row in rng.choice(n_rows, 4, replace=False):
            cells.setdefault((int(row), variable), at)
    allowed = [
        [
            list(states[cells[row, variable]])
            if (row, variable) in cells
            else [int(columns[variable][row])]
            for variable in range(3)
        ]
        for row in range(n_rows)
    ]
    for row, variable in cells:
        columns[variable][row] = CARDS[variable]
    listed = [
        (
            np.array([r for (r, _), a in cells.items() if a == at]),
            owners[at],
            states[at],
        )
        for at in range(4)
    ]
    weights = rng.integers(1, 4, n_rows).astype(np.float64)
    codes = Codes.from_columns(columns, CARDS, weights)
    return codes, PartialValues.from_cells(listed), allowed


def test_completions_are_all_combinations_of_the_sets() -> None:
    def check(seed: int) -> None:
        codes, partial, allowed = random_case(seed)
        found = complete(codes, partial)
        rows = np.stack([found.codes.column(v) for v in range(3)], axis=1)
        for row, sets in enumerate(allowed):
            mine = found.source == row
            expected = {tuple(states) for states in itertools.product(*sets)}
            assert mine.sum() == len(expected)
            assert {tuple(map(int, one)) for one in rows[mine]} == expected
            assert np.flatnonzero(mine)[0] == found.starts[row]
            assert (found.codes.weights[mine] == codes.weights[row]).all()

    check_each(range(6), check)


def test_weights_are_dealt_in_proportion_and_kept_in_sum() -> None:
    def check(seed: int) -> None:
        codes, partial, _ = random_case(seed)
        found = complete(codes, partial)
        logs = np.random.default_rng(seed).normal(size=len(found.source)) * 300
        logs[found.source == 0] = -np.inf
        shared = found.shared(logs).weights
        sums = found.log_sums(logs)
        assert sums[0] == -np.inf
        for row in range(codes.n_rows):
            mine = found.source == row
            if row:
                shifted = np.exp(logs[mine] - logs[mine].max())
                expected = shifted / shifted.sum()
                exact = np.log(shifted.sum()) + logs[mine].max()
                assert sums[row] == pytest.approx(exact, abs=1e-12)
            else:
                expected = np.full(mine.sum(), 1 / mine.sum())
            np.testing.assert_allclose(
                shared[mine], codes.weights[row] * expected, atol=1e-12
            )

    check_each(range(3), check)


def test_without_partial_values_rows_complete_themselves() -> None:
    codes, _, _ = random_case(0)
    found = complete(codes, PartialValues.none())
    assert (found.codes.narrow == codes.narrow).all()
    assert (found.shared().weights == codes.weights).all()
    logs = np.arange(12.0)
    assert (found.log_sums(logs) == logs).all()


def test_likelihoods_hold_one_for_every_state_of_the_set() -> None:
    codes, partial, allowed = random_case(1)
    for row in range(codes.n_rows):
        for variable, weights in partial.likelihoods(row, codes).items():
            assert np.flatnonzero(weights).tolist() == allowed[row][variable]
    n_cells = sum(len(partial.likelihoods(row, codes)) for row in range(codes.n_rows))
    assert n_cells == len(partial)


def test_too_many_combinations_are_refused_with_the_row() -> None:
    columns = [np.full(2, 5) for _ in range(9)]
    codes = Codes.from_columns(columns, (5,) * 9)
    cells = [(np.array([1]), variable, (0, 1, 2, 3)) for variable in range(9)]
    assert len(complete(codes, PartialValues.from_cells(cells[:8])).source) == 65537
    with pytest.raises(ValueError, match="cells of row 1 allow more than 65536"):
        complete(codes, PartialValues.from_cells(cells))


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
    parts = to_columns(pd.DataFrame(table))
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
    parts = to_columns(pd.DataFrame({"colour": ["red", "blue"], "hours": [1, 2]}))
    plain, cells = take_groups_out(parts, TREES)
    assert cells == {}
    assert isinstance(plain, list)
    assert isinstance(parts, list)
    assert all(one is other for one, other in zip(plain, parts, strict=True))
    matrix = to_columns(np.array([[1, 2], [3, 4]]))
    assert take_groups_out(matrix, {"x0": HOURS}) == (matrix, {})
