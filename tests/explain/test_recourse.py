"""The cheapest changes are those that trying every row finds, with costs and ways."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf.data.codes import Codes
from bayleaf.explain import counterfactuals
from bayleaf.models.predictor import Predictor
from covering import pairwise
from offenders import check_each
from oracles.small_averages import average_of_many, heavy
from oracles.small_tables import classifier, small_table

KINDS = ("nb", "tan", "kdb", "aode", "auto", "hnb")
COSTS = (1.0, 2.0, 3.0, 0.5, 7.0)


def cheapest(
    predictor: Predictor, codes: Codes, asked: dict[str, Any], max_changes: int
) -> list[tuple[float, int]]:
    """Cost and size of all minimal sets of changes, cheapest first, row by row."""
    domain = predictor.encoder.domain
    own = [int(codes.column(v)[0]) for v in range(len(domain))]
    options = []
    for state, variable in zip(own, domain, strict=True):
        way = asked["direction"].get(variable.name)
        known = range(variable.n_known_states if state < variable.n_known_states else 0)
        others = [s for s in known if way is None or (s > state) == (way == "up")]
        options.append([state, *(s for s in others if s != state)])
    rows = np.array(list(itertools.product(*options)))
    changed = Codes.from_columns(list(rows.T), domain.cards)
    flips = predictor.predict(changed) != predictor.predict(codes)
    prices = [asked["cost"].get(variable.name, 1.0) for variable in domain]
    steps = np.where(rows != own, 1, 0)
    for name in asked["cost_per_step"]:
        v = domain.index(name)
        steps[:, v] = np.abs(rows[:, v] - own[v])
    found: list[tuple[int, dict[int, int], float]] = []
    for row, price in zip(rows[flips], (steps * prices).sum(axis=1)[flips]):
        changes = {v: s for v, s in enumerate(row.tolist()) if s != own[v]}
        found.append((len(changes), changes, float(price)))
    minimal: list[tuple[int, dict[int, int], float]] = []
    for one in sorted(found, key=lambda item: item[0]):
        if not any(smaller[1].items() <= one[1].items() for smaller in minimal):
            minimal.append(one)
    return sorted((price, size) for size, _, price in minimal if size <= max_changes)


def random_wishes(rng: np.random.Generator) -> dict[str, Any]:
    """Costs of some features, a way for the only one with an order, and steps."""
    names = ["wet", "windy", "soil", "height"]
    priced = [name for name in names if rng.random() < 0.7]
    ways: list[dict[str, str]] = [{}, {"height": "up"}, {"height": "down"}]
    return {
        "cost": {name: float(rng.choice(COSTS)) for name in priced},
        "direction": ways[rng.integers(3)],
        "cost_per_step": ["height"] if rng.random() < 0.5 else [],
    }


def check_kind(kind: str, missing: float, n_classes: int, n_rows: int) -> None:
    """Compare the cheapest changes of some rows with those of trying every row."""
    X, y = small_table(n_classes, n_classes=n_classes, missing=missing)
    options = {"discretizer": "equal_frequency"} if kind != "auto" else {}
    predictor = classifier(kind, **options).fit(X, y)._predictor()
    rng = np.random.default_rng(n_classes)
    for place in range(n_rows):
        codes = predictor.encode(X.iloc[[place]])
        asked, n, most = random_wishes(rng), int(rng.integers(1, 5)), 3
        found = counterfactuals(predictor, codes, n=n, max_changes=most, **asked)
        expected = cheapest(predictor, codes, asked, most)[:n]
        assert [(one.cost, len(one.changes)) for one in found] == expected
        assert found.exact
        assert all(one.prediction != found.prediction for one in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_cheapest_changes_are_those_of_all_rows(kind: str) -> None:
    cases = [row for row in pairwise(KINDS, (0.0, 0.3), (2, 3)) if row[0] == kind]
    check_each(cases, lambda case: check_kind(*case, n_rows=9))


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_cheapest_changes_of_many_rows_are_those_of_all_rows(kind: str) -> None:
    cases = itertools.product([kind], (0.0, 0.3), (2, 3))
    check_each(cases, lambda case: check_kind(*case, n_rows=21))


@pytest.mark.parametrize(
    ("n_networks", "n_rows"), [(16, 7), pytest.param(64, 20, marks=pytest.mark.slow)]
)
def test_the_cheapest_changes_of_an_average_are_those_of_all_rows(
    n_networks: int, n_rows: int
) -> None:
    model, X = average_of_many(n_networks)
    predictor = heavy(model._predictor())
    rng = np.random.default_rng(0)
    for place in range(n_rows):
        codes = predictor.encode(X.iloc[[place]])
        priced = [name for name in X if rng.random() < 0.7]
        cost = {name: float(rng.choice(COSTS)) for name in priced}
        asked = {"cost": cost, "direction": {"age": "up"}, "cost_per_step": ["pulse"]}
        found = counterfactuals(predictor, codes, n=12, max_changes=4, **asked)
        expected = cheapest(predictor, codes, asked, 4)[:12]
        told = [(one.cost, len(one.changes)) for one in found]
        assert told == expected
        assert found.exact


def wide() -> tuple[Any, dict[str, str]]:
    """A model of twelve features that all speak for the class, and a row of one."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = pd.DataFrame(np.where(rng.random((200, 12)) < 0.2 + 0.6 * y[:, None], "b", "a"))
    X.columns = [f"f{v}" for v in range(12)]
    return classifier("aode").fit(X, y), dict.fromkeys(X, "a")


def test_a_spent_budget_is_said() -> None:
    model, row = wide()
    full = counterfactuals(model, row, max_changes=5, cost={"f0": 2})
    assert full.exact
    assert "budget" not in str(full)
    cut = counterfactuals(model, row, max_changes=5, cost={"f0": 2}, budget=1000)
    assert not cut.exact
    assert not cut.to_dict()["exact"]
    assert "the search ended at its budget" in " ".join(str(cut).split())
    assert "the search ended at its budget" in cut._repr_html_()


def test_costs_decide_what_comes_first_and_are_told() -> None:
    model, row = wide()
    plain = counterfactuals(model, row, max_changes=6)
    dear = {next(iter(plain[0].changes)): 10.0}
    found = counterfactuals(model, row, max_changes=6, cost=dear)
    assert found[0].cost < 10
    assert not set(found[0].changes) & set(dear)
    told = " ".join(str(found).split())
    assert f"at a cost of {found[0].cost:g}" in told
    assert "cheapest first" in str(found)
    assert ">cost</th>" in found._repr_html_()


def test_ordered_categories_have_ways_and_steps() -> None:
    rng = np.random.default_rng(1)
    size = rng.choice(["S", "M", "L"], 300)
    y = np.where(size == "S", "no", "yes")
    X = pd.DataFrame({"size": size, "kind": rng.choice(["u", "v"], 300)})
    model = classifier(
        "nb",
        ordered_features={"size": ["S", "M", "L"]},
        discretizer="equal_frequency",
    ).fit(X.astype(object), y)
    row = {"size": "S", "kind": "u"}
    up = counterfactuals(model, row, direction={"size": "up"}, cost_per_step=["size"])
    costs = {one.changes["size"][1]: one.cost for one in up}
    assert sorted(costs.values()) == [1.0, 2.0][: len(costs)]
    assert not len(counterfactuals(model, row, direction={"size": "down"}))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"cost": {"soil": 0}}, "cost of feature 'soil' must be a finite number above"),
    ({"cost": {"soil": float("nan")}}, "must be a finite number above 0, got nan"),
    ({"cost": {"soil": float("inf")}}, "must be a finite number above 0, got inf"),
    ({"cost": {"soil": 10**400}}, "must be a finite number above 0"),
    ({"cost": {"soil": "2"}}, "must be a finite number above 0, got '2'"),
    ({"cost": {"soil": True}}, "must be a finite number above 0, got True"),
    ({"cost": {"sol": 1}}, "did you mean soil"),
    ({"direction": {"hight": "up"}}, "did you mean height"),
    ({"cost_per_step": ["soil"]}, "'soil' has no order, so that it cannot be counted"),
    ({"cost_per_step": "height"}, "cost_per_step must be a list of features"),
    ({"budget": 0}, "budget must be an integer >= 1"),
]


def test_what_cannot_be_is_named() -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)

    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            counterfactuals(model, X.iloc[0], **options)

    check_each(REFUSED, check)


def test_what_is_no_mapping_is_named() -> None:
    X, y = small_table(4)
    model = classifier("nb").fit(X, y)
    with pytest.raises(TypeError, match="cost must map features"):
        counterfactuals(model, X.iloc[0], cost=["soil"])  # type: ignore[arg-type]
