"""Priors given, uniform or replaced, and decisions by a loss matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import load
from contract.kinds import each_kind, fitted
from contract.tables import mixed_frame
from contract.variants import WeightedKDB

_PRIOR = [0.2, 0.3, 0.5]


def _under_prior(model: Any, frame: Any, prior: Any) -> Any:
    """Posteriors by Bayes' rule from those of a model with another prior."""
    odds = model.predict_proba(frame) / model.model_.class_prior * np.asarray(prior)
    return odds / odds.sum(axis=1, keepdims=True)


@each_kind()
def test_a_given_prior_takes_the_place_of_the_learned_one(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(class_prior=_PRIOR, random_state=0).fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame),
        _under_prior(fitted(kind)[0], frame, _PRIOR),
        atol=1e-12,
    )


@each_kind()
def test_an_unfitted_prior_is_uniform(kind: Any) -> None:
    frame, y = mixed_frame()
    one = kind(fit_prior=False, random_state=0).fit(frame, y)
    other = kind(class_prior=[1 / 3] * 3, random_state=0).fit(frame, y)
    np.testing.assert_allclose(
        one.predict_proba(frame), other.predict_proba(frame), atol=1e-12
    )


@each_kind()
def test_a_replaced_prior_equals_one_given_before_fitting(kind: Any) -> None:
    frame, y = mixed_frame()
    replaced = fitted(kind)[0].with_class_prior(_PRIOR)
    given = kind(class_prior=_PRIOR, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(
        replaced.predict_proba(frame), given.predict_proba(frame)
    )


@each_kind()
def test_replacing_the_prior_leaves_the_model_as_it_was(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(random_state=0).fit(frame, y)
    before = model.predict_proba(frame)
    model.with_class_prior(_PRIOR)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


@each_kind()
def test_a_class_of_prior_zero_is_never_predicted(kind: Any) -> None:
    model, frame = fitted(kind)
    proba = model.with_class_prior([0.0, 0.5, 0.5]).predict_proba(frame)
    np.testing.assert_array_equal(proba[:, 0], 0.0)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@each_kind(
    wrong=[
        ([0.5, 0.5], "one entry for each of the 3 classes"),
        ([0.5, 0.5, 0.5], "must sum to 1"),
        ([1.5, -0.5, 0.0], "numbers >= 0"),
        ([float("nan"), 0.5, 0.5], "numbers >= 0"),
    ]
)
def test_a_wrong_prior_is_refused(kind: Any, wrong: tuple[Any, ...]) -> None:
    prior, sentence = wrong
    frame, y = mixed_frame()
    with pytest.raises(ValueError, match=f"class_prior .*{sentence}"):
        kind(class_prior=prior, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=f"class_prior .*{sentence}"):
        fitted(kind)[0].with_class_prior(prior)


@each_kind()
def test_the_cheapest_class_is_predicted(kind: Any) -> None:
    frame, y = mixed_frame()
    loss = np.array([[0.0, 1.0, 9e5], [2e5, 0.0, 1.0], [1.0, 3e5, 0.0]])
    model = kind(loss=loss, random_state=0).fit(frame, y)
    expected_cost = model.predict_proba(frame) @ loss.T
    np.testing.assert_array_equal(
        model.predict(frame), model.classes_[expected_cost.argmin(axis=1)]
    )
    most_probable = fitted(kind)[0].predict(frame)
    # Learned weights make the classes of this table all but certain.
    if kind is not WeightedKDB:
        assert model.predict(frame).tolist() != most_probable.tolist()


@each_kind()
def test_equal_losses_predict_the_most_probable_class(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(loss=1.0 - np.eye(3), random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), fitted(kind)[0].predict(frame))


@each_kind(
    wrong=[
        ([[0.0, 1.0], [1.0, 0.0]], r"must have shape \(3, 3\).*got \(2, 2\)"),
        ([0.0, 1.0, 1.0], r"must have shape \(3, 3\)"),
        (np.full((3, 3), np.nan), "finite numbers"),
    ]
)
def test_a_wrong_loss_is_refused(kind: Any, wrong: tuple[Any, ...]) -> None:
    loss, sentence = wrong
    frame, y = mixed_frame()
    with pytest.raises(ValueError, match=f"loss .*{sentence}"):
        kind(loss=loss, random_state=0).fit(frame, y)


@each_kind()
def test_priors_and_losses_may_be_given_by_class(kind: Any, tmp_path: Path) -> None:
    frame, y = mixed_frame()
    labels = sorted(set(y))
    prior = dict(zip(reversed(labels), (0.2, 0.3, 0.5), strict=True))
    loss = {
        labels[0]: {labels[1]: 5.0},
        labels[2]: {labels[0]: 1.0, labels[1]: 2.0},
        labels[1]: {labels[0]: 3.0},
    }
    matrix = [[loss[p].get(t, 0.0) for t in labels] for p in labels]
    named = kind(random_state=0, class_prior=prior, loss=loss).fit(frame, y)
    plain = kind(
        random_state=0, class_prior=[prior[label] for label in labels], loss=matrix
    ).fit(frame, y)
    np.testing.assert_array_equal(named.predict(frame), plain.predict(frame))
    np.testing.assert_array_equal(
        named.predict_proba(frame), plain.predict_proba(frame)
    )
    named.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").get_params()["loss"] == loss


@each_kind()
def test_labels_that_are_numbers_may_be_named(kind: Any, tmp_path: Path) -> None:
    frame, y = mixed_frame()
    codes = np.unique(y, return_inverse=True)[1]
    prior = {2: 0.2, 0: 0.3, 1: 0.5}
    named = kind(random_state=0, class_prior=prior).fit(frame, codes)
    named.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    assert loaded.get_params()["class_prior"] == prior
    again = loaded.fit(frame, codes)
    np.testing.assert_array_equal(
        again.predict_proba(frame), named.predict_proba(frame)
    )


@each_kind(
    wrong=[
        ({"class_prior": {"no class": 1.0}}, "names 'no class', which is none of the"),
        ({"class_prior": {}}, "class_prior lacks the classes"),
        ({"loss": {"no class": {}}}, "loss names 'no class'"),
        ({"loss": {mixed_frame()[1][0]: {}}}, "loss lacks the classes"),
        ({"loss": {label: {} for label in mixed_frame()[1]}}, "has no cost of predict"),
    ]
)
def test_names_that_are_no_classes_are_refused(
    kind: Any, wrong: tuple[Any, ...]
) -> None:
    parameters, message = wrong
    frame, y = mixed_frame()
    with pytest.raises(ValueError, match=message):
        kind(random_state=0, **parameters).fit(frame, y)


@each_kind()
def test_any_class_can_be_explained(kind: Any) -> None:
    model, frame = fitted(kind)
    labels = model.classes_.tolist()
    proba = model.predict_proba(frame[:6])
    for place, of in enumerate(labels):
        for other, against in enumerate(labels):
            if of == against:
                continue
            for row, one in enumerate(model.explain(frame[:6], of=of, against=against)):
                assert (one.target, one.against) == (of, against)
                assert one.log_odds == pytest.approx(
                    np.log(proba[row, place] / proba[row, other]), abs=1e-9
                )
                total = one.prior + sum(term.contribution for term in one.terms)
                assert total == pytest.approx(one.log_odds, abs=1e-9)
    with pytest.raises(ValueError, match="of must be one of the classes"):
        model.explain(frame[:1], of="no class")


@each_kind()
def test_labels_of_rows_are_kept(kind: Any) -> None:
    model, frame = fitted(kind)
    named = frame[:2].set_axis(["patient 7", "patient 9"])
    found = model.explain(named)
    assert [one.row for one in found] == [0, 1]
    assert [one.row_label for one in found] == ["patient 7", "patient 9"]
    assert str(found[1]).startswith("row 1 (patient 9): ")
    assert found[0].to_dict()["row_label"] == "patient 7"
    assert str(model.explain(frame[:1])[0]).startswith("row 0: ")
