"""What is written is read back bit for bit, and replaced whole or not at all."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayleaf
from bayleaf import AODEClassifier, KDBClassifier, NaiveBayesClassifier, TANClassifier
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.graph.dag import DAG
from bayleaf.io import ModelFileError, SavedModel, read_model, write_model
from bayleaf.io.native import archive
from bayleaf.models import NetworkModel, Predictor
from offenders import check_each
from property.networks import network_models, one_dependence_models, random_network


def _saved(
    model: Any, classes: Any = None, loss: Any = None, **rules: Any
) -> SavedModel:
    """A model as a file holds it."""
    states = model.domain[-1].states
    encoder = TableEncoder(
        Domain(model.domain.variables[:-1]),
        EncoderRules(**rules),
        {name: f"a remark on {name}" for name in model.domain.names[:1]},
    )
    labels = np.array(states) if classes is None else classes
    return SavedModel.of_predictor(
        Predictor(encoder, model, labels, loss),
        estimator="X",
        parameters={"k": 1},
        log_likelihood=-0.1,
    )


def _tables(value: Any) -> list[Any]:
    """All arrays of a model."""
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        own = dataclasses.fields(value)
        value = tuple(getattr(value, field.name) for field in own)
    inner = value if isinstance(value, tuple) else ()
    return [array for item in inner for array in _tables(item)]


def _assert_same(read: SavedModel, saved: SavedModel) -> None:
    """Check that every field was kept bit for bit."""
    one, other = read.predictor, saved.predictor
    assert one.model.domain == other.model.domain
    assert one.encoder == other.encoder
    assert one.encoder.notes == other.encoder.notes
    assert one.model.arcs == other.model.arcs
    for found, expected in zip(_tables(one.model), _tables(other.model), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(one.classes, other.classes)
    assert one.classes.dtype == other.classes.dtype
    assert (read.estimator, read.parameters) == (saved.estimator, saved.parameters)
    assert read.fitted == saved.fitted
    assert read.log_likelihood == saved.log_likelihood
    assert read.named_features == saved.named_features


def _through_a_file(saved: SavedModel, folder: Path) -> SavedModel:
    write_model(saved, folder / "model.json")
    return read_model(folder / "model.json")


@settings(deadline=None, max_examples=25)
@given(model=st.one_of(network_models(class_everywhere=False), one_dependence_models()))
@pytest.mark.parametrize("most_inline", [0, 10**9], ids=["beside", "inside"])
def test_every_model_is_read_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, most_inline: int, model: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "MAX_INLINE", most_inline)
        saved = _saved(model)
        _assert_same(_through_a_file(saved, tmp_path_factory.mktemp("model")), saved)


def _model_over(*variables: Variable) -> NetworkModel:
    """A naive Bayes model over some features and the class."""
    n_features = len(variables) - 1
    cards = [variable.n_states for variable in variables]
    dag = DAG((*[(n_features,)] * n_features, ()))
    network = random_network(np.random.default_rng(0), cards, dag)
    domain = Domain(tuple(variables))
    return NetworkModel(type(network)(domain, dag, network.cpds))


VARIABLES = [
    Variable("a", ("x", "ä", "", "\n", '"', "\u2028", "\x00", "😀")),
    Variable("a", (-(2**63), 0, 2**64 - 1, 10**30)),
    Variable("a", (0.1, 1e-300, 5e-324, -0.0)),
    Variable("a", (False, True)),
    Variable("a", (1, 2.5, "x", None)),
    Variable("a", (None,)),
    numeric_variable("a", []),
    numeric_variable("a", [0.1 + 0.2, 1e300], missing_state=True),
    numeric_variable("a", [1.0, math.nextafter(1.0, 2.0)]),
    Variable(7, ("x",)),
    Variable(-1, ("x",)),
    Variable("", ("x",)),
]


def test_every_variable_is_read_back(tmp_path: Path) -> None:
    def check(variable: Variable) -> None:
        saved = _saved(_model_over(variable, Variable("y", ("no", "yes"))))
        read = _through_a_file(saved, tmp_path)
        _assert_same(read, saved)
        before, after = saved.predictor.model.domain, read.predictor.model.domain
        assert [type(s) for s in after[0].states] == [type(s) for s in before[0].states]

    check_each(VARIABLES, check, repr)


LABELS: list[Any] = [
    np.array([3, 5]),
    np.array([3, 5], dtype=np.int8),
    np.array([3, 2**64 - 1], dtype=np.uint64),
    np.array([1.5, 2.0]),
    np.array([1.5, 2.0], dtype=np.float32),
    np.array([False, True]),
    np.array(["no", "longer"]),
    np.array(["no", 1], dtype=object),
    np.array([1, 2], dtype=object),
    np.array([1, 2], dtype=">i4"),
]


def test_labels_of_every_type_are_read_back(tmp_path: Path) -> None:
    def check(classes: Any) -> None:
        model = _model_over(
            Variable("a", ("x",)), Variable("y", tuple(classes.tolist()))
        )
        saved = _saved(model, classes)
        _assert_same(_through_a_file(saved, tmp_path), saved)

    check_each(LABELS, check, lambda classes: str(classes.dtype))


@pytest.mark.parametrize(
    "rules",
    [
        {"categorical_features": ("a", 3)},
        {"categorical_features": (True,)},
        {"categorical_features": ()},
        {"missing": "state", "unknown": "error", "max_states": 7},
    ],
    ids=str,
)
def test_rules_are_read_back(tmp_path: Path, rules: dict[str, Any]) -> None:
    model = _model_over(Variable("a", ("x",)), Variable("y", (0, 1)))
    saved = _saved(model, **rules)
    assert _through_a_file(saved, tmp_path).predictor.encoder.rules == EncoderRules(
        **rules
    )


def test_a_loss_is_read_back(tmp_path: Path) -> None:
    loss = np.array([[0.0, 0.1 + 0.2], [1e-300, 0.0]])
    model = _model_over(Variable("a", ("x",)), Variable("y", (0, 1)))
    read = _through_a_file(_saved(model, loss=loss), tmp_path)
    assert read.predictor.loss is not None
    np.testing.assert_array_equal(read.predictor.loss, loss)


def test_large_models_are_one_archive(
    models: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", 3)

    def check(kind: str) -> None:
        folder = tmp_path_factory.mktemp(kind)
        models[kind].save(folder / "model.json")
        assert [path.name for path in folder.iterdir()] == ["model.json"]
        assert zipfile.is_zipfile(folder / "model.json")
        read = bayleaf.load(folder / "model.json")
        for found, expected in zip(
            _tables(read.model_), _tables(models[kind].model_), strict=True
        ):
            np.testing.assert_array_equal(found, expected)

    check_each(models, check)


def test_arrays_are_compressed_by_the_strategy_that_suits_them() -> None:
    rng = np.random.default_rng(0)
    arrays = [
        # Repeats nothing but is uneven, repeats itself, and repeats single numbers.
        rng.geometric(0.3, 50_000).astype(np.uint8),
        np.tile(rng.normal(size=50), 1000),
        np.repeat(rng.geometric(0.3, 5_000).astype(np.uint8), 10),
    ]
    written = archive.archive_of("{}", arrays)
    sizes = []
    with zipfile.ZipFile(io.BytesIO(written)) as content:
        for place, array in enumerate(arrays):
            entry = content.getinfo(f"a{place}.npy")
            data = content.read(entry)
            np.testing.assert_array_equal(np.load(io.BytesIO(data)), array)
            sizes.append((entry.compress_size, len(zlib.compress(data, 1))))
    (uneven, of_uneven), (tiled, of_tiled), (runs, of_runs) = sizes
    assert uneven < 0.9 * of_uneven
    assert tiled <= of_tiled
    assert runs < of_runs


def test_a_large_model_is_the_same_file_each_time_and_may_be_renamed(
    models: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", 3)

    def check(kind: str) -> None:
        models[kind].save(tmp_path / "model.json")
        content = (tmp_path / "model.json").read_bytes()
        models[kind].save(tmp_path / "model.json")
        assert (tmp_path / "model.json").read_bytes() == content
        path = (tmp_path / "model.json").rename(tmp_path / "other.bin")
        assert bayleaf.load(path).classes_.tolist() == ["no", "yes"]

    check_each(models, check)


@pytest.mark.parametrize("most_inline", [0, 10**9], ids=["beside", "inside"])
@pytest.mark.parametrize("broken", ["label", "parameter", "likelihood"])
def test_an_older_model_stays_whole_if_a_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_inline: int, broken: str
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", most_inline)
    path = tmp_path / "model.json"
    variables = Variable("a", ("x", "y")), Variable("y", (0, 1))
    old = _saved(_model_over(*variables))
    write_model(old, path)
    files = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    model = _model_over(*variables)
    model = model.with_class_prior(np.array([0.25, 0.75]))
    new: dict[str, Any] = {
        "label": lambda: _saved(model, np.array([1 + 0j, 2])),
        "parameter": lambda: replace(_saved(model), parameters={"k": object()}),
        "likelihood": lambda: replace(_saved(model), log_likelihood=math.nan),
    }
    with pytest.raises((TypeError, ValueError)):
        write_model(new[broken](), path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == files
    _assert_same(read_model(path), old)


@pytest.mark.parametrize("most_inline", [0, 10**9], ids=["beside", "inside"])
def test_an_older_model_stays_whole_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_inline: int
) -> None:
    monkeypatch.setattr(archive, "MAX_INLINE", most_inline)
    path = tmp_path / "model.json"
    old = _saved(_model_over(Variable("a", ("x", "y")), Variable("y", (0, 1))))
    write_model(old, path)
    names = sorted(p.name for p in tmp_path.iterdir())

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="the disk has no room"):
        write_model(old, path)
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    _assert_same(read_model(path), old)


def test_tables_that_no_reader_would_take_are_not_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": list("xyxyxz"), "b": list("ppqqpq")})
    rule = bayleaf.MaximumLikelihood(floor=0.9)
    model = NaiveBayesClassifier(smoothing=rule).fit(frame, [0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"table of variable 'a' .*do not sum to 1"):
        model.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


PARAMETERS: list[dict[str, Any]] = [
    {"categorical_features": [True, False]},
    {"categorical_features": np.array([False, True])},
    {"categorical_features": np.array([1])},
    {"categorical_features": np.array(["a"])},
    {"categorical_features": []},
    {"smoothing": bayleaf.Lidstone(np.int64(2))},
    {"smoothing": bayleaf.MEstimate(np.float32(0.5))},
    {"discretizer": bayleaf.EqualWidthDiscretizer(n_bins=np.int64(3))},
    {"max_states": np.int64(50), "max_table_cells": np.int64(10**6)},
    {"class_prior": np.array([0.25, 0.75])},
    {"loss": np.array([[0, 1], [2, 0]])},
    {"n_jobs": np.int64(1)},
]


@pytest.mark.parametrize(
    "kind", [NaiveBayesClassifier, TANClassifier, KDBClassifier, AODEClassifier]
)
def test_every_parameter_is_read_back(tmp_path: Path, kind: Any) -> None:
    frame = pd.DataFrame({"a": [1, 2, 1, 3] * 5, "b": [5, 6, 6, 5] * 5})

    def check(parameters: dict[str, Any]) -> None:
        model = kind(**parameters).fit(frame, [0, 1, 0, 1] * 5)
        model.save(tmp_path / "model.json")
        read = bayleaf.load(tmp_path / "model.json")
        np.testing.assert_array_equal(
            read.predict_joint_log_proba(frame), model.predict_joint_log_proba(frame)
        )
        again = kind(**read.get_params(deep=False)).fit(frame, [0, 1, 0, 1] * 5)
        np.testing.assert_array_equal(
            again.predict_proba(frame), model.predict_proba(frame)
        )

    check_each(PARAMETERS, check)


def test_integer_names_stay_integers(tmp_path: Path) -> None:
    frame = pd.DataFrame([["x", 1.5], ["y", 2.5], ["x", 0.5]], columns=[10, 20])
    model = NaiveBayesClassifier().fit(frame, [0, 1, 0])
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert read.encoder_.domain.names == (10, 20)
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))


def test_a_first_batch_without_any_value_is_read_back(tmp_path: Path) -> None:
    model = NaiveBayesClassifier()
    frame = pd.DataFrame({"a": ["x", "y"], "gone": pd.Series([None, None], dtype=str)})
    model.partial_fit(frame, [0, 1], classes=[0, 1])
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(read.predict_proba(frame), model.predict_proba(frame))


def test_a_file_above_the_limit_is_refused(
    texts: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"

    def check(kind: str) -> None:
        path.write_text(texts[kind], encoding="utf-8")
        size = path.stat().st_size
        with pytest.raises(
            ModelFileError, match=rf"more bytes than the limit of {size - 1}"
        ):
            read_model(path, max_bytes=size - 1)
        read_model(path, max_bytes=size)

    check_each(texts, check)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a Unix device")
def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(ModelFileError, match="more bytes than the limit"):
        read_model("/dev/zero", max_bytes=1 << 20)


def test_the_file_is_readable_json(texts: dict[str, str]) -> None:
    def check(kind: str) -> None:
        document = json.loads(texts[kind])
        assert document["format"] == "bayleaf-model"
        assert document["domain"][0]["states"][:2] == ["blau", "grün"]

    check_each(texts, check)


def test_a_record_of_another_kind_is_no_classifier(tmp_path: Path) -> None:
    rows = [["u", "v"], ["w", "v"], ["u", "x"]] * 5
    bayleaf.BayesianNetworkEstimator(random_state=0).fit(rows).save(tmp_path / "m.json")
    saved = read_model(tmp_path / "m.json")
    assert (saved.kind, saved.estimator) == ("density", "BayesianNetworkEstimator")
    with pytest.raises(ModelFileError, match="Estimator, but a classifier is needed"):
        _ = saved.predictor


def test_facts_of_a_kind_are_required(tmp_path: Path) -> None:
    rows = [["u", "v"], ["w", "v"], ["u", "x"]] * 5
    path = tmp_path / "m.json"
    bayleaf.BayesianNetworkEstimator(random_state=0).fit(rows).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for name in ("score", "log_likelihood", "fitted", "estimator", "model"):
        rest = {key: value for key, value in document.items() if key != name}
        path.write_text(json.dumps(rest), encoding="utf-8")
        with pytest.raises(ModelFileError, match=f"lacks the field '{name}'"):
            read_model(path)


def test_an_estimator_must_fit_the_kind_of_its_model(tmp_path: Path) -> None:
    rows = [["u", "v"], ["w", "v"], ["u", "x"]] * 5
    path = tmp_path / "m.json"
    bayleaf.BayesianNetworkEstimator(random_state=0).fit(rows).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for name in ("TANClassifier", "AveragedKDBRegressor", "os.system"):
        path.write_text(json.dumps({**document, "estimator": name}), encoding="utf-8")
        with pytest.raises(ModelFileError, match="known are BayesianNetworkEstimator"):
            bayleaf.load(path)
