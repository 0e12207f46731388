"""What a prompt shows of an object: a few lines, whatever the size of the model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from bayleaf import (
    BayesianNetwork,
    BayesianNetworkEstimator,
    HNBClassifier,
    Inference,
    NaiveBayesClassifier,
    TANClassifier,
    ValueHierarchy,
    learn_parameters,
)
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.data.domain import Domain, Variable
from bayleaf.datasets import load_heart
from bayleaf.evaluation import compare, cross_validate_density, friedman_test
from bayleaf.explain import (
    conflicts,
    counterfactuals,
    credible_intervals,
    importance,
)
from bayleaf.graph.dag import DAG
from bayleaf.io import read_model
from bayleaf.results.result import Shown
from contract.tables import mixed_frame
from results.test_html import Elements

# Parameters that keep a search over 200 features short.
QUICK: dict[str, dict[str, Any]] = {
    "hnb": {"search": "significance", "significance_level": 1e-3},
    "auto": {"n_networks": 2},
    "network": {"max_parents": 1, "n_restarts": 1},
    "mixture": {"architecture": (3, 2)},
    "latent_class": {"n_components": 3},
}
# Features of wide tables, and the fewer of methods whose time or memory grows with
# their square or faster.
WIDE, WIDER = 40, 200
N_FEATURES: dict[int, dict[str, int]] = {
    WIDE: {"aode": 20, "a2de": 8, "network": 12},
    WIDER: {"aode": 60, "a2de": 20, "network": 60},
}


def _wide_table(n_features: int = WIDE, n_rows: int = 60) -> tuple[pd.DataFrame, Any]:
    """Pairs of features that are alike, with long names and states."""
    rng = np.random.default_rng(0)
    states = np.array([f"the state with the number {i}" for i in range(4)])
    codes = rng.integers(4, size=(n_rows, n_features))
    codes[:, 1::2] = codes[:, : n_features - 1 : 2]
    y = rng.integers(3, size=n_rows)
    codes[:, :20] = (codes[:, :20] + y[:, None]) % 4
    names = [f"a feature that is called by its number, {i}" for i in range(n_features)]
    table = pd.DataFrame(states[codes], columns=names)
    return table, np.array(["one class", "another", "the last"])[y]


def _of_the_house(thing: Any) -> bool:
    return type(thing).__module__.startswith("bayleaf")


def _reachable(thing: Any, seen: set[int]) -> Iterator[Any]:
    """Objects of the library that lead from one another by public attributes."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Mapping) and not _of_the_house(thing):
        thing = list(thing.values())
    if isinstance(thing, list | tuple) and not _of_the_house(thing):
        for item in thing[:3]:
            yield from _reachable(item, seen)
        return
    if not _of_the_house(thing) or isinstance(thing, type):
        return
    if not isinstance(thing, BaseEstimator):
        yield thing
    names = list(vars(thing)) if hasattr(thing, "__dict__") else []
    if is_dataclass(thing):
        names += list(thing.__dataclass_fields__)
    for name in names:
        if not name.startswith("_") and hasattr(thing, name):
            yield from _reachable(getattr(thing, name), seen)


def _assert_brief(*things: Any) -> None:
    """Every object and all that it leads to show themselves in a few lines."""
    seen: set[int] = set()
    # Objects stay alive, so that no address is used twice.
    found = [each for thing in things for each in _reachable(thing, seen)]
    assert found
    offenders = {
        f"{type(thing).__name__}: {len(shown)} characters, {shown[:80]}"
        for thing in found
        for shown in [repr(thing)]
        if len(shown) > 400 or shown.count("\n") >= 5 or " object at 0x" in shown
    }
    offenders |= {
        f"{type(thing).__name__}: {html[:80]}"
        for thing in found
        if isinstance(thing, Shown)
        for html in [thing._repr_html_()]
        if " object at 0x" in html or Elements(html).text.isspace()
    }
    assert not offenders, "\n".join(sorted(offenders))


@pytest.mark.parametrize("key", CLASSIFIERS)
@pytest.mark.parametrize(
    "n_features",
    [None, WIDE, pytest.param(WIDER, marks=[pytest.mark.slow, pytest.mark.long])],
)
def test_all_that_a_classifier_leads_to_is_brief(
    key: str, n_features: int | None, tmp_path: Path
) -> None:
    if n_features is None:
        X, y = mixed_frame()
        model = CLASSIFIERS[key](random_state=0).fit(X, y)
    else:
        X, y = _wide_table(N_FEATURES[n_features].get(key, n_features))
        model = CLASSIFIERS[key](**QUICK.get(key, {}), random_state=0).fit(X, y)
    model.save(tmp_path / "model.json")
    public = [
        getattr(model, name, None)
        for name in dir(model)
        if name.endswith("_") and not name.endswith("__")
    ]
    _assert_brief(
        *public,
        model.explain(X[:2]),
        model.summary(),
        conflicts(model, X[:2]),
        read_model(tmp_path / "model.json"),
    )


@pytest.mark.parametrize("n_variables", [3, 200])
def test_all_that_a_network_answers_is_brief(n_variables: int) -> None:
    network = _chain(n_variables)
    rows = pd.DataFrame({f"v{i}": ["no", "yes"] for i in range(n_variables)})
    _assert_brief(
        network,
        Inference(network),
        network.query({"v0": "yes"}),
        network.query({"v0": "yes"})["v1"],
        network.sensitivity({"v1": "yes"}, "v0", "yes"),
        learn_parameters(network.with_experience(1.0), rows),
        DAG(tuple((i - 1,) if i else () for i in range(n_variables))),
    )


@pytest.mark.parametrize("n_variables", [4, 20])
def test_all_that_a_density_model_leads_to_is_brief(n_variables: int) -> None:
    X, _ = _wide_table(n_variables)
    model = BayesianNetworkEstimator(
        local_structure="tree", max_parents=1, n_restarts=1, random_state=0
    ).fit(X)
    _assert_brief(
        model.summary(),
        model.network_,
        model.trace_,
        model.encoder_,
        model.arc_strength(X, n_bootstraps=2),
        cross_validate_density({"a density model": model}, X, n_folds=2),
    )


def test_all_that_is_said_of_predictions_is_brief() -> None:
    X, y = _wide_table()
    model = TANClassifier().fit(X, y)
    _assert_brief(
        credible_intervals(model, X[:2], n_draws=20, random_state=0),
        counterfactuals(model, X[:1], max_changes=1),
        importance(NaiveBayesClassifier().fit(X, y)),
        compare(X.iloc[:, :20], y, ["nb", "tan"], n_folds=2),
        friedman_test({f"model {i}": [0.1 * i, 0.2] for i in range(30)}),
        load_heart(),
    )


def test_a_hierarchy_of_many_values_is_brief() -> None:
    nested = {
        "any": {f"group {i}": [f"value {i} {j}" for j in range(9)] for i in range(99)}
    }
    _assert_brief(ValueHierarchy.from_nested(nested))


def test_names_of_any_length_and_form_are_brief() -> None:
    awkward = "\n".join(["a name on many lines"] * 1000)
    domain = Domain((Variable(awkward, (awkward, "\x1b[31m")),))
    _assert_brief(domain, domain[0])
    assert "\x1b" not in repr(domain[0])


def _chain(n_variables: int = 3) -> BayesianNetwork:
    """Variables v0 -> v1 -> ..., each like the one before in four of five cases."""
    names = [f"v{i}" for i in range(n_variables)]
    return BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in names},
        parents={child: [parent] for parent, child in itertools.pairwise(names)},
        tables={
            name: [[0.8, 0.2], [0.2, 0.8]] if i else [0.75, 0.25]
            for i, name in enumerate(names)
        },
    )


def test_a_network_tells_its_sizes_and_first_names() -> None:
    assert repr(_chain(2)) == (
        "<BayesianNetwork: 2 variables (v0, v1); 1 arc; 3 free parameters>"
    )
    assert repr(_chain(200)) == (
        "<BayesianNetwork: 200 variables (v0, v1, v2 and 197 more); 199 arcs; "
        "399 free parameters>"
    )


def test_parts_of_a_network_tell_their_sizes() -> None:
    network = _chain(3)
    assert repr(network.dag) == "<DAG: 3 nodes; 2 arcs (0 -> 1, 1 -> 2)>"
    assert repr(network.domain) == "<Domain: 3 variables (v0, v1, v2)>"
    assert repr(network.domain[1]) == "<Variable: v1; nominal; 2 states (no, yes)>"
    assert repr(network.cpd("v1")) == (
        "<TableCPD: P(1 | 0); 2 states; 2 parent configurations; 2 free parameters>"
    )


def test_posteriors_tell_the_most_probable_states() -> None:
    found = _chain(4).query({"v0": "yes"})
    assert repr(found) == (
        "<Posteriors: v0 = yes (1.000), v1 = yes (0.800), v2 = yes (0.680) and 1 more>"
    )
    assert repr(found["v1"]) == "<Posterior: v1 = yes (0.800); 2 states>"


def test_an_explanation_tells_the_class_and_the_largest_terms() -> None:
    X = pd.DataFrame({"a": list("ppqq") * 5, "b": list("pqpq") * 5})
    model = NaiveBayesClassifier().fit(X, list("yynn") * 5)
    explained = model.explain(X[:1])[0]
    assert repr(explained) == (
        "<Explanation: row 0; y with probability 0.917; log-odds +3.459 bits; "
        "2 terms (a = p +3.459, b = p +0.000)>"
    )
    assert repr(explained.terms[0]) == "<Term: +3.459 bits by a = p>"


def test_people_read_bits_and_programs_nats() -> None:
    X, y = load_heart(return_X_y=True)
    model = TANClassifier(smoothing="auto", random_state=0).fit(X, y)
    network = model.network_
    compared = compare(X, y, ["nb"], n_folds=2)
    for result in (
        compared,
        compared.results[0],
        importance(model),
        model.explain(X[:1])[0],
        model.shape("age"),
        network.value_of_information("sex"),
        cross_validate_density({"nb": BayesianNetworkEstimator()}, X[:60], n_folds=2),
        model.selection_,
    ):
        html = getattr(result, "_repr_html_", str)()
        written = f"{result!r} {result} {html}"
        assert "nats" not in written, result
        assert "bits" in written, result
    mean = compared.results[0].to_dict()["log_loss"]["mean"]
    assert mean == compared["nb"].mean("log_loss")
    assert f"{mean / np.log(2):.3f} ±" in compared.to_text()


def test_a_model_tells_its_class_and_features() -> None:
    X = pd.DataFrame({"a": list("ppqq") * 5, "b": list("pqpq") * 5})
    model = TANClassifier().fit(X, pd.Series(list("yynn") * 5, name="fate"))
    assert repr(model.model_) == (
        "<NetworkModel: class fate (n, y); 2 features (a, b); 1 arc among features; "
        "7 free parameters>"
    )
    assert repr(model.summary()).startswith(
        "<Summary: TANClassifier; class fate (n 0.5"
    )


def test_latent_variables_and_rules_tell_the_features_they_join() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=400)
    second = rng.integers(2, size=400)
    X = pd.DataFrame({"a": first, "b": second}).astype(str)
    model = HNBClassifier(random_state=0).fit(X, first ^ second)
    (latent,) = model.latents_
    assert repr(latent) == "<LatentReport: L1 joins a and b; 2 states>"
    assert repr(latent.states[0].rules[0]) == f"<Rule: {latent.states[0].rules[0]}>"
    assert "a = 0" in repr(latent.states[0].rules[0]) or "a = b" in repr(
        latent.states[0].rules[0]
    )
