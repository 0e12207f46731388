"""Conflict of evidence equals the network's own measure."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from bayleaf.explain import RowConflict, conflicts
from oracles.small_tables import classifier, small_table


@pytest.mark.parametrize("kind", ["nb", "tan", "kdb", "hnb", "latent_class", "network"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_is_the_conflict_in_the_network(kind: str, missing: float) -> None:
    X, y = small_table(7, missing=missing)
    model = classifier(kind).fit(X, y)
    found = conflicts(model, X.iloc[:10])
    assert found is not None
    for row, one in enumerate(found):
        values = {k: v for k, v in X.iloc[row].items() if not pd.isna(v)}
        network = model.network_
        expected = network.conflict(values) / math.log(2) if values else 0.0
        assert one.bits == pytest.approx(expected, abs=1e-9)
        if not values:
            continue
        by_item = network.conflict_by_item(values)
        assert one.feature_bits == pytest.approx(
            max(by_item.values()) / math.log(2), abs=1e-9
        )
        assert by_item[one.feature] / math.log(2) == pytest.approx(one.feature_bits)


def test_values_that_never_meet_are_in_conflict() -> None:
    X, y = small_table(8, n_rows=400)
    model = classifier("kdb", k=1).fit(X, y)
    row = {"wet": "no", "windy": "yes", "soil": "clay", "height": 0.1}
    (one,) = conflicts(model, pd.DataFrame([row])) or []
    assert one.worth_telling
    assert one.feature in ("wet", "windy")
    assert "fits the others least" in str(one)


def test_a_conflict_below_zero_is_said_to_be_none() -> None:
    for bits, text in (
        (-1.7, "the values fit together: 1.7 bits more probable than if"),
        (0.7, "the values hardly contradict one another: 0.7 bits rarer together"),
        (2.0, "the values are in conflict: 2.0 bits rarer together than if"),
    ):
        assert str(RowConflict(bits, None, "", 0.0)).startswith(text)


def test_a_model_without_a_joint_tells_none() -> None:
    X, y = small_table(8)
    assert conflicts(classifier("auto").fit(X, y), X) is None
