"""Tables come back as they were, but for the cells that were missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable, numeric_variable, ordered_variable
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each

NUMBERS = IntervalNumbers.of_column(
    np.array([1.0, 2.0, 3.5, 11.0, 12.0, 13.5]), np.ones(6), (5.0,)
)


def sized(variables: list[Variable]) -> BayesianNetwork:
    """All variables equal the first, whose upper state is more probable."""
    families = [(0,), *((0, j) for j in range(1, len(variables)))]
    follows = np.array([[1.0, 0.0], [0.0, 1.0]])
    cpds = [TableCPD((0,), np.array([0.4, 0.6]))]
    cpds += [TableCPD(family, follows) for family in families[1:]]
    dag = DAG(tuple(family[:-1] for family in families))
    return BayesianNetwork(Domain(tuple(variables)), dag, tuple(cpds))


def number_variable(numbers: IntervalNumbers | None = NUMBERS) -> Variable:
    """A variable of two intervals."""
    plain = numeric_variable("weight", (5.0,))
    return Variable("weight", plain.states, "numeric", (5.0,), numbers=numbers)


NETWORK = sized(
    [
        Variable("size", ("small", "large")),
        Variable("count", (1, 4)),
        Variable("heavy", (False, True)),
        number_variable(),
    ]
)
COLUMNS: dict[str, Any] = {
    "id": [7, 8, 9],
    "heavy": [True, None, None],
    "size": ["large", None, "small"],
    "weight": [11.25, 2.0, None],
    "count": [None, 1, 1],
}
FULL: dict[str, Any] = {
    "id": [7, 8, 9],
    "heavy": [True, False, False],
    "size": ["large", "small", "small"],
    "weight": [11.25, 2.0, 6.5 / 3],
    "count": [4, 1, 1],
}


def as_lists(frame: Any) -> dict[str, Any]:
    """The columns of any frame as lists."""
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return {name: frame[name].tolist() for name in frame.columns}


def test_frames_of_every_make_are_filled_as_they_are(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame = make_frame(COLUMNS)
    filled = NETWORK.impute(frame)
    assert type(filled) is type(frame)
    assert list(as_lists(filled)) == list(COLUMNS)
    assert as_lists(filled) == FULL
    assert as_lists(frame)["size"][0::2] == ["large", "small"]


def test_types_of_pandas_stay() -> None:
    frame = pd.DataFrame(COLUMNS).astype(
        {"heavy": "boolean", "size": "category", "count": "Int8", "weight": "float32"}
    )
    filled = NETWORK.impute(frame)
    assert filled.dtypes.equals(frame.dtypes)
    assert filled["count"].tolist() == FULL["count"]
    assert filled["heavy"].tolist() == FULL["heavy"]
    assert filled["size"].tolist() == FULL["size"]


def test_rows_of_pandas_keep_their_names() -> None:
    frame = pd.DataFrame(COLUMNS, index=["a", "b", "a"])
    assert NETWORK.impute(frame).index.tolist() == ["a", "b", "a"]


def test_types_of_polars_stay() -> None:
    frame = pl.DataFrame(
        COLUMNS,
        schema_overrides={
            "size": pl.Enum(["small", "large"]),
            "count": pl.Int16,
            "weight": pl.Float32,
        },
    )
    filled = NETWORK.impute(frame)
    assert filled.schema == frame.schema
    assert filled["size"].to_list() == FULL["size"]


def test_categories_of_polars_gain_a_value() -> None:
    frame = pl.DataFrame(
        {"size": [None, "small"], "count": [4, 1]},
        schema_overrides={"size": pl.Categorical},
    )
    assert NETWORK.impute(frame)["size"].to_list() == ["large", "small"]


def test_types_of_arrow_stay() -> None:
    plain = pa.table(COLUMNS)
    types = {"size": pa.dictionary(pa.int8(), pa.string()), "count": pa.int32()}
    schema = pa.schema([f.with_type(types.get(f.name, f.type)) for f in plain.schema])
    frame = pa.concat_tables([plain.cast(schema)] * 2)
    filled = NETWORK.impute(frame)
    assert filled.schema == schema
    assert filled.column("size").to_pylist() == FULL["size"] * 2


def test_a_dictionary_of_arrow_gains_a_value() -> None:
    frame = pa.table(
        {"size": pa.array([None, "small"]).dictionary_encode(), "count": [4, 1]}
    )
    filled = NETWORK.impute(frame)
    assert filled.schema == frame.schema
    assert filled.column("size").to_pylist() == ["large", "small"]


def test_a_category_of_pandas_is_added() -> None:
    frame = pd.DataFrame({"size": pd.Categorical([None, "small"]), "count": [4, 1]})
    filled = NETWORK.impute(frame)["size"]
    assert filled.tolist() == ["large", "small"]
    assert filled.dtype.categories.tolist() == ["small", "large"]


def test_an_array_and_a_list_of_rows_are_filled() -> None:
    rows = [["large", None, True, None], [None, 1, None, 2.5]]
    full = [["large", 4, True, 36.5 / 3], ["small", 1, False, 2.5]]
    assert NETWORK.impute(rows) == full
    array = np.array(rows, dtype=object)
    filled = NETWORK.impute(array)
    assert isinstance(filled, np.ndarray)
    assert filled.tolist() == full
    assert array.tolist() == rows


def test_a_mapping_keeps_the_kind_of_each_column() -> None:
    table = {
        "size": pd.Series(["large", None]),
        "count": np.array([np.nan, 1.0]),
        "heavy": pa.array([None, False]),
        "weight": pl.Series([None, 3.0]),
    }
    filled = NETWORK.impute(table)
    assert [type(column) for column in filled.values()] == [
        type(column) for column in table.values()
    ]
    assert filled["size"].tolist() == ["large", "small"]
    assert filled["count"].tolist() == [4.0, 1.0]
    assert filled["heavy"].to_pylist() == [True, False]


def test_a_table_without_missing_cells_is_copied() -> None:
    frame = pd.DataFrame(FULL)
    for how in ("most_probable", "marginal", "mean", "sample"):
        filled = NETWORK.impute(frame, how)
        pd.testing.assert_frame_equal(filled, frame)
        assert filled is not frame


def test_rows_without_any_cell_get_the_most_probable_state_of_all(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    nothing = {name: [None, None] for name in ("size", "heavy", "count", "weight")}
    assert as_lists(NETWORK.impute(make_frame(nothing))) == {
        "size": ["large"] * 2,
        "heavy": [True] * 2,
        "count": [4] * 2,
        "weight": [36.5 / 3] * 2,
    }


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="no rows"):
        NETWORK.impute(pd.DataFrame({"size": []}))


def test_a_table_of_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="no column for any variable"):
        NETWORK.impute(pd.DataFrame({"colour": ["red"]}))


def test_columns_of_dates_that_are_no_variables_stay() -> None:
    when = pd.to_datetime(["2026-01-01", None])
    frame = pd.DataFrame({"when": when, "size": [None, "small"], "count": [4, 1]})
    filled = NETWORK.impute(frame)
    pd.testing.assert_series_equal(filled["when"], frame["when"])


def test_absent_variables_are_added_on_request(
    make_frame: Callable[[dict[str, Any]], Any],
) -> None:
    frame = make_frame({"count": [4, None], "heavy": [None, False]})
    assert list(as_lists(NETWORK.impute(frame))) == ["count", "heavy"]
    assert as_lists(NETWORK.impute(frame, add_columns=True)) == {
        "count": [4, 1],
        "heavy": [True, False],
        "size": ["large", "small"],
        "weight": [36.5 / 3, 6.5 / 3],
    }


def test_an_unknown_value_is_refused_by_default() -> None:
    with pytest.raises(ValueError, match="no state 'huge'"):
        NETWORK.impute({"size": ["huge", None], "count": [None, 4]})


def test_an_unknown_value_says_nothing_on_request_and_is_kept() -> None:
    filled = NETWORK.impute(
        {"size": ["huge", "small"], "count": [None, None]}, unknown="missing"
    )
    assert filled == {"size": ["huge", "small"], "count": [4, 1]}


def test_states_are_written_as_the_column_writes_them() -> None:
    texts = {"count": ["1", None, None], "size": ["small", "large", "small"]}
    assert NETWORK.impute(texts)["count"] == ["1", "4", "1"]
    floats = {"count": np.array([1.0, np.nan]), "size": ["small", "large"]}
    assert NETWORK.impute(floats)["count"].tolist() == [1.0, 4.0]


def test_a_truth_in_a_network_of_texts_stays_a_truth() -> None:
    network = sized(
        [Variable("size", ("small", "large")), Variable("heavy", ("False", "True"))]
    )
    filled = network.impute({"size": ["large", "small"], "heavy": [None, False]})
    assert filled["heavy"] == [True, False]


def test_a_state_that_the_column_cannot_hold_is_named() -> None:
    network = sized(
        [Variable("size", ("small", "large")), Variable("grade", ("1", "top"))]
    )
    table = {"size": ["large", "small"], "grade": [None, 1]}
    with pytest.raises(ValueError, match=r"'grade'.*'top'"):
        network.impute(table)


def test_labels_of_intervals_are_filled_with_labels() -> None:
    table = {"size": ["large", "small"], "weight": [None, "<= 5"]}
    assert NETWORK.impute(table)["weight"] == ["> 5", "<= 5"]


def test_texts_that_spell_numbers_are_filled_with_numbers() -> None:
    table = {"size": ["large", "small"], "weight": [None, "2.5"]}
    assert NETWORK.impute(table)["weight"] == [repr(36.5 / 3), "2.5"]


def test_drawn_numbers_lie_among_those_of_training() -> None:
    frame = pd.DataFrame({"size": ["large", "small"] * 300, "weight": np.nan})
    weights = NETWORK.impute(frame, "sample", random_state=0)["weight"].to_numpy()
    assert 11 <= weights[0::2].min() < 11.5
    assert 13 < weights[0::2].max() <= 13.5
    assert 1 <= weights[1::2].min() <= weights[1::2].max() <= 3.5


def test_the_mean_of_a_number_runs_over_all_intervals() -> None:
    filled = NETWORK.impute({"weight": [None], "id": [0]}, "mean")
    assert filled["weight"] == pytest.approx([0.4 * 6.5 / 3 + 0.6 * 36.5 / 3])


def test_integer_columns_get_whole_numbers() -> None:
    frame = pd.DataFrame(
        {"size": ["large", "small"], "weight": pd.array([None, 2], dtype="Int64")}
    )
    filled = NETWORK.impute(frame)
    assert str(filled["weight"].dtype) == "Int64"
    assert filled["weight"].tolist() == [12, 2]


def test_numbers_that_nobody_knows_are_refused_by_name() -> None:
    network = sized([Variable("size", ("small", "large")), number_variable(None)])
    with pytest.raises(
        ValueError, match="numbers inside the intervals of variable 'wei"
    ):
        network.impute(pd.DataFrame({"size": ["large"], "weight": [np.nan]}))


def test_ordered_categories_are_filled_with_one_of_the_interval() -> None:
    grade = ordered_variable("grade", ("bad", "fair", "good", "best"), (0.5,))
    network = sized([Variable("size", ("small", "large")), grade])
    table = {"size": ["small", *["large"] * 200], "grade": [None] * 201}
    assert network.impute(table)["grade"][:2] == ["bad", "good"]
    drawn = network.impute(table, "sample", random_state=0)["grade"]
    assert drawn[0] == "bad"
    assert set(drawn[1:]) == {"fair", "good", "best"}


def test_a_missing_state_is_refused() -> None:
    network = sized(
        [Variable("size", ("small", "large")), Variable("grade", ("a", None))]
    )
    with pytest.raises(ValueError, match="'grade' are a state of their own"):
        network.impute({"size": ["small"], "grade": [None]})


def test_several_tables_are_drawn_apart_and_again_alike() -> None:
    frame = pd.DataFrame({"size": [None] * 100, "id": range(100)})
    tables = NETWORK.impute(frame, "sample", n_imputations=3, random_state=5)
    again = NETWORK.impute(frame, "sample", n_imputations=3, random_state=5)
    assert len(tables) == 3
    assert not tables[0].equals(tables[1])
    assert all(one.equals(other) for one, other in zip(tables, again, strict=True))


def test_options_that_do_not_exist_are_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"how": "best"}, "how must be one of 'most_probable'"),
        ({"impossible": "skip"}, "impossible must be one of"),
        ({"n_imputations": 2}, "use how='sample'"),
        ({"how": "sample", "n_imputations": 0}, "at least 1, got 0"),
        ({"unknown": "keep"}, "unknown must be"),
    ]

    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            NETWORK.impute({"size": [None], "count": [1]}, **options)

    check_each(cases, check)
