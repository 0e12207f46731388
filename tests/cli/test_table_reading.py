"""Arrow's arrays made and read over their buffers; rows that training leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.data.tables.array_columns import (
    dictionary_indices,
    number_array,
    text_array,
)
from bayleaf.evaluation import cross_validate
from offenders import check_each

TEXTS = ["b", None, "ä", "b", "", None, "€uro", "b", "c", None, "d"]


def test_codes_of_text_are_the_indices_with_nulls_below_zero() -> None:
    def check(rows: slice) -> None:
        array = pa.array(TEXTS)[rows.start : rows.stop].dictionary_encode()
        expected = np.asarray(array.indices.fill_null(-1))
        codes = dictionary_indices(array)
        assert codes.dtype == np.int32
        np.testing.assert_array_equal(codes, expected)

    check_each([slice(0, 11), slice(1, 10), slice(3, 5), slice(4, 4)], check)


def test_codes_of_a_part_of_an_encoded_array_are_those_of_its_rows() -> None:
    def check(rows: slice) -> None:
        array = pa.array(TEXTS).dictionary_encode()[rows.start : rows.stop]
        expected = np.asarray(array.indices.fill_null(-1))
        np.testing.assert_array_equal(dictionary_indices(array), expected)

    check_each([slice(0, 11), slice(2, 11), slice(5, 6)], check)


def test_numbers_become_what_arrow_makes_of_them() -> None:
    def check(case: tuple[list[Any], int]) -> None:
        values, step = case
        dtype = np.int64 if values == [1, -(2**62)] else np.float64
        numbers = np.array(values, dtype=dtype)[::step]
        array = number_array(numbers)
        array.validate(full=True)
        expected = pa.array(numbers)
        assert array.type == expected.type
        np.testing.assert_array_equal(array.to_numpy(), expected.to_numpy())

    values = [[], [1, -(2**62)], [0.5, np.nan, np.inf]]
    check_each(product(values, [1, 2]), check)


def test_texts_become_what_arrow_makes_of_them() -> None:
    def check(codes: list[int]) -> None:
        texts = ["b", "", "ä€", "x" * 300]
        array = text_array(texts, np.array(codes, dtype=np.intp))
        array.validate(full=True)
        assert array == pa.array([texts[code] for code in codes], pa.string())

    check_each([[], [0], [2, 1, 1, 0, 3, 2]], check)


def test_texts_beyond_arrows_offsets_are_refused() -> None:
    codes = np.zeros(2**11, dtype=np.intp)
    with pytest.raises(ValueError, match="too long"):
        text_array(["x" * 2**20], codes)


def _with_gaps(folder: Path, suffix: str = "csv") -> tuple[Path, Path]:
    """A table with three empty targets, the first in row 4, and the rows without."""
    rows = [("pqr"[i % 3], i % 7 / 2, "no" if i % 2 else "yes") for i in range(60)]
    columns = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    for row, gap in ((3, "NA"), (20, ""), (59, "")):
        columns["c"][row] = None if suffix == "parquet" else gap
    whole = pa.table(columns)
    kept = whole.take([i for i in range(60) if i not in (3, 20, 59)])
    paths = folder / f"gaps.{suffix}", folder / f"kept.{suffix}"
    for path, table in zip(paths, (whole, kept), strict=True):
        if suffix == "parquet":
            pa_parquet.write_table(table, path)
        else:
            pa_csv.write_csv(table, path)
    return paths


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("options", [(), ("--memory", "1GB")])
def test_rows_with_an_empty_target_are_left_out_of_a_fit(
    run: Callable[..., Any],
    tmp_path: Path,
    options: tuple[str, ...],
    suffix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    models = []
    for path in _with_gaps(tmp_path, suffix):
        models.append(path.with_suffix(f".{len(models)}.json"))
        words = ("fit", path, "--target", "c", "--model", "nb", "-o", models[-1])
        done = run(*words, *options, "--json")
        assert done.code == 0
        gaps = len(models) == 1
        assert json.loads(done.out)["n_rows_without_target"] == 3 * gaps
        sentence = "left out 3 of 60 rows, whose target c is empty (the first is line 4"
        assert (sentence in done.err) == gaps
    assert models[0].read_bytes() == models[1].read_bytes()


def test_rows_left_out_of_stored_codes_are_reported_again(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("fit", _with_gaps(tmp_path)[0], "--target", "c", "--model", "nb", "--json")
    for name in ("1.json", "2.json"):
        done = run(*words, "--store", tmp_path / "codes", "-o", tmp_path / name)
        assert done.code == 0
        assert json.loads(done.out)["n_rows_without_target"] == 3
        assert "left out 3 of 60 rows" in done.err
        assert "line 4 below" in done.err


def test_check_leaves_out_rows_with_an_empty_target(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    done = run("check", _with_gaps(tmp_path)[0], "--target", "c", "--json")
    assert json.loads(done.out)["n_rows"] == 57
    assert json.loads(done.out)["n_rows_without_target"] == 3
    assert done.err.count("left out 3 of 60 rows") == 1


@pytest.mark.parametrize("options", [(), ("--memory", "1GB")])
def test_a_target_of_very_many_integers_is_one_for_the_regressor(
    run: Callable[..., Any], tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "prices.csv"
    rows = "".join(f"{'pq'[i % 2]},{i % 150 * 1000}\n" for i in range(300))
    path.write_text("a,price\n" + rows)
    words = ("fit", path, "--target", "price", "-o", tmp_path / "m.json")
    done = run(*words, "--model", "nb", *options)
    assert "price has 150 distinct integers, each of them a class here" in done.err
    assert "--model regressor" in done.err
    if not options:
        assert "regressor" not in run(*words, "--model", "regressor").err
        assert "150 distinct integers" in run("check", path, "--target", "price").err


@pytest.mark.parametrize("options", [(), ("--memory", "1GB")])
def test_rows_of_weight_zero_are_left_out(
    run: Callable[..., Any],
    tmp_path: Path,
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    cells = [("pqr"[i % 3], "yes" if i % 2 else "no", i % 3) for i in range(60)]
    paths = tmp_path / "all.csv", tmp_path / "some.csv"
    for path, least in zip(paths, (0, 1), strict=True):
        rows = "".join(f"{a},{c},{w}\n" for a, c, w in cells if w >= least)
        path.write_text("a,c,w\n" + rows)
        words = ("fit", path, "--target", "c", "--weight", "w", "--model", "nb")
        assert run(*words, *options, "-o", path.with_suffix(".json")).code == 0
    models = [path.with_suffix(".json").read_bytes() for path in paths]
    assert models[0] == models[1]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_rows_with_an_empty_target_are_not_scored(
    run: Callable[..., Any], tmp_path: Path, command: str
) -> None:
    option = "--models" if command == "compare" else "--model"
    found = []
    for path in _with_gaps(tmp_path):
        done = run(command, path, "--target", "c", option, "nb", "--json")
        values = json.loads(done.out)
        (model,) = values["models"] if command == "compare" else values
        counted = values if command == "compare" else model
        found.append((model["accuracy"], model["log_loss"], done.err.count("left out")))
        assert counted["n_rows_without_target"] == 3 * (len(found) == 1)
    assert found[0][:2] == found[1][:2]
    assert [n_notes for *_, n_notes in found] == [1, 0]


def test_evaluations_weigh_rows_and_say_so(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "w.csv"
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 2, 90), rng.integers(0, 4, 90)
    a = (y + (rng.random(90) < 0.3)) % 2
    rows = zip(a.tolist(), y.tolist(), w.tolist(), strict=True)
    path.write_text("a,y,w\n" + "".join(f"x{a},y{y},{w}\n" for a, y, w in rows))
    words = (path, "--target", "y", "--weight", "w")
    (found,) = cross_validate(
        {"nb": NaiveBayesClassifier()}, a[:, None].astype(str), y, sample_weight=w
    )
    (one,) = json.loads(run("evaluate", *words, "--model", "nb", "--json").out)
    assert one["accuracy"]["mean"] == pytest.approx(found.mean("accuracy"))
    assert one["log_loss"]["mean"] == pytest.approx(found.mean("log_loss"))
    assert one["weight"] == "w"
    both = json.loads(run("compare", *words, "--models", "nb,tan", "--json").out)
    assert both["models"][0]["accuracy"] == one["accuracy"]
    assert (both["weight"], both["is_weighted"]) == ("w", True)
    assert both["n_rows"] == np.count_nonzero(w)
    sentence = "rows count by their weights, in fits and in scores"
    assert sentence in run("evaluate", *words, "--model", "nb").out
    assert sentence not in run("evaluate", *words[:3], "--model", "nb").out
    price = tmp_path / "price.csv"
    price.write_text(
        "a,y,w\n" + "".join(f"{i % 7},{i % 11}.5,{i % 3}\n" for i in range(60))
    )
    words = (price, "--target", "y", "--weight", "w", "--model", "regressor")
    assert (
        "by weight in fits and in scores" in run("evaluate", *words, "--folds", 3).out
    )
