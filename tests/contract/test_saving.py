"""A classifier that was saved and read again is the same classifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from contract.kinds import each_kind, fitted, has_smoothing, is_joint
from contract.tables import mixed_frame


def _fitted(kind: Any, **parameters: Any) -> tuple[Any, pd.DataFrame]:
    frame, y = mixed_frame()
    return kind(**parameters, random_state=0).fit(frame, y), frame


def _through_a_file(model: Any, folder: Path) -> Any:
    model.save(folder / "model.json")
    return bayleaf.load(folder / "model.json")


@each_kind()
def test_a_read_model_predicts_bit_for_bit(kind: Any, tmp_path: Path) -> None:
    model, frame = fitted(kind)
    read = _through_a_file(model, tmp_path)
    assert type(read) is kind
    np.testing.assert_array_equal(
        read.predict_joint_log_proba(frame), model.predict_joint_log_proba(frame)
    )
    np.testing.assert_array_equal(read.predict(frame), model.predict(frame))


@each_kind()
def test_a_read_model_has_the_same_summary(kind: Any, tmp_path: Path) -> None:
    model, _ = fitted(kind)
    read = _through_a_file(model, tmp_path)
    assert str(read.summary()) == str(model.summary())
    assert read.edges_ == model.edges_


@each_kind()
def test_a_read_model_explains_as_the_saved_one(kind: Any, tmp_path: Path) -> None:
    model, frame = fitted(kind)
    read = _through_a_file(model, tmp_path)
    assert [e.to_dict() for e in read.explain(frame[:9])] == [
        e.to_dict() for e in model.explain(frame[:9])
    ]


def _state_parts(part: Any, seen: dict[int, Any]) -> Any:
    """All that the state of an object contains, as pickles see it."""
    if id(part) in seen:
        return
    seen[id(part)] = part
    yield part
    inside: Any = part
    if isinstance(part, dict):
        inside = [*part, *part.values()]
    elif not isinstance(part, list | tuple | set | frozenset):
        reduced = type(part).__reduce_ex__(part, 4) if hasattr(part, "__dict__") else ()
        inside = () if isinstance(part, type) else reduced[2:3]
    for element in inside:
        yield from _state_parts(element, seen)


@each_kind()
def test_a_state_holds_trusted_types_and_mappings_with_plain_keys(kind: Any) -> None:
    model, frame = fitted(kind)
    model.predict(frame)
    trusted = set(bayleaf.trusted_types())
    for part in _state_parts(model, {}):
        part_type = type(part)
        if isinstance(part, dict):
            assert {type(key) for key in part} <= {str, int}, part
        elif part_type.__module__.startswith("bayleaf"):
            assert f"{part_type.__module__}.{part_type.__name__}" in trusted


@each_kind(has_smoothing)
def test_parameters_are_kept(kind: Any, tmp_path: Path) -> None:
    loss = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [1.0, 5.0, 0.0]]
    model, frame = _fitted(
        kind,
        smoothing=bayleaf.MEstimate(2.0),
        discretizer="equal_width",
        loss=loss,
        class_prior=np.array([0.2, 0.3, 0.5]),
        missing="state",
        unknown="error",
    )
    read = _through_a_file(model, tmp_path)
    assert read.smoothing == bayleaf.MEstimate(2.0)
    assert read.missing == "state"
    np.testing.assert_array_equal(read.predict(frame), model.predict(frame))


@each_kind()
def test_saving_twice_writes_the_same_bytes(kind: Any, tmp_path: Path) -> None:
    model, _ = fitted(kind)
    model.save(tmp_path / "one.json")
    _through_a_file(model, tmp_path).save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@each_kind()
def test_the_file_is_json(kind: Any, tmp_path: Path) -> None:
    model, _ = fitted(kind)
    model.save(tmp_path / "model.json")
    assert kind.__name__ in json.dumps(
        json.loads((tmp_path / "model.json").read_text())
    )


@each_kind(labels=[[0, 1, 2], ["a", "b", "c"], [False, True, True], [1.0, 2.0, 3.0]])
def test_labels_keep_their_type(kind: Any, tmp_path: Path, labels: Any) -> None:
    rows = [["p"], ["q"], ["r"]] * 3
    model = kind(random_state=0).fit(rows, labels * 3)
    read = _through_a_file(model, tmp_path)
    assert read.classes_.dtype == model.classes_.dtype
    assert read.predict(rows).tolist() == model.predict(rows).tolist()


@each_kind()
def test_an_unfitted_classifier_is_not_saved(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        kind(random_state=0).save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@each_kind(is_joint)
def test_a_parameter_without_a_place_in_the_file_is_named(
    kind: Any, tmp_path: Path
) -> None:
    class Odd:
        def estimate(self, counts: Any) -> Any:
            return bayleaf.Lidstone(1.0).estimate(counts)

    model, _ = _fitted(kind, smoothing=Odd())
    with pytest.raises(TypeError, match=r"smoothing holds a Odd.*pickle"):
        model.save(tmp_path / "model.json")
