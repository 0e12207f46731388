"""Effects estimated by dowhy with our classifiers and along our graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetwork, TANClassifier

WORKS_WITH = {
    "tool": "dowhy",
    "tried": "0.14",
    "use": "`CausalModel(table, treatment, outcome, graph=network.to_networkx("
    "tables=False))`; `propensity_score_model=TANClassifier()` in `method_params` of "
    '"backdoor.propensity_score_weighting"; '
    "`gcm.ClassifierFCM(gcm.ml.SklearnClassificationModel(TANClassifier()))`",
    "refused": "",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ARCS = [("age", "drug"), ("age", "well"), ("drug", "well")]


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(3, size=3000)
    drug = (rng.random(3000) < 0.2 + 0.2 * age).astype(int)
    well = (rng.random(3000) < 0.1 + 0.3 * drug + 0.15 * age).astype(int)
    return pd.DataFrame({"age": age, "drug": drug, "well": well})


def _network(table: pd.DataFrame) -> BayesianNetwork:
    return BayesianNetwork.from_edges(ARCS).fit(table)


def test_weights_by_propensity_estimate_the_effect_of_the_network() -> None:
    dowhy = pytest.importorskip("dowhy", reason="needs dowhy")
    table = _table()
    network = _network(table)
    graph = network.to_networkx(tables=False)
    model = dowhy.CausalModel(table, "drug", "well", graph=graph)
    estimate = model.estimate_effect(
        model.identify_effect(),
        method_name="backdoor.propensity_score_weighting",
        method_params={"propensity_score_model": TANClassifier()},
    )
    well = [network.do({"drug": drug}).query()["well"][1] for drug in (0, 1)]
    assert estimate.value == pytest.approx(well[1] - well[0], abs=2e-3)


def test_classifiers_are_mechanisms_of_a_causal_model() -> None:
    gcm = pytest.importorskip("dowhy.gcm", reason="needs dowhy")
    table = _table().astype(str)
    network = _network(table)
    model = gcm.StructuralCausalModel(network.to_networkx(tables=False))
    model.set_causal_mechanism("age", gcm.EmpiricalDistribution())
    for name in ("drug", "well"):
        learner = gcm.ml.SklearnClassificationModel(TANClassifier())
        model.set_causal_mechanism(name, gcm.ClassifierFCM(learner))
    gcm.util.general.set_random_seed(0)
    gcm.fit(model, table)
    drawn = gcm.interventional_samples(
        model, {"drug": lambda _: "1"}, num_samples_to_draw=10_000
    )
    expected = network.do({"drug": "1"}).query()["well"]["1"]
    # Three standard errors of a rate among 10 000 rows.
    assert (drawn["well"] == "1").mean() == pytest.approx(expected, abs=0.015)
