"""Traps of real tables: what reading must change, what not, and of what it must tell.

Every trap is tried as a frame of pandas and of polars, as an Arrow table, as CSV and as
Parquet: the domain is the same from each, and a note stands where one should.
"""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import (
    AODEClassifier,
    BayesianNetworkEstimator,
    BayesianNetworkImputer,
    HNBClassifier,
    NaiveBayesClassifier,
    UnknownValuesWarning,
    load,
)
from bayleaf.cli.options import FormatOptions
from bayleaf.cli.table_reading import decided_column, read_table
from bayleaf.data.domain import Domain
from contract.kinds import each_kind
from offenders import check_each

N = 120
RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], N)


def cycle(*values: Any) -> list[Any]:
    """The values over and over, as many as there are rows."""
    return [values[i % len(values)] for i in range(N)]


def start(day: int = 1) -> datetime.datetime:
    """A day of 2024."""
    return datetime.datetime(2024, 1, 1) + datetime.timedelta(days=day)


@dataclass(frozen=True)
class Trap:
    """A column, and how it should be taken.

    `states` are those of the one variable, or None where they depend on cut points;
    `kinds` are those of all variables that it becomes. `note` is a part of the note, or
    empty where there is none. In text files some types are lost: `csv` says whether
    CSV must agree.
    """

    cells: list[Any]
    kinds: tuple[str, ...] = ("nominal",)
    states: tuple[Any, ...] | None = None
    note: str = ""
    csv: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    arrow: pa.DataType | None = None


WHOLE = "integers, {} values, taken as nominal"
SPELLED = "text that spells numbers, taken as numbers"
IDENTIFIER = "as in an identifier"
NUMERIC = ("numeric",)
TEN = tuple(range(10))
TRAPS = {
    # integers: kind follows values
    "ten integers": Trap(cycle(*range(10)), states=TEN, note=WHOLE.format(10)),
    "eleven integers": Trap(cycle(*range(11)), NUMERIC),
    "whole floats": Trap(cycle(1.0, 2.0, 3.0), states=(1, 2, 3), note=WHOLE.format(3)),
    "integers with missing cells": Trap(
        cycle(1, 2, None), states=(1, 2), note=WHOLE.format(2)
    ),
    "whole floats with missing cells": Trap(
        cycle(1.0, None, 5.0), states=(1, 5), note=WHOLE.format(2)
    ),
    "fractions": Trap(cycle(0.5, 1.5), NUMERIC),
    "one fraction among integers": Trap(cycle(1.0, 2.0, 2.5), NUMERIC),
    "large whole floats": Trap(cycle(*np.arange(30) * 1e6), NUMERIC),
    "text of few integers": Trap(cycle("1", "2"), states=(1, 2), note=WHOLE.format(2)),
    "text of many integers": Trap(
        [str(i % 40) for i in range(N)], NUMERIC, note=SPELLED
    ),
    "text of fractions": Trap(
        [f"{i / 7:.3f}" for i in range(N)], NUMERIC, note=SPELLED
    ),
    "text of numbers with blanks": Trap(
        cycle(" 1", "2 "), states=(1, 2), note=WHOLE.format(2)
    ),
    "text of signs and exponents": Trap(
        [f"{'-+'[i % 2]}{i}e1" for i in range(N)], NUMERIC, note=SPELLED
    ),
    "leading zeros": Trap(
        cycle("01", "1", "001"), states=("001", "01", "1"), note="leading zeros"
    ),
    "leading zeros, many": Trap(
        [f"{i % 30:03}" for i in range(N)],
        states=tuple(f"{i:03}" for i in range(30)),
        note="leading zeros",
    ),
    "zero and fractions below one": Trap(cycle("0", "0.5", "-0.5"), NUMERIC, note=""),
    "numbers and a word": Trap(cycle("1", "2", "many"), states=("1", "2", "many")),
    "versions": Trap(cycle("1.2.3", "1.10"), states=("1.10", "1.2.3")),
    "hexadecimal": Trap(cycle("0x1A", "0x2B"), states=("0x1A", "0x2B")),
    "underscores": Trap(cycle("1_000", "2_000"), states=("1_000", "2_000")),
    # booleans
    "booleans": Trap(cycle(True, False, None), states=(False, True)),
    "words of truth": Trap(cycle("true", "false"), states=(False, True)),
    "yes and no": Trap(cycle("yes", "no"), states=("no", "yes")),
    # missing cells
    "text with missing cells": Trap(cycle("a", None, "b"), states=("a", "b")),
    # identifiers
    "identifier": Trap([f"P{i:04}" for i in range(N)], (), note=IDENTIFIER),
    "identifier with missing cells": Trap(
        [None if i % 4 == 0 else f"P{i:04}" for i in range(N)], (), note=IDENTIFIER
    ),
    "nine in ten distinct": Trap([f"P{i % 108:04}" for i in range(N)], note="in a key"),
    "few rows of an identifier": Trap([f"P{i}" if i < 29 else None for i in range(N)]),
    "identifier that is kept": Trap(
        [f"P{i:04}" for i in range(N)], options={"identifiers": "keep"}
    ),
    "numbers all distinct": Trap([i * 1.37 for i in range(N)], NUMERIC),
    "integers all distinct": Trap(list(range(N)), NUMERIC, note="counts the rows"),
    "other integers all distinct": Trap(
        list(range(5, 5 + 3 * N, 3)), NUMERIC, note="no integer occurs twice"
    ),
    # many states
    "rare values": Trap(
        ["a"] * 50 + ["b"] * 40 + [f"r{i % 15}" for i in range(30)],
        states=("a", "b", "r0", "other values"),
        note="rarest of which share",
        options={"max_states": 4},
    ),
    "as many values as allowed": Trap(
        cycle("a", "b", "c", "d"),
        states=("a", "b", "c", "d"),
        options={"max_states": 4},
    ),
    # dates and durations
    "dates": Trap(
        [start(i).date() for i in range(N)], ("nominal", "nominal", "numeric")
    ),
    "text of dates": Trap(
        [start(i).date().isoformat() for i in range(N)],
        ("nominal", "nominal", "numeric"),
    ),
    "datetimes": Trap(
        [start(0) + datetime.timedelta(hours=7 * i) for i in range(N)],
        ("nominal", "nominal", "numeric", "numeric"),
    ),
    "dates of one day": Trap([start().date()] * N, NUMERIC),
    "dates with missing cells": Trap(
        [None if i % 5 == 0 else start(i).date() for i in range(N)],
        ("nominal", "nominal", "numeric"),
    ),
    "dates that there are not": Trap(cycle("2024-13-01", "2024-02-31")),
    "dates as in America": Trap(
        cycle("01/31/2024", "02/28/2024"), ("nominal", "numeric")
    ),
    "durations": Trap(
        [datetime.timedelta(minutes=13 * i) for i in range(N)], NUMERIC, csv=False
    ),
    "times of day": Trap([f"{i % 24:02}:{i % 60:02}" for i in range(N)], NUMERIC),
    # ordered categories
    "ordered categories": Trap(
        ["low" if y == "no" else "high" for y in Y],
        NUMERIC,
        ("<= mid", "high"),
        options={"ordered_features": {"x": ["low", "mid", "high"]}},
        note="determines 'class'",
    ),
    "the same without an order": Trap(
        ["low" if y == "no" else "high" for y in Y],
        states=("high", "low"),
        note="determines 'class'",
    ),
}


def sources(trap: Trap, folder: Path) -> dict[str, Any]:
    """The trap's column, beside a plain one, from every source."""
    plain = cycle("u", "v", "w", "u")
    table = pa.table({"x": pa.array(trap.cells, trap.arrow), "plain": plain})
    found: dict[str, Any] = {
        "arrow": table,
        "pandas": pd.DataFrame({"x": trap.cells, "plain": plain}),
        "polars": pl.DataFrame({"x": trap.cells, "plain": plain}),
    }
    pa_parquet.write_table(table, folder / "t.parquet")
    found["parquet"] = read_table(str(folder / "t.parquet"))
    if trap.csv:
        pa_csv.write_csv(table, folder / "t.csv")
        found["csv"] = read_table(str(folder / "t.csv"))
    return found


def fitted(table: Any, **options: Any) -> NaiveBayesClassifier:
    """A classifier of such a table."""
    return NaiveBayesClassifier(**options).fit(table, Y)


def same(first: Domain, second: Domain) -> bool:
    """Whether two domains are alike, their types of states too."""
    kinds = [[type(s) for v in d for s in v.states] for d in (first, second)]
    return first == second and kinds[0] == kinds[1]


def _check_alike(trap: Trap, tmp_path: Path) -> None:
    models = {
        source: fitted(table, **trap.options)
        for source, table in sources(trap, tmp_path).items()
    }
    first = models["arrow"]
    variables = [v for v in first.encoder_.domain if v.name != "plain"]
    assert tuple(v.kind for v in variables) == trap.kinds
    if trap.states is not None:
        assert variables[0].states == trap.states
    for source, model in models.items():
        assert same(model.encoder_.domain, first.encoder_.domain), source
        # In a file every number is text.
        wanted = "" if (trap.note, source) == (SPELLED, "csv") else trap.note
        notes = model.encoder_.notes.get("x", "").split("; ")
        told = [note for note in notes if "carries no information" not in note]
        assert wanted in "; ".join(told), source
        assert bool(wanted) == any(told), source
        assert "plain" not in model.encoder_.notes


def _check_predictions(trap: Trap, tmp_path: Path) -> None:
    tables = sources(trap, tmp_path)
    model = fitted(tables["arrow"], **trap.options)
    expected = model.predict_proba(tables["arrow"])
    for source, table in tables.items():
        np.testing.assert_array_equal(model.predict_proba(table), expected, source)


def _check_column_table(trap: Trap, tmp_path: Path) -> None:
    model = fitted(
        pa.table({"x": pa.array(trap.cells), "plain": cycle("u", "v")}), **trap.options
    )
    table = model.columns_
    assert table[0].name == "x"
    assert table["plain"].read_as == "nominal"
    present = {cell for cell in trap.cells if cell is not None}
    if trap.csv and not any(str(cell).strip() != str(cell) for cell in present):
        assert table["x"].n_distinct == len(present)
    assert table["x"].n_missing == sum(cell is None for cell in trap.cells)
    assert all(len(line) <= 80 for line in str(table).splitlines())
    assert len(table.to_dict()) == len(table)
    assert "<table" in table._repr_html_()
    path = tmp_path / "m.json"
    model.save(path)
    assert str(load(path).columns_) == str(table)


# The traps, some at a time.
in_parts = pytest.mark.parametrize(
    "names", [list(TRAPS)[part::4] for part in range(4)], ids=lambda names: names[0]
)


@in_parts
def test_a_trap_is_read_alike_from_every_source(
    names: list[str], tmp_path: Path
) -> None:
    check_each(names, lambda name: _check_alike(TRAPS[name], tmp_path))


@in_parts
def test_every_source_predicts_alike(names: list[str], tmp_path: Path) -> None:
    check_each(names, lambda name: _check_predictions(TRAPS[name], tmp_path))


@in_parts
def test_every_column_is_listed_as_it_was_read(
    names: list[str], tmp_path: Path
) -> None:
    check_each(names, lambda name: _check_column_table(TRAPS[name], tmp_path))


MISSING = ("", "NA", "N/A", "NaN", "NULL", "None", "#N/A", "n/a", "?")


def test_texts_that_mean_missing_in_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"

    def check(text: str) -> None:
        cells = cycle("1.5", text, "2.25", "7")
        path.write_text("x,plain\n" + "".join(f"{cell},u\n" for cell in cells))
        column = read_table(str(path)).column("x")
        assert pa.types.is_floating(column.type)
        assert column.null_count == N // 4

    check_each(MISSING, check, repr)


def test_in_data_frames_such_text_is_kept_and_noted() -> None:
    def check(text: str) -> None:
        frame = pd.DataFrame({"x": cycle("a", text, "b"), "plain": cycle("u", "v")})
        model = fitted(frame)
        assert text in model.encoder_.domain[0].states
        assert "kept as a value" in model.encoder_.notes["x"]

    check_each(MISSING, check, repr)


def test_files_may_keep_such_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\nNA,1\n-,2\n,3\n")
    kept = read_table(str(path), FormatOptions(keep_na=True, na=("-",)))
    assert kept.column("x").to_pylist() == ["NA", None, None]


def dialect(separator: str, decimal: str, encoding: str) -> bytes:
    """A table as some programs write it."""
    rows = [["größe", "wert", "y"]]
    rows += [
        [f"ä{i % 3}", f"{i / 4}".replace(".", decimal), "pq"[i % 2]] for i in range(60)
    ]
    return "".join(separator.join(row) + "\r\n" for row in rows).encode(encoding)


def decided(table: pa.Table, name: str) -> list[Any]:
    """What the texts of a file's column spell."""
    return decided_column(name, table.column(name)).to_pylist()


def test_dialects_are_found_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"

    def check(written: tuple[str, str, str]) -> None:
        path.write_bytes(dialect(*written))
        cp1252 = written[2] == "cp1252"
        form = FormatOptions(encoding="cp1252") if cp1252 else FormatOptions()
        table = read_table(str(path), form)
        assert table.column_names == ["größe", "wert", "y"]
        assert decided(table, "wert") == [i / 4 for i in range(60)]
        assert set(table.column("größe").to_pylist()) == {"ä0", "ä1", "ä2"}

    encodings = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]
    written = itertools.product(",;\t|", ".,", encodings)
    # Cells with the separator as the decimal mark would have to be quoted.
    check_each([one for one in written if one[0] != one[1]], check, repr)


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_packed_files(pack: str, tmp_path: Path) -> None:
    suffix = {"gzip": ".gz", "zstd": ".zst"}[pack]
    path = str(tmp_path / f"t.csv{suffix}")
    with pa.output_stream(path, compression=pack) as stream:
        stream.write(dialect(";", ",", "utf-8"))
    assert decided(read_table(path), "wert")[1] == 0.25


@pytest.mark.parametrize("source", ["pandas", "polars", "arrow"])
def test_a_time_zone_is_that_of_the_column(source: str) -> None:
    moments = pd.date_range("2024-03-30 22:30", periods=N, freq="h", tz="UTC")
    frame = pd.DataFrame({"t": moments.tz_convert("Asia/Tokyo"), "plain": cycle(*"uv")})
    table: Any = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame),
    }[source]()
    model = fitted(table)
    # 22:30 in Greenwich is 7:30 of the next day in Tokyo, a Sunday.
    explained = model.encoder_.transform(
        __import__("bayleaf.data.tables.frames", fromlist=["to_columns"]).to_columns(
            frame[:1]
        )
    ).codes
    weekday = model.encoder_.domain.index("t: weekday")
    assert (
        model.encoder_.domain[weekday].label(explained.column(weekday)[0]) == "Sunday"
    )


def test_periods_have_no_weekday() -> None:
    texts = {
        "m": [f"20{i % 20 + 10}-{i % 12 + 1:02}" for i in range(N)],
        "q": [f"20{i % 20 + 10}Q{i % 4 + 1}" for i in range(N)],
        "w": [f"2020-W{i % 50 + 1:02}-{i % 7 + 1}" for i in range(N)],
    }
    names = {*map(str, fitted(pd.DataFrame(texts)).encoder_.domain.names)}
    assert {"m: year", "m: month", "m: days", "q: month", "w: weekday"} <= names
    assert not {"m: weekday", "q: weekday"} & names


@pytest.mark.parametrize("convert", ["pandas", "polars"])
def test_declared_orders_of_frames_are_used(convert: str) -> None:
    order = ["bad", "fair", "good", "best"]
    cells = [order[(i * 7) % 4] for i in range(N)]
    frame: Any = pd.DataFrame(
        {"x": pd.Categorical(cells, order, ordered=True), "plain": cycle("u", "v")}
    )
    if convert == "polars":
        frame = pl.DataFrame({"x": cells, "plain": cycle("u", "v")}).with_columns(
            pl.col("x").cast(pl.Enum(order))
        )
    named = pd.DataFrame({"x": cells, "plain": cycle("u", "v")})
    model = fitted(frame)
    assert model.encoder_.domain[0].categories == tuple(order)
    assert model.encoder_.domain[0].states == tuple(order)
    assert (
        fitted(frame, ordered_features=["x"]).encoder_.domain
        == fitted(named, ordered_features={"x": order}).encoder_.domain
    )
    unordered = pd.Categorical(cells, order, ordered=False)
    assert fitted(named.assign(x=unordered)).encoder_.domain[0].kind == "nominal"


@each_kind()
def test_an_identifier_changes_nothing(kind: Any) -> None:
    rng = np.random.default_rng(5)
    y = rng.choice(["p", "q"], 344)
    X = pd.DataFrame(
        {
            "bill": rng.normal(40 + 5 * (y == "q"), 3),
            "island": np.where(rng.random(344) < 0.8, y, "r"),
            "sex": rng.choice(["f", "m"], 344),
        }
    )
    with_id = X.assign(id=[f"P{i:04}" for i in range(344)])
    half = np.arange(344) % 2 == 0
    plain = kind(random_state=0).fit(X[half], y[half])
    other = kind(random_state=0).fit(with_id[half], y[half])
    own = np.searchsorted(plain.classes_, y[~half])
    losses = [
        -np.log(model.predict_proba(table[~half])[np.arange((~half).sum()), own]).mean()
        for model, table in ((plain, X), (other, with_id))
    ]
    assert abs(losses[0] - losses[1]) < 0.005
    for explanation in other.explain(with_id[~half][:5]):
        assert "P0" not in str(explanation)
    assert "id" not in other.encoder_.domain.names


@pytest.mark.filterwarnings("ignore:sample_weight sums to")
@each_kind()
def test_weights_are_counts_at_any_sum(kind: Any) -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["p", "q"], 40)
    X = pd.DataFrame(
        {"a": np.where(rng.random(40) < 0.8, y, "r"), "b": cycle(*"uv")[:40]}
    )
    factors = [0.5, 0.9, 0.98, 1.0, 1.02, 1.1, 2.0]
    rows = pd.DataFrame({"a": ["p"], "b": ["u"]})
    found = [
        kind(random_state=0)
        .fit(X, y, np.full(40, factor / 40))
        .predict_proba(rows)[0, 0]
        for factor in factors
    ]
    steps = np.diff(found)
    # What is learned apart from numbers may depend on the weight of rows there.
    if kind not in (AODEClassifier, HNBClassifier):
        assert (steps >= -1e-9).all() or (steps <= 1e-9).all()
    # Nothing special happens at a sum of one.
    assert abs(found[3] - found[2]) < 0.05
    assert abs(found[4] - found[3]) < 0.05


@each_kind()
def test_weights_may_have_a_mean_of_one(kind: Any) -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["p", "q"], 60)
    X = pd.DataFrame(
        {"a": np.where(rng.random(60) < 0.8, y, "r"), "b": cycle(*"uv")[:60]}
    )
    shares = kind(random_state=0, weight_scale="mean_one").fit(
        X, y, np.full(60, 1 / 60)
    )
    plain = kind(random_state=0).fit(X, y)
    np.testing.assert_allclose(
        shares.predict_proba(X), plain.predict_proba(X), rtol=1e-9
    )


def test_values_unseen_in_training_go_to_the_other_values() -> None:
    cells = ["a"] * 60 + ["b"] * 30 + [f"r{i % 15}" for i in range(30)]
    frame = pd.DataFrame({"x": cells, "plain": cycle("u", "v")})
    model = fitted(frame, max_states=3)
    new = pd.DataFrame({"x": ["never seen", "r7"], "plain": ["u", "u"]})
    first, second = model.predict_proba(new)
    np.testing.assert_array_equal(first, second)
    assert not model.unknown_


@pytest.mark.parametrize(
    ("order", "levels"),
    [
        ("S < M<L", ["S", "M", "L"]),
        ("unemployed<<1<1<=X<4<>=4", ["unemployed", "<1", "1<=X<4", ">=4"]),
        ("unemployed < <1 < 1<=X<4 < >=4", ["unemployed", "<1", "1<=X<4", ">=4"]),
        ("1<2<3<X<4", ["1", "2", "3<X<4"]),
        # The second is in no row.
        ("<0<0<<1", ["<0", "0", "<1"]),
    ],
)
def test_categories_of_an_order_in_a_text_may_contain_its_sign(
    order: str, levels: list[str], tmp_path: Path
) -> None:
    cells = cycle(*(level for level in levels if level != "0"))
    frame = pd.DataFrame({"x": cells, "plain": cycle("u", "v")})
    model = fitted(frame, ordered_features={"x": order})
    assert model.encoder_.domain[0].categories == tuple(levels)
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").encoder_.domain == model.encoder_.domain


@pytest.mark.parametrize(
    ("options", "cells", "message"),
    [
        (
            {"identifiers": "error"},
            [f"P{i}" for i in range(N)],
            "looks like an identif",
        ),
        ({"rare": "error", "max_states": 5}, cycle(*"abcdef"), "6 distinct values"),
        ({"dates": "error"}, [start(i) for i in range(N)], "holds dates"),
        ({"ordered_features": {"x": ["a"]}}, cycle("a", "b"), "its order in ordered_f"),
        (
            {"ordered_features": {"x": "ab"}},
            cycle("a", "b"),
            "must list the categories",
        ),
        ({"ordered_features": "x"}, cycle("a", "b"), "must be a mapping"),
        ({"ordered_features": {"x": "a<c"}}, cycle("a", "b"), "holds 'b', which its"),
        ({"ordered_features": {"x": "a<b<a"}}, cycle("a", "b"), "or one twice"),
        ({"ordered_features": {"x": "a<<b"}}, cycle("a", "b"), "an empty category"),
        ({"ordered_features": {"x": "a<b"}}, cycle("<1", "b"), "not contain '<1'"),
        (
            {"ordered_features": {"x": "<".join("1" * 9)}},
            cycle("1<1", "1<1<1", "1"),
            "in exactly one way",
        ),
        ({"ordered_features": {"x": "1<2<3<4"}}, cycle("1<2", "3", "4<1"), "in exa"),
    ],
)
def test_what_is_refused(
    options: dict[str, Any], cells: list[Any], message: str
) -> None:
    frame = pd.DataFrame({"x": cells, "plain": cycle("u", "v")})
    with pytest.raises((ValueError, TypeError), match=message):
        fitted(frame, **options)


@pytest.mark.parametrize(
    ("trained", "passed", "message"),
    [
        ([start(i) for i in range(N)], cycle(1.5, 2.5), "held dates in training"),
        (
            cycle(1.5, 2.5, 3.5),
            [start(i) for i in range(N)],
            "held numbers in training",
        ),
        (cycle("a", "b"), [start(i) for i in range(N)], "held text in training"),
        (cycle("1.5", "2", "3"), cycle("2", "1e400"), "'x' holds infinity"),
    ],
)
def test_a_column_that_holds_something_else_now(
    trained: list[Any], passed: list[Any], message: str
) -> None:
    plain = cycle("u", "v")
    model = fitted(pd.DataFrame({"x": trained, "plain": plain}))
    with pytest.raises(ValueError, match=message):
        model.predict(pd.DataFrame({"x": passed, "plain": plain}))


def test_texts_that_are_no_dates_are_missing_alone_and_among_dates() -> None:
    days = [f"{start(i):%d.%m.%Y}" for i in range(N)]
    model = fitted(pd.DataFrame({"x": days, "plain": cycle("u", "v")}))
    rows = pd.DataFrame({"x": [days[0], "31.02.2024", "soon"], "plain": ["u"] * 3})
    together = model.predict_proba(rows)
    assert model.unknown_["x"].number == 2
    for row in range(3):
        alone = model.predict_proba(rows[row : row + 1])
        np.testing.assert_array_equal(alone[0], together[row])


def test_markers_that_training_lacked_are_missing_cells_of_numbers() -> None:
    numbers = [f"{i},5" for i in range(N)]
    truths = cycle("TRUE", "FALSE")
    model = fitted(pd.DataFrame({"x": numbers, "t": truths}))
    rows = pd.DataFrame({"x": ["1,5", "-", " "], "t": ["TRUE", "unknown", "n.a."]})
    found = model.predict_proba(rows)
    assert model.unknown_["x"].number == model.unknown_["t"].number == 2
    empty = pd.DataFrame({"x": ["1,5", None, None], "t": ["TRUE", None, None]})
    np.testing.assert_array_equal(found, model.predict_proba(empty))
    with pytest.raises(ValueError, match="holds 'many' where a number belongs"):
        model.predict_proba(rows.assign(x="many"))


def test_texts_that_a_plan_calls_missing_are_so_in_every_table() -> None:
    cells = cycle("red", "gone", "blue")
    plan = {"format": "bayleaf-plan", "missing": ["gone"]}
    tables: list[Any] = [
        pd.DataFrame({"x": cells, "plain": cycle("u", "v")}),
        pl.DataFrame({"x": cells, "plain": cycle("u", "v")}),
        pd.DataFrame({"x": pd.Categorical(cells), "plain": cycle("u", "v")}),
    ]
    for table in tables:
        model = NaiveBayesClassifier().fit(table, Y, plan=plan)
        assert model.encoder_.domain[0].states == ("blue", "red")
        assert model.columns_["x"].n_missing == N // 3
        model.predict_proba(table)
        assert not model.unknown_


def test_a_record_batch_has_names_and_types() -> None:
    table = pa.table({"x": np.arange(N) / 2, "day": [start(i) for i in range(N)]})
    model = fitted(table)
    (batch,) = table.to_batches()
    np.testing.assert_array_equal(
        model.predict_proba(batch), model.predict_proba(table)
    )


@each_kind()
def test_a_model_from_a_file_is_that_of_the_frame(kind: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=N).round(3),
            "whole": rng.integers(0, 4, N),
            "text": rng.choice(["a", "b"], N),
            "day": [start(int(d)).date() for d in rng.integers(0, 90, N)],
        }
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pa_csv.write_csv(table, tmp_path / "t.csv")
    from_file = kind(random_state=0).fit(read_table(str(tmp_path / "t.csv")), Y)
    from_frame = kind(random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(
        from_file.predict_proba(frame), from_frame.predict_proba(frame)
    )
    assert from_file.encoder_.domain == from_frame.encoder_.domain


def test_stages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="bayleaf"):
        fitted(pd.DataFrame({"x": cycle("a", "b"), "plain": cycle("u", "v", "w")}))
    stages = [record.getMessage() for record in caplog.records]
    assert any("encoding the table took" in told for told in stages)


def test_a_report_shows_how_columns_were_taken() -> None:
    from bayleaf.report import report_html, summarize

    frame = pd.DataFrame({"x": [start(i) for i in range(N)], "plain": cycle("u", "v")})
    model = fitted(frame)
    summary = summarize(model, frame.assign(y=Y), "y", n_folds=2)
    read = {column["name"]: column["read_as"] for column in summary["reading"]}
    assert read["x"] == "date"
    assert read["x: weekday"] == "date part"
    assert "taken apart: month, weekday, days" in report_html(summary, "t")
    kept = summarize(model, frame.assign(y=Y), "y", n_folds=2, min_count=5)
    assert kept["reading"] is None


def test_estimators_take_other_numbers_as_the_nearest_of_few_integers() -> None:
    size = np.arange(80) % 4
    frame = pd.DataFrame({"size": size, "kind": np.where(size == 3, "b", "a")})
    rows = pd.DataFrame({"size": [7, 3, 0], "kind": [None] * 3}).astype(
        {"kind": object}
    )
    features, kinds = ["size"], ["b", "b", "a"]
    classifier = NaiveBayesClassifier().fit(frame[features], frame["kind"])
    density = BayesianNetworkEstimator(random_state=0).fit(frame)
    unseen = "size.*such as 7, taken as the nearest value seen"
    with pytest.warns(UnknownValuesWarning, match=unseen):
        assert classifier.predict(rows[features]).tolist() == kinds
    with pytest.warns(UnknownValuesWarning, match=unseen):
        found = density.score_samples(rows)
    assert found[0] == found[1] != found[2]
    imputer = BayesianNetworkImputer(random_state=0).fit(frame)
    assert imputer.transform(rows)["kind"].tolist() == kinds
    # A network by itself has states and no rule for other numbers.
    network = density.network_
    with pytest.raises(ValueError, match="'size' has no state 7"):
        network.impute(rows)
    assert network.impute(rows, unknown="missing")["kind"].tolist() == ["a", "b", "a"]
