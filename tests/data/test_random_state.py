from typing import Any

import numpy as np
import pytest

from bayleaf.data.random_state import random_generator
from offenders import check_each


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
    def check(random_state: Any) -> None:
        with pytest.raises(
            ValueError, match="random_state must be None, an integer"
        ) as e:
            random_generator(random_state)
        assert repr(random_state) in str(e.value)

    check_each([-1, 1.5, "seven"], check)
