"""Wrapper scores: naive Bayes refitted without each fold, from counts alone."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import (
    Dirichlet,
    Lidstone,
    MaximumLikelihood,
    MEstimate,
    Smoothing,
)
from bayleaf.data.codes import Codes
from bayleaf.search.latents.latent_search import backward_selection, forward_selection
from bayleaf.search.latents.wrapper_scores import HeldOut, NodeRows, WrapperScore
from offenders import check_each
from oracles import hnb
from oracles.coded_tables import random_codes

CARDS = (2, 3, 4, 2)
class_codes = partial(random_codes, (*CARDS, 3), weights="whole", leaning=True)
RULES = [Dirichlet(), MaximumLikelihood(0.5), MEstimate(5.0), Lidstone(1.0)]


class OnlyEstimates:
    """A rule of one's own, which knows nothing of single cells."""

    def estimate(self, counts: np.ndarray) -> np.ndarray:
        shares: np.ndarray = (counts + 0.3) / (counts + 0.3).sum(-1, keepdims=True)
        return shares


def _held_out(
    codes: Codes, rule: Smoothing, score: str = "log_loss"
) -> tuple[HeldOut, np.ndarray]:
    folds = (np.arange(codes.n_rows) % 4).astype(np.int32)
    return HeldOut(NodeRows(codes), folds, 4, rule, Lidstone(1.0), score), folds


class _Rule:
    """Smoothing for the tables and Laplace's rule for the prior, as `_held_out`."""

    def __init__(self, rule: Smoothing) -> None:
        self.rule = rule

    def estimate(self, counts: np.ndarray) -> np.ndarray:
        rule = Lidstone(1.0) if counts.ndim == 1 else self.rule
        return rule.estimate(counts)


def _slow(
    codes: Codes,
    columns: list[np.ndarray],
    cards: list[int],
    rule: Smoothing,
    folds: np.ndarray,
) -> tuple[float, float]:
    return hnb.held_out_scores(
        columns, cards, codes.column(4), 3, codes.weights, folds, _Rule(rule)
    )


def test_scores_equal_those_of_naive_bayes_refitted_without_each_fold() -> None:
    def check(case: tuple[Smoothing, int]) -> None:
        rule, seed = case
        codes = class_codes(90, seed, missing=0.15)
        held_out, folds = _held_out(codes, rule)
        for node in range(4):
            held_out.accept(held_out.adding(node))
        found = held_out.score()
        columns = [codes.column(node) for node in range(4)]
        correct, likelihood = _slow(codes, columns, list(CARDS), rule, folds)
        assert found.correct == correct
        assert found.log_likelihood == pytest.approx(likelihood, rel=1e-10)

    check_each(itertools.product([*RULES, OnlyEstimates()], range(2)), check)


def test_a_candidate_scores_as_naive_bayes_over_its_children() -> None:
    def check(case: tuple[Smoothing, int]) -> None:
        rule, n_states = case
        codes = class_codes(90, 5, missing=0.15)
        held_out, folds = _held_out(codes, rule)
        for node in range(4):
            held_out.accept(held_out.adding(node))
        states = np.minimum(np.arange(12), n_states - 1).reshape(3, 4)
        gains = held_out.joining(1, 2, states)
        tree = LatentTree(CARDS).join(1, 2, states)
        columns = tree.node_codes(codes)
        nodes = tree.class_children
        slow = _slow(
            codes,
            [columns[v] for v in nodes],
            [tree.cards[v] for v in nodes],
            rule,
            folds,
        )
        found = held_out.score(gains)
        assert found.correct == slow[0]
        assert found.log_likelihood == pytest.approx(slow[1], rel=1e-10)
        held_out.accept(gains)
        assert held_out.score() == found

    check_each(itertools.product(RULES[:2], [1, 3, 12]), check)


def test_latent_codes_equal_those_of_the_tree() -> None:
    codes = class_codes(90, 1, missing=0.3)
    rows = NodeRows(codes)
    maps = [np.array([[0, 0], [1, 1], [2, 0]]), np.array([[0, 0, 0], [0, 0, 0]])]
    tree = LatentTree(CARDS).join(1, 3, maps[0]).join(0, 4, maps[1])
    assert [rows.add_latent(1, 3, maps[0]), rows.add_latent(0, 4, maps[1])] == [4, 5]
    for node, column in enumerate(tree.node_codes(codes)):
        assert np.array_equal(rows.columns[node], column)


def test_pair_counts_of_a_latent_equal_counting_row_by_row() -> None:
    codes = class_codes(90, 2, missing=0.15)
    rows = NodeRows(codes)
    node = rows.add_latent(0, 2, np.arange(8).reshape(2, 4) % 3)
    parts = (np.arange(90) % 2).astype(np.int32)
    found = rows.pair_counts(node, [1, 3], rows.runs(parts, 2))
    slow = np.zeros((6, 4, 7))
    for row in range(90):
        run, state = parts[row] * 3 + codes.column(4)[row], rows.columns[node, row]
        slow[run, state, codes.column(1)[row]] += codes.weights[row]
        slow[run, state, 4 + codes.column(3)[row]] += codes.weights[row]
    assert np.array_equal(found, slow)


def test_scores_rank_by_what_their_name_says() -> None:
    score = WrapperScore(7.0, -3.0)
    assert score.rank("accuracy") == (7.0,)
    assert score.rank("log_loss") == (-3.0,)
    assert score.rank("accuracy_then_log_loss") == (7.0, -3.0)


def test_zero_probabilities_leave_scores_finite() -> None:
    columns = [np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])]
    codes = Codes.from_columns([*columns, columns[1]], (3, 3, 2))
    folds = np.array([0, 1, 0, 1], dtype=np.int32)
    rule = MEstimate(1.0)
    held_out = HeldOut(NodeRows(codes), folds, 2, rule, rule, "log_loss")
    for node in (0, 1):
        held_out.accept(held_out.adding(node))
    score = held_out.score(held_out.joining(0, 1, np.arange(9).reshape(3, 3)))
    assert np.isfinite(score.log_likelihood)


def test_forward_selection_adds_the_best_child_while_that_helps() -> None:
    def check(seed: int) -> None:
        codes = class_codes(150, seed, missing=0.05)
        held_out, folds = _held_out(codes, Dirichlet())
        found = forward_selection(held_out, range(4))

        def slow(nodes: tuple[int, ...]) -> float:
            columns = [codes.column(node) for node in nodes]
            cards = [CARDS[node] for node in nodes]
            return _slow(codes, columns, cards, Dirichlet(), folds)[1]

        chosen: tuple[int, ...] = ()
        while len(chosen) < 4:
            others = [node for node in range(4) if node not in chosen]
            best = max(others, key=lambda node: slow((*chosen, node)))
            if slow((*chosen, best)) <= slow(chosen):
                break
            chosen = (*chosen, best)
        assert found == tuple(sorted(chosen))

    check_each(range(3), check)


def test_backward_selection_removes_children_while_the_score_gets_no_worse() -> None:
    def check(seed: int) -> None:
        codes = class_codes(150, seed, missing=0.05)
        held_out, folds = _held_out(codes, Dirichlet())
        found = backward_selection(held_out, range(4))

        def slow(nodes: tuple[int, ...]) -> float:
            columns = [codes.column(node) for node in nodes]
            cards = [CARDS[node] for node in nodes]
            return _slow(codes, columns, cards, Dirichlet(), folds)[1]

        chosen = tuple(range(4))
        while chosen:
            without = {n: tuple(m for m in chosen if m != n) for n in chosen}
            worst = max(chosen, key=lambda node: (slow(without[node]), node))
            if slow(without[worst]) < slow(chosen):
                break
            chosen = without[worst]
        assert found == chosen

    check_each(range(3), check)
