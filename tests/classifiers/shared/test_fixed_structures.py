"""Learning batch by batch where a first batch, or a fit, gives the structure."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf.classifiers import (
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
)
from bayleaf.explain import credible_intervals, drift

CLASSES = ["no", "yes"]


def _table(n_rows: int = 240, missing: float = 0.1) -> tuple[pd.DataFrame, list[str]]:
    """Features in which pairs depend on one another beyond the class."""
    rng = np.random.default_rng(4)
    truth = rng.random(n_rows) < 0.5
    a, b = rng.integers(3, size=(2, n_rows))
    c = np.where(rng.random(n_rows) < 0.9, (a + b) % 3, rng.integers(3, size=n_rows))
    d = np.where(truth, (a == b), rng.random(n_rows) < 0.5).astype(int)
    columns = {name: ["xyz"[v] for v in f] for name, f in zip("abcd", (a, b, c, d))}
    frame = pd.DataFrame(columns, dtype=object)
    frame = frame.mask(rng.random(frame.shape) < missing)
    return frame, np.where(truth, "yes", "no").tolist()


def _batched(model: Any, frame: pd.DataFrame, y: list[str], cuts: list[int]) -> Any:
    weights = np.random.default_rng(1).integers(1, 3, size=len(y)).astype(float)
    for start, stop in itertools.pairwise([0, *cuts, len(y)]):
        rows = slice(start, stop)
        model.partial_fit(frame[rows], y[rows], CLASSES, weights[rows])
    return model


FIXED = [
    KDBClassifier(k=2),
    KDBClassifier(k="auto", max_k=3, smoothing="laplace"),
    KDBClassifier(k=1, n_features="auto"),
    HNBClassifier(search="significance", random_state=0),
    HNBClassifier(feature_selection="forward", random_state=0),
]


@pytest.mark.parametrize("model", FIXED, ids=repr)
def test_any_cut_after_the_first_batch_gives_the_same_counts(model: Any) -> None:
    frame, y = _table()
    whole = _batched(model, frame, y, [120])
    proba, edges = whole.predict_joint_log_proba(frame), whole.edges_
    pieces = _batched(_fresh(model), frame, y, [120, 121, 150, 200])
    np.testing.assert_array_equal(pieces.predict_joint_log_proba(frame), proba)
    assert pieces.edges_ == edges
    assert pieces.counts_ == whole.counts_
    assert pieces.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-13)


@pytest.mark.parametrize("model", FIXED, ids=repr)
def test_the_structure_stays_and_all_rows_count(model: Any) -> None:
    frame, y = _table(missing=0.0)
    first = _fresh(model).partial_fit(frame[:150], y[:150], CLASSES)
    edges = first.edges_
    first.partial_fit(frame[150:], y[150:])
    assert first.edges_ == edges
    for cpd, counts in zip(
        first.network_.cpds,
        _count_families(first, frame, y),
        strict=True,
    ):
        if counts is not None:
            expected = first.smoothing_.estimate(counts)
            np.testing.assert_allclose(cpd.probabilities, expected, rtol=1e-12)


def _count_families(model: Any, frame: pd.DataFrame, y: list[str]) -> list[Any]:
    """Rows of each family without latent variables, counted one by one."""
    network, tables = model.network_, []
    values = frame.assign(**{"class": y})
    for family in network.dag.families:
        variables = [network.domain[v] for v in family]
        if any(v.name not in values for v in variables):
            tables.append(None)
            continue
        counts = np.zeros([v.n_states for v in variables])
        for row in values[[v.name for v in variables]].itertuples(index=False):
            place = zip(variables, row, strict=True)
            counts[tuple(v.state_index[cell] for v, cell in place)] += 1
        tables.append(counts)
    return tables


def test_batches_after_a_fit_add_to_its_structure() -> None:
    frame, y = _table(missing=0.0)
    for model in (KDBClassifier(k=2), HNBClassifier(search="significance")):
        fitted = model.fit(frame[:150], y[:150])
        proba = _fresh(model).partial_fit(frame[:150], y[:150], CLASSES)
        proba = proba.partial_fit(frame[150:], y[150:]).predict_proba(frame)
        fitted.partial_fit(frame[150:], y[150:])
        np.testing.assert_array_equal(fitted.predict_proba(frame), proba)


def test_pages_and_drift_know_the_rows_of_batches() -> None:
    frame, y = _table()
    for model in (KDBClassifier(k=2), HNBClassifier(search="significance")):
        batched = _batched(model, frame, y, [120, 180])
        assert drift(batched, frame).rows == len(y)
        assert len(credible_intervals(batched, frame[:2], random_state=0)) == 2


def test_hnb_takes_values_of_later_batches_for_missing() -> None:
    frame, y = _table()
    model = HNBClassifier().partial_fit(frame[:200], y[:200], CLASSES)
    model.partial_fit(frame[:1].assign(a="new"), y[:1])
    assert model.model_.domain[0].states == ("x", "y", "z")


@pytest.mark.parametrize("missing_denominator", ["rows_with_value", "all_rows"])
def test_any_cut_gives_the_same_online_mixture(missing_denominator: str) -> None:
    frame, y = _table()
    frame["many"] = [f"v{row * 7 % 31}" for row in range(len(y))]
    frame["none"] = pd.Series([None] * 239 + ["late"], dtype=object)
    model = HierarchicalMixtureNBClassifier(
        n_mixtures=2,
        missing_denominator=missing_denominator,
        random_state=3,
        identifiers="keep",
    )
    whole = _batched(_fresh(model), frame, y, [])
    for cuts in ([1], [*range(1, 30), 230], [120, 121, 200]):
        pieces = _batched(_fresh(model), frame, y, cuts)
        np.testing.assert_array_equal(
            pieces.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame)
        )
        assert pieces.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-12)
        assert len(pieces.learning_curves_[0]) == len(cuts) + 1


def test_online_mixtures_go_on_after_a_fit() -> None:
    frame, y = _table()
    model = HierarchicalMixtureNBClassifier(random_state=0).fit(frame[:120], y[:120])
    before = model.score(frame[120:], y[120:])
    model.partial_fit(frame[120:], y[120:])
    assert model.score(frame[120:], y[120:]) >= before
    model.fit(frame, y)
    again = HierarchicalMixtureNBClassifier(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_proba(frame), again.predict_proba(frame)
    )


def test_what_needs_all_rows_is_refused_by_name() -> None:
    frame, y = _table()
    for model, name in (
        (HierarchicalMixtureNBClassifier(learning="batch"), "learning='batch'"),
        (HierarchicalMixtureNBClassifier(architecture="auto"), "architecture='auto'"),
        (HNBClassifier(estimation="em"), "estimation='em'"),
    ):
        with pytest.raises(ValueError, match=f"{name} needs all rows at once"):
            model.partial_fit(frame, y, CLASSES)


def test_a_reader_gives_its_names_and_rows_once() -> None:
    rows = pa.table({"a": ["p", "q", "p"], "class": ["u", "v", "u"]})
    model = NaiveBayesClassifier()
    for batch in (rows.to_reader(), rows.to_batches()[0]):
        model.partial_fit(batch, ["no", "yes", "no"], CLASSES)
    assert model.feature_names_in_.tolist() == ["a", "class"]
    assert model.model_.domain.names == ("a", "class", "class_")
    assert model.model_.class_prior.tolist() == [5 / 8, 3 / 8]


def _fresh(model: Any) -> Any:
    """An unfitted copy."""
    return type(model)(**model.get_params())
