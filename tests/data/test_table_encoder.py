"""What columns come to mean, and how later tables are read by it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Variable, numeric_variable
from bayleaf.data.encoder_learning import Target, learn_encoder
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from offenders import check_each

MakeFrame = Callable[[dict[str, Any]], Any]
MIXED = {
    "text": ["b", "a", None, "b", "c", "a"],
    "flag": [True, None, False, True, True, False],
    "small": [3, 1, 2, None, 1, 3],
    "real": [0.5, 2.5, None, 1.5, 4.0, -1.0],
}


class Halves:
    """A discretizer that cuts every column at one."""

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        return (1.0,)


class Fine(Halves):
    """A discretizer that cuts finer than codes can tell."""

    def cut_points(self, *_: Any) -> tuple[float, ...]:
        return tuple(np.arange(70_000.0))


def learn(
    table: Any, rules: EncoderRules | None = None, **options: Any
) -> tuple[TableEncoder, Codes]:
    """Encoder and codes of a table whose classes alternate."""
    parts = to_columns(table)
    n_rows = len(table) if not hasattr(table, "num_rows") else table.num_rows
    target = Target(Variable("target", (0, 1)), np.arange(n_rows) % 2)
    discretizer = options.pop("discretizer", Halves())
    return learn_encoder(
        parts, target, np.ones(n_rows), discretizer, rules or EncoderRules(), **options
    )


def columns_of(codes: Codes) -> list[list[int]]:
    """Codes of all variables as lists."""
    return [codes.column(i).tolist() for i in range(codes.n_variables)]


def test_every_frame_gives_the_same_domain_and_codes(make_frame: MakeFrame) -> None:
    encoder, codes = learn(make_frame(MIXED))
    assert encoder.domain.variables[:2] == (
        Variable("text", ("a", "b", "c")),
        Variable("flag", (False, True)),
    )
    assert encoder.domain[3] == numeric_variable("real", [1.0])
    assert columns_of(codes) == [
        [1, 0, 3, 1, 2, 0],
        [1, 2, 0, 1, 1, 0],
        columns_of(codes)[2],
        [0, 1, 2, 1, 1, 0],
        [0, 1, 0, 1, 0, 1],
    ]


def test_whole_numbers_with_missing_cells_are_nominal() -> None:
    for table in (pl.DataFrame(MIXED), pa.table(MIXED), pd.DataFrame(MIXED)):
        encoder, codes = learn(table)
        assert encoder.domain[2] == Variable("small", (1, 2, 3))
        assert codes.column(2).tolist() == [2, 0, 1, 3, 0, 2]


def test_text_of_every_pandas_type_gives_the_same_codes() -> None:
    def check(convert: str) -> None:
        frame = pd.DataFrame({"text": pd.Series(MIXED["text"], dtype=convert)})
        assert learn(frame)[1].column(0).tolist() == [1, 0, 3, 1, 2, 0]

    check_each(["object", "string", "category"], check)


def test_training_codes_are_those_of_transforming_again(make_frame: MakeFrame) -> None:
    frame = make_frame(MIXED)
    for missing in ("marginalize", "state"):
        encoder, codes = learn(frame, EncoderRules(missing=missing))  # type: ignore[arg-type]
        again = encoder.transform(to_columns(frame)).codes
        assert columns_of(again) == columns_of(codes)[:-1]
        assert again.cards == encoder.domain.cards


def test_ordered_categories_are_cut_by_their_ranks() -> None:
    sizes = pd.Categorical(["mid", "low", "high"], ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"size": sizes})
    assert learn(frame)[0].domain[0].states == ("low", "mid", "high")
    encoder, codes = learn(frame, EncoderRules(ordered_features=(("size", ()),)))
    assert encoder.domain[0].categories == ("low", "mid", "high")
    assert encoder.domain[0].states == ("<= mid", "high")
    assert codes.column(0).tolist() == [0, 0, 1]


def test_categories_that_occur_nowhere_are_no_states() -> None:
    text = pd.Categorical(["a", "c"], ["a", "b", "c"])
    assert learn(pd.DataFrame({"text": text}))[0].domain[0].states == ("a", "c")


def test_ten_integers_are_nominal_and_eleven_numeric() -> None:
    frame = pd.DataFrame({"ten": np.arange(22) % 10, "eleven": np.arange(22) % 11})
    encoder, _ = learn(frame)
    assert [variable.kind for variable in encoder.domain] == ["nominal", "numeric"]
    assert encoder.notes["ten"] == "integers, 10 values, taken as nominal"


def test_nominal_columns_are_declared_by_name_position_or_mask() -> None:
    def check(declared: Any) -> None:
        frame = pd.DataFrame({"a": [1, 2, 1], "b": [0.5, 1.5, 0.5]})
        encoder, codes = learn(frame, EncoderRules(categorical_features=declared))
        assert encoder.domain[0].kind == "numeric"
        assert encoder.domain[1] == Variable("b", (0.5, 1.5))
        assert codes.column(1).tolist() == [0, 1, 0]

    check_each(
        [("b",), (1,), (np.int64(1),), (False, True), (np.False_, np.True_)], check
    )


def test_an_unknown_declared_column_is_named() -> None:
    def check(declared: Any) -> None:
        frame = pd.DataFrame({"a": [1], "b": [2]})
        with pytest.raises(
            ValueError, match=rf"names {declared[0]!r}, but the columns"
        ):
            learn(frame, EncoderRules(categorical_features=declared))

    check_each([("c",), (2,), (-1,)], check)


def test_a_mask_must_have_an_entry_a_column() -> None:
    with pytest.raises(ValueError, match="mask of 3 entries for 1 columns"):
        learn([[1], [2]], EncoderRules(categorical_features=(True, False, True)))  # type: ignore[arg-type]


def test_an_integer_name_comes_before_a_position() -> None:
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=[1, 0])
    encoder, _ = learn(frame, EncoderRules(categorical_features=(1,)))
    assert [variable.kind for variable in encoder.domain] == ["nominal", "numeric"]


def test_more_states_than_allowed_are_refused(make_frame: MakeFrame) -> None:
    frame = make_frame({"id": [f"row {i}" for i in range(1001)] * 2})
    with pytest.raises(ValueError, match=r"'id' has 1001 distinct.*max_states=1000"):
        learn(frame, EncoderRules(rare="error"))


def test_an_allowed_identifier_takes_two_bytes() -> None:
    frame = pd.DataFrame({"id": [f"{i:04}" for i in range(1001)]})
    encoder, codes = learn(frame, EncoderRules(max_states=1001, identifiers="keep"))
    assert encoder.domain.cards == (1001,)
    assert codes.column(0).dtype == np.uint16
    np.testing.assert_array_equal(codes.column(0), np.arange(1001))


def test_more_states_than_codes_are_refused_whatever_is_allowed() -> None:
    frame = pl.DataFrame({"id": [f"n{i}" for i in range(65_535)]})
    rules = EncoderRules(max_states=10**6, rare="error", identifiers="keep")
    with pytest.raises(ValueError, match="65535 distinct values, but at most 65534"):
        learn(frame, rules)


@pytest.mark.slow
def test_as_many_states_as_there_are_codes_are_kept_apart() -> None:
    frame = pl.DataFrame({"id": [None, *(f"n{i}" for i in range(65_534))]})
    for missing in ("marginalize", "state"):
        rules = EncoderRules(max_states=10**6, missing=missing, identifiers="keep")  # type: ignore[arg-type]
        codes = learn(frame, rules)[1]
        assert len(set(codes.column(0).tolist())) == 65_535


def test_max_states_holds_for_a_matrix_of_integers() -> None:
    table = np.arange(40).reshape(-1, 1) % 8
    with pytest.raises(ValueError, match=r"'x0' has 8 distinct values.*max_states=5"):
        learn(table, EncoderRules(max_states=5, rare="error"))


def test_too_many_cut_points_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'x0' at 70000 points; at most 65533"):
        learn([[0.5], [1.5]], discretizer=Fine())


@pytest.mark.parametrize("empty", [[None, None], [np.nan, np.nan]])
def test_a_wholly_missing_column_is_left_out(empty: list[Any]) -> None:
    frame = pd.DataFrame({"a": [1, 2], "gone": empty})
    encoder, _ = learn(frame)
    assert encoder.notes["gone"] == "left out: it has no value in any training row"
    assert len(encoder.domain) == 1
    with pytest.raises(ValueError, match="no column is left to learn from"):
        learn(frame[["gone"]])
    with pytest.raises(ValueError, match="'gone' has no value in any training row"):
        learn(frame, EncoderRules(missing="error"))


def test_a_wholly_missing_column_may_be_a_state_of_its_own() -> None:
    frame = pl.DataFrame({"gone": [None, None]})
    encoder, codes = learn(frame, EncoderRules(missing="state"))
    assert encoder.domain[0].states == (None,)
    assert codes.column(0).tolist() == [0, 0]


def test_a_wholly_missing_column_may_wait_for_a_later_batch() -> None:
    frame = pl.DataFrame({"gone": [None, None]})
    encoder, codes = learn(frame, allow_empty=True)
    assert encoder.domain[0].states == ()
    assert codes.missing(0).all()
    later = encoder.extended(to_columns(pl.DataFrame({"gone": ["b", "a"]})))
    assert later.domain[0].states == ("a", "b")


def test_missing_cells_become_the_last_state(make_frame: MakeFrame) -> None:
    frame = make_frame({"text": ["b", None, "a"], "real": [0.5, None, 1.5]})
    encoder, codes = learn(frame, EncoderRules(missing="state"))
    assert encoder.domain[0].states == ("a", "b", None)
    assert encoder.domain[1].states == ("<= 1", "> 1", None)
    assert columns_of(codes)[:2] == [[1, 2, 0], [0, 2, 1]]


def test_without_missing_cells_there_is_no_missing_state() -> None:
    encoder, _ = learn([["a"], ["b"]], EncoderRules(missing="state"))
    assert encoder.domain[0].states == ("a", "b")
    codes = encoder.transform(to_columns([[None], ["a"]])).codes
    assert codes.missing(0).tolist() == [True, False]


def test_missing_cells_are_refused_with_column_count_and_row(
    make_frame: MakeFrame,
) -> None:
    def check(cells: list[Any]) -> None:
        rules = EncoderRules(missing="error")
        sentence = r"column 'a' has 2 missing cells \(the first in row 1\)"
        with pytest.raises(ValueError, match=sentence):
            learn(make_frame({"a": cells}), rules)
        encoder, _ = learn(make_frame({"a": [cells[0], cells[2]]}), rules)
        with pytest.raises(ValueError, match=sentence):
            encoder.transform(to_columns(make_frame({"a": cells})))

    check_each([["a", None, "b", None], [1.5, None, 2.0, None]], check)


def test_unknown_values_are_missing_and_counted(make_frame: MakeFrame) -> None:
    encoder, _ = learn(make_frame({"a": ["x", "y"], "b": ["x", "y"]}))
    frame = make_frame({"a": ["x", "z", "w", "z"], "b": ["y", "y", None, "x"]})
    encoded = encoder.transform(to_columns(frame))
    assert columns_of(encoded.codes) == [[0, 2, 2, 2], [1, 1, 2, 0]]
    assert encoded.unknown == {"a": 3}
    later = encoder.transform(to_columns(make_frame({"a": ["x"], "b": ["y"]})))
    assert later.unknown == {}


def test_unknown_values_are_refused_by_name() -> None:
    encoder, _ = learn([["x"], ["y"]], EncoderRules(unknown="error"))
    with pytest.raises(ValueError, match=r"'x0' holds values \(z, w\) that training"):
        encoder.transform(to_columns([["z"], ["x"], ["w"], ["z"]]))


def test_unused_unknown_categories_are_nothing_unknown() -> None:
    encoder, _ = learn(pd.DataFrame({"a": ["x", "y"]}), EncoderRules(unknown="error"))
    frame = pd.DataFrame({"a": pd.Categorical(["y"], ["y", "z"])})
    assert encoder.transform(to_columns(frame)).codes.column(0).tolist() == [1]


def test_numbers_outside_the_cuts_fall_into_the_outer_intervals() -> None:
    encoder, _ = learn([[0.5], [2.5]])
    codes = encoder.transform(
        to_columns([[-1e300], [1.0], [1.0 + 1e-15], [1e300]])
    ).codes
    assert codes.column(0).tolist() == [0, 0, 1, 1]


def test_text_that_turned_into_numbers_is_refused(make_frame: MakeFrame) -> None:
    def check(case: tuple[list[Any], list[Any], str]) -> None:
        trained, passed, message = case
        encoder, _ = learn(make_frame({"a": trained}))
        with pytest.raises(ValueError, match=f"column 'a' {message}") as caught:
            encoder.transform(to_columns(make_frame({"a": passed})))
        assert "\n" not in str(caught.value)

    was_text = "held text in .*holds numbers now.*convert it to text"
    check_each(
        [
            (["a", "b"], [1, 2], was_text),
            (["a", "b"], [1.5, 2.5], was_text),
            (["a", "b"], [True, False], was_text),
            ([1, 2], ["1", "b"], "holds 'b' where a number belongs"),
            ([True, False], ["True", "b"], "holds 'b' where true or false belongs"),
            ([0.5, 1.5], ["0.5", "b"], "holds 'b' where a number belongs"),
        ],
        check,
    )


def test_an_empty_column_of_any_type_is_missing() -> None:
    def check(case: tuple[list[Any], pd.Series]) -> None:
        trained, empty = case
        encoder, _ = learn(pd.DataFrame({"a": trained}))
        codes = encoder.transform(to_columns(empty.to_frame("a"))).codes
        assert codes.missing(0).tolist() == [True, True]

    check_each(
        itertools.product(
            [["a", "b"], [1, 2], [0.5, 1.5], [True, False]],
            [
                pd.Series([np.nan, np.nan]),
                pd.Series([None, None], dtype=object),
                pd.Series([None, None], dtype="string"),
                pd.Series(pd.Categorical([None, None], ["p", "q"])),
                pd.Series(pd.Categorical([None, None], [7, 8])),
            ],
        ),
        check,
    )


def test_a_dictionary_of_nothing_but_null_is_missing() -> None:
    encoder, _ = learn(pa.table({"a": ["x", "y"]}))
    nothing = pa.DictionaryArray.from_arrays(
        pa.array([0, 0], pa.int8()), pa.array([None], pa.string())
    )
    codes = encoder.transform(to_columns(pa.table({"a": nothing}))).codes
    assert codes.missing(0).tolist() == [True, True]


def test_the_text_among_numbers_is_shown() -> None:
    encoder, _ = learn([[0.5], [1.5]])
    with pytest.raises(ValueError, match=r"'oops' where a number belongs \(row 1"):
        encoder.transform(to_columns([[0.5], ["oops"]]))


def test_equal_numbers_of_other_types_are_the_same_state() -> None:
    def check(cells: Any) -> None:
        encoder, _ = learn(pd.DataFrame({"a": [0, 1]}))
        encoded = encoder.transform(to_columns(pd.DataFrame({"a": cells})))
        assert encoded.codes.column(0).tolist() == [1, 0]
        assert encoded.unknown == {}

    check_each([[1.0, 0.0], [True, False], np.array([1, 0], "u1")], check)


def test_other_columns_are_named(make_frame: MakeFrame) -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        columns, sentence = case
        encoder, _ = learn(make_frame({"a": [1, 2], "b": [1, 2]}))
        with pytest.raises(ValueError, match=sentence):
            encoder.transform(to_columns(make_frame(columns)))

    check_each(
        [
            ({"a": [1]}, "the table lacks b; pass the columns of training"),
            (
                {"a": [1], "b": [1], "c": [1]},
                "has c, unknown in training; pass the columns",
            ),
            ({"a": [1], "c": [1]}, "lacks b and has c, unknown in training"),
            ({"b": [1], "a": [1]}, "stand in another order.*select them as a, b"),
        ],
        check,
    )


def test_columns_without_information_are_noted() -> None:
    frame = pd.DataFrame({"same": ["x", "x"], "real": [0.5, np.nan]})

    class Uncut(Halves):
        def cut_points(self, *_: Any) -> tuple[float, ...]:
            return ()

    encoder, _ = learn(frame, discretizer=Uncut())
    assert encoder.notes == {
        "same": "constant (x), so it carries no information",
        "real": "no cut point found, so it carries no information",
    }
    encoder, _ = learn(frame, EncoderRules(missing="state"), discretizer=Uncut())
    assert "only missingness carries information" in encoder.notes["real"]


def test_a_later_table_adds_states_in_order(make_frame: MakeFrame) -> None:
    encoder, _ = learn(make_frame({"a": ["b", "d"], "r": [0.5, 1.5]}))
    later = encoder.extended(to_columns(make_frame({"a": ["c", "a"], "r": [9.5, 8.5]})))
    assert later.domain[0].states == ("a", "b", "c", "d")
    assert later.domain[1] == encoder.domain[1]


def test_a_later_table_adds_a_missing_state(make_frame: MakeFrame) -> None:
    rules = EncoderRules(missing="state")
    encoder, _ = learn(make_frame({"a": ["b", "d"], "r": [0.5, 1.5]}), rules)
    missing = to_columns(make_frame({"a": ["c", None], "r": [None, 0.5]}))
    later = encoder.extended(missing)
    assert later.domain[0].states == ("b", "c", "d", None)
    assert later.domain[1].states == ("<= 1", "> 1", None)
    assert later.extended(missing) is later


def test_a_later_table_without_news_changes_nothing() -> None:
    encoder, _ = learn([["a"], ["b"]])
    assert encoder.extended(to_columns([["b"], [None]])) is encoder


def test_a_later_table_may_not_turn_text_into_numbers() -> None:
    encoder, _ = learn([["a"], ["b"]])
    with pytest.raises(ValueError, match="held text in training but holds numbers"):
        encoder.extended(to_columns([[1], [2]]))


def test_a_later_table_may_not_add_too_many_states() -> None:
    encoder, _ = learn([["a"], ["b"]], EncoderRules(max_states=3))
    with pytest.raises(
        ValueError, match="has 4 distinct values, more than max_states=3"
    ):
        encoder.extended(to_columns([["c"], ["d"]]))
