"""Learning batch by batch ends at the model of all rows together."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from contract.tables import mixed_columns, nominal_columns, nominal_frame, pick_rows

_CLASSES = ["in", "out", "roof"]
# Others keep the structure of the first batch, or learn rows as they come.
_INCREMENTAL = [
    kind
    for kind in CLASSIFIERS.values()
    if kind._is_incremental and not kind._learns_from_rows
]


@pytest.fixture(params=_INCREMENTAL, ids=lambda kind: kind.__name__)
def kind(request: Any) -> Any:
    """A classifier that learns from batches."""
    return request.param


def _in_batches(
    model: Any, columns: Any, y: Any, cuts: Any, weights: Any = None
) -> Any:
    edges = [0, *cuts, len(y)]
    for start, stop in itertools.pairwise(edges):
        rows = range(start, stop)
        model.partial_fit(
            pd.DataFrame(pick_rows(columns, rows), dtype=object),
            y[start:stop],
            classes=_CLASSES,
            sample_weight=None if weights is None else weights[start:stop],
        )
    return model


def _check_same_model(one: Any, other: Any, frame: Any) -> None:
    assert one.encoder_.domain == other.encoder_.domain
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_array_equal(
        one.predict_joint_log_proba(frame), other.predict_joint_log_proba(frame)
    )
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-13)


_cells = st.sampled_from(["p", "q", "r", "s", "t", None])
_tables = st.lists(
    st.tuples(st.sampled_from(_CLASSES), _cells, _cells, _cells),
    min_size=4,
    max_size=14,
)


_settings = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}


@settings(max_examples=7, **_settings)
@given(table=_tables, data=st.data())
def test_any_split_of_nominal_columns_equals_one_fit(
    kind: Any, table: Any, data: Any
) -> None:
    _check_split(kind, table, data)


@pytest.mark.few(2)
@pytest.mark.slow
@settings(max_examples=40, **_settings)
@given(table=_tables, data=st.data())
def test_many_splits_of_nominal_columns_equal_one_fit(
    kind: Any, table: Any, data: Any
) -> None:
    _check_split(kind, table, data)


def _check_split(kind: Any, table: Any, data: Any) -> None:
    # A column needs a value somewhere; all classes must occur for fit to know them.
    table = [(label, "p", "q", "r") for label in _CLASSES] + table
    order = data.draw(st.permutations(range(len(table))))
    cuts = data.draw(st.sets(st.integers(1, len(table) - 1)))
    columns = {name: [table[row][j] for row in order] for j, name in enumerate("yabc")}
    y = columns.pop("y")
    frame = pd.DataFrame(columns, dtype=object)
    _check_same_model(
        _in_batches(kind(), columns, y, sorted(cuts)), kind().fit(frame, y), frame
    )


@pytest.mark.few(5)
@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_batches_of_one_row_equal_one_fit(kind: Any, missing: str) -> None:
    columns, y = nominal_columns(n_rows=20, missing=0.2)
    frame = pd.DataFrame(columns, dtype=object)
    batched = _in_batches(kind(missing=missing), columns, y, range(1, 20))
    _check_same_model(batched, kind(missing=missing).fit(frame, y), frame)


def test_weighted_batches_equal_one_weighted_fit(kind: Any) -> None:
    columns, y = nominal_columns(n_rows=60, missing=0.2)
    weights = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    frame = pd.DataFrame(columns, dtype=object)
    batched = _in_batches(kind(), columns, y, [7, 30], weights)
    _check_same_model(batched, kind().fit(frame, y, sample_weight=weights), frame)


def test_threads_change_no_bit_of_a_batched_model(kind: Any) -> None:
    columns, y = nominal_columns(n_rows=60, missing=0.2)
    frame = pd.DataFrame(columns, dtype=object)
    _check_same_model(
        _in_batches(kind(n_jobs=2), columns, y, [20]),
        _in_batches(kind(n_jobs=1), columns, y, [20]),
        frame,
    )


def test_numeric_columns_keep_the_cut_points_of_the_first_batch(kind: Any) -> None:
    columns, y = mixed_columns()
    frame = pd.DataFrame({"degrees": columns["degrees"]})
    model = kind().partial_fit(frame[:60], y[:60], classes=_CLASSES)
    before = model.encoder_.domain[0].cut_points
    assert before
    model.partial_fit(frame[60:], y[60:])
    assert model.encoder_.domain[0].cut_points == before


def test_a_class_may_appear_late(kind: Any) -> None:
    model = kind().partial_fit([["p"], ["q"]], ["in", "in"], classes=_CLASSES)
    model.partial_fit([["q"]], ["roof"])
    np.testing.assert_allclose(model.model_.class_prior, [3 / 6, 1 / 6, 2 / 6])


def test_fit_after_batches_starts_anew(kind: Any) -> None:
    frame, y = nominal_frame()
    other, other_y = nominal_columns(seed=5)
    model = _in_batches(kind(), other, other_y, [30]).fit(frame, y)
    _check_same_model(model, kind().fit(frame, y), frame)


def test_a_batch_after_fit_adds_to_it(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind().fit(frame[:50], y[:50]).partial_fit(frame[50:], y[50:])
    _check_same_model(model, kind().fit(frame, y), frame)


def test_classes_are_asked_for_in_the_first_call(kind: Any) -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        kind().partial_fit([["p"]], ["in"])


def test_other_classes_in_a_later_call_are_refused(kind: Any) -> None:
    model = kind().partial_fit([["p"]], ["in"], classes=_CLASSES)
    with pytest.raises(ValueError, match="differs from the classes of the first call"):
        model.partial_fit([["p"]], ["in"], classes=["in", "attic"])


def test_a_label_that_was_not_announced_is_refused(kind: Any) -> None:
    model = kind().partial_fit([["p"]], ["in"], classes=_CLASSES)
    with pytest.raises(ValueError, match=r"labels \['attic'\] that are not among"):
        model.partial_fit([["p"]], ["attic"])


def test_a_refused_batch_leaves_the_model_as_it_was(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind().partial_fit(frame[:50], y[:50], classes=_CLASSES)
    before = model.predict_joint_log_proba(frame)
    with pytest.raises(ValueError, match="not among"):
        model.partial_fit(frame[50:], ["attic"] * 40)
    np.testing.assert_array_equal(model.predict_joint_log_proba(frame), before)
    model.partial_fit(frame[50:], y[50:])
    _check_same_model(model, kind().fit(frame, y), frame)


def test_a_batch_with_other_columns_is_refused(kind: Any) -> None:
    columns, y = nominal_columns()
    frame = pd.DataFrame(columns)
    model = kind().partial_fit(frame[:50], y[:50], classes=_CLASSES)
    with pytest.raises(ValueError, match=r"\bz\b"):
        model.partial_fit(frame.rename(columns={"b": "z"})[50:], y[50:])


def test_a_model_from_a_file_takes_no_batches(kind: Any, tmp_path: Path) -> None:
    frame, y = nominal_frame()
    kind().fit(frame, y).save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="holds no counts to add to; fit it again"):
        read.partial_fit(frame, y, classes=_CLASSES)


def test_a_model_under_another_prior_has_no_counts(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind().fit(frame, y)
    prior = np.full(len(model.classes_), 1 / len(model.classes_))
    other = model.with_class_prior(prior)
    # The counts give back the prior that was replaced.
    assert other._page_model().support() is None
    with pytest.raises(ValueError, match="holds no counts to add to; fit it again"):
        other.partial_fit(frame, y, classes=_CLASSES)
