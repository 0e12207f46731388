"""Calibration and ROC curves of held-out predictions, and rates by group."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import audit, figures_by_group
from bayleaf.evaluation.comparison import Comparison
from bayleaf.evaluation.cross_validation import CrossValidation, HeldOut
from bayleaf.evaluation.metrics import expected_calibration_error, roc_areas
from bayleaf.plot import calibration, group_rates, roc
from bayleaf.plot.evaluations import calibration_bins, roc_points, wilson_interval
from offenders import check_each

Arrays = tuple[NDArray[np.intp], NDArray[np.float64]]


def predictions(n_rows: int = 300, n_classes: int = 2, seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.7), n_rows)
    truth = (proba.cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)
    return truth, proba


def comparison(names: tuple[str, ...], n_classes: int = 2) -> Comparison:
    results = []
    for seed, name in enumerate(names):
        truth, proba = predictions(200, n_classes, seed)
        held_out = HeldOut(np.arange(200), truth, proba)
        results.append(CrossValidation(name, (), 0.0, 0.0, None, None, held_out))
    classes = tuple(f"class_{i}$" for i in range(n_classes))
    return Comparison(tuple(results), classes, 200, 2, 1, 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bins_add_up_to_the_calibration_error_of_the_evaluation(n_classes: int) -> None:
    truth, proba = predictions(n_classes=n_classes)
    _, counts, mean, right = calibration_bins(truth, proba).T
    error = (counts * np.abs(mean - right)).sum() / counts.sum()
    assert counts.sum() == len(truth)
    assert error == pytest.approx(expected_calibration_error(truth, proba), abs=1e-14)


def test_bins_are_those_of_a_loop_over_rows() -> None:
    truth, proba = predictions(n_classes=3, seed=4)
    found = {
        round(15 * left): (n, m, r) for left, n, m, r in calibration_bins(truth, proba)
    }
    for bin_number in range(15):
        inside = [
            (p.max(), p.argmax() == t)
            for p, t in zip(proba, truth)
            if bin_number / 15 < p.max() <= (bin_number + 1) / 15
        ]
        if inside:
            expected = (len(inside), *np.mean(inside, axis=0))
            assert found.pop(bin_number) == pytest.approx(expected)
    assert not found


def test_one_model_has_a_point_an_interval_and_a_bar_for_each_bin() -> None:
    truth, proba = predictions()
    ax = calibration(truth, proba)
    left, counts, mean, right = calibration_bins(truth, proba).T
    points = ax.lines[1]
    assert np.allclose(points.get_xydata(), np.column_stack([mean, right]))
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(counts / 300)
    assert [bar.get_x() for bar in ax.patches] == pytest.approx(left)
    assert [text.get_text() for text in ax.texts] == [f"{n:.0f}" for n in counts]
    for segment, share in zip(ax.collections[0].get_segments(), right):
        assert segment[0, 1] <= share + 1e-12
        assert segment[1, 1] >= share - 1e-12
    error = expected_calibration_error(truth, proba)
    assert ax.get_title() == f"expected calibration error {error:.3f}"


def test_a_single_class_has_a_single_bin() -> None:
    ax = calibration(np.zeros(4, dtype=int), np.ones((4, 1)))
    ax.figure.draw_without_rendering()
    assert len(ax.patches) == 1
    assert ax.get_xlim()[0] == pytest.approx(14 / 15)


def test_intervals_are_wilsons() -> None:
    # Newcombe (1998), table I: 81 of 263 and 0 of 20.
    low, high = wilson_interval(np.array([81.0, 0.0]), np.array([263.0, 20.0]))
    assert low == pytest.approx([0.2553, 0.0], abs=5e-5)
    assert high == pytest.approx([0.3662, 0.1611], abs=5e-5)


def test_several_models_have_a_line_each_and_their_errors_in_the_legend() -> None:
    found = comparison(("_hidden", "a$b$c"))
    ax = calibration(found)
    errors = [result.pooled_calibration_error for result in found.results]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        f"_hidden ({errors[0]:.3f})",
        f"a$b$c ({errors[1]:.3f})",
    ]
    lines = ax.lines[1:]
    assert len(lines) == 2
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 2


def test_results_of_one_model_are_drawn_under_its_name() -> None:
    result = comparison(("tan",))["tan"]
    assert calibration(result).get_title().startswith("tan: expected")
    assert calibration(result.held_out).get_title().startswith("expected")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_area_below_the_curve_is_that_of_the_evaluation(n_classes: int) -> None:
    truth, proba = predictions(n_classes=n_classes)
    proba = np.round(proba * 4) + 1.0
    proba /= proba.sum(axis=1, keepdims=True)
    areas = roc_areas(truth, proba)
    for label in range(n_classes):
        alarms, found = roc_points(truth, proba, label)
        assert np.trapezoid(found, alarms) == pytest.approx(areas[label], abs=1e-12)


def test_labels_and_one_column_stand_for_indices_and_two() -> None:
    truth, proba = predictions()
    labels = np.array(["no", "yes"])[truth]
    expected = roc(truth, proba).lines[1].get_xydata()
    ax = roc(labels, proba[:, 1])
    assert np.allclose(ax.lines[1].get_xydata(), expected)
    assert ax.get_title() == "ROC of yes against no"
    assert roc(truth, proba).get_title() == "ROC of class 1 against class 0"


def test_probabilities_of_several_models_are_given_by_name() -> None:
    truth, proba = predictions()
    ax = calibration(truth, {"sure": proba, "half": np.full((300, 2), 0.5)})
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[1].get_text().startswith("half (")
    assert len(roc(truth, {"a": proba, "b": proba[:, 1]}).lines) == 1 + 2
    with pytest.raises(ValueError, match="proba names no model"):
        roc(truth, {})


def test_each_of_three_classes_has_a_curve_and_one_can_be_chosen() -> None:
    truth, proba = predictions(n_classes=3)
    ax = roc(truth, proba, classes=None)
    assert len(ax.lines) == 1 + 3
    found = comparison(("a", "b"), 3)
    chosen = roc(found, positive="class_2$")
    assert len(chosen.lines) == 1 + 2
    assert chosen.get_title() == "ROC of class_2$ against the rest"
    legend = chosen.get_legend()
    assert legend is not None
    area = roc_areas(found["a"].held_out.truth, found["a"].held_out.proba)[2]
    assert legend.get_texts()[0].get_text() == f"a, area {area:.3f}"
    with pytest.raises(ValueError, match="choose a class by positive="):
        roc(found)


def test_a_legend_of_many_classes_stands_beside_the_curves() -> None:
    ax = roc(*predictions(n_classes=20))
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None
    extent = legend.get_window_extent()
    assert extent.x0 > ax.get_window_extent().x1
    assert extent.x1 <= ax.figure.bbox.x1
    assert ax.get_window_extent().width > 200


def test_a_class_without_rows_has_no_curve() -> None:
    truth = np.array([0, 1, 0, 1])
    proba = np.array([[0.6, 0.3, 0.1]] * 4)
    assert len(roc(truth, proba).lines) == 1 + 2
    with pytest.raises(ValueError, match="rows of the class and rows of another"):
        roc(np.zeros(4, dtype=int), proba[:, :2] / 0.9, positive="class 1")


def test_what_does_not_fit_is_refused() -> None:
    def check(case: tuple[object, object, object, str]) -> None:
        truth, proba, classes, match = case
        with pytest.raises(ValueError, match=match):
            calibration(truth, proba, classes=classes)

    check_each(
        [
            ([0, 1], None, None, "proba is missing"),
            ([0, 1], [[0.5, 0.5]], None, "one row each"),
            ([0, 2], [[0.5, 0.5]] * 2, None, "holds 2, which is none"),
            (["a", "a"], [[0.5, 0.5]] * 2, None, "2 columns, but there are 1 classes"),
            (["a", "c"], [[0.5, 0.5]] * 2, ["a", "b"], "'c', which is none"),
            ([0, 1], [[0.5, 0.5], [0.5, np.nan]], None, "row 1 of proba"),
            ([0, 1], [[0.5, 0.4]] * 2, None, "row 0 of proba"),
        ],
        check,
    )


def test_results_with_probabilities_besides_and_unknown_classes_are_refused() -> None:
    truth, proba = predictions()
    with pytest.raises(ValueError, match="either results or truth"):
        calibration(comparison(("a",)), proba)
    with pytest.raises(ValueError, match="positive must be one of the classes"):
        roc(truth, proba, positive="maybe")


@pytest.fixture(scope="module")
def found():
    heart = load_heart()
    model = NaiveBayesClassifier().fit(heart.X, heart.y)
    return audit(model, heart.frame, "disease", by=["sex", "age"])


def test_points_are_the_rates_and_lines_their_intervals(found) -> None:
    ax = group_rates(found, rates=["selection_rate"])
    rates = [g.classes[0].selection_rate for g in found.groupings[0].groups]
    (points,) = (line for line in ax.lines if len(line.get_xdata()) == 2)
    assert list(points.get_xdata()) == [rate.value for rate in rates]
    segments = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert segments == [[rate.low, rate.high] for rate in rates]


def test_groups_are_named_with_their_rows(found) -> None:
    ax = group_rates(found, columns=["sex", "age"])
    names = [label.get_text() for label in ax.get_yticklabels()]
    groups = found.groupings[2].groups
    assert names == [f"{group.name} ({group.n_rows})" for group in groups]
    assert ax.get_title() == "present by age, sex"


def test_a_rate_that_no_row_tells_is_not_drawn() -> None:
    only_one = figures_by_group([1, 1, 0], [[0.5, 0.5]] * 3, [1, 0, 0], [*"aab"])
    ax = group_rates(only_one, rates=["false_positive_rate"])
    assert [len(line.get_xdata()) for line in ax.lines] == [1]


def test_hostile_names_are_drawn_as_they_are() -> None:
    names = ["$\\frac{1}{0}$", "_hidden", "x" * 300]
    figures = figures_by_group(
        np.tile([0, 1], 6), [[0.5, 0.5]] * 12, np.tile([1, 1], 6), names * 4
    )
    ax = group_rates(figures)
    ax.figure.canvas.draw()
    assert any("$" in label.get_text() for label in ax.get_yticklabels())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rates": ["speed"]}, "rates must be some of"),
        ({"rates": []}, "rates must be some of"),
        ({"positive": "perhaps"}, "positive must be a class"),
        ({"columns": "town"}, "no groups by town"),
    ],
)
def test_what_cannot_be_drawn_is_refused(found, change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        group_rates(found, **change)
