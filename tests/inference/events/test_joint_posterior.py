"""The joint posterior as a table with names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.data.domain import Variable, numeric_variable
from bayleaf.inference.events.joint_posterior import JointPosterior
from bayleaf.inference.evidence import ImpossibleEvidenceError, Not

SEX = Variable("sex", ("female", "male"))
AGE = numeric_variable("age", [30.0, 50.0])
NUMBERS = np.array([[0.1, 0.2, 0.05], [0.3, 0.0, 0.35]])


def joint() -> JointPosterior:
    """Sex and age."""
    return JointPosterior((SEX, AGE), NUMBERS.copy(), -1.0)


def test_states_are_found_by_name_and_by_number() -> None:
    assert joint()["male", 60] == 0.35
    assert joint()["female", "<= 30"] == 0.1
    with pytest.raises(ValueError, match="give one state for each of sex, age"):
        joint()["male"]
    with pytest.raises(ValueError, match="has no state 'x'"):
        joint()["x", 60]


def test_marginals_are_sums() -> None:
    np.testing.assert_allclose(joint().marginal("age").probabilities, NUMBERS.sum(0))
    turned = joint().marginal(["age", "sex"])
    assert turned.names == ("age", "sex")
    np.testing.assert_array_equal(turned.probabilities, NUMBERS.T)
    with pytest.raises(ValueError, match="there is no variable 'agee'; did you mean"):
        joint().marginal("agee")


def test_conditioning_divides_by_the_probability_of_what_is_known() -> None:
    male = joint().given(sex="male")
    assert male.names == ("age",)
    np.testing.assert_allclose(male.probabilities, NUMBERS[1] / 0.65)
    assert male.log_evidence == pytest.approx(-1.0 + np.log(0.65))
    not_old = joint().given({"age": Not("> 50")})
    expected = NUMBERS * [1, 1, 0] / 0.6
    np.testing.assert_allclose(not_old.probabilities, expected)
    with pytest.raises(ImpossibleEvidenceError, match="has probability 0"):
        joint().given(sex="male", age=40)


def test_events_are_sums_of_cells() -> None:
    assert joint().probability("sex = male or age > 50") == pytest.approx(0.7)
    assert joint().probability({"sex": "male", "age": 60}) == pytest.approx(0.35)
    assert joint().probability("sex in {male, female}") == pytest.approx(1.0)
    with pytest.raises(ValueError, match="there is no variable 'x'"):
        joint().probability("x = 1")


def test_the_most_probable_state_is_the_first_of_those_that_tie() -> None:
    assert joint().most_probable == {"sex": "male", "age": "> 50"}
    even = JointPosterior((SEX, SEX), np.full((2, 2), 0.25))
    assert set(even.most_probable.values()) == {"female"}


def test_tables_hold_a_row_a_joint_state() -> None:
    cells = joint().to_dict()
    assert cells["male", "> 50"] == 0.35
    assert len(cells) == len(joint()) == 6
    table = joint().to_arrow()
    assert table.column_names == ["sex", "age", "probability"]
    assert table.column("probability").to_pylist() == NUMBERS.ravel().tolist()


def test_pandas_gets_the_same_rows() -> None:
    pytest.importorskip("pandas")
    frame: Any = joint().to_pandas()
    assert frame.query("sex == 'male' and age == '> 50'").probability.item() == 0.35


def test_it_shows_itself_as_an_aligned_table() -> None:
    lines = str(joint()).splitlines()
    assert lines[0] == "sex     age       probability"
    assert lines[-1] == "male    > 50         0.350000"
    many = Variable("many", tuple(range(20)))
    wide = JointPosterior((SEX, many), np.full((2, 20), 1 / 40))
    assert repr(wide).splitlines()[-1] == "and 28 joint states more"
    assert "male, &gt; 50" in joint()._repr_html_()


def test_numbers_cannot_be_written_over() -> None:
    with pytest.raises(ValueError, match="read-only"):
        joint().probabilities[0, 0] = 1.0
