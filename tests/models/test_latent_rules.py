"""Rules say exactly when a latent variable has which state."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayleaf.classifiers.hnb import HNBClassifier
from bayleaf.classifiers.naive_bayes import NaiveBayesClassifier
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.tables.frames import to_columns
from bayleaf.datasets import load_heart
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_rules import condition_text, state_rules
from bayleaf.models.latent_rules import rules_text as rules_of_reports
from offenders import check_each
from oracles.random_latent_models import random_model, random_partition, random_tree
from oracles.spoken_rules import rule_holds
from property.networks import codes_of, domain_of

DOMAIN = Domain(
    (
        Variable("pain", ("none", "mild", "asymptomatic")),
        Variable("angina", ("no", "yes")),
        numeric_variable("age", [40.0, 54.5, 60.0]),
        Variable("disease", ("absent", "present")),
    )
)
CARDS = DOMAIN.cards[:-1]
PUBLISHED = ("australian", "cleve", "crx", "heart", "iris", "kr-vs-kp", "mushroom")
PUBLISHED += ("hepatitis", "pima", "vote")
# Not asymptomatic; asymptomatic without angina; asymptomatic with it.
PAIN = np.array([[0, 0], [0, 0], [1, 2]])


def complete_rows(cards: tuple[int, ...]) -> Codes:
    """All rows without holes."""
    return codes_of([list(row) for row in itertools.product(*map(range, cards))], cards)


def heart_model() -> HierarchicalNaiveBayesModel:
    """One latent over pain and angina, as on the heart data."""
    tree = LatentTree(CARDS).join(0, 1, PAIN)
    counts = np.array([[80.0, 10], [40, 11], [55, 74]])
    tables = (
        np.array([[0.4, 0.3, 0.2, 0.1]] * 2),
        np.array([[0.75, 0.15, 0.1], [0.25, 0.2, 0.55]]),
    )
    return HierarchicalNaiveBayesModel(
        DOMAIN, tree, np.array([0.6, 0.4]), tables, (counts,)
    )


def rules_text(model: HierarchicalNaiveBayesModel) -> str:
    """The latent variables of a model as tables."""
    return rules_of_reports(model.latent_reports, model.domain[-1])


def texts(domain: Domain, tree: LatentTree) -> list[list[list[str]]]:
    """The rules of all latents and states as texts."""
    return [
        [[str(rule) for rule in state] for state in states]
        for states in state_rules(domain, tree)
    ]


def test_in_every_row_one_rule_holds_and_it_is_one_of_the_latents_state() -> None:
    def check(case: Any) -> None:
        max_rules, seed = case
        rng = np.random.default_rng(seed)
        cards = tuple(int(card) for card in rng.integers(1, 4, size=5))
        tree = random_tree(rng, cards, 1 + seed % 4)
        nodes = tree.node_codes(complete_rows(cards))
        for position, states in enumerate(
            state_rules(domain_of([*cards, 2]), tree, max_rules)
        ):
            holding = np.array(
                [
                    sum(rule.holds(nodes).astype(int) for rule in rules)
                    for rules in states
                ]
            )
            assert (holding.sum(axis=0) == 1).all()
            np.testing.assert_array_equal(
                np.argmax(holding, axis=0), nodes[tree.n_features + position]
            )

    check_each(itertools.product([0, 5, 1000], range(12)), check)


def test_expanded_rules_are_over_features_alone() -> None:
    rng = np.random.default_rng(3)
    tree = random_tree(rng, (2, 3, 2, 3), 3)
    for states in state_rules(domain_of([2, 3, 2, 3, 2]), tree):
        for rule in itertools.chain.from_iterable(states):
            assert set(rule.box.conditions) <= set(range(4))
            assert all(len(s) < 2 + node % 2 for node, s in rule.box.conditions.items())


def test_no_two_rules_of_a_state_could_be_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        tree = random_tree(rng, (3, 3, 2, 2), 2)
        for states in state_rules(domain_of([3, 3, 2, 2, 2]), tree):
            for rules in states:
                pairs = itertools.combinations([rule.box for rule in rules], 2)
                for (first, second), node in itertools.product(pairs, range(4)):
                    both = {node in first.conditions, node in second.conditions}
                    alike = first.without(node) == second.without(node)
                    assert not (both == {True} and alike)


def test_the_rules_of_the_heart_data_read_as_a_physician_would_say_them() -> None:
    tree = LatentTree(CARDS).join(0, 1, PAIN)
    assert texts(DOMAIN, tree) == [
        [
            ["pain != asymptomatic"],
            ["pain = asymptomatic and angina = no"],
            ["pain = asymptomatic and angina = yes"],
        ]
    ]


def test_nested_latents_are_expanded_and_their_rules_merged() -> None:
    tree = LatentTree(CARDS).join(0, 1, PAIN)
    old = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    assert texts(DOMAIN, tree.join(3, 2, old))[1] == [
        ["pain != asymptomatic", "pain = asymptomatic and age <= 54.5"],
        ["pain = asymptomatic and age > 54.5"],
    ]


def test_equal_columns_are_grouped_where_that_needs_fewer_rules() -> None:
    # Three different rows; two different columns.
    domain = domain_of([4, 3, 2])
    states = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]])
    tree = LatentTree((4, 3)).join(0, 1, states)
    assert [len(rules) for rules in texts(domain, tree)[0]] == [2, 2]


def test_equality_of_features_with_the_same_states_is_shown_as_such() -> None:
    shapes = ("round", "square", "octagon")
    domain = Domain(
        (
            Variable("head", shapes),
            Variable("jacket", ("red", "blue", "green")),
            Variable("body", shapes),
            Variable("robot", ("no", "yes")),
        )
    )
    different = (1 - np.eye(3)).astype(int)
    tree = LatentTree((3, 3, 3)).join(2, 0, different)
    assert texts(domain, tree) == [[["head = body"], ["head != body"]]]
    red = np.array([[0, 0, 0], [0, 1, 1]])
    assert texts(domain, tree.join(3, 1, red))[1] == [
        ["head = body", "head != body and jacket = red"],
        ["head != body and jacket != red"],
    ]
    unlike = LatentTree((3, 3, 3)).join(0, 1, different)
    assert len(texts(domain, unlike)[0][0]) == 3


def test_an_equality_does_not_hold_where_a_value_is_missing() -> None:
    tree = LatentTree((2, 2)).join(0, 1, np.eye(2, dtype=int)[::-1])
    rules = state_rules(domain_of([2, 2, 2]), tree)[0]
    nodes = tree.node_codes(codes_of([[None, None], [0, None]], (2, 2)))
    assert not any(rule.holds(nodes).any() for state in rules for rule in state)


def test_adjacent_intervals_are_joined() -> None:
    def check(case: tuple[set[int], str]) -> None:
        codes, text = case
        age = numeric_variable("age", [40.0, 54.5, 60.0], missing_state=True)
        assert condition_text(age, frozenset(codes)) == text

    check_each(
        [
            ({0}, "age <= 40"),
            ({0, 1}, "age <= 54.5"),
            ({1}, "age in (40, 54.5]"),
            ({1, 2}, "age in (40, 60]"),
            ({2, 3}, "age > 54.5"),
            ({0, 2, 3}, "(age <= 40 or age > 54.5)"),
            ({3, 4}, "(age > 60 or age = missing)"),
            ({0, 1, 2, 3}, "age is not missing"),
            ({4}, "age = missing"),
        ],
        check,
    )


def test_sets_of_values_are_written_the_shorter_way() -> None:
    def check(case: tuple[set[int], str]) -> None:
        codes, text = case
        feature = Variable("f", ("a", "b", "c", "d", None))
        assert condition_text(feature, frozenset(codes)) == text

    check_each(
        [
            ({2}, "f = c"),
            ({0, 1}, "f in {a, b}"),
            ({0, 1, 4}, "f not in {c, d}"),
            ({0, 1, 2, 4}, "f != d"),
            ({0, 1, 2, 3}, "f != missing"),
        ],
        check,
    )


def test_a_report_tells_counts_and_classes_of_each_state() -> None:
    (report,) = heart_model().latent_reports
    assert (report.name, report.children) == ("L1", ("pain", "angina"))
    assert [state.n for state in report.states] == [141, 55, 74]
    np.testing.assert_allclose(
        [state.class_probabilities for state in report.states],
        [[0.45 / 0.55, 0.1 / 0.55], [9 / 17, 8 / 17], [6 / 28, 22 / 28]],
    )
    np.testing.assert_allclose(report.states[0].lift, [0.75 / 0.55, 0.25 / 0.55])
    assert json.loads(json.dumps(report.to_dict()))["states"][1]["rules"] == [
        {
            "text": "pain = asymptomatic and angina = no",
            "conditions": {"pain": ["asymptomatic"], "angina": ["no"]},
            "comparisons": [],
        }
    ]


@pytest.mark.parametrize("pair", [(2, 3), (3, 2)])
def test_classes_of_a_nested_latents_states_are_those_of_the_network(
    pair: tuple[int, int],
) -> None:
    rng = np.random.default_rng(8)
    tree = LatentTree(CARDS).join(0, 1, PAIN)
    shape = tree.cards[pair[0]], tree.cards[pair[1]]
    tree = tree.join(*pair, np.arange(12).reshape(shape) % 5)
    model = random_model(rng, tree, 2, DOMAIN)
    report = model.latent_reports[0]
    name = model.network.domain[3].name
    assert name == report.name
    for state in range(3):
        label = model.network.domain[3].states[state]
        posterior = model.network.query({name: label}, "disease")["disease"]
        np.testing.assert_allclose(
            report.states[state].class_probabilities, posterior.probabilities
        )


def test_rules_stand_below_their_states_where_a_table_would_be_too_wide() -> None:
    assert rules_text(heart_model()).splitlines() == [
        "L1: pain and angina, 6 cells collapsed into 3 states",
        "  state 1, N 141, P(absent) 0.818, P(present) 0.182, raises absent x 1.36",
        "    - pain != asymptomatic",
        "  state 2, N 55, P(absent) 0.529, P(present) 0.471, raises present x 1.18",
        "    - pain = asymptomatic and angina = no",
        "  state 3, N 74, P(absent) 0.214, P(present) 0.786, raises present x 1.96",
        "    - pain = asymptomatic and angina = yes",
    ]


def test_shares_of_classes_among_the_rows_stand_next_to_probabilities() -> None:
    heart = load_heart()
    model = HNBClassifier(
        search="significance", significance_level=0.001, random_state=0
    ).fit(heart.X, heart.y)
    report = next(one for one in model.latents_ if not one.is_irrelevant)
    columns = model._hierarchical_model.tree.node_codes(model._codes_as_fitted(heart.X))
    present = np.asarray(heart.y) == model.classes_[1]
    for number, state in enumerate(report.states):
        rows = columns[report.node] == number
        assert state.n == rows.sum()
        assert state.class_shares is not None
        assert state.class_shares[1] == pytest.approx(present[rows].mean())
    first = report.states[0]
    assert first.class_shares is not None
    assert (
        f"{first.class_probabilities[1]:.3f} ({first.class_shares[1]:.3f} of N)"
        in model.rules()
    )
    assert report.to_dict()["states"][0]["class_shares"] == first.class_shares.tolist()


def test_one_latent_alone_and_many_classes_are_written() -> None:
    rng = np.random.default_rng(1)
    tree = LatentTree((2, 2, 2, 2)).join(0, 1, np.eye(2, dtype=int)[::-1])
    tree = tree.join(2, 3, np.array([[0, 1], [1, 1]]))
    model = random_model(rng, tree, 6)
    lines = rules_text(model).split("\n\n")[1].splitlines()
    assert lines[0] == "L2: v2 and v3, 4 cells collapsed into 2 states"
    assert lines[1].split() == ["state", "N", "most", "raised", "class", "rules"]
    assert [line[-17:].strip() for line in lines[2:]] == [
        "v2 = 0 and v3 = 0",
        "v2 = 1",
        "v2 = 0 and v3 = 1",
    ]
    assert "L1: v0 and v1, 4 cells" in rules_text(model)
    assert "v0 = v1" in rules_text(model)


def test_fractions_of_rows_are_written_where_weights_make_them() -> None:
    base = heart_model()
    halves = replace(base, cell_counts=(base.cell_counts[0] / 2,))
    counts = re.findall(r"state \d, N ([\d.]+),", rules_text(halves))
    assert counts == ["70.5", "27.5", "37"]


def test_nothing_is_called_collapsed_where_each_cell_is_a_state() -> None:
    tree = LatentTree((2, 2)).join(0, 1, np.arange(4).reshape(2, 2))
    model = random_model(np.random.default_rng(0), tree, 2)
    assert rules_text(model).startswith("L1: v0 and v1\n")
    assert model.latent_reports[0].to_dict()["n_cells"] == 4


def test_a_model_without_latents_says_so() -> None:
    model = random_model(np.random.default_rng(0), LatentTree((2, 2)), 2)
    assert rules_text(model).startswith("no latent variables")


def test_a_latent_with_one_state_is_reported_as_irrelevant() -> None:
    tree = LatentTree(CARDS).join(0, 1, np.zeros((3, 2), dtype=int))
    model = random_model(np.random.default_rng(0), tree, 2, DOMAIN)
    (report,) = model.latent_reports
    assert rules_text(model) == "L1: pain and angina: irrelevant given the class"
    assert report.is_irrelevant
    assert [str(rule) for rule in report.states[0].rules] == ["always"]


def test_a_state_of_probability_zero_keeps_the_prior() -> None:
    tree = LatentTree(CARDS).join(0, 1, PAIN)
    base = heart_model()
    tables = (base.tables[0], np.array([[1.0, 0, 0], [0.5, 0.5, 0]]))
    model = HierarchicalNaiveBayesModel(
        DOMAIN, tree, base.prior, tables, base.cell_counts
    )
    state = model.latent_reports[0].states[2]
    assert state.class_probabilities.tolist() == [0.6, 0.4]
    assert state.lift.tolist() == [1.0, 1.0]


def test_short_rules_name_the_states_in_the_network() -> None:
    network = heart_model().network
    assert network.domain[3].states == ("pain != asymptomatic", "2", "3")


def test_deep_trees_keep_nested_latents_in_their_rules() -> None:
    tree = LatentTree((2,) * 12).join(0, 1, np.array([[0, 1], [1, 1]]))
    either = np.array([[0, 1], [1, 0]])
    for feature in range(2, 12):
        tree = tree.join(feature, tree.class_children[-1], either)
    rules = state_rules(domain_of([2] * 13), tree)
    assert max(len(state) for states in rules for state in states) <= 64
    assert any("L" in str(rule) for rule in rules[-1][0])


def spoken_domain() -> tuple[Domain, list[dict[str, Any]]]:
    """Features of all kinds, and every row of values with codes in the same order."""
    colours = ("red", "blue", "green")
    domain = Domain(
        (
            Variable("hat", colours),
            numeric_variable("age", [40.0, 54.5, 60.0]),
            Variable("coat", colours),
            numeric_variable("size", [1.25]),
            Variable("shape", ("s0", "s1", "s2", "s3", "s4")),
            Variable("robot", ("no", "yes")),
        )
    )
    choices = [colours, (40, 41.5, 60, 61), colours, (1.25, 1.5), domain[4].states]
    names = [str(name) for name in domain.names[:-1]]
    rows = [dict(zip(names, row, strict=True)) for row in itertools.product(*choices)]
    return domain, rows


def test_the_printed_rules_alone_tell_the_state_of_every_row() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        domain, rows = spoken_domain()
        cards = domain.cards[:-1]
        tree = random_tree(rng, cards, 1 + seed % 4, max_states=3)
        if seed % 2:
            tree = LatentTree(cards).join(2, 0, (1 - np.eye(3)).astype(int))
            tree = tree.join(1, 5, random_partition(rng, (4, 2), 2))
        nodes = tree.node_codes(complete_rows(cards))
        for position, states in enumerate(state_rules(domain, tree)):
            chosen = rng.permutation(len(rows))[:25]
            for row, values in ((row, rows[row]) for row in chosen):
                holding = [
                    state
                    for state, rules in enumerate(states)
                    for rule in rules
                    if rule_holds(str(rule), values)
                ]
                assert holding == [nodes[tree.n_features + position][row]]

    check_each(range(8), check)


def test_rules_tell_the_states_in_every_row_of_a_published_table(
    load_table: Callable[[str], pa.Table],
) -> None:
    def check(name: str) -> None:
        table = load_table(name)
        classifier = NaiveBayesClassifier()
        classifier.fit(table.drop_columns(["class"]), table["class"])
        codes = classifier.encoder_.transform(
            to_columns(table.drop_columns(["class"]))
        ).codes
        domain = classifier.model_.domain
        rng = np.random.default_rng(0)
        tree = random_tree(rng, codes.cards, min(6, len(codes.cards) - 1))
        nodes = tree.node_codes(codes)
        observed = ~np.logical_or.reduce(
            [codes.missing(feature) for feature in range(tree.n_features)]
        )
        for position, states in enumerate(state_rules(domain, tree)):
            holding = np.array(
                [
                    sum(rule.holds(nodes).astype(int) for rule in rules)
                    for rules in states
                ]
            )
            assert (holding.sum(axis=0)[observed] == 1).all()
            value = nodes[tree.n_features + position]
            np.testing.assert_array_equal(
                np.argmax(holding, axis=0)[observed], value[observed]
            )

    check_each(PUBLISHED, check)


def test_the_states_of_heart_disease_have_the_published_risks() -> None:
    heart = load_heart()
    table = heart.frame
    columns = ("chest_pain", "exercise_induced_angina", "disease")
    pain, angina, disease = (table[name].to_pylist() for name in columns)
    kinds = sorted(set(pain), key=lambda kind: (kind == "asymptomatic", kind))
    domain = Domain(
        (
            Variable("chest_pain", tuple(kinds)),
            Variable("angina", ("no", "yes")),
            Variable("disease", ("absent", "present")),
        )
    )
    tree = LatentTree((4, 2)).join(0, 1, np.array([[0, 0]] * 3 + [[1, 2]]))
    cells = [(kinds.index(p), int(a == "yes")) for p, a in zip(pain, angina)]
    sick = np.array([d == "present" for d in disease], dtype=float)
    counts = np.zeros((2, 4, 2))
    np.add.at(counts, (sick.astype(int), *np.array(cells).T), 1)
    per_state = np.array(
        [np.bincount(tree.latents[0].states.ravel(), c.ravel()) for c in counts]
    )
    model = HierarchicalNaiveBayesModel(
        domain,
        tree,
        counts.sum(axis=(1, 2)) / len(pain),
        (per_state / per_state.sum(axis=1, keepdims=True),),
        (counts.sum(axis=0),),
    )
    (report,) = model.latent_reports
    risks = [state.class_probabilities[1] for state in report.states]
    np.testing.assert_allclose(risks, [0.21, 0.53, 0.86], atol=0.005)
    assert [str(rule) for state in report.states for rule in state.rules] == [
        "chest_pain != asymptomatic",
        "chest_pain = asymptomatic and angina = no",
        "chest_pain = asymptomatic and angina = yes",
    ]
