"""What is left of counts without a row."""

from __future__ import annotations

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.search.left_out.cells import LeftOutRows, left_out_class_counts, less


def test_what_rounding_leaves_of_an_empty_cell_is_nothing() -> None:
    counts = np.array([0.1 + 0.2, 0.3 + 1e-6, 2.0])
    rest = less(counts, np.array([0.3, 0.3, 1.0]))
    assert rest[0] == 0.0 != counts[0] - 0.3
    np.testing.assert_allclose(rest[1:], [1e-6, 1.0], rtol=1e-9)


def test_a_heavy_row_gives_up_one_and_a_light_one_all() -> None:
    y = [0, 0, 1]
    codes = Codes.from_columns([np.array(y)], (2,), np.array([2.5, 0.5, 0.25]))
    cells = left_out_class_counts(np.array([3.0, 0.25]), LeftOutRows(codes))
    assert cells.joint[0].tolist() == [[2.0, 2.5, 3.0], [0.25, 0.25, 0.0]]
    assert cells.total.tolist() == [2.25, 2.75, 3.0]
