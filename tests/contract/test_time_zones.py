"""Instants are compared by the clock of training, whatever their table's zone is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf import NaiveBayesClassifier, load
from bayleaf.cli import main

# Clocks of Europe went back on 27 October.
UTC = pd.date_range("2024-10-20 00:13", "2024-11-02", periods=300, tz="UTC")
BERLIN = UTC.tz_convert("Europe/Berlin")
Y = np.where((BERLIN.hour >= 8) & (BERLIN.hour < 20), "day", "night")


def _frame(times: Any) -> pd.DataFrame:
    return pd.DataFrame({"when": times})


def _texts(times: pd.DatetimeIndex) -> pd.DataFrame:
    return _frame([time.isoformat() for time in times])


CONTAINERS: dict[str, Callable[[], Any]] = {
    "New York": lambda: _frame(UTC.tz_convert("America/New_York")),
    "polars": lambda: pl.from_pandas(_frame(UTC)),
    "Arrow": lambda: pa.Table.from_pandas(_frame(UTC.tz_convert("Asia/Kolkata"))),
    "objects": lambda: _frame(BERLIN.to_pydatetime()).astype(object),
    "offsets": lambda: _texts(BERLIN),
    "UTC texts": lambda: _texts(UTC),
}


def _fitted(table: Any) -> NaiveBayesClassifier:
    return NaiveBayesClassifier().fit(table, Y)


@pytest.mark.parametrize("container", CONTAINERS)
def test_instants_of_another_zone_are_those_of_training(container: str) -> None:
    model = _fitted(_frame(BERLIN))
    expected = model.predict_proba(_frame(BERLIN))
    table = CONTAINERS[container]()
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    assert not model.unknown_
    assert dict(model.encoder_.plan.columns)["when"].zone == "Europe/Berlin"


def test_hours_are_those_of_the_zone_in_summer_and_winter() -> None:
    model = _fitted(_frame(BERLIN))
    assert set(model.predict(_frame(UTC)) == Y) == {True}


def test_texts_of_several_offsets_are_read_in_one_zone() -> None:
    model = _fitted(_texts(BERLIN))
    assert dict(model.encoder_.plan.columns)["when"].zone == 0
    assert "several zones" in model.columns_["when"].changes[1]
    expected = model.predict_proba(_texts(BERLIN))
    for table in (_frame(UTC), _frame(BERLIN), _texts(UTC)):
        np.testing.assert_array_equal(model.predict_proba(table), expected)


def test_a_plan_names_the_zone() -> None:
    form = {"kind": "date", "order": "y-m-d", "zone": "Europe/Berlin"}
    plan = {"format": "bayleaf-plan", "columns": {"when": form}}
    model = NaiveBayesClassifier().fit(_texts(UTC), Y, plan=plan)
    expected = _fitted(_frame(BERLIN)).predict_proba(_frame(UTC))
    np.testing.assert_array_equal(model.predict_proba(_frame(UTC)), expected)
    form["zone"] = "Europe/Berln"
    with pytest.raises(ValueError, match="'Europe/Berln' is not a time zone"):
        NaiveBayesClassifier().fit(_texts(UTC), Y, plan=plan)


def test_times_without_a_zone_are_not_compared_with_instants() -> None:
    naive = BERLIN.tz_localize(None)
    model = _fitted(_frame(BERLIN))
    with pytest.raises(ValueError, match=r"'when' held .* of the time zone Europe/B"):
        model.predict(_frame(naive))
    model.predict(_texts(naive))
    assert model.unknown_["when"].number == len(naive)
    other = _fitted(_frame(naive))
    with pytest.raises(ValueError, match="without a time zone in training but has the"):
        other.predict(_frame(BERLIN))
    other.predict(_texts(UTC))
    assert other.unknown_["when"].number == len(UTC)


def test_a_cell_without_a_zone_is_missing_and_reported() -> None:
    table = _texts(BERLIN)
    table.loc[3, "when"] = "2024-10-25 10:00"
    model = _fitted(table)
    told = "1 cell without a time zone, taken as missing"
    assert told in model.columns_[0].changes[1]
    model.predict(table)
    assert model.unknown_["when"].value == "2024-10-25 10:00"


def test_half_of_the_cells_with_a_zone_are_read_as_written() -> None:
    table = _texts(BERLIN)
    table.loc[::2, "when"] = _texts(BERLIN.tz_localize(None)).loc[::2, "when"]
    model = _fitted(table)
    assert dict(model.encoder_.plan.columns)["when"].zone == "written"
    expected = model.predict_proba(table)
    for other in (_frame(BERLIN), _frame(BERLIN.tz_localize(None))):
        np.testing.assert_array_equal(model.predict_proba(other), expected)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
@pytest.mark.parametrize("trained", ["z.parquet", "u.csv", "o.csv"])
def test_files_of_all_kinds_are_read_by_the_zone_of_training(
    trained: str, memory: tuple[str, ...], tmp_path: Path, capsys: Any
) -> None:
    _frame(BERLIN).assign(y=Y).to_parquet(tmp_path / "z.parquet")
    _texts(UTC).assign(y=Y).to_csv(tmp_path / "u.csv", index=False)
    _texts(BERLIN).assign(y=Y).to_csv(tmp_path / "o.csv", index=False)
    model = str(tmp_path / "m.json")
    words = ["--target", "y", "--model", "nb", "-o", model, *memory]
    assert main(["fit", str(tmp_path / trained), *words]) == 0
    loaded: Any = load(model)
    expected = loaded.predict_proba(_frame(UTC))
    capsys.readouterr()
    counts = []
    for name in ("z.parquet", "u.csv", "o.csv"):
        assert main(["predict", model, str(tmp_path / name)]) == 0
        lines = capsys.readouterr().out.splitlines()[1:]
        given = [[float(cell) for cell in line.split(",")[-2:]] for line in lines]
        np.testing.assert_array_equal(given, expected)
        counted = tmp_path / "c.counts"
        words = ["--like", model, "-o", str(counted)]
        assert main(["counts", str(tmp_path / name), *words]) == 0
        counts.append(NaiveBayesClassifier.from_counts(_opened(counted)))
        capsys.readouterr()
    for other in counts:
        np.testing.assert_array_equal(other.predict_proba(_frame(UTC)), expected)


def _opened(path: Path) -> Any:
    from bayleaf.io.native.count_store import CountFile

    return CountFile.open(path)
