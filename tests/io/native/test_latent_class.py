"""Mixtures within classes in model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import LatentClassNBClassifier
from bayleaf.cpds.smoothing import MaximumLikelihood
from bayleaf.io import ModelFileError
from bayleaf.io.native import archive
from contract.tables import mixed_frame
from offenders import check_each


def _fitted(**parameters: Any) -> tuple[LatentClassNBClassifier, pd.DataFrame]:
    frame, y = mixed_frame()
    return LatentClassNBClassifier(**parameters, random_state=0).fit(frame, y), frame


@pytest.fixture
def document(tmp_path: Path) -> Any:
    """A written model as plain values."""
    model, _ = _fitted(n_components=2)
    model.save(tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))


def _refused(document: Any, folder: Path) -> str:
    path = folder / "other.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError) as caught:
        bayleaf.load(path)
    return str(caught.value)


@pytest.mark.parametrize("most_inline", [0, 10**9], ids=["beside", "inside"])
@pytest.mark.parametrize("n_components", [1, 3])
def test_every_table_is_read_back_bit_for_bit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_inline: int,
    n_components: int,
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", most_inline)
    model, frame = _fitted(n_components=n_components, calibration="leave_one_out")
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert isinstance(read, LatentClassNBClassifier)
    one, other = model.model_, read.model_
    pairs = zip(
        [one.prior, one.weights, *one.tables],  # type: ignore[attr-defined]
        [other.prior, other.weights, *other.tables],  # type: ignore[attr-defined]
        strict=True,
    )
    for expected, found in pairs:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(read.score_samples(frame), model.score_samples(frame))
    assert read.components() == model.components()


def test_a_wrong_number_of_components_is_refused(document: Any, tmp_path: Path) -> None:
    def check(n_components: Any) -> None:
        document["model"]["weights"]["shape"][1] = n_components
        assert "weights" in _refused(document, tmp_path)

    check_each([0, -1, 10**30, "2", True, None, 1.5, 3], check)


def test_a_table_too_few_is_refused(document: Any, tmp_path: Path) -> None:
    document["model"]["tables"].pop()
    assert "4 tables for 5 features" in _refused(document, tmp_path)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("prior", "the class prior"),
        ("weights", "the component weights"),
        ("tables", "the table of feature 'weather'"),
    ],
)
def test_what_does_not_sum_to_one_is_refused(
    document: Any, tmp_path: Path, name: str, what: str
) -> None:
    values = document["model"][name]
    table = values[0] if name == "tables" else values
    (table if name == "prior" else table["numbers"])[0] += 0.1
    assert f"{what} holds probabilities that do not sum" in _refused(document, tmp_path)


def test_tables_that_are_no_distributions_are_not_written(tmp_path: Path) -> None:
    model, _ = _fitted(smoothing=MaximumLikelihood(0.9))
    with pytest.raises(ModelFileError, match="do not sum to 1"):
        model.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()
