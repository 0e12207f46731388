"""What is written is read back before it takes an older file's place."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    NaiveBayesClassifier,
    load,
)
from bayleaf.io import ModelFileError
from bayleaf.io.native import archive
from bayleaf.io.native.codec import Decoder

X = pd.DataFrame({"a": [*"uvuvuvuv"], "b": [*"ppqqppqq"], "c": [*"klmklmkl"]})
Y = np.array(["no", "yes"] * 4)
TREES = {"c": {"any": [{"low": ["k", "l"]}, "m"]}}


@pytest.mark.parametrize("large", [False, True])
def test_a_model_that_reads_otherwise_does_not_replace_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    path = tmp_path / "m.json"
    NaiveBayesClassifier().fit(X, Y).save(path)
    before = path.read_bytes()
    if large:
        monkeypatch.setattr(archive, "MAX_INLINE", 3)
    read = Decoder._array

    model = BayesianNetworkClassifier().fit(X, Y)
    model.save(tmp_path / "other.json")

    def one_bit_off(self, dtype, value, where):
        found = read(self, dtype, value, where)
        return np.nextafter(found, 0.4) if dtype.kind == "f" else found

    monkeypatch.setattr(Decoder, "_array", one_bit_off)
    with pytest.raises(ModelFileError, match="the file was not written, since"):
        model.save(path)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.json", "other.json"]


def test_large_arrays_that_shrink_much_are_stored_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.integers(0, 7, (2000, 8)).astype(str), columns=[*"abcdefgh"]
    )
    model = AveragedKDBClassifier(n_networks=8, random_state=0).fit(
        table, rng.integers(0, 2, 2000)
    )
    monkeypatch.setattr(archive, "MAX_INLINE", 100)
    monkeypatch.setattr(archive, "_READERS_OWN", 100_000)
    monkeypatch.setattr(archive, "_EXPANSION", 2)
    path = tmp_path / "m.json"
    model.save(path)
    with zipfile.ZipFile(path) as found:
        kinds = {
            e.compress_type for e in found.infolist() if e.filename != "model.json"
        }
    assert kinds == {zipfile.ZIP_STORED}
    monkeypatch.undo()
    assert (load(path).predict_proba(table) == model.predict_proba(table)).all()


def bomb(n_bytes: int) -> bytes:
    """A small archive that unpacks to many zeros."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("model.json", "{}")
        whole.writestr("a0.npy", bytes(n_bytes))
    return content.getvalue()


BOMBS: dict[str, Callable[[int], bytes]] = {
    "archive": lambda n: bomb(200 * n),
    "lists": lambda n: b"[" + b"[]," * (3 * n) + b"[]]",
    "objects": lambda n: b"[" + b'{"a":{}},' * (2 * n) + b"0]",
    "numbers": lambda n: b"[" + b"1.5," * (8 * n) + b"0]",
}


def check_bomb(path: Path, content: bytes) -> None:
    """Check that a file is refused for its memory, and with more of it as foreign."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="raise max_bytes above"):
        load(path)
    with pytest.raises(ModelFileError, match="no bayleaf model file"):
        load(path, max_bytes=1 << 31)


@pytest.mark.parametrize("kind", BOMBS)
def test_a_file_that_takes_more_memory_than_its_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(archive, "_READERS_OWN", 1 << 20)
    check_bomb(tmp_path / "m.json", BOMBS[kind](20_000))


@pytest.mark.few("numbers", "archive")
@pytest.mark.slow
@pytest.mark.parametrize("kind", BOMBS)
def test_a_file_that_takes_much_more_memory_than_its_size_is_refused(
    tmp_path: Path, kind: str
) -> None:
    check_bomb(tmp_path / "m.json", BOMBS[kind](1_000_000))


def test_files_keep_hierarchies_themselves_and_no_paths(tmp_path: Path) -> None:
    trees = tmp_path / "trees.json"
    trees.write_text(json.dumps(TREES))
    for given in (str(trees), trees, {"c": str(trees)}, TREES):
        for kind in (BayesianNetworkClassifier, BayesianNetworkEstimator):
            model = kind(hierarchies=given, abstraction="given")
            model = (
                model.fit(X) if kind is BayesianNetworkEstimator else model.fit(X, Y)
            )
            model.save(tmp_path / "m.json")
            assert "trees.json" not in (tmp_path / "m.json").read_text()
            found = load(tmp_path / "m.json").hierarchies["c"]
            assert list(found) == ["any"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", [BayesianNetworkClassifier, BayesianNetworkEstimator])
def test_a_path_in_a_file_is_never_opened(tmp_path: Path, kind) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    model = kind(hierarchies=TREES, abstraction="given")
    model = model.fit(X) if kind is BayesianNetworkEstimator else model.fit(X, Y)
    path = tmp_path / "m.json"
    model.save(path)
    document = json.loads(path.read_text())
    named = {"object": "mapping", "parameters": {"c": str(pipe)}}
    for hostile in (
        str(pipe),
        {"c": str(pipe)},
        named,
        [str(pipe)],
        {"c": [str(pipe)]},
    ):
        document["parameters"]["hierarchies"] = hostile
        path.write_text(json.dumps(document))
        with pytest.raises(
            ModelFileError, match="hierarchies of a model file should be"
        ):
            load(path)


@pytest.mark.parametrize("kind", ["datetime64[ns]", "datetime64[D]", "timedelta64[s]"])
def test_times_as_labels_are_refused_by_save(tmp_path: Path, kind: str) -> None:
    labels = np.array([1, 2] * 4).astype(kind)
    model = NaiveBayesClassifier().fit(X, labels)
    assert set(model.predict(X)) <= set(labels)
    with pytest.raises(TypeError, match="in a model file"):
        model.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
