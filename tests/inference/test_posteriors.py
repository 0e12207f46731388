"""Posteriors answer by state and print themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayleaf.data.domain import Variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.inference.posteriors import Posterior, Posteriors


def rain() -> Posterior:
    """A distribution over three states in two groups."""
    tree = ValueHierarchy.from_nested(
        {"any": {"dry": ["none"], "wet": ["some", "much"]}}
    )
    variable = Variable("rain", ("none", "some", "much"), hierarchy=tree)
    return Posterior(variable, np.array([0.5, 0.3, 0.2]))


def test_a_state_gives_its_probability() -> None:
    assert rain()["some"] == 0.3


def test_a_node_of_the_hierarchy_gives_the_sum_of_its_states() -> None:
    assert rain()["wet"] == pytest.approx(0.5, abs=1e-15)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(ValueError, match="'rain' has no state 'little'; its states"):
        rain()["little"]


def test_the_first_of_equally_probable_states_is_the_most_probable() -> None:
    assert Posterior(Variable("a", (1, 2)), np.array([0.5, 0.5])).most_probable == 1


def test_numpy_takes_a_posterior_as_its_probabilities() -> None:
    np.testing.assert_array_equal(np.asarray(rain()), [0.5, 0.3, 0.2])


def test_probabilities_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        rain().probabilities[0] = 1.0


def test_entropy_is_that_of_the_definition() -> None:
    # Minus zero would be printed with its sign.
    certain = Posterior(Variable("a", (1, 2)), np.array([0.0, 1.0]))
    assert repr(certain.entropy) == "0.0"
    assert Posterior(
        Variable("a", (1, 2)), np.array([0.5, 0.5])
    ).entropy == pytest.approx(np.log(2), abs=1e-15)


def test_the_printed_form_aligns_states_and_bars() -> None:
    found = Posteriors({"rain": rain()}, -0.5)
    assert str(found) == (
        "rain\n"
        "  none  0.500000  ###############\n"
        "  some  0.300000  #########\n"
        "  much  0.200000  ######\n"
        "ln P(evidence) = -0.5"
    )


def test_plain_dicts_can_be_written_as_json() -> None:
    variable = Variable("x", (1, "1", None))
    mixed = Posterior(variable, np.array([0.25, 0.25, 0.5]))
    found = Posteriors({"rain": rain(), "x": mixed}, -0.5)
    assert json.loads(json.dumps(found.to_dict())) == {
        "rain": {"none": 0.5, "some": 0.3, "much": 0.2},
        "x": {"1": 0.25, "'1'": 0.25, "None": 0.5},
    }


def test_a_target_that_was_not_asked_for_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no posterior of 'rian'.* did you mean rain"):
        Posteriors({"rain": rain()}, 0.0)["rian"]


def test_names_written_alike_do_not_hide_each_other() -> None:
    one, text = Variable(1, ("a",)), Variable("1", ("b",))
    both = {v.name: Posterior(v, np.array([1.0])) for v in (one, text)}
    assert Posteriors(both, 0.0).to_dict() == {"1": {"a": 1.0}, "'1'": {"b": 1.0}}
