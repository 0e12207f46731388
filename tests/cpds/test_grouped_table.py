"""Tables over groups of states mean the full tables that repeat their rows."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds.grouped_table import GroupedTableCPD
from bayleaf.cpds.table import TableCPD
from offenders import check_each

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
