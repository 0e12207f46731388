"""Missing features are summed out exactly: probabilities equal sums over all rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from contract.kinds import each_kind, is_joint
from contract.tables import nominal_columns, nominal_frame


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
