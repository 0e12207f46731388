"""Hierarchical mixtures in model files."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf import HierarchicalMixtureNBClassifier
from bayleaf.io import ModelFileError
from bayleaf.io.native import archive
from bayleaf.models.hierarchical_mixture_model import HierarchicalMixtureModel
from contract.tables import mixed_columns, mixed_frame
from offenders import check_each

MUTANTS: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "x",
    [],
    {},
    [None],
    {"array": 0},
)


def _fitted(**parameters: Any) -> tuple[HierarchicalMixtureNBClassifier, pd.DataFrame]:
    frame, y = mixed_frame()
    return HierarchicalMixtureNBClassifier(**parameters, random_state=0).fit(
        frame, y
    ), frame


@pytest.fixture
def document(tmp_path: Path) -> Any:
    """A written model as plain values."""
    model, _ = _fitted(architecture=(2, 1), n_mixtures=2, class_prior=[0.2, 0.3, 0.5])
    model.save(tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))


def _refused(document: Any, folder: Path) -> str:
    path = folder / "other.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError) as caught:
        bayleaf.load(path)
    return str(caught.value)


@pytest.mark.parametrize("most_inline", [0, 10**9], ids=["beside", "inside"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"architecture": (3, 2), "n_mixtures": 2},
        {"architecture": ()},
        {"missing_denominator": "all_rows"},
        {"class_prior": [0.2, 0.3, 0.5], "calibration": "leave_one_out"},
        {"learning": "batch"},
    ],
    ids=str,
)
def test_every_table_is_read_back_bit_for_bit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_inline: int,
    parameters: dict[str, Any],
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", most_inline)
    model, frame = _fitted(**parameters)
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    one = cast(HierarchicalMixtureModel, model.model_)
    other = cast(HierarchicalMixtureModel, read.model_)
    assert other.architecture == one.architecture
    for ours, theirs in zip(one.starts, other.starts, strict=True):
        for bank, found in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(found.log_prior, bank.log_prior)
            np.testing.assert_array_equal(found.log_table, bank.log_table)
            np.testing.assert_array_equal(found.offsets, bank.offsets)
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))
    assert str(read) == str(model)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything in a document; of long lists to the ends alone."""
    if path:
        yield path
    if isinstance(value, dict):
        items: list[Any] = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
        items = items if len(items) < 4 else [items[0], items[-1]]
    else:
        return
    for key, item in items:
        yield from _leaves(item, (*path, key))


def _changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a document with one value changed."""
    document = copy.deepcopy(document)
    inner = document["model"]
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


@pytest.mark.slow
@pytest.mark.long
def test_a_value_of_another_type_anywhere_is_refused_or_harmless(
    document: Any, tmp_path: Path
) -> None:
    frame = pd.DataFrame(mixed_columns()[0])
    path, refused = tmp_path / "other.json", 0
    for place in _leaves(document["model"]):
        for mutant in MUTANTS:
            changed = _changed(document, place, mutant)
            path.write_text(json.dumps(changed), encoding="utf-8")
            try:
                model = bayleaf.load(path)
            except ModelFileError:
                refused += 1
                continue
            assert np.isfinite(model.predict_proba(frame)).all()
    assert refused > 200


def test_a_wrong_architecture_is_refused(document: Any, tmp_path: Path) -> None:
    def check(architecture: Any) -> None:
        document["model"]["architecture"] = architecture
        told = _refused(document, tmp_path)
        assert "architecture" in told or "levels" in told or "numbers" in told

    check_each([[2], [2, 2], [2, 0], ["2", 1], [10**9], 2], check)


def test_a_mixture_without_a_start_is_refused(document: Any, tmp_path: Path) -> None:
    document["model"]["starts"] = []
    assert "at least one start" in _refused(document, tmp_path)


def test_priors_that_do_not_sum_to_one_are_refused(
    document: Any, tmp_path: Path
) -> None:
    document["model"]["starts"][0][0]["log_prior"]["numbers"][0] -= 0.1
    told = _refused(document, tmp_path)
    assert "the priors of level 0 of the mixture holds probabilities that do" in told


def test_tables_that_sum_to_more_than_one_are_refused(
    document: Any, tmp_path: Path
) -> None:
    table = document["model"]["starts"][1][2]["log_table"]["numbers"]
    table[:] = [-0.1] * len(table)
    assert "level 2 of the mixture holds probabilities" in _refused(document, tmp_path)


def test_a_logarithm_above_zero_is_refused(document: Any, tmp_path: Path) -> None:
    document["model"]["starts"][0][1]["log_table"]["numbers"][0] = 800.0
    assert "level 1 of the mixture holds something" in _refused(document, tmp_path)


def test_a_class_prior_that_is_none_is_refused(document: Any, tmp_path: Path) -> None:
    document["model"]["prior"] = [0.5, 0.5, 0.5]
    assert "the class prior holds probabilities" in _refused(document, tmp_path)
