"""Every kind of model is the scoring program that its terms are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.scoring.program_scores import contributions, scores
from bayleaf.scoring.terms import Counts, ScoringProgram, distinct_rows, program_of
from contract.kinds import COSTLY, KINDS
from oracles.three_tables import holed, tables

N_ROWS, N_SCORED = 200, 20
# Of many networks, all of which the reference goes through row by row.
N_FEATURES = {"a2de": 5, "auto": 5, "four_networks": 5}
SLOW, LONG = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.long]


def _marks(name: str, table: str) -> list[pytest.MarkDecorator]:
    """Mark wide tables, and methods of many networks, of which variants are quick."""
    if table == "heart":
        return SLOW if name in COSTLY else []
    return LONG if table == "mushroom" or name in COSTLY else SLOW


CASES = [
    pytest.param(name, table, marks=_marks(name, table))
    for table in ("heart", "mushroom", "adult")
    for name in KINDS
]


def _check(name: str, table: str, **settings: Any) -> None:
    """Compare scores and terms of whole rows, and of rows with holes and new values."""
    kind, (X, y) = KINDS[name], tables(table)
    X = X.iloc[:, : N_FEATURES.get(name)]
    model = kind(random_state=0, **settings).fit(X[:N_ROWS], y[:N_ROWS])
    program = program_of(model.model_)
    for rows in (X[N_ROWS : N_ROWS + N_SCORED], holed(X, N_SCORED)):
        codes = model._encode(rows).codes
        found = scores(program, codes)
        expected = model.model_.class_log_scores(codes)
        np.testing.assert_allclose(
            found - found[:, :1], expected - expected[:, :1], rtol=0, atol=1e-12
        )
        rng = np.random.default_rng(0)
        n_classes = found.shape[1]
        target = rng.integers(n_classes, size=codes.n_rows)
        against = (target + rng.integers(1, n_classes, size=codes.n_rows)) % n_classes
        prior, terms = contributions(program, codes, target, against)
        every = np.arange(codes.n_rows)
        odds = found[every, target] - found[every, against]
        np.testing.assert_allclose(prior + terms.sum(axis=1), odds, rtol=0, atol=1e-12)
        holes = np.stack([codes.missing(f) for f in range(codes.n_variables)]).T
        assert not terms[holes].any()
        own_prior, own_terms = model.model_.contributions(codes, target, against)
        np.testing.assert_allclose(terms, own_terms, rtol=0, atol=1e-12)
        np.testing.assert_allclose(prior, own_prior, rtol=0, atol=1e-12)


@pytest.mark.few(
    "network-heart",
    "a2de-adult",
    "hnb-adult",
    "gaussian_kdb-adult",
    "latent_class-adult",
)
@pytest.mark.parametrize(("name", "table"), CASES)
def test_a_model_is_the_sum_of_its_terms(name: str, table: str) -> None:
    _check(name, table)


@pytest.mark.few("network")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=_marks(name, "heart"))
        for name, kind in KINDS.items()
        if "fit_prior" in kind().get_params()
    ],
)
def test_a_uniform_prior_is_part_of_the_program(name: str) -> None:
    _check(name, "heart", fit_prior=False)


def test_counts_say_the_log_of_smoothed_shares() -> None:
    # Two states and a missing cell; one parent of two states; classes 0 and 1.
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 0]])
    counts = Counts(
        features=(0, 1),
        maps=(np.arange(3), np.arange(3)),
        states=states,
        classes=np.array([0, 0, 0, 1, 1]),
        totals=np.array([3.0, 1.0, 2.0, 5.0, 4.0]),
        weights=np.array([0.0, 2.0]),
        pseudo=(1.0, 0.0, 0.0),
        n_classes=2,
    )
    program = ScoringProgram((2, 2), np.zeros(2), (counts,))
    codes = Codes.from_columns([np.array([0, 1, 2]), np.array([0, 1, 0])], (2, 2))
    found = scores(program, codes)
    # P(0 | class, parent 0) = (3 + 1) / (5 + 2) and (4 + 1) / (4 + 2), twice the log;
    # P(1 | class, parent 1) = (0 + 1) / (1 + 2) and (5 + 1) / (5 + 2).
    odds = 2 * np.log([(4 / 7) / (5 / 6), (1 / 3) / (6 / 7), 1.0])
    np.testing.assert_allclose(found[:, 0] - found[:, 1], odds, atol=1e-15)


@pytest.mark.parametrize("shape", [(0, 2), (1, 3), (500, 1), (500, 3)])
def test_distinct_rows_are_those_of_numpy(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    rows = rng.choice([-np.inf, -1.5, 0.0, 0.1 + 0.2, 0.3], shape)
    wanted, places = np.unique(rows, axis=0, return_inverse=True)
    distinct, indices = distinct_rows(rows)
    assert np.array_equal(distinct, wanted)
    assert np.array_equal(indices, places.ravel())
