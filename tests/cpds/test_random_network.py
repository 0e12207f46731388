"""Nested families: left-out rows as refitted, scores as counts, few rows fall back."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.counts.occupied import count_occupied
from bayleaf.cpds import Backoff, Dirichlet, Lidstone, MEstimate
from bayleaf.cpds.random_network import (
    FamilyBank,
    OwnShares,
    PseudoCounts,
    RandomNetwork,
)
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


def _network(
    codes: Codes, variables: tuple[int, ...], min_rows: float = 1.0
) -> RandomNetwork:
    maps = tuple(np.arange(card + 1, dtype=np.uint16) for card in codes.cards[:-1])
    return RandomNetwork(maps, count_occupied(codes, [variables], maps, min_rows))


def _log_probabilities(
    networks: list[RandomNetwork],
    codes: Codes,
    rule: Any,
    depths: int,
    *left_out: Any,
    n_classes: int = N_CLASSES,
    min_rows: float = 1.0,
) -> Any:
    logs = np.empty((codes.n_rows, n_classes, depths))
    bank = FamilyBank.from_networks(networks, n_classes, rule, min_rows)
    bank.write_log_probabilities(range(1), codes, logs, 0, depths, *left_out)
    return np.moveaxis(logs, 2, 0)


def _scores(
    networks: list[RandomNetwork], rule: Any, scales: list[float], rows: Codes
) -> NDArray[np.float64]:
    """What families add to the scores of rows."""
    bank = FamilyBank.from_networks(networks, N_CLASSES, rule)
    scores = np.zeros((rows.n_rows, N_CLASSES))
    bank.add_scores(rows, np.array([[scales]]), scores)
    return scores


def _shares(rule: Any, codes: Codes, weights: Any) -> tuple[float, Any]:
    marginal = np.bincount(codes.column(0), weights, minlength=CARDS[0])
    prior = PseudoCounts.from_rule(rule, marginal)
    return prior.strength, prior.states[:-1] / prior.strength


@pytest.mark.parametrize("min_rows", [1, 2, 5, 12])
def test_left_out_log_probabilities_equals_counting_without_the_row(
    min_rows: float,
) -> None:
    def check(case: tuple[Any, bool]) -> None:
        rule, whole = case
        codes = _training(whole=whole)
        network = _network(codes, (0, 2, 1, 3), min_rows)
        (families,) = network.families
        own = codes.column(4).astype(np.int64)
        shares = np.minimum(codes.weights, 1.0)
        left_out = OwnShares(own, shares)
        found = _log_probabilities(
            [network], codes, rule, 4, left_out, min_rows=min_rows
        )
        states = np.stack([codes.column(v) for v in families.variables])
        for row in range(codes.n_rows):
            weights = codes.weights.copy()
            weights[row] -= shares[row]
            strength, prior = _shares(rule, codes, weights)
            own_states = states[:, row].tolist()
            expected = log_evidence(
                states, own, weights, own_states, 3, 3, strength, prior, min_rows
            )
            np.testing.assert_allclose(found[:, row], expected, atol=1e-12)

    check_each(itertools.product(RULES, [True, False]), check)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 40])
@pytest.mark.parametrize("min_rows", [1, 3])
def test_rows_are_scored_as_counting_tells(n_classes: int, min_rows: float) -> None:
    rng = np.random.default_rng(n_classes)
    # Parents of few states have a link for each, those of many are searched.
    cards = (4, 3, 100, 5, n_classes)
    columns = [rng.integers(card, size=200) for card in cards]
    columns[4][:n_classes] = np.arange(n_classes)
    codes = Codes.from_columns(columns, cards)
    network = _network(codes, (0, 1, 2, 3), min_rows)
    bank = FamilyBank.from_networks([network], n_classes, Dirichlet(1.0))
    wanted = [rng.integers(card + 1, size=50) for card in cards[:-1]]
    rows = Codes.from_columns(wanted, cards[:-1])
    scales, scores = np.array([0.5, 0.0, 1.5, 0.25]), np.zeros((50, n_classes))
    bank.add_scores(rows, scales[None, None], scores)
    states, own = np.stack(columns[:4]), columns[4]
    for row in range(50):
        values = [int(column[row]) for column in wanted]
        if values[0] == cards[0]:
            assert not scores[row].any()
            continue
        shares = np.full(4, 0.25)
        args = own, np.ones(200), values, 4, n_classes, 1.0, shares, min_rows
        expected = scales @ (log_evidence(states, *args) - np.log(0.25))
        np.testing.assert_allclose(scores[row], expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5, 40])
@pytest.mark.parametrize("rule", [Dirichlet(1.0), MEstimate(2.0)], ids=repr)
def test_single_rows_have_the_bits_of_a_table(n_classes: int, rule: Any) -> None:
    rng = np.random.default_rng(n_classes)
    cards = (4, 3, 100, 5, n_classes)
    codes = Codes.from_columns([rng.integers(c, size=300) for c in cards], cards)
    maps = tuple(np.arange(card + 1, dtype=np.uint16) for card in cards[:-1])
    families = [
        [(0, 1, 2, 3), (1,), (2, 3), (3, 2, 0)],
        [(0,), (1, 2), (2, 1, 3, 0), (3, 0)],
    ]
    networks = [
        RandomNetwork(maps, count_occupied(codes, own, maps, 2)) for own in families
    ]
    bank = FamilyBank.from_networks(networks, n_classes, rule)
    columns = [rng.integers(card + 1, size=60) for card in cards[:-1]]
    rows = Codes.from_columns(columns, cards[:-1])
    # A feature without weight, and depths past the last parent.
    scales, sets = rng.random((2, 4, 5)), rng.integers(2, size=60)
    scales[:, 1] = scales[:, 2, 3:] = 0.0

    def of(part: Codes, sets: Any) -> list[NDArray[np.float64]]:
        scores = np.full((part.n_rows, n_classes), 0.1)
        bank.add_scores(part, scales, scores, sets)
        logs = np.empty((part.n_rows, n_classes, 21))
        bank.write_log_probabilities(range(4), part, logs, 1, 5)
        return [scores, logs[:, :, 1:]]

    whole = of(rows, sets)
    for size in (1, 7):
        for first in range(0, 60, size):
            some = slice(first, first + size)
            for part, expected in zip(of(rows.rows(some), sets[some]), whole):
                assert np.array_equal(part, expected[some])


def test_depths_that_a_feature_does_not_use_repeat_the_last_one() -> None:
    codes, rows = _training(), _training(seed=1)
    maps = _network(codes, (0,)).maps
    families = [(0, 2, 1, 3), (1, 0), (2, 3, 0)]
    network = RandomNetwork(maps, count_occupied(codes, families, maps))
    bank = FamilyBank.from_networks([network], N_CLASSES, Dirichlet())
    used = np.array([3, 1, 2])

    def of(part: Codes, used: Any) -> NDArray[np.float64]:
        logs = np.empty((part.n_rows, N_CLASSES, 12))
        bank.write_log_probabilities(range(3), part, logs, 0, 4, used=used)
        return logs.reshape(part.n_rows, N_CLASSES, 3, 4)

    # Many rows go down one tree, single rows down all.
    for part in (rows, rows.rows(slice(0, 1))):
        depths = np.minimum(np.arange(4), used[:, None] - 1)
        expected = np.take_along_axis(of(part, None), depths[None, None], axis=3)
        assert np.array_equal(of(part, used), expected)


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


def test_an_unknown_state_of_the_child_says_nothing() -> None:
    network = _network(_training(), (0, 2, 1))
    columns = [np.array([state]) for state in (CARDS[0], 0, 1, 0)]
    row = Codes.from_columns(columns, CARDS)
    assert not _scores([network], Dirichlet(1.0), [1.0, 1.0, 1.0], row).any()


def test_parents_never_seen_together_repeat_what_one_fewer_says() -> None:
    columns = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 0]]
    codes = Codes.from_columns([np.array(c) for c in columns], (2, 2, 2, 2))
    network = _network(codes, (0, 1, 2))
    row = Codes.from_columns([np.array([c]) for c in (0, 0, 1)], (2, 2, 2))
    found = _log_probabilities([network], row, Dirichlet(1.0), 3, n_classes=2)
    np.testing.assert_array_equal(found[2], found[1])
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
    maps = tuple(np.arange(card + 1, dtype=np.uint16) for card in CARDS)
    families = [(0, 2, 1, 3), (1,), (2, 3), (3, 1, 0)]
    for min_rows in (1.0, 4.0, 15.0):
        counts = count_occupied(codes, families, maps, min_rows)
        numbers = RandomNetwork(maps, counts).n_configurations
        for feature, (family, by_depth) in enumerate(zip(families, numbers)):
            cells = counts[feature].states.T.tolist()
            for depth, number in enumerate(by_depth.tolist()):
                parents = {tuple(cell[1 : depth + 1]) for cell in cells}
                reserved = [CARDS[parent] for parent in family[1 : depth + 1]]
                exist = [
                    states
                    for states in parents
                    if all(a != b for a, b in zip(states, reserved))
                ]
                assert number == len(exist)


def test_a_rule_that_backs_off_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Lidstone, Dirichlet and MEstimate"):
        PseudoCounts.from_rule(Backoff(1.0), np.ones(2))
