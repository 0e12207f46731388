"""What the shared parameters promise."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import (
    AveragedKDBClassifier,
    HNBClassifier,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from contract.kinds import (
    KINDS,
    draws_nothing,
    each_kind,
    fitted,
    has_smoothing,
    is_joint,
)
from contract.tables import mixed_columns, mixed_frame, nominal_frame, object_array

# Those that take long to fit; four networks stand for the average of many.
THREADED = [KINDS["auto"], KINDS["network"]]


def _bits(model: Any, frame: Any) -> bytes:
    return bytes(model.predict_joint_log_proba(frame).tobytes())


@each_kind()
def test_missing_as_a_state_equals_a_value_of_that_name(kind: Any) -> None:
    frame, y = nominal_frame(missing=0.2)
    named = frame.fillna("~missing")
    one = kind(missing="state", random_state=0).fit(frame, y)
    other = kind(random_state=0).fit(named, y)
    assert _bits(one, frame) == _bits(other, named)


@each_kind()
def test_missing_as_a_state_allows_a_column_without_values(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(missing="state", random_state=0).fit(frame.assign(e=None), y)
    assert np.isfinite(model.predict_proba(frame.assign(e=None))).all()


@each_kind()
def test_missing_cells_are_refused_in_training_when_asked(kind: Any) -> None:
    frame, y = nominal_frame()
    frame.loc[7, "b"] = None
    with pytest.raises(ValueError, match=r"column 'b' has 1 missing.*row 7.*fill them"):
        kind(missing="error", random_state=0).fit(frame, y)


@each_kind()
def test_missing_cells_are_refused_in_prediction_when_asked(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(missing="error", random_state=0).fit(frame, y)
    frame.loc[7, "b"] = None
    with pytest.raises(ValueError, match=r"column 'b' has 1 missing.*row 7.*fill them"):
        model.predict(frame)


@each_kind()
def test_an_unknown_value_is_scored_as_a_missing_cell(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(random_state=0).fit(frame, y)
    unknown, absent = frame.copy(), frame.copy()
    unknown.loc[::3, "b"] = "never seen"
    absent.loc[::3, "b"] = None
    assert _bits(model, unknown) == _bits(model, absent)


@each_kind()
def test_unknown_cells_are_counted_in_the_summary(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(random_state=0).fit(frame, y)
    frame.loc[[1, 4, 6], "b"] = "never seen"
    before = pickle.dumps(model.encoder_)
    assert not model.unknown_
    model.predict(frame)
    assert model.summary().unknown == (("b", 3),)
    cells = model.unknown_["b"]
    assert (cells.number, cells.value, cells.row) == (3, "never seen", 1)
    assert "such as 'never seen' in row 1, and were taken as missing" in str(cells)
    model.explain(frame.iloc[1])
    assert model.unknown_["b"].row == 0
    model.predict_proba(frame[:1])
    assert not model.unknown_
    model.predict(frame)
    assert "b: 3 cells" in str(model.summary())
    assert pickle.dumps(model.encoder_) == before


@each_kind()
def test_unknown_values_are_refused_when_asked(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(unknown="error", random_state=0).fit(frame, y)
    frame.loc[7, "b"] = "never seen"
    with pytest.raises(ValueError, match=r"column 'b' holds values .*never seen"):
        model.predict(frame)


@each_kind(is_joint)
def test_every_cell_of_a_row_may_be_missing(kind: Any) -> None:
    model, frame = fitted(kind)
    empty = pd.DataFrame({name: [None] for name in frame})
    np.testing.assert_allclose(
        model.predict_proba(empty)[0], model.model_.class_prior, atol=1e-12
    )


@each_kind()
def test_a_column_with_more_states_than_allowed_is_refused(kind: Any) -> None:
    frame, y = nominal_frame()
    with pytest.raises(ValueError, match=r"column 'c' has 4 distinct.*max_states=3"):
        kind(max_states=3, rare="error", random_state=0).fit(frame, y)


def _check_identifiers(kind: Any, n_rows: int) -> None:
    frame = pd.DataFrame(
        {"a": ["p", "q"] * (n_rows // 2), "id": [f"n{i}" for i in range(n_rows)]}
    )
    model = kind(random_state=0).fit(frame, frame["a"])
    assert model.encoder_.domain.names == ("a",)
    assert "identifier" in model.encoder_.notes["id"]
    assert model.predict(frame[:2]).tolist() == ["p", "q"]
    with pytest.raises(ValueError, match=r"column 'id' looks like an identifier"):
        kind(random_state=0, identifiers="error").fit(frame, frame["a"])


@each_kind()
def test_a_column_of_distinct_identifiers_is_left_out(kind: Any) -> None:
    _check_identifiers(kind, 400)


def test_more_identifiers_than_are_counted_are_left_out() -> None:
    _check_identifiers(NaiveBayesClassifier, 52_000)


@pytest.mark.few(1)
@pytest.mark.slow
@each_kind()
def test_identifiers_of_many_rows_are_left_out(kind: Any) -> None:
    _check_identifiers(kind, 100_000)


@each_kind(declared=[["n"], [0], [True, False], np.array(["n"])])
def test_columns_are_declared_nominal_by_name_place_or_mask(
    kind: Any, declared: Any
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    frame = pd.DataFrame(
        {"n": rng.integers(12, size=80) + 0.5, "m": rng.random(80) + y}
    )
    model = kind(categorical_features=declared, random_state=0).fit(frame, y)
    kinds = [variable.kind for variable in model.encoder_.domain]
    assert kinds == ["nominal", "numeric"]


@each_kind()
def test_integers_that_are_not_declared_are_numeric(kind: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.integers(3, size=80), "m": rng.integers(3, size=80)})
    model = kind(categorical_features=["n"], random_state=0).fit(frame, frame["m"] % 2)
    assert [v.kind for v in model.encoder_.domain] == ["nominal", "numeric"]


@each_kind()
def test_integers_of_few_values_are_nominal_and_told_so(kind: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"few": np.arange(80) % 10, "many": np.arange(80) % 11})
    model = kind(random_state=0).fit(frame, rng.integers(2, size=80))
    assert [v.kind for v in model.encoder_.domain] == ["nominal", "numeric"]
    assert ("few", "integers, 10 values, taken as nominal") in model.summary().notes


@each_kind(
    wrong=[
        (["z"], "names 'z', but the columns are"),
        ([7], "names 7"),
        ([True], "mask of 1"),
    ]
)
def test_a_wrong_declaration_is_refused(kind: Any, wrong: tuple[Any, ...]) -> None:
    declared, sentence = wrong
    frame, y = nominal_frame()
    with pytest.raises(ValueError, match=f"categorical_features .*{sentence}"):
        kind(categorical_features=declared, random_state=0).fit(frame, y)


@each_kind()
def test_a_declaration_in_a_string_is_refused(kind: Any) -> None:
    frame, y = nominal_frame()
    with pytest.raises(TypeError, match=r"list of columns.*write \['a'\]"):
        kind(categorical_features="a", random_state=0).fit(frame, y)


# Averages of networks know no maximum likelihood.
@each_kind(
    lambda kind: has_smoothing(kind) and not issubclass(kind, AveragedKDBClassifier)
)
def test_zeros_of_maximum_likelihood_are_never_nan(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(smoothing=MaximumLikelihood(floor=0), random_state=0).fit(frame, y)
    codes = np.unique(y, return_inverse=True)[1]
    logs = model.predict_joint_log_proba(frame)
    assert np.isfinite(logs[np.arange(len(y)), codes]).all()
    states = [[*sorted(set(frame[name])), None] for name in frame]
    every = pd.DataFrame(list(itertools.product(*states)), columns=list(frame))
    logs = model.predict_joint_log_proba(every)
    assert not np.isnan(logs).any()
    possible = every[np.isfinite(logs).any(axis=1)]
    np.testing.assert_allclose(model.predict_proba(possible).sum(axis=1), 1.0)
    model.explain(possible[:2])


@each_kind(has_smoothing)
def test_smoothing_is_chosen_or_the_choice_is_refused_in_a_sentence(kind: Any) -> None:
    frame, y = mixed_frame(40)
    refusal = ""
    model = kind(smoothing="auto", random_state=0)
    try:
        model.fit(frame[["weather", "guests"]], y)
    except (ValueError, AttributeError) as error:
        refusal = str(error)
    assert hasattr(model, "smoothing_") or refusal.startswith("smoothing='auto'"), (
        f"choose the rule by _chosen_smoothing, or refuse it in _check: {refusal}"
    )


@each_kind()
def test_threads_change_no_bit(kind: Any) -> None:
    frame, y = mixed_frame()
    one = kind(n_jobs=1, random_state=0).fit(frame, y)
    for n_jobs in (2, -1):
        other = kind(n_jobs=n_jobs, random_state=0).fit(frame, y)
        assert one.edges_ == other.edges_
        assert one.log_likelihood_ == other.log_likelihood_
        assert _bits(one, frame) == _bits(other, frame)


def _check_threads(kind: Any, weighted: bool, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(n_rows, 9))
    X[:, 4:] = (X[:, 4:] * X[:, :5]) % 5
    y = (X.sum(axis=1) + rng.integers(2, size=n_rows)) % 3
    weights = rng.random(n_rows) if weighted else None
    one = kind(n_jobs=1, random_state=0).fit(X, y, sample_weight=weights)
    other = kind(n_jobs=2, random_state=0).fit(X, y, sample_weight=weights)
    assert one.edges_ == other.edges_
    assert one.log_likelihood_ == other.log_likelihood_
    assert _bits(one, X) == _bits(other, X)


@pytest.mark.few(1)
@pytest.mark.parametrize("weighted", [False, True])
@each_kind(
    lambda kind: kind not in THREADED,
    costly=("four_networks", "latent_class", "one_start"),
)
def test_threads_change_no_bit_of_a_large_model(kind: Any, weighted: bool) -> None:
    # Fewer cells are not worth a second thread of prediction.
    _check_threads(kind, weighted, 23_000)


@pytest.mark.few("network")
@pytest.mark.slow
@each_kind(lambda kind: kind in THREADED, costly=(), weighted=[False, True])
def test_threads_change_no_bit_of_a_large_search(kind: Any, weighted: bool) -> None:
    _check_threads(kind, weighted, 9_000)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_bit_of_a_search_for_latent_variables(weighted: bool) -> None:
    # Fewer rows are not worth a second thread of scoring.
    _check_threads(HNBClassifier, weighted, 60_000)


@pytest.mark.slow
@pytest.mark.long
@each_kind(weighted=[False, True])
def test_threads_change_no_bit_of_a_larger_model(kind: Any, weighted: bool) -> None:
    _check_threads(kind, weighted, 60_000)


@each_kind(
    draws_nothing, state=[7, np.random.RandomState(7), np.random.default_rng(7), None]
)
def test_a_method_without_chance_ignores_the_random_state(
    kind: Any, state: Any
) -> None:
    frame, y = mixed_frame()
    assert _bits(kind(random_state=state).fit(frame, y), frame) == _bits(
        fitted(kind)[0], frame
    ), "a classifier that draws annotates random_state, as HNBClassifier does"


@each_kind()
def test_fitting_twice_gives_the_same_model(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(random_state=3)
    first = _bits(model.fit(frame, y), frame)
    assert _bits(model.fit(frame, y), frame) == first


@each_kind()
def test_fitting_forgets_the_table_before(kind: Any) -> None:
    frame, y = mixed_frame()
    other, other_y = nominal_frame()
    model = kind(random_state=0).fit(frame, y).fit(other, other_y)
    assert _bits(model, other) == _bits(kind(random_state=0).fit(other, other_y), other)


@each_kind()
def test_fitting_leaves_the_table_as_it_was(kind: Any) -> None:
    array = object_array(mixed_columns()[0])
    before = array.copy()
    kind(random_state=0).fit(array, mixed_columns()[1]).predict(array)
    pd.testing.assert_frame_equal(pd.DataFrame(array), pd.DataFrame(before))


@each_kind()
def test_verbose_tells_the_stages_on_standard_error(kind: Any, capsys: Any) -> None:
    frame, y = mixed_frame()
    kind(verbose=1, random_state=0).fit(frame, y)
    told = capsys.readouterr()
    assert told.out == ""
    assert "learning the model took" in told.err


@each_kind(
    wrong=[
        ("missing", "skip", ValueError, "'marginalize', 'state', 'error'.*got 'skip'"),
        ("unknown", "skip", ValueError, "'missing', 'error', got 'skip'"),
        ("discretizer", "mdl", ValueError, "mdlp.*got 'mdl'"),
        ("max_states", 1, ValueError, "integer >= 2, got 1"),
        ("max_states", 2.5, TypeError, "integer >= 2, got 2.5"),
        ("max_table_cells", 0, ValueError, "integer >= 1, got 0"),
        ("fit_prior", "no", TypeError, "True or False, got 'no'"),
        ("n_jobs", 0, ValueError, "must not be 0"),
        ("n_jobs", 1.5, TypeError, "None or an integer, got 1.5"),
    ]
)
def test_a_wrong_parameter_is_refused_with_its_choices(
    kind: Any, wrong: tuple[Any, ...]
) -> None:
    parameter, value, error, sentence = wrong
    frame, y = nominal_frame()
    with pytest.raises(error, match=f"{parameter} .*{sentence}"):
        kind(**{parameter: value}, random_state=0).fit(frame, y)


@each_kind(has_smoothing)
def test_a_wrong_smoothing_rule_is_refused_with_its_choices(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"smoothing .*laplace.*got 'laplce'"):
        kind(smoothing="laplce").fit(*nominal_frame())


@each_kind()
def test_a_parameter_of_unknown_name_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="smoothin"):
        kind(smoothin="laplace", random_state=0)


@each_kind()
def test_parameters_are_listed_and_stored_unchanged(kind: Any) -> None:
    parameters = kind(random_state=0).get_params()
    assert {"missing", "class_prior", "random_state"} <= set(parameters)
    marker = ["a"]
    assert (
        kind(categorical_features=marker, random_state=0).categorical_features is marker
    )
