from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayleaf.evaluation.metrics import mean_cost
from bayleaf.evaluation.operating_points import (
    LossMatrix,
    class_names,
    implied_threshold,
    operating_points,
    read_loss,
)
from offenders import check_each

LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])
RNG = np.random.default_rng(4)
TRUTH = RNG.integers(0, 2, 200)
PROBA = np.column_stack([1 - (p := RNG.random(200)), p])


def test_a_loss_file_is_read_in_the_order_of_the_target(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_text("\ufeffpredicted,sick,well\nwell,5, 0\nsick,0,1\n\n", "utf-8")
    found = read_loss(path)
    assert found.to_dict() == {
        "sick": {"sick": 0.0, "well": 1.0},
        "well": {"sick": 5.0, "well": 0.0},
    }
    assert found.for_classes(np.array(["sick", "well"])).tolist() == [[0, 1], [5, 0]]
    assert found.for_classes(np.array(["well", "sick"])).tolist() == [[0, 5], [1, 0]]


def test_numbers_and_booleans_are_named_as_a_person_writes_them() -> None:
    assert class_names([3, 10]) == ["3", "10"]
    assert class_names([False, True]) == ["false", "true"]


def test_booleans_are_found_in_any_case() -> None:
    matrix = LossMatrix(("True", "False"), LOSS)
    assert matrix.for_classes(np.array([False, True])).tolist() == [[0, 1], [5, 0]]


def test_classes_that_the_target_lacks_are_named() -> None:
    with pytest.raises(ValueError, match="has the classes a, b, but the target has a"):
        LossMatrix(("a", "b"), LOSS).for_classes(np.array(["a", "c"]))


def test_every_malformed_loss_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        text, message = case
        path = tmp_path / "loss.csv"
        path.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=message) as caught:
            read_loss(path)
        assert str(path) in str(caught.value)

    check_each(
        [
            ("", "holds no loss matrix"),
            (",a\na,0\n", "two or more classes"),
            (",a,b\na,0,1\n", "holds no loss matrix"),
            (",a,a\na,0,1\nb,1,0\n", "header row of .* repeats a"),
            (",a,b\na,0,1\na,1,0\n", "first column of .* repeats a"),
            (",a,b\na,0,1\nc,1,0\n", "names a, b, but its first column names a, c"),
            (",a,b\na,0,1\nb,1\n", "row of 'b' in .* has 1 costs, but there are 2"),
            (",a,b\na,0,x\nb,1,0\n", "predicting 'a' where 'b' is true .* got 'x'"),
            (",a,b\na,0,\nb,1,0\n", "must be a number, got ''"),
            (",a,b\na,0,1_0\nb,1,0\n", "must be a number, got '1_0'"),
            (",a,b\na,0,nan\nb,1,0\n", "must be finite"),
            (",a,b\na,0,-1\nb,1,0\n", "at least 0, got '-1'"),
            (",a,b\na,2,1\nb,1,0\n", "must be 0, as the prediction is right, got '2'"),
            (",a,b\na,0,0\nb,0,0\n", "only zeros"),
        ],
        check,
    )


def test_a_loss_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_bytes(",é,b\né,0,1\nb,1,0\n".encode("latin-1"))
    with pytest.raises(ValueError, match="no CSV file of UTF-8 text"):
        read_loss(path)


def test_the_implied_threshold_parts_the_cheaper_predictions() -> None:
    assert implied_threshold(LOSS) == pytest.approx(1 / 6)
    assert implied_threshold(LOSS, positive=0) == pytest.approx(5 / 6)
    points = operating_points(TRUTH, PROBA, loss=LOSS)
    [implied] = [point for point in points if point.threshold == 1 / 6]
    assert implied.cost == pytest.approx(mean_cost(TRUTH, PROBA, LOSS), rel=1e-12)


def test_points_equal_counts_of_single_rows() -> None:
    [point] = operating_points(TRUTH, PROBA, loss=LOSS, thresholds=[0.3])
    pairs = list(zip(TRUTH.tolist(), (PROBA[:, 1] > 0.3).tolist(), strict=True))
    hits, misses = pairs.count((1, True)), pairs.count((1, False))
    alarms, passes = pairs.count((0, True)), pairs.count((0, False))
    assert point.sensitivity == hits / (hits + misses)
    assert point.specificity == passes / (passes + alarms)
    assert point.precision == hits / (hits + alarms)
    assert point.n_positive == hits + alarms
    assert point.cost == pytest.approx((5 * misses + alarms) / 200, rel=1e-14)


def test_either_class_can_be_the_positive_one() -> None:
    [one] = operating_points(TRUTH, PROBA, loss=LOSS, thresholds=[0.25])
    [other] = operating_points(TRUTH, PROBA, loss=LOSS, thresholds=[0.75], positive=0)
    assert (one.sensitivity, one.specificity) == (other.specificity, other.sensitivity)
    assert one.cost == other.cost


def test_without_positive_predictions_there_is_no_precision() -> None:
    [point] = operating_points(TRUTH, PROBA, thresholds=[1.0])
    assert (point.precision, point.n_positive, point.cost) == (None, 0, None)


def test_a_usual_threshold_is_not_shown_twice() -> None:
    even = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert len(operating_points(TRUTH, PROBA, loss=even)) == 9
    assert len(operating_points(TRUTH, PROBA, loss=LOSS)) == 10


def test_more_classes_and_lone_classes_have_no_thresholds() -> None:
    with pytest.raises(ValueError, match="two classes, but the target has 3"):
        operating_points(TRUTH, np.ones((200, 3)) / 3)
    with pytest.raises(ValueError, match="rows of both classes"):
        operating_points(np.ones(3, int), PROBA[:3])
    with pytest.raises(ValueError, match="the loss has 3"):
        implied_threshold(np.ones((3, 3)))
    with pytest.raises(ValueError, match="at least one of the two errors"):
        implied_threshold(np.zeros((2, 2)))


def test_a_positive_class_beside_the_two_is_refused() -> None:
    with pytest.raises(ValueError, match="positive must be 0 or 1, got 2"):
        operating_points(TRUTH, PROBA, positive=2)


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    rng = np.random.default_rng(4)
    truth, first = rng.integers(0, 2, 60), rng.random(60)
    proba, weights = np.column_stack([first, 1 - first]), rng.integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    loss = np.array([[0.0, 4.0], [1.0, 0.0]])
    found = operating_points(truth, proba, loss=loss, weights=weights.astype(float))
    expected = operating_points(truth[rows], proba[rows], loss=loss)
    for one, other in zip(found, expected, strict=True):
        assert one.sensitivity == pytest.approx(other.sensitivity)
        assert one.specificity == pytest.approx(other.specificity)
        assert one.precision == pytest.approx(other.precision)
        assert one.cost == pytest.approx(other.cost)
