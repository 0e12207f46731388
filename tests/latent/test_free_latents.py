"""A search by BIC finds latent variables with distributions of their own."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import HNBClassifier, NaiveBayesClassifier
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.latent.free_latents import LatentNode, _steps, _TreeMoves


def _table(seed: int, n_rows: int = 200) -> tuple[pd.DataFrame, Any]:
    """Rows of a class above a latent variable of a, b and c, and above d."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    latent = rng.random(n_rows) < np.array([0.3, 0.6])[y]
    columns = {
        name: np.where(rng.random(n_rows) < 0.9, latent, ~latent) for name in "abc"
    }
    columns["d"] = rng.random(n_rows) < np.array([0.2, 0.7])[y]
    return pd.DataFrame(columns).replace({True: "yes", False: "no"}), y.astype(str)


def _fitted(X: Any, y: Any, **parameters: Any) -> HNBClassifier:
    given = {"search": "bic", "random_state": 0, **parameters}
    return HNBClassifier(**given).fit(X, y)


def _log_joint(model: HNBClassifier, X: pd.DataFrame, y: Any) -> float:
    """Log-likelihood of rows, all states of latent variables enumerated."""
    network = model.network_
    known = {v.name: i for i, v in enumerate(network.domain)}
    hidden = [i for i, v in enumerate(network.domain) if v.name not in X.columns][:-1]
    total = 0.0
    for row, label in zip(X.to_dict("records"), y, strict=True):
        states: list[Any] = [None] * len(network.domain)
        states[-1] = network.domain[-1].states.index(label)
        open_nodes = list(hidden)
        for name, value in row.items():
            if isinstance(value, str):
                states[known[name]] = network.domain[known[name]].states.index(value)
            else:
                open_nodes.append(known[name])
        probability = 0.0
        for chosen in itertools.product(
            *(range(network.domain[node].n_states) for node in open_nodes)
        ):
            for node, state in zip(open_nodes, chosen, strict=True):
                states[node] = state
            probability += math.prod(
                cpd.probabilities[tuple(states[v] for v in cpd.family)]
                for cpd in network.cpds
            )
        total += math.log(probability)
    return total


@pytest.mark.parametrize("has_missing", [False, True])
def test_the_score_is_bic_with_latent_states_enumerated(has_missing: bool) -> None:
    X, y = _table(1, 150)
    if has_missing:
        X = X.mask(np.random.default_rng(2).random(X.shape) < 0.1)
    model = _fitted(X, y, smoothing="maximum_likelihood")
    assert model.search_trace_
    free = model.network_.n_parameters
    expected = _log_joint(model, X, y) - free / 2 * math.log(len(y))
    assert model.score_ == pytest.approx(expected, abs=1e-9)
    assert model.log_likelihood_ == pytest.approx(_log_joint(model, X, y), abs=1e-9)


def test_every_move_raises_bic_from_that_of_naive_bayes() -> None:
    X, y = _table(3)
    model = _fitted(X, y)
    bayes = NaiveBayesClassifier(smoothing="maximum_likelihood").fit(X, y)
    score = bayes.log_likelihood_ - bayes.model_.n_parameters / 2 * math.log(len(y))
    assert len(model.search_trace_) > 1
    for move in model.search_trace_:
        assert move.gain > 0
        assert move.score == pytest.approx(score + move.gain, abs=1e-9)
        score = move.score
    assert model.score_ == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_strong_latent_variable_is_found(seed: int) -> None:
    model = _fitted(*_table(seed, 800))
    latent, *others = model.model_.latents
    assert not others
    assert latent.n_states == 2
    below = {child for parent, child in model.edges_ if parent == latent.name}
    assert below == {*"abc"}


def test_states_are_added_where_the_rows_need_them() -> None:
    rng = np.random.default_rng(0)
    latent = rng.integers(3, size=600)
    noise = rng.integers(3, size=(3, 600))
    columns = np.where(rng.random((3, 600)) < 0.9, latent, noise)
    frame = pd.DataFrame(dict(zip("abc", columns, strict=True))).astype(str)
    model = _fitted(frame, latent % 2)
    assert [latent.n_states for latent in model.model_.latents] == [3]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_and_the_order_of_rows_do_not_change_a_bit(n_jobs: int) -> None:
    X, y = _table(4)
    first = _fitted(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    second = _fitted(X.iloc[order], y[order], n_jobs=n_jobs)
    assert second.score_ == first.score_
    assert second.search_trace_ == first.search_trace_
    assert (second.predict_proba(X) == first.predict_proba(X)).all()


def test_weights_equal_repeated_rows() -> None:
    X, y = _table(5, 150)
    weights = np.random.default_rng(0).integers(3, size=len(y))
    weighted = HNBClassifier(search="bic", random_state=0).fit(X, y, weights)
    repeated = _fitted(X.loc[X.index.repeat(weights)], np.repeat(y, weights))
    assert weighted.score_ == repeated.score_
    assert (weighted.predict_proba(X) == repeated.predict_proba(X)).all()


def test_forbidden_pairs_have_no_latent_variable_above_both() -> None:
    X, y = _table(6)
    model = _fitted(X, y, forbidden_joins=[("a", "b")])
    assert model.model_.latents
    network = model.network_
    for latent in model.model_.latents:
        below = {str(latent.name)}
        for _ in network.domain:
            below |= {str(c) for p, c in network.edges if str(p) in below}
        assert not {"a", "b"} <= below


def test_features_without_information_stay_below_the_class() -> None:
    X, y = _table(7)
    model = _fitted(X.assign(constant="same"), y)
    assert model.model_.latents
    assert (model.network_.domain.names[-1], "constant") in model.edges_


def _moves(seed: int) -> _TreeMoves:
    rng = np.random.default_rng(seed)
    cards = (2, 3, 2, 2)
    codes = Codes.from_columns([rng.integers(card, size=60) for card in cards], cards)
    names = ("x", "y", "z", "class")
    states = [tuple(map(str, range(card))) for card in cards]
    domain = Domain(tuple(map(Variable, names, states)))
    return _TreeMoves(RowCounts(codes), domain, (), 0)


@pytest.mark.parametrize("seed", range(5))
def test_no_tree_scores_more_than_its_bound(seed: int) -> None:
    bounds, fits = _moves(seed), _moves(seed)
    inner = LatentNode(2, (0, 1))
    for tree in (0, inner, LatentNode(3, (0, 1, 2)), LatentNode(2, (inner, 2))):
        assert bounds._bound(tree) >= fits._fitted((tree,)) - 1e-9


def test_moves_reach_all_trees_of_three_features_and_two_states() -> None:
    below_pair = [LatentNode(2, pair) for pair in ((0, 1), (0, 2), (1, 2))]
    wanted = {
        (0, 1, 2),
        (LatentNode(2, (0, 1, 2)),),
        *((LatentNode(2, (0, 1)), 2), (LatentNode(2, (0, 2)), 1)),
        (0, LatentNode(2, (1, 2))),
        (LatentNode(2, (below_pair[0], 2)),),
        (LatentNode(2, (below_pair[1], 1)),),
        (LatentNode(2, (0, below_pair[2])),),
    }
    found: set[Any] = set()
    waiting: list[Any] = [(0, 1, 2)]
    while waiting:
        trees = waiting.pop()
        found.add(trees)
        for old, new in _steps(trees, 2):
            rest = [tree for tree in trees if tree not in old]
            after = tuple(sorted([*rest, *new], key=lambda tree: str(tree)))
            plain = tuple(sorted(after, key=_first))
            if "3" not in str(plain) and plain not in found:
                waiting.append(plain)
    assert found == wanted


def _first(tree: Any) -> int:
    return tree if isinstance(tree, int) else min(map(_first, tree.children))
