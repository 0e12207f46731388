"""Missing features are summed out exactly: probabilities equal sums over all rows."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetworkEstimator,
    NaiveBayesClassifier,
    NetworkStructure,
    TANClassifier,
)
from contract.kinds import KINDS, each_kind, is_joint
from contract.tables import nominal_columns, nominal_frame
from offenders import check_each


def _check_summed_out(model: Any, row: list[Any]) -> None:
    """Hide every subset of the cells of a row, and compare with all completions."""
    names = list(model.feature_names_in_)
    masks = itertools.product([True, False], repeat=len(row))
    rows = [
        [None if hidden else cell for hidden, cell in zip(mask, row, strict=True)]
        for mask in masks
    ]
    found = model.predict_joint_log_proba(pd.DataFrame(rows, columns=names))
    completed = [
        list(
            itertools.product(
                *(
                    variable.states if cell is None else (cell,)
                    for variable, cell in zip(model.encoder_.domain, cells, strict=True)
                )
            )
        )
        for cells in rows
    ]
    complete = pd.DataFrame(list(itertools.chain(*completed)), columns=names)
    joint = model.predict_joint_log_proba(complete)
    edges = np.cumsum([len(rows) for rows in completed])[:-1]
    sums = [logsumexp(part, axis=0) for part in np.split(joint, edges)]
    np.testing.assert_allclose(found, sums, atol=1e-10)


@each_kind(is_joint, missing_in_training=[0.0, 0.2])
def test_missing_cells_equal_the_sum_over_all_their_values(
    kind: Any, missing_in_training: float
) -> None:
    columns, y = nominal_columns(missing=missing_in_training)
    model = kind(random_state=0).fit(pd.DataFrame(columns), y)
    _check_summed_out(model, [columns[name][3] or "p" for name in columns])


@pytest.mark.parametrize("k", [2, 3])
def test_missing_cells_are_summed_out_of_dense_networks(k: int) -> None:
    from bayleaf import KDBClassifier

    columns, y = nominal_columns(n_rows=300)
    model = KDBClassifier(k=k).fit(pd.DataFrame(columns), y)
    _check_summed_out(model, ["q"] * 4)


@each_kind()
def test_rows_with_different_gaps_are_scored_as_alone(kind: Any) -> None:
    frame, y = nominal_frame(missing=0.4)
    model = kind(random_state=0).fit(frame, y)
    together = model.predict_joint_log_proba(frame)
    for row in range(0, len(y), 9):
        alone = model.predict_joint_log_proba(frame.iloc[[row]])[0]
        np.testing.assert_allclose(alone, together[row], rtol=1e-13)


def _with_gaps() -> tuple[pd.DataFrame, list[str]]:
    """A table with gaps, a marker of missing texts, and a sparse identifier."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 180),
            "size": rng.normal(size=180),
            "level": rng.choice(["low", "high"], 180),
            "name": [f"n{i}" if i % 2 else None for i in range(180)],
        }
    )
    frame.loc[::7, "colour"] = None
    frame.loc[::11, "size"] = np.nan
    return frame, rng.choice(["p", "q"], 180).tolist()


@pytest.mark.slow
def test_dropping_equals_removing_the_rows_that_lack_a_used_cell() -> None:
    frame, labels = _with_gaps()
    whole = frame[["colour", "size", "level"]].notna().all(axis=1).to_numpy()
    rows = np.flatnonzero(whole)
    weights = np.minimum(np.arange(180) % 4, 1)
    kinds = [
        k
        for k in KINDS.values()
        if inspect.signature(k).parameters["missing"].default == "marginalize"
    ]

    def check(kind: Any) -> None:
        model = kind(missing="drop")
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        expected = clone(model).fit(
            frame.iloc[rows], [labels[i] for i in rows], sample_weight=weights[rows]
        )
        model.fit(frame, labels, sample_weight=weights)
        np.testing.assert_array_equal(
            model.predict_proba(frame), expected.predict_proba(frame)
        )
        # Rows of weight zero are not counted.
        n_dropped = int(((weights > 0) & ~whole).sum())
        note = f"left out {n_dropped} of 135 rows with missing cells"
        assert note in str(model.summary())
        assert "left out" not in str(expected.encoder_.notes.get("missing='drop'"))

    check_each(kinds, check)


def test_densities_and_drawn_networks_drop_rows_too() -> None:
    frame, _ = _with_gaps()
    used = frame[["colour", "size", "level"]]
    density = BayesianNetworkEstimator(missing="drop", random_state=0)
    expected = clone(density).fit(used.dropna())
    found = clone(density).fit(frame)
    np.testing.assert_array_equal(
        found.score_samples(frame), expected.score_samples(used)
    )
    note = f"left out {180 - len(used.dropna())} of 180 rows with missing cells"
    assert found.encoder_.notes["missing='drop'"] == note
    structure = NetworkStructure.from_edges([("colour", "size"), ("level", "size")])
    network = structure.fit(frame, missing="drop")
    complete = structure.fit(used.dropna())
    for own, its in zip(network.cpds, complete.cpds, strict=True):
        np.testing.assert_array_equal(own.probabilities, its.probabilities)
    assert note in network.notes
    # A table that is not learned and has no learned child leaves no row out.
    again = network.fit(frame, missing="drop", learn="colour")
    n_rows = frame["colour"].notna().sum()
    assert f"left out {180 - n_rows} of 180 rows with missing cells" in again.notes


def test_dropping_names_what_leaves_no_rows_or_cannot_be_done() -> None:
    frame, labels = _with_gaps()
    frame["level"] = [None if i % 3 else "low" for i in range(180)]
    frame.loc[::3, "size"] = np.nan
    with pytest.raises(ValueError, match=r"no rows.*in column 'level' \(120 of 180\)"):
        TANClassifier(missing="drop").fit(frame, labels)
    structure = NetworkStructure.from_edges([("level", "size")])
    with pytest.raises(ValueError, match=r"no rows.*in column 'level' \(120 of 180\)"):
        structure.fit(frame, missing="drop")
    with pytest.raises(ValueError, match="missing='drop' needs all rows at once"):
        NaiveBayesClassifier(missing="drop").partial_fit(frame, labels, ["p", "q"])
    batches = pa.Table.from_pandas(frame.assign(y=labels)).to_reader()
    with pytest.raises(ValueError, match="missing='drop' needs the whole table"):
        NaiveBayesClassifier(missing="drop").fit(batches, target="y")
    with pytest.raises(ValueError, match="missing='drop' is not possible for averaged"):
        AveragedKDBClassifier(missing="drop").fit(frame, labels)
