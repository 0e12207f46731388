"""The container of a table does not matter, and its columns are checked by name."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayleaf
from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    AveragedKDBRegressor,
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    HNBClassifier,
    Inference,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    datasets,
)
from contract.kinds import COSTLY, each_kind, fitted, is_joint
from contract.tables import (
    CONTAINERS,
    mixed_columns,
    mixed_frame,
    nominal_columns,
    nominal_frame,
    object_array,
    pick_rows,
    rows_of,
)
from offenders import check_each


def _same_model(one: Any, other: Any, rows: Any, other_rows: Any) -> None:
    np.testing.assert_array_equal(
        one.predict_proba(rows), other.predict_proba(other_rows)
    )
    assert one.log_likelihood_ == other.log_likelihood_


@pytest.mark.few(2)
@pytest.mark.parametrize("container", [*CONTAINERS.values(), rows_of, object_array])
@each_kind()
def test_every_container_gives_the_same_probabilities(
    kind: Any, container: Any
) -> None:
    columns, y = mixed_columns()
    expected, _ = fitted(kind)
    model = kind(random_state=0).fit(container(columns), y)
    _same_model(expected, model, pd.DataFrame(columns), container(columns))


@each_kind()
def test_integers_in_an_array_are_read_as_in_a_frame(kind: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(3, size=(60, 4))
    y = (X.sum(axis=1) + rng.integers(2, size=60)) % 2
    frame = pd.DataFrame(X, columns=list("abcd"))
    _same_model(
        kind(random_state=0).fit(frame, y), kind(random_state=0).fit(X, y), frame, X
    )


@pytest.mark.parametrize(
    "n_rows",
    [8500, pytest.param(26_000, marks=[pytest.mark.slow, pytest.mark.long])],
)
@each_kind(costly=(*COSTLY, "four_networks", "one_start"))
def test_a_large_array_of_integers_is_read_as_a_frame(kind: Any, n_rows: int) -> None:
    # Of so many rows, only a sample is searched for the lowest number of a column.
    rng = np.random.default_rng(1)
    X = rng.integers(-2, 4, size=(n_rows, 8))
    X[:, 7] = rng.integers(1000, size=n_rows)
    y = (X.sum(axis=1) + rng.integers(2, size=n_rows)) % 2
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    _same_model(
        kind(random_state=0).fit(frame, y), kind(random_state=0).fit(X, y), frame, X
    )


@pytest.mark.parametrize(
    "n_rows",
    [8500, pytest.param(26_000, marks=[pytest.mark.slow, pytest.mark.long])],
)
@each_kind(costly=(*COSTLY, "one_start"))
def test_unknown_integers_of_a_large_array_are_the_nearest(
    kind: Any, n_rows: int
) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(4, size=(n_rows, 8))
    y = (X[:, 0] + rng.integers(2, size=n_rows)) % 2
    model = kind(random_state=0).fit(X, y)
    strange = X.copy()
    strange[:, 3] = np.where(np.arange(n_rows) % 2, 7, -500_000)
    nearest = X[:50].copy()
    nearest[:, 3] = np.where(np.arange(50) % 2, 3, 0)
    np.testing.assert_array_equal(
        model.predict_proba(strange)[:50], model.predict_proba(nearest)
    )
    assert model.predict_proba(strange[:1]).shape == (1, 2)
    assert model.unknown_["x3"].outcome == "taken as the nearest value seen"


@each_kind()
def test_categoricals_are_read_as_text(kind: Any) -> None:
    text, y = nominal_frame(missing=0.1)
    categorical = text.astype("category")
    _same_model(
        kind(random_state=0).fit(text, y),
        kind(random_state=0).fit(categorical, y),
        text,
        categorical,
    )


@each_kind()
def test_a_polars_enum_is_read_as_ordered(kind: Any) -> None:
    columns, y = nominal_columns(missing=0.1)
    text, order = pl.DataFrame(columns), ["p", "q", "r", "s"]
    enum = text.with_columns(pl.all().cast(pl.Enum(order)))
    ordered = kind(random_state=0, ordered_features=dict.fromkeys(columns, order))
    named = kind(random_state=0, ordered_features=list(columns))
    _same_model(ordered.fit(text, y), named.fit(enum, y), text, enum)


@each_kind()
def test_an_arrow_dictionary_is_read_as_text(kind: Any) -> None:
    columns, y = nominal_columns(missing=0.1)
    text = pa.table(columns)
    encoded = pa.table({name: text[name].dictionary_encode() for name in columns})
    _same_model(
        kind(random_state=0).fit(text, y),
        kind(random_state=0).fit(encoded, y),
        text,
        encoded,
    )


@each_kind()
def test_truth_values_are_two_states(kind: Any) -> None:
    columns, y = mixed_columns()
    frame = pd.DataFrame({"windy": columns["windy"], "weather": columns["weather"]})
    text = frame.assign(windy=["yes" if cell else "no" for cell in columns["windy"]])
    _same_model(
        kind(random_state=0).fit(frame, y),
        kind(random_state=0).fit(text, y),
        frame,
        text,
    )


@each_kind()
def test_pandas_missing_values_of_all_kinds_are_missing(kind: Any) -> None:
    plain, y = nominal_frame(missing=0.2)
    masked = plain.astype("string")
    nans = plain.map(lambda cell: float("nan") if cell is None else cell)
    model = kind(random_state=0).fit(plain, y)
    _same_model(model, kind(random_state=0).fit(masked, y), plain, masked)
    _same_model(model, kind(random_state=0).fit(nans, y), plain, nans)


@each_kind()
def test_masked_integers_are_read_as_integers(kind: Any) -> None:
    columns, y = mixed_columns()
    masked = pd.DataFrame({"guests": pd.array(columns["guests"], dtype="Int64")})
    frame = pl.DataFrame({"guests": columns["guests"]})
    _same_model(
        kind(random_state=0).fit(masked, y),
        kind(random_state=0).fit(frame, y),
        masked,
        frame,
    )


@each_kind()
def test_a_single_row_is_scored_as_within_its_table(kind: Any) -> None:
    model, frame = fitted(kind)
    together = model.predict_proba(frame)
    for row in (0, 7, 50):
        alone = model.predict_proba(frame.iloc[[row]])
        np.testing.assert_array_equal(alone[0], together[row])


@each_kind()
def test_rows_with_names_are_scored_as_within_their_table(kind: Any) -> None:
    model, frame = fitted(kind)
    expected, rows = model.predict_proba(frame[:3]), frame[:3].to_dict("records")
    for some in (rows, [dict(reversed(row.items())) for row in rows]):
        np.testing.assert_array_equal(model.predict_proba(some), expected)
    for row in (rows[0], frame.iloc[0], pl.DataFrame(frame).row(0, named=True)):
        np.testing.assert_array_equal(model.predict_proba(row), expected[:1])
        assert model.predict(row).tolist() == model.predict(frame[:1]).tolist()
    assert len(model.explain(rows[0])) == 1
    nothing = frame[:1].assign(**dict.fromkeys(frame.columns[1:]))
    first = frame.columns[0]
    np.testing.assert_array_equal(
        model.predict_proba({first: rows[0][first]}), model.predict_proba(nothing)
    )
    with pytest.raises(ValueError, match=f"did you mean {first}"):
        model.predict({f"{first}s": 1})


@each_kind()
def test_an_array_is_read_by_position_where_columns_are_numbered(kind: Any) -> None:
    X = np.random.default_rng(0).integers(3, size=(30, 3))
    of_frame, of_array = (
        kind(random_state=0).fit(t, X[:, 0]) for t in (pd.DataFrame(X), X)
    )
    _same_model(of_frame, of_array, X, pd.DataFrame(X))


def test_all_estimators_read_rows_with_names() -> None:
    frame, _ = nominal_frame()
    row = frame.iloc[0]
    density = BayesianNetworkEstimator().fit(frame)
    assert density.score_samples(row) == density.score_samples(frame[:1])
    numbers = np.arange(len(frame)) * 1.5
    regressor = AveragedKDBRegressor(random_state=0).fit(frame, numbers)
    assert regressor.predict(row.to_dict()) == regressor.predict(frame[:1])


def test_a_column_without_a_name_may_be_called_as_pandas_calls_it() -> None:
    frame, y = nominal_frame()
    for name, other in (("", "Unnamed: 0"), ("Unnamed: 0", "")):
        numbered = frame.copy()
        numbered.insert(0, name, [f"row {i}" for i in range(len(frame))])
        model = NaiveBayesClassifier().fit(numbered, y)
        expected = model.predict_proba(numbered)
        for table in (numbered.rename(columns={name: other}), frame):
            np.testing.assert_array_equal(model.predict_proba(table), expected)


@each_kind()
def test_the_order_of_rows_does_not_matter(kind: Any) -> None:
    columns, y = mixed_columns()
    shuffled = np.random.default_rng(3).permutation(len(y))
    one, _ = fitted(kind)
    other = kind(random_state=0).fit(
        pd.DataFrame(pick_rows(columns, shuffled)), [y[row] for row in shuffled]
    )
    _same_model(one, other, pd.DataFrame(columns), pd.DataFrame(columns))


@each_kind()
def test_columns_may_have_integer_names(kind: Any) -> None:
    columns, y = nominal_columns()
    text = pd.DataFrame(columns)
    numbered = text.set_axis([10, 11, 12, 13], axis=1)
    model = kind(random_state=0).fit(numbered, y)
    _same_model(kind(random_state=0).fit(text, y), model, text, numbered)
    children = {child for _, child in model.edges_}
    if isinstance(model, HNBClassifier):
        # Latent variables have names of their own, told apart from those of columns.
        names = [latent.name for latent in model.latents_]
        children -= {*names, *(f"{name} cells" for name in names)}
    if isinstance(model, LatentClassNBClassifier):
        # The component is a parent of the class.
        children -= {"class"}
    if isinstance(model, BayesianNetworkClassifier):
        # The class is a variable like any other.
        children -= {"class"}
    assert children <= {10, 11, 12, 13}


@each_kind()
def test_renamed_columns_are_refused_with_their_names(kind: Any) -> None:
    columns, y = nominal_columns()
    model = kind(random_state=0).fit(pd.DataFrame(columns), y)
    with pytest.raises(ValueError, match=r"(?s)betty.*\bb\b|\bb\b.*betty"):
        model.predict(pd.DataFrame(columns).rename(columns={"b": "betty"}))


@each_kind()
def test_renamed_integer_columns_are_refused_with_their_names(kind: Any) -> None:
    columns, y = nominal_columns()
    numbered = pd.DataFrame(columns).set_axis([10, 11, 12, 13], axis=1)
    model = kind(random_state=0).fit(numbered, y)
    with pytest.raises(ValueError, match=re.escape("lacks 12 and has 99")):
        model.predict(numbered.rename(columns={12: 99}))


@each_kind()
def test_reordered_columns_are_refused(kind: Any) -> None:
    frame, y = nominal_frame()
    model = kind(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a", "c", "d"]])


@each_kind()
def test_a_table_with_fewer_columns_is_refused(kind: Any) -> None:
    X = np.random.default_rng(0).integers(3, size=(30, 3))
    model = kind(random_state=0).fit(X, X[:, 0] % 2)
    with pytest.raises(ValueError, match=r"2 features, but .* 3 features"):
        model.predict(X[:, :2])


@each_kind()
def test_the_class_may_share_its_name_with_a_column(kind: Any) -> None:
    columns, y = nominal_columns()
    frame = pd.DataFrame(columns).rename(columns={"a": "class"})
    model = kind(random_state=0).fit(frame, y)
    other = pd.DataFrame(columns)
    _same_model(kind(random_state=0).fit(other, y), model, other, frame)


@each_kind()
def test_one_class_has_probability_one(kind: Any) -> None:
    frame, y = mixed_frame()
    model = kind(random_state=0).fit(frame, ["only"] * len(y))
    np.testing.assert_array_equal(model.predict_proba(frame), 1.0)
    assert set(model.predict(frame)) == {"only"}


@each_kind(is_joint)
def test_one_column_gives_the_smoothed_class_frequencies_of_its_states(
    kind: Any,
) -> None:
    rows = [["p"], ["p"], ["p"], ["q"], ["q"]]
    model = kind(smoothing="laplace", random_state=0)
    if isinstance(model, LatentClassNBClassifier):
        # Every component has prior rows of its own.
        model.set_params(n_components=1)
    if isinstance(model, BayesianNetworkClassifier):
        # The search would find that five rows prove no dependence.
        model.set_params(required_edges=[("class", "x0")])
    model.fit(rows, ["a", "a", "b", "b", "b"])
    # P(a) = 3/7, P(p | a) = 3/4, P(b) = 4/7, P(p | b) = 2/5.
    joint = np.array([3 / 7 * 3 / 4, 4 / 7 * 2 / 5])
    np.testing.assert_allclose(
        np.exp(model.predict_joint_log_proba([["p"]])[0]), joint, rtol=1e-12
    )


@each_kind(is_joint)
def test_a_constant_column_changes_no_probability(kind: Any) -> None:
    columns, y = nominal_columns()
    frame = pd.DataFrame(columns)
    wider = frame.assign(same="always")
    expected = np.exp(kind(random_state=0).fit(frame, y).predict_joint_log_proba(frame))
    if issubclass(kind, AODEClassifier):
        # The constant super-parent's network, averaged in, is naive Bayes.
        naive = NaiveBayesClassifier().fit(frame, y)
        joint = np.exp(naive.predict_joint_log_proba(frame))
        expected = (len(columns) * expected + joint) / (len(columns) + 1)
    if issubclass(kind, A2DEClassifier):
        # Beside a constant super-parent the other is the only one.
        single = AODEClassifier(min_count=0).fit(frame, y)
        joint = np.exp(single.predict_joint_log_proba(frame))
        expected = ((len(columns) - 1) * expected + 2 * joint) / (len(columns) + 1)
    found = np.exp(kind(random_state=0).fit(wider, y).predict_joint_log_proba(wider))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@each_kind()
def test_a_constant_numeric_column_is_told_in_the_summary(kind: Any) -> None:
    frame, y = nominal_frame()
    frame = frame.assign(same=1.5)
    assert "same: no cut point found" in str(
        kind(random_state=0).fit(frame, y).summary()
    )


# Columns for methods that count or test all pairs of columns, some several times, in
# the slow test, where others see 1500 (which underflow as 5000 do), and the long one.
FEW_COLUMNS: dict[type, tuple[int, int]] = {
    A2DEClassifier: (20, 30),
    AODEClassifier: (150, 300),
    AveragedKDBClassifier: (800, 1200),
    BayesianNetworkClassifier: (80, 200),
    HNBClassifier: (1200, 2000),
}


def _check_no_underflow(kind: Any, *, is_long: bool) -> None:
    n_columns = (1500, 5000)[is_long]
    for base, few in FEW_COLUMNS.items():
        if issubclass(kind, base):
            n_columns = min(n_columns, few[is_long])
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=60)
    X = (rng.random((60, n_columns)) < 0.3 + 0.4 * y[:, None]).astype(np.int64)
    proba = kind(random_state=0).fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    assert (proba.argmax(axis=1) == y).all()


@pytest.mark.few(1)
@pytest.mark.slow
@each_kind()
def test_thousands_of_columns_do_not_underflow(kind: Any) -> None:
    _check_no_underflow(kind, is_long=False)


@pytest.mark.slow
@pytest.mark.long
@each_kind()
def test_more_thousands_of_columns_do_not_underflow(kind: Any) -> None:
    _check_no_underflow(kind, is_long=True)


def test_samples_and_shipped_tables_are_of_the_library_named() -> None:
    frame, y = mixed_frame()
    latent = LatentClassNBClassifier(random_state=0).fit(frame, y)
    density = BayesianNetworkEstimator(random_state=0).fit(frame)
    network = density.network_
    made = (latent, density, network, Inference(network))
    samplers = {type(sampler): sampler for sampler in made}
    public = [getattr(bayleaf, name) for name in bayleaf.__all__]
    assert {k for k in public if hasattr(k, "sample")} == set(samplers)
    names = [name for name in datasets.__all__ if name.startswith(("load", "make"))]
    loaders = {name: getattr(datasets, name) for name in names}
    del loaders["load_network"]

    libraries = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}

    def check(library: str) -> None:
        for sampler in samplers.values():
            drawn = sampler.sample(5, random_state=0, as_frame=library)
            for part in drawn if isinstance(drawn, tuple) else [drawn]:
                assert type(part).__module__.split(".")[0] == libraries[library]
                assert len(part) == 5
        for name, load in loaders.items():
            needed = [1] if "problem" in inspect.signature(load).parameters else []
            table = load(*needed, as_frame=library)
            for columns in (table.frame, table.X):
                assert type(columns).__module__.split(".")[0] == libraries[library], (
                    name
                )

    check_each(libraries, check)


def test_numbers_drawn_for_intervals_lie_among_those_of_training() -> None:
    frame, y = mixed_frame()
    model = LatentClassNBClassifier(random_state=0).fit(frame, y)
    X, _ = model.sample(200, random_state=0, numbers=True, as_frame="pandas")
    for name in frame.select_dtypes("float"):
        assert X[name].between(frame[name].min(), frame[name].max()).all()
