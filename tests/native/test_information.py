"""What native information refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.native.counts import pair_information

# Where states begin, numbers of stored codes, of codes and of states, whether the
# variable is whole, and a sum.
GOOD = [0, 2, 3, 2, 0, 0]


def _measure(
    variables: NDArray[np.int64],
    information: NDArray[np.float64],
    stretch: tuple[int, int] = (0, 1),
    corner: tuple[int, int] = (0, 0),
) -> None:
    margins = np.full((1, 4), 6.0)
    pair_information(
        np.full((1, 4, 4), 3, dtype=np.int32),
        False,
        np.full(1, 13.0),
        variables,
        variables,
        margins,
        margins,
        np.arange(20),
        1.0,
        *stretch,
        information,
        *corner,
    )


def test_pairs_are_written_to_both_of_their_cells() -> None:
    information = np.full((4, 4), np.nan)
    _measure(np.array([GOOD, GOOD]), information, (1, 2), (1, 2))
    assert np.argwhere(~np.isnan(information)).tolist() == [[2, 2], [2, 3], [3, 2]]
    assert information[2, 3] == information[3, 2]


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, -1), (0, 3), (1, -1), (1, 4), (2, 1), (2, 4), (3, 4), (3, -1)],
)
def test_variables_out_of_range_are_refused(place: int, value: int) -> None:
    variables = np.array([GOOD])
    variables[0, place] = value
    with pytest.raises(ValueError, match="a variable's states are out of range"):
        _measure(variables, np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("stretch", "corner"),
    [((-1, 1), (0, 0)), ((0, 2), (0, 0)), ((0, 1), (0, 1)), ((0, 1), (-1, 0))],
)
def test_pairs_beyond_the_matrix_are_refused(
    stretch: tuple[int, int], corner: tuple[int, int]
) -> None:
    with pytest.raises(ValueError, match="the variables asked for are out of range"):
        _measure(np.array([GOOD]), np.zeros((1, 1)), stretch, corner)
