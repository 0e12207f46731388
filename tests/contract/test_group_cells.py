"""Cells that name groups of a hierarchy, against sums over the joint distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from bayleaf import (
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.explain import counterfactuals
from bayleaf.inference import row_propagation
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks import network_model
from oracles.joint_table import joint_table

STATES = {"a": "pqrst", "b": "uvw", "c": "xyz"}
GROUPS: dict[str, dict[str, str]] = {
    "a": {"left": "pq", "right": "rst", "end": "st"},
    "b": {"low": "uv"},
}
HIERARCHIES = {
    "a": {"any": {"left": ["p", "q"], "right": ["r", {"end": ["s", "t"]}]}},
    "b": {"all": {"low": ["u", "v"], "w": None}},
}
SEEDS = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 100)]
EVERY = [0, 1, 2, *SEEDS]


NETWORK = BayesianNetworkClassifier(hierarchies=HIERARCHIES, n_restarts=1)
KINDS = {
    "nb": NaiveBayesClassifier(hierarchies=HIERARCHIES),
    "tan": TANClassifier(hierarchies=HIERARCHIES),
    "kdb": KDBClassifier(k=2, hierarchies=HIERARCHIES),
    "tables": NETWORK,
    "trees": clone(NETWORK).set_params(local_structure="tree", abstraction="given"),
}


def model_of(kind: str, seed: int) -> Any:
    """An unfitted classifier."""
    return clone(KINDS[kind]).set_params(random_state=seed)


def random_table(seed: int, n_rows: int = 60) -> tuple[dict[str, list[Any]], list[Any]]:
    """Columns in which cells name states or groups, or are missing; and classes."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2, n_rows)
    table: dict[str, list[Any]] = {}
    shift = own
    for name, states in STATES.items():
        codes = (rng.integers(0, len(states), n_rows) * shift + own) % len(states)
        shift = 1 + codes % 2
        cells: list[Any] = [states[code] for code in codes]
        for row in range(n_rows):
            holding = [g for g, s in GROUPS.get(name, {}).items() if cells[row] in s]
            if holding and rng.random() < 0.3:
                cells[row] = holding[rng.integers(len(holding))]
            elif rng.random() < 0.1:
                cells[row] = None
        # Each state occurs, so that the table has all of them.
        cells[: len(states)] = states
        table[name] = cells
    own[:2] = 0, 1
    return table, np.array(["no", "yes"])[own].tolist()


def allowed(name: str, cell: Any) -> list[int]:
    """The codes that a cell leaves open."""
    open_states = GROUPS.get(name, {}).get(cell, cell or STATES[name])
    return [STATES[name].index(state) for state in open_states]


def masses(network: BayesianNetwork, table: dict[str, list[Any]]) -> np.ndarray:
    """P(row, class) by the joint distribution, (n_rows, n_classes)."""
    joint = joint_table(network)
    rows = zip(*(table[name] for name in STATES), strict=True)
    return np.array(
        [
            joint[np.ix_(*map(allowed, STATES, row), [0, 1])].sum(axis=(0, 1, 2))
            for row in rows
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", EVERY)
def test_predictions_sum_over_the_states_of_groups(
    seed: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, labels = random_table(seed)
    X = pa.table(table)
    if seed % 2:
        monkeypatch.setattr(network_model, "_MOST_LISTED", 2)
        monkeypatch.setattr(row_propagation, "_MOST_LISTED", 2)
    model = model_of(kind, seed).fit(X, labels)
    expected = masses(model.network_, table)
    logs = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(logs, np.log(expected), rtol=0, atol=1e-12)
    proba = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=0, atol=1e-12)
    assert model.predict(X).tolist() == model.classes_[proba.argmax(1)].tolist()


@pytest.mark.parametrize("seed", EVERY)
def test_networks_read_groups_in_tables(seed: int) -> None:
    table, labels = random_table(seed)
    classifier = model_of("tables", seed).fit(pa.table(table), labels)
    network = classifier.network_
    expected = masses(network, table)
    each = network.log_likelihood_rows(table)
    np.testing.assert_allclose(each, np.log(expected.sum(axis=1)), rtol=0, atol=1e-12)
    assert network.log_likelihood(table) == pytest.approx(each.sum(), abs=1e-9)
    proba = expected / expected.sum(axis=1, keepdims=True)
    target = network.domain.names[-1]
    np.testing.assert_allclose(
        network.posterior_table(table, target), proba, atol=1e-12
    )
    unknown = {**table, target: [None] * len(labels)}
    filled = network.impute(unknown, how="marginal")
    assert filled[target] == classifier.classes_[proba.argmax(axis=1)].tolist()
    assert filled["a"] == network.impute(table, how="marginal")["a"]
    is_group = [cell in GROUPS["a"] for cell in table["a"]]
    kept = [c for c, g in zip(filled["a"], is_group, strict=True) if g]
    assert kept == [c for c, g in zip(table["a"], is_group, strict=True) if g]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", EVERY[:5])
def test_explanations_of_groups_add_up_and_name_them(seed: int, kind: str) -> None:
    table, labels = random_table(seed, 30)
    X = pa.table(table)
    model = model_of(kind, seed).fit(X, labels)
    logs = model.predict_log_proba(X)
    for row, one in enumerate(model.explain(X, of="yes")):
        odds = logs[row, 1] - logs[row, 0]
        total = one.prior + sum(term.contribution for term in one.terms)
        assert total == pytest.approx(odds, abs=1e-9)
        for term in one.terms:
            cell = table[str(term.feature)][row]
            assert term.value == (cell or "missing")
            assert cell is not None or term.contribution == pytest.approx(0.0)
        groups = [n for n in GROUPS if table[n][row] in GROUPS[n]]
        assert not any(note["column"] in groups for note in one.notes)


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb"])
@pytest.mark.parametrize("seed", EVERY[:5])
def test_counts_of_naive_bayes_tan_and_kdb_leave_groups_out(
    seed: int, kind: str
) -> None:
    table, labels = random_table(seed)
    without = {
        name: [None if cell in GROUPS.get(name, {}) else cell for cell in cells]
        for name, cells in table.items()
    }
    model = model_of(kind, seed)
    network = model.fit(pa.table(table), labels).network_
    other = model.set_params(hierarchies=None).fit(pa.table(without), labels)
    for own, its in zip(network.cpds, other.network_.cpds, strict=True):
        np.testing.assert_array_equal(own.probabilities, its.probabilities)


@pytest.mark.parametrize("seed", EVERY)
def test_networks_are_fitted_to_the_sets_of_states(seed: int) -> None:
    table, labels = random_table(seed)
    classifier = model_of("tables", seed).fit(pa.table(table), labels)
    own = classifier.classes_.searchsorted(labels)
    expected = masses(classifier.network_, table)[np.arange(len(own)), own]
    total = np.log(expected).sum()
    assert classifier.log_likelihood_ == pytest.approx(total, abs=1e-9)
    density = BayesianNetworkEstimator(
        hierarchies=HIERARCHIES, random_state=seed, n_restarts=1, unknown="missing"
    ).fit(pa.table({**table, "class": labels}))
    logs = density.score_samples(pa.table({**table, "class": labels}))
    np.testing.assert_allclose(
        logs,
        np.log(masses(density.network_, table)[np.arange(len(own)), own]),
        atol=1e-12,
    )


def test_batches_leave_groups_out_of_counts_as_one_fit_does() -> None:
    table, labels = random_table(7)
    whole = pa.table(table)
    for kind in (NaiveBayesClassifier, TANClassifier, KDBClassifier):
        expected = kind(hierarchies=HIERARCHIES).fit(whole, labels)
        model = kind(hierarchies=HIERARCHIES)
        for first in (0, 30):
            part = whole.slice(first, 30)
            model.partial_fit(part, labels[first : first + 30], ["no", "yes"])
        np.testing.assert_array_equal(
            model.predict_proba(whole), expected.predict_proba(whole)
        )


def test_many_groups_in_a_row_are_summed_out_by_the_network() -> None:
    rng = np.random.default_rng(0)
    names = [f"f{i}" for i in range(30)]
    table: dict[str, Any] = {n: rng.choice([*"abcd"], 60).tolist() for n in names}
    labels = rng.choice(["no", "yes"], 60).tolist()
    trees = {n: {"any": {"ab": ["a", "b"], "cd": ["c", "d"]}} for n in names}
    row = pa.table({n: ["ab"] for n in names})
    model = NaiveBayesClassifier(hierarchies=trees).fit(pa.table(table), labels)
    expected = np.log(model.model_.class_prior)
    for cpd in model.network_.cpds[:-1]:
        expected = expected + np.log(cpd.probabilities[:, :2].sum(axis=1))
    np.testing.assert_allclose(
        model.predict_joint_log_proba(row), [expected], atol=1e-12
    )


def test_code_that_needs_single_states_names_the_cell() -> None:
    table, labels = random_table(1)
    model = NaiveBayesClassifier(hierarchies=HIERARCHIES).fit(pa.table(table), labels)
    row = pa.table({"a": ["left"], "b": ["u"], "c": ["x"]})
    with pytest.raises(ValueError, match="column 'a' has a cell that names 'left'"):
        counterfactuals(model, row)
