"""Damaged, foreign and malicious files give one sentence, and run nothing."""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.io import ModelFileError, read_model
from bayleaf.io.native import archive
from oracles.documents import changed, leaves
from oracles.small_tables import small_table

SAMPLES = Path(__file__).with_name("samples")
SAMPLED = [kind for kind in CLASSIFIERS if (SAMPLES / f"{kind}.json").exists()]
MUTANTS: list[Any] = [
    None,
    [],
    {},
    [[]],
    {"object": "Lidstone", "parameters": {"alpha": "x"}},
    "",
    "text",
    "\ud800",
    -1,
    0,
    1,
    2.5,
    True,
    10**30,
    10**400,
    -(10**400),
    1e308,
]


def _refuse(path: Path) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(ModelFileError) as caught:
        bayleaf.load(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


def _load_or_refuse(path: Path, table: Any) -> None:
    """Load a file; a model that comes out must be usable."""
    try:
        model = bayleaf.load(path)
    except ModelFileError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert 10 < len(sentence) < 400
        return
    str(model.summary())
    try:
        found = model.predict_proba(table)
    except (ValueError, TypeError):
        # The encoder may ask for other columns or values now.
        return
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def _table(model: Any, place: int) -> Any:
    """One of the tables of a model, or what stands for it."""
    if "network" in model:
        return model["network"]["cpds"][place]["probabilities"]
    table = model["tables"][place] if "tables" in model else model["prior"]
    return table if isinstance(table, list) else table.get("probabilities", table)


def _numbers(array: Any) -> Any:
    """The list of the numbers of an array."""
    return array["numbers"] if isinstance(array, dict) else array


@pytest.fixture
def document(model_file: Path) -> Any:
    """The parsed file of each kind of classifier."""
    return json.loads(model_file.read_text(encoding="utf-8"))


@pytest.fixture
def table() -> Any:
    """A table that the models can predict."""
    import pandas as pd

    return pd.DataFrame(
        {
            "text": ["blau", None],
            "number": pd.array([1, None], dtype="Int64"),
            "real": [0.5, None],
        }
    )


def _write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_value_of_another_type_anywhere_is_refused_or_harmless(
    document: Any, model_file: Path, table: Any
) -> None:
    for path in leaves(document):
        for mutant in MUTANTS:
            _write(model_file, changed(document, path, lambda _, new=mutant: new))
            _load_or_refuse(model_file, table)


@pytest.mark.parametrize("kind", SAMPLED)
def test_a_value_of_another_type_anywhere_in_an_older_model_is_refused_or_harmless(
    tmp_path: Path, kind: str
) -> None:
    X, _ = small_table(3, 40, missing=0.2)
    sample = SAMPLES / f"{kind}.json"
    document = json.loads(sample.read_text(encoding="utf-8"))
    for path in leaves(document["model"], ("model",)):
        for mutant in (None, [], {}, [[]], "text", -1, 0, 2.5, 10**400):
            other = changed(document, path, lambda _, new=mutant: new)
            _load_or_refuse(_write(tmp_path / "model.json", other), X[:4])


def test_a_value_of_another_type_at_the_top_is_refused_or_harmless(
    document: Any, model_file: Path, table: Any
) -> None:
    for key in document:
        for mutant in MUTANTS:
            _write(model_file, {**document, key: mutant})
            _load_or_refuse(model_file, table)


def test_a_field_left_out_anywhere_is_refused_or_harmless(
    document: Any, model_file: Path, table: Any
) -> None:
    for path in leaves(document):
        if isinstance(path[-1], str):
            changed = copy.deepcopy(document)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            del inner[path[-1]]
            _write(model_file, changed)
            _load_or_refuse(model_file, table)


def test_every_required_field_is_named_when_it_lacks(
    document: Any, model_file: Path
) -> None:
    for key in ("domain", "model", "rules", "classifier", "parameters", "label_type"):
        _write(model_file, {k: v for k, v in document.items() if k != key})
        assert f"lacks the field {key!r}" in _refuse(model_file)


def test_a_file_cut_short_anywhere_is_refused(model_file: Path) -> None:
    content = model_file.read_bytes()
    # Without its last newline a file is still whole.
    for length in sorted({*range(0, len(content) - 1, 97), len(content) - 2}):
        model_file.write_bytes(content[:length])
        assert "no bayleaf model file" in _refuse(model_file)


@pytest.mark.parametrize("version", [0, 1, 99, -1, 1.5, "1", None, True, [1], 10**30])
def test_another_schema_version_is_refused(
    document: Any, model_file: Path, version: Any
) -> None:
    _write(model_file, {**document, "schema_version": version})
    assert "this bayleaf reads versions 2 to 4; use the" in _refuse(model_file)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 0.01, 21, "1", None, True])
def test_a_temperature_out_of_range_is_refused(
    document: Any, model_file: Path, temperature: Any
) -> None:
    _write(model_file, {**document, "temperature": temperature})
    assert "temperature" in _refuse(model_file)


@pytest.mark.parametrize("shift", [[0.0], [0.0, "1"], 3, {"array": 0}])
def test_a_prior_shift_that_does_not_fit_is_refused(
    document: Any, model_file: Path, shift: Any
) -> None:
    _write(model_file, {**document, "prior_shift": shift})
    assert "prior_shift" in _refuse(model_file)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"null",
        b"7",
        b'"bayleaf-model"',
        b"[1, 2]",
        b"{}",
        b'{"format": "pmml"}',
        b'{"learner": {"gradient_booster": {}}, "version": [2, 1, 0]}',
        b"feature,class\n1,2\n",
        b"\x80\x04\x95",
        b"PK\x03\x04",
        b"\xff\xfe\x00\x00",
        b"\xef\xbb\xbf{}",
        bytes(range(256)),
    ],
    ids=repr,
)
def test_another_programs_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    assert _refuse(path).startswith("other.json is no bayleaf model file")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    path = tmp_path / "model.json"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Trap(), protocol))
        _refuse(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_a_million_deep_nesting_is_refused(tmp_path: Path, opening: bytes) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(opening * 500_000)
    assert "nested too deeply" in _refuse(path)


@pytest.mark.parametrize("key", ["parameters", "domain", "notes", "loss"])
def test_deep_nesting_inside_a_model_is_refused(
    document: Any, model_file: Path, key: str
) -> None:
    text = json.dumps({**document, key: "@"})
    deep = "[" * 1_000_000 + "]" * 1_000_000
    model_file.write_text(text.replace('"@"', deep))
    assert "nested too deeply" in _refuse(model_file)


def test_nesting_just_within_the_parsers_limit_is_refused_or_harmless(
    document: Any, model_file: Path, table: Any
) -> None:
    for depth in (100, 500, 800, 900, 950, 980):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            deep = f'{{"alpha": {opening * depth}1{closing * depth}}}'
            text = json.dumps({**document, "parameters": "@"})
            model_file.write_text(text.replace('"@"', deep))
            _load_or_refuse(model_file, table)


NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000]
# A state and a limit may be whole numbers of any size.
TOO_LARGE = [(place, "9" * 400) for place in ("probability", "likelihood", "cut")]


@pytest.mark.parametrize(
    ("place", "literal"),
    [
        *itertools.product(
            ("probability", "likelihood", "cut", "state", "cells"), NO_NUMBERS
        ),
        *TOO_LARGE,
    ],
)
def test_numbers_that_are_none_are_refused(
    document: Any, model_file: Path, place: str, literal: str
) -> None:
    model = document["model"]
    if place == "probability":
        _numbers(_table(model, 0))[0] = "@"
    elif place == "likelihood":
        document["log_likelihood"] = "@"
    elif place == "cut":
        document["domain"][2]["cut_points"][0] = "@"
    elif place == "state":
        document["domain"][1]["states"][0] = "@"
    elif "max_table_cells" in model:
        model["max_table_cells"] = "@"
    elif "weights" in model:
        model["weights"]["shape"][1] = "@"
    else:
        model["usable"][0] = "@"
    model_file.write_text(json.dumps(document).replace('"@"', literal))
    _refuse(model_file)


def test_a_probability_below_zero_is_refused(document: Any, model_file: Path) -> None:
    table = _numbers(_table(document["model"], -1))
    table[0], table[1] = -0.25, 1.25
    _write(model_file, document)
    assert "holds a negative probability" in _refuse(model_file)


@pytest.mark.parametrize("factor", [0.0, 0.99, 1.01, 1e300])
def test_probabilities_that_do_not_sum_to_one_are_refused(
    document: Any, model_file: Path, factor: float
) -> None:
    model = document["model"]
    table = model.get("parent_probabilities", _table(model, 0))
    _numbers(table)[0] *= factor
    _write(model_file, document)
    assert "do not sum to 1" in _refuse(model_file)


@pytest.mark.parametrize("cyclic", [[[1, 3], [0, 3], [3], []], [[0], [3], [3], []]])
def test_a_cyclic_graph_is_refused(tmp_path: Path, cyclic: Any) -> None:
    path = _network_file(tmp_path, lambda n: n["dag"].update(parents=cyclic))
    assert "close a cycle" in _refuse(path)


@pytest.mark.parametrize(
    ("parents", "words"),
    [
        ([[3, 3], [3], [3], []], "lists a parent twice"),
        ([[4], [3], [3], []], "parent outside"),
        ([[-1], [3], [3], []], "parent outside"),
        ([[10**400], [3], [3], []], "parent outside"),
        ([[3.0], [3], [3], []], "parents[0][0] should be of type int"),
        ([[True], [3], [3], []], "parents[0][0] should be of type int"),
        ([3, [3], [3], []], "parents[0] should be a list"),
        ([[], [], []], "4 variables, 3 nodes and 4 tables do not fit"),
        ([[], [3], [3], []], "the graph asks for (2,) over (0,)"),
        ([[1, 3], [3], [3], []], "the graph asks for (2, 2, 2) over (1, 3, 0)"),
    ],
)
def test_a_graph_that_does_not_fit_is_refused(
    tmp_path: Path, parents: Any, words: str
) -> None:
    path = _network_file(tmp_path, lambda n: n["dag"].update(parents=parents))
    assert words in _refuse(path)


def test_a_class_with_parents_is_refused(tmp_path: Path) -> None:
    def turn(network: Any) -> None:
        # The arc from the class to the first feature, turned round.
        parents, cpds = network["dag"]["parents"], network["cpds"]
        parents[0], parents[3] = [], [0]
        one, two = cpds[0]["probabilities"], cpds[3]["probabilities"]
        cpds[0].update(family=[0], probabilities=two)
        cpds[3].update(family=[0, 3], probabilities=one)

    assert "the class 'class' has parents" in _refuse(_network_file(tmp_path, turn))


def _network_file(folder: Path, change: Callable[[Any], Any]) -> Path:
    """The file of a naive Bayes model whose graph was changed."""
    import pandas as pd

    frame = pd.DataFrame({name: ["x", "y"] * 3 for name in "abc"})
    model = bayleaf.NaiveBayesClassifier().fit(frame, [0, 1, 1] * 2)
    path = folder / "model.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document["model"]["network"])
    return _write(path, document)


def test_huge_declared_sizes_take_no_memory(tmp_path: Path) -> None:
    path = _network_file(tmp_path, lambda _: None)
    document = json.loads(path.read_text(encoding="utf-8"))
    for variable in document["domain"]:
        variable["states"] = [f"s{i}" for i in range(65_535)]
    cpd = document["model"]["network"]["cpds"][0]
    cpd["family"] = [1, 2, 3, 0]
    cpd["probabilities"]["shape"] = [65_535] * 4
    document["label_type"] = "<U6"
    assert "should hold 18445618199572250625" in _refuse(_write(path, document))


def test_too_many_states_are_refused(tmp_path: Path) -> None:
    path = _network_file(tmp_path, lambda _: None)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["domain"][0]["states"] = list(range(70_000))
    assert "variable 'a' has too many states: 70000" in _refuse(_write(path, document))


@pytest.mark.parametrize(
    ("states", "label_type"),
    [
        ([0, 1], "<U1"),
        (["a", "b"], "<i8"),
        ([0, 300], "|i1"),
        ([0, 1], "f8,i4"),
        ([0, 1], "(2,)i8"),
        ([0, 1], "i8"),
        ([0, 1], "M8[D]"),
        ([0, 1], "i999999999999"),
        ([True, False], "<i8"),
        ([0, 1], ""),
        ([0, 1], "O8"),
        ([0, None], "O"),
        ([], "O"),
    ],
    ids=str,
)
def test_labels_that_do_not_fit_are_refused(
    tmp_path: Path, states: list[Any], label_type: str
) -> None:
    path = _network_file(tmp_path, lambda _: None)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["domain"][3]["states"] = states
    document["label_type"] = label_type
    _refuse(_write(path, document))


def test_a_key_that_stands_twice_is_refused(model_file: Path) -> None:
    text = model_file.read_text(encoding="utf-8")
    model_file.write_text(
        text.replace('"format"', '"schema_version": 1, "format"', 1), encoding="utf-8"
    )
    assert "a key stands twice in one object" in _refuse(model_file)


@pytest.mark.parametrize(
    "name", ["Predictor", "os.system", "", "__class__", "x" * 10**5]
)
def test_an_unknown_classifier_is_refused(
    document: Any, model_file: Path, name: str
) -> None:
    _write(model_file, {**document, "classifier": name})
    assert "known are NaiveBayesClassifier" in _refuse(model_file)


@pytest.mark.parametrize(
    "parameters",
    [
        {"smoothing": {"object": "system", "parameters": {}}},
        {"smoothing": {"object": "Lidstone", "parameters": {"beta": 1}}},
        {"smoothing": {"object": "Lidstone", "parameters": {"alpha": -1}}},
        {"smoothing": {"object": "Lidstone", "parameters": {"alpha": 10**400}}},
        {"smoothing": {"object": "Lidstone"}},
        {"smoothing": {"__class__": "Lidstone"}},
        {"smoothing": "os.system"},
        {"max_states": "many"},
        {"max_states": 10**400},
        {"missing": ["state"]},
        {"n_jobs": 0},
        {"class_prior": [1e308, -1]},
        {"__init__": 1},
        {"self": 1},
        {"x" * 10**5: 1},
    ],
    ids=lambda parameters: str(parameters)[:60],
)
def test_strange_parameters_are_refused_or_harmless(
    document: Any, model_file: Path, table: Any, parameters: Any
) -> None:
    _write(model_file, {**document, "parameters": parameters})
    _load_or_refuse(model_file, table)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=r"cannot read .*: it is a folder"):
        read_model(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"cannot read .*gone.json: there is no"
    ):
        read_model(tmp_path / "gone.json")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs file modes")
def test_a_file_that_may_not_be_read_is_named(model_file: Path) -> None:
    model_file.chmod(0)
    with pytest.raises(PermissionError, match=r"cannot read .*: permission denied"):
        read_model(model_file)


# Large models, whose files are archives.


@pytest.fixture
def archived(
    fitted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[bytes], Path]:
    """Put a model's document into another archive; what is none becomes the file."""
    monkeypatch.setattr(archive, "MAX_INLINE", 0)
    path = tmp_path / "model.json"
    fitted.save(path)
    document = _archived_document(path)

    def replace(content: bytes) -> Path:
        path.write_bytes(content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(path, "a") as whole:
                whole.writestr("model.json", document)
        return path

    return replace


def _archived_document(path: Path) -> bytes:
    with zipfile.ZipFile(path) as whole:
        return whole.read("model.json")


def _npz(header: bytes, body: bytes = b"", n_arrays: int = 5) -> bytes:
    """An archive in which every array has the same header and body."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(n_arrays):
            archive.writestr(f"a{i}.npy", header + body)
    return stream.getvalue()


def _npy_header(text: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _older_files(folder: Path) -> Path:
    """A model of schema version 2 with its second file."""
    samples = SAMPLES / "beside"
    for name in ("kdb.json", "kdb.json.npz"):
        shutil.copyfile(samples / name, folder / name)
    return folder / "kdb.json"


def test_a_second_file_that_lacks_is_named(tmp_path: Path) -> None:
    path = _older_files(tmp_path)
    (tmp_path / "kdb.json.npz").unlink()
    assert "lacks its second file kdb.json.npz" in _refuse(path)


def test_another_models_second_file_is_refused(tmp_path: Path) -> None:
    path = _older_files(tmp_path)
    (tmp_path / "kdb.json.npz").write_bytes(b"other")
    assert "does not belong to model file kdb.json" in _refuse(path)


@pytest.mark.parametrize("sha256", [True, 1, [], {}, "", "../model.json.npz"])
def test_a_strange_hash_is_refused(tmp_path: Path, sha256: Any) -> None:
    path = _older_files(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    _refuse(_write(path, {**document, "arrays_sha256": sha256}))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        b"PK\x05\x06" + bytes(18),
        _npz(b""),
        _npz(b"\x93NUMPY"),
        _npz(b"\x93NUMPY\x09\x09"),
        _npz(_npy_header(b"")),
        _npz(_npy_header(b"(" * 9000)),
        _npz(_npy_header(b"-" * 9000 + b"1")),
        _npz(_npy_header(b"__import__('os').mkdir('sprung')")),
        _npz(_npy_header(b"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}")),
        _npz(_npy_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}")),
        _npz(
            _npy_header(
                b"{'descr': '<f8', 'fortran_order': False, 'shape': (1"
                + b"0" * 30
                + b",)}"
            )
        ),
    ],
    ids=len,
)
def test_a_damaged_archive_is_refused(
    archived: Callable[[bytes], Path], content: bytes
) -> None:
    _refuse(archived(content))
    assert not Path("sprung").exists()


def test_an_archive_cut_short_anywhere_is_refused(
    archived: Callable[[bytes], Path], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    content = path.read_bytes()
    for length in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:length])
        _refuse(path)


def test_an_archive_with_flipped_bits_is_refused_or_harmless(
    archived: Callable[[bytes], Path], tmp_path: Path, table: Any
) -> None:
    path = tmp_path / "model.json"
    content = bytearray(path.read_bytes())
    for position in range(0, len(content), max(1, len(content) // 25)):
        for bit in (0, 4, 7):
            content[position] ^= 1 << bit
            path.write_bytes(content)
            _load_or_refuse(path, table)
            content[position] ^= 1 << bit


def test_a_bomb_in_an_archive_takes_no_memory(
    archived: Callable[[bytes], Path],
) -> None:
    assert "larger than its shape allows" in _refuse(
        archived(_npz(_npy_header(b""), bytes(5_000_000)))
    )


@pytest.mark.parametrize(
    "index", ["../../etc/passwd", "/etc/passwd", -1, 10**400, None, [0], {"a": 0}, 1.0]
)
def test_an_array_that_is_not_there_is_refused(
    archived: Callable[[bytes], Path], tmp_path: Path, index: Any
) -> None:
    path = tmp_path / "model.json"
    document = json.loads(_archived_document(path))
    _table(document["model"], 0)["array"] = index
    _refuse(_rewritten(path, document))


def test_an_array_that_stands_for_two_is_refused(
    archived: Callable[[bytes], Path], tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    document = json.loads(_archived_document(path))
    document["loss"] = document["prior_shift"] = _table(document["model"], 0)
    assert "the same array as another value" in _refuse(_rewritten(path, document))


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused(
    archived: Callable[[bytes], Path],
) -> None:
    path = archived(_npz(_npy_header(b""), bytes(5_000_000)))
    with pytest.raises(ModelFileError, match="more than 1000000;"):
        read_model(path, max_bytes=1_000_000)


def test_an_archive_without_a_document_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(_npz(b""))
    assert "model.json is no bayleaf model file" in _refuse(path)


def _rewritten(path: Path, document: Any) -> Path:
    """An archive with another document."""
    with zipfile.ZipFile(path) as whole:
        entries = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w") as whole:
        for name, content in {**entries, "model.json": json.dumps(document)}.items():
            whole.writestr(name, content)
    return path


def test_reading_a_model_imports_no_module_that_it_names(
    document: Any, model_file: Path
) -> None:
    for name in ("antigravity", "this", "lib2to3.pgen2.driver"):
        before = set(sys.modules)
        for key in ("classifier", "label_type"):
            _write(model_file, {**document, key: name})
            _refuse(model_file)
        assert name not in set(sys.modules) - before
