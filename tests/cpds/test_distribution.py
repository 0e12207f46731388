"""Distributions as tables, tables of groups and value maps."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds import DeterministicCPD, Lidstone, learn_table_cpds
from bayleaf.cpds.distribution import GroupedTableCPD, TableCPD
from bayleaf.data.codes import Codes
from offenders import check_each


def test_a_table_is_a_copy_that_nobody_can_change() -> None:
    given = np.array([[0.5, 0.5], [0.25, 0.75]])
    cpd = TableCPD((1, 0), given)
    given[:] = 0.0
    assert cpd.probabilities[1, 1] == 0.75
    with pytest.raises(ValueError, match="read-only"):
        cpd.probabilities[0, 0] = 1.0


def test_the_child_is_the_last_of_its_family() -> None:
    cpd = TableCPD((3, 1, 2), np.full((2, 2, 2), 0.5))
    assert (cpd.parents, cpd.child) == ((3, 1), 2)


def test_free_parameters_are_states_less_one_for_each_parent_state() -> None:
    def check(case: tuple[tuple[int, ...], int]) -> None:
        shape, n_parameters = case
        cpd = TableCPD(tuple(range(len(shape))), np.full(shape, 1.0 / shape[-1]))
        assert cpd.n_parameters == n_parameters

    check_each([((4,), 3), ((3, 2), 3), ((2, 5, 3), 20), ((2, 1), 0)], check)


def test_a_child_without_states_has_no_parameters() -> None:
    assert TableCPD((0, 1), np.zeros((2, 0))).n_parameters == 0


def test_a_family_has_an_axis_a_variable() -> None:
    with pytest.raises(ValueError, match=r"table with 2 axes .* family of 1 variables"):
        TableCPD((0,), np.full((2, 2), 0.5))


def test_the_logarithm_of_zero_is_minus_infinity() -> None:
    logs = TableCPD((0,), np.array([0.0, 1.0])).log_probabilities()
    assert logs.tolist() == [-math.inf, 0.0]


def test_likelihood_sums_over_the_cells_that_were_seen() -> None:
    cpd = TableCPD((0,), np.array([0.0, 0.25, 0.75]))
    found = cpd.log_likelihood(np.array([0.0, 2.0, 0.5]))
    assert found == pytest.approx(2 * math.log(0.25) + 0.5 * math.log(0.75), rel=1e-15)


def test_an_impossible_count_has_likelihood_zero() -> None:
    cpd = TableCPD((0,), np.array([0.0, 1.0]))
    assert cpd.log_likelihood(np.array([1.0, 1.0])) == -math.inf


def test_tables_are_learned_from_the_rows_that_show_the_family() -> None:
    first, second = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 2])
    classes = np.array([0, 0, 1, 1, 1])
    # Code 2 is missing in both features.
    codes = Codes.from_columns([first, second, classes], (2, 2, 2))
    cpds, log_likelihood = learn_table_cpds(
        RowCounts(codes), [(2, 0), (0, 1), (2,)], Lidstone(1.0)
    )
    np.testing.assert_allclose(cpds[0].probabilities, [[3 / 4, 1 / 4], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(cpds[1].probabilities, [[1 / 2, 1 / 2], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(cpds[2].probabilities, [3 / 7, 4 / 7])
    expected = [3 / 4, 3 / 4, 2 / 3] + [1 / 2, 1 / 2, 2 / 3] + [3 / 7] * 2 + [4 / 7] * 3
    assert log_likelihood == pytest.approx(math.fsum(map(math.log, expected)))


def test_a_table_survives_pickling() -> None:
    cpd = pickle.loads(pickle.dumps(TableCPD((1, 0), np.full((2, 2), 0.5))))
    assert cpd.family == (1, 0)
    np.testing.assert_array_equal(cpd.probabilities, 0.5)


GROUPS = (((1, 0), (2,)), ((0, 3), (1,), (2,)))


@pytest.fixture
def cpd() -> GroupedTableCPD:
    table = np.random.default_rng(0).dirichlet(np.ones(2), (2, 3))
    return GroupedTableCPD((4, 2, 7), (3, 4, 2), GROUPS, table)


def test_every_configuration_has_the_row_of_its_groups(cpd: GroupedTableCPD) -> None:
    full = cpd.probabilities
    assert full.shape == (3, 4, 2)
    for i, first in enumerate(GROUPS[0]):
        for j, second in enumerate(GROUPS[1]):
            for a in first:
                for b in second:
                    assert full[a, b].tolist() == cpd.table[i, j].tolist()


def test_parameters_are_counted_by_rows(cpd: GroupedTableCPD) -> None:
    assert cpd.n_parameters == 6
    assert (cpd.child, cpd.parents) == (7, (4, 2))


def test_single_states_as_groups_make_a_plain_table() -> None:
    table = np.random.default_rng(1).dirichlet(np.ones(3), (2,))
    cpd = GroupedTableCPD((0, 1), (2, 3), (((0,), (1,)),), table)
    plain = TableCPD((0, 1), table)
    assert np.array_equal(cpd.probabilities, plain.probabilities)
    assert cpd.n_parameters == plain.n_parameters


def test_without_parents_the_table_is_one_distribution() -> None:
    cpd = GroupedTableCPD((3,), (2,), (), np.array([0.25, 0.75]))
    assert cpd.probabilities.tolist() == [0.25, 0.75]
    assert cpd.n_parameters == 1


def test_probabilities_cannot_be_written(cpd: GroupedTableCPD) -> None:
    for array in (cpd.table, cpd.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_groups_that_do_not_share_out_the_states_are_named() -> None:
    def check(groups: tuple[tuple[int, ...], ...]) -> None:
        table = np.full((len(groups), 2), 0.5)
        with pytest.raises(ValueError, match="of parent 5 should share out its states"):
            GroupedTableCPD((5, 1), (3, 2), (groups,), table)

    check_each([((0,), (1,)), ((0, 1), (1, 2)), ((0, 1, 2, 3),)], check)


def test_a_table_of_another_shape_is_refused() -> None:
    def check(shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"groups and states make \(2, 3, 2\)"):
            GroupedTableCPD((4, 2, 7), (3, 4, 2), GROUPS, np.ones(shape))

    check_each([(2, 3, 3), (3, 2, 2), (2, 3), (6, 2)], check)


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
            ([0.5, 1], "integers"),
            ([0, 2], "state 2"),
            ([-1, 0], "-1"),
        ],
        check,
    )
