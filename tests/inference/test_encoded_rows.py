"""Tables of every make are read as rows of a network, holes and all."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.joint_table import joint_table, marginal
from property.networks import codes_of
from property.queried_networks import LIMITS, sparse_networks, within_limit

DOMAIN = Domain(
    (
        Variable("smoker", ("no", "yes")),
        numeric_variable("age", (40.0, 60.0)),
        Variable("count", (0, 1, 2)),
        Variable("grade", ("1", "2", None)),
    )
)


def cells(codes: Codes) -> list[list[int]]:
    """Codes row by row."""
    columns = [codes.column(i).tolist() for i in range(codes.n_variables)]
    return [list(row) for row in zip(*columns, strict=True)]


def test_columns_are_found_by_name_in_frames_of_every_make(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame = make_frame(
        {"grade": ["2", None, "1"], "age": [60.0, 61.0, None], "smoker": ["no"] * 3}
    )
    assert cells(read_rows(DOMAIN, frame)) == [
        [0, 1, 3, 1],
        [0, 2, 3, 2],
        [0, 3, 3, 0],
    ]


def test_a_mapping_of_lists_is_a_table() -> None:
    table = {"smoker": ["yes", None], "count": [2, 0], "age": [1, 50]}
    assert cells(read_rows(DOMAIN, table)) == [[1, 0, 2, 3], [2, 1, 0, 3]]


def test_an_array_has_a_column_for_each_variable_in_order() -> None:
    rows = np.array([["no", 39, 1, "2"], ["yes", 70, 2, "1"]], dtype=object)
    assert cells(read_rows(DOMAIN, rows)) == [[0, 0, 1, 1], [1, 2, 2, 0]]


def test_values_are_matched_by_their_text_where_their_types_differ() -> None:
    table = {"count": ["2", "0"], "grade": [1, 2], "age": ["50", "<= 40"]}
    assert cells(read_rows(DOMAIN, table)) == [[2, 1, 2, 0], [2, 0, 0, 1]]


def test_codes_are_taken_as_they_are() -> None:
    codes = codes_of([[0, 1, 2, None]], DOMAIN.cards)
    assert read_rows(DOMAIN, codes) is codes


def test_unknown_values_may_be_taken_as_holes() -> None:
    table = {"smoker": ["maybe", "no"], "count": [7, 1]}
    codes = read_rows(DOMAIN, table, unknown="missing")
    assert cells(codes) == [[2, 3, 3, 3], [0, 3, 1, 3]]


def test_unused_categories_need_not_be_states() -> None:
    column = pa.DictionaryArray.from_arrays([1, 1], ["strange", "no"])
    assert read_rows(DOMAIN, pa.table({"smoker": column})).column(0).tolist() == [0, 0]


def test_wrong_tables_are_refused_in_a_sentence() -> None:
    cases: list[tuple[Any, str]] = [
        ({"smoker": ["maybe"]}, "column 'smoker': variable 'smoker' has no state 'ma"),
        ({"age": ["old"]}, "column 'age': variable 'age' has no state 'old'; give a n"),
        ({"count": [7]}, "column 'count': variable 'count' has no state 7; its states"),
        ({"smokr": ["no"]}, "column 'smokr', which is no variable .* mean smoker"),
        ({"smoker": ["no"], "age": [1, 2]}, r"different lengths \(1, 2\)"),
        ({}, "no column for any variable; they are smoker, age, count, grade"),
        (np.array([[1, 2]]), "an array of 2 columns has no names to find the 4"),
        (codes_of([[0, 1]], (2, 3)), "not those of this network's variables"),
    ]

    def check(case: tuple[Any, str]) -> None:
        table, message = case
        with pytest.raises(ValueError, match=message):
            read_rows(DOMAIN, table)

    check_each(cases, check)


def test_a_table_without_rows_is_refused_in_a_sentence() -> None:
    cases: list[Any] = [
        [],
        pa.table({"smoker": pa.array([], pa.string())}),
        {"smoker": []},
        np.empty((0, 4)),
    ]

    def check(table: Any) -> None:
        with pytest.raises(ValueError, match=r"^the table has no rows; give it at"):
            read_rows(DOMAIN, table)

    check_each(cases, check)


def test_what_is_no_table_is_refused_in_a_sentence() -> None:
    cases: list[Any] = [None, 5, "smoker", ["no"], np.zeros(4)]

    def check(table: Any) -> None:
        with pytest.raises(
            ValueError, match=r"^the table must be a data frame.* axes$"
        ):
            read_rows(DOMAIN, table)

    check_each(cases, check)


def test_a_column_that_is_no_list_is_named() -> None:
    cases: list[Any] = ["no", None, {"no"}, np.array("no")]

    def check(cells: Any) -> None:
        with pytest.raises(TypeError, match="column 'smoker' must be a list"):
            read_rows(DOMAIN, {"smoker": cells})

    check_each(cases, check)


def test_a_single_column_is_ignored_by_its_name_not_by_its_letters() -> None:
    table = {"smoker": ["no"], "ab": [1]}
    assert cells(read_rows(DOMAIN, table, ignore="ab")) == [[0, 3, 3, 3]]
    with pytest.raises(TypeError, match="ignore must hold names of columns, got None"):
        read_rows(DOMAIN, table, ignore=None)  # type: ignore[arg-type]


def test_columns_of_one_name_are_refused_where_others_are_ignored() -> None:
    frame = pd.DataFrame([["no", "no", 1]], columns=["smoker", "smoker", "count"])
    for ignore in ([], ["count"]):
        with pytest.raises(ValueError, match="several columns are called smoker"):
            read_rows(DOMAIN, frame, ignore=ignore)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="must be 'error' or 'missing', got 'drop'"):
        read_rows(DOMAIN, {"smoker": ["no"]}, unknown="drop")  # type: ignore[arg-type]


def test_a_column_can_be_ignored() -> None:
    table = {"smoker": ["yes"], "id": [object()]}
    codes = read_rows(DOMAIN, table, ignore=["id"])
    assert cells(codes) == [[1, 3, 3, 3]]


def test_a_column_of_dates_can_be_ignored(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame = make_frame({"smoker": ["yes"], "day": [datetime.date(2020, 1, 1)]})
    assert cells(read_rows(DOMAIN, frame, ignore=["day"])) == [[1, 3, 3, 3]]


def test_two_columns_for_one_variable_are_refused() -> None:
    domain = Domain((Variable(7, ("a", "b")),))
    with pytest.raises(ValueError, match="columns 7 and '7' both mean variable 7"):
        read_rows(domain, {7: ["a"], "7": ["b"]})


@settings(deadline=None, max_examples=40)
@given_cases(
    sparse_networks(max_variables=6),
    st.integers(0, 2**32 - 1),
    LIMITS,
)
def test_posteriors_and_likelihoods_of_rows_equal_enumeration(
    network: BayesianNetwork, seed: int, limit: int
) -> None:
    rng = np.random.default_rng(seed)
    joint = joint_table(network)
    rows = [
        [None if rng.random() < 0.4 else int(code) for code in cell]
        for cell in np.argwhere(joint > 0)[rng.integers(0, (joint > 0).sum(), 5)]
    ]
    target = int(rng.integers(len(network.domain)))
    codes = codes_of(rows, network.domain.cards)
    inference = Inference(network, max_table_cells=limit)
    name = network.domain.names[target]
    found = within_limit(lambda: inference.posterior_table(codes, name), limit)
    logs = within_limit(lambda: inference.log_likelihood_rows(codes), limit)
    if found is None or logs is None:
        return
    for row, posterior, log_likelihood in zip(rows, found, logs, strict=True):
        index = tuple(slice(None) if c is None else slice(c, c + 1) for c in row)
        assert log_likelihood == pytest.approx(np.log(joint[index].sum()), abs=1e-11)
        others = (*index[:target], slice(None), *index[target + 1 :])
        cut = marginal(joint[others], target)
        np.testing.assert_allclose(posterior, cut / cut.sum(), rtol=0, atol=1e-12)


def smoking() -> BayesianNetwork:
    """Nobody who does not smoke is ill."""
    return BayesianNetwork.from_tables(
        states={"smoker": ["no", "yes"], "ill": ["no", "yes"], "old": ["no", "yes"]},
        parents={"ill": ["smoker"]},
        tables={
            "smoker": [0.75, 0.25],
            "ill": [[1.0, 0.0], [0.5, 0.5]],
            "old": [0.5, 0.5],
        },
    )


def test_the_first_impossible_row_is_named_with_what_conflicts_in_it() -> None:
    table = {"smoker": ["yes", "no", "no"], "ill": ["yes"] * 3, "old": ["no"] * 3}
    inference = Inference(smoking())
    with pytest.raises(ImpossibleEvidenceError) as raised:
        inference.posterior_table(table, "old")
    assert str(raised.value) == (
        "row 1: smoker = no and ill = yes cannot be together under this network"
    )


def test_the_target_is_not_named_among_what_conflicts() -> None:
    network = BayesianNetwork.from_tables(
        states={name: ["x", "y"] for name in "abc"},
        parents={"b": ["a"], "c": ["a"]},
        tables={"a": [0.5, 0.5], "b": np.eye(2), "c": np.eye(2)},
    )
    with pytest.raises(ImpossibleEvidenceError) as raised:
        Inference(network).posterior_table({"a": ["x"], "b": ["y"], "c": ["x"]}, "a")
    assert raised.value.variables == ("b", "c")


def test_cells_of_the_target_count_for_nothing() -> None:
    table = {"smoker": ["no", "no"], "ill": ["yes", None]}
    found = Inference(smoking()).posterior_table(table, "ill")
    np.testing.assert_array_equal(found, [[1.0, 0.0], [1.0, 0.0]])


def test_log_likelihoods_add_up_with_their_weights() -> None:
    table = {"smoker": ["yes", "no", None], "ill": ["yes", None, None]}
    inference = Inference(smoking())
    expected = np.log([0.125, 0.75, 1.0])
    np.testing.assert_allclose(
        inference.log_likelihood_rows(table), expected, rtol=0, atol=1e-14
    )
    assert inference.log_likelihood(table) == pytest.approx(expected.sum(), abs=1e-14)
    assert inference.log_likelihood(table, [2.0, 0.5, 1.0]) == pytest.approx(
        2 * expected[0] + 0.5 * expected[1], abs=1e-14
    )


def test_an_impossible_row_of_weight_zero_counts_for_nothing() -> None:
    table = {"smoker": ["no", "no"], "ill": ["yes", "no"]}
    inference = Inference(smoking())
    assert inference.log_likelihood(table) == float("-inf")
    assert inference.log_likelihood(table, [0, 1]) == pytest.approx(np.log(0.75))


def test_wrong_weights_are_refused() -> None:
    cases: list[Any] = [
        [1.0],
        [1.0, -1.0],
        [1.0, np.nan],
        [[1.0], [1.0]],
        ["x", 1.0],
        [1e308, 1e308],
    ]

    def check(weights: Any) -> None:
        table = {"smoker": ["yes", "no"]}
        with pytest.raises(ValueError, match="weights must be 2 finite numbers"):
            Inference(smoking()).log_likelihood(table, weights)

    check_each(cases, check)
