"""The mixture as an estimator: parameters, starts, prediction, what it tells."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import HierarchicalMixtureNBClassifier
from bayleaf.classifiers.shared.callbacks import HAS_CALLBACKS
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.latent.online_mixture import OnlineOptions, learn_counters
from bayleaf.models.hierarchical_mixture_model import (
    HierarchicalMixtureModel,
    MixtureExplanation,
)
from contract.tables import mixed_frame, nominal_frame
from offenders import check_each


def _fitted(**parameters: Any) -> HierarchicalMixtureNBClassifier:
    return HierarchicalMixtureNBClassifier(**parameters, random_state=0).fit(
        *mixed_frame()
    )


def _bits(model: HierarchicalMixtureNBClassifier) -> bytes:
    return bytes(model.predict_proba(mixed_frame()[0]).tobytes())


# ---- parameters


def test_what_cannot_be_used_is_refused() -> None:
    def check(case: tuple[dict[str, Any], type[Exception], str]) -> None:
        parameters, error, sentence = case
        with pytest.raises(error, match=sentence):
            _fitted(**parameters)

    check_each(
        [
            (
                {"architecture": 4},
                TypeError,
                "architecture must be a tuple of integers",
            ),
            ({"architecture": "2-2"}, TypeError, "such as .2, 2.*got '2-2'"),
            ({"architecture": (2, 1.5)}, TypeError, "architecture must be"),
            ({"architecture": (2, True)}, TypeError, "architecture must be"),
            ({"architecture": (2, 0)}, ValueError, "integers >= 1"),
            (
                {"learning": "slow"},
                ValueError,
                "learning must be one of 'online', 'batch'",
            ),
            ({"n_mixtures": 0}, ValueError, "n_mixtures must be an integer >= 1"),
            ({"n_passes": 0}, ValueError, "n_passes must be an integer >= 1"),
            ({"sigma": -1.0}, ValueError, "sigma must be a number >= 0"),
            ({"sigma": 501}, ValueError, "sigma must be at most 500, got 501"),
            ({"gamma": 0.0}, ValueError, "gamma must be above 0"),
            ({"gamma": None}, TypeError, "gamma must be a number"),
            ({"noise": float("nan")}, ValueError, "noise must be a number >= 0"),
            (
                {"missing_denominator": "rows"},
                ValueError,
                "'rows_with_value', 'all_rows'",
            ),
            (
                {"deduplicate_rows": 1},
                TypeError,
                "deduplicate_rows must be True or False",
            ),
            ({"smoothing": "auto"}, TypeError, "no smoothing.*gamma"),
            (
                {"architecture": (9, 9), "max_table_cells": 999},
                ValueError,
                "max_table_cel",
            ),
        ],
        check,
    )


def test_an_architecture_may_be_a_list() -> None:
    assert _bits(_fitted(architecture=[2, 2])) == _bits(_fitted())


# ---- learning


def _banks_of(model: HierarchicalMixtureNBClassifier) -> Any:
    return cast(HierarchicalMixtureModel, model.model_).starts


def test_a_start_is_online_learning_of_merged_rows_in_a_drawn_order() -> None:
    frame, y = nominal_frame(missing=0.1)
    model = HierarchicalMixtureNBClassifier(architecture=(3,), random_state=4)
    model.fit(frame, y)
    codes, _ = merged_rows(cast(Any, model)._training_codes)
    seed = np.random.default_rng(4).integers(1 << 63, size=1)[0]
    rng = np.random.default_rng(seed)
    order = rng.permutation(codes.n_rows)
    banks = learn_counters(codes, order, (3,), OnlineOptions(), rng).banks()
    for found, expected in zip(_banks_of(model)[0], banks, strict=True):
        np.testing.assert_array_equal(found.log_table, expected.log_table)


@pytest.mark.parametrize("learning", ["online", "batch"])
def test_starts_are_alike_for_any_number_of_threads(learning: str) -> None:
    one = _fitted(n_mixtures=4, learning=learning)
    other = _fitted(n_mixtures=4, learning=learning, n_jobs=2)
    assert _bits(one) == _bits(other)
    assert one.learning_curves_ == other.learning_curves_


def test_posteriors_of_starts_are_averaged() -> None:
    model = _fitted(n_mixtures=3)
    mixture = cast(HierarchicalMixtureModel, model.model_)
    frame = mixed_frame()[0]
    _, codes = model._prepare(frame)
    each = [
        np.exp(
            HierarchicalMixtureModel(
                mixture.domain, mixture.architecture, (banks,)
            ).class_log_scores(codes)
        )
        for banks in mixture.starts
    ]
    assert not np.allclose(each[0], each[1])
    np.testing.assert_allclose(
        model.predict_proba(frame), np.mean(each, axis=0), rtol=1e-10
    )


def test_rows_that_are_not_merged_are_visited_one_by_one() -> None:
    frame = pd.DataFrame({"a": ["p", "p", "q", "q", "q", "p"] * 5})
    y = [0, 0, 1, 1, 0, 1] * 5
    merged = HierarchicalMixtureNBClassifier(architecture=(2,), random_state=0).fit(
        frame, y
    )
    literal = HierarchicalMixtureNBClassifier(
        architecture=(2,), deduplicate_rows=False, random_state=0
    )
    literal.fit(frame, y)
    counters = _banks_of(merged)[0][0].log_prior, _banks_of(literal)[0][0].log_prior
    assert not np.array_equal(*counters)


def test_a_constant_column_changes_no_probability() -> None:
    frame, y = nominal_frame()
    wider = frame.assign(same="always")
    model = HierarchicalMixtureNBClassifier(random_state=0).fit(frame, y)
    other = HierarchicalMixtureNBClassifier(random_state=0).fit(wider, y)
    np.testing.assert_allclose(
        other.predict_proba(wider), model.predict_proba(frame), rtol=1e-10
    )


@pytest.mark.parametrize("architecture", [(2,), (4,)])
def test_exclusive_or_is_learned(architecture: tuple[int, ...]) -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 4, [0, 1, 1, 0] * 4
    model = HierarchicalMixtureNBClassifier(architecture=architecture, random_state=0)
    for learning in ("online", "batch"):
        model.set_params(learning=learning).fit(X, y)
        assert model.score(X, y) == 1.0


def test_no_gate_at_all_is_one_expert() -> None:
    model = _fitted(architecture=())
    weights = model.gate_weights(mixed_frame()[0])
    np.testing.assert_array_equal(weights, 1.0)
    assert str(model).startswith("1.00 expert root: in 0.")


def test_the_training_log_likelihood_is_that_of_the_classes() -> None:
    frame, y = mixed_frame()
    model = _fitted(class_prior=[0.2, 0.3, 0.5])
    logs = model.predict_log_proba(frame)
    own = [model.classes_.tolist().index(label) for label in y]
    expected = logs[np.arange(len(y)), own].sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-10)


def test_calibration_neither_changes_the_model_nor_depends_on_threads() -> None:
    model = _fitted(calibration="leave_one_out", n_mixtures=2)
    other = _fitted(calibration="leave_one_out", n_mixtures=2, n_jobs=2)
    plain = _fitted(n_mixtures=2)
    assert model.temperature_ == other.temperature_ != 1.0
    for bank, same in zip(_banks_of(model)[1], _banks_of(plain)[1], strict=True):
        np.testing.assert_array_equal(bank.log_table, same.log_table)


def test_calibration_without_enough_rows_leaves_probabilities_alone() -> None:
    model = HierarchicalMixtureNBClassifier(calibration="leave_one_out", random_state=0)
    assert model.fit([["p"]], ["only"]).temperature_ == 1.0


# ---- progress


class _Recorder:
    """A callback that keeps the metadata of finished tasks below the fit."""

    def __init__(self) -> None:
        self.facts: list[dict[str, Any]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any) -> bool:
        """Keep what a pass reports."""
        if context.parent is not None:
            self.facts.append(metadata)
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""


@pytest.mark.skipif(
    not HAS_CALLBACKS, reason="needs scikit-learn 1.9, which has callbacks"
)
def test_callbacks_are_told_the_log_loss_of_each_pass() -> None:
    recorder = _Recorder()
    model = HierarchicalMixtureNBClassifier(n_mixtures=2, n_passes=3, random_state=0)
    model.set_callbacks(recorder).fit(*mixed_frame())
    expected = [
        {"start": start, "number": number, "log_loss": loss}
        for start, curve in enumerate(model.learning_curves_)
        for number, loss in enumerate(curve, 1)
    ]
    assert len(expected) == 6
    assert recorder.facts == expected


def test_the_log_loss_of_passes_is_printed_when_asked(capsys: Any) -> None:
    model = _fitted(n_mixtures=2, verbose=2)
    told = capsys.readouterr().err
    last = model.learning_curves_[1][4]
    assert f"start 2, pass 5: log loss {last:.6g}\n" in told


def test_batch_learning_tells_an_objective_that_never_falls() -> None:
    curve = _fitted(learning="batch").learning_curves_[0]
    assert len(curve) > 2
    assert (np.diff(curve) >= 0).all()


# ---- looking at the result


def test_an_explanation_tells_gates_and_experts() -> None:
    model, frame = _fitted(n_mixtures=2, architecture=(2, 3)), mixed_frame()[0]
    explanations = model.explain(frame[:7])
    weights = model.gate_weights(frame[:7])
    for row, explanation in enumerate(explanations):
        assert isinstance(explanation, MixtureExplanation)
        assert [e.weight for e in explanation.experts] == weights[
            :, row
        ].ravel().tolist()
        assert len(explanation.gates) == 2 * (1 + 2)


def test_the_terms_of_a_calibrated_explanation_add_up() -> None:
    model, frame = _fitted(calibration="leave_one_out"), mixed_frame()[0]
    for explanation in model.explain(frame[:9]):
        total = explanation.prior + sum(t.contribution for t in explanation.terms)
        assert total == pytest.approx(explanation.log_odds, abs=1e-10)


def test_gate_weights_sum_to_one() -> None:
    weights = _fitted(n_mixtures=3, architecture=(2, 2)).gate_weights(mixed_frame()[0])
    assert weights.shape == (3, 120, 4)
    np.testing.assert_allclose(weights.sum(axis=2), 1.0, rtol=1e-12)


def test_print_and_summary_show_the_tree() -> None:
    model = _fitted()
    text = str(model)
    assert text.splitlines()[0] == "1.00 gate root"
    assert "expert 2.1: in 0." in text
    # A summary wraps long lines.
    summary = " ".join(str(model.summary()).split())
    assert " ".join(text.split()) in summary
    assert "HierarchicalMixtureNBClassifier(" in str(
        HierarchicalMixtureNBClassifier(random_state=0)
    )


def test_the_mixture_is_no_network_and_says_so() -> None:
    with pytest.raises(AttributeError, match="has no network_"):
        _ = _fitted().network_


def test_columns_may_come_in_any_container() -> None:
    frame, y = mixed_frame()
    model = _fitted()
    other = HierarchicalMixtureNBClassifier(random_state=0).fit(
        pa.Table.from_pandas(frame), y
    )
    assert _bits(model) == bytes(other.predict_proba(frame).tobytes())


def _right_starts(n_bits: int, **parameters: Any) -> int:
    """How many of twenty starts tell the parity of some bits without an error."""
    X = np.array(list(product("01", repeat=n_bits)))
    y = (X == "1").sum(axis=1) % 2
    starts = [
        HierarchicalMixtureNBClassifier(random_state=seed, **parameters).fit(X, y)
        for seed in range(20)
    ]
    return sum(bool((start.predict(X) == y).all()) for start in starts)


@pytest.mark.parametrize("architecture", [(2,), (4,)])
def test_every_start_learns_exclusive_or(architecture: tuple[int, ...]) -> None:
    assert _right_starts(2, architecture=architecture) == 20


@pytest.mark.slow
@pytest.mark.long
def test_most_starts_of_six_levels_learn_the_parity_of_four_bits() -> None:
    assert _right_starts(4, architecture=(2,) * 6, n_passes=2000) >= 12
    assert _right_starts(4, architecture=(2,) * 4, n_passes=2000) == 0
