"""Files that were written before a change are read after it, and answer alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.io.native.models import FORMS
from oracles.small_tables import small_table

SAMPLES = Path(__file__).with_name("samples")
EXPECTED = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))


def document(name: str) -> Any:
    """The parsed file of one sample."""
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_classifier_from_an_older_file_predicts_as_it_did(kind: str) -> None:
    X, _ = small_table(3, 40, missing=0.2)
    found = bayleaf.load(SAMPLES / f"{kind}.json").predict_proba(X[:4])
    np.testing.assert_allclose(found, EXPECTED[kind], rtol=1e-12)


def test_a_density_model_from_an_older_file_scores_as_it_did() -> None:
    X, _ = small_table(3, 40, missing=0.2)
    found = bayleaf.load(SAMPLES / "density.json").score_samples(X[:4])
    np.testing.assert_allclose(found, EXPECTED["density"], rtol=1e-12)


def test_a_network_from_an_older_file_is_that_of_its_density_model() -> None:
    network = bayleaf.read_network(SAMPLES / "bayesian_network.json")
    learned = bayleaf.load(SAMPLES / "density.json").network_
    assert network.edges == learned.edges
    for one, other in zip(network.cpds, learned.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_every_kind_of_model_has_a_sample() -> None:
    found = {document(kind)["model"]["type"] for kind in CLASSIFIERS}
    form_of_tests = {"one_feature"}
    assert found == set(FORMS) - form_of_tests
