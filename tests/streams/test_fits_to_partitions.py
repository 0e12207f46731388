"""Models of tables in Dask's partitions are those of the same tables in memory."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import (
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    BayesianNetworkEstimator,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.data.random_state import random_generator
from bayleaf.streams import partition_learning, spool, table_learning
from bayleaf.streams.dask_partitions import Tasks
from bayleaf.streams.stand_ins import NumberSummary
from offenders import check_each
from oracles.batched_tables import (
    CLASSIFIERS,
    ROW,
    in_memory,
    reader,
    same_file,
    the_table,
)

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

# Where partitions begin: they are of uneven size, and one of them is empty.
STARTS = (0, 7, 7, 200, 450)


@pytest.fixture(autouse=True)
def tasks_are_run_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One after the other; small partitions make several pieces of codes."""
    monkeypatch.setattr(partition_learning, "PIECE_ROWS", 150)
    with dask.config.set(scheduler="synchronous"):
        yield


def in_partitions(table: pa.Table, starts: tuple[int, ...] = STARTS) -> Any:
    """A table as a data frame of Dask."""
    frame = table.replace_schema_metadata().to_pandas()
    ends = (*starts[1:], len(frame))
    parts = [frame.iloc[a:b] for a, b in zip(starts, ends, strict=True)]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


def with_strangers(table: pa.Table) -> pa.Table:
    """The features, with values and missing cells that training did not contain."""
    features = table.drop_columns(["label"])
    place = features.schema.get_field_index("text")
    cells = ["never met", None] * (len(table) // 2)
    return features.set_column(place, "text", pa.array(cells))


# Columns of every sort but those whose many values make models slow to save.
NARROW = ["text", "few", "number", "truth", "date", "name", "constant", "label"]


def check_model_of_partitions(estimator: Any, table: pa.Table, folder: Path) -> None:
    found = clone(estimator).fit(in_partitions(table), target="label")
    expected = in_memory(estimator, table)
    same_file(expected, found, folder)
    strange = with_strangers(table)
    probabilities = expected.predict_proba(strange)
    np.testing.assert_array_equal(found.predict_proba(strange), probabilities)


@pytest.mark.few(6)
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_partitions_give_the_model_of_the_table(estimator: Any, tmp_path: Path) -> None:
    check_model_of_partitions(estimator, the_table(500).select(NARROW), tmp_path)


def test_partitions_of_columns_of_every_sort_give_the_model_of_the_table(
    tmp_path: Path,
) -> None:
    check_model_of_partitions(TANClassifier(), the_table(), tmp_path)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_every_model_of_columns_of_every_sort_is_that_of_the_table(
    estimator: Any, tmp_path: Path
) -> None:
    check_model_of_partitions(estimator, the_table(), tmp_path)


@pytest.mark.parametrize("starts", [(0,), tuple(range(0, 800, 100))])
def test_the_model_does_not_depend_on_where_partitions_begin(
    starts: tuple[int, ...], tmp_path: Path
) -> None:
    found = TANClassifier().fit(in_partitions(the_table(), starts), target="label")
    same_file(in_memory(TANClassifier(), the_table()), found, tmp_path)


@pytest.mark.parametrize("kind", [NaiveBayesClassifier, TANClassifier, KDBClassifier])
def test_cells_that_name_groups_are_left_out_of_counts(
    kind: Any, tmp_path: Path
) -> None:
    table = pa.table(
        {
            "a": ["p", "left", "q", "r", "p", "q", "s", None, "left", "s"] * 3,
            "b": ["u", "v", "u", "low", "v"] * 6,
            "label": ["no", "yes", "yes"] * 10,
        }
    )
    left = {"any": {"left": ["p", "q"], "right": ["r", "s"]}}
    low = {"all": {"low": ["u", "v"], "w": None}}
    model = kind(hierarchies={"a": left, "b": low})
    expected = in_memory(model, table)
    partitions = in_partitions(table, (0, 7, 7, 20))
    found = clone(model).fit(partitions, target="label")
    same_file(expected, found, tmp_path)
    network = BayesianNetworkClassifier(hierarchies={"a": left})
    with pytest.raises(ValueError, match="'a' has cells that name 'left'"):
        network.fit(partitions, target="label")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("scale", ["counts", "mean_one"])
def test_weights_are_a_column_of_partitions(
    whole: bool, scale: str, tmp_path: Path
) -> None:
    table = the_table(500, 3).select(NARROW)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, 500).astype(float)
    if not whole:
        weights = rng.random(500) * (rng.random(500) < 0.9)
    estimator = KDBClassifier(k=2, weight_scale=scale)
    expected = in_memory(estimator, table, weights)
    weighted = in_partitions(table.append_column("w", pa.array(weights)))
    found = clone(estimator).fit(weighted, target="label", sample_weight="w")
    features = table.drop_columns(["label"])
    if whole and scale == "counts":
        same_file(expected, found, tmp_path)
    np.testing.assert_allclose(
        found.predict_proba(features), expected.predict_proba(features), atol=1e-12
    )


def test_weights_that_sum_to_far_less_than_the_rows_are_reported() -> None:
    table = the_table(100, 3).select(NARROW)
    weighted = in_partitions(table.append_column("w", pa.array([0.01] * 100)))
    with pytest.warns(UserWarning, match=r"counts as 1 rows.*weight_scale='mean_one'"):
        TANClassifier().fit(weighted, target="label", sample_weight="w")


ANY_PARTITIONS = given(
    st.lists(ROW, min_size=3, max_size=30), st.lists(st.integers(0, 30), max_size=5)
)


def same_model_in_partitions(rows: list[Any], starts: list[int]) -> None:
    names = ("text", "whole", "number", "label")
    kinds = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    table = pa.table(dict(zip(names, columns, strict=True)))
    places = (0, *sorted(min(start, len(rows)) for start in starts))
    partitions = in_partitions(table, places)
    frame = table.replace_schema_metadata().to_pandas()
    try:
        expected = TANClassifier().fit(frame[list(names[:3])], frame["label"])
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20].replace("(", r"\(")):
            TANClassifier().fit(partitions, target="label")
        return
    found = TANClassifier().fit(partitions, target="label")
    assert found.model_.domain == expected.model_.domain
    assert found.encoder_.notes == expected.encoder_.notes
    assert found.encoder_.readings == expected.encoder_.readings
    assert found.log_likelihood_ == expected.log_likelihood_
    for one, other in zip(found.network_.cpds, expected.network_.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@ANY_PARTITIONS
def test_small_partitions_of_any_content(rows: list[Any], starts: list[int]) -> None:
    same_model_in_partitions(rows, starts)


@pytest.mark.long
@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@ANY_PARTITIONS
def test_many_small_partitions_of_any_content(
    rows: list[Any], starts: list[int]
) -> None:
    same_model_in_partitions(rows, starts)


def test_what_needs_rows_gets_the_sample_of_the_stream(tmp_path: Path) -> None:
    table = the_table().select(NARROW)
    estimator = AveragedKDBClassifier(n_networks=2, random_state=0)
    found = clone(estimator).fit(
        in_partitions(table), target="label", max_rows_in_memory=300
    )
    streamed = clone(estimator).fit(
        reader(table, 100), target="label", max_rows_in_memory=300
    )
    assert "300 of 800" in str(found.summary())
    same_file(streamed, found, tmp_path)


def test_the_callers_generator_is_drawn_from_as_by_a_table_in_memory() -> None:
    table = the_table().select(NARROW)
    states = []
    for source in (in_partitions(table), reader(table, 90)):
        rng = random_generator(np.random.default_rng(5))
        AveragedKDBClassifier(n_networks=2, random_state=rng).fit(
            source, target="label"
        )
        states.append(rng.bit_generator.state)
    assert states[0] == states[1]


def few_values(n_rows: int) -> pa.Table:
    """Columns of few values."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.integers(0, 4, n_rows) for j in range(5)}
    return pa.table({**columns, "label": rng.choice(["a", "b"], n_rows)})


def test_only_small_tables_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {}
    results = Tasks.results
    for n_rows in (2_000, 20_000):
        travelled: list[int] = []

        def counted(own: Tasks, tasks: Any, so_far: list[int] = travelled) -> list[Any]:
            found = results(own, tasks)
            so_far.append(len(pickle.dumps(found)))
            return found

        monkeypatch.setattr(Tasks, "results", counted)
        starts = tuple(range(0, n_rows, n_rows // 8))
        TANClassifier().fit(
            in_partitions(few_values(n_rows), starts),
            target="label",
            max_rows_in_memory=100,
        )
        sizes[n_rows] = sum(travelled)
    assert sizes[20_000] < 1.1 * sizes[2_000] < 60_000


def long_column(n_distinct: int) -> pa.Table:
    """A column of text in which values are told apart up to a bound."""
    rng = np.random.default_rng(2)
    values = np.minimum(rng.geometric(0.02, 800), n_distinct)
    label = np.where(values % 2, "odd", "even")
    return pa.table({"x": [f"v{v}" for v in values], "few": values % 3, "label": label})


@pytest.mark.parametrize("max_states", [20, 1000])
def test_values_beyond_the_bound_are_those_of_the_stream(
    max_states: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (spool, table_learning):
        monkeypatch.setattr(module, "MOST_VALUES", 60)
    table = long_column(200)
    estimator = NaiveBayesClassifier(max_states=max_states)
    found = clone(estimator).fit(in_partitions(table), target="label")
    streamed = clone(estimator).fit(reader(table, 90), target="label")
    same_file(streamed, found, tmp_path)
    rare = found.encoder_.domain[0].other_state
    assert (rare == "other values") == (max_states == 20)


def test_identifiers_beyond_the_bound_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (spool, table_learning):
        monkeypatch.setattr(module, "MOST_VALUES", 60)
    table = the_table().select(["name", "few", "label"])
    found = NaiveBayesClassifier().fit(in_partitions(table), target="label")
    assert "left out" in found.encoder_.notes["name"]
    streamed = NaiveBayesClassifier().fit(reader(table, 90), target="label")
    same_file(streamed, found, tmp_path)


def test_numbers_beyond_the_bound_are_cut_where_ranks_are_nearly_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NumberSummary, "most", 200)
    rng = np.random.default_rng(0)
    number = rng.normal(size=800)
    table = pa.table({"number": number, "label": np.where(number > 0.3, "p", "n")})
    found = NaiveBayesClassifier(discretizer="equal_frequency").fit(
        in_partitions(table), target="label"
    )
    note = found.encoder_.notes["number"]
    bound = float(note.rsplit("at most ", 1)[1].split()[0]) / 100
    cuts = np.array(found.encoder_.domain[0].cut_points)
    wanted = np.arange(1, len(cuts) + 1) / (len(cuts) + 1)
    shares = np.searchsorted(np.sort(number), cuts) / 800
    assert 0 < bound < 0.1
    assert np.abs(shares - wanted).max() <= bound + 2 / 800


def test_summaries_of_numbers_add_up_to_the_summary_of_all() -> None:
    rng = np.random.default_rng(0)
    values, classes = rng.integers(0, 50, 400) / 4, rng.integers(0, 3, 400)
    weights = rng.integers(1, 5, 400).astype(float)
    whole, total = NumberSummary(np.float64, 3), NumberSummary(np.float64, 0)
    whole.add(values, classes, weights)
    for rows in np.array_split(np.arange(400), 7):
        part = NumberSummary(np.float64, 3)
        part.add(values[rows], classes[rows], weights[rows])
        total = total.plus(part, np.arange(3), 3)
    for name in ("values", "n_cells", "weights"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))


def test_whole_numbers_of_a_short_range_are_always_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NumberSummary, "most", 10)
    summary = NumberSummary(np.int64, 1)
    summary.add(np.arange(1000), np.zeros(1000, np.intp), None)
    assert (len(summary.values), summary.rank_error) == (1000, 0)
    summary.add(np.array([spool.SHORT_RANGE]), np.zeros(1, np.intp), None)
    assert len(summary.values) <= 10


def test_a_partition_may_miss_all_cells_of_a_column(tmp_path: Path) -> None:
    rows = ["a", "b"] * 100
    table = pa.table(
        {
            "text": pa.array([None] * 50 + rows[:150]),
            "number": pa.array([None] * 50 + list(np.arange(150) / 7), pa.float64()),
            "whole": pa.array(list(range(150)) + [None] * 50, pa.int64()),
            "label": rows,
        }
    )
    frame = table.replace_schema_metadata().to_pandas()
    frame["whole"] = frame["whole"].astype("Int64")
    parts = [frame.iloc[a:b] for a, b in ((0, 50), (50, 150), (150, 200))]
    partitions = dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])
    found = TANClassifier().fit(partitions, target="label")
    same_file(in_memory(TANClassifier(), table), found, tmp_path)


def test_ordered_categories_of_partitions_keep_their_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.choice(["low", "mid", "high"], 300)
    label = np.where(np.isin(values, ["high"]) ^ (rng.random(300) < 0.1), "a", "b")
    levels = pd.CategoricalDtype(["low", "mid", "high", "top"], ordered=True)
    frame = pd.DataFrame({"x": pd.Series(values).astype(levels), "label": label})
    found = NaiveBayesClassifier().fit(
        dd.from_pandas(frame, npartitions=4), target="label"
    )
    expected = NaiveBayesClassifier().fit(frame[["x"]], frame["label"])
    same_file(expected, found, tmp_path)


def test_whole_numbers_are_labels_of_partitions(tmp_path: Path) -> None:
    table = the_table()
    place = table.schema.get_field_index("label")
    table = table.set_column(place, "label", pa.array(np.arange(800) % 3))
    found = TANClassifier().fit(in_partitions(table), target="label")
    same_file(in_memory(TANClassifier(), table), found, tmp_path)
    assert found.predict(table.drop_columns(["label"])).dtype.kind == "i"


def test_categories_that_no_row_has_are_no_classes() -> None:
    frame = pd.DataFrame({"x": ["a", "b"] * 20, "label": ["p", "q"] * 20})
    kinds = pd.CategoricalDtype(["o", "p", "q"], ordered=True)
    frame["label"] = frame["label"].astype(kinds)
    partitions = dd.from_pandas(frame, npartitions=3)
    stream = reader(pa.Table.from_pandas(frame, preserve_index=False), 9)
    for source in (partitions, stream):
        found = NaiveBayesClassifier().fit(source, target="label")
        assert found.classes_.tolist() == ["p", "q"]


def test_what_cannot_be_fitted_to_partitions_is_said() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        what, said = case
        with pytest.raises((ValueError, TypeError), match=said):
            TANClassifier().fit(in_partitions(the_table()), **what)

    check_each(
        [
            ({"target": "lable"}, "did you mean label"),
            ({}, "name their column with target="),
            ({"target": "label", "y": ["p"]}, "pass no y"),
            (
                {"target": "label", "sample_weight": "text"},
                r"in partition \d, .*must hold",
            ),
            ({"target": "label", "sample_weight": [1.0]}, "name their column, got"),
            ({"target": "text"}, "in partition .*the target .text. has missing"),
            ({"target": "date"}, "dates or times"),
            ({"target": "label", "store": "codes"}, "leave out store="),
            (
                {"target": "label", "max_rows_in_memory": 0},
                "max_rows_in_memory must be",
            ),
            ({"target": "label", "client": 3}, "client must be a Client"),
        ],
        check,
    )


def test_tables_without_rows_are_said() -> None:
    empty = in_partitions(the_table().slice(0, 0), (0, 0))
    with pytest.raises(ValueError, match="the table has no rows"):
        TANClassifier().fit(empty, target="label")
    light = the_table().append_column("w", pa.array(np.zeros(800)))
    with pytest.raises(ValueError, match="no rows of weight above zero"):
        TANClassifier().fit(in_partitions(light), target="label", sample_weight="w")


def test_a_missing_cell_is_named_by_its_row_in_the_whole_table() -> None:
    table = pa.table({"x": ["a", "b"] * 20 + [None], "label": ["p"] * 20 + ["q"] * 21})
    with pytest.raises(ValueError, match=r"1 missing cells \(the first in row 40"):
        TANClassifier(missing="error").fit(
            in_partitions(table, (0, 7, 30)), target="label"
        )


def test_columns_of_two_sorts_are_named() -> None:
    parts = [
        pd.DataFrame({"x": x, "label": ["p", "q"]}) for x in ([1.5, 2.5], ["a", "b"])
    ]
    partitions = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    with pytest.raises(TypeError, match="'x' holds numbers in some partitions"):
        TANClassifier().fit(partitions, target="label")


def test_names_that_are_no_text_are_refused() -> None:
    frame = pd.DataFrame({0: ["a", "b"], "label": ["p", "q"]})
    with pytest.raises(TypeError, match="rename them with"):
        TANClassifier().fit(dd.from_pandas(frame, npartitions=1), target="label")


def test_without_dask_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pa_parquet.write_table(the_table(), tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "bayleaf\[dask\]"'):
        TANClassifier().fit(
            tmp_path / "t.parquet", target="label", client="tcp://127.0.0.1:1"
        )


@pytest.mark.few(2)
@pytest.mark.parametrize("most_rows", [10_000, 300])
@pytest.mark.parametrize("abstraction", [None, "global"])
def test_density_models_of_partitions_are_those_of_the_stream(
    abstraction: str | None, most_rows: int, tmp_path: Path
) -> None:
    table = few_values(900)
    model = BayesianNetworkEstimator(abstraction=abstraction, random_state=0)
    found = clone(model).fit(in_partitions(table), max_rows_in_memory=most_rows)
    streamed = clone(model).fit(reader(table, 90), max_rows_in_memory=most_rows)
    assert found.edges_ == streamed.edges_
    same_file(streamed, found, tmp_path)


def test_hierarchies_are_given_for_partitions_too(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", "c"] * 60, "y": ["u", "v", "v"] * 60})
    tree = {"all": [{"ab": ["a", "b"]}, "c"]}
    model = BayesianNetworkEstimator(
        abstraction="given", hierarchies={"x": tree}, random_state=0
    )
    found = clone(model).fit(in_partitions(table, (0, 50)))
    same_file(clone(model).fit(table), found, tmp_path)
    groups = pa.table({"x": ["a", "ab", "c"] * 60, "y": ["u", "v", "v"] * 60})
    with pytest.raises(ValueError, match="'ab', a group of its hierarchy"):
        clone(model).fit(in_partitions(groups, (0, 50)))


def test_predictions_say_what_to_do_with_partitions() -> None:
    fitted = TANClassifier().fit(few_values(100).drop_columns(["label"]), ["a"] * 100)
    with pytest.raises(TypeError, match="data frame of Dask"):
        fitted.predict(in_partitions(few_values(100)))


def test_every_partitioning_gives_the_bits_of_the_table_in_memory(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(3)
    n = 400
    label = rng.integers(0, 3, n)
    days = np.datetime64("2021-01-01") + rng.integers(0, 900, n)
    table = pd.DataFrame(
        {
            "number": rng.normal(label, 1),
            "text": np.array([*"abcdefg"])[(rng.integers(0, 7, n) + label) % 7],
            "comma": [f"{x:.2f}".replace(".", ",") for x in rng.normal(size=n) * 99],
            "dates": days.astype(str),
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
            "truth": np.array(["TRUE", "FALSE"])[rng.integers(0, 2, n)],
            "level": pd.Categorical(rng.choice(["lo", "hi"], n), ["lo", "hi"], True),
            "label": np.array(["p", "q", "r"])[label],
            "weight": rng.integers(1, 4, n),
        }
    )
    for name in ("number", "text", "when"):
        table.loc[rng.random(n) < 0.05, name] = None
    expected = TANClassifier().fit(
        table.drop(columns=["label", "weight"]),
        table["label"],
        sample_weight=table["weight"],
    )
    for n_parts in (1, 7):
        frame = dd.from_pandas(table, npartitions=n_parts, sort=False)
        found = TANClassifier().fit(frame, target="label", sample_weight="weight")
        same_file(expected, found, tmp_path)
        assert found.columns_.to_dict() == expected.columns_.to_dict()
