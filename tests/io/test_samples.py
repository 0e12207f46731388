"""Files that were written before a change are read after it, and answer alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import bayleaf
from bayleaf.io.native.kinds import MODEL_KINDS
from offenders import check_each
from oracles.small_tables import small_table

SAMPLES = Path(__file__).with_name("samples")
EXPECTED = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
# Classifiers: one for each kind and form of model.
KINDS = tuple(sorted(EXPECTED.keys() - {"every_form", "density", "regressor"}))


def document(name: str) -> Any:
    """The parsed file of one sample."""
    return json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def test_a_classifier_from_an_older_file_predicts_as_it_did() -> None:
    def check(kind: str) -> None:
        X, _ = small_table(3, 40, missing=0.2)
        found = bayleaf.load(SAMPLES / f"{kind}.json").predict_proba(X[:4])
        np.testing.assert_allclose(found, EXPECTED[kind], rtol=1e-12)

    check_each(KINDS, check)


def test_a_classifier_from_an_older_file_is_the_same_in_a_new_one(
    tmp_path: Path,
) -> None:
    def check(kind: str) -> None:
        X, _ = small_table(3, 40, missing=0.2)
        old = bayleaf.load(SAMPLES / f"{kind}.json")
        old.save(tmp_path / "model.json")
        new = bayleaf.load(tmp_path / "model.json")
        np.testing.assert_array_equal(new.predict_proba(X), old.predict_proba(X))
        assert str(new.summary()) == str(old.summary())

    check_each(KINDS, check)


def test_every_form_of_distribution_is_read_from_older_files() -> None:
    network = bayleaf.read_network(SAMPLES / "every_form.json")
    for cpd, expected in zip(network.cpds, EXPECTED["every_form"], strict=True):
        np.testing.assert_array_equal(cpd.probabilities.ravel(), expected)
    assert network.cpds[0].experience == 17.25  # type: ignore[attr-defined]
    assert network.cpds[3].n_distributions == 2  # type: ignore[attr-defined]


def test_a_density_model_from_an_older_file_scores_as_it_did() -> None:
    X, _ = small_table(3, 40, missing=0.2)
    found = bayleaf.load(SAMPLES / "density.json").score_samples(X[:4])
    np.testing.assert_allclose(found, EXPECTED["density"], rtol=1e-12)


def test_a_regressor_from_an_older_file_predicts_as_it_did() -> None:
    X, _ = small_table(3, 40, missing=0.2)
    model = bayleaf.load(SAMPLES / "regressor.json")
    assert model.model_.trees is not None
    found = model.predict_quantiles(X[:4])
    np.testing.assert_allclose(found, EXPECTED["regressor"], rtol=1e-12)


def test_a_network_from_an_older_file_is_that_of_its_density_model() -> None:
    network = bayleaf.read_network(SAMPLES / "bayesian_network.json")
    learned = bayleaf.load(SAMPLES / "density.json").network_
    assert network.edges == learned.edges
    for one, other in zip(network.cpds, learned.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_every_kind_of_model_has_a_sample() -> None:
    found = {document(kind)["model"]["type"] for kind in KINDS}
    form_of_tests = {"one_feature"}
    assert found == set(MODEL_KINDS) - form_of_tests
