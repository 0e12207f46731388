"""Networks of trees learned from mushroom answer like their own row densities."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetworkEstimator
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.queries import Inference

SETTINGS: dict[str, dict[str, Any]] = {
    "TABS-L": {"abstraction": "local", "linkage": "hamming"},
    "TABS-E": {"abstraction": "given"},
    # With other linkages and searches even what is taken apart exceeds the limit.
    "TABS-L by aic": {
        "abstraction": "local",
        "linkage": "hamming",
        "local_score": "aic",
        "tree_search": "incremental",
        "n_restarts": 1,
    },
}
# Its full tables take too long for a comparison.
LARGE = "TABS-L by aic"


@pytest.fixture(scope="module")
def mushroom(data_folder: Path) -> pd.DataFrame:
    """All complete rows, the class included."""
    frame = pd.read_csv(data_folder / "small" / "mushroom.csv", dtype=str)
    return frame.dropna().reset_index(drop=True)


@pytest.fixture(scope="module")
def models(mushroom: pd.DataFrame, data_folder: Path) -> dict[str, Any]:
    """One fitted model a setting."""
    fitted = {}
    for name, setting in SETTINGS.items():
        given = {"hierarchies": data_folder / "avh" / "mushroom.json"}
        given = given if setting["abstraction"] == "given" else {}
        model = BayesianNetworkEstimator(
            local_structure="tree", **setting, **given, random_state=0
        )
        fitted[name] = model.fit(mushroom)
    return fitted


def evidence_from_row(
    frame: pd.DataFrame, rng: np.random.Generator, n_variables: int
) -> dict[str, str]:
    """What a random row says of some random variables."""
    row = frame.iloc[int(rng.integers(len(frame)))]
    chosen = rng.choice(frame.columns, n_variables, replace=False)
    return {name: str(row[name]) for name in chosen}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in SETTINGS if n != LARGE])
def test_posteriors_given_three_variables_equal_those_by_full_tables(
    models: dict[str, Any], mushroom: pd.DataFrame, name: str
) -> None:
    network = models[name].network_
    whole = JunctionTree.compile(network, forms={}, max_table_cells=10**8)
    apart = JunctionTree.compile(network)
    assert any(apart.is_apart(node) for node in range(len(network.domain)))
    cells = [tree.forest.table_cells(tree.product.cards) for tree in (apart, whole)]
    assert sum(cells[0]) < sum(cells[1])
    rng = np.random.default_rng(0)
    inference = Inference(network)
    for _ in range(4):
        evidence = evidence_from_row(mushroom, rng, 3)
        found = inference.query(evidence)
        likelihoods = {
            network.position(v): np.eye(network.domain[network.position(v)].n_states)[
                network.domain[network.position(v)].state_index[state]
            ]
            for v, state in evidence.items()
        }
        expected = whole.propagate(likelihoods)
        assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)
        for position, variable in enumerate(network.domain):
            given = found[variable.name].probabilities
            assert given == pytest.approx(expected.marginal(position), abs=1e-9)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SETTINGS)
def test_posteriors_of_two_variables_equal_sums_of_row_densities(
    models: dict[str, Any], mushroom: pd.DataFrame, name: str
) -> None:
    model = models[name]
    domain = model.network_.domain
    rng = np.random.default_rng(1)
    tree = JunctionTree.compile(model.network_)
    limit = max(tree.forest.table_cells(tree.product.cards))
    with pytest.raises(ValueError, match="exact inference needs a table of"):
        JunctionTree.compile(model.network_, forms={}, max_table_cells=limit)
    inference = Inference(model.network_, max_table_cells=limit)
    for _ in range(6):
        evidence = evidence_from_row(mushroom, rng, len(domain) - 2)
        open_variables = [v for v in domain if v.name not in evidence]
        sizes = tuple(v.n_states for v in open_variables)
        filled = [
            {**evidence, **dict(zip([v.name for v in open_variables], states))}
            for states in product(*(v.states for v in open_variables))
        ]
        rows = pd.DataFrame(filled)[list(mushroom.columns)]
        joint = np.exp(model.score_samples(rows)).reshape(sizes)
        found = inference.query(evidence, [v.name for v in open_variables])
        assert found.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-9)
        for axis, variable in enumerate(open_variables):
            expected = joint.sum(axis=1 - axis) / joint.sum()
            given = found[variable.name].probabilities
            assert given == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SETTINGS)
def test_posteriors_given_three_variables_are_near_the_shares_of_drawn_rows(
    models: dict[str, Any], mushroom: pd.DataFrame, name: str
) -> None:
    model = models[name]
    inference = Inference(model.network_)
    drawn = model.sample(200_000, random_state=0).to_pandas().astype(str)
    rng = np.random.default_rng(2)
    n_checked = 0
    for _ in range(4):
        evidence = evidence_from_row(mushroom, rng, 3)
        fits = np.logical_and.reduce([drawn[v] == s for v, s in evidence.items()])
        if fits.sum() < 1000:
            continue
        try:
            found = inference.query(evidence)
        except ImpossibleEvidenceError:
            pytest.fail("rows were drawn under this evidence")
        for variable in model.network_.domain:
            shares = drawn.loc[fits, variable.name].value_counts(normalize=True)
            for state, probability in found[variable.name].to_dict().items():
                spread = 6 * np.sqrt(0.25 / fits.sum())
                assert shares.get(state, 0.0) == pytest.approx(probability, abs=spread)
        n_checked += 1
    assert n_checked
