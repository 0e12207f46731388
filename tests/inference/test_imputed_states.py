"""States of missing cells equal those of the whole joint distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import joint_table, marginal
from property.for_all import for_all
from property.networks import seeded_generators
from property.queried_networks import STATES, sparse_networks

Row = list[str | None]


def masked_rows(network: BayesianNetwork, rng: np.random.Generator) -> list[Row]:
    """Rows that are possible, about half of their cells missing, one row whole."""
    drawn = network.sample_codes(6, random_state=rng)
    rows: list[Row] = []
    for i in range(6):
        codes = [int(drawn.column(v)[i]) for v in range(len(network.domain))]
        hidden = rng.random(len(codes)) < (0.0 if i == 0 else 0.5)
        rows.append([None if h else STATES[c] for c, h in zip(codes, hidden)])
    rows.append([None] * len(network.domain))
    return rows


def given_row(network: BayesianNetwork, row: Row) -> np.ndarray:
    """P(all variables, the row's cells), one axis a variable."""
    known = {
        v: np.eye(network.domain.cards[v])[STATES.index(cell)]
        for v, cell in enumerate(row)
        if cell is not None
    }
    return joint_table(network, known)


def keeps(row: Row, filled: Row) -> bool:
    """Whether a row has all its cells still, and more."""
    return all(
        cell in (None, other) and other for cell, other in zip(row, filled, strict=True)
    )


@for_all(sparse_networks(), seeded_generators(), few=15, many=40)
def test_the_most_probable_completion_is_that_of_the_joint(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    rows = masked_rows(network, rng)
    for row, filled in zip(rows, network.impute(rows), strict=True):
        joint = given_row(network, row)
        found = joint[tuple(STATES.index(cell) for cell in filled)]
        assert keeps(row, filled)
        assert found == pytest.approx(joint.max(), rel=1e-10)


@for_all(sparse_networks(), seeded_generators(), few=15, many=40)
def test_cells_one_by_one_get_their_own_most_probable_state(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    rows = masked_rows(network, rng)
    for row, filled in zip(rows, network.impute(rows, "marginal"), strict=True):
        joint = given_row(network, row)
        assert keeps(row, filled)
        for v, cell in enumerate(filled):
            own = marginal(joint, v)
            assert own[STATES.index(cell)] == pytest.approx(own.max(), rel=1e-10)


@given(sparse_networks(max_variables=5), seeded_generators())
@settings(max_examples=12, deadline=None)
def test_draws_follow_the_joint_posterior(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    row = masked_rows(network, rng)[int(rng.integers(1, 7))]
    n = 2000
    filled = network.impute([row] * n, "sample", random_state=7)
    joint = given_row(network, row)
    counts = np.zeros(joint.shape)
    for cells in filled:
        counts[tuple(STATES.index(cell) for cell in cells)] += 1
    expected = n * joint / joint.sum()
    assert not counts[expected == 0].any()
    # States that are expected in few rows are tested together.
    common = expected >= 5
    table = [*zip(counts[common], expected[common])]
    table.append((counts[~common].sum(), expected[~common].sum()))
    seen, due = np.array([pair for pair in table if pair[1] > 0]).T
    if len(due) > 1:
        # Hypothesis tries many networks, so only what is all but impossible fails.
        assert stats.chisquare(seen, due, sum_check=False).pvalue > 1e-8


@given(sparse_networks(), seeded_generators(), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_threads_and_parts_of_a_table_change_no_draw(
    network: BayesianNetwork, rng: np.random.Generator, n_tables: int
) -> None:
    rows = [row for _ in range(30) for row in masked_rows(network, rng)]
    drawn = network.impute(
        rows, "sample", n_imputations=n_tables, random_state=3, n_jobs=2
    )
    generator = np.random.default_rng(3)
    parts = [
        network.impute(
            rows[i : i + 70], "sample", n_imputations=n_tables, random_state=generator
        )
        for i in range(0, len(rows), 70)
    ]
    for number, table in enumerate(drawn):
        assert table == [row for part in parts for row in part[number]]


def test_blocks_of_rows_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    network = chain()
    rows = [["a", None, None], [None, None, "b"]] * 20
    whole = network.impute(rows, "sample", random_state=1)
    monkeypatch.setattr("bayleaf.inference.imputation._BLOCK_UNIFORMS", 20)
    assert network.impute(rows, "sample", random_state=1) == whole


def test_a_tree_within_a_small_limit_gives_the_same_states() -> None:
    network = chain()
    rows = [["a", None, None], [None, None, "b"], [None, "a", None]]
    assert Inference(network, max_table_cells=4).impute(rows) == network.impute(rows)


def test_equal_completions_go_to_the_lowest_state() -> None:
    network = BayesianNetwork.from_tables(
        states={"x": ["a", "b"], "y": ["a", "b"]},
        tables={"x": [0.5, 0.5], "y": [0.5, 0.5]},
    )
    for how in ("most_probable", "marginal"):
        assert network.impute([[None, None]], how) == [["a", "a"]]


def test_a_variable_below_all_columns_does_not_sway_the_others() -> None:
    # The most probable joint state has x = b, as y is sure then.
    network = BayesianNetwork.from_tables(
        states={"x": ["a", "b"], "y": ["1", "2", "3"]},
        parents={"y": ["x"]},
        tables={"x": [0.6, 0.4], "y": [[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]]},
    )
    assert network.impute({"x": [None]}) == {"x": ["a"]}
    assert network.impute({"x": [None]}, add_columns=True) == {"x": ["b"], "y": ["1"]}


def test_an_impossible_row_is_named() -> None:
    rows = [["a", None, None], ["a", "b", None]]
    with pytest.raises(
        ImpossibleEvidenceError, match=r"^row 1: .*impossible='missing'"
    ):
        chain(sure=True).impute(rows)


def test_an_impossible_row_is_left_as_it_is_on_request() -> None:
    rows = [["a", None, None], ["a", "b", None], ["b", None, "b"]]
    for how in ("most_probable", "marginal", "sample"):
        filled = chain(sure=True).impute(rows, how, impossible="missing")
        assert filled[1] == ["a", "b", None]
        assert None not in filled[0] + filled[2]


def test_an_impossible_row_without_missing_cells_is_nobodys_matter() -> None:
    rows = [["a", "b", "a"], ["b", None, "b"]]
    assert chain(sure=True).impute(rows)[0] == rows[0]


def chain(*, sure: bool = False) -> BayesianNetwork:
    """Three variables in a row; x decides y, or nearly so."""
    first = [[1.0, 0.0], [0.2, 0.8]] if sure else [[0.9, 0.1], [0.2, 0.8]]
    return BayesianNetwork.from_tables(
        states={name: ["a", "b"] for name in "xyz"},
        parents={"y": ["x"], "z": ["y"]},
        tables={"x": [0.4, 0.6], "y": first, "z": [[0.7, 0.3], [0.4, 0.6]]},
    )
