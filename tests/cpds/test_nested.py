"""Nested families: left-out rows as refitted, tables as rows, unseen is mute."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.counts.occupied import count_occupied
from bayleaf.cpds import Backoff, Dirichlet, Lidstone, MEstimate
from bayleaf.cpds.nested import PseudoCounts
from bayleaf.cpds.random_network import FamilyBank, OwnShares, RandomNetwork
from bayleaf.data.codes import Codes
from offenders import check_each
from oracles.nested import log_evidence

CARDS, N_CLASSES = (3, 2, 4, 2), 3
RULES = [Dirichlet(1.0), Dirichlet(0.3), Lidstone(0.5), MEstimate(2.0)]


def _training(seed: int = 0, n_rows: int = 60, *, whole: bool = True) -> Codes:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(card, size=n_rows) for card in (*CARDS, N_CLASSES)]
    for card, column in zip((*CARDS, N_CLASSES), columns, strict=True):
        column[:card] = np.arange(card)
    weights = rng.integers(1, 4, n_rows) * 1.0 if whole else rng.random(n_rows) + 0.1
    return Codes.from_columns(columns, (*CARDS, N_CLASSES), weights)


def _network(codes: Codes, variables: tuple[int, ...]) -> RandomNetwork:
    maps = tuple(np.arange(card + 1, dtype=np.uint16) for card in codes.cards[:-1])
    return RandomNetwork(maps, count_occupied(codes, [variables], maps))


def _log_probabilities(
    networks: list[RandomNetwork],
    codes: Codes,
    rule: Any,
    depths: int,
    *left_out: Any,
    n_classes: int = N_CLASSES,
) -> Any:
    logs = np.empty((codes.n_rows, n_classes, depths))
    bank = FamilyBank.from_networks(networks, n_classes)
    bank.write_log_probabilities(0, codes, rule, logs, 0, depths, *left_out)
    return np.moveaxis(logs, 2, 0)


def _scores(
    networks: list[RandomNetwork], rule: Any, scales: list[float], rows: Codes
) -> NDArray[np.float64]:
    """What the look-up tables of families give the rows."""
    bank = FamilyBank.from_networks(networks, N_CLASSES)
    scores = np.zeros((rows.n_rows, N_CLASSES))
    tables = bank.tables(rule, np.array([scales]))
    tables.add(rows.narrow, rows.wide, np.array(rows.slots), scores)
    return scores


def _shares(rule: Any, codes: Codes, weights: Any) -> tuple[float, Any]:
    marginal = np.bincount(codes.column(0), weights, minlength=CARDS[0])
    prior = PseudoCounts.from_rule(rule, marginal)
    return prior.strength, prior.states[:-1] / prior.strength


def test_left_out_log_probabilities_equals_counting_without_the_row() -> None:
    def check(case: tuple[Any, bool]) -> None:
        rule, whole = case
        codes = _training(whole=whole)
        network = _network(codes, (0, 2, 1, 3))
        (families,) = network.families
        own = codes.column(4).astype(np.int64)
        shares = np.minimum(codes.weights, 1.0)
        found = _log_probabilities([network], codes, rule, 4, OwnShares(own, shares))
        states = np.stack([codes.column(v) for v in families.variables])
        for row in range(codes.n_rows):
            weights = codes.weights.copy()
            weights[row] -= shares[row]
            strength, prior = _shares(rule, codes, weights)
            expected = log_evidence(
                states, own, weights, states[:, row].tolist(), 3, 3, strength, prior
            )
            np.testing.assert_allclose(found[:, row], expected, atol=1e-12)

    check_each(itertools.product(RULES, [True, False]), check)


def test_tables_hold_the_weighted_logarithms_relative_to_the_prior_share() -> None:
    def check(rule: Any) -> None:
        codes, rows = _training(), _training(seed=1)
        network = _network(codes, (0, 2, 1, 3))
        scales = [0.3, 0.0, 0.8, 0.5]
        scores = _scores([network], rule, scales, rows)
        logs = _log_probabilities([network], rows, rule, 4)
        _, shares = _shares(rule, codes, codes.weights)
        relative = logs - np.log(shares[rows.column(0)])[None, :, None]
        expected = np.einsum("j,jrc->rc", scales, relative)
        np.testing.assert_allclose(scores, expected, atol=1e-12)

    check_each(RULES, check, repr)


def test_hashed_levels_equal_a_dense_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(case: tuple[int, int]) -> None:
        limit, n_rows = case
        codes, rows = _training(n_rows=n_rows), _training(seed=1, n_rows=3000)
        rows.narrow[:, :9] = np.arange(9) % (1 + np.array([*CARDS, 1])[:, None])
        networks = [_network(codes, (0, 2, 1, 3)), _network(codes, (0, 3, 1, 2))]
        scales = [0.2, 0.5, 0.7, 0.9]
        dense = _scores(networks, Dirichlet(1.0), scales, rows)
        with monkeypatch.context() as patch:
            patch.setattr("bayleaf.cpds.random_network._DENSE_VALUES", limit)
            hashed = _scores(networks, Dirichlet(1.0), scales, rows)
        # Two sums of sums differ from one sum in their last bits.
        assert (hashed != dense).any()
        np.testing.assert_allclose(hashed, dense, atol=1e-12)

    check_each(itertools.product([1, 60], [40, 2000]), check)


def test_an_unknown_state_of_the_child_says_nothing() -> None:
    network = _network(_training(), (0, 2, 1))
    columns = [np.array([state]) for state in (CARDS[0], 0, 1, 0)]
    row = Codes.from_columns(columns, CARDS)
    assert not _scores([network], Dirichlet(1.0), [1.0, 1.0, 1.0], row).any()


def test_parents_never_seen_together_say_nothing() -> None:
    columns = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 0]]
    codes = Codes.from_columns([np.array(c) for c in columns], (2, 2, 2, 2))
    network = _network(codes, (0, 1, 2))
    row = Codes.from_columns([np.array([c]) for c in (0, 0, 1)], (2, 2, 2))
    found = _log_probabilities([network], row, Dirichlet(1.0), 3, n_classes=2)
    assert found[2, 0].tolist() == [np.log(0.5)] * 2
    assert found[1, 0, 0] != found[1, 0, 1]


def test_depths_beyond_the_last_parent_repeat_the_deepest() -> None:
    codes = _training()
    network = _network(codes, (0, 2))
    found = _log_probabilities([network], codes, Dirichlet(1.0), 4)
    np.testing.assert_array_equal(found[2], found[1])
    np.testing.assert_array_equal(found[3], found[1])
    one = _scores([network], Dirichlet(1.0), [0.5, 0.1, 0.2, 0.3], codes)
    other = _scores([network], Dirichlet(1.0), [0.5, 0.6], codes)
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_many_small_probabilities_do_not_underflow() -> None:
    columns = [np.array([0] * 999 + [1]), np.array([0] * 999 + [1])]
    codes = Codes.from_columns(columns, (2, 2))
    network = _network(codes, (0,))
    row = Codes.from_columns([np.array([1])], (2,))
    found = _log_probabilities([network] * 200, row, Dirichlet(1.0), 1, n_classes=2)
    np.testing.assert_allclose(found[0, 0, 0], np.log(0.5 / 1000), rtol=1e-12)


def test_configurations_are_counted_once() -> None:
    codes = _training()
    (families,) = _network(codes, (0, 2, 1)).families
    pairs = set(zip(codes.column(2).tolist(), codes.column(1).tolist(), strict=True))
    found = [families.n_configurations(depth) for depth in (0, 1, 2, 3)]
    assert found == [1, 4, len(pairs), len(pairs)]


def test_a_rule_that_backs_off_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Lidstone, Dirichlet and MEstimate"):
        PseudoCounts.from_rule(Backoff(1.0), np.ones(2))
