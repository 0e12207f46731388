"""What an explanation adds up is the model's log-odds, whatever the classifier."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.classifiers import CLASSIFIERS
from covering import pairwise
from offenders import check_each
from oracles.small_tables import classifier, small_table

SETTINGS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "n_rows": st.integers(12, 60),
        "n_classes": st.integers(1, 5),
        "missing": st.sampled_from([0.0, 0.15, 0.5]),
        "calibrated": st.booleans(),
        "weighted": st.booleans(),
        "prior": st.sampled_from(["learned", "even", "given", "replaced"]),
    }
)


def fitted(kind: str, case: dict[str, Any]) -> tuple[Any, pd.DataFrame]:
    """A classifier of a kind and the table that it learned from."""
    X, y = small_table(case["seed"], case["n_rows"], case["n_classes"], case["missing"])
    rng = np.random.default_rng(case["seed"])
    given_prior = rng.dirichlet(np.ones(case["n_classes"]))
    parameters: dict[str, Any] = {}
    if case["calibrated"]:
        parameters["calibration"] = "leave_one_out"
    if case["prior"] == "even":
        parameters["fit_prior"] = False
    if case["prior"] == "given":
        parameters["class_prior"] = given_prior
    weights = rng.integers(1, 4, len(y)).astype(float) if case["weighted"] else None
    model = classifier(kind, **parameters).fit(X, y, weights)
    if case["prior"] == "replaced":
        model = model.with_class_prior(given_prior)
    return model, X


@cache
def pairs_of_settings() -> dict[str, list[dict[str, Any]]]:
    """For each kind a few settings; all together hold every pair of them."""
    rows = pairwise(
        [*CLASSIFIERS],
        ("learned", "even", "given", "replaced"),
        (0.0, 0.15, 0.5),
        (1, 2, 5),
        (True, False),
        (True, False),
    )
    names = ("prior", "missing", "n_classes", "calibrated", "weighted")
    found: dict[str, list[dict[str, Any]]] = {}
    for place, (kind, *values) in enumerate(rows):
        own = {"seed": place, "n_rows": 12 + place, **dict(zip(names, values))}
        found.setdefault(kind, []).append(own)
    return found


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_prior_and_terms_add_up_to_the_log_odds(kind: str) -> None:
    check_each(pairs_of_settings()[kind], lambda case: check_sums(kind, case))


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSIFIERS)
@settings(max_examples=16, deadline=None, derandomize=True)
@given(case=SETTINGS)
def test_prior_and_terms_add_up_whatever_the_settings(
    kind: str, case: dict[str, Any]
) -> None:
    check_sums(kind, case)


def check_sums(kind: str, case: dict[str, Any]) -> None:
    """Compare what explanations of six rows add up to with the model's log-odds."""
    model, X = fitted(kind, case)
    rows = X.iloc[:6]
    logs = model.predict_log_proba(rows)
    place = {label: code for code, label in enumerate(model.classes_)}
    for one, log in zip(model.explain(rows), logs, strict=True):
        expected = log[place[one.target]] - log[place[one.against]]
        told = one.prior + math.fsum(term.contribution for term in one.terms)
        assert one.log_odds == pytest.approx(expected, abs=1e-10)
        assert told == pytest.approx(expected, abs=1e-10)
        bits = one.prior / math.log(2) + one.weight_of_evidence
        assert bits == pytest.approx(one.log_odds_bits, abs=1e-10)
        for term in one.terms:
            if term.value == "missing" and not has_missing_state(model):
                assert term.contribution == 0.0
            if term.increments:
                parts = math.fsum(term.increments)
                assert parts == pytest.approx(term.contribution, abs=1e-10)


def has_missing_state(model: Any) -> bool:
    """Whether missing cells are a state of their own."""
    return any(variable.has_missing_state for variable in model.encoder_.domain)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_any_class_may_be_compared_with(kind: str) -> None:
    X, y = small_table(1, n_classes=4)
    model = classifier(kind, calibration="leave_one_out").fit(X, y)
    logs = model.predict_log_proba(X)
    for code, label in enumerate(model.classes_):
        for row, one in enumerate(model.explain(X.iloc[:5], against=label)):
            if one.against != label:
                continue
            target = model.classes_.tolist().index(one.target)
            told = one.prior + math.fsum(term.contribution for term in one.terms)
            assert told == pytest.approx(logs[row, target] - logs[row, code], abs=1e-10)


def test_no_line_is_wider_than_a_terminal() -> None:
    X, y = small_table(2)
    X = X.rename(columns={"soil": "what the soil is like " * 6, "wet": "wet " * 30})
    labels = [f"{label} " * 20 for label in y]

    def check(kind: str) -> None:
        for one in classifier(kind).fit(X, labels).explain(X.iloc[:5]):
            assert max(map(len, str(one).splitlines())) <= 80

    check_each(CLASSIFIERS, check)


def test_bits_are_among_the_plain_values() -> None:
    X, y = small_table(2)
    (one,) = classifier("nb").fit(X, y).explain(X.iloc[:1])
    values = one.to_dict()
    assert values["log_odds_bits"] == pytest.approx(one.log_odds / math.log(2))
    total = sum(term["bits"] for term in values["terms"])
    assert values["weight_of_evidence_bits"] == pytest.approx(total)
    assert f"{one.log_odds_bits:+.3f} bits" in str(one)
