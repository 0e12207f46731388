"""Held-out scores of densities count values not seen in training as they do alone."""

from __future__ import annotations

import pandas as pd
import pytest

from bayleaf import BayesianNetworkEstimator, UnknownValuesWarning
from bayleaf.report import summarize


@pytest.mark.parametrize("unknown", ["other", "impossible", "missing"])
def test_values_not_seen_count_in_held_out_scores(unknown: str) -> None:
    rows = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "w", "u"] * 25})
    held_out = pd.DataFrame({"a": ["x", "z", "y"], "b": ["u", "v", "q"]})
    model = BayesianNetworkEstimator(random_state=0, unknown=unknown).fit(rows)
    quality = summarize(model, held_out, held_out=True)["quality"]
    with pytest.warns(UnknownValuesWarning):
        logs = model.score_samples(held_out)
    if unknown == "impossible":
        assert quality["n_impossible"] == 2
        assert quality["nats_per_row"] is None
        return
    assert quality["nats_per_row"] == pytest.approx(logs.mean())
    # Without an arc, columns are independent in both.
    assert quality["bits_gained"] == pytest.approx(0.0, abs=1e-12)
