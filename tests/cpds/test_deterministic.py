"""Value maps equal tables of zeros and ones."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds import DeterministicCPD
from offenders import check_each


def test_the_table_holds_a_one_at_the_mapped_state() -> None:
    cpd = DeterministicCPD((0, 1, 2), 3, np.array([[0, 2], [1, 0]]))
    expected = [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0]]]
    np.testing.assert_array_equal(cpd.probabilities, expected)
    assert cpd.cards == (2, 2, 3)
    assert cpd.n_parameters == 0


def test_a_map_without_parents_is_a_constant() -> None:
    cpd = DeterministicCPD((4,), 2, np.array(1))
    np.testing.assert_array_equal(cpd.probabilities, [0.0, 1.0])


def test_a_map_that_does_not_fit_is_refused() -> None:
    def check(case: tuple[object, str]) -> None:
        values, message = case
        with pytest.raises(ValueError, match=message):
            DeterministicCPD((0, 1), 2, np.array(values))

    check_each(
        [
            ([[0]], "axes"),
            ([0.5, 1], "whole numbers"),
            ([0, 2], "state 2"),
            ([-1, 0], "-1"),
        ],
        check,
    )
