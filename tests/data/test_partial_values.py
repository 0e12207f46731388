"""Rows with cells that may hold one of several states, against listing them all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import PartialValues, complete
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
