from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pytest

from bayleaf.datasets import make_corral, make_led7, make_monks
from offenders import check_each

Loader = Callable[[str], pa.Table]


def rows(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_equals_the_published_test_table(
    problem: int, load_table: Loader
) -> None:
    published = load_table(f"monks-{problem}.test")
    assert rows(make_monks(problem).frame) == rows(published)


def test_corral_equals_the_published_table(load_table: Loader) -> None:
    assert rows(make_corral().frame) == rows(load_table("corral"))


def test_a_sample_of_the_third_monks_problem_has_five_percent_noise() -> None:
    truth = {
        tuple(r.values())[:-1]: r["class"] for r in make_monks(3).frame.to_pylist()
    }
    sample = make_monks(3, 200, random_state=0).frame.to_pylist()
    wrong = sum(truth[tuple(r.values())[:-1]] != r["class"] for r in sample)
    assert wrong == 10


def test_led7_without_noise_shows_ten_patterns() -> None:
    assert len(rows(make_led7(500, noise=0.0, random_state=0).frame)) == 10


def test_led7_turns_segments_at_the_given_rate() -> None:
    noisy = make_led7(20_000, noise=0.1, random_state=1).frame
    clean = make_led7(20_000, noise=0.0, random_state=1).frame
    turned = sum(
        (noisy.column(j).to_numpy() != clean.column(j).to_numpy()).sum()
        for j in range(7)
    )
    assert turned / 140_000 == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize(
    "make", [make_led7, make_corral, lambda **k: make_monks(1, 50, **k)]
)
def test_the_same_seed_gives_the_same_rows(make: Callable[..., object]) -> None:
    first, second = make(random_state=3), make(random_state=3)
    assert first.frame.equals(second.frame)  # type: ignore[attr-defined]


BAD = [
    (lambda: make_monks(4), "problem must be 1, 2 or 3, got 4"),
    (lambda: make_monks(1, 433), "at most 432, got 433"),
    (lambda: make_corral(0), "n_samples must be an integer of at least 1"),
    (lambda: make_led7(noise=1.5), "noise must be between 0 and 1, got 1.5"),
    (lambda: make_led7(noise="a"), "noise must be between 0 and 1, got 'a'"),  # type: ignore[arg-type]
    (lambda: make_led7(noise=math.nan), "noise must be between 0 and 1, got nan"),
    (lambda: make_monks(1.0), "problem must be 1, 2 or 3, got 1.0"),  # type: ignore[arg-type]
    (lambda: make_monks(True), "problem must be 1, 2 or 3, got True"),
    (lambda: make_monks(1, random_state="x"), "random_state must be None"),
    (lambda: make_corral(random_state=-1), "integer of at least 0.*got -1"),
    (lambda: make_led7(5, random_state=1.5), "random_state .* got 1.5"),
]


def test_bad_parameters_are_named() -> None:
    def check(case: tuple[Callable[[], object], str]) -> None:
        action, sentence = case
        with pytest.raises(ValueError, match=sentence):
            action()

    check_each(BAD, check, lambda case: case[1])
