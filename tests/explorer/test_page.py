"""The page as text: one file, nothing from outside, nothing of a name comes alive."""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import NotFittedError

import bayleaf
from bayleaf import BayesianNetworkEstimator
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.explorer import explorer_html, suggested_cases, write_explorer
from bayleaf.explorer.explorer_page import SCRIPTS
from bayleaf.graph.dag import DAG
from bayleaf.io.exports.packing import packed, packed_codes, script_json
from bayleaf.io.exports.runtime import runtime_scripts
from bayleaf.io.native.model_file import read_model
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.cases import classifier_case, classifiers, table
from offenders import check_each
from oracles.small_tables import classifier, small_table

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><!-- <script>",
    '" onclick="alert(1)',
    "' & ` \\ \n",
    "{{script}} {{model}}",
    "\u05d0\u05d1\u05d2 \u202eabc",
    "\u2028\u2029",
    "x" * 10_000,
    "__proto__",
    "",
]


def hostile_network() -> BayesianNetwork:
    """A network whose names and states are all hostile."""
    return BayesianNetwork.from_tables(
        states=dict.fromkeys(HOSTILE, HOSTILE),
        tables={name: [0.1] * len(HOSTILE) for name in HOSTILE},
    )


def small_network() -> BayesianNetwork:
    """Two variables and an arc."""
    return BayesianNetwork.from_tables(
        states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        parents={"wet": ["rain"]},
        tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    )


def content_of(html: str) -> Any:
    """The document that the page's script reads."""
    found = re.search(
        r'<script type="application/json" id="model">(.*?)</script>', html, re.DOTALL
    )
    assert found
    document = json.loads(found[1])
    if "deflate" in document:
        text = zlib.decompress(base64.b64decode(document["deflate"]))
        document = json.loads(text.decode("utf-8", "surrogatepass"))
    return document


def unpacked(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Numbers of a packed array, read as the page reads them."""
    if "list" in value:
        flat = np.array(value["list"], dtype=np.float64)
    elif "f8" in value:
        flat = np.frombuffer(base64.b64decode(value["f8"]), "<f8")
    else:
        places = np.frombuffer(base64.b64decode(value["at"]), "<u2")
        flat = unpacked({"shape": [-1], **value["values"]})[places]
    return flat.reshape(value["shape"])


def test_hostile_names_open_no_element_and_come_back_whole() -> None:
    plain, hostile = explorer_html(small_network()), explorer_html(hostile_network())
    for mark in ("<script", "</script", "<!--"):
        assert hostile.count(mark) == plain.count(mark)
    content = content_of(hostile)
    assert [v["name"] for v in content["variables"]] == HOSTILE
    assert all(v["states"] == HOSTILE for v in content["variables"])


def test_a_network_tells_its_size_origin_and_how_to_measure_it() -> None:
    content = content_of(explorer_html(small_network()))
    measured, trial, origin, size = content["about"]
    assert measured.startswith("How well it predicts new cases has not been measured.")
    assert "enter each under Cases" in trial
    assert size == (
        "A Bayesian network of 2 variables and 1 arrow between them, with 3 numbers "
        "(free parameters) for how likely their values are."
    )
    assert "no record of its origin" in origin
    # Commands are for programmers, below what anyone can do.
    assert "bayleaf" not in " ".join(content["about"])
    assert "bayleaf report MODEL TABLE --held-out" in " ".join(content["remarks"])
    rows = pa.table({"rain": ["no", "yes", "no"], "wet": ["no", "yes", "yes"]})
    fitted = BayesianNetworkEstimator().fit(rows)
    learned = content_of(explorer_html(fitted))["about"][2]
    assert learned.startswith("Learned from 3 rows on 20")
    assert learned.endswith(f" by bayleaf {bayleaf.__version__}.")


def test_a_hostile_title_is_escaped() -> None:
    html = explorer_html(small_network(), title="</title><script>alert(1)</script>")
    assert "<title>&lt;/title&gt;&lt;script&gt;" in html
    assert html.count("<script") == explorer_html(small_network()).count("<script")


def test_half_characters_do_not_keep_a_page_from_being_written(tmp_path: Path) -> None:
    network = BayesianNetwork.from_tables(
        {"a\ud800": ["x", "y"]}, {"a\ud800": [0.5, 0.5]}
    )
    write_explorer(network, tmp_path / "page.html", title="b\udfff")
    assert "bayleaf" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_page_refers_to_nothing_outside_itself() -> None:
    html = explorer_html(small_network())
    assert re.findall(r"https?:|\bsrc=|@import|<link|<img|//[a-z]+\.", html) == []
    assert set(re.findall(r"url\([^)]*\)", html)) == {"url(#tip-on)", "url(#tip)"}


def test_the_policy_of_the_page_allows_its_script_alone() -> None:
    html = explorer_html(small_network())
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(script) == 1
    assert script[0].startswith('"use strict";')
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'" in html


@given(
    arrays(
        np.float64,
        st.integers(0, 400),
        elements=st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, 1 / 3])),
    )
)
def test_packed_numbers_come_back_bit_for_bit(values: Any) -> None:
    form = json.loads(json.dumps(packed(values), allow_nan=False))
    # Zero and minus zero are one distinct number.
    np.testing.assert_array_equal(unpacked(form), values)


PACKED: list[tuple[np.ndarray[Any, Any], str]] = [
    (np.linspace(0, 1, 200).reshape(10, 20), "list"),
    (np.linspace(0, 1, 300), "f8"),
    (np.tile(np.linspace(0, 1, 20), 40), "at"),
    (np.array([-np.inf, 0.25]), "f8"),
]


def test_each_form_of_packing_is_used() -> None:
    def check(case: tuple[np.ndarray[Any, Any], str]) -> None:
        values, key = case
        form = packed(values)
        assert key in form
        assert unpacked(form).tobytes() == values.tobytes()

    check_each(PACKED, check)


def test_codes_come_back() -> None:
    codes = np.array([[0, 1, 65535], [3, 4, 5]], dtype=np.uint16)
    form = packed_codes(codes)
    found = np.frombuffer(base64.b64decode(form["u2"]), "<u2").reshape(form["shape"])
    np.testing.assert_array_equal(found, codes)


def test_a_large_document_is_compressed_and_comes_back() -> None:
    document = {"text": "äb</script>" * 200_000}
    text = script_json(document)
    assert len(text) < 100_000
    inner = zlib.decompress(base64.b64decode(json.loads(text)["deflate"]))
    assert json.loads(inner) == document


def test_parameters_stand_in_the_page_with_all_digits() -> None:
    table_of = content_of(explorer_html(small_network()))["network"]["terms"]
    found = {tuple(t["family"]): t["table"]["list"] for t in table_of}
    assert found == {(0,): [0.8, 0.2], (0, 1): [0.9, 0.1, 0.05, 0.95]}


@pytest.mark.parametrize(
    ("most", "told"),
    [(3, "a table of 4 cells over rain, wet"), (4, "needs 8 cells in all its cliques")],
)
def test_a_network_with_too_large_cliques_gives_one_sentence(
    most: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "bayleaf.io.exports.scorers.classifier_content.MOST_CELLS", most
    )
    network = BayesianNetwork.from_tables(
        {name: ["a", "b"] for name in ("rain", "wet", "slippery")},
        {
            "rain": [0.5, 0.5],
            "wet": [[0.5, 0.5], [0.1, 0.9]],
            "slippery": [[0.5, 0.5], [0.1, 0.9]],
        },
        {"wet": ["rain"], "slippery": ["wet"]},
    )
    with pytest.raises(ValueError, match=told) as error:
        explorer_html(network)
    assert f"have at most {most} cells together" in str(error.value)


def test_a_page_that_would_be_too_large_gives_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bayleaf.explorer.explorer_page.MOST_CHARACTERS", 100)
    with pytest.raises(ValueError, match="more than 100; train on fewer rows"):
        explorer_html(small_network())


def test_cells_that_javascript_could_not_number_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table()
    fitted = bayleaf.AveragedKDBClassifier(n_networks=1, random_state=0).fit(X, y)
    monkeypatch.setattr(
        "bayleaf.io.exports.scorers.classifier_content._MAX_KEYS_OF_SCRIPTS", 5
    )
    with pytest.raises(ValueError, match="train with a smaller max_parents"):
        explorer_html(fitted)


def test_a_variable_without_states_is_refused() -> None:
    domain = Domain((Variable("empty", ()),))
    network = BayesianNetwork(domain, DAG(((),)), (TableCPD((0,), np.zeros(0)),))
    with pytest.raises(ValueError, match="'empty' has no states"):
        explorer_html(network)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="but was given a dict"):
        explorer_html({})  # type: ignore[arg-type]


@pytest.fixture
def _unordered_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave layers as they are: to untangle arcs takes long and changes no size."""
    monkeypatch.setattr(
        "bayleaf.layout.layered.ordered_layers",
        lambda layers, above, below: [list(layer) for layer in layers],
    )


def size_of_page(kind: str, n_features: int) -> int:
    """Bytes of the page of a classifier of a table with so many features."""
    fitted = classifiers()[kind]().fit(*table(n_features=n_features))
    return len(explorer_html(fitted).encode("utf-8", "replace"))


@pytest.mark.usefixtures("_unordered_layers")
@pytest.mark.parametrize(
    "kind", [k for k in classifiers() if k != "A2DE" and not k.startswith("network")]
)
def test_pages_of_twelve_features_are_small(kind: str) -> None:
    assert size_of_page(kind, 12) < 400_000


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("_unordered_layers")
def test_fifty_features_take_less_than_two_megabytes() -> None:
    def check(kind: str) -> None:
        assert size_of_page(kind, 50) < 2_000_000

    check_each([kind for kind in classifiers() if kind != "A2DE"], check)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.usefixtures("_unordered_layers")
def test_tables_of_all_triples_take_less_than_a_megabyte() -> None:
    assert size_of_page("A2DE", 20) < 750_000


@pytest.mark.usefixtures("_unordered_layers")
@pytest.mark.parametrize("kind", ["AODE", "A2DE", "averaged KDB"])
def test_maps_of_averages_have_weighted_arcs_among_features(kind: str) -> None:
    content = content_of(explorer_html(classifiers()[kind]().fit(*table())))
    weights = [w for p, _, w in content["map"]["arcs"] if p != content["class"]]
    assert len(weights) > 3
    assert max(weights) == 1.0
    assert len(set(weights)) > 3
    assert content["weights"]


def test_latent_variables_carry_their_rules_and_their_cells_stay_aside() -> None:
    X, y = table()
    fitted = bayleaf.HNBClassifier(random_state=0).fit(X, y)
    variables = content_of(explorer_html(fitted))["variables"]
    latents = [v for v in variables if v["role"] == "latent"]
    assert latents
    for latent in latents:
        assert len(latent["rules"]) == len(latent["states"])
        assert all(rules for rules in latent["rules"])
    assert {v["role"] for v in variables} == {"feature", "latent", "cells", "class"}


def test_groups_of_values_name_states() -> None:
    hierarchy = bayleaf.ValueHierarchy.from_nested(
        {"any": {"low": ["s0", "s1"], "": ["s2", "s3"]}}
    )
    domain = Domain((Variable("x", ("s0", "s2", "s1", "s3"), hierarchy=hierarchy),))
    network = BayesianNetwork(domain, DAG(((),)), (TableCPD((0,), np.full(4, 0.25)),))
    (variable,) = content_of(explorer_html(network))["variables"]
    named = {
        group["name"]: [variable["states"][code] for code in group["states"]]
        for group in variable["groups"]
    }
    assert named == {"low": ["s0", "s1"], "": ["s2", "s3"]}


def test_scripts_stay_small() -> None:
    folder = Path(bayleaf.__file__).parent / "explorer" / "web"

    def check(name: str) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400

    check_each(SCRIPTS, check)


@pytest.mark.parametrize(
    ("name", "parts"),
    [("numbers", {"Density"}), ("conjunctions", {"Look", "Tree"})],
)
def test_the_cases_of_averages_have_what_stands_beside_tables(
    name: str, parts: set[str]
) -> None:
    """Browser tests compare these parts with Python's, so they must be there."""
    case = classifier_case(f"averaged KDB of {name}")
    program = content_of(explorer_html(case.model))["program"]
    assert parts <= {term[0] for term in program["terms"]}


@pytest.mark.slow
def test_a_page_has_the_scripts_that_its_kind_runs() -> None:
    network = explorer_html(small_network())
    X, y = table()
    classifier = explorer_html(bayleaf.AveragedKDBClassifier().fit(X, y))
    regressor = explorer_html(bayleaf.AveragedKDBRegressor().fit(X, range(len(y))))
    for name, runs in {
        "class Cockpit": (False, True, True),
        "class NumberOutcome": (False, False, True),
        "class TargetEngine": (False, False, True),
        "class ProgramEngine": (False, True, True),
        "class NetworksEngine": (True, False, False),
        "function mostProbable": (True, False, False),
        "class Editing": (False, False, False),
        "class Counts": (False, True, True),
        ".people{": (False, True, True),
        "#tabs{": (True, True, True),
    }.items():
        pages = (network, classifier, regressor)
        assert tuple(name in page for page in pages) == runs, name


def test_scripts_of_a_page_give_no_name_twice() -> None:
    folder = Path(bayleaf.__file__).parent / "explorer" / "web"
    own = [(folder / name).read_text(encoding="utf-8") for name in SCRIPTS]
    text = "\n".join([*runtime_scripts(), *own])
    names = re.findall(r"^(?:async )?(?:function|class|const) (\w+)", text, re.M)
    assert len(names) > 100
    # A later function would replace an earlier one in silence.
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", ["nb", "tan", "aode", "hnb", "averaged KDB"])
def test_cases_are_suggested_by_left_out_answers_where_these_are_known(
    name: str, tmp_path: Path
) -> None:
    X, y = small_table(0, n_rows=160)
    few = {"n_networks": 2, "max_parents": 1, "max_rows": 60, "random_state": 0}
    is_average = name == "averaged KDB"
    model = bayleaf.AveragedKDBClassifier(**few) if is_average else classifier(name)
    model.fit(X, y).save(tmp_path / "model.json")
    rows = X.assign(**{"class": y})
    codes = model._training_codes
    proba = model._page_model().left_out(codes)
    label = codes.column(codes.n_variables - 1)

    def check(cases: Any, expected: Any, *, seen: bool | None) -> None:
        assert [case["kind"] for case in cases] == ["clear", "undecided", "wrong"]
        for case in cases:
            assert case["seen"] is seen
            assert case["posterior"] == expected[case["row"]].tolist()
            if case["kind"] != "undecided":
                is_right = np.argmax(case["posterior"]) == label[case["row"]]
                assert is_right == (case["kind"] == "clear")

    check(suggested_cases(model, rows), proba, seen=False)
    read = bayleaf.load(tmp_path / "model.json")
    answers = read.predict_proba(X)
    assert suggested_cases(read, rows) == suggested_cases(model, rows)
    check(suggested_cases(read, rows[:100]), answers, seen=None)
    backwards = suggested_cases(read, rows[::-1])
    # Weights, curves and trees of averages depend on all rows.
    assert {case["seen"] for case in backwards} == {is_average}
    read.save(tmp_path / "again.json")
    again = suggested_cases(bayleaf.load(tmp_path / "again.json"), rows)
    assert again == suggested_cases(read, rows)
    # Answers under another prior are not those without the row.
    for one in (read, model):
        other = one.with_class_prior([0.9, 0.1])
        assert {case["seen"] for case in suggested_cases(other, rows)} == {None}
        other.save(tmp_path / "other.json")
        other = bayleaf.load(tmp_path / "other.json")
        assert {case["seen"] for case in suggested_cases(other, rows)} == {None}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_files_and_pickles_keep_left_out_answers_of_the_first_rows(
    n_classes: int, tmp_path: Path
) -> None:
    X, _ = small_table(0, n_rows=1200, missing=0.1)
    label = np.random.default_rng(0).integers(0, n_classes, len(X))
    rows = X.assign(label=label)
    few = {"n_networks": 1, "max_parents": 1, "random_state": 0}
    model = bayleaf.AveragedKDBClassifier(**few)
    tan = bayleaf.TANClassifier(numeric="gaussian", numeric_weights="leave_one_out")
    regressor = bayleaf.AveragedKDBRegressor(**few, trees=False)
    weights = np.where(np.arange(len(X)) % 5, 1.0, 2.0)
    for fitted in (model, tan, regressor):
        fitted.fit(rows, target="label", sample_weight=weights)
        cases = suggested_cases(fitted, rows)
        assert {case["seen"] for case in cases} == {False}
        path = tmp_path / "model.json"
        fitted.save(path)
        saved = read_model(path)
        read, copied = bayleaf.load(path), pickle.loads(pickle.dumps(fitted))
        for one in (saved, read, copied, pickle.loads(pickle.dumps(read))):
            assert suggested_cases(one, rows) == cases
            assert suggested_cases(one, rows[:1000]) == cases
            for others in (rows[1:], rows[:999], rows.assign(label=label[::-1])):
                seen = {case["seen"] for case in suggested_cases(one, others)}
                assert False not in seen
        kept = saved.left_out_answers
        assert kept.rows == tuple(sorted(case["row"] for case in cases))
        # Nothing of a page of rounded counts comes from single rows.
        if fitted is model:
            assert kept.digest not in explorer_html(read, min_count=5)
        fitted.fit(rows[:600], target="label")
        assert suggested_cases(fitted, rows) != cases


def test_older_files_without_left_out_answers_give_the_own_ones(tmp_path: Path) -> None:
    X, y = small_table(0, n_rows=160)
    model = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    document = json.loads(path.read_text("utf-8"))
    del document["left_out_answers"]
    path.write_text(json.dumps(document), "utf-8")
    cases = suggested_cases(bayleaf.load(path), X.assign(**{"class": y}))
    assert {case["seen"] for case in cases} == {True}


def test_rows_with_other_left_out_scores_are_not_those_of_training(
    tmp_path: Path,
) -> None:
    X, y = small_table(0, n_rows=160)
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    assert model.loo_score_.log_loss > 0
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    # All counts of naive Bayes stay if a column is shuffled within each class.
    shuffled = X.copy()
    for label in np.unique(y):
        rows = np.flatnonzero(np.asarray(y) == label)
        shuffled.iloc[rows, 0] = X.iloc[rows[::-1], 0].to_numpy()
    for frame, seen in ((X, False), (shuffled, None)):
        cases = suggested_cases(read, frame.assign(**{"class": y}))
        assert {case["seen"] for case in cases} == {seen}


def test_numbers_are_suggested_by_left_out_distributions(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 5, (60, 2)), columns=["a", "b"])
    y = 10.0 * X["a"] + rng.normal(size=60)
    y[7] += 40.0
    rows = X.assign(y=y)
    few = {"n_networks": 1, "max_parents": 1, "trees": False, "random_state": 0}
    model = bayleaf.AveragedKDBRegressor(**few).fit(rows, target="y")
    cases = {case["kind"]: case for case in suggested_cases(model, rows)}
    assert {case["seen"] for case in cases.values()} == {False}
    figures = [[case["mean"], *case["interval"]] for case in cases.values()]
    own = model.predict_distribution(X)
    own_figures = np.column_stack([own.mean, own.interval()])
    places = [case["row"] for case in cases.values()]
    assert cases["wrong"]["row"] == 7
    assert len(set(places)) == 3
    assert X["a"][cases["low"]["row"]] == 0
    assert X["a"][cases["high"]["row"]] == 4
    assert not np.allclose(figures, own_figures[places])
    # Left out again: all rows together give the scores that fit reports.
    columns = [model._training_codes.column(v) for v in range(2)]
    codes = Codes.from_columns(columns, model._training_codes.cards[:2])
    low, high = model._page_model().left_out(codes, y.to_numpy())[:, 1:].T
    inside = np.mean((low <= y) & (y <= high))
    assert inside == pytest.approx(model.left_out_coverage_)
    model.save(tmp_path / "model.json")
    read = bayleaf.load(tmp_path / "model.json")
    assert suggested_cases(read, rows) == [*cases.values()]
    for reader, frame in ((read, rows[::-1]), (model, rows[::-1])):
        for case in suggested_cases(reader, frame):
            row = frame.index[case["row"]]
            assert case["seen"] is None
            shown = [case["mean"], *case["interval"]]
            assert shown == pytest.approx(own_figures[row].tolist(), abs=1e-9)
    kinds = [case["kind"] for case in suggested_cases(model, X)]
    assert kinds == ["low", "high"]
    with pytest.raises(ValueError, match="must be a classifier or regressor"):
        suggested_cases(small_network(), rows)


def test_no_row_is_suggested_twice_nor_one_that_has_no_number() -> None:
    X, y = small_table(0, n_rows=60)
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    assert [case["kind"] for case in suggested_cases(model, X[:1])] == ["clear"]
    rows = X.assign(**{"class": y})
    for n in (1, 2, 3):
        cases = suggested_cases(model, rows[:n])
        assert len({case["row"] for case in cases}) == len(cases) > 0
    few = {"n_networks": 1, "max_parents": 0, "trees": False, "random_state": 0}
    numbers = X.assign(size=np.arange(60.0))
    regressor = bayleaf.AveragedKDBRegressor(**few).fit(numbers, target="size")
    endless = numbers.assign(size=[np.inf, None, *range(58)])
    cases = suggested_cases(regressor, endless)
    assert cases[-1]["kind"] == "wrong"
    assert cases[-1]["row"] > 1


def test_a_target_of_other_values_than_those_of_training_is_refused() -> None:
    X, y = small_table(0, n_rows=60)
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    first = model.classes_[0]
    with pytest.raises(ValueError, match=f"must hold classes such as '{first}'"):
        explorer_html(model, rows=X.assign(**{"class": "other"}))
    # Outcomes may be unknown, and those of some rows new.
    label = [None, "other", *y[2:]]
    for labels in (label, [None] * len(y)):
        explorer_html(model, rows=X.assign(**{"class": labels}))
    few = {"n_networks": 1, "max_parents": 0, "trees": False, "random_state": 0}
    numbers = X.assign(size=np.arange(60.0))
    regressor = bayleaf.AveragedKDBRegressor(**few).fit(numbers, target="size")
    with pytest.raises(ValueError, match="column 'size' of the rows must hold numbers"):
        explorer_html(regressor, rows=X.assign(size="large"))
    for one in (model, regressor, small_network()):
        with pytest.raises(ValueError, match="rows must have at least one row"):
            explorer_html(one, rows=numbers[:0])
    with pytest.raises(NotFittedError):
        suggested_cases(bayleaf.NaiveBayesClassifier(), X)
    with pytest.raises(ValueError, match="the rows have no column of the model"):
        explorer_html(small_network(), rows=pd.DataFrame({"other": [1]}))


def test_rows_without_outcomes_suggest_a_clear_and_an_undecided_case() -> None:
    X, y = table()
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    cases = suggested_cases(model, X)
    highest = model.predict_proba(X).max(axis=1)
    assert [(case["kind"], case["row"]) for case in cases] == [
        ("clear", int(highest.argmax())),
        ("undecided", int(highest.argmin())),
    ]
