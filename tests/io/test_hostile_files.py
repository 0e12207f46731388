"""Damaged, foreign and malicious files give one sentence, and run nothing."""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.io import ModelFileError, read_model
from bayleaf.io.native import archive
from bayleaf.io.native.documents import SCHEMA_VERSION
from offenders import check_each
from oracles.documents import changed, leaves
from oracles.small_tables import small_table

SAMPLES = Path(__file__).with_name("samples")
KINDS = ("nb", "tan", "kdb", "hnb", "aode", "a2de", "auto", "latent_class", "network")
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
def table() -> Any:
    """A table that the models can predict."""
    return pd.DataFrame(
        {
            "text": ["blau", None],
            "number": pd.array([1, None], dtype="Int64"),
            "real": [0.5, None],
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model file to come."""
    return tmp_path / "model.json"


def _write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _own_leaves(document: Any) -> list[tuple[Any, ...]]:
    """Paths to the values that differ by the kind of model; of networks the first."""
    return [
        path
        for key in ("model", "parameters")
        for path in leaves(document[key], (key,))
        if path[:3] != ("model", "networks", 1)
    ]


def _in_turn(
    paths: Iterable[tuple[Any, ...]], n_each: int, first: int = 0
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Give each path some mutants, so that all mutants take turns."""
    mutants = itertools.cycle(MUTANTS)
    for path in paths:
        for mutant in itertools.islice(mutants, first, first + n_each):
            yield path, mutant
        first = 0


def _check_mutants(
    cases: Iterable[tuple[tuple[Any, ...], Any]],
    document: Any,
    path: Path,
    table: Any,
) -> None:
    """Check files in which a value at some path is another."""

    def check(case: tuple[tuple[Any, ...], Any]) -> None:
        place, mutant = case
        _write(path, changed(document, place, lambda _: mutant))
        _load_or_refuse(path, table)

    check_each(cases, check, lambda case: f"{case[0]} = {case[1]!r:.40}")


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_another_type_in_a_model_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, kind: str
) -> None:
    document = json.loads(texts[kind])
    place = KINDS.index(kind)
    # Kinds share many of their fields, and the leaves of an average are much alike.
    paths = _own_leaves(document)[place % 2 :: 4 if kind == "auto" else 2]
    _check_mutants(_in_turn(paths, 1, place), document, path, table)


@pytest.mark.parametrize("first", range(3))
def test_a_value_of_another_type_in_the_other_fields_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, first: int
) -> None:
    document = json.loads(texts["nb"])
    own = set(_own_leaves(document))
    paths = [leaf for leaf in leaves(document) if leaf not in own]
    _check_mutants(_in_turn(paths[first::3], 2, first), document, path, table)


def _mostly_long(kinds: Iterable[str], *slow: str) -> list[Any]:
    """Kinds of models, all but some of them for the long tests."""
    return [
        kind if kind in slow else pytest.param(kind, marks=pytest.mark.long)
        for kind in kinds
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", _mostly_long(KINDS, "nb"))
def test_every_value_of_another_type_in_a_model_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, kind: str
) -> None:
    document = json.loads(texts[kind])
    paths = list(leaves(document)) if kind == "nb" else _own_leaves(document)
    # Leaves are many and much alike; the test below tries every mutant at each.
    _check_mutants(_in_turn(paths, 5), document, path, table)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_another_type_in_every_field_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, kind: str
) -> None:
    document = json.loads(texts[kind])
    cases = itertools.product(leaves(document), MUTANTS)
    _check_mutants(cases, document, path, table)


def _check_sample(kind: str, path: Path, n_each: int) -> None:
    """Check values of other types in the model of a sample, so many at each place."""
    X, _ = small_table(3, 40, missing=0.2)
    document = json.loads((SAMPLES / f"{kind}.json").read_text(encoding="utf-8"))
    mutants = itertools.cycle((None, [], {}, [[]], "text", -1, 0, 2.5, 10**400))
    cases = [
        (leaf, mutant)
        for leaf in leaves(document["model"], ("model",))
        for mutant in itertools.islice(mutants, n_each)
    ]
    _check_mutants(cases if n_each > 1 else cases[:80], document, path, X[:4])


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", SAMPLED)
def test_a_value_of_another_type_in_a_sample_is_refused_or_harmless(
    path: Path, kind: str
) -> None:
    _check_sample(kind, path, 1)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("kind", _mostly_long(SAMPLED, "nb", "tan"))
def test_every_value_of_another_type_in_a_sample_is_refused_or_harmless(
    path: Path, kind: str
) -> None:
    _check_sample(kind, path, 9)


def test_a_value_of_another_type_at_the_top_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any
) -> None:
    documents = {kind: json.loads(text) for kind, text in texts.items()}
    mutants = itertools.cycle(MUTANTS)
    cases = [(kind, key, next(mutants)) for kind in KINDS for key in documents[kind]]

    def check(case: tuple[str, str, Any]) -> None:
        kind, key, mutant = case
        _write(path, {**documents[kind], key: mutant})
        _load_or_refuse(path, table)

    check_each(cases, check)


@pytest.mark.slow
@pytest.mark.long
def test_every_value_of_another_type_at_the_top_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any
) -> None:
    documents = {kind: json.loads(text) for kind, text in texts.items()}
    cases = [
        (kind, key, mutant)
        for kind in KINDS
        for key in documents[kind]
        for mutant in MUTANTS
    ]

    def check(case: tuple[str, str, Any]) -> None:
        kind, key, mutant = case
        _write(path, {**documents[kind], key: mutant})
        _load_or_refuse(path, table)

    check_each(cases, check)


def _check_without(
    places: Iterable[tuple[Any, ...]], document: Any, path: Path, table: Any
) -> None:
    """Check files from which a field is left out."""

    def check(place: tuple[Any, ...]) -> None:
        other = copy.deepcopy(document)
        inner = other
        for key in place[:-1]:
            inner = inner[key]
        del inner[place[-1]]
        _write(path, other)
        _load_or_refuse(path, table)

    check_each([place for place in places if isinstance(place[-1], str)], check)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_field_left_out_of_a_model_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, kind: str
) -> None:
    document = json.loads(texts[kind])
    paths = [leaf for leaf in _own_leaves(document) if isinstance(leaf[-1], str)]
    # Kinds share many of their fields, and the leaves of an average are much alike.
    paths = paths[KINDS.index(kind) % 2 :: 3 if kind == "auto" else 2]
    _check_without(paths, document, path, table)


def test_another_field_left_out_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any
) -> None:
    document = json.loads(texts["nb"])
    own = set(_own_leaves(document))
    paths = [leaf for leaf in leaves(document) if leaf not in own]
    _check_without(paths, document, path, table)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_field_left_out_anywhere_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, kind: str
) -> None:
    document = json.loads(texts[kind])
    _check_without(leaves(document), document, path, table)


def test_every_required_field_is_named_when_it_lacks(
    texts: dict[str, str], path: Path
) -> None:
    keys = ("domain", "model", "rules", "estimator", "parameters", "label_type")

    def check(case: tuple[str, str]) -> None:
        kind, key = case
        document = json.loads(texts[kind])
        del document[key]
        assert f"lacks the field {key!r}" in _refuse(_write(path, document))

    check_each(itertools.product(KINDS, keys), check)


def test_a_file_cut_short_anywhere_is_refused(
    texts: dict[str, str], path: Path
) -> None:
    def check(kind: str) -> None:
        content = texts[kind].encode()
        step = max(97, len(content) // 30)
        # Without its last newline a file is still whole.
        for length in sorted({*range(0, len(content) - 1, step), len(content) - 2}):
            path.write_bytes(content[:length])
            assert "no bayleaf model file" in _refuse(path), length

    check_each(KINDS, check)


def _check_field(
    texts: dict[str, str], path: Path, key: str, values: Iterable[Any], words: str
) -> None:
    """Check that other values of a field are refused in files of all kinds."""

    def check(case: tuple[str, Any]) -> None:
        kind, value = case
        _write(path, {**json.loads(texts[kind]), key: value})
        assert words in _refuse(path)

    check_each(itertools.product(KINDS, values), check, lambda case: f"{case!r:.60}")


def test_another_schema_version_is_refused(texts: dict[str, str], path: Path) -> None:
    versions = (0, 99, -1, 1.5, "1", None, True, [1], 10**30)
    words = f"this bayleaf reads version {SCHEMA_VERSION}; use the"
    _check_field(texts, path, "schema_version", versions, words)


def test_a_file_of_an_earlier_version_names_the_remedy(
    texts: dict[str, str], path: Path
) -> None:
    for version in range(1, SCHEMA_VERSION):
        words = f"of bayleaf (schema {version}); fit the model again and save it"
        _check_field(texts, path, "schema_version", (version,), words)
        assert _refuse(path).startswith("model.json was written by an earlier version")


def test_a_temperature_out_of_range_is_refused(
    texts: dict[str, str], path: Path
) -> None:
    temperatures = (0.0, -1.0, 0.01, 21, "1", None, True)
    _check_field(texts, path, "temperature", temperatures, "temperature")


def test_a_prior_shift_that_does_not_fit_is_refused(
    texts: dict[str, str], path: Path
) -> None:
    shifts = ([0.0], [0.0, "1"], 3, {"array": 0})
    _check_field(texts, path, "prior_shift", shifts, "prior_shift")


def test_left_out_answers_that_do_not_fit_are_refused(
    texts: dict[str, str], path: Path
) -> None:
    def answers(rows: Any, shape: Any, *numbers: Any) -> dict[str, Any]:
        table = {"shape": shape, "numbers": numbers}
        return {"digest": "0", "rows": rows, "answers": table}

    rows = [0, 1]
    wrong = (
        3,
        {"digest": "0", "rows": rows},
        answers([1, 0], [2, 1], 1.0, 1.0),
        answers([0, 0], [2, 1], 1.0, 1.0),
        answers([-1, 0], [2, 1], 1.0, 1.0),
        answers([0, 1000], [2, 1], 1.0, 1.0),
        answers([0, 0.5], [2, 1], 1.0, 1.0),
        answers([0], [2, 1], 1.0, 1.0),
        answers(rows, [2], 1.0, 1.0),
        answers(rows, [2, 1], 1.0, 1.0),
        answers(rows, [2, 2], 1.0, 1.0, 2.0, -1.0),
        answers(rows, [2, 2], 1.0, 1.0, 1.0, 1.0),
        answers(rows, [2, 2], 1.0, 0.0, 1.0, None),
    )
    _check_field(texts, path, "left_out_answers", wrong, "left_out_answers")


OTHER_FILES = [
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
]


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"

    def check(content: bytes) -> None:
        path.write_bytes(content)
        assert _refuse(path).startswith("other.json is no bayleaf model file")

    check_each(OTHER_FILES, check, repr)


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
    texts: dict[str, str], path: Path, key: str
) -> None:
    deep = "[" * 100_000 + "]" * 100_000

    def check(kind: str) -> None:
        text = json.dumps({**json.loads(texts[kind]), key: "@"})
        path.write_text(text.replace('"@"', deep))
        assert "nested too deeply" in _refuse(path)

    check_each(KINDS, check)


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")], ids=["list", "dict"])
def test_nesting_just_within_the_parsers_limit_is_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, brackets: tuple[str, str]
) -> None:
    opening, closing = brackets

    def check(case: tuple[str, int]) -> None:
        kind, depth = case
        deep = f'{{"alpha": {opening * depth}1{closing * depth}}}'
        text = json.dumps({**json.loads(texts[kind]), "parameters": "@"})
        path.write_text(text.replace('"@"', deep))
        _load_or_refuse(path, table)

    check_each(itertools.product(KINDS, (100, 500, 800, 900, 950, 980)), check)


NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000)


@pytest.mark.parametrize(
    "place", ["probability", "likelihood", "cut", "state", "cells"]
)
def test_numbers_that_are_none_are_refused(
    texts: dict[str, str], path: Path, place: str
) -> None:
    literals = NO_NUMBERS
    if place in ("probability", "likelihood", "cut"):
        # A state and a limit may be integers of any size.
        literals = (*literals, "9" * 400)

    def check(case: tuple[str, str]) -> None:
        kind, literal = case
        document = json.loads(texts[kind])
        _mark(document, place)
        path.write_text(json.dumps(document).replace('"@"', literal))
        _refuse(path)

    check_each(itertools.product(KINDS, literals), check, lambda case: f"{case!r:.60}")


def _mark(document: Any, place: str) -> None:
    """Put a mark in the place of a number."""
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


def test_a_probability_below_zero_is_refused(texts: dict[str, str], path: Path) -> None:
    def check(kind: str) -> None:
        document = json.loads(texts[kind])
        table = _numbers(_table(document["model"], -1))
        table[0], table[1] = -0.25, 1.25
        _write(path, document)
        assert "holds a negative probability" in _refuse(path)

    check_each(KINDS, check)


def test_probabilities_that_do_not_sum_to_one_are_refused(
    texts: dict[str, str], path: Path
) -> None:
    def check(case: tuple[str, float]) -> None:
        kind, factor = case
        document = json.loads(texts[kind])
        model = document["model"]
        table = model.get("parent_probabilities", _table(model, 0))
        _numbers(table)[0] *= factor
        _write(path, document)
        assert "do not sum to 1" in _refuse(path)

    check_each(itertools.product(KINDS, (0.0, 0.99, 1.01, 1e300)), check)


@pytest.mark.parametrize("cyclic", [[[1, 3], [0, 3], [3], []], [[0], [3], [3], []]])
def test_a_cyclic_graph_is_refused(tmp_path: Path, cyclic: Any) -> None:
    path = _network_file(tmp_path, lambda n: n["dag"].update(parents=cyclic))
    assert "close a cycle" in _refuse(path)


GRAPHS: list[tuple[Any, str]] = [
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
]


def test_a_graph_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    def check(case: tuple[Any, str]) -> None:
        parents, words = case
        path = _network_file(tmp_path, lambda n: n["dag"].update(parents=parents))
        assert words in _refuse(path)

    check_each(GRAPHS, check)


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
        variable["states"] = [f"s{i}" for i in range(20_000)]
    cpd = document["model"]["network"]["cpds"][0]
    cpd["family"] = [1, 2, 3, 0]
    cpd["probabilities"]["shape"] = [20_000] * 4
    document["label_type"] = "<U6"
    assert "should hold 160000000000000000" in _refuse(_write(path, document))


def test_too_many_states_are_refused(tmp_path: Path) -> None:
    path = _network_file(tmp_path, lambda _: None)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["domain"][0]["states"] = list(range(70_000))
    assert "variable 'a' has too many states: 70000" in _refuse(_write(path, document))


LABELS: list[tuple[list[Any], str]] = [
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
]


def test_labels_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = _network_file(tmp_path, lambda _: None)
    document = json.loads(path.read_text(encoding="utf-8"))

    def check(case: tuple[list[Any], str]) -> None:
        document["domain"][3]["states"], document["label_type"] = case
        _refuse(_write(path, document))

    check_each(LABELS, check)


def test_a_key_that_stands_twice_is_refused(texts: dict[str, str], path: Path) -> None:
    def check(kind: str) -> None:
        text = texts[kind].replace('"format"', '"schema_version": 1, "format"', 1)
        path.write_text(text, encoding="utf-8")
        assert "a key stands twice in one object" in _refuse(path)

    check_each(KINDS, check)


def test_an_unknown_classifier_is_refused(texts: dict[str, str], path: Path) -> None:
    names = ("Predictor", "os.system", "", "__class__", "x" * 10**5)
    _check_field(texts, path, "estimator", names, "known are NaiveBayesClassifier")


PARAMETERS: list[dict[Any, Any]] = [
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
]


@pytest.mark.parametrize("half", [0, 1])
def test_strange_parameters_are_refused_or_harmless(
    texts: dict[str, str], path: Path, table: Any, half: int
) -> None:
    def check(case: tuple[str, Any]) -> None:
        kind, parameters = case
        _write(path, {**json.loads(texts[kind]), "parameters": parameters})
        _load_or_refuse(path, table)

    cases = itertools.product(KINDS, PARAMETERS[half::2])
    check_each(cases, check, lambda case: f"{case!r:.80}")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=r"cannot read .*: it is a folder"):
        read_model(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"cannot read .*gone.json: there is no"
    ):
        read_model(tmp_path / "gone.json")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs file modes")
def test_a_file_that_may_not_be_read_is_named(path: Path) -> None:
    path.touch(0)
    with pytest.raises(PermissionError, match=r"cannot read .*: permission denied"):
        read_model(path)


# Large models, whose files are archives.


@pytest.fixture(scope="module")
def archives(
    models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """The archive in which each kind of model is saved."""
    path = tmp_path_factory.mktemp("archives") / "model.json"
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "MAX_INLINE", 0)
        for kind, model in models.items():
            model.save(path)
            found[kind] = path.read_bytes()
    return found


def _document(content: bytes) -> bytes:
    """The document of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        return whole.read("model.json")


def _into_another(whole: bytes, content: bytes, path: Path) -> Path:
    """Put an archive's document into another archive; what is none becomes the file."""
    path.write_bytes(content)
    if content.startswith(b"PK"):
        with zipfile.ZipFile(path, "a") as other:
            other.writestr("model.json", _document(whole))
    return path


def _npz(header: bytes, body: bytes = b"", n_arrays: int = 5) -> bytes:
    """An archive in which every array has the same header and body."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(n_arrays):
            archive.writestr(f"a{i}.npy", header + body)
    return stream.getvalue()


def _npy_header(text: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


DAMAGED = [
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
            b"{'descr': '<f8', 'fortran_order': False, 'shape': (1" + b"0" * 30 + b",)}"
        )
    ),
]


@pytest.mark.parametrize("part", range(3))
def test_a_damaged_archive_is_refused(
    archives: dict[str, bytes], path: Path, part: int
) -> None:
    def check(case: tuple[str, bytes]) -> None:
        kind, content = case
        _refuse(_into_another(archives[kind], content, path))
        assert not Path("sprung").exists()

    cases = itertools.product(KINDS, DAMAGED[part::3])
    check_each(cases, check, lambda case: f"{case!r:.80}")


def test_an_archive_cut_short_anywhere_is_refused(
    archives: dict[str, bytes], path: Path
) -> None:
    def check(kind: str) -> None:
        content = archives[kind]
        for length in range(0, len(content), max(1, len(content) // 30)):
            path.write_bytes(content[:length])
            _refuse(path)

    check_each(KINDS, check)


def _check_flipped(content: bytes, n_positions: int, path: Path, table: Any) -> None:
    """Check an archive with one bit flipped at some positions, three bits at each."""
    for position in range(0, len(content), max(1, len(content) // n_positions)):
        for bit in (0, 4, 7):
            other = bytearray(content)
            other[position] ^= 1 << bit
            path.write_bytes(other)
            _load_or_refuse(path, table)


def test_an_archive_with_flipped_bits_is_refused_or_harmless(
    archives: dict[str, bytes], path: Path, table: Any
) -> None:
    def check(kind: str) -> None:
        _check_flipped(archives[kind], 2, path, table)

    check_each(KINDS, check)


@pytest.mark.slow
def test_an_archive_with_any_flipped_bit_is_refused_or_harmless(
    archives: dict[str, bytes], path: Path, table: Any
) -> None:
    def check(kind: str) -> None:
        _check_flipped(archives[kind], 25, path, table)

    check_each(KINDS, check)


def test_a_bomb_in_an_archive_takes_no_memory(
    archives: dict[str, bytes], path: Path
) -> None:
    bomb = _npz(_npy_header(b""), bytes(5_000_000))

    def check(kind: str) -> None:
        found = _refuse(_into_another(archives[kind], bomb, path))
        assert "larger than its shape allows" in found

    check_each(KINDS, check)


def test_an_array_that_is_not_there_is_refused(
    archives: dict[str, bytes], path: Path
) -> None:
    indices = ("../../etc/passwd", "/etc/passwd", -1, 10**400, None, [0], {"a": 0}, 1.0)

    def check(case: tuple[str, Any]) -> None:
        kind, index = case
        document = json.loads(_document(archives[kind]))
        _table(document["model"], 0)["array"] = index
        _refuse(_rewritten(archives[kind], path, document))

    check_each(itertools.product(KINDS, indices), check, lambda case: f"{case!r:.60}")


def test_an_array_that_stands_for_two_is_refused(
    archives: dict[str, bytes], path: Path
) -> None:
    def check(kind: str) -> None:
        document = json.loads(_document(archives[kind]))
        document["loss"] = document["prior_shift"] = _table(document["model"], 0)
        found = _refuse(_rewritten(archives[kind], path, document))
        assert "the same array as another value" in found

    check_each(KINDS, check)


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused(
    archives: dict[str, bytes], path: Path
) -> None:
    bomb = _npz(_npy_header(b""), bytes(5_000_000))

    def check(kind: str) -> None:
        _into_another(archives[kind], bomb, path)
        with pytest.raises(ModelFileError, match="more than 1000000;"):
            read_model(path, max_bytes=1_000_000)

    check_each(KINDS, check)


def test_an_archive_without_a_document_is_refused(path: Path) -> None:
    path.write_bytes(_npz(b""))
    assert "model.json is no bayleaf model file" in _refuse(path)


def _rewritten(content: bytes, path: Path, document: Any) -> Path:
    """An archive with another document."""
    with zipfile.ZipFile(io.BytesIO(content)) as whole:
        entries = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w") as whole:
        for name, entry in {**entries, "model.json": json.dumps(document)}.items():
            whole.writestr(name, entry)
    return path


def test_reading_a_model_imports_no_module_that_it_names(
    texts: dict[str, str], path: Path
) -> None:
    names = ("antigravity", "this", "lib2to3.pgen2.driver")

    def check(case: tuple[str, str]) -> None:
        kind, name = case
        before = set(sys.modules)
        for key in ("estimator", "label_type"):
            _write(path, {**json.loads(texts[kind]), key: name})
            _refuse(path)
        assert name not in set(sys.modules) - before

    check_each(itertools.product(KINDS, names), check)
