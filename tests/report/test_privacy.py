"""What may be shown where counts are withheld."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.data.domain import Domain, Variable, masked_domain, numeric_variable
from bayleaf.evaluation.privacy import Privacy


def of_random_table(seed: int, min_count: int) -> Privacy:
    """What may be shown of a table of random codes."""
    columns = np.random.default_rng(seed).integers(0, 5, (3, 40))
    return Privacy(min_count=min_count).of_table(list(columns))


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=8),
    st.integers(2, 9),
    st.integers(0, 99),
)
def test_small_counts_have_no_names_and_no_small_number(counts, min_count, seed):
    privacy = of_random_table(seed, min_count)
    published = privacy.published(counts, "column 0")
    few = np.array(counts) < min_count
    assert privacy.unnamed(counts, published)[few].all()
    assert ((published == 0) | (published >= min_count)).all()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 99))
def test_nothing_is_rounded_by_default(counts, seed: int) -> None:
    privacy = of_random_table(seed, 1)
    assert privacy.published(counts, "column 0").tolist() == counts
    assert not privacy.unnamed(counts, np.array(counts)).any()


def test_rare_states_lose_their_names() -> None:
    domain = Domain(
        (Variable("town", ("A", "B", "rare value 1")), numeric_variable("age", [40.0]))
    )
    rare = [np.array([False, True, False, True]), np.array([False, True, True])]
    shown = masked_domain(domain, rare)
    assert shown[0].states == ("A", "rare value 1'", "rare value 1")
    assert shown[1].states == ("<= 40", "rare value 1")
    assert masked_domain(domain, [~r & False for r in rare]) == domain


def test_rows_are_shown_only_where_nothing_is_withheld() -> None:
    assert Privacy().shows_rows
    assert not Privacy(rows=False).shows_rows
    assert not Privacy(min_count=5).shows_rows


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="min_count must be at least 1"):
        Privacy(min_count=0)
