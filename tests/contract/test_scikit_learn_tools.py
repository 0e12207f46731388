"""The classifiers inside scikit-learn's tools, and pickled."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bayleaf.classifiers import CLASSIFIERS, TANClassifier
from bayleaf.classifiers.shared.callbacks import HAS_CALLBACKS
from bayleaf.explain import importance
from contract.kinds import each_kind, fitted, missing_rules
from contract.tables import mixed_columns, mixed_frame, nominal_frame


def _table() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    columns, y = mixed_columns()
    return pd.DataFrame(columns), np.array(y)


def _numbers() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(90, 4))
    return X, np.where(rng.random(90) < 0.2, X[:, 1], X[:, 0])


def _bits(model: Any, rows: Any) -> bytes:
    return bytes(model.predict_proba(rows).tobytes())


@each_kind()
def test_a_clone_has_the_parameters_and_learns_the_same_model(kind: Any) -> None:
    frame, y = _table()
    model = kind(max_states=77, fit_prior=False, random_state=0).fit(frame, y)
    copied = clone(model)
    assert not hasattr(copied, "model_")
    assert copied.get_params() == model.get_params()
    assert _bits(copied.fit(frame, y), frame) == _bits(model, frame)


@each_kind()
def test_the_parameters_make_an_equal_classifier_again(kind: Any) -> None:
    # Parameters that differ from the defaults print as they are written.
    model = kind(max_states=77)
    assert repr(model) == f"{kind.__name__}(max_states=77)"
    assert is_classifier(model)


@each_kind(through=[lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_a_copy_predicts_bit_for_bit(kind: Any, through: Any) -> None:
    model, frame = fitted(kind)
    model.predict(frame)
    copied = through(model)
    assert _bits(copied, frame) == _bits(model, frame)
    assert str(copied.summary()) == str(model.summary())


@each_kind()
def test_a_pickle_does_not_grow_by_prediction(kind: Any) -> None:
    frame, y = _table()
    model = kind(random_state=0).fit(frame, y)
    before = len(pickle.dumps(model))
    model.predict(frame)
    assert len(pickle.dumps(model)) == before


@each_kind()
def test_a_pipeline_predicts_as_its_last_step(kind: Any) -> None:
    frame, y = _table()
    pipeline = make_pipeline(FunctionTransformer(), kind(random_state=0)).fit(frame, y)
    assert _bits(pipeline, frame) == _bits(fitted(kind)[0], frame)


@each_kind()
def test_a_grid_search_chooses_among_parameters(kind: Any) -> None:
    X, y = _numbers()
    grid = {"missing": missing_rules(kind), "fit_prior": [True, False]}
    search = GridSearchCV(kind(random_state=0), grid, cv=2, error_score="raise").fit(
        X, y
    )
    assert len(search.cv_results_["params"]) == 2 * len(missing_rules(kind))
    assert search.best_score_ > 0.5


@each_kind()
def test_cross_validation_runs_with_log_loss(kind: Any) -> None:
    frame, y = _table()
    scores = cross_val_score(
        kind(random_state=0),
        frame,
        y,
        cv=2,
        scoring="neg_log_loss",
        error_score="raise",
    )
    assert np.isfinite(scores).all()


@pytest.mark.few(2)
@pytest.mark.slow
@each_kind()
def test_processes_of_joblib_give_the_same_scores(kind: Any) -> None:
    frame, y = _table()
    one = cross_val_score(kind(random_state=0), frame, y, cv=3, n_jobs=1)
    np.testing.assert_array_equal(
        cross_val_score(kind(random_state=0), frame, y, cv=3, n_jobs=2), one
    )


@each_kind()
def test_calibration_returns_probabilities(kind: Any) -> None:
    frame, y = _table()
    proba = (
        CalibratedClassifierCV(kind(random_state=0), cv=2)
        .fit(frame, y)
        .predict_proba(frame)
    )
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@each_kind()
def test_bagging_agrees_with_the_classes(kind: Any) -> None:
    X, y = _numbers()
    bag = BaggingClassifier(kind(random_state=0), n_estimators=3, random_state=0).fit(
        X, y
    )
    assert bag.score(X, y) > 0.5


@each_kind()
def test_a_bag_is_learned_like_a_table_of_its_rows(kind: Any) -> None:
    X, y = _numbers()
    bag = BaggingClassifier(kind(random_state=0), n_estimators=2, random_state=0).fit(
        X, y
    )
    codes = np.unique(y, return_inverse=True)[1]
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        assert len(set(rows)) < len(rows)
        drawn = clone(member).fit(X[rows], codes[rows])
        assert _bits(drawn, X) == _bits(member, X)


@each_kind()
def test_bags_may_miss_cells_and_hold_columns_of_fractions(kind: Any) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=80)
    X = y[:, None] + rng.normal(size=(80, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    bag = BaggingClassifier(
        kind(random_state=0),
        n_estimators=3,
        max_features=2,
        random_state=0,
        bootstrap_features=True,
    )
    assert bag.fit(X, y).score(X, y) > 0.6


@each_kind()
def test_boosting_passes_weights(kind: Any) -> None:
    X, y = _numbers()
    boosted = AdaBoostClassifier(
        kind(random_state=0, weight_scale="mean_one"), n_estimators=3, random_state=0
    ).fit(X, y)
    assert boosted.score(X, y) > 0.5


@each_kind()
def test_boosting_goes_on_with_the_mistakes(kind: Any) -> None:
    X, y = _numbers()
    boosted = AdaBoostClassifier(
        kind(random_state=0, weight_scale="mean_one"), n_estimators=2, random_state=0
    ).fit(X, y)
    shares = np.full(len(y), 1 / len(y))
    # SAMME of Zhu, Zou, Rosset and Hastie (2009), of which AdaBoost is two classes.
    for member, vote in zip(
        boosted.estimators_, boosted.estimator_weights_, strict=True
    ):
        alone = clone(member).fit(X, y, sample_weight=shares)
        np.testing.assert_allclose(
            alone.predict_proba(X), member.predict_proba(X), rtol=1e-9
        )
        wrong = member.predict(X) != y
        error = shares[wrong].sum()
        odds = (1 - error) / error * (len(boosted.classes_) - 1)
        assert vote == pytest.approx(np.log(odds))
        shares[wrong] *= odds
        shares /= shares.sum()


@each_kind()
def test_boosting_finds_cut_points(kind: Any) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=80)
    X = 2 * y[:, None] + rng.normal(size=(80, 3))
    # Its weights sum to one, which as counts of rows would justify no cut at all.
    boosted = AdaBoostClassifier(
        kind(random_state=0, weight_scale="mean_one"), n_estimators=3, random_state=0
    ).fit(X, y)
    assert boosted.score(X, y) > 0.8


@each_kind()
def test_voting_averages_probabilities(kind: Any) -> None:
    X, y = _numbers()
    vote = VotingClassifier(
        [("one", kind(random_state=0)), ("two", kind(random_state=0))], voting="soft"
    ).fit(X, y)
    np.testing.assert_allclose(
        vote.predict_proba(X),
        kind(random_state=0).fit(X, y).predict_proba(X),
        atol=1e-12,
    )


@each_kind()
def test_one_against_the_rest_runs(kind: Any) -> None:
    X, y = _numbers()
    assert OneVsRestClassifier(kind(random_state=0)).fit(X, y).score(X, y) > 0.4


@each_kind()
def test_weights_are_routed_when_asked_for(kind: Any) -> None:
    X, y = _numbers()
    weights = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = kind(random_state=0).set_fit_request(sample_weight=True)
        asking = asking.set_score_request(sample_weight=True)
        pipeline = make_pipeline(asking).fit(X, y, sample_weight=weights)
        found = cross_validate(
            asking, X, y, cv=3, params={"sample_weight": weights}, error_score="raise"
        )
    expected = kind(random_state=0).fit(X, y, sample_weight=weights)
    assert _bits(pipeline, X) == _bits(expected, X)
    assert found["test_score"].shape == (3,)


@each_kind()
def test_weights_are_not_routed_unasked(kind: Any) -> None:
    X, y = _numbers()
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"sample_weight.*not explicitly set"),
    ):
        make_pipeline(kind(random_state=0)).fit(X, y, sample_weight=np.ones(len(y)))


needs_callbacks = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="needs scikit-learn 1.9, which has callbacks"
)


class _Recorder:
    """A callback that keeps what it is told of the fit, not of the passes below it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.told.append("setup")

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:
        if context.parent is None:
            self.told.append("begin")

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> bool:
        if context.parent is None:
            self.told.append("end")
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        self.told.append("teardown")


@needs_callbacks
@each_kind()
def test_callbacks_are_told_of_a_fit(kind: Any) -> None:
    X, y = _numbers()
    recorder = _Recorder()
    kind(random_state=0).set_callbacks(recorder).fit(X, y)
    assert recorder.told == ["setup", "begin", "end", "teardown"]


@needs_callbacks
@each_kind()
def test_callbacks_change_no_bit(kind: Any) -> None:
    X, y = _numbers()
    model = kind(random_state=0).set_callbacks(_Recorder()).fit(X, y)
    assert _bits(model, X) == _bits(kind(random_state=0).fit(X, y), X)


@each_kind()
def test_text_goes_through_a_pipeline_with_column_names(kind: Any) -> None:
    frame, y = nominal_frame()
    keep = FunctionTransformer(lambda table: table[["a", "c"]])
    pipeline = make_pipeline(keep, kind(random_state=0)).fit(frame, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "c"]


@each_kind()
def test_importances_are_shares_of_columns(kind: Any) -> None:
    model, frame = fitted(kind)
    shares = model.feature_importances_
    assert shares.shape == (frame.shape[1],)
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0)


def test_importances_are_of_features_below_latent_variables_too() -> None:
    frame, y = mixed_frame()
    wide = pd.concat([frame, frame.add_suffix("_2")], axis=1)
    models = [CLASSIFIERS[n](random_state=0).fit(wide, y) for n in ("hnb", "tan")]
    shares = [model.feature_importances_ for model in models]
    # Their rules of smoothing differ.
    np.testing.assert_allclose(*shares, atol=0.01)


def test_importances_of_numbers_are_those_of_their_intervals() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"shifted": rng.normal(y), "noise": rng.normal(size=300)})
    for name in ("auto", "nb", "kdb"):
        shares = CLASSIFIERS[name](random_state=0).fit(frame, y).feature_importances_
        assert shares[0] > 0.9


def test_importances_are_the_information_of_left_out_rows() -> None:
    model, frame = fitted(CLASSIFIERS["tan"])
    selector = SelectFromModel(TANClassifier(), threshold=0.2)
    kept = selector.fit(frame, mixed_frame()[1]).get_feature_names_out()
    assert {"weather", "colour"} & set(kept) == {"weather"}
    alone = np.array([one.information for one in importance(model).features])
    np.testing.assert_allclose(model.feature_importances_, alone / alone.sum())
    with pytest.raises(AttributeError, match="does not hold its training rows"):
        _ = pickle.loads(pickle.dumps(model)).feature_importances_
