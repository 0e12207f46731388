"""The one signature of all classifiers, and where their randomness comes from."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from bayleaf.classifiers import CLASSIFIERS, BayesianClassifier
from bayleaf.classifiers.shared.parameters import random_generator


@pytest.mark.parametrize("kind", list(CLASSIFIERS.values()))
def test_every_classifier_shows_the_shared_parameters(kind: Any) -> None:
    shared = inspect.signature(BayesianClassifier).parameters
    own = inspect.signature(kind).parameters
    # A classifier may name a shared parameter itself, to give it a default of its own.
    restated = kind.__init__.__code__.co_varnames
    assert set(shared) <= set(own) | set(kind.lacks)
    for name in set(shared) - set(restated) - set(kind.lacks):
        assert own[name].default == shared[name].default
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in own.values())


def test_a_seed_gives_the_same_draws() -> None:
    assert random_generator(7).random() == random_generator(7).random()
    assert random_generator(np.int64(7)).random() == random_generator(7).random()


def test_a_generator_is_used_itself() -> None:
    generator = np.random.default_rng(0)
    assert random_generator(generator) is generator


def test_a_random_state_of_numpy_is_drawn_from() -> None:
    one, other = np.random.RandomState(3), np.random.RandomState(3)
    assert random_generator(one).random() == random_generator(other).random()
    assert (
        random_generator(one).random()
        != random_generator(np.random.RandomState(3)).random()
    )


def test_no_random_state_draws_anew() -> None:
    assert random_generator(None).random() != random_generator(None).random()


def test_a_wrong_random_state_is_refused() -> None:
    with pytest.raises(ValueError, match="seed"):
        random_generator("seven")
