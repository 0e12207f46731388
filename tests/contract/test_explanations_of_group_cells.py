"""What explains and judges rows in which cells name groups, against enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf.evaluation import audit
from bayleaf.explain import (
    conflicts,
    contexts,
    counterfactuals,
    credible_intervals,
    decision_changes,
    drift,
    feature_effects,
    importance,
    matching_rows,
    robustness,
    robustness_of_rows,
    value_of_information,
)
from bayleaf.explorer import explorer_html
from contract.test_group_cells import (
    GROUPS,
    KINDS,
    STATES,
    masses,
    model_of,
    random_table,
    without_groups,
)
from offenders import check_each

LATER = [pytest.mark.slow, pytest.mark.long]
SEEDS = [
    0,
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4)),
    *(pytest.param(seed, marks=LATER) for seed in range(4, 20)),
]


def fitted(kind: str, seed: int) -> tuple[Any, dict[str, list[Any]], list[Any]]:
    """A classifier, its table and classes."""
    table, labels = random_table(seed)
    return model_of(kind, seed).fit(pa.table(table), labels), table, labels


def log_loss(model: Any, table: dict[str, list[Any]], labels: list[Any]) -> float:
    """Log-loss of the classes by enumeration, nats a row."""
    found = masses(model.network_, table)
    own = found[np.arange(len(found)), model.classes_.searchsorted(labels)]
    return float(-np.log(own / found.sum(axis=1)).mean())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_importance_sums_over_the_states_of_groups(seed: int, kind: str) -> None:
    model, table, labels = fitted(kind, seed)
    found = importance(model, pa.table(table), labels)
    whole = log_loss(model, table, labels)
    assert found.log_loss == pytest.approx(whole, abs=1e-12)
    nothing = {name: [None] * len(labels) for name in STATES}
    prior = log_loss(model, nothing, labels)
    for one in found.features:
        hidden = {**table, one.feature: nothing[str(one.feature)]}
        rise = log_loss(model, hidden, labels) - whole
        assert one.loss_increase == pytest.approx(rise, abs=1e-12)
        alone = {**nothing, one.feature: table[str(one.feature)]}
        bits = (prior - log_loss(model, alone, labels)) / np.log(2)
        assert one.information == pytest.approx(max(bits, 0.0), abs=1e-12)
        assert one.missing == table[str(one.feature)].count(None)


def other_states(name: str, cell: Any) -> list[str]:
    """The states that a cell certainly does not have; none of a missing one."""
    if cell is None:
        return []
    return [s for s in STATES[name] if s not in GROUPS.get(name, {}).get(cell, cell)]


def chosen(model: Any, rows: list[dict[str, Any]]) -> list[Any]:
    """The class of each row by enumeration, the first of equally probable ones."""
    found = masses(
        model.network_, {name: [row[name] for row in rows] for name in STATES}
    )
    # Sums in another order must not break ties.
    posterior = (found / found.sum(axis=1, keepdims=True)).round(12)
    return model.classes_[posterior.argmax(axis=1)].tolist()


def fewest_changes(model: Any, row: dict[str, Any], kind: str) -> int | None:
    """The fewest cells whose change flips the prediction, by trying all."""
    own = chosen(model, [row])[0]
    new: dict[str, list[Any]] = {
        name: other_states(name, cell) if kind == "wrong" else [None]
        for name, cell in row.items()
        if cell is not None
    }
    for size in range(1, len(new) + 1):
        changed = [
            {**row, **dict(zip(names, states, strict=True))}
            for names in itertools.combinations(new, size)
            for states in itertools.product(*(new[name] for name in names))
        ]
        if any(label != own for label in chosen(model, changed)):
            return size
    return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_and_missing_cells_are_counted_with_groups(seed: int, kind: str) -> None:
    model, table, _ = fitted(kind, seed)
    X = pd.DataFrame(table, dtype=object)
    picked = [i for i in range(60) if any(table[n][i] in GROUPS[n] for n in GROUPS)][:4]
    found = robustness_of_rows(model, X.iloc[picked])
    for place, one in zip(picked, found, strict=True):
        row = {name: cells[place] for name, cells in table.items()}
        assert one == robustness(model, row)
        assert one.prediction == chosen(model, [row])[0]
        assert one.wrong.at_least == fewest_changes(model, row, "wrong")
        assert one.missing.at_least == fewest_changes(model, row, "missing")
        for name, (old, _) in {**one.wrong.changes, **one.missing.changes}.items():
            assert old == row[str(name)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_counterfactuals_leave_the_group_of_a_cell(seed: int, kind: str) -> None:
    model, table, _ = fitted(kind, seed)
    X = pa.table(table)
    place = next(i for i in range(60) if table["a"][i] in GROUPS["a"])
    row = {name: cells[place] for name, cells in table.items()}
    found = counterfactuals(model, X.slice(place, 1), n=1000, max_changes=3)
    assert found == counterfactuals(model, row, n=1000, max_changes=3)
    own = chosen(model, [row])[0]
    expected = []
    present = {n: other_states(n, cell) for n, cell in row.items() if cell is not None}
    for size in range(1, 4):
        for names in itertools.combinations(present, size):
            for states in itertools.product(*(present[name] for name in names)):
                changes = dict(zip(names, states, strict=True))
                smaller = any(one.items() <= changes.items() for one in expected)
                if not smaller and chosen(model, [{**row, **changes}])[0] != own:
                    expected.append(changes)
    for one in found:
        changed = {**row, **{n: new for n, (_, new) in one.changes.items()}}
        mass = masses(model.network_, {name: [cell] for name, cell in changed.items()})
        assert one.log_probability == pytest.approx(np.log(mass.sum()), abs=1e-12)
        assert all(old == row[str(n)] for n, (old, _) in one.changes.items())
    sets = {frozenset((n, new) for n, (_, new) in one.changes.items()) for one in found}
    assert sets == {frozenset(changes.items()) for changes in expected}


@pytest.mark.parametrize("kind", KINDS)
def test_audits_read_groups_as_predictions_do(kind: str) -> None:
    model, table, labels = fitted(kind, 2)
    frame = pd.DataFrame({**table, "class": labels}, dtype=object)
    found = audit(model, frame, "class", by=["a", "c"])
    proba = masses(model.network_, table)
    predicted = model.classes_[proba.argmax(axis=1)]
    (by_group, *_) = found.groupings
    names = {None: "missing"}
    for group in by_group.groups:
        is_own = [names.get(cell, cell) == group.name for cell in table["a"]]
        assert group.n_rows == sum(is_own)
        positives = (predicted[is_own] == "yes").mean()
        assert group.classes[0].selection_rate.value == pytest.approx(positives)
    assert {group.name for group in by_group.groups} >= {"left", "right", "p"}
    flips = np.zeros(60, dtype=bool)
    for state in STATES["a"]:
        mass = masses(model.network_, {**table, "a": [state] * 60})
        flips |= model.classes_[mass.argmax(axis=1)] != predicted
    changed = next(one for one in found.changed if one.column == "a")
    assert changed.predictions.value == pytest.approx(flips.mean())


@pytest.mark.parametrize("kind", KINDS)
def test_drift_leaves_groups_out_of_counts(kind: str) -> None:
    model, table, labels = fitted(kind, 3)
    found = drift(model, pa.table({**table, "class": labels}))
    plain = drift(model, pa.table({**without_groups(table), "class": labels}))
    assert found.variables == plain.variables
    assert found.families == plain.families
    n_groups = sum(cell in GROUPS[n] for n in GROUPS for cell in table[n])
    assert f"{n_groups} cells with the name of a group" in found.remark
    assert not plain.remark


@pytest.mark.parametrize("kind", KINDS)
def test_conflicts_sum_over_the_states_of_groups(kind: str) -> None:
    model, table, _ = fitted(kind, 4)
    found = conflicts(model, pa.table(table))
    nothing = {name: [None] * 60 for name in STATES}
    alone = {
        n: np.log2(masses(model.network_, {**nothing, n: table[n]}).sum(axis=1))
        for n in STATES
    }
    whole = np.log2(masses(model.network_, table).sum(axis=1))
    for row, one in enumerate(found):
        bits = sum(logs[row] for logs in alone.values()) - whole[row]
        assert one.bits == pytest.approx(bits, abs=1e-11)
        assert one.feature is None or one.value == table[str(one.feature)][row]
    assert len(contexts(model, pa.table(table))) == 60


def test_counterfactual_costs_count_steps_from_the_nearest_state_of_a_group() -> None:
    labels = ["no", "no", "yes", "yes", "yes", "no", "no", "yes"] * 5
    hours = [5, 12, 15, 30, 35, 40, 5, 30] * 5
    trees = {
        "hours": {"any": {"few": ["<= 9", "(9, 20]"], "many": ["(20, 35]", "> 35"]}}
    }
    model = model_of("nb", 0).set_params(hierarchies=trees)
    model.fit({"hours": hours}, labels)
    (own,) = model.predict({"hours": ["few"]})
    states = {"(20, 35]": [30], "> 35": [40]}
    prices = {"(20, 35]": 1.0, "> 35": 2.0}
    flips = {s: prices[s] for s in states if model.predict({"hours": states[s]}) != own}
    found = counterfactuals(model, {"hours": "few"}, cost_per_step=["hours"])
    assert flips
    costs = [one.cost for one in found]
    assert costs == sorted(flips.values())
    up = counterfactuals(model, {"hours": "few"}, direction={"hours": "up"})
    assert len(up) == len(flips)
    assert not counterfactuals(model, {"hours": "few"}, direction={"hours": "down"})


def refusals(kind: str) -> dict[str, Any]:
    """What needs single states, each with a group in the place of one."""
    model, table, labels = fitted(kind, 3)
    network, row = model.network_, {"a": "left", "b": "u", "c": "x"}
    frame = pd.DataFrame(row, [0])
    whole = pd.DataFrame({**table, "class": labels}, dtype=object)
    return {
        "value of information": lambda: value_of_information(model, row),
        "decision changes": lambda: decision_changes(model, row),
        "effects": lambda: feature_effects(model, row, "c"),
        "its own effects": lambda: feature_effects(model, row, "a"),
        "matching rows": lambda: matching_rows(model, row, frame),
        "intervals": lambda: credible_intervals(model, frame),
        "page": lambda: explorer_html(model, rows=frame),
        "page of a network": lambda: explorer_html(network, rows=whole),
        "interventions": lambda: network.do({"a": "left"}),
        "probabilities": lambda: network.do({"a": {"left": 1.0}}),
        "treatments": lambda: network.causal_effect("a", "class", values=["left", "r"]),
        "outcomes": lambda: network.causal_effect("b", "a", outcome_state="left"),
        "sensitivities": lambda: network.sensitivity({"a": "left"}, "b", "u"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_what_needs_single_states_names_column_group_and_remedy(kind: str) -> None:
    def check(case: tuple[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"'a' .*'left'.*; name one of its st"):
            case[1]()

    check_each(list(refusals(kind).items()), check)


def test_unknown_groups_of_a_mapping_are_refused() -> None:
    model, *_ = fitted("nb", 3)
    with pytest.raises(ValueError, match="variable 'c' has no state 'low'"):
        robustness(model, {"a": "left", "c": "low"})
