"""Figures by group: counted by hand, and beside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from bayleaf.evaluation.groups import Groups, figures_by_group
from bayleaf.evaluation.groups.group_rates import RATES
from offenders import check_each

HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'; DROP TABLE x; --",
    "line\nend",
    "\x1b[0m",
]


def random_rows(seed: int, n: int = 400, n_classes: int = 2):
    """Labels, probabilities, predictions and groups."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), n)
    truth = np.array([rng.choice(n_classes, p=row) for row in proba])
    return truth, proba, proba.argmax(axis=1), rng.choice(["a", "b", "c"], n)


def test_rates_of_a_small_table_are_those_counted_by_hand() -> None:
    truth = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    chosen = [1, 1, 0, 1, 0, 1, 1, 0, 0, 0]
    proba = np.array([[1 - p, p] for p in (0.8 if c else 0.3 for c in chosen)])
    found = figures_by_group(truth, proba, chosen, [*"aaaaa", *"bbbbb"])
    first, second = (group.classes[0] for group in found.groups)
    assert [getattr(first, rate).value for rate in RATES] == pytest.approx(
        [3 / 5, 3 / 5, 2 / 3, 1 / 2, 2 / 3, 1 / 2]
    )
    assert [getattr(second, rate).value for rate in RATES] == pytest.approx(
        [1 / 5, 2 / 5, 1, 1 / 4, 1 / 2, 1]
    )
    assert first.calibration_gap.value == pytest.approx((3 * 0.8 + 2 * 0.3 - 3) / 5)
    assert found.groups[0].log_loss.value == pytest.approx(
        -np.log([0.8, 0.8, 0.3, 0.2, 0.7]).mean()
    )


def test_differences_and_ratios_are_to_the_largest_group() -> None:
    truth, proba, chosen, _ = random_rows(0, 10)
    found = figures_by_group(truth, proba, chosen, [*"aaaabbbbbb"])
    assert found.reference == ("b",)
    a, b = found.groups
    assert b.contrasts == ()
    for contrast in a.contrasts:
        own, other = (
            getattr(one if contrast.label is None else one.classes[0], contrast.figure)
            for one in (a, b)
        )
        if own.value is not None and other.value is not None:
            assert contrast.difference.value == pytest.approx(own.value - other.value)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_figures_are_those_of_scikit_learn(n_classes: int) -> None:
    truth, proba, chosen, groups = random_rows(n_classes, n_classes=n_classes)
    found = figures_by_group(truth, proba, chosen, groups)
    assert [group.label for group in found.groups] == [("a",), ("b",), ("c",)]
    for group in found.groups:
        own = groups == group.label[0]
        y, p = truth[own], chosen[own]
        assert group.n_rows == own.sum()
        assert group.accuracy.value == pytest.approx(metrics.accuracy_score(y, p))
        expected = metrics.log_loss(y, proba[own], labels=range(n_classes))
        assert group.log_loss.value == pytest.approx(expected)
        for rates in group.classes:
            c = int(rates.label)
            true_rate = metrics.recall_score(y == c, p == c)
            precision = metrics.precision_score(y == c, p == c)
            assert rates.true_positive_rate.value == pytest.approx(true_rate)
            assert rates.positive_predictive_value.value == pytest.approx(precision)
            negative = metrics.recall_score(y != c, p != c)
            assert rates.false_positive_rate.value == pytest.approx(1 - negative)
            negative = metrics.precision_score(y != c, p != c)
            assert rates.negative_predictive_value.value == pytest.approx(negative)
            assert rates.mean_probability == pytest.approx(proba[own, c].mean())
    assert len(found.groups[0].classes) == (1 if n_classes == 2 else n_classes)


def test_a_group_with_one_class_has_no_rate_of_the_other() -> None:
    truth, chosen = [1, 1, 0, 1], [1, 0, 0, 1]
    proba = [[0.4, 0.6]] * 4
    only, _ = figures_by_group(truth, proba, chosen, [*"aabb"]).groups
    assert only.classes[0].false_positive_rate.value is None
    assert only.classes[0].base_rate.value == 1.0
    assert only.classes[0].negative_predictive_value.value == 0.0


def test_missing_values_are_a_group_of_their_own() -> None:
    truth, proba, chosen, _ = random_rows(1, 6)
    found = figures_by_group(truth, proba, chosen, ["a", None, "a", "b", None, "b"])
    assert [group.name for group in found.groups] == ["a", "b", "missing"]


def test_a_group_that_is_called_missing_is_not_the_missing_one() -> None:
    own = Groups.of_values("sex", ["missing", None, "m"])
    assert own.labels == (("m",), ("missing",), ("missing'",))


def test_groups_of_two_columns_are_crossed() -> None:
    truth, proba, chosen, _ = random_rows(2, 6)
    sex, old = Groups.of_values("sex", [*"ffmmfm"]), Groups.of_values("old", [1, 0] * 3)
    found = figures_by_group(truth, proba, chosen, sex.crossed(old))
    assert [(g.label, g.n_rows) for g in found.groups] == [
        (("f", "0"), 1),
        (("f", "1"), 2),
        (("m", "0"), 2),
        (("m", "1"), 1),
    ]


def test_hostile_names_stay_what_they_are() -> None:
    truth, proba, chosen, _ = random_rows(3, 8)
    found = figures_by_group(truth, proba, chosen, HOSTILE * 2)
    assert sorted(group.name for group in found.groups) == sorted(HOSTILE)


def test_the_cost_of_a_group_is_that_of_its_predictions() -> None:
    loss = np.array([[0.0, 5.0], [1.0, 0.0]])
    found = figures_by_group(
        [0, 1, 1, 0], [[0.5, 0.5]] * 4, [1, 1, 0, 0], [*"aabb"], loss=loss
    )
    assert [group.cost.value for group in found.groups] == [0.5, 2.5]


@pytest.mark.parametrize(
    ("n_seeds", "tolerance"),
    [(5, 0.15), pytest.param(40, 0.05, marks=pytest.mark.slow)],
)
def test_probabilities_that_are_right_have_the_calibration_error_of_chance(
    n_seeds: int, tolerance: float
) -> None:
    errors, by_chance = [], []
    for seed in range(n_seeds):
        found = figures_by_group(*random_rows(seed, 300))
        errors += [group.calibration_error for group in found.groups]
        by_chance += [group.calibration_error_by_chance for group in found.groups]
    assert np.mean(errors) == pytest.approx(np.mean(by_chance), rel=tolerance)


def test_small_groups_are_left_out_and_counts_rounded() -> None:
    truth, proba, chosen, groups = random_rows(4, 600)
    groups[:3] = "few"
    found = figures_by_group(truth, proba, chosen, groups, min_count=10)
    assert [group.name for group in found.groups] == ["a", "b", "c"]
    for group in found.groups:
        assert group.n_rows % 10 == 0
        rates = group.classes[0]
        counts = [getattr(rates, rate).n for rate in RATES]
        assert all(n % 10 == 0 for n in counts)


def test_a_difference_that_rounding_may_have_made_is_not_clear() -> None:
    rows = random_rows(5, 3000)
    exact, told = figures_by_group(*rows), figures_by_group(*rows, min_count=20)
    for own in (one for group in exact.groups for one in group.contrasts):
        assert own.rounding == 0
        assert own.is_clear == (own.difference.low > 0 or own.difference.high < 0)
    n_rows = {group.label: group.n_rows for group in told.groups}
    for group in told.groups:
        for own in group.contrasts:
            if own.figure == "accuracy":
                slack = 40 / group.n_rows + 40 / n_rows[told.reference]
                assert own.rounding == pytest.approx(slack)
                beyond = own.difference.low > slack or own.difference.high < -slack
                assert own.is_clear == beyond
            if own.ratio is None:
                assert own.rounding is None
                assert not own.is_clear


def test_rounded_figures_are_near_the_exact_ones() -> None:
    rows = random_rows(5, 3000)
    exact, told = figures_by_group(*rows), figures_by_group(*rows, min_count=5)
    for own, other in zip(exact.groups, told.groups, strict=True):
        assert own.log_loss.value == pytest.approx(other.log_loss.value, abs=0.06)
        for rate in RATES:
            pair = (getattr(one.classes[0], rate).value for one in (own, other))
            assert abs(np.subtract(*pair)) < 0.06


def test_what_does_not_fit_is_refused_in_a_sentence() -> None:
    def check(case: Any) -> None:
        change, words = case
        truth, proba, chosen, groups = random_rows(0, 10)
        given = {
            "labels": truth,
            "probabilities": proba,
            "predictions": chosen,
            "groups": groups,
        }
        with pytest.raises(ValueError, match=words):
            figures_by_group(**(given | change))

    check_each(
        [
            ({"groups": ["a"]}, "10 labels and 1 groups"),
            ({"predictions": [0]}, "10 labels and 1 predictions"),
            ({"probabilities": [[0.5, 0.5]]}, "their shape is"),
            ({"probabilities": [[0.9, 0.9]] * 10}, "sum 1"),
            ({"positive": 3}, "positive must be one of the classes 0, 1, got 3"),
            ({"reference": "z"}, "the reference 'z' is no group"),
            ({"level": 1.0}, "level must be between 0 and 1"),
            ({"min_count": 4}, "min_count=4 needs 25"),
            ({"classes": [0, 2]}, "1 is none of the classes"),
            ({"loss": [[0.0]]}, "loss must have shape"),
        ],
        check,
    )
