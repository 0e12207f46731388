"""What the page answers beside posteriors is what Python answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.stats

import bayleaf
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.classifiers.shared.saving import kept_support
from bayleaf.data.codes import Codes
from bayleaf.datasets import load_heart
from bayleaf.explorer import explorer_html
from bayleaf.explorer.page_content import published_predictor
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.models.bayesian_network import BayesianNetwork
from explorer.cases import Case, classifier_case, file_case, table
from oracles.small_tables import classifier

pytestmark = pytest.mark.slow

SET = """evidence => {
  const { session } = window.bayleaf;
  session.replace(evidence.map((mask) => mask && Float64Array.from(mask)));
}"""
ASK = "name => window.bayleaf.ask(name)"


def put(page: Any, n: int, masks: dict[int, Any]) -> None:
    """Set evidence on a page of n variables."""
    page.evaluate(
        SET, [list(map(float, masks[v])) if v in masks else None for v in range(n)]
    )
    # The answer is painted before it is explained.
    page.wait_for_function("() => !window.bayleaf.page.isPending")


def networks(folder: Path) -> list[BayesianNetwork]:
    """One with loops and zeros, and one whose tables are all positive."""
    rng = np.random.default_rng(3)
    parents = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"]}
    cards = {"a": 2, "b": 3, "c": 2, "d": 3, "e": 4}
    tables = {
        name: rng.dirichlet(
            np.ones(card), size=[cards[p] for p in parents.get(name, [])]
        )
        for name, card in cards.items()
    }
    positive = BayesianNetwork.from_tables(
        {name: [f"{name}{s}" for s in range(card)] for name, card in cards.items()},
        tables,
        parents,
    )
    read = file_case(folder).network
    assert read is not None
    return [positive, read]


def masks_of(network: BayesianNetwork, rng: np.random.Generator) -> dict[int, Any]:
    """Single states, several states and likelihoods of some variables, not the last."""
    masks = {}
    for variable, card in enumerate(network.domain.cards[:-1]):
        kind = rng.integers(6)
        if kind == 0:
            masks[variable] = np.eye(card)[rng.integers(card)]
        elif kind == 1:
            masks[variable] = rng.random(card)
        elif kind == 2:
            mask = np.ones(card)
            mask[rng.permutation(card)[: rng.integers(1, card)]] = 0.0
            masks[variable] = mask
    return masks


@pytest.mark.few(1)
@pytest.mark.parametrize("which", [0, 1])
def test_answers_about_a_network_are_those_of_python(
    which: int, open_page: Any, tmp_path: Path
) -> None:
    network = networks(tmp_path)[which]
    names = network.domain.names
    n = len(names)
    page = open_page(explorer_html(network))
    rng = np.random.default_rng(which)
    n_checked = 0
    for _ in range(25):
        masks = masks_of(network, rng)
        put(page, n, masks)
        known = {names[v]: mask for v, mask in masks.items()}
        try:
            posteriors = network.query(known)
        except ImpossibleEvidenceError:
            check_impossible(page, network, known)
            continue
        n_checked += 1
        found = page.evaluate(
            "window.bayleaf.session.posteriors().map((p) => Array.from(p))"
        )
        for name, own in zip(names, found, strict=True):
            np.testing.assert_allclose(own, posteriors[name].probabilities, atol=1e-9)
        check_information(page, network, known)
        check_explanation(page, network, known)
        check_conflict(page, network, known)
        check_sensitivity(page, network, known)
    assert n_checked >= 15


def check_impossible(
    page: Any, network: BayesianNetwork, known: dict[Any, Any]
) -> None:
    """Each set that is offered makes the rest possible, and no smaller one does."""
    names = network.domain.names
    offered = page.evaluate(ASK, "leastToTakeBack")
    assert offered
    for taken in offered:
        rest = {k: v for k, v in known.items() if k not in {names[t] for t in taken}}
        assert network.probability_of_evidence(rest) > 0
        assert len(taken) == len(offered[0])
    if len(offered[0]) == 2:
        for name in known:
            rest = {k: v for k, v in known.items() if k != name}
            assert network.probability_of_evidence(rest) == 0


def check_information(
    page: Any, network: BayesianNetwork, known: dict[Any, Any]
) -> None:
    names = network.domain.names
    expected = network.value_of_information(names[-1], known)
    found = {
        names[one["variable"]]: one["nats"] for one in page.evaluate(ASK, "information")
    }
    single = {k for k, mask in known.items() if np.count_nonzero(mask) == 1}
    assert found.keys() == expected.keys() - single
    for name, nats in found.items():
        assert nats == pytest.approx(expected[name], abs=1e-9)


def check_explanation(
    page: Any, network: BayesianNetwork, known: dict[Any, Any]
) -> None:
    states, log_states, log_known = network.most_probable_explanation(known)
    found = page.evaluate(ASK, "mostProbable")
    # Likelihoods count as they were given.
    assert found["logProbability"] == pytest.approx(log_states + log_known, abs=1e-9)
    named = [v.states[s] for v, s in zip(network.domain, found["states"], strict=True)]
    assert named == list(states.values())


def check_conflict(page: Any, network: BayesianNetwork, known: dict[Any, Any]) -> None:
    found = page.evaluate(ASK, "conflict")
    if len(known) < 2:
        assert found is None
        return
    assert found["total"] == pytest.approx(network.conflict(known), abs=1e-9)
    by_item = network.conflict_by_item(known)
    names = network.domain.names
    for item in found["items"]:
        assert item["nats"] == pytest.approx(by_item[names[item["variable"]]], abs=1e-9)


def check_sensitivity(
    page: Any, network: BayesianNetwork, known: dict[Any, Any]
) -> None:
    domain = network.domain
    target = domain[-1]
    probabilities = network.query(known)[target.name].probabilities
    event = {target.name: target.states[int(np.argmax(probabilities))]}
    found = page.evaluate(ASK, "tornado")
    assert found
    for one in found[:6] + found[-3:]:
        *parents, child = one["family"]
        given, rest = {}, one["row"]
        for parent in reversed(parents):
            variable = domain[parent]
            given[variable.name] = variable.states[rest % variable.n_states]
            rest //= variable.n_states
        state = domain[child].states[one["entry"]]
        line = network.sensitivity(event, domain[child].name, state, given, known)
        assert one["p"] == pytest.approx(line.entry, abs=1e-12)
        ends = [line(one["p"] * 0.9), line(min(1.0, one["p"] * 1.1))]
        assert one["ends"] == pytest.approx(ends, abs=1e-9)


def test_propagations_for_states_of_the_question_are_steps(
    open_page: Any, tmp_path: Path
) -> None:
    """The page answers clicks between them, which may enter other evidence."""
    page = open_page(explorer_html(file_case(tmp_path).model))
    assert page.evaluate(
        """() => { const { session } = window.bayleaf; const { engine } = session;
        const none = session.evidence; const other = none.slice();
        const v = (engine.question + 1) % other.length;
        other[v] = new Float64Array(session.card(v)); other[v][0] = 1;
        const card = session.card(engine.question);
        return ["jointScores", "familySums"].every((name) => {
          const run = (between) => { const work = engine[name](none); let n = 0;
            let step = work.next();
            for (; !step.done; n += 1) { between(); step = work.next(); }
            return [n, JSON.stringify(step.value)]; };
          const [n, plain] = run(() => {});
          const [, disturbed] = run(() => engine.scores(other));
          return n === card && plain === disturbed; }); }"""
    )


def test_posteriors_of_a_mixture_of_networks_are_exact(open_page: Any) -> None:
    """Each state's probability is what all classes together give it."""
    case = classifier_case("AODE")
    page = open_page(explorer_html(case.model))
    assert case.predictor is not None
    model = case.predictor.model
    rng = np.random.default_rng(0)
    for _ in range(20):
        states = {
            v: int(rng.integers(case.cards[v])) for v in range(6) if rng.random() < 0.5
        }
        put(page, 7, {v: np.eye(case.cards[v])[s] for v, s in states.items()})
        found = page.evaluate(
            "window.bayleaf.session.posteriors().map((p) => Array.from(p))"
        )
        for feature in range(6):
            if feature in states:
                assert found[feature][states[feature]] == pytest.approx(1.0)
                continue
            rows = [
                case.codes({**states, feature: s}) for s in range(case.cards[feature])
            ]
            joint = [np.exp(model.class_log_scores(row)).sum() for row in rows]
            np.testing.assert_allclose(found[feature], joint / np.sum(joint), atol=1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "kind", ["averaged KDB with missing states", "mixture", "KDB with a number"]
)
def test_states_left_open_give_the_mean_of_their_predictions(
    kind: str, open_page: Any
) -> None:
    case = classifier_case(kind)
    assert case.predictor is not None
    shares = case.predictor.model.feature_marginals
    assert shares is not None
    page = open_page(explorer_html(case.model))
    n = len(case.cards)
    rng = np.random.default_rng(1)
    for _ in range(10):
        first, second, third = rng.permutation(case.n_features)[:3]
        masks = {
            first: rng.random(case.cards[first]),
            second: np.ones(case.cards[second]),
        }
        masks[second][rng.integers(case.cards[second])] = 0.0
        known = int(rng.integers(case.cards[third]))
        masks[third] = np.eye(case.cards[third])[known]
        put(page, n, masks)
        expected, total = np.zeros(case.cards[-1]), 0.0
        for one, seen in enumerate(masks[first]):
            for two in np.flatnonzero(masks[second]):
                weight = seen * shares[first][one] * shares[second][two]
                states = {int(first): one, int(second): int(two), int(third): known}
                expected += weight * case.class_proba(states)
                total += weight
        found = page.evaluate(
            "Array.from(window.bayleaf.session.answer().logs, Math.exp)"
        )
        np.testing.assert_allclose(found, expected / total, atol=1e-9)
        told = page.evaluate("window.bayleaf.session.explanation()")
        assert told["prior"] + sum(told["terms"]) == pytest.approx(
            told["logOdds"], abs=1e-9
        )


def test_too_many_combinations_are_refused_in_a_sentence(open_page: Any) -> None:
    X, y = table(n_features=12)
    model = bayleaf.AveragedKDBClassifier(n_networks=2, random_state=0).fit(X, y)
    page = open_page(explorer_html(model))
    told = page.evaluate(
        """() => { const { session } = window.bayleaf; let told = "";
          for (let v = 0; v < 12 && !told; v += 1) told = session.ruleOut(v, 0);
          return told; }"""
    )
    assert "can be combined in" in told
    assert "set a single value" in told


def test_shares_are_said_to_be_shares(open_page: Any) -> None:
    case = classifier_case("averaged KDB")
    page = open_page(explorer_html(case.model))
    assert "Pale bars are shares" in page.inner_text("#variables-note")
    assert case.predictor is not None
    shares = case.predictor.model.feature_marginals
    found = page.evaluate(
        "window.bayleaf.session.posteriors().map((p) => Array.from(p))"
    )
    assert shares is not None
    for own, share in zip(found[:-1], shares, strict=True):
        np.testing.assert_allclose(own, share, atol=1e-9)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "kind", ["averaged KDB", "TAN", "KDB", "AODE", "HNB", "mixture", "latent class"]
)
def test_terms_are_split_into_alone_and_together(kind: str, open_page: Any) -> None:
    case = classifier_case(kind)
    page = open_page(explorer_html(case.model))
    put(page, 7, {v: np.eye(case.cards[v])[1] for v in (0, 1, 3)})
    found = page.evaluate(
        "window.bayleaf.session.alone(window.bayleaf.session.explanation())"
    )
    told = page.evaluate("window.bayleaf.session.explanation()")
    own = case.explanation(dict.fromkeys((0, 1, 3), 1))
    labels = case.predictor.classes.tolist()  # type: ignore[union-attr]
    assert labels[told["target"]] == own.target
    for variable in (0, 1, 3):
        assert found[variable] == pytest.approx(own.terms[variable].alone, abs=1e-9)
    heads = page.locator("#why-table thead th").all_inner_texts()
    # Terms in order depend on those above them.
    is_ordered = kind in {"TAN", "KDB", "HNB", "latent class"}
    ends = ["alone"] if is_ordered else ["alone", "with others"]
    assert heads[-len(ends) :] == ends


def test_soft_evidence_travels_in_the_address(open_page: Any) -> None:
    model = bayleaf.NaiveBayesClassifier().fit(*table())
    html = explorer_html(model)
    page = open_page(html)
    put(page, 7, {0: [1.0, 0.25, 0.5]})
    want = page.inner_text("#verdict")
    assert "~1_0.25_0.5" in page.url
    again = open_page(html, "#" + page.url.split("#")[1])
    assert again.inner_text("#verdict") == want
    expected = model.network_.query({"x0": np.array([1.0, 0.25, 0.5])}, ["class"])[
        "class"
    ]
    found = again.evaluate("Array.from(window.bayleaf.session.answer().logs, Math.exp)")
    np.testing.assert_allclose(found, expected.probabilities, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "chips"),
    [
        ("colour,size,class\nred,12.5,a", ["colour = red ×", "size"]),
        ("SIZE;Colour\n12,5;blue", ["colour = blue ×", "size"]),
        ("SIZE;Colour\n12,5,1;blue", None),
        ("red,12.5", ["colour = red ×", "size"]),
        ("red\t?\ta", ["colour = red ×"]),
        ('"red",NA', ["colour = red ×"]),
        ("green,12", None),
        ("red", None),
        ("", None),
    ],
)
def test_a_pasted_line_becomes_a_case(
    text: str, chips: list[str] | None, open_page: Any
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pa.table(
        {
            "colour": [
                ("red", "blue")[int(c)] for c in (rng.random(300) < 0.3 + 0.4 * y)
            ],
            "size": rng.normal(10, 2, 300) + 3 * y,
        }
    )
    page = open_page(
        explorer_html(bayleaf.NaiveBayesClassifier().fit(X, [f"{'ab'[c]}" for c in y]))
    )
    page.locator("#case summary").click()
    page.fill("#case-text", text)
    page.click("#case-take")
    found = page.locator(".chip").all_inner_texts()
    if chips is None:
        assert page.inner_text("#message") not in ("", "The case was set.")
    else:
        assert len(found) == len(chips)
        assert all(own.startswith(chip) for own, chip in zip(found, chips, strict=True))


def test_a_pasted_case_is_read_by_the_plan(open_page: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    values = np.round(1000 + 800 * rng.normal(size=300) + 900 * y, 1).tolist()
    texts = [f"{v:,.1f} €".translate(str.maketrans(",.", ".,")) for v in values]
    texts[3] = "k.A."
    X = pa.table({"price": texts, "sold": rng.choice(["TRUE", "False"], 300)})
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_page(explorer_html(model))
    page.locator("#case summary").click()
    cases = [("1.234", "true"), ("-5,5 €", "FALSE"), ("(1.500,5)", "False")]
    cases += [("1.234", ""), ("k.A.", "True"), ("1,234.5", "TRUE")]
    for cells in cases:
        message, _, found = paste(page, "price;sold\n" + ";".join(cells))
        assert message == "The case was set."
        row = pa.table({n: [c or None] for n, c in zip(X.column_names, cells)})
        np.testing.assert_allclose(found, model.predict_proba(row)[0], atol=1e-9)
    assert "1,23.5 is not a value of price" in paste(page, "price;sold\n1,23.5;true")[0]


@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_dates_and_durations_of_a_pasted_case_are_those_of_the_table(
    missing: str, open_page: Any
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    day = np.datetime64("2020-01-01") + rng.integers(0, 700, 300) + 90 * y
    took = [f"{m // 60}:{m % 60:02}:00" for m in (rng.integers(1, 200, 300) + 60 * y)]
    X = pa.table(
        {"seen": [str(d) for d in day], "took": took, "ward": ["a", "b"] * 150}
    )
    model = bayleaf.NaiveBayesClassifier(missing=missing).fit(X, y)
    assert len(model.model_.domain) > len(X.column_names) + 1
    page = open_page(explorer_html(model))
    page.locator("#case summary").click()
    lines = [
        "2020-03-05,2:10:00,a",
        "2021-11-30,0:20:00,b",
        ",0:05:00,a",
        "2021-02-01,,b",
    ]
    for line in lines:
        cells = [cell or None for cell in line.split(",")]
        row = pa.table({n: [c] for n, c in zip(X.column_names, cells)}, X.schema)
        expected = model.predict_proba(row)[0]
        for text in (line, f"seen,took,ward\n{line}"):
            message, _, found = paste(page, text)
            assert message == "The case was set."
            np.testing.assert_allclose(found, expected, atol=1e-9)
    message = paste(page, "soon,0:05:00,a")[0]
    assert message == "soon is not a value of seen. All else was set."


def test_empty_cells_of_a_pasted_case_are_the_state_of_missing_ones(
    open_page: Any,
) -> None:
    X, y = table()
    model = bayleaf.NaiveBayesClassifier(missing="state").fit(X, y)
    page = open_page(explorer_html(model))
    page.locator("#case summary").click()
    row = {name: [None] for name in X.column_names} | {"x0": ["s1"]}
    message, states, found = paste(page, f"{','.join(row)}\ns1,,,,,")
    assert message == "The case was set."
    cells = pa.table(row, X.schema)
    np.testing.assert_allclose(found, model.predict_proba(cells)[0], atol=1e-9)
    # What a line leaves out is not known.
    assert paste(page, "x0,x1\ns1,")[1] == [*states[:2], *[None] * 5]


def test_a_pasted_case_matches_names_exactly_before_loosely(open_page: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    names = {"Sugar": ["x", "y"], "sugar": ["x", "y"], "grade": ["A", "B", "a b"]}
    X = pa.table({name: rng.choice(own, 60) for name, own in names.items()})
    page = open_page(explorer_html(bayleaf.NaiveBayesClassifier().fit(X, y)))
    page.locator("#case summary").click()
    order = [sorted(own) for own in names.values()]
    for text, states in {
        "Sugar,sugar,grade\nx,y,A": ["x", "y", "A"],
        "SUGAR,sugar,Grade\nx,Y,A_B": [None, "y", "a b"],
        "x,y,A-": ["x", "y", None],
    }.items():
        message, codes, _ = paste(page, text)
        pairs = zip(codes[:3], order, strict=True)
        found = [None if code is None else own[code] for code, own in pairs]
        assert found == states
        assert (message == "The case was set.") == (None not in states)


def test_names_of_dates_and_texts_with_blanks_are_matched_exactly_first(
    open_page: Any,
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pa.table(
        {
            "a b": np.datetime64("2020-01-01") + rng.integers(0, 90, 200) + 60 * y,
            "a-b": rng.normal(size=200) + y,
            "mark": np.array(["v", "v ", "\u2028"])[(rng.integers(0, 2, 200) + y)],
        }
    )
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    page = open_page(explorer_html(model))
    page.locator("#case summary").click()
    for row in range(6):
        cells = ",".join(str(X[name][row]) for name in X.column_names)
        message, _, found = paste(page, f"{','.join(X.column_names)}\n{cells}")
        assert message == "The case was set."
        proba = model.predict_proba(X.slice(row, 1))[0]
        np.testing.assert_allclose(found, proba, atol=1e-9)


def test_any_category_of_an_ordered_column_is_pasted_or_found(open_page: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    levels = ["low", "mid", "high", "top"]
    codes = np.minimum(rng.integers(0, 2, 200) + 2 * y, 2)
    X = pd.DataFrame({"size": pd.Categorical.from_codes(codes, levels, ordered=True)})
    model = bayleaf.NaiveBayesClassifier().fit(X, y)
    assert "high" not in model.model_.domain[0].states
    page = open_page(explorer_html(model))
    page.locator("#case summary").click()
    for level in levels:
        row = pd.DataFrame({"size": pd.Categorical([level], levels, ordered=True)})
        for text in (level, level.upper()):
            message, _, found = paste(page, f"size\n{text}")
            assert message == "The case was set."
            proba = model.predict_proba(row)[0]
            np.testing.assert_allclose(found, proba, atol=1e-9)
        page.fill("#find", f"size={level}")
        page.keyboard.press("Enter")
        assert page.inner_text("#message").startswith("Set: size is ")


def paste(page: Any, text: str) -> tuple[str, list[int | None], np.ndarray]:
    """The page's message, the states it then knows, and its class probabilities."""
    page.fill("#case-text", text)
    page.click("#case-take")
    states = page.evaluate(
        "window.bayleaf.session.evidence.map((mask) => mask && mask.indexOf(1))"
    )
    found = page.evaluate("Array.from(window.bayleaf.session.answer().logs, Math.exp)")
    return page.inner_text("#message"), states, np.array(found)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.long] * (name not in ("nb", "aode", "auto"))
        )
        for name in CLASSIFIERS
    ],
)
def test_numbers_are_pasted_into_a_page_of_rounded_counts(
    name: str, open_page: Any
) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 400)
    X = pd.DataFrame(
        {
            "size": np.round(rng.normal(size=400) + 2.0 * (y == "yes"), 2),
            "rooms": np.where(rng.random(400) < 0.3, 2, 1 + 3 * (y == "yes")),
            "town": np.where(rng.random(400) < 0.6, y, "elsewhere"),
        }
    ).astype({"rooms": object, "town": object})
    X.loc[:2, "rooms"], X.loc[3:5, "town"], X.loc[6:7, "size"] = 97, "Atlantis", 60.0
    model = classifier(name).fit(X, y)
    predictor = replace(model._predictor(), support=kept_support(model))
    published, _ = published_predictor(predictor, 5)
    page = open_page(explorer_html(model, min_count=5))
    page.locator("#case summary").click()
    codes = model._encode(X).codes
    shown = page.evaluate("window.bayleaf.session.model.variables.slice(0, 3)")
    differences = []
    for row in range(6, 30):
        values = X.iloc[row]
        message, states, found = paste(page, ",".join(map(str, values)))
        assert message == "The case was set."
        own = [int(codes.column(v)[row]) for v in range(3)]
        for variable, state in enumerate(own):
            spans = shown[variable].get("spans", [])
            own[variable] = next((m for a, m, b in spans if a <= state <= b), state)
        assert states[:3] == own
        one = Codes.from_columns([np.array([s]) for s in own], codes.cards)
        np.testing.assert_allclose(found, published.proba(one)[0], atol=1e-9)
        differences.append(np.abs(found - predictor.proba(one)[0]).mean())
    assert np.mean(differences) < 0.1
    message, states, _ = paste(page, "0.5,97,no")
    assert message == (
        "97 is not a value of rooms. Values of rooms that few training rows have are "
        "numbered on this page, not named. All else was set."
    )
    assert states[0] is not None
    assert states[1] is None
    assert (
        "Atlantis is not a value of town. Values of town"
        in paste(page, ",,Atlantis")[0]
    )
    message, _, _ = paste(page, "a,b,c")
    assert message.startswith("a is not a value of size. b is not a value of rooms.")
    page.fill("#find", "rooms=0..100")
    page.press("#find", "Enter")
    assert "numbered on this page" in page.inner_text("#message")


def test_values_that_were_not_read_are_counted(open_page: Any) -> None:
    page = open_page(explorer_html(classifier_case("TAN").model))
    page.locator("#case summary").click()
    message = paste(page, ",".join("abcdef"))[0]
    assert message.count("is not a value of") == 4
    assert "2 more values were not read." in message


def test_a_faulty_case_is_refused_or_named(open_page: Any) -> None:
    X, y = load_heart(return_X_y=True)
    X = X.select(["age", "sex", "chest_pain"])
    page = open_page(explorer_html(bayleaf.NaiveBayesClassifier().fit(X, y)))
    page.locator("#case summary").click()
    taken, states, _ = paste(page, "age,sex\n60,male")
    assert taken == "The case was set."
    for text, told in (
        ("age,sex,Age\n60,male,30", "Age is there twice; leave one of them out."),
        ("age,sex\n60", "The line has 1 value where 2 names are above it."),
        ("60,male", "The line has 2 values where 3 are expected; write the names"),
    ):
        message, now, _ = paste(page, text)
        assert message.startswith(told)
        assert now == states
    message, *_ = paste(page, "age,sex\n50,male\n40,male")
    assert message == "Only the first of 2 lines was read. The case was set."
    message, now, _ = paste(page, "age,sex\n50,woman\n40,male")
    assert message == (
        "Only the first of 2 lines was read. woman is not a value of sex (female, "
        "male). All else was set."
    )
    assert now[0] is not None
    assert now[1] is None


def test_a_case_is_pinned_compared_and_swapped(open_page: Any) -> None:
    case = classifier_case("TAN")
    page = open_page(explorer_html(case.model))
    put(page, 7, {0: [0, 1, 0], 1: [1, 0, 0]})
    page.locator("#case summary").click()
    page.click("#pin")
    before = page.inner_text("#verdict")
    put(page, 7, {0: [0, 0, 1], 1: [1, 0, 0]})
    text = page.inner_text("#compared")
    assert "x0 = s2" in text
    assert "x0 = s1" in text
    assert "x1" not in text
    assert page.locator(".state .pinned:not([hidden])").count() > 6
    page.click("#swap")
    assert page.inner_text("#verdict") == before
    page.click("#pin")
    assert page.inner_text("#compared") == ""


def test_a_locked_variable_is_left_alone_by_what_if(open_page: Any) -> None:
    case = classifier_case("TAN")
    page = open_page(explorer_html(case.model))
    put(page, 7, {v: np.eye(3)[0] for v in (0, 1, 3)})
    all_found = page.evaluate("window.bayleaf.allCounterfactuals()")
    assert any(c["variable"] == 0 for one in all_found for c in one["changes"])
    page.locator(".keep").first.click()
    kept = page.evaluate("window.bayleaf.allCounterfactuals()")
    assert kept
    assert all(c["variable"] != 0 for one in kept for c in one["changes"])
    assert len(kept) == sum(
        all(c["variable"] != 0 for c in one["changes"]) for one in all_found
    )


def test_redo_takes_an_undone_step_again(open_page: Any) -> None:
    case = classifier_case("TAN")
    page = open_page(explorer_html(case.model))
    assert page.locator("#redo").is_disabled()
    put(page, 7, {0: [0, 1, 0]})
    put(page, 7, {0: [0, 1, 0], 1: [1, 0, 0]})
    want = page.inner_text("#verdict")
    page.keyboard.press("Control+z")
    assert page.inner_text("#verdict") != want
    page.keyboard.press("Control+Shift+z")
    assert page.inner_text("#verdict") == want
    page.click("#undo")
    put(page, 7, {2: [1, 0, 0]})
    assert page.locator("#redo").is_disabled()


def test_ask_next_ranks_by_what_a_cost_is_worth(open_page: Any, tmp_path: Path) -> None:
    network = networks(tmp_path)[0]
    page = open_page(explorer_html(network))
    page.locator("#ask-next summary").click()
    page.wait_for_selector("#ask-next-table tbody tr")
    order = page.locator("#ask-next-table tbody th").all_inner_texts()
    gains = network.value_of_information("e")
    uncertainty = scipy.stats.entropy(network.query({}, ["e"])["e"].probabilities)
    assert order == [n for n, gain in gains.items() if gain >= 0.01 * uncertainty]
    wide = page.locator("#ask-next-table .bar").first.evaluate("bar => bar.style.width")
    share = gains[order[0]] / uncertainty
    assert float(wide.rstrip("%")) == pytest.approx(100 * share, abs=0.1)
    # Amounts of uncertainty are for who asks for a unit.
    line, table = page.locator("#ask-next-line"), page.locator("#ask-next-table")
    assert "bits" not in line.inner_text() + table.inner_text()
    page.locator("#menu-name").click()
    page.select_option("#unit", "bits")
    page.wait_for_selector("#ask-next-table th >> text=bits")
    assert f"Uncertainty now: {uncertainty / np.log(2):.3f} bits" in line.inner_text()
    bits = table.locator("tbody tr").first.locator("td.number").nth(1).inner_text()
    assert bits == f"{gains[order[0]] / np.log(2):.3f}"
    page.locator("#ask-next-table .cost").first.fill("1000")
    page.locator("#ask-next-table .cost").first.press("Tab")
    assert page.locator("#ask-next-table tbody th").all_inner_texts()[-1] == order[0]


def test_a_question_without_a_telling_answer_is_not_listed(open_page: Any) -> None:
    states = {"coin": ["head", "tail"], "rain": ["no", "yes"]}
    fair = {"coin": np.full(2, 0.5), "rain": np.array([0.8, 0.2])}
    page = open_page(explorer_html(BayesianNetwork.from_tables(states, fair, {})))
    page.locator("#ask-next summary").click()
    page.wait_for_function(
        "() => document.getElementById('ask-next-line').textContent"
        " === 'No further question is likely to change this.'"
    )
    assert page.locator("#ask-next-table tr").count() == 0


def test_panels_that_a_model_cannot_fill_are_not_there(
    open_page: Any, tmp_path: Path
) -> None:
    page = open_page(
        explorer_html(classifier_case("averaged KDB").model), view="expert"
    )
    assert not page.is_visible("#most-probable")
    assert not page.is_visible("#sensitivity")
    model = Case("n", networks(tmp_path)[0], None).model
    again = open_page(explorer_html(model), view="expert")
    assert not again.is_visible("#tab-cockpit")
    assert ", then " in again.inner_text("#expert-answer")
    assert again.is_visible("#most-probable")
    again.locator("#most-probable summary").click()
    states = networks(tmp_path)[0].most_probable_explanation().states
    again.wait_for_selector("#most-probable-list li")
    listed = again.locator("#most-probable-list li").all_inner_texts()
    assert listed == [f"{name} = {state}" for name, state in states.items()]


def table_with_answers() -> pa.Table:
    """Text, a number with a hole, and the class in the middle."""
    X, y = table()
    return X.append_column("class", [y]).select(["x5", "class", *X.column_names[:5]])


@pytest.mark.parametrize("kind", ["classifier", "network", "regressor"])
def test_rows_of_the_page_are_cases_to_pick(kind: str, open_page: Any) -> None:
    rows = table_with_answers()
    model: Any
    if kind == "classifier":
        model = bayleaf.TANClassifier().fit(rows.drop_columns(["class"]), rows["class"])
    elif kind == "network":
        model = bayleaf.BayesianNetworkEstimator().fit(rows).network_
        rows = rows.drop_columns(["x2"])
    else:
        target = np.linspace(0.0, 1.0, len(rows))
        model = bayleaf.AveragedKDBRegressor(n_networks=2, trees=False)
        model.fit(rows.drop_columns(["class"]), target)
    page = open_page(explorer_html(model, rows=rows))
    page.locator("#case summary").click()
    assert page.inner_text("#case-row-count") == f"of {len(rows)}"
    page.click("#case-next")
    page.click("#case-next")
    assert page.input_value("#case-row") == "2"
    chips = "\n".join(page.locator(".chip").all_inner_texts())
    for name in ("x0", "x1", "x5"):
        value = rows[name][1].as_py()
        assert (f"{name} = {value} ×" in chips) == (value is not None)
    if kind == "classifier":
        label = rows["class"][1].as_py()
        (predicted,) = model.predict(rows.drop_columns(["class"]).slice(1, 1))
        verdict = "right" if predicted == label else "wrong"
        told = page.inner_text("#message")
        assert told == f"Recorded outcome: {label}. The model was {verdict} here."
    page.fill("#case-row", "100000")
    page.press("#case-row", "Enter")
    assert page.input_value("#case-row") == str(len(rows))


def test_rows_and_withheld_counts_exclude_each_other() -> None:
    rows = table_with_answers()
    model = bayleaf.TANClassifier().fit(rows.drop_columns(["class"]), rows["class"])
    with pytest.raises(ValueError, match="what min_count hides"):
        explorer_html(model, min_count=5, rows=rows)
    with pytest.raises(ValueError, match="have no column 'x5'"):
        explorer_html(model, rows=rows.drop_columns(["x5"]))
    with pytest.raises(ValueError, match="must be a data frame"):
        explorer_html(model, rows=[[1, 2]])
